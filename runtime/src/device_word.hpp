// SPDX-License-Identifier: Apache-2.0
// What HALFTONE_DEVICE asks for, and whether this machine has it. Opens no device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "halftone/device.hpp"

namespace halftone {

struct DeviceWord {
  enum class Kind : unsigned char { cpu, gpu, simulated };
  Kind kind = Kind::cpu;
  std::string text;                   ///< the whole word: "cuda:0"
  std::optional<std::string> detail;  ///< the CPU's variant, or the simulated chip
  std::optional<int> index;           ///< of a GPU; without one the rest says what it must be
  std::string name, chip;
  std::int64_t memory_bytes = 0;

  [[nodiscard]] GpuWish gpu() const { return {name, chip, memory_bytes}; }
};

/// Nothing where HALFTONE_DEVICE is unset. Throws Error where it is no such word.
[[nodiscard]] std::optional<DeviceWord> device_word();

/// Throws the Error of opening it where this machine has no such device.
void require_device(const DeviceWord& word);

}  // namespace halftone
