// SPDX-License-Identifier: Apache-2.0
// A simulated GPU: memory in which every buffer has exact bounds, and launches that report what was
// wrong. One device may be used from several threads; its launches and copies run one after
// another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "halftone/simulator/chip.hpp"
#include "halftone/simulator/counters.hpp"
#include "halftone/simulator/finding.hpp"
#include "halftone/simulator/module.hpp"

namespace halftone::simulator {

/// How mma sums its products. A kernel whose bound holds must keep it under both.
enum class Accumulation : std::uint8_t {
  exact,       ///< the sum of products and accumulator, rounded once
  truncating,  ///< terms aligned to the largest and cut off, as hardware may
};

struct LaunchOptions {
  bool check = true;    ///< uninitialised bytes, races, asynchronous work; the rest is always on
  bool traffic = true;  ///< count wavefronts and sectors
  /// 0: blocks in ascending order, warps by turns; else one of many legal orders of both.
  std::uint64_t seed = 0;
  Accumulation accumulation = Accumulation::exact;
  unsigned threads = 1;             ///< host threads; more than one where blocks do not communicate
  std::uint32_t max_findings = 20;  ///< different ones; later ones are dropped
  Dim3 cluster{1, 1, 1};            ///< blocks per cluster, unless the entry says
};

struct LaunchReport {
  std::vector<Finding> findings;
  Counters counters;
};

class Device {
 public:
  /// `chip` as in chips(). Throws Error for another.
  explicit Device(std::string_view chip);
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;

  [[nodiscard]] const Chip& chip() const;

  /// Exactly `bytes` bytes, at least 256-aligned, uninitialised. Never 0; two buffers are never
  /// within reach of one another's indices.
  std::uint64_t allocate(std::uint64_t bytes, std::string_view name);
  /// Throws Error when `address` is not the start of a buffer.
  void free(std::uint64_t address);

  // The addresses may lie inside a buffer; a range that leaves it is an Error.
  void copy_in(std::uint64_t to, std::span<const std::byte> from);
  void copy_out(std::span<std::byte> to, std::uint64_t from);
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  void fill(std::uint64_t address, std::uint64_t bytes, std::byte value);
  /// Forgets what the bytes hold, so that reading them before writing is a finding.
  void forget(std::uint64_t address, std::uint64_t bytes);

  /// Places the module's variables, with their initial values. launch does so when it must.
  void load(const Module& module);
  void unload(const Module& module);
  /// The address of a loaded module's variable. Throws Error when it has none of this name.
  std::uint64_t variable(const Module& module, std::string_view name);

  /// Runs `entry` to its end. parameters[i] points to the value of parameter i. Faults of the
  /// kernel are findings; wrong arguments of this call throw Error.
  LaunchReport launch(const Module& module, std::string_view entry, Dim3 grid, Dim3 block,
                      std::uint32_t shared_bytes, std::span<const void* const> parameters,
                      const LaunchOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halftone::simulator
