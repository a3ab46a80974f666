// SPDX-License-Identifier: Apache-2.0
// AVX512-BF16 for tests of products of bf16, as amx/provided.hpp has AMX: the processor's or none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "pair_sum.hpp"
#include "processor.hpp"

namespace halftone::tests::products {

inline constexpr const char* kVariant = "x86-64-v4-bf16";
inline constexpr const char* kInstructions = "AVX512-BF16";
inline constexpr std::int32_t kDepth = 2;  ///< of the register tile
inline constexpr bool kInOrder = true;     ///< N1, but for what is flushed

/// Lets this process run kVariant, and says why not where it cannot.
inline std::string provide() {
  const bool runs = std::ranges::count(runnable_variants(this_processor()), kVariant) > 0;
  return runs ? "" : "the processor lacks AVX512-BF16, which nothing emulates";
}

/// Whether this process emulates them, and how many products it has.
inline bool emulates() { return false; }
inline std::uint64_t emulated() { return 0; }

/// By the formula.
inline float sum_of(std::span<const float> a, std::span<const float> b) {
  return pairs::pair_sum(a, b);
}

/// The thread is as it was before it ran a kernel.
inline bool is_left() { return true; }

}  // namespace halftone::tests::products
