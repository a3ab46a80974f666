// SPDX-License-Identifier: Apache-2.0
// All 2^32 inputs of every emitted rounding, on every variant that runs here, against the tables of
// formats.hpp; the tables against F16C and, where its headers are, CUDA.
#include <immintrin.h>

#include <atomic>
#include <thread>

#include "conversions.hpp"

#if HALFTONE_HAS_CUDA_HEADERS
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

using namespace conversions;
using formats::float_of;

namespace {

constexpr std::uint32_t kChunk = 1 << 16, kInfinity = 0x7f800000;

/// One chunk of inputs with one sign, and their codes by the tables.
struct Chunk {
  std::vector<float> inputs;
  std::vector<std::uint32_t> nearest, toward_zero;
};

/// Inputs are ascending, so the code below them is walked to, not searched.
Chunk expected_chunk(const formats::Format& format, std::uint32_t number) {
  const std::uint32_t first = number * kChunk, sign = first >> 31 ? format.sign_code() : 0;
  const std::vector<double>& table = format.magnitudes();
  std::size_t below = 0;
  Chunk chunk;
  chunk.inputs.reserve(kChunk);
  chunk.nearest.reserve(kChunk);
  chunk.toward_zero.reserve(kChunk);
  for (std::uint32_t i = 0; i < kChunk; ++i) {
    const std::uint32_t magnitude = (first + i) & 0x7fffffff;
    chunk.inputs.push_back(float_of(first + i));
    std::uint32_t nearest = format.nan_code(), toward_zero = nearest;
    if (magnitude == kInfinity) nearest = toward_zero = format.infinity_code() | sign;
    if (magnitude < kInfinity) {
      const double value = static_cast<double>(float_of(magnitude));
      if (i == 0)
        below = static_cast<std::size_t>(std::upper_bound(table.begin(), table.end(), value) -
                                         table.begin() - 1);
      while (below + 1 < table.size() && table[below + 1] <= value) ++below;
      const auto code = static_cast<std::uint32_t>(below);
      nearest = format.round_from(code, value, false) | sign;
      toward_zero = format.round_from(code, value, true) | sign;
    }
    chunk.nearest.push_back(nearest);
    chunk.toward_zero.push_back(toward_zero);
  }
  return chunk;
}

/// Counts mismatches over all inputs; `test(chunk)` gives those of one chunk.
template <class Test>
std::uint64_t mismatches_over_all(const formats::Format& format, Test test) {
  std::atomic<std::uint32_t> next{0};
  std::atomic<std::uint64_t> mismatches{0};
  const auto work = [&] {
    for (std::uint32_t number; (number = next++) < (1u << 16);)
      mismatches += test(expected_chunk(format, number));
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return mismatches;
}

std::uint64_t emitted_mismatches(std::size_t variant, const formats::Format& format,
                                 const Chunk& chunk) {
  Rounded got;
  round(variant, "round", format, chunk.inputs, got);
  std::uint64_t mismatches = 0;
  for (std::size_t i = 0; i < kChunk; ++i) {
    mismatches += stored_code(format, got.nearest.data(), i) != stored_of(format, chunk.nearest[i]);
    mismatches +=
        stored_code(format, got.toward_zero.data(), i) != stored_of(format, chunk.toward_zero[i]);
  }
  return mismatches;
}

/// `nearest(x)` and `toward_zero(x)` against the tables.
template <class Nearest, class TowardZero>
std::uint64_t oracle_mismatches(const Chunk& chunk, Nearest nearest, TowardZero toward_zero) {
  std::uint64_t mismatches = 0;
  for (std::size_t i = 0; i < kChunk; ++i) {
    const float x = chunk.inputs[i];
    mismatches += nearest(x) != chunk.nearest[i];
    mismatches += toward_zero(x) != chunk.toward_zero[i];
  }
  return mismatches;
}

[[gnu::target("f16c")]] std::uint64_t f16c_mismatches(const Chunk& chunk) {
  std::uint64_t mismatches = 0;
  for (std::size_t i = 0; i < kChunk; ++i) {
    const float x = chunk.inputs[i];
    if (std::isnan(x)) continue;  // F16C keeps payloads
    mismatches += _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT) != chunk.nearest[i];
    mismatches += _cvtss_sh(x, _MM_FROUND_TO_ZERO) != chunk.toward_zero[i];
  }
  return mismatches;
}

}  // namespace

TEST_CASE("emitted code rounds all 2^32 inputs by F2 and F3") {
  for (const formats::Format* format : kFormats) {
    CAPTURE(format->name);
    CHECK(mismatches_over_all(*format, [&](const Chunk& chunk) {
            std::uint64_t mismatches = 0;
            for (std::size_t variant = 0; variant < native::manifest().variants.size(); ++variant)
              if (native::runs(native::manifest().variants[variant]))
                mismatches += emitted_mismatches(variant, *format, chunk);
            return mismatches;
          }) == 0);
  }
}

TEST_CASE("F16C rounds all 2^32 inputs as the tables do") {
  if (!__builtin_cpu_supports("f16c")) {
    MESSAGE("this processor has no F16C");
    return;
  }
  CHECK(mismatches_over_all(formats::f16(), f16c_mismatches) == 0);
}

TEST_CASE("CUDA's host functions round all 2^32 inputs as the tables do") {
#if HALFTONE_HAS_CUDA_HEADERS
  CHECK(mismatches_over_all(formats::f16(), [](const Chunk& chunk) {
          return oracle_mismatches(
              chunk, [](float x) { return __half_as_ushort(__float2half_rn(x)); },
              [](float x) { return __half_as_ushort(__float2half_rz(x)); });
        }) == 0);
  CHECK(mismatches_over_all(formats::bf16(), [](const Chunk& chunk) {
          return oracle_mismatches(
              chunk, [](float x) { return __bfloat16_as_ushort(__float2bfloat16_rn(x)); },
              [](float x) { return __bfloat16_as_ushort(__float2bfloat16_rz(x)); });
        }) == 0);
#else
  MESSAGE("built without CUDA's headers");
#endif
}
