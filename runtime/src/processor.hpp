// SPDX-License-Identifier: Apache-2.0
// What this processor is, and which code variants of an artifact it can run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "halftone/manifest/blocks.hpp"

namespace halftone {

struct Processor {
  std::string brand;                  ///< "AMD EPYC"
  std::vector<std::string> features;  ///< among those that a variant needs: "avx2", "fma", ...
  manifest::CacheSizes caches = {};
  std::string tiles_refused = {};  ///< why the kernel lets this process use no AMX tiles; or empty
};

/// Asks the kernel for AMX's tiles, once, where the processor has them. A process that was given
/// them needs 11 KiB for a sigaltstack.
[[nodiscard]] const Processor& this_processor();

/// Makes this_processor() another: for tests, which emulate what it lacks. Before other threads
/// run.
void pretend(Processor processor);

/// The variants that the processor runs, best first.
[[nodiscard]] std::vector<std::string> runnable_variants(const Processor& processor);

/// Throws Error when there is no such variant, or when the processor lacks what it needs.
void require_variant(const Processor& processor, std::string_view variant);

}  // namespace halftone
