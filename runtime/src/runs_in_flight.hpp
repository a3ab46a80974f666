// SPDX-License-Identifier: Apache-2.0
// The runs that the host asked for and has not waited for. Each has a slot of page-locked memory:
// what the host gives it, and what it says of its update.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "driver_context.hpp"
#include "driver_memory.hpp"
#include "execution.hpp"
#include "program_plan.hpp"

namespace halftone {

/// A run is open()ed, given its inputs and ended; the next open() takes the next slot and waits
/// only where that one's run is not done.
class RunsInFlight {
 public:
  /// Slots lie where those of `shares` do, which has no run in flight when this has one; all that
  /// share are there before the first run.
  RunsInFlight(const ProgramPlan& plan, DriverContext& context, const DriverMemory& memory,
               DriverStream stream, const RunsInFlight* shares = nullptr);
  ~RunsInFlight();
  RunsInFlight(const RunsInFlight&) = delete;
  RunsInFlight& operator=(const RunsInFlight&) = delete;

  /// Where the host writes so many bytes of an input of the run that is open, or that this opens;
  /// at most the planned ones.
  [[nodiscard]] std::span<std::byte> staged(std::size_t buffer, std::int64_t bytes);

  /// Puts on the stream the copies of what was staged; a run that updates is opened when none is.
  /// `what` is what an error of the run is about.
  void begin(const std::string& what, bool updates);

  /// Puts on the stream what comes behind the kernels; nothing when no run is open.
  void end();

  /// Whether one is in flight.
  [[nodiscard]] bool any() const;

  /// How many runs with a slot were put on the stream, and how many of them are known to be done.
  [[nodiscard]] std::uint64_t ended() const { return ended_; }
  [[nodiscard]] std::uint64_t done() const { return done_; }

  /// To be called when all that is on the stream is done.
  void all_done();

  [[nodiscard]] std::vector<Outcome> take_outcomes();

  /// As if there had been no run; to be called when all that is on the stream is done.
  void forget();

 private:
  enum class State { free, open, in_flight };
  struct Staged {
    std::size_t buffer = 0;
    std::int64_t bytes = 0;
  };
  struct Slot {
    State state = State::free;
    std::byte* memory = nullptr;
    OwnedEvent done;
    std::vector<Staged> inputs = {};
    bool updates = false;  ///< and has an outcome
    std::string what = {};
  };

  struct HostMemory {
    OwnedHostMemory memory;       ///< none until a run asks
    std::int64_t slot_bytes = 0;  ///< the most that one of those who share it needs
  };

  [[nodiscard]] bool is_open() const;
  void allocate();
  void open();
  void finish(Slot& slot);
  void copy_outcome(std::size_t buffer, std::byte* to);

  const ProgramPlan& plan_;
  DriverContext& context_;
  const DriverMemory& memory_;
  DriverStream stream_;
  OutcomeBuffers outcome_buffers_;
  std::vector<std::int64_t> offsets_;  ///< in a slot, by buffer; -1: not the host's to give
  std::int64_t slot_bytes_ = 0;
  std::shared_ptr<HostMemory> host_;  ///< of all that share it
  std::vector<Slot> slots_;
  std::size_t next_ = 0;  ///< the slot that is open or will be
  std::uint64_t ended_ = 0, done_ = 0;
  std::vector<Outcome> outcomes_;
};

}  // namespace halftone
