// SPDX-License-Identifier: Apache-2.0
// Tells the race detector what a launch does, and turns what it reports into findings. One object
// serves one launch; nothing is told when findings are not asked for.
#pragma once

#include "race.hpp"

namespace halftone::simulator {

struct Access;
struct Block;
struct Context;
struct Execution;
struct Instruction;

class Races {
 public:
  explicit Races(Execution& launch);

  /// Every resolved access to shared or global memory; `same` compares what two lanes store; its
  /// context is a pair of pointers to both arguments before.
  void access(const Context& context, const Instruction& instruction, const Access& access,
              bool (*same)(const void*, std::uint32_t, std::uint32_t) = nullptr);
  /// membar, fence, and proxy fences.
  void fence(const Context& context, const Instruction& instruction);

  [[nodiscard]] Lanes lanes(const Context& context, const Instruction& instruction) const;
  /// One of them.
  [[nodiscard]] Lanes lanes(const Context& context, const Instruction& instruction,
                            std::uint32_t lane) const;
  [[nodiscard]] RaceDetector& detector() { return detector_; }
  void block_begins(Block& block);

 private:
  void report(const Conflict& conflict);
  [[nodiscard]] std::uint32_t site(const Instruction& instruction) const;

  Execution& launch_;
  RaceDetector detector_;
};

}  // namespace halftone::simulator
