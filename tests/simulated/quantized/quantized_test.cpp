// SPDX-License-Identifier: Apache-2.0
// P82 on simulated chips: products with codes, in every format of activations and with rows that
// begin anywhere, have sums that are exact in any order, and so the CPU's bits, which laws compare
// with the reference.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "artifacts.hpp"
#include "halftone/predictor.hpp"
#include "linked_artifact.hpp"
#include "simulation.hpp"

namespace halftone::tests {
namespace {

constexpr std::int64_t kBatch = 19;

/// Whole numbers of few bits, so that sums of their products are whole numbers below 2^24.
std::vector<float> small_numbers(std::size_t count, int largest, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> pick(-largest, largest);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(pick(random));
  return numbers;
}

/// Channels whose largest weight is the largest code's, times a scale of their own: 8 digits times
/// 16, so that weights are exact.
std::vector<float> weights_of(std::span<const std::int64_t> shape, bool is_turned, bool is_f8,
                              std::uint32_t seed) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  const std::size_t channels = static_cast<std::size_t>(is_turned ? shape[1] : shape[0]);
  std::vector<float> weights = small_numbers(count, is_f8 ? 8 : 127, seed);
  for (std::size_t e = 0; e < count; ++e) {
    const std::size_t channel = is_turned ? e % channels : e / (count / channels);
    const bool is_first = is_turned ? e < channels : e % (count / channels) == 0;
    if (is_first) weights[e] = is_f8 ? 448.0f : 127.0f;
    weights[e] *= static_cast<float>(40961 + 2 * channel) * 0x1p-16f;
  }
  return weights;
}

void fill(Predictor& predictor, bool is_f8) {
  std::uint32_t seed = 1;
  for (const std::string& name : predictor.parameter_names()) {
    const auto shape = predictor.parameter_shape(name);
    ++seed;
    if (shape.size() == 1) {
      predictor.set_parameter(name, small_numbers(static_cast<std::size_t>(shape[0]), 100, seed));
    } else {
      const bool is_turned = name == "odd.weight" || name == "even.weight";
      predictor.set_parameter(name, weights_of(shape, is_turned, is_f8, seed));
    }
  }
}

std::size_t count_tensor_kernels(const Artifact& artifact, const char* chip) {
  const manifest::CudaTarget* target = manifest::find_cuda(artifact.manifest(), chip);
  std::size_t found = 0;
  for (const manifest::CudaKernel& kernel : target->kernels)
    if (!kernel.plans.empty() && kernel.plans[0].name.starts_with("tensor")) ++found;
  return found;
}

}  // namespace

TEST_CASE("products with codes have the CPU's bits on chips, by tensor cores and without them") {
  const auto x = small_numbers(static_cast<std::size_t>(kBatch) * 200, 8, 91);
  const auto image = small_numbers(static_cast<std::size_t>(kBatch) * 6 * 5 * 8, 8, 92);
  const std::vector<NamedValues> inputs = {{"x", std::span<const float>(x)},
                                           {"image", std::span<const float>(image)}};
  for (const LinkedArtifact& linked : kArtifacts) {
    const std::string name = linked.name;
    CAPTURE(name);
    const bool is_f8 = name.ends_with("_f8");
    const Artifact artifact = Artifact::linked(*linked.image);
    const Binding sizes[] = {{"batch", kBatch}};
    const Setup setup{.model = "", .bindings = sizes, .seed = 1};
    Predictor cpu(artifact, Device::cpu("x86-64-v3"), setup);
    fill(cpu, is_f8);
    cpu.predict(inputs);
    for (const char* chip : {"sm_75", "sm_80", "sm_90a"}) {
      CAPTURE(std::string(chip));
      const bool has_cores = name.starts_with("coded_f16") ||
                             (std::string(chip) != "sm_75" && !name.starts_with("coded_f32"));
      CHECK(count_tensor_kernels(artifact, chip) == (has_cores ? 5 : 0));
      Predictor predictor(artifact, simulated(chip), setup);
      fill(predictor, is_f8);
      predictor.predict(inputs);
      for (const char* output : {"rows", "wide", "odd", "even", "windows"}) {
        CAPTURE(std::string(output));
        const auto expected = cpu.output(output), found = predictor.output(output);
        std::size_t different = 0, zeros = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          different += found[i] != expected[i] ? 1 : 0;
          zeros += expected[i] == 0 ? 1 : 0;
        }
        CHECK(different == 0);
        CHECK(zeros < expected.size() / 4);
      }
    }
  }
}

TEST_CASE("a code that is widened to another number is seen, and rows that begin elsewhere") {
  const auto x = small_numbers(static_cast<std::size_t>(kBatch) * 200, 8, 91);
  const auto image = small_numbers(static_cast<std::size_t>(kBatch) * 6 * 5 * 8, 8, 92);
  const std::vector<NamedValues> inputs = {{"x", std::span<const float>(x)},
                                           {"image", std::span<const float>(image)}};
  const Artifact artifact = Artifact::linked(*find_artifact("coded_bf16").image);
  const Binding sizes[] = {{"batch", kBatch}};
  const Setup setup{.model = "", .bindings = sizes, .seed = 1};
  Predictor cpu(artifact, Device::cpu("x86-64-v3"), setup);
  fill(cpu, false);
  cpu.predict(inputs);
  for (const auto& [from, to] : {std::pair("^ 0x80u", "^ 0x81u"),
                                 std::pair("from[i]) << (8 * i)", "from[i]) << (8 * i ^ 8)"),
                                 std::pair("2 * i + 1) << 16", "2 * i) << 16")}) {
    CAPTURE(std::string(from));
    const std::string before = from, after = to;
    std::size_t changed = 0;
    const auto compile = [&](std::string text, const std::string& entry,
                             const std::string& architecture) {
      const std::size_t coded = text.find("class CodeStaging");
      if (const std::size_t at = text.find(before); coded != text.npos && at != text.npos) {
        text.replace(at, before.size(), after);
        ++changed;
      }
      return compile_with_nvrtc(text, entry, architecture);
    };
    Predictor predictor(artifact, simulated("sm_80", {}, compile), setup);
    fill(predictor, false);
    predictor.predict(inputs);
    CHECK(changed == 5);
    std::size_t different = 0;
    for (const char* output : {"rows", "wide", "odd", "even", "windows"}) {
      const auto expected = cpu.output(output), found = predictor.output(output);
      for (std::size_t i = 0; i < expected.size(); ++i)
        different += found[i] != expected[i] ? 1 : 0;
    }
    CHECK(different > 0);
  }
}

}  // namespace halftone::tests
