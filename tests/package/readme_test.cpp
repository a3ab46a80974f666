// SPDX-License-Identifier: Apache-2.0
// The C++ of README.md: it compiles, and does what the text around it says.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <halftone/device.hpp>
#include <halftone/fit.hpp>
#include <halftone/npy.hpp>
#include <iostream>
#include <letters_model.hpp>
#include <span>
#include <string>
#include <vector>

#pragma GCC diagnostic ignored "-Wunused-variable"  // of pieces that end with a result

namespace {

/// Rows of four kinds, which their first features tell apart.
std::vector<float> made_up_features(std::size_t rows) {
  std::vector<float> features(rows * 16);
  for (std::size_t row = 0; row < rows; ++row) features[row * 16 + row % 4] = 1.0f;
  return features;
}

struct Batch {
  std::vector<float> features = made_up_features(64);
  std::vector<std::int32_t> letter = std::vector<std::int32_t>(64);
};

std::vector<Batch> made_up_batches() {
  std::vector<Batch> batches(40);
  for (Batch& batch : batches) {
    for (std::size_t row = 0; row < 64; ++row) {
      batch.letter[row] = static_cast<std::int32_t>(row % 4);
    }
  }
  return batches;
}

/// The lines of a file without what they are indented by, empty ones and #include left out.
std::vector<std::string> lines_of(const char* path) {
  std::ifstream file(path);
  REQUIRE(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
    if (start < line.size() && line[start] != '#') lines.push_back(line.substr(start));
  }
  return lines;
}

}  // namespace

TEST_CASE("every piece of C++ in README stands word for word in a file that is compiled") {
  std::string compiled;
  for (const char* path : {THIS_FILE, LETTERS_HPP}) {
    for (const std::string& line : lines_of(path)) compiled += line + "\n";
  }
  std::vector<std::string> pieces;
  bool inside = false;
  for (const std::string& line : lines_of(README)) {
    if (line.starts_with("```")) {
      inside = line == "```cpp";
      if (inside) pieces.emplace_back();
    } else if (inside) {
      pieces.back() += line + "\n";
    }
  }
  CHECK(pieces.size() == 5);
  for (const std::string& piece : pieces) {
    CAPTURE(piece);
    CHECK(compiled.find(piece) != compiled.npos);
  }
}

// clang-format off
TEST_CASE("README's trainer learns, takes micro-batches and gives and takes weights") {
  const std::vector<Batch> batches = made_up_batches();
  const std::vector<float> held_out = made_up_features(4000);

  auto device = halftone::Device::best(models::letters::artifact());  // description() says why
  models::letters::Trainer trainer(device, {.batch = 64, .seed = 1});
  for (auto& [features, letter] : batches) {
    trainer.step(features, letter);  // returns at once; a GPU works on up to four steps behind it
  }
  float loss = trainer.loss("error");  // waits for the last step, as every question does
  if (!trainer.updated())  // not finite, nothing changed: which value, where, by which rule
    if (auto culprit = trainer.diagnose()) std::cerr << culprit->text() << "\n";

  models::letters::Predictor predictor(device, {.batch = 4000});
  predictor.copy_parameters(trainer);
  auto logits = predictor.predict(held_out).logits;

  for (std::size_t row = 0; row < 4; ++row) {
    const auto of_row = logits.subspan(row * 26, 26);
    CHECK(std::ranges::max_element(of_row) - of_row.begin() == static_cast<std::ptrdiff_t>(row));
  }

  // One step of 4 x 64 letters.
  for (std::size_t i = 0; i < 3; ++i) trainer.accumulate(batches[i].features, batches[i].letter);
  trainer.step(batches[3].features, batches[3].letter);

  CHECK(trainer.updated());
  CHECK(trainer.stats().steps == 41);

  const auto former = std::filesystem::current_path();
  std::filesystem::create_directories("readme_files");
  std::filesystem::current_path("readme_files");

  trainer.save("run.safetensors", {.keep = 2});  // and later: trainer.resume("run.safetensors");
  trainer.save_weights("letters.safetensors");
  predictor.load_weights("letters.safetensors");
  for (const std::string& name : trainer.parameter_names())
    halftone::save_npy(name + ".npy", trainer.parameter(name), trainer.parameter_shape(name));

  models::letters::Trainer resumed(device, {.batch = 64, .seed = 3});
  CHECK(resumed.resume("run.safetensors").steps == 41);
  models::letters::Trainer other(device, {.batch = 64, .seed = 2});
  for (const std::string& name : other.parameter_names())
    other.set_parameter(name, halftone::load_npy(name + ".npy").floats());
  std::filesystem::current_path(former);
  CHECK(std::ranges::equal(predictor.parameter("fc1.weight"), other.parameter("fc1.weight")));
  for (models::letters::Trainer* each : {&trainer, &other, &resumed}) {
    each->forward(batches[0].features, batches[0].letter);
  }
  CHECK(other.loss("error") == trainer.loss("error"));
  CHECK(resumed.loss("error") == trainer.loss("error"));
}

TEST_CASE("README's run in one call learns, and goes on from its checkpoint") {
  const auto former = std::filesystem::current_path();
  std::filesystem::remove_all("readme_run");
  std::filesystem::create_directories("readme_run");
  std::filesystem::current_path("readme_run");
  const std::vector<float> features = made_up_features(400);
  std::vector<std::int32_t> letters(400);
  for (std::size_t row = 0; row < 400; ++row) letters[row] = static_cast<std::int32_t>(row % 4);
  const auto device = halftone::Device::cpu();
  for (int run = 0; run < 2; ++run) {
    models::letters::Trainer trainer(device, {.batch = 64, .seed = 1});
    models::letters::Predictor predictor(device, {.batch = 4000});

auto data = halftone::Dataset::view({{"features", features}, {"letter", letters}}, letters.size()).split(0.2, /*seed=*/1);
halftone::Loader training(data.training, {.batch = 64, .seed = 1}), held_out(data.held_out, {.batch = 1000});
halftone::fit(trainer, training, {.epochs = 20, .validation = halftone::Validation{&predictor, &held_out},
                                  .checkpoint = "run.safetensors"});  // goes on from it where it is there

    CHECK(trainer.stats().steps == 20 * 5);
    predictor.copy_parameters(trainer);
    predictor.evaluate(features, letters);
    CHECK(predictor.loss("error") < 0.1f);
  }
  std::filesystem::current_path(former);
}
// clang-format on

TEST_CASE("diagnose() says which micro-batch spoiled a step") {
  std::vector<Batch> batches = made_up_batches();
  batches[0].letter[5] = -1;  // no class
  models::letters::Trainer trainer(halftone::Device::cpu(), {.batch = 64, .seed = 1});
  trainer.accumulate(batches[0].features, batches[0].letter);
  trainer.step(batches[1].features, batches[1].letter);
  CHECK_FALSE(trainer.updated());
  const auto culprit = trainer.diagnose();
  REQUIRE(culprit);
  CHECK(culprit->text() ==
        "micro-batch 1 of 2, label 'letter': element 5 is -1, but the loss 'error' has 26 classes");
}
