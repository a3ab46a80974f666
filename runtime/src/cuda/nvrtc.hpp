// SPDX-License-Identifier: Apache-2.0
// NVRTC, opened at run time and without its headers (names and meanings: "NVRTC", CUDA Toolkit
// documentation 13.0).
#pragma once

#include <string>
#include <vector>

#include "../cache/cache_entry.hpp"
#include "../dispatch.hpp"

namespace halftone {

/// Where NVRTC may be, and how long it may take.
struct NvrtcSettings {
  std::string nvrtc_home;                   ///< the only place, unless it is empty
  std::string cuda_home;                    ///< after what the loader finds; may be empty
  std::string toolkit = "/usr/local/cuda";  ///< at last
  /// Of one kernel; 0: for ever. An NVRTC before nvrtcSetFlowCallback (12.9) cannot be stopped.
  int timeout_seconds = 300;
};

class Nvrtc {
 public:
  /// Throws Error saying where it was looked for.
  explicit Nvrtc(const NvrtcSettings& settings);
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  /// The one of this process, as the environment says; opened by the first call.
  [[nodiscard]] static const Nvrtc& instance();

  /// Has NVRTC made all that it keeps until the process exits, which it does when it first
  /// compiles; once. What std::atexit registers afterwards runs before that goes. Nothing where
  /// NVRTC is missing or knows no chip.
  static void warm_up() noexcept;

  /// PTX with line information, for the simulator; `architecture` is "sm_80". Throws Error with the
  /// compiler's log. Several threads may compile at once.
  [[nodiscard]] std::string compile_ptx(const std::string& text, const std::string& name,
                                        const std::string& architecture) const;

  /// A cubin for "sm_90a", PTX for "compute_90".
  [[nodiscard]] std::string compile_cubin(const std::string& text, const std::string& name,
                                          const std::string& architecture) const;

  /// All that those two's results depend on, beside a kernel's text and name.
  [[nodiscard]] CompilerIdentity ptx_compiler(const std::string& architecture) const;
  [[nodiscard]] CompilerIdentity cubin_compiler(const std::string& architecture) const;

  [[nodiscard]] CudaVersion version() const noexcept { return number_; }

  /// Those that it knows, without suffixes: 75, 80, ...
  [[nodiscard]] std::vector<int> architectures() const;

  /// "NVRTC 13.0 of /usr/local/cuda/lib64"
  [[nodiscard]] const std::string& description() const noexcept { return description_; }

 private:
  using Program = void*;
  using Size = int (*)(Program, std::size_t*);
  using Get = int (*)(Program, char*);

  void open_library();
  void bind();
  [[nodiscard]] std::string compile(const std::string& text, const std::string& name,
                                    const CompilerIdentity& compiler) const;
  [[nodiscard]] static std::string fetch(Program program, Size size, Get get);

  NvrtcSettings settings_;
  void* library_ = nullptr;  // open until the process ends
  std::string description_;
  std::string release_;  // version and build
  CudaVersion number_;
  int (*version_)(int*, int*) = nullptr;
  int (*architecture_count_)(int*) = nullptr;
  int (*architectures_)(int*) = nullptr;
  int (*set_flow_callback_)(Program, int (*)(void*, void*), void*) = nullptr;  ///< may be null
  int (*create_)(Program*, const char*, const char*, int, const char* const*,
                 const char* const*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  Size log_size_ = nullptr, ptx_size_ = nullptr, cubin_size_ = nullptr;
  Get log_ = nullptr, ptx_ = nullptr, cubin_ = nullptr;
  int (*destroy_)(Program*) = nullptr;
  const char* (*error_text_)(int) = nullptr;
};

}  // namespace halftone
