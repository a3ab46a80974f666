// SPDX-License-Identifier: Apache-2.0
// wrappers.cu on a device: a kernel for each function of the ptx header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver_context.hpp"
#include "halftone/device.hpp"

namespace halftone::tests {

using Words = std::vector<std::uint32_t>;

class WrapperKernels {
 public:
  /// Compiles the text for the chip, such as "sm_90a". Throws Error with the compiler's log.
  WrapperKernels(const Device& device, const std::string& text, const std::string& chip);
  ~WrapperKernels();
  WrapperKernels(const WrapperKernels&) = delete;
  WrapperKernels& operator=(const WrapperKernels&) = delete;

  /// One launch of so many threads, a multiple of 128; `out_words` start at zero.
  [[nodiscard]] Words run(const std::string& kernel, const Words& in, std::size_t out_words,
                          std::uint32_t threads);

 private:
  [[nodiscard]] OwnedMemory allocate(std::size_t words, const char* name);

  DriverContext& context_;
  std::shared_ptr<DriverContext> keep_;
  OwnedStream stream_;
  OwnedModule module_;
};

}  // namespace halftone::tests
