// SPDX-License-Identifier: Apache-2.0
// One turn of a warp: groups of its lanes that run, part and meet.
#pragma once

#include "scheduler.hpp"

namespace halftone::simulator {

class WarpRun {
 public:
  /// `divergent`: barriers no longer wait for lanes of their warp that are elsewhere.
  WarpRun(Execution& launch, Block& block, Warp& warp, bool divergent = false)
      : launch_(launch), block_(block), warp_(warp), divergent_(divergent) {}

  bool run();

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  /// The ready group with the lowest instruction; of several that spin, each gets its turn.
  std::size_t choose();

  /// Joins groups that are at the same instruction.
  void merge();
  static bool can_join(const Group& g) {
    return g.state == Group::State::ready || g.state == Group::State::together;
  }

  /// The lowest instruction of another group past `pc`: there lanes may meet.
  std::uint32_t meeting(std::size_t at) const;

  bool run_group(std::size_t at, std::uint64_t end);

  /// True when the same group goes on at its pc.
  bool flow(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context);

  bool branch(std::size_t at, std::uint32_t target, std::uint32_t mask);

  /// Lanes of `mask` go to `target`, the others to the next instruction.
  void split(std::size_t at, std::uint32_t mask, std::uint32_t target);

  bool indexed(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context);

  bool call(std::size_t at, const Instruction& i, std::uint32_t mask);

  bool leave(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context);

  /// .sync: the lanes of the member mask that still run must all be here.
  bool together(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context);

  /// Lanes with different masks: each mask's lanes on their own, when they are all here.
  bool by_members(const Instruction& i, std::uint32_t mask, const std::uint32_t* members,
                  Context& context, Group& group);

  void execute(const Instruction& i, std::uint32_t mask, Context& context);

  bool barrier(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context);

  void arrive(std::size_t at, const Instruction& i, std::uint32_t mask, Context& context);

  static constexpr std::uint64_t kTurns = 64;
  Execution& launch_;
  Block& block_;
  Warp& warp_;
  const bool divergent_;
  std::uint64_t turns_ = 0;
};

}  // namespace halftone::simulator
