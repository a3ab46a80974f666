// SPDX-License-Identifier: Apache-2.0
// What a model runs on: this processor, with a choice among the code variants of an artifact and a
// pool of threads; a GPU; or a GPU that is simulated.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "halftone/artifact.hpp"
#include "halftone/memory.hpp"

namespace halftone {

class DriverContext;
class ThreadPool;

/// A cheap handle; copies share threads, memory and what was compiled. Trainers on one device may
/// run from different threads.
class Device {
 public:
  /// The device that the environment names, otherwise this processor. HALFTONE_DEVICE is "cpu",
  /// "cpu:<variant>", "cuda:<index>" or "simulated:<chip>". HALFTONE_THREADS sets the number of
  /// threads of every device; where HALFTONE_CHECK_LAUNCHES is 1, a GPU is asked for errors after
  /// every kernel, so that the kernel at fault is named. Throws Error on other values.
  [[nodiscard]] static Device best();

  /// The same, but unless the environment names one, the first GPU that the artifact has kernels
  /// for. Where none is used the description says why.
  [[nodiscard]] static Device best(const Artifact& artifact);

  /// This processor, with the best code variant that both it and the artifact have.
  [[nodiscard]] static Device cpu();

  /// This processor, running that variant ("x86-64-v3", "x86-64") alone. Throws Error when it
  /// cannot.
  [[nodiscard]] static Device cpu(std::string_view variant);

  /// The GPU with that index. Kernels are compiled by NVRTC: the one in NVRTC_HOME, otherwise what
  /// the loader finds as libnvrtc.so.13 or .so.12, CUDA_HOME or /usr/local/cuda. Throws Error when
  /// there is no such GPU, or no driver.
  [[nodiscard]] static Device cuda(int index);

  /// A GPU that this processor plays, kernel by kernel, and that finds their faults: "sm_80". It
  /// needs NVRTC as a real one does. Throws Error for a chip that it does not know.
  [[nodiscard]] static Device simulated(std::string_view chip);

  /// A device behind a driver that is already open; `reason` says why it was chosen.
  [[nodiscard]] static Device driven(std::shared_ptr<DriverContext> driver, std::string reason);

  /// The same device with a pool of 1 to 1024 threads of its own. Results do not depend on it.
  [[nodiscard]] Device with_threads(int threads) const;

  /// The same device with memory from `source`. Throws Error for a GPU, whose memory is its own.
  [[nodiscard]] Device with_memory(std::shared_ptr<MemorySource> source) const;

  /// "cpu", "cpu:<variant>", "cuda:<index>" or "simulated:<chip>".
  [[nodiscard]] const std::string& name() const noexcept;

  /// What it is and why it was chosen, in one line.
  [[nodiscard]] const std::string& description() const noexcept;

  [[nodiscard]] int threads() const noexcept;

  /// The code variants that may run here, best first; none on a GPU.
  [[nodiscard]] std::span<const std::string> variants() const noexcept;

  [[nodiscard]] ThreadPool& pool() const noexcept;
  [[nodiscard]] const std::shared_ptr<MemorySource>& memory() const noexcept;

  /// Null on the CPU.
  [[nodiscard]] const std::shared_ptr<DriverContext>& driver() const noexcept;

 private:
  struct State;
  explicit Device(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  [[nodiscard]] Device because(std::string reason) const;
  std::shared_ptr<const State> state_;
};

}  // namespace halftone
