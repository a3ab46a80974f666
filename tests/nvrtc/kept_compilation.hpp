// SPDX-License-Identifier: Apache-2.0
// What a compiler said of a text, kept by the runtime's cache (docs/cache.md): what changed no text
// compiles nothing. Judgements are made anew each time; only the compiler's words are kept.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "cache/kernel_cache.hpp"
#include "nvrtc_library.hpp"

namespace halftone::tests {

/// All that a compiler's answer depends on.
struct CompilationRequest {
  const std::string& compiler;  ///< with version and build
  const std::string& source;
  const std::string& name;  ///< stands in the answer's messages
  std::span<const std::string> options;
};

/// compile(), or what it said when `cache` was last asked the same. What is refused is not kept.
[[nodiscard]] Compilation kept_compilation(KernelCache& cache, const CompilationRequest& request,
                                           const std::function<Compilation()>& compile);

}  // namespace halftone::tests
