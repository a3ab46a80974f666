// SPDX-License-Identifier: Apache-2.0
// D74: a loss whose logits are in memory for a chunk of rows at a time gives the bits of one whose
// logits are there whole, those of the reference, for any number of rows, last chunks that are
// short and runs of fewer rows; and takes less memory.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "artifacts.hpp"
#include "own_pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

std::int64_t arena_of(const LinkedArtifact& artifact, std::int64_t batch) {
  const Pair pair = make_pair(artifact, tested_variant, batch);
  return pair.trainer.stats().peak_bytes_predicted;
}

}  // namespace

TEST_CASE("D74: steps in chunks of rows equal the declared reference") {
  check_steps(kArtifacts, tested_variants(), {1, 2, 5, 37, 300}, 3);
}

TEST_CASE("D74: one chunk or many, the bits are the same") {
  for (const LinkedArtifact& whole : kWholeArtifacts) {
    CAPTURE(std::string(whole.name));
    Pair chunked = make_pair(find_artifact(whole.name), tested_variant, 37);
    Pair other = make_pair(whole, tested_variant, 37);
    check_equal_steps(chunked, other.trainer);
  }
}

TEST_CASE("D74: runs of fewer rows have fewer chunks") {
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair planned = make_pair(artifact, tested_variant, 300);
    Trainer trainer = std::move(planned.trainer);
    reference::State<float> state = planned.state;
    std::uint64_t seed = 1;
    for (const std::int64_t rows : {12, 300, 1, 257, 128, 300}) {
      CAPTURE(rows);
      Pair pair = make_pair(artifact, tested_variant, rows, ++seed);
      std::swap(pair.trainer, trainer);
      pair.state = state;
      pair.draw();
      check_step(pair);
      std::swap(pair.trainer, trainer);
      state = pair.state;
    }
  }
}

TEST_CASE("D74: gradients of micro-batches are added, and each begins anew") {
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair = make_pair(artifact, tested_variant, 37);
    pair.draw();
    pair.trainer.accumulate(pair.named_inputs());
    const auto first = pair.reference.backward(pair.reference.forward(pair.state, pair.inputs));
    auto moving = pair.state;
    ++moving.micro_batches;
    pair.draw();
    const auto forward = pair.reference.forward(moving, pair.inputs);
    const auto sum = pair.reference.accumulate(first, pair.reference.backward(forward));
    pair.trainer.step(pair.named_inputs());
    check_forward(pair, forward);
    const auto expected = pair.reference.update(pair.state, sum, {}, 2);
    pair.state = expected.state;
    check_parameters(pair);
  }
}

TEST_CASE("D74: a predictor's losses are the reference's") {
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair = make_pair(artifact, tested_variant, 37);
    if (pair.description.outputs.empty()) continue;
    Predictor predictor(pair.artifact, pair.device, pair.setup(1));
    pair.draw();
    predictor.evaluate(inputs_of_predictor(pair, false));
    const auto expected = pair.reference.predict(pair.state, pair.inputs);
    for (std::size_t i = 0; i < pair.description.losses.size(); ++i) {
      const std::string& name = pair.description.nodes[pair.description.losses[i].node].name;
      CAPTURE(name);
      CHECK(bits(predictor.loss(name)) == bits(expected.losses[i]));
    }
  }
}

TEST_CASE("D74: an update that is skipped names what was not finite") {
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair = make_pair(artifact, tested_variant, 20);
    pair.draw();
    pair.inputs.integers.begin()->second[55 % pair.inputs.integers.begin()->second.size()] = -7;
    pair.deliver();
    const auto expected = pair.reference.step(pair.state, pair.inputs);
    pair.trainer.step(pair.named_inputs());
    CHECK(pair.trainer.updated() == expected.finite);
    CHECK(pair.trainer.diagnose().has_value() == !expected.finite);
    pair.state = expected.state;
    check_parameters(pair);
  }
}

TEST_CASE("D74: a chunk of logits takes less memory than all of them") {
  for (const LinkedArtifact& whole : kWholeArtifacts) {
    CAPTURE(std::string(whole.name));
    const std::int64_t chunked = arena_of(find_artifact(whole.name), 300);
    CHECK(chunked < arena_of(whole, 300));
    // What is left grows with the rows by hidden values alone, which are fewer than logits.
    CHECK(arena_of(find_artifact(whole.name), 600) - chunked <
          arena_of(whole, 600) - arena_of(whole, 300));
  }
}

}  // namespace halftone::tests
