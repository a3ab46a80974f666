// SPDX-License-Identifier: Apache-2.0
// What inspect() shows of roundings whose codes alone the forward pass leaves, since the backward
// pass alone reads what becomes of them (P95): what was rounded is the reference's value by the
// reference's scales, and codes are its roundings.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "artifacts.hpp"
#include "halftone/encoding/text.hpp"
#include "halftone/reference/rounding.hpp"
#include "own_pair.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {
namespace {

using encoding::Element, encoding::Encoding, encoding::Scaling;
using Places = std::vector<std::size_t>;

/// The elements of each group of a tensor, whose blocks begin anew in each of its matrices.
std::vector<Places> groups_of(const Scaling& scaling, std::span<const std::int64_t> shape) {
  std::size_t elements = 1;
  for (const std::int64_t dim : shape) elements *= static_cast<std::size_t>(dim);
  const auto columns = static_cast<std::size_t>(shape.back());
  const auto rows = static_cast<std::size_t>(shape[shape.size() - 2]);
  const bool is_whole = scaling.kind == Scaling::Kind::tensor;
  const std::size_t high = is_whole ? elements : scaling.rows;
  const std::size_t wide = is_whole ? elements : scaling.size;
  const std::size_t across = (columns + wide - 1) / wide, down = (rows + high - 1) / high;
  std::vector<Places> groups(is_whole ? 1 : elements / (rows * columns) * down * across);
  for (std::size_t at = 0; at < elements; ++at) {
    const std::size_t row = at / columns % rows, matrix = at / columns / rows;
    const std::size_t group = (matrix * down + row / high) * across + at % columns / wide;
    groups[is_whole ? 0 : group].push_back(at);
  }
  return groups;
}

/// What the elements of a group are multiplied by before they are rounded: of powers of two, which
/// have inverses, or f32.
float multiplier_of(const reference::RoundTo& to, std::span<const float> all,
                    std::span<const float> group) {
  if (encoding::has_f32_scales(to.scaling)) return reference::multiplier_of(to, group);
  const float scale = encoding::has_two_levels(to.scaling)
                          ? reference::scale_of_block(to, reference::scale_of_all(to, all), group)
                          : reference::scale_of(to, group);
  return std::min(1 / scale, std::numeric_limits<float>::max());
}

struct KeptCodes {
  const char* model;
  const char* of;  ///< whose result the backward pass reads rounded so
  const char* format;
  Element saved = Element::bf16;  ///< what rules store it in for the backward pass
};

}  // namespace

TEST_CASE(
    "of what the backward pass alone reads inspect() shows codes and what became them (P95)") {
  int changed = 0;
  for (const KeptCodes& kept :
       {KeptCodes{"scaled", "mixed", "f8e4m3 scaled tensor f8e8m0 saturate", Element::f16},
        KeptCodes{"scaled_blocks", "norm", "f8e5m2 scaled tensor f8e8m0 saturate"},
        KeptCodes{"scaled_grids", "norm", "f8e4m3 scaled block 32 by 1 f8e8m0 saturate"},
        KeptCodes{"scaled_grids", "rect", "f4e2m1 scaled block 16 by 1 f8e4m3 saturate"},
        KeptCodes{"scaled_grids", "rect", "f6e2m3 scaled block 3 by 7 f8e8m0 saturate"},
        KeptCodes{"scaled_tiles", "norm", "f8e4m3 scaled block 128 by 1 f32 saturate"},
        KeptCodes{"scaled_tiles", "rect", "f4e2m1 scaled block 16 by 1 f32 saturate"},
        KeptCodes{"scaled_tiles", "mix", "f8e4m3 scaled block 16 f32 saturate", Element::f16}}) {
    CAPTURE(std::string(kept.model));
    CAPTURE(std::string(kept.of));
    CAPTURE(std::string(kept.format));
    Pair pair = make_pair(find_artifact(kept.model), tested_variant, 37);
    pair.draw();
    const auto forward = pair.reference.forward(pair.state, pair.inputs);
    const auto node = std::ranges::find(pair.description.nodes, kept.of, &description::Node::name);
    std::vector<float> x =
        forward.values[static_cast<std::size_t>(node - pair.description.nodes.begin())];
    for (float& value : x)
      value = reference::round({kept.saved}, reference::round({Element::bf16}, value));
    pair.trainer.forward(pair.named_inputs());
    pair.trainer.backward();

    const auto to = std::get<Encoding>(encoding::parse(kept.format));
    const reference::RoundTo round_to{to.element, to.rounding, to.saturate, to.scaling};
    int found = 0;
    pair.trainer.inspect([&](const InspectedValue& value) {
      if (value.format != kept.format || value.role != "saved") return;
      ++found;
      std::vector<float> before(x.size()), codes(x.size());
      for (const Places& places : groups_of(to.scaling, value.shape)) {
        std::vector<float> group;
        for (const std::size_t at : places) group.push_back(x[at]);
        const float multiplier = multiplier_of(round_to, x, group);
        for (const std::size_t at : places) {
          before[at] = x[at] * multiplier;
          codes[at] = reference::round(round_to, before[at]);
        }
      }
      CHECK(first_difference(value.before, before) == -1);
      CHECK(first_difference(value.values, codes) == -1);
      changed += first_difference(before, codes) != -1 ? 1 : 0;
    });
    CHECK(found == 1);
  }
  CHECK(changed >= 7);  // what a relu leaves of numbers of its own format are such already
}

}  // namespace halftone::tests
