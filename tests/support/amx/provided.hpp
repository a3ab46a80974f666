// SPDX-License-Identifier: Apache-2.0
// AMX for tests: the processor's where it has it, otherwise emulated.
#pragma once

#include <algorithm>
#include <string>

#include "emulator.hpp"
#include "processor.hpp"

namespace halftone::tests::amx {

inline constexpr const char* kVariant = "x86-64-v4-amx";

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
  emulate();
  return {};
}

/// Whether products are the processor's own.
inline bool is_native() { return products() == 0; }

}  // namespace halftone::tests::amx
