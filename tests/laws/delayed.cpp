// SPDX-License-Identifier: Apache-2.0
// Delayed scales (P72 to P75): a step is scaled by what earlier ones left, and leaves what the
// reference leaves, skipped or not; what is no part of a step leaves nothing.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "own_pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

void draw_times(Pair& pair, float factor) {
  pair.draw();
  for (auto& [name, values] : pair.inputs.values)
    for (float& value : values) value *= factor;
  pair.deliver();
}

/// What outgrows its scales, what vanishes under them, and what is nothing at all.
constexpr float kFactors[] = {1, 1, 64, 64, 0x1p-12f, 0x1p-12f, 0, 0, 0, 0, 3, 0x1p40f, 1, 1, 1, 1};

std::string file_name(const char* name) {
  return (std::filesystem::temp_directory_path() /
          ("halftone_delayed_" + std::string(name) + std::to_string(getpid())))
      .string();
}

/// How many names begin with the text.
std::ptrdiff_t count(const std::vector<std::string>& names, const std::string& begin) {
  return std::ranges::count_if(names, [&](const auto& name) { return name.starts_with(begin); });
}

}  // namespace

TEST_CASE("steps under delayed scales equal the declared reference") {
  for (const std::string& variant : tested_variants())
    for (const std::int64_t batch : {1, 5, 37}) {
      CAPTURE(variant);
      CAPTURE(batch);
      Pair pair = make_pair(find_artifact("delayed"), variant, batch);
      std::map<std::string, std::vector<float>> seen;
      for (const float factor : kFactors) {
        CAPTURE(factor);
        draw_times(pair, factor);
        check_step(pair);
        for (const auto& [name, scale] : pair.state.delayed) seen[name].push_back(scale.scale);
      }
      CHECK(seen.size() >= 20);
      for (const auto& [name, scales] : seen) {
        CAPTURE(name);
        if (name.find("weight") != std::string::npos) continue;  // move little
        CHECK(*std::ranges::max_element(scales) > *std::ranges::min_element(scales));
      }
    }
}

TEST_CASE("a skipped step moves the scales of what was finite in it, and keeps the others") {
  for (const float value : {INFINITY, -INFINITY, std::nanf("")}) {
    CAPTURE(value);
    Pair pair = make_pair(find_artifact("delayed"), tested_variant, 5);
    for (const float factor : {1.0f, 16.0f}) {
      draw_times(pair, factor);
      check_step(pair);
    }
    const auto before = pair.state.delayed;
    draw_times(pair, 0x1p-6f);
    pair.spoil(value);
    check_step(pair);
    CHECK(!pair.trainer.updated());
    CHECK(pair.state.delayed != before);
    for (const float factor : {1.0f, 1.0f, 4.0f, 1.0f, 1.0f}) {
      draw_times(pair, factor);
      check_step(pair);
    }
    CHECK(pair.trainer.updated());
  }
}

TEST_CASE("micro-batches are scaled alike, and the largest magnitude of all of them counts") {
  Pair pair = make_pair(find_artifact("delayed"), tested_variant, 5);
  for (int step = 0; step < 5; ++step) {
    CAPTURE(step);
    std::vector<reference::Inputs<float>> batches;
    for (const float factor : {1.0f, 64.0f, 0x1p-12f}) {
      draw_times(pair, step == 2 ? 1 / factor : factor);
      batches.push_back(pair.inputs);
      if (batches.size() < 3) {
        pair.trainer.accumulate(pair.named_inputs());
      } else {
        pair.trainer.step(pair.named_inputs());
      }
    }
    const auto expected = pair.reference.step(pair.state, batches);
    CHECK(pair.trainer.updated() == expected.finite);
    pair.state = expected.state;
    check_parameters(pair);
    pair.draw();
    check_step(pair);  // of one, which earlier ones are no part of
  }
}

TEST_CASE("every layer under delayed scales equals the reference") {
  for (const LinkedArtifact& artifact : kDelayedArtifacts)
    for (const std::int64_t batch : {1, 6}) {
      CAPTURE(std::string(artifact.name));
      CAPTURE(batch);
      Pair pair = make_pair(artifact, tested_variant, batch);
      for (const float factor : {1.0f, 16.0f, 1.0f, 0.25f, 1.0f}) {
        CAPTURE(factor);
        draw_times(pair, factor);
        check_step(pair);
      }
    }
}

TEST_CASE("what forward() and backward() read beside steps moves no scale") {
  Pair pair = make_pair(find_artifact("delayed"), tested_variant, 5);
  Pair other = make_pair(find_artifact("delayed"), tested_variant, 5, 9);
  for (int step = 0; step < 4; ++step) {
    CAPTURE(step);
    draw_times(other, 0x1p20f);
    pair.trainer.forward(other.named_inputs());
    if (step % 2 == 1) pair.trainer.backward();
    pair.draw();
    check_step(pair);
  }
}

TEST_CASE("a skipped step, which moved scales and no parameter, is shown again as it was scaled") {
  Pair pair = make_pair(find_artifact("delayed"), tested_variant, 5);
  for (const float factor : {1.0f, 1.0f, 64.0f, 0x1p-12f}) {
    CAPTURE(factor);
    draw_times(pair, factor);
    pair.inputs.values.at("wanted").front() = INFINITY;
    const auto expected = pair.reference.forward(pair.state, pair.inputs);
    check_step(pair);
    CHECK(!pair.trainer.updated());
    std::map<std::string, std::vector<std::vector<float>>> shown;
    pair.trainer.inspect([&](const InspectedValue& value) {
      if (value.pass == "forward" && value.role == "activation")
        shown[std::string(value.layer)].emplace_back(value.values.begin(), value.values.end());
    });
    for (const char* layer : {"fc", "query", "mixed", "mix", "last", "head"}) {
      CAPTURE(std::string(layer));
      const auto& values = expected.values[static_cast<std::size_t>(pair.reference.find(layer))];
      CHECK(std::ranges::any_of(shown[layer], [&](const std::vector<float>& each) {
        return first_difference(each, values) == -1;
      }));
    }
  }
}

TEST_CASE("a predictor scales what it is given by its own largest magnitude") {
  Pair pair = make_pair(find_artifact("delayed"), tested_variant, 5);
  for (const float factor : {1.0f, 256.0f}) {
    draw_times(pair, factor);
    check_step(pair);
  }
  Predictor predictor(pair.artifact, pair.device, pair.setup(1));
  predictor.copy_parameters(pair.trainer);
  for (const float factor : {1.0f, 0x1p30f}) {
    draw_times(pair, factor);
    predictor.predict(inputs_of_predictor(pair, true));
    const auto expected = pair.reference.predict(pair.state, pair.inputs);
    for (const auto& output : pair.description.outputs) {
      CAPTURE(output.name);
      CHECK(first_difference(predictor.output(output.name), expected.values[output.node]) == -1);
    }
  }
}

TEST_CASE("scales and histories go through checkpoints, and other rules begin with their own") {
  const std::string file = file_name("checkpoint");
  Pair pair = make_pair(find_artifact("delayed"), tested_variant, 5);
  Pair fewer = make_pair(find_artifact("fewer_delayed"), tested_variant, 5);
  for (Pair* each : {&pair, &fewer})
    for (const float factor : {1.0f, 16.0f, 1.0f}) {
      draw_times(*each, factor);
      check_step(*each);
    }
  pair.trainer.save(file);
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  CHECK(bytes.find("\"halftone/scales=") != std::string::npos);
  CHECK(bytes.find("\"halftone/amaxes=") != std::string::npos);
  CHECK(bytes.find("before=") == std::string::npos);

  Pair again = make_pair(find_artifact("delayed"), tested_variant, 5, 3);
  again.trainer.resume(file);
  again.state = pair.state;
  again.state.seed = pair.state.seed;
  for (const float factor : {1.0f, 4.0f, 1.0f}) {
    draw_times(again, factor);
    check_step(again);
  }

  const Resumed into_fewer = fewer.trainer.resume(file, {.other_rules = true});
  CHECK(count(into_fewer.left_out, "halftone/scales=") == 2);
  CHECK(count(into_fewer.left_out, "halftone/amaxes=") == 2);
  CHECK(into_fewer.kept.empty());
  fewer.trainer.save(file);
  const Resumed into_more = pair.trainer.resume(file, {.other_rules = true});
  CHECK(count(into_more.kept, "halftone/scales=") == 2);
  CHECK(count(into_more.kept, "halftone/amaxes=") == 2);
  CHECK(into_more.left_out.empty());
  std::remove(file.c_str());
}

}  // namespace halftone::tests
