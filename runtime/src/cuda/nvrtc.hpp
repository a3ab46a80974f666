// SPDX-License-Identifier: Apache-2.0
// NVRTC, opened at run time and without its headers (names and meanings: "NVRTC", CUDA Toolkit
// documentation 13.0).
#pragma once

#include <string>
#include <vector>

namespace halftone {

class Nvrtc {
 public:
  /// The one of this process; opened by the first call. Throws Error saying where it was looked
  /// for.
  [[nodiscard]] static const Nvrtc& instance();

  /// PTX with line information, for the simulator; `architecture` is "sm_80". Throws Error with the
  /// compiler's log. Several threads may compile at once.
  [[nodiscard]] std::string compile_ptx(const std::string& text, const std::string& name,
                                        const std::string& architecture) const;

  /// A cubin, or where this NVRTC is older than the chip, PTX for the newest one before it that it
  /// knows.
  [[nodiscard]] std::string compile_cubin(const std::string& text, const std::string& name,
                                          const std::string& architecture) const;

  /// "NVRTC 13.0 of /usr/local/cuda/lib64"
  [[nodiscard]] const std::string& description() const noexcept { return description_; }

 private:
  using Program = void*;
  using Size = int (*)(Program, std::size_t*);
  using Get = int (*)(Program, char*);

  Nvrtc();
  void open_library();
  void bind();
  [[nodiscard]] std::string compile(const std::string& text, const std::string& name,
                                    const std::vector<std::string>& options, Size size,
                                    Get get) const;
  [[nodiscard]] static std::string fetch(Program program, Size size, Get get);
  [[nodiscard]] std::vector<int> architectures() const;

  void* library_ = nullptr;  // open until the process ends
  std::string description_;
  int (*version_)(int*, int*) = nullptr;
  int (*architecture_count_)(int*) = nullptr;
  int (*architectures_)(int*) = nullptr;
  int (*create_)(Program*, const char*, const char*, int, const char* const*,
                 const char* const*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  Size log_size_ = nullptr, ptx_size_ = nullptr, cubin_size_ = nullptr;
  Get log_ = nullptr, ptx_ = nullptr, cubin_ = nullptr;
  int (*destroy_)(Program*) = nullptr;
  const char* (*error_text_)(int) = nullptr;
};

}  // namespace halftone
