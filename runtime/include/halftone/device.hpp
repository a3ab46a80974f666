// SPDX-License-Identifier: Apache-2.0
// What a model runs on: this processor, with a choice among the code variants of an artifact and a
// pool of threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "halftone/memory.hpp"

namespace halftone {

class ThreadPool;

/// A cheap handle; copies share threads and memory. Trainers on one device may run from different
/// threads.
class Device {
 public:
  /// The fastest device of this machine, or the one that the environment names: HALFTONE_DEVICE is
  /// "cpu" or "cpu:<variant>". HALFTONE_THREADS sets the number of threads of every CPU device.
  /// Throws Error on other values.
  [[nodiscard]] static Device best();

  /// This processor, with the best code variant that both it and the artifact have.
  [[nodiscard]] static Device cpu();

  /// This processor, running that variant ("x86-64-v3", "x86-64") alone. Throws Error when it
  /// cannot.
  [[nodiscard]] static Device cpu(std::string_view variant);

  /// The same device with a pool of 1 to 1024 threads of its own. Results do not depend on it.
  [[nodiscard]] Device with_threads(int threads) const;

  /// The same device with memory from `source`.
  [[nodiscard]] Device with_memory(std::shared_ptr<MemorySource> source) const;

  [[nodiscard]] const std::string& name() const noexcept;  ///< "cpu" or "cpu:<variant>"

  /// What it is and why it was chosen, in one line.
  [[nodiscard]] const std::string& description() const noexcept;

  [[nodiscard]] int threads() const noexcept;

  /// The code variants that may run here, best first.
  [[nodiscard]] std::span<const std::string> variants() const noexcept;

  [[nodiscard]] ThreadPool& pool() const noexcept;
  [[nodiscard]] const std::shared_ptr<MemorySource>& memory() const noexcept;

 private:
  struct State;
  explicit Device(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace halftone
