// SPDX-License-Identifier: Apache-2.0
// AMX for tests of products of bf16: the processor's where it has it, otherwise emulated.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "emulator.hpp"
#include "processor.hpp"
#include "tile_sum.hpp"

namespace halftone::tests::products {

inline constexpr const char* kVariant = "x86-64-v4-amx";
inline constexpr const char* kInstructions = "AMX";
inline constexpr std::int32_t kDepth = 32;  ///< of the register tile
inline constexpr bool kInOrder = false;

/// Whether this process emulates them.
inline bool& emulates() {
  static bool does = false;
  return does;
}

/// Lets this process run kVariant, and says why not where it cannot. Call it before any other
/// thread runs.
inline std::string provide() {
  const auto runs = [](const char* variant) {
    return std::ranges::count(runnable_variants(this_processor()), variant) > 0;
  };
  if (runs(kVariant)) return {};
  if (!runs("x86-64-v4")) return "the processor lacks AVX-512, without which AMX is not emulated";
  if (!this_processor().tiles_refused.empty()) return this_processor().tiles_refused;
  Processor processor = this_processor();
  processor.features.insert(processor.features.end(), {"amx-bf16", "amx-tile"});
  pretend(std::move(processor));
  amx::emulate();
  emulates() = true;
  return {};
}

/// Products that it emulated.
inline std::uint64_t emulated() { return amx::products(); }

/// By the formula.
inline float sum_of(std::span<const float> a, std::span<const float> b) {
  return amx::tile_sum(a, b);
}

/// The thread is as it was before it ran a kernel: it has no tiles.
__attribute__((target("amx-tile"))) inline bool is_left() {
  alignas(64) std::uint8_t configuration[64] = {1};
  _tile_storeconfig(configuration);
  return configuration[0] == 0;
}

}  // namespace halftone::tests::products
