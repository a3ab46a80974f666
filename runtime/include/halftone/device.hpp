// SPDX-License-Identifier: Apache-2.0
// What a model runs on: this processor, with a choice among the code variants of an artifact and a
// pool of threads; a GPU; or a GPU that is simulated.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/error.hpp"
#include "halftone/executor.hpp"
#include "halftone/memory.hpp"

namespace halftone {

class DriverContext;
class ThreadPool;

/// What a GPU must be. What is left out does not matter.
struct GpuWish {
  std::string_view name = {};     ///< in its name, whatever the case: "h200"
  std::string_view chip = {};     ///< of this compute capability or a later one: "sm_90"
  std::int64_t memory_bytes = 0;  ///< at least, of the whole GPU
};

/// A device of this machine, as it can be chosen.
struct DeviceEntry {
  std::string name;               ///< "cpu", "cuda:0"
  std::string hardware;           ///< "NVIDIA H200"
  std::string chip;               ///< "sm_90"; empty for the CPU
  std::int64_t memory_bytes = 0;  ///< of a GPU
};

/// Which right operands of matrix products the CPU packs once for all tasks that read them, into
/// memory beside the arena. No bit depends on it.
enum class Packed : std::uint8_t {
  automatic,  ///< where it is faster: those that several tasks read; of a predictor the weights,
              ///< for good
  never,      ///< tasks pack what they read themselves: no memory is taken for it
  always,     ///< all that can be
};

/// A cheap handle; copies share threads, memory and what was compiled, and moving one copies it.
/// Trainers on one device may run from different threads.
class Device {
 public:
  Device(const Device&) = default;
  Device& operator=(const Device&) = default;

  /// The device for a model: the one that HALFTONE_DEVICE names, otherwise the first GPU that the
  /// artifact has kernels for, otherwise this processor. description() says why.
  [[nodiscard]] static Device best(const Artifact& artifact);

  /// The device that HALFTONE_DEVICE names: "cpu", "cpu:<variant>", "cuda:<index>",
  /// "cuda:name=h200,chip=sm_90,memory=80" (one of these at least; memory in GiB) or
  /// "simulated:<chip>". Nothing where it is unset.
  ///
  /// The other settings hold however a device was chosen; all are read when it is, and values that
  /// are none throw Error on every device, as do names that are nearly one of theirs.
  /// HALFTONE_THREADS sets the number of threads; where HALFTONE_CHECK_LAUNCHES is 1, a GPU is
  /// asked for errors after every kernel, so that the kernel at fault is named. HALFTONE_JIT is
  /// "never" or "first": kernels are compiled not at all or all at the start, instead of those that
  /// the artifact does not hold compiled; or "background": then all are compiled for the sizes in
  /// use while steps run, and take over without changing a bit, as Statistics::variant says.
  /// HALFTONE_STEPS_IN_FLIGHT: see Trainer::step.
  [[nodiscard]] static std::optional<Device> named_by_environment();

  /// This processor, with the best code variant that both it and the artifact have.
  [[nodiscard]] static Device cpu();

  /// This processor, running that variant ("x86-64-v4-amx", "x86-64-v4-bf16", "x86-64-v4",
  /// "x86-64-v3", "x86-64"; "aarch64") alone. Throws Error when it cannot.
  [[nodiscard]] static Device cpu(std::string_view variant);

  /// The GPU with that index. Kernels are compiled by NVRTC: the one in NVRTC_HOME, otherwise what
  /// the loader finds as libnvrtc.so.13 or .so.12, CUDA_HOME or /usr/local/cuda. A kernel that
  /// takes it longer than 300 seconds (HALFTONE_COMPILE_TIMEOUT; 0: no limit) is an error. Throws
  /// Error when there is no such GPU, or no driver.
  [[nodiscard]] static Device cuda(int index);

  /// The first GPU that is as wished for. Throws Error when none is, and says what there is.
  [[nodiscard]] static Device cuda(const GpuWish& wish);

  /// This processor, then every GPU. `no_gpu`, where given, is half a sentence that says why there
  /// is none, or empty.
  [[nodiscard]] static std::vector<DeviceEntry> list(std::string* no_gpu = nullptr);

  /// A GPU that this processor plays, kernel by kernel, and that finds their faults: "sm_80". It
  /// needs NVRTC as a real one does, and opens libhalftone_simulator.so: the one of
  /// HALFTONE_SIMULATOR, otherwise the first beside the program, beside the shared object that the
  /// runtime is linked into, or where the loader looks. Throws Error where there is none, and for a
  /// chip that it does not know.
  [[nodiscard]] static Device simulated(std::string_view chip);

  /// A device behind a driver that is already open; `reason` says why it was chosen.
  [[nodiscard]] static Device driven(std::shared_ptr<DriverContext> driver, std::string reason);

  /// The same device with 1 to 1024 threads, the one that calls a trainer among them. All devices
  /// of the process with one number share one pool, and devices that nothing was said of have one.
  /// Several threads may train on it at once: they and the pool's workers are then together no more
  /// than `threads`, or as many as they are themselves. Workers are started with the first trainer
  /// or predictor, which throws Error when the system has no more; between steps they sleep. A
  /// forked process starts its own. Results do not depend on the number.
  [[nodiscard]] Device with_threads(int threads) const;

  /// The same device on threads of the program's own, and the one that calls a trainer. Throws
  /// Error when it has no threads, or more than 1024.
  [[nodiscard]] Device with_executor(std::shared_ptr<Executor> executor) const;

  /// The same device with memory from `source`. Throws Error for a GPU, whose memory is its own.
  [[nodiscard]] Device with_memory(std::shared_ptr<MemorySource> source) const;

  /// The same device, packing as it is told. A predictor whose weights are packed takes as much
  /// memory as they have in the format that products read. Throws Error for a GPU.
  [[nodiscard]] Device with_packed(Packed packed) const;

  /// "cpu", "cpu:<variant>", "cuda:<index>" or "simulated:<chip>".
  [[nodiscard]] const std::string& name() const noexcept;

  /// What it is and why it was chosen, in one line.
  [[nodiscard]] const std::string& description() const noexcept;

  [[nodiscard]] int threads() const noexcept;

  /// The code variants that may run here, best first; none on a GPU.
  [[nodiscard]] std::span<const std::string> variants() const noexcept;

  [[nodiscard]] ThreadPool& pool() const noexcept;
  [[nodiscard]] const std::shared_ptr<MemorySource>& memory() const noexcept;
  [[nodiscard]] Packed packed() const noexcept;

  /// Null on the CPU.
  [[nodiscard]] const std::shared_ptr<DriverContext>& driver() const noexcept;

  /// What nobody holds of its memory at this moment, in bytes. Of the CPU, and a simulated GPU,
  /// that is what Linux says can be had without swapping, or what a limit on the process's control
  /// group leaves, whatever source with_memory() gave. Throws Error where the device or the system
  /// does not say it.
  [[nodiscard]] std::int64_t free_bytes() const;

 private:
  struct State;
  explicit Device(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  [[nodiscard]] Device because(std::string reason) const;
  [[nodiscard]] Device with_pool(std::shared_ptr<ThreadPool> pool) const;
  std::shared_ptr<const State> state_;
};

}  // namespace halftone
