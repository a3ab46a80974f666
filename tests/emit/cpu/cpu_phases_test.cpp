// SPDX-License-Identifier: Apache-2.0
// Contractions of phases.mlir.in: what lies between the gradients of a stride is left out (N16)
// where the sum may have any order, and nothing else is, to the bit.
#include "held_places.hpp"
#include "native.hpp"
#include "reference.hpp"

using namespace native;
using held_places::Places;
using reference::Values;

namespace {

constexpr std::int64_t kColumns = 33;

struct Options {
  std::int64_t groups = 1;
  bool is_turned = false, is_ordered = false;
};

void check_sums(const std::string& name, const Options& options) {
  for (const std::int64_t channels : {1, 4, 16})
    for (const std::int64_t width : {1, 7}) {
      if (options.is_ordered && (channels != 4 || width != 7)) continue;
      each_case({1, 5}, [&](const Case& c) {
        CAPTURE(channels);
        CAPTURE(width);
        const Places places{c.batch, width, channels};
        const auto count = [](std::int64_t elements) { return static_cast<std::size_t>(elements); };
        const std::size_t of_g = count(places.windows() * options.groups * channels),
                          of_w = count(options.groups * places.length() * kColumns);
        Floats g(of_g, c.place), w(of_w, c.place),
            sums(count(options.groups * places.count() * kColumns), c.place);
        fill(g, of_g, 1, c.specials);
        fill(w, of_w, 2, c.specials);
        run(c.variant, name + "_" + std::to_string(channels) + "_" + std::to_string(width),
            {g.pointer(), w.pointer(), sums.pointer()}, c.batch);
        Values wanted;
        for (std::int64_t group = 0; group < options.groups; ++group)
          for (std::int64_t place = 0; place < places.count(); ++place)
            for (std::int64_t column = 0; column < kColumns; ++column) {
              Values a, b;
              for (const Places::Term& term : places.terms(place, options.is_ordered)) {
                const std::int64_t at = (term.window * options.groups + group) * channels;
                a.push_back(term.window < 0 ? 0.0f : g[count(at + term.channel)]);
                b.push_back(w[count(group * places.length() * kColumns +
                                    (options.is_turned ? column * places.length() + term.k
                                                       : term.k * kColumns + column))]);
              }
              wanted.push_back(reference::contraction(a, b));
            }
        check(sums, wanted);
      });
    }
}

}  // namespace

TEST_CASE("a place's sum has the taps of its phase") { check_sums("places", {}); }

TEST_CASE("a place's sum has the taps of its phase, with a transposed rhs") {
  check_sums("turned", {.is_turned = true});
}

TEST_CASE("a place's sum has the taps of its phase in an element of a batch") {
  check_sums("groups", {.groups = 2});
}

TEST_CASE("an ordered sum has all taps") { check_sums("ordered", {.is_ordered = true}); }
