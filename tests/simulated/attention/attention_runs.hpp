// SPDX-License-Identifier: Apache-2.0
// Models of attention on simulated chips: what they are given, what a step or a prediction leaves,
// and texts of kernels with a fault.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "artifacts.hpp"
#include "delivered.hpp"
#include "halftone/description/text.hpp"
#include "halftone/predictor.hpp"
#include "halftone/reference/evaluator.hpp"
#include "halftone/trainer.hpp"
#include "laws/pair.hpp"
#include "simulation.hpp"

namespace halftone::tests {

inline constexpr const char* kOutputs[] = {"a", "b", "c", "d", "e"};
using manifest::Phase;

/// What a step of either artifact is given.
struct Given {
  explicit Given(std::int64_t time, std::int64_t batch = 2, std::int64_t columns = 32)
      : time(time), batch(batch) {
    std::mt19937_64 random(static_cast<std::uint64_t>(time));
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    x.resize(static_cast<std::size_t>(batch * time * columns));
    for (float& value : x) value = uniform(random);
    length = {static_cast<std::int32_t>(time - time / 3), 0};  // the second keeps no key
    for (std::int64_t i = 0; i < batch * time; ++i)
      document.push_back(static_cast<std::uint8_t>(i % time * 3 / time));
  }

  [[nodiscard]] std::vector<NamedValues> named() const {
    std::vector<NamedValues> named = {{"x", std::span<const float>(x)}};
    if (!y.empty()) named.push_back({"y", std::span<const float>(y)});
    if (!mask.empty()) named.push_back({"mask", std::span<const std::uint8_t>(mask)});
    if (length.empty()) return named;
    named.push_back({"length", std::span<const std::int32_t>(length)});
    named.push_back({"document", std::span<const std::uint8_t>(document)});
    return named;
  }
  [[nodiscard]] Setup setup() const {
    bindings = {{"batch", batch}, {"time", time}};
    if (!y.empty()) bindings.push_back({"source", source});
    return {.model = "", .bindings = bindings, .seed = 3};
  }

  [[nodiscard]] reference::Symbols symbols() const { return {{"batch", batch}, {"time", time}}; }

  /// What the reference predicts with the predictor's parameters.
  template <class Scalar>
  [[nodiscard]] reference::Forward<Scalar> predicted(const reference::Evaluator<Scalar>& reference,
                                                     const Predictor& predictor) const {
    reference::Tensors<Scalar> parameters;
    for (const std::string& name : predictor.parameter_names()) {
      const auto values = predictor.parameter(name);
      parameters[name] = {values.begin(), values.end()};
    }
    reference::Inputs<Scalar> inputs;
    inputs.values["x"] = {x.begin(), x.end()};
    inputs.integers["length"] = length;
    inputs.integers["document"] = {document.begin(), document.end()};
    return reference.predict(reference.initial_state(std::move(parameters)), inputs);
  }

  std::int64_t time, batch, source = 0;
  std::vector<float> x, y;           ///< y of `source` times, or nothing
  std::vector<std::uint8_t> mask;    ///< of y's times
  std::vector<std::int32_t> length;  ///< with `document`, or neither
  std::vector<std::uint8_t> document;
  mutable std::vector<Binding> bindings;
};

/// What long_rows takes, and a chunk of N2 does not hold.
inline Given long_rows() {
  Given given(1056, 1, 16);
  given.length.clear();
  return given;
}

/// What gradients takes: rows of several blocks, the last ones not whole.
inline Given gradients() {
  Given given(70, 2, 16);
  given.length.clear();
  return given;
}

/// What crossing takes: of the first sequence every third key is masked, of the second all but the
/// last ones.
inline Given crossing(std::int64_t time, std::int64_t source) {
  Given given(time, 2, 16);
  given.length.clear();
  given.source = source;
  given.y = Given(source + 1, 2, 16).x;
  given.y.resize(static_cast<std::size_t>(2 * source * 16));
  for (std::int64_t key = 0; key < source; ++key) given.mask.push_back(key % 3 != 1);
  for (std::int64_t key = 0; key < source; ++key) given.mask.push_back(key >= source - 9);
  return given;
}

inline bool is_whole() { return std::getenv("HALFTONE_EVERY_KERNEL") != nullptr; }

inline Artifact artifact_of(const char* name) {
  return Artifact::linked(*find_artifact(name).image);
}

inline description::Description described(const Artifact& artifact) {
  const auto parsed = description::parse(artifact.manifest().description);
  return std::get<description::Description>(parsed);
}

/// The largest of the differences.
template <class Values>
double distance(const Values& values, const std::vector<double>& wanted) {
  double largest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(values[i]) - wanted[i]));
  return largest;
}

/// How many launches of a phase are kernels of this skeleton on the chip.
inline std::int64_t count_joined(const Artifact& artifact, const std::string& chip,
                                 Phase phase = Phase::forward, const char* skeleton = "attention") {
  std::int64_t count = 0;
  for (const manifest::Manifest& manifest : artifact.manifests())
    if (std::ranges::count(manifest.targets, chip) != 0)
      for (const manifest::Launch& launch :
           manifest.programs.front().phases[static_cast<std::size_t>(phase)])
        count += manifest.kernels[static_cast<std::size_t>(launch.kernel)].skeleton == skeleton;
  return count;
}

/// These outputs of a step's forward pass, and what its update leaves of the parameters.
inline std::vector<std::vector<float>> trained(const char* name, const Device& device,
                                               const Given& given,
                                               std::span<const char* const> outputs = kOutputs) {
  const Artifact artifact = artifact_of(name);
  Trainer trainer(artifact, device, given.setup());
  trainer.step(given.named());
  CHECK(trainer.updated());
  std::vector<std::vector<float>> values;
  for (const char* output : outputs) {
    const auto found = trainer.output(output);
    values.emplace_back(found.begin(), found.end());
  }
  for (const std::string& parameter : trainer.parameter_names()) {
    const auto found = trainer.parameter(parameter);
    values.emplace_back(found.begin(), found.end());
  }
  return values;
}

/// One output of a prediction.
inline std::vector<float> predicted(const char* name, const Device& device, const Given& given,
                                    std::string_view output) {
  Predictor predictor(artifact_of(name), device, given.setup());
  predictor.predict(given.named());
  const auto found = predictor.output(output);
  return {found.begin(), found.end()};
}

/// `from` stands in the text of the kernel that computes `output`, or of the one that is called so;
/// its first place becomes `to`.
struct Mutant {
  std::string_view fault, output, from, to;
};

/// Compiles kernels whose name ends in `entry` from such a text, and says whether it found one.
inline auto compile_with(const Mutant& mutant, const std::string& entry_end, bool& changed) {
  return [&mutant, entry_end, &changed](const std::string& text, const std::string& entry,
                                        const std::string& architecture) {
    const std::size_t at = text.find(mutant.from);
    if (text.find("attention") == text.npos || !entry.ends_with(entry_end) || at == text.npos)
      return compile_with_nvrtc(text, entry, architecture);
    changed = true;
    std::string other = text;
    return compile_with_nvrtc(other.replace(at, mutant.from.size(), mutant.to), entry,
                              architecture);
  };
}

/// Predictions of joined are at most twice as far from exact values as the declared reference's.
inline void check_near_exact(const char* chip, std::int64_t time) {
  const Given given(time);
  const Artifact artifact = artifact_of("joined");
  Predictor predictor(artifact, simulated(chip), given.setup());
  predictor.predict(given.named());
  const reference::Declared declared(described(artifact), given.symbols(), chip);
  const reference::Exact exact(described(artifact), given.symbols(), chip);
  const auto rounded = given.predicted(declared, predictor);
  const auto wanted = given.predicted(exact, predictor);
  for (const char* output : kOutputs) {
    CAPTURE(std::string(output));
    const auto node = static_cast<std::size_t>(declared.find(output));
    const double here = distance(predictor.output(output), wanted.values[node]),
                 there = distance(rounded.values[node], wanted.values[node]);
    std::printf("%s: %.3g from the exact values, the reference %.3g\n", output, here, there);
    CHECK(here > 0);
    CHECK(here <= 2 * there);
  }
}

/// What a step of gradients makes of the parameters is at most twice as far from exact values as
/// what the declared reference does, which computes all of attention apart, in the same formats.
inline void check_step_near_exact(const char* chip) {
  const Given given = gradients();
  const Artifact artifact = artifact_of("gradients");
  Trainer trainer(artifact, simulated(chip), given.setup());
  const auto stepped = [&](const auto& reference, auto scalar) {
    using Scalar = decltype(scalar);
    reference::Tensors<Scalar> parameters;
    for (const std::string& name : trainer.parameter_names()) {
      const auto values = trainer.parameter(name);
      parameters[name] = {values.begin(), values.end()};
    }
    reference::Inputs<Scalar> inputs;
    inputs.values["x"] = {given.x.begin(), given.x.end()};
    return reference.step(reference.initial_state(std::move(parameters)), inputs).state.parameters;
  };
  const auto rounded =
      stepped(reference::Declared(described(artifact), given.symbols(), chip), 0.0f);
  const auto wanted = stepped(reference::Exact(described(artifact), given.symbols(), chip), 0.0);
  trainer.step(given.named());
  REQUIRE(trainer.updated());
  for (const std::string& name : trainer.parameter_names()) {
    CAPTURE(name);
    const double here = distance(trainer.parameter(name), wanted.at(name)),
                 there = distance(rounded.at(name), wanted.at(name));
    std::printf("%s: %.3g from the exact step, the reference %.3g\n", name.c_str(), here, there);
    CHECK(here > 0);
    CHECK(here <= 2 * there);
  }
}

/// The first of these every day, all with HALFTONE_EVERY_KERNEL.
inline std::span<const Mutant> tried_of(std::span<const Mutant> mutants, std::size_t every_day) {
  if (is_whole()) return mutants;
  std::printf("left out: %zu faults; tests/run --exhaustive -R simulated_attention\n",
              mutants.size() - every_day);
  return mutants.first(every_day);
}

/// The fault is one of the text and is seen: by the simulator, or by the bits of what run(device)
/// leaves, which is `sound` without it.
template <class Run>
void check_seen(const Mutant& mutant, const char* chip,
                const std::vector<std::vector<float>>& sound, const Run& run) {
  bool changed = false, differs = false;
  std::size_t findings = 0;
  const auto observe = [&](const std::string&, const simulator::LaunchReport& report) {
    findings += report.findings.size();
  };
  const auto compile = compile_with(mutant, "_" + std::string(mutant.output), changed);
  try {
    differs = !std::ranges::equal(run(simulated(chip, {}, compile, observe)), sound,
                                  [](const std::vector<float>& a, const std::vector<float>& b) {
                                    return first_difference(a, b) == -1;
                                  });
  } catch (const std::exception&) {  // findings end a launch
    differs = true;
  }
  CHECK(changed);
  CHECK((differs || findings > 0));
}

}  // namespace halftone::tests
