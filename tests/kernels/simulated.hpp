// SPDX-License-Identifier: Apache-2.0
// What the tests of this folder share: NVRTC with the device vocabulary, and buffers of a simulated
// device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "halftone/description/description.hpp"
#include "halftone/simulator/device.hpp"
#include "nvrtc_library.hpp"

namespace halftone::tests {

/// NVRTC. Where there is none, says "Skipped: why" and ends the program.
[[nodiscard]] const NvrtcLibrary& nvrtc();

/// A file of this folder, compiled for an arch such as "compute_80", or "sm_80" with ptxas's words
/// in the log, with these macros, such as "WIDTH=8".
[[nodiscard]] Compilation compile(const std::string& file, const std::string& arch,
                                  const std::vector<std::string>& macros);

/// How the device vocabulary calls the format's type: f16, bf16 or float.
[[nodiscard]] const char* element_name(description::Element format);

/// Values as a tensor of the format holds them, and back. The values are exact in the format.
[[nodiscard]] std::vector<std::byte> stored(description::Element format,
                                            const std::vector<float>& values);
[[nodiscard]] std::vector<float> values(description::Element format,
                                        const std::vector<std::byte>& bytes);

/// So many values of [-1, 1), exact in the format, the same for the same seed.
[[nodiscard]] std::vector<float> drawn(std::size_t count, description::Element format,
                                       unsigned seed);

/// Device memory of exactly the bytes it is given, freed at the end.
class Buffer {
 public:
  Buffer(simulator::Device& device, const char* name, const std::vector<std::byte>& bytes);
  Buffer(simulator::Device& device, const char* name, std::size_t size);
  ~Buffer() { device_.free(address_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// As a launch wants its parameters.
  [[nodiscard]] const void* parameter() const { return &address_; }
  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] std::vector<std::byte> bytes() const;

 private:
  simulator::Device& device_;
  std::size_t size_;
  std::uint64_t address_;
};

}  // namespace halftone::tests
