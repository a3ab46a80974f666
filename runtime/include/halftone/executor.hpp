// SPDX-License-Identifier: Apache-2.0
// Threads that a program has anyway, for the CPU's kernels: in place of those of the runtime.
#pragma once

#include <functional>

namespace halftone {

/// A program's own threads; see Device::with_executor. Called from any thread that uses a device,
/// from several at once, and from the executor's own.
///
/// Nothing is owed to a job: a kernel's tasks belong to whoever is free, the thread that launches
/// it among them, which waits for no job that has not begun. So a job may run late, or be destroyed
/// without having run; jobs may run one after another, or at once inside of submit(); and an
/// executor's thread may itself train on the device that has the executor, while all others do so,
/// too. Each of these costs time alone. Results do not depend on it.
class Executor {
 public:
  virtual ~Executor() = default;

  /// How many threads at most work on a kernel, the one that launches it included: 1 to 1024. Asked
  /// once for each device.
  [[nodiscard]] virtual int threads() const noexcept = 0;

  /// Takes a job and returns; some thread calls it, once. It never throws, waits for nothing, and
  /// returns when there has been no task for it for some 30 microseconds, so that it may stay for
  /// several kernels. Fewer than threads() are on their way at a time.
  ///
  /// It must not throw, which would end the program: what cannot be taken is destroyed.
  virtual void submit(std::function<void()> job) noexcept = 0;
};

}  // namespace halftone
