// SPDX-License-Identifier: Apache-2.0
// NVRTC, opened at run time and without its headers: where it is looked for, and one compilation.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halftone::tests {

/// What the runtime asks NVRTC for, and tests with it: for an architecture such as "sm_80", or
/// "compute_80" for PTX alone, and `more` behind it. (cache_nvrtc_test compares it with the
/// runtime's.) Fused multiply-adds are explicit in every text.
[[nodiscard]] inline std::vector<std::string> options_for(
    const std::string& architecture, const std::vector<std::string>& more = {}) {
  std::vector<std::string> options = {"--gpu-architecture=" + architecture, "--std=c++17",
                                      "--fmad=false"};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

/// What one compilation said and made.
struct Compilation {
  bool accepted = false;
  std::string log;        ///< the compiler's messages and those of ptxas
  std::string ptx;        ///< of an accepted text
  bool was_kept = false;  ///< an earlier run's answer
};

/// A loaded NVRTC. Compilations may run from several threads at once.
class NvrtcLibrary {
 public:
  /// The first that opens among NVRTC_HOME, `fetched` (where tests/run puts the PyPI wheels),
  /// CUDA_HOME, the toolkit of the nvcc on PATH and /usr/local/cuda. On failure returns null, and
  /// `reason` is one sentence.
  static std::unique_ptr<NvrtcLibrary> open(const std::string& fetched, std::string& reason);

  /// Compiles `source` with these options, to a cubin when they name a chip. A failure to even
  /// start is a Compilation that was not accepted. Where HALFTONE_CACHE_DIR is set, the answer
  /// comes from there or is kept there (kept_compilation.hpp).
  [[nodiscard]] Compilation compile(const std::string& source, const std::string& name,
                                    std::span<const std::string> options) const;

  [[nodiscard]] const std::string& home() const noexcept { return home_; }
  [[nodiscard]] std::string version() const;

 private:
  using Program = void*;
  bool bind(void* library);
  [[nodiscard]] Compilation compile_anew(const std::string& source, const std::string& name,
                                         std::span<const std::string> options) const;

  std::string home_;
  std::string build_;  ///< version and file: what tells two builds apart
  int (*version_)(int*, int*) = nullptr;
  int (*create_)(Program*, const char*, const char*, int, const char* const*,
                 const char* const*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*log_size_)(Program, std::size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*ptx_size_)(Program, std::size_t*) = nullptr;
  int (*ptx_)(Program, char*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
};

}  // namespace halftone::tests
