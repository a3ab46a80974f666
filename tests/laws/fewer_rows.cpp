// SPDX-License-Identifier: Apache-2.0
// D14: a run of fewer rows than the trainer was made for gives the bits of one that was made for
// them, whatever ran before: those of the reference, bound to that many.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "artifacts.hpp"
#include "halftone/error.hpp"
#include "message_of.hpp"
#include "pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

constexpr std::int64_t kPlanned = 37;

/// Whether a state has rows, so that every run has all of them (S6).
bool has_state_of_rows(const description::Description& description) {
  return std::ranges::any_of(description.nodes, [](const description::Node& node) {
    return node.kind == description::kind_called("state") &&
           std::ranges::any_of(node.shape, [](auto& dim) { return dim.symbol == "batch"; });
  });
}

/// The trainer and what the reference knows of it, between runs.
struct Course {
  Course(const LinkedArtifact& artifact, const std::string& variant, std::int64_t planned)
      : artifact(&artifact), variant(variant) {
    Pair pair(artifact.name, *artifact.image, variant, planned);
    trainer = std::make_unique<Trainer>(std::move(pair.trainer));
    state = std::move(pair.state);
    has_state_of_rows = tests::has_state_of_rows(pair.description);
  }

  /// Gives a pair of so many rows this trainer in place of its own.
  template <class Action>
  void run(std::int64_t rows, const Action& action) {
    CAPTURE(rows);
    Pair pair(artifact->name, *artifact->image, variant, rows, ++seed);
    pair.trainer = std::move(*trainer);
    pair.state = state;
    pair.draw();
    action(pair);
    *trainer = std::move(pair.trainer);
    state = pair.state;
  }

  const LinkedArtifact* artifact;
  std::string variant;
  std::unique_ptr<Trainer> trainer;
  reference::State<float> state;
  bool has_state_of_rows = false;
  std::uint64_t seed = 1;  // of draws, and of the parameters, which is why the state keeps its own
};

}  // namespace

TEST_CASE("steps of any rows up to the planned ones equal the declared reference") {
  int tried = 0;
  for (const LinkedArtifact& artifact : kArtifacts)
    for (const std::string& variant : tested_variants()) {
      CAPTURE(std::string(artifact.name));
      CAPTURE(variant);
      Course course(artifact, variant, kPlanned);
      if (course.has_state_of_rows) continue;
      for (const std::int64_t rows : {std::int64_t{5}, kPlanned, std::int64_t{1}, std::int64_t{20},
                                      std::int64_t{5}, kPlanned})
        course.run(rows, [&](Pair& pair) { check_step(pair); });
      ++tried;
    }
  CHECK(tried > 30);
}

TEST_CASE("contractions that work in blocks equal the reference with fewer rows, too") {
  for (const char* name : {"wide", "digits", "digits_bf16", "rank3", "matmul"}) {
    CAPTURE(std::string(name));
    Course course(find_artifact(name), tested_variant, 300);
    for (const std::int64_t rows : {12, 300, 1, 257})
      course.run(rows, [&](Pair& pair) { check_step(pair); });
  }
}

TEST_CASE("micro-batches may have different rows, and count the same") {
  for (const LinkedArtifact& artifact : kArtifacts)
    for (const bool parts : {false, true}) {
      CAPTURE(std::string(artifact.name));
      CAPTURE(parts);
      Course course(artifact, tested_variant, 9);
      if (course.has_state_of_rows) continue;
      reference::State<float> moving = course.state;
      reference::Gradients<float> sum;
      for (const std::int64_t rows : {4, 9, 1}) {
        const bool first = rows == 4, last = rows == 1;
        course.run(rows, [&](Pair& pair) {
          const auto forward = pair.reference.forward(moving, pair.inputs);
          auto gradients = pair.reference.backward(forward);
          sum = first ? std::move(gradients) : pair.reference.accumulate(std::move(sum), gradients);
          moving.states = forward.states;
          ++moving.micro_batches;
          if (parts) {
            pair.trainer.forward(pair.named_inputs());
            pair.trainer.backward();
            if (!last) pair.trainer.accumulate_gradients();
          } else if (last) {
            pair.trainer.step(pair.named_inputs());
          } else {
            pair.trainer.accumulate(pair.named_inputs());
          }
          check_forward(pair, forward);
          if (!last) return;
          if (parts) {
            CHECK(pair.trainer.check());
            pair.trainer.update();
          }
          const auto expected = pair.reference.update(pair.state, sum, {}, 3);
          CHECK(expected.finite);
          CHECK(bits(pair.trainer.stats().grad_norm) == bits(expected.norm));
          pair.state = expected.state;
          check_parameters(pair);
          check_gradients(pair, sum);
        });
      }
    }
}

TEST_CASE("a state with rows holds all runs to the planned ones") {
  int tried = 0;
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Course course(artifact, tested_variant, kPlanned);
    if (!course.has_state_of_rows) continue;
    course.run(5, [&](Pair& pair) {
      const std::string message = message_of([&] { pair.trainer.step(pair.named_inputs()); });
      CAPTURE(message);
      CHECK(message.find("takes part with all of its rows; give 37 rows") != message.npos);
      CHECK(pair.trainer.stats().steps == 0);
    });
    course.run(kPlanned, [&](Pair& pair) { check_step(pair); });
    ++tried;
  }
  CHECK(tried == 4);
}

TEST_CASE(
    "a predictor's outputs and losses equal the reference for any rows up to the planned ones") {
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Course course(artifact, tested_variant, kPlanned);
    Pair planned(artifact.name, *artifact.image, tested_variant, kPlanned);
    if (planned.description.outputs.empty() || course.has_state_of_rows) continue;
    Predictor predictor(planned.artifact, planned.device, planned.setup(1));
    for (const std::int64_t rows : {std::int64_t{3}, kPlanned, std::int64_t{1}, std::int64_t{3}})
      course.run(rows, [&](Pair& pair) {
        predictor.predict(inputs_of_predictor(pair, true));
        const auto expected = pair.reference.predict(pair.state, pair.inputs);
        for (const auto& output : pair.description.outputs) {
          CAPTURE(output.name);
          CHECK(first_difference(predictor.output(output.name), expected.values[output.node]) ==
                -1);
        }
        predictor.evaluate(inputs_of_predictor(pair, false));
        for (std::size_t i = 0; i < pair.description.losses.size(); ++i) {
          const std::string& name = pair.description.nodes[pair.description.losses[i].node].name;
          CAPTURE(name);
          CHECK(bits(predictor.loss(name)) == bits(expected.losses[i]));
        }
      });
  }
}

}  // namespace halftone::tests
