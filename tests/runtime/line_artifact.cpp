// SPDX-License-Identifier: Apache-2.0
#include "line_artifact.hpp"

#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

namespace hand_made {
namespace {

namespace m = halftone::manifest;

std::atomic<bool> recording = false;
std::mutex calls_mutex;
std::vector<Call> calls;

void record(const char* kernel, std::int64_t first, std::int64_t last) {
  if (!recording) return;
  const std::lock_guard lock(calls_mutex);
  calls.push_back({kernel, first, last, _mm_getcsr()});
}

float* floats(void* const* arguments, int index) { return static_cast<float*>(arguments[index]); }

// Every kernel over rows has one task per row.

void forward(void* const* arguments, const std::int64_t*, std::int64_t first, std::int64_t last) {
  record("forward", first, last);
  const float *x = floats(arguments, 0), *weight = floats(arguments, 1),
              *bias = floats(arguments, 2);
  for (std::int64_t i = first; i < last; ++i) {
    for (std::int64_t j = 0; j < kTargets; ++j) {
      float sum = 0.0f;
      for (std::int64_t k = 0; k < kFeatures; ++k) {
        sum = std::fma(x[i * kFeatures + k], weight[j * kFeatures + k], sum);
      }
      floats(arguments, 3)[i * kTargets + j] = sum + bias[j];
    }
  }
}

void row_errors(void* const* arguments, const std::int64_t*, std::int64_t first,
                std::int64_t last) {
  record("loss", first, last);
  for (std::int64_t i = first; i < last; ++i) {
    float sum = 0.0f;
    for (std::int64_t j = i * kTargets; j < (i + 1) * kTargets; ++j) {
      const float d = floats(arguments, 0)[j] - floats(arguments, 1)[j];
      sum += d * d;
    }
    floats(arguments, 2)[i] = sum;
  }
}

void sum_errors(void* const* arguments, const std::int64_t* symbols, std::int64_t first,
                std::int64_t last) {
  record("loss.finish", first, last);
  float sum = 0.0f;
  for (std::int64_t i = 0; i < symbols[0]; ++i) sum += floats(arguments, 2)[i];
  floats(arguments, 3)[0] = sum / static_cast<float>(symbols[0] * kTargets);
}

void loss_backward(void* const* arguments, const std::int64_t* symbols, std::int64_t first,
                   std::int64_t last) {
  record("loss_backward", first, last);
  const float scale = 1.0f / static_cast<float>(symbols[0] * kTargets);
  for (std::int64_t j = first * kTargets; j < last * kTargets; ++j) {
    const float d = floats(arguments, 0)[j] - floats(arguments, 1)[j];
    floats(arguments, 2)[j] = scale * (2.0f * d);
  }
}

/// One task per column of the prediction.
void backward(void* const* arguments, const std::int64_t* symbols, std::int64_t first,
              std::int64_t last) {
  record("backward", first, last);
  const float *g = floats(arguments, 0), *x = floats(arguments, 1);
  for (std::int64_t j = first; j < last; ++j) {
    float bias = 0.0f, weight[kFeatures] = {};
    for (std::int64_t i = 0; i < symbols[0]; ++i) {
      bias += g[i * kTargets + j];
      for (std::int64_t k = 0; k < kFeatures; ++k) {
        weight[k] = std::fma(g[i * kTargets + j], x[i * kFeatures + k], weight[k]);
      }
    }
    std::copy(weight, weight + kFeatures, floats(arguments, 2) + j * kFeatures);
    floats(arguments, 3)[j] = bias;
  }
}

void check(void* const* arguments, const std::int64_t*, std::int64_t first, std::int64_t last) {
  record("check", first, last);
  float sum = 0.0f;
  for (std::int64_t i = 0; i < kParameterElements; ++i) {
    sum += floats(arguments, 0)[i] * floats(arguments, 0)[i];
  }
  floats(arguments, 1)[0] = std::sqrt(sum);
  floats(arguments, 2)[0] = std::isfinite(sum) ? 1.0f : 0.0f;
}

/// One task per 32 elements.
void update(void* const* arguments, const std::int64_t*, std::int64_t first, std::int64_t last) {
  record("update", first, last);
  if (floats(arguments, 3)[0] == 0.0f) return;
  for (std::int64_t i = first * 32; i < last * 32; ++i) {
    floats(arguments, 0)[i] =
        std::fma(-floats(arguments, 2)[0], floats(arguments, 1)[i], floats(arguments, 0)[i]);
  }
}

const m::Dimension kBatch{1, 0};

m::TaskAxis rows() { return {{kBatch}, 1}; }

std::vector<m::Kernel> kernels() {
  return {{"line_forward", "contraction", "fc", {rows()}, 0, -1},
          {"line_loss", "row", "error", {rows()}, 1, 2},
          {"line_loss_backward", "row", "error", {rows()}, 3, -1},
          {"line_backward", "contraction", "fc", {{{{kTargets, -1}}, 1}}, 4, -1},
          {"line_check", "flat", "norm", {}, 5, -1},
          {"line_update", "flat", "sgd", {{{{kParameterElements, -1}}, 32}}, 6, -1}};
}

/// Adds a buffer in a slot of its own.
std::int32_t add(m::Program& program, std::string name, m::Role role,
                 std::vector<m::Dimension> shape, double initial = 0.0) {
  const auto index = static_cast<std::int32_t>(program.buffers.size());
  const auto slot = static_cast<std::int32_t>(program.slots.size());
  program.buffers.push_back(
      {std::move(name), role, m::Format::f32, std::move(shape), slot, initial});
  program.slots.push_back({{index}});
  return index;
}

std::vector<m::Launch>& phase(m::Program& program, m::Phase phase) {
  return program.phases[static_cast<std::size_t>(phase)];
}

m::Program training() {
  using m::Role, m::Phase;
  m::Program program;
  program.name = "training";
  const auto x = add(program, "features", Role::input, {kBatch, {kFeatures, -1}});
  const auto target = add(program, "target", Role::input, {kBatch, {kTargets, -1}});
  const auto parameters = add(program, "parameters", Role::parameters, {{kParameterElements, -1}});
  const auto gradients = add(program, "gradients", Role::gradients, {{kParameterElements, -1}});
  const auto prediction = add(program, "prediction", Role::output, {kBatch, {kTargets, -1}});
  const auto errors = add(program, "row_errors", Role::activation, {kBatch});
  const auto error = add(program, "error", Role::loss, {});
  const auto rate = add(program, "learning_rate", Role::hyperparameter, {}, 0.5);
  const auto norm = add(program, "grad_norm", Role::statistic, {});
  const auto finite = add(program, "finite", Role::statistic, {});

  // The gradient of the prediction takes the place of the errors of the rows, which are no longer
  // needed.
  const auto gradient = static_cast<std::int32_t>(program.buffers.size());
  const std::int32_t shared = program.buffers[static_cast<std::size_t>(errors)].slot;
  program.buffers.push_back({"prediction.gradient",
                             Role::output_gradient,
                             m::Format::f32,
                             {kBatch, {kTargets, -1}},
                             shared,
                             0.0});
  program.slots[static_cast<std::size_t>(shared)].tenants.push_back(gradient);

  phase(program, Phase::forward) = {
      {0, {{x, 0}, {parameters, 0}, {parameters, kBiasOffset}, {prediction, 0}}}};
  phase(program, Phase::loss) = {{1, {{prediction, 0}, {target, 0}, {errors, 0}, {error, 0}}}};
  phase(program, Phase::loss_backward) = {{2, {{prediction, 0}, {target, 0}, {gradient, 0}}}};
  phase(program,
        Phase::backward) = {{3, {{gradient, 0}, {x, 0}, {gradients, 0}, {gradients, kBiasOffset}}}};
  phase(program, Phase::check) = {{4, {{gradients, 0}, {norm, 0}, {finite, 0}}}};
  phase(program, Phase::update) = {{5, {{parameters, 0}, {gradients, 0}, {rate, 0}, {finite, 0}}}};
  return program;
}

m::Program inference() {
  using m::Role;
  m::Program program;
  program.name = "inference";
  const auto x = add(program, "features", Role::input, {kBatch, {kFeatures, -1}});
  const auto parameters = add(program, "parameters", Role::parameters, {{kParameterElements, -1}});
  const auto prediction = add(program, "prediction", Role::output, {kBatch, {kTargets, -1}});
  phase(program, m::Phase::forward) = {
      {0, {{x, 0}, {parameters, 0}, {parameters, kBiasOffset}, {prediction, 0}}}};
  return program;
}

const void* entry(void (*function)(void* const*, const std::int64_t*, std::int64_t, std::int64_t)) {
  return reinterpret_cast<const void*>(function);
}

const void* const kEntries[] = {entry(forward),       entry(row_errors), entry(sum_errors),
                                entry(loss_backward), entry(backward),   entry(check),
                                entry(update)};
const void* const* const kVariants[] = {kEntries, kEntries};
const std::vector<std::byte> kManifest = m::encode(manifest());

}  // namespace

m::Manifest manifest() {
  using Kind = m::Initializer::Kind;
  m::Manifest manifest;
  manifest.model = "line";
  manifest.halftone_version = "0.1.0";
  manifest.description = "halftone description 1\nmodel \"line\"\n";
  manifest.symbols = {"batch"};
  manifest.variants = {"x86-64-v3", "x86-64"};
  manifest.parameter_elements = kParameterElements;
  manifest.trained_elements = kParameterElements;
  manifest.parameters = {{"fc.weight", {kTargets, kFeatures}, 0, true, {Kind::uniform, -0.5, 0.5}},
                         {"fc.bias", {kTargets}, kBiasOffset, true, {Kind::constant, 0.25, 0.0}}};
  manifest.inputs = {"features", "target"};
  manifest.outputs = {{"prediction", "prediction", "prediction.gradient"}};
  manifest.losses = {"error"};
  manifest.learning_rate = 0.5;
  manifest.kernels = kernels();
  manifest.programs = {training(), inference()};
  return manifest;
}

void start_recording() {
  const std::lock_guard lock(calls_mutex);
  calls.clear();
  recording = true;
}

std::vector<Call> stop_recording() {
  const std::lock_guard lock(calls_mutex);
  recording = false;
  return std::move(calls);
}

}  // namespace hand_made

#ifndef LINE_IMAGE_VERSION
#define LINE_IMAGE_VERSION halftone::manifest::kVersion
#endif

extern "C" {

const halftone::manifest::ArtifactImage halftone_artifact_line = {
    {'H', 'A', 'L', 'F', 'T', 'O', 'N', 'E'},
    LINE_IMAGE_VERSION,
    2,
    hand_made::kManifest.data(),
    hand_made::kManifest.size(),
    hand_made::kVariants,
    std::size(hand_made::kEntries),
    nullptr,
    0};

extern const halftone::manifest::ArtifactImage halftone_artifact
    __attribute__((weak, alias("halftone_artifact_line")));
}
