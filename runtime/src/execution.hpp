// SPDX-License-Identifier: Apache-2.0
// Where a program's buffers lie and who runs its kernels: host memory and a thread pool, or a
// driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program_plan.hpp"

namespace halftone {

/// What an update came to.
struct Outcome {
  bool applied = true;
  std::int64_t floored = 0;  ///< steps in a row that were skipped at the loss scale's floor
};

class Execution {
 public:
  virtual ~Execution() = default;

  /// Of all that is staged, run and read from here on: sizes of the plan, which are the first, or
  /// with fewer rows. What was made for others stays for a while.
  virtual void use(const Sizes& sizes) = 0;

  /// A buffer's contents for the host. Valid while the execution lives; on a device with memory of
  /// its own they are as of this call.
  [[nodiscard]] virtual const std::byte* read(std::size_t buffer) = 0;

  /// A part of them, from byte `at` on; valid until the next call.
  [[nodiscard]] virtual std::span<const std::byte> read_part(std::size_t buffer, std::int64_t at,
                                                             std::int64_t bytes) = 0;

  /// The contents from byte `at` on; `bytes` may change afterwards.
  virtual void write(std::size_t buffer, std::int64_t at, std::span<const std::byte> bytes) = 0;

  /// Inside a buffer, from byte to byte; what is copied does not overlap what it comes to.
  virtual void copy(std::size_t buffer, std::int64_t to, std::int64_t from, std::int64_t bytes) = 0;

  /// Zeros from byte `at` on.
  virtual void clear(std::size_t buffer, std::int64_t at, std::int64_t bytes) = 0;

  /// Where the host writes all of an input for the run that comes next, and for that run alone; as
  /// large as the sizes in use say.
  /// May wait until the oldest of the runs in flight is done.
  [[nodiscard]] virtual std::span<std::byte> staged(std::size_t buffer) = 0;

  /// Waits until all that was asked for is done.
  virtual void wait() = 0;

  /// The outcomes of updates since the last call, in their order: those that the host knows, or all
  /// of them.
  [[nodiscard]] virtual std::vector<Outcome> outcomes(bool all) = 0;

  /// The kernels of these phases, in the order given; they need not be done when it returns. Before
  /// a forward phase the buffers that diagnosis will ask for as they were are kept.
  virtual void run(std::span<const manifest::Phase> phases) = 0;

  /// One launch of a phase; of a section's, those of all chunks. On the CPU the phase has no
  /// sections.
  virtual void run(manifest::Phase phase, std::size_t launch) = 0;

  /// A buffer of kept_buffers() as the last forward phase found it.
  [[nodiscard]] virtual std::span<const std::byte> kept(std::size_t buffer) = 0;

  /// Allocates what the accumulate phase needs, once. Throws Error when there is no memory.
  virtual void prepare_accumulation() = 0;

  /// Runs follow, after those of another execution over the same memory, which are done. Takes no
  /// memory.
  virtual void begin_turn() = 0;

  /// Whatever is read from here on may have been changed by another execution.
  virtual void forget_what_was_read() = 0;

  /// Whether a call failed that had begun to change what persists from step to step: its values
  /// belong to no step until all of them are written anew, between tear() and mend().
  [[nodiscard]] bool is_torn() const noexcept { return torn_; }
  void tear() noexcept { torn_ = true; }
  /// Waits for what is still on its way, whose outcomes nobody gets.
  void mend() {
    forget_runs();
    torn_ = false;
  }

  [[nodiscard]] virtual std::int64_t bytes_predicted() const = 0;
  [[nodiscard]] virtual std::int64_t bytes_measured() const = 0;

  /// See Statistics::variant.
  [[nodiscard]] virtual std::string variant() const = 0;

 protected:
  void set_torn(bool torn) noexcept { torn_ = torn; }

 private:
  virtual void forget_runs() = 0;

  bool torn_ = false;
};

/// What an update moves on but a diagnosis needs as the forward phase read it: the user's states
/// and the loss scale. Nothing in programs without an update.
[[nodiscard]] std::vector<std::size_t> kept_buffers(const ProgramPlan& plan);

/// The scalars that say what an update came to, where the program has them.
struct OutcomeBuffers {
  std::optional<std::size_t> finite, floored;
};
[[nodiscard]] OutcomeBuffers outcome_buffers(const ProgramPlan& plan);

/// Memory holds the first values of everything but the parameters. The plan must live longer.
/// Throws Error when there is no memory or the device cannot run the program.
[[nodiscard]] std::unique_ptr<Execution> make_execution(const ProgramPlan& plan);

/// Likewise of plans of one device that share_memory() laid out; they lie in one memory, and run
/// one at a time.
[[nodiscard]] std::vector<std::unique_ptr<Execution>> make_executions(
    std::span<const ProgramPlan* const> plans);

}  // namespace halftone
