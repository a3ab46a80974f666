// SPDX-License-Identifier: Apache-2.0
// What the trainer ran, run once more, one operation at a time, by a program of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "bind.hpp"

namespace halftone {

/// Inputs, the caller's gradients of outputs, and counters, by buffer; empty where none was given.
using GivenValues = std::map<std::size_t, std::vector<std::byte>>;

/// What the trainer ran: last, with what it was given still in its buffers, or for an earlier
/// micro-batch.
struct Replay {
  enum class Backward { none, losses, external };
  std::int64_t rows = 0;  ///< BoundProgram::rows()
  bool forward = false, losses = false;
  Backward backward = Backward::none;
  /// Of an earlier micro-batch, whose replay takes the states as the step found them; else null.
  const GivenValues* given = nullptr;
  std::int64_t micro_batch = 0, micro_batches = 0;  ///< as in NonFinite
};

class ReplayedProgram {
 public:
  /// `who` opens the errors. Throws Error when the artifact has no program for it, or there is no
  /// memory for one.
  ReplayedProgram(const char* who, const BoundProgram& training)
      : training_(training), program_(who, training, "diagnosis") {}

  /// What the replay starts from, as the trainer's run read it.
  void take_over(const Replay& replay);

  /// In the order of execution.
  [[nodiscard]] static std::vector<manifest::Phase> phases(const Replay& replay);

  [[nodiscard]] BoundProgram& program() { return program_; }

 private:
  [[nodiscard]] std::span<const std::byte> as_read(std::size_t source,
                                                   const manifest::Buffer& buffer,
                                                   const Replay& replay) const;
  [[nodiscard]] std::span<const std::byte> read(std::size_t source) const {
    return {training_.execution().read(source), training_.bytes(source)};
  }

  const BoundProgram& training_;
  BoundProgram program_;
};

/// Throws Error where the trainer ran nothing that could be replayed.
void require_run(const char* operation, const Replay& replay);

}  // namespace halftone
