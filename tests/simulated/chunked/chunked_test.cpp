// SPDX-License-Identifier: Apache-2.0
// D74 on simulated chips: a loss whose logits are in memory for a chunk of rows at a time leaves
// the bits of one whose logits are there whole, but for the gradients of the weight and the bias
// that make them: a chip adds the sums of chunks, which are held to the exact reference.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "artifacts.hpp"
#include "halftone/description/text.hpp"
#include "halftone/reference/evaluator.hpp"
#include "halftone/trainer.hpp"
#include "laws/pair.hpp"
#include "simulation.hpp"

namespace halftone::tests {

namespace {

constexpr std::int64_t kTime = 6, kWords = 50;

Artifact artifact_of(const std::string& name) {
  return Artifact::linked(*find_artifact(name).image);
}

/// What a step is given.
struct Given {
  explicit Given(std::int64_t batch, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<std::int32_t> word(0, kWords - 1);
    for (std::int64_t i = 0; i < batch * kTime; ++i) {
      tokens.push_back(word(random));
      next.push_back(word(random));
    }
  }

  [[nodiscard]] std::vector<NamedValues> named() const {
    return {{"tokens", std::span<const std::int32_t>(tokens)},
            {"next", std::span<const std::int32_t>(next)}};
  }

  std::vector<std::int32_t> tokens, next;
};

/// A trainer on a simulated chip.
struct Run {
  Run(const std::string& name, const std::string& chip, std::int64_t batch)
      : Run(name, simulated(chip), batch) {}
  Run(const std::string& name, const Device& device, std::int64_t batch)
      : artifact(artifact_of(name)),
        bindings{{"batch", batch}, {"time", kTime}},
        trainer(artifact, device, {.model = "", .bindings = bindings, .seed = 3}) {}

  [[nodiscard]] std::vector<float> parameter(const std::string& name) {
    const auto values = trainer.parameter(name);
    return {values.begin(), values.end()};
  }

  Artifact artifact;
  std::vector<Binding> bindings;
  Trainer trainer;
};

/// That compiles kernels once more for the sizes in use.
Device specialising(const std::string& chip) {
  return simulated_under({.jit = Jit::background}, chip);
}

/// The parameters after one step, computed in double.
reference::Tensors<double> exact_step(Run& run, const Given& given, std::int64_t batch) {
  const auto parsed = description::parse(run.artifact.manifest().description);
  const reference::Exact exact(std::get<description::Description>(parsed),
                               {{"batch", batch}, {"time", kTime}});
  reference::Tensors<double> parameters;
  for (const std::string& name : run.trainer.parameter_names()) {
    const std::vector<float> values = run.parameter(name);
    parameters[name] = {values.begin(), values.end()};
  }
  reference::Inputs<double> inputs;
  inputs.integers = {{"tokens", given.tokens}, {"next", given.next}};
  return exact.step(exact.initial_state(std::move(parameters)), inputs).state.parameters;
}

double distance(const std::vector<float>& values, const std::vector<double>& wanted) {
  REQUIRE(values.size() == wanted.size());
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(values[i]) - wanted[i]));
  return largest;
}

/// A step of both, of as many rows as `given` has.
void check_step(Run& chunked, Run& whole, const Given& given) {
  const auto batch = std::ssize(given.tokens) / kTime;
  const reference::Tensors<double> wanted = exact_step(whole, given, batch);
  for (Run* run : {&chunked, &whole}) {
    run->trainer.step(given.named());
    REQUIRE(run->trainer.updated());
  }
  CHECK(bits(chunked.trainer.loss("error")) == bits(whole.trainer.loss("error")));
  for (const std::string& name : whole.trainer.parameter_names()) {
    CAPTURE(name);
    const auto here = chunked.parameter(name), there = whole.parameter(name);
    if (!name.starts_with("head.")) {
      CHECK(first_difference(here, there) == -1);
      continue;
    }
    CHECK(distance(there, wanted.at(name)) > 0);
    CHECK(distance(here, wanted.at(name)) <= 2 * distance(there, wanted.at(name)));
    whole.trainer.set_parameter(name, here);  // so that further steps begin alike
  }
}

}  // namespace

TEST_CASE("D74: steps in chunks of rows are those of whole logits") {
  for (const std::string name : {"words", "halves"})
    for (const std::string chip : {"sm_75", "sm_80"})
      for (const std::int64_t batch : {1, 2, 5, 12}) {  // rows of 6, chunks of 2 of them
        CAPTURE(name);
        CAPTURE(chip);
        CAPTURE(batch);
        Run chunked(name, chip, batch), whole(name + "_whole", chip, batch);
        for (const std::uint64_t step : {1, 2}) check_step(chunked, whole, Given(batch, step));
      }
}

TEST_CASE("D74: with a bias chunks are multiples of 128 rows") {
  for (const std::int64_t batch : {64, 130}) {  // rows of 6, chunks of 64 of them
    CAPTURE(batch);
    Run chunked("biased", "sm_80", batch), whole("biased_whole", "sm_80", batch);
    for (const std::uint64_t step : {1, 2}) check_step(chunked, whole, Given(batch, step));
  }
}

TEST_CASE("D74: runs of fewer rows have fewer chunks") {
  Run chunked("halves", "sm_80", 12), whole("halves_whole", "sm_80", 12);
  for (const std::int64_t rows : {5, 12, 1, 4, 12}) {
    CAPTURE(rows);
    check_step(chunked, whole, Given(rows));
  }
}

TEST_CASE("D74: kernels for the sizes in use leave chunks to those for all sizes") {
  Run chunked("words", specialising("sm_80"), 11), whole("words_whole", "sm_80", 11);
  const auto is = [&](const std::string& end) {
    return chunked.trainer.stats().variant.ends_with(end);
  };
  check_step(chunked, whole, Given(11));
  for (int i = 0; i < 6000 && !is("from the next step on"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(is("from the next step on"));
  check_step(chunked, whole, Given(11, 2));
  CHECK(is("specialised for batch 11, time 6"));
}

TEST_CASE("D74: a chunk of logits takes less memory than all of them") {
  const auto bytes = [](const std::string& name, std::int64_t batch) {
    return Run(name, "sm_80", batch).trainer.stats().peak_bytes_predicted;
  };
  CHECK(bytes("words", 64) + 62 * kTime * kWords * 4 <= bytes("words_whole", 64));
}

}  // namespace halftone::tests
