// SPDX-License-Identifier: Apache-2.0
// M4: a step of several micro-batches gives the bits of the reference's sum of their gradients. S2,
// S4: each moves the user's states on, and none does when one of them spoils the step.
#include <doctest/doctest.h>

#include <cmath>

#include "artifacts.hpp"
#include "pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

constexpr std::int64_t kBatch = 5;

/// One step of both with inputs drawn anew for every micro-batch, of which that numbered `spoiled`
/// has a NaN. `parts`: by the parts of a step and not by accumulate() and step().
reference::Step<float> step(Pair& pair, std::int64_t micro_batches, bool parts, bool& finite,
                            reference::Gradients<float>& sum, std::int64_t spoiled = 0) {
  reference::State<float> moving = pair.state;
  reference::Amaxes amaxes;
  for (std::int64_t i = 1; i <= micro_batches; ++i) {
    pair.draw();
    if (i == spoiled) pair.spoil(std::nanf(""));
    const auto forward = pair.reference.forward(moving, pair.inputs);
    auto gradients = pair.reference.backward(forward);
    reference::add_amaxes(amaxes, *forward.amaxes);
    sum = i == 1 ? std::move(gradients) : pair.reference.accumulate(std::move(sum), gradients);
    moving.states = forward.states;
    ++moving.micro_batches;
    const bool last = i == micro_batches;
    if (!parts && last) {
      pair.trainer.step(pair.named_inputs());
      finite = pair.trainer.updated();
    } else if (!parts) {
      pair.trainer.accumulate(pair.named_inputs());
    } else {
      pair.trainer.forward(pair.named_inputs());
      pair.trainer.backward();
      if (!last) pair.trainer.accumulate_gradients();
    }
  }
  if (parts) {
    finite = pair.trainer.check();
    pair.trainer.update();
  }
  auto expected = pair.reference.update(pair.state, sum, {}, micro_batches);
  if (expected.finite) expected.state.states = std::move(moving.states);
  reference::move_delayed(amaxes, pair.state.ended, expected.state.delayed);
  return expected;
}

void compare(const Pair& pair, const reference::Gradients<float>& sum) {
  for (const auto& [name, values] : pair.state.parameters) {
    CAPTURE(name);
    CHECK(first_difference(pair.trainer.parameter(name), values) == -1);
    const auto node = pair.reference.find(name);
    if (sum[node].empty()) continue;
    CHECK(first_difference(pair.trainer.gradient(name), sum[node]) == -1);
  }
}

}  // namespace

TEST_CASE("steps of 1, 2, 3 and 4 micro-batches equal the declared reference to the last bit") {
  for (const LinkedArtifact& artifact : kArtifacts)
    for (const std::string& variant : tested_variants())
      for (const bool parts : {false, true}) {
        CAPTURE(std::string(artifact.name));
        CAPTURE(variant);
        CAPTURE(parts);
        Pair pair(artifact.name, *artifact.image, variant, kBatch);
        for (const std::int64_t micro_batches : {2, 1, 4, 3}) {
          CAPTURE(micro_batches);
          bool finite = false;
          reference::Gradients<float> sum;
          const auto expected = step(pair, micro_batches, parts, finite, sum);
          CHECK(finite == expected.finite);
          pair.state = expected.state;
          const Statistics stats = pair.trainer.stats();
          CHECK(bits(stats.grad_norm) == bits(expected.norm));
          CHECK(stats.loss_scale == expected.state.scaling.scale);
          CHECK(stats.floored == expected.state.scaling.floored);
          compare(pair, sum);
        }
      }
}

TEST_CASE("a spoiled micro-batch leaves no trace in the states, whichever it is") {
  int tried = 0;
  for (const LinkedArtifact& artifact : kArtifacts)
    for (const bool parts : {false, true}) {
      CAPTURE(std::string(artifact.name));
      CAPTURE(parts);
      Pair pair(artifact.name, *artifact.image, tested_variant, kBatch);
      if (pair.state.states.empty()) continue;
      struct Run {
        std::int64_t micro_batches, spoiled;
      };
      for (const Run run : {Run{2, 0}, Run{1, 1}, Run{3, 1}, Run{3, 2}, Run{3, 3}, Run{1, 0}}) {
        CAPTURE(run.micro_batches);
        CAPTURE(run.spoiled);
        bool finite = false;
        reference::Gradients<float> sum;
        pair.state = step(pair, run.micro_batches, parts, finite, sum, run.spoiled).state;
        CHECK(finite == (run.spoiled == 0));
        // A forward pass alone reads the states and leaves them as they are (S3).
        const reference::Forward<float> expected = [&] {
          pair.draw();
          return pair.reference.forward(pair.state, pair.inputs);
        }();
        for (int again = 0; again < 2; ++again) {
          pair.trainer.forward(pair.named_inputs());
          check_forward(pair, expected);
        }
        ++tried;
      }
    }
  CHECK(tried > 0);
}

}  // namespace halftone::tests
