// SPDX-License-Identifier: Apache-2.0
// The typed header at work: hostile names, and artifacts of the same name that are loaded into it.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hostile_run.hpp"
#include "message_of.hpp"
#include "narrow.hpp"

namespace {

using models::twin::Predictor;
using models::twin::Trainer;

halftone::Artifact loaded(const char* name) {
  return halftone::Artifact::load(std::filesystem::path(ARTIFACTS) / name);
}

}  // namespace

TEST_CASE("a model whose every name is the header's own too trains and predicts") {
  const std::vector<float> rows = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<float> outputs = run_hostile(rows, {1, 0});
  REQUIRE(outputs.size() == 11 * rows.size());
  // The last output is an input as it was given; the second, 7 sums of inputs, is the first without
  // the last of its sums.
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(outputs[10 * rows.size() + i] == rows[i]);
    CHECK(outputs[i] == outputs[rows.size() + i] + rows[i]);
  }
}

TEST_CASE("an artifact with other rules and another optimizer loads into the typed API") {
  Trainer trainer(loaded("ruled.so"), halftone::Device::cpu(), {.batch = 1});
  const std::vector<float> x = {1, 0, 0, 0}, target = {1.5f, 0.5f};
  trainer.step(x, target);
  CHECK(trainer.loss("e") == 0.5f);                           // the mean of 1 and 0
  CHECK(trainer.parameter("w")[0] == doctest::Approx(1.0f));  // adamw's first step is its rate
}

TEST_CASE("an artifact of the same name and another width does not") {
  const halftone::Artifact wide = loaded("wide.so");
  const std::string refusal =
      "the artifact holds another model 'twin' than the program was compiled for: of other names, "
      "shapes, layers or their settings; make both from one spec, in which rules and optimizer "
      "alone may differ";
  const auto device = halftone::Device::cpu();
  CHECK(message_of([&] { Trainer(wide, device, {.batch = 1}); }) == "trainer: " + refusal);
  CHECK(message_of([&] { Predictor(wide, device, {.batch = 1}); }) == "predictor: " + refusal);
}
