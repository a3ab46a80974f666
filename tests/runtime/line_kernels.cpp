// SPDX-License-Identifier: Apache-2.0
#include "line_kernels.hpp"

#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <mutex>
#include <utility>

#include "halftone/manifest/blocks.hpp"
#include "line_artifact.hpp"

namespace hand_made {
namespace {

using Blocks = halftone::manifest::CpuBlocks;

std::atomic<bool> recording = false;
std::mutex calls_mutex;
std::vector<Call> calls;
std::vector<Counters> counters;
std::function<void()> next_action;

void record(const char* kernel, std::int64_t first, std::int64_t last) {
  if (const auto action = [] {
        const std::lock_guard lock(calls_mutex);
        return std::exchange(next_action, nullptr);
      }()) {
    action();
  }
  if (!recording) return;
  const std::lock_guard lock(calls_mutex);
  calls.push_back({kernel, first, last, _mm_getcsr()});
}

bool is_packing(const Blocks* blocks) {
  return blocks && blocks->panels == halftone::manifest::Panels::packing;
}

float* floats(void* const* arguments, int index) { return static_cast<float*>(arguments[index]); }

/// To nearest even; a carry may end in infinity.
float to_tf32(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (!std::isfinite(x)) return x;
  return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

// Every kernel over rows has one task per row.

void multiply(void* const* arguments, std::int64_t first, std::int64_t last) {
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

void round(const float* from, float* to, std::int64_t first, std::int64_t last) {
  std::transform(from + first * kTargets, from + last * kTargets, to + first * kTargets, to_tf32);
}

void linear(void* const* arguments, const std::int64_t*, std::int64_t first, std::int64_t last,
            const Blocks* blocks) {
  if (is_packing(blocks)) return record("linear.packing", first, last);
  record("linear", first, last);
  multiply(arguments, first, last);
}

void cast(void* const* arguments, const std::int64_t*, std::int64_t first, std::int64_t last,
          const Blocks*) {
  record("cast", first, last);
  round(floats(arguments, 0), floats(arguments, 1), first, last);
}

void forward(void* const* arguments, const std::int64_t*, std::int64_t first, std::int64_t last,
             const Blocks* blocks) {
  if (is_packing(blocks)) return record("forward.packing", first, last);
  record("forward", first, last);
  multiply(arguments, first, last);
  round(floats(arguments, 3), floats(arguments, 3), first, last);
}

void row_errors(void* const* arguments, const std::int64_t*, std::int64_t first, std::int64_t last,
                const Blocks*) {
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
                std::int64_t last, const Blocks*) {
  record("loss.finish", first, last);
  float sum = 0.0f;
  for (std::int64_t i = 0; i < symbols[0]; ++i) sum += floats(arguments, 2)[i];
  floats(arguments, 3)[0] = sum / static_cast<float>(symbols[0] * kTargets);
}

void loss_backward(void* const* arguments, const std::int64_t* symbols, std::int64_t first,
                   std::int64_t last, const Blocks*) {
  record("loss_backward", first, last);
  const float scale = floats(arguments, 3)[0] / static_cast<float>(symbols[0] * kTargets);
  for (std::int64_t j = first * kTargets; j < last * kTargets; ++j) {
    const float d = floats(arguments, 0)[j] - floats(arguments, 1)[j];
    floats(arguments, 2)[j] = scale * (2.0f * d);
  }
}

/// The caller's gradient times the loss scale.
void external(void* const* arguments, const std::int64_t*, std::int64_t first, std::int64_t last,
              const Blocks*) {
  record("external", first, last);
  for (std::int64_t j = first * kTargets; j < last * kTargets; ++j) {
    floats(arguments, 2)[j] = floats(arguments, 1)[0] * floats(arguments, 0)[j];
  }
}

/// One task per column of the prediction.
void backward(void* const* arguments, const std::int64_t* symbols, std::int64_t first,
              std::int64_t last, const Blocks*) {
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

/// One task per 32 elements.
void accumulate(void* const* arguments, const std::int64_t*, std::int64_t first, std::int64_t last,
                const Blocks*) {
  record("accumulate", first, last);
  float *sum = floats(arguments, 0), *gradients = floats(arguments, 1);
  for (std::int64_t i = first * 32; i < last * 32; ++i) {
    sum[i] = gradients[i] = floats(arguments, 2)[0] != 0.0f ? gradients[i] : sum[i] + gradients[i];
  }
}

/// Arguments: gradients, micro_batches, loss_scale, floored, grad_norm, finite, inverse. The scale
/// stays at its floor.
void check(void* const* arguments, const std::int64_t*, std::int64_t first, std::int64_t last,
           const Blocks*) {
  record("check", first, last);
  const float inverse = 1.0f / (floats(arguments, 2)[0] * floats(arguments, 1)[0]);
  float sum = 0.0f;
  for (std::int64_t i = 0; i < kParameterElements; ++i) {
    const float g = floats(arguments, 0)[i] * inverse;
    sum += g * g;
  }
  const bool finite = std::isfinite(sum);
  floats(arguments, 3)[0] = finite ? 0.0f : floats(arguments, 3)[0] + 1.0f;
  floats(arguments, 4)[0] = std::sqrt(sum);
  floats(arguments, 5)[0] = finite ? 1.0f : 0.0f;
  floats(arguments, 6)[0] = inverse;
}

/// One task per 32 elements.
void update(void* const* arguments, const std::int64_t*, std::int64_t first, std::int64_t last,
            const Blocks*) {
  record("update", first, last);
  if (floats(arguments, 3)[0] == 0.0f) return;
  for (std::int64_t i = first * 32; i < last * 32; ++i) {
    const float g = floats(arguments, 1)[i] * floats(arguments, 4)[0];
    floats(arguments, 0)[i] = std::fma(-floats(arguments, 2)[0], g, floats(arguments, 0)[i]);
  }
}

void draw(void* const* arguments, const std::int64_t*, std::int64_t first, std::int64_t last,
          const Blocks*) {
  record("draw", first, last);
  Counters found;
  std::memcpy(found.data(), arguments[0], sizeof found);
  const std::lock_guard lock(calls_mutex);
  counters.push_back(found);
}

const void* entry(void (*function)(void* const*, const std::int64_t*, std::int64_t, std::int64_t,
                                   const Blocks*)) {
  return reinterpret_cast<const void*>(function);
}

const void* const kEntries[] = {entry(forward),       entry(row_errors), entry(sum_errors),
                                entry(loss_backward), entry(backward),   entry(check),
                                entry(update),        entry(external),   entry(accumulate),
                                entry(linear),        entry(cast),       entry(draw)};
static_assert(std::size(kEntries) == kLineEntries);

}  // namespace

const void* const* const kLineVariants[2] = {kEntries, kEntries};

void start_recording() {
  const std::lock_guard lock(calls_mutex);
  calls.clear();
  recording = true;
}

void run_in_next_kernel(std::function<void()> action) {
  const std::lock_guard lock(calls_mutex);
  next_action = std::move(action);
}

std::vector<Counters> take_counters() {
  const std::lock_guard lock(calls_mutex);
  return std::exchange(counters, {});
}

std::vector<Call> stop_recording() {
  const std::lock_guard lock(calls_mutex);
  recording = false;
  return std::move(calls);
}

}  // namespace hand_made
