// SPDX-License-Identifier: Apache-2.0
// Every allocation and every start of a thread fails once while a generator is made, reads prompts
// and goes on: an exception each time, after which the call can be tried again, or step() asks for
// a prefill(); nothing is left behind, and the logits and tokens are those of one that met none.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../runtime/faults/faults.hpp"
#include "artifacts.hpp"
#include "halftone/error.hpp"
#include "halftone/generator.hpp"
#include "halftone/predictor.hpp"

namespace halftone::tests {
namespace {

using Floats = std::vector<float>;

/// So long that caches, of 64 rows, are laid out anew within a few steps.
const std::vector<Tokens> kPrompts = {Tokens(60, 5), {8, 9}};
constexpr std::int32_t kSteps = 9;
constexpr std::string_view kModel = "turned";

struct Story {
  std::optional<Generator> generator;
  Floats logits;
  std::vector<Tokens> tokens;

  void make() {
    const Binding bindings[] = {{"batch", 1}, {"time", 1}};
    const Predictor predictor(Artifact::linked(*find_artifact(kModel).image),
                              Device::cpu().with_threads(2),
                              {.model = {}, .bindings = bindings, .seed = 7});
    const auto* const decoding = std::ranges::find(
        kDecoding, kModel, [](const LinkedArtifact& row) { return std::string_view(row.name); });
    generator.emplace(Artifact::linked(*decoding->image), Device::cpu().with_threads(2),
                      GeneratorSizes{.sequences = 2, .capacity = 256, .chunk = 16});
    generator->copy_parameters(predictor);
  }
  void prefill() {
    const auto given = generator->prefill(kPrompts);
    logits.assign(given.begin(), given.end());
  }
  void step(std::int32_t number) {
    const std::int32_t next[] = {number % 29, number % 7 == 0 ? Generator::kNone : number % 11};
    const auto given = generator->step(next);
    logits.assign(given.begin(), given.end());
  }
  void read(std::int32_t steps) {
    prefill();
    for (std::int32_t number = 0; number < steps; ++number) step(number);
  }
  void generate() {
    tokens = generator->generate(kPrompts, {.sampling = {.temperature = 0.8f}, .tokens = 12});
  }
};

struct Outcomes {
  int refused = 0, asked_for_prefill = 0;
  bool sound = true;
};

/// Until nothing fails. `again` does what comes before the call once more.
void survive(Fault fault, const std::function<void()>& call, const std::function<void()>& again,
             Outcomes& outcomes) {
  const auto refusal = [&]() -> std::optional<std::string> {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    } catch (const std::bad_alloc&) {
      return "std::bad_alloc";
    }
    return std::nullopt;
  };
  for (int at = 1;; ++at) {
    arm(fault, at);
    std::optional<std::string> said = refusal();
    const bool failed = disarm();
    if (!failed) {
      outcomes.sound = outcomes.sound && !said;
      return;
    }
    outcomes.refused += said.has_value();
    if (!said) {
      again();  // it did without, and has moved on
    } else if (said = refusal(); said) {
      outcomes.sound = outcomes.sound && said->ends_with("call prefill() first");
      ++outcomes.asked_for_prefill;
      again();
    } else {
      again();  // it was tried again, and has moved on
    }
  }
}

}  // namespace

TEST_CASE("every allocation and thread fails once, and a generator says the same") {
  Floats expected;
  std::vector<Tokens> expected_tokens;
  {
    Story plain;
    plain.make();
    plain.read(kSteps);
    expected = plain.logits;
    plain.generate();
    expected_tokens = plain.tokens;
  }
  for (const Fault fault : {Fault::allocation, Fault::thread}) {
    const std::int64_t before = live_allocations();
    Outcomes outcomes;
    bool same = false, same_tokens = false;
    {
      Story story;
      const auto nothing = [] {};
      survive(
          fault, [&] { story.make(); }, nothing, outcomes);
      survive(
          fault, [&] { story.prefill(); }, nothing, outcomes);
      for (std::int32_t number = 0; number < kSteps; ++number) {
        survive(
            fault, [&] { story.step(number); }, [&] { story.read(number); }, outcomes);
      }
      same = story.logits == expected;
      survive(
          fault, [&] { story.generate(); }, nothing, outcomes);
      same_tokens = story.tokens == expected_tokens;
    }
    const std::int64_t left = live_allocations() - before;
    CHECK(same);
    CHECK(same_tokens);
    CHECK(outcomes.sound);
    CHECK(left == 0);
    CHECK(outcomes.refused > (fault == Fault::thread ? 0 : 500));
    MESSAGE("refused " << outcomes.refused << ", of which step() asked for a prefill() after "
                       << outcomes.asked_for_prefill);
  }
}

}  // namespace halftone::tests
