// SPDX-License-Identifier: Apache-2.0
// The chips that can be simulated and the limits a launch must keep on each.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace halftone::simulator {

/// Limits of one compute capability (CUDA C++ Programming Guide 13.0, "Technical Specifications per
/// Compute Capability"); the number of multiprocessors is that of one product.
struct Chip {
  std::string_view name;         ///< as NVRTC spells it: sm_90a
  std::uint32_t capability = 0;  ///< 10 * major + minor
  std::string_view product;      ///< the product whose multiprocessors are counted
  std::uint32_t multiprocessors = 0;
  std::uint32_t threads_per_multiprocessor = 0;
  std::uint32_t blocks_per_multiprocessor = 0;
  std::uint32_t shared_bytes_per_multiprocessor = 0;
  std::uint32_t shared_bytes_per_block = 0;  ///< the most a kernel may opt in to

  std::uint32_t threads_per_block = 1024;
  std::uint32_t static_shared_bytes = 48 * 1024;  ///< the most without opting in
  std::uint32_t registers_per_multiprocessor = 64 * 1024;
  std::uint32_t registers_per_thread = 255;

  /// Whether it runs PTX for this .target: of this or an earlier capability; where it ends in 'a'
  /// (sm_90a), of this one alone; in 'f', of this one's family (PTX ISA 9.0, 11.1.2).
  [[nodiscard]] bool runs(std::string_view target) const noexcept;

  [[nodiscard]] bool asynchronous_copies() const noexcept { return capability >= 80; }
  [[nodiscard]] bool clusters() const noexcept { return capability >= 90; }
  [[nodiscard]] bool tensor_maps() const noexcept { return capability >= 90; }
  [[nodiscard]] bool warpgroup_mma() const noexcept { return capability == 90; }
};

/// All chips, oldest first.
std::span<const Chip> chips();

/// The chip of this name, with or without its suffix ("sm_90", "sm_90a"), or null.
const Chip* find_chip(std::string_view name);

}  // namespace halftone::simulator
