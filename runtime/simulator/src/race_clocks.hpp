// SPDX-License-Identifier: Apache-2.0
// What each thread of a block knows of the others: vector clocks, arranged so that a barrier of the
// whole block costs nothing, and that warps whose lanes know the same share one vector.
//
// A block has one clock. An access is stamped with the clock's value; every event that releases (a
// barrier, an arrival, a fence) advances the clock afterwards. A thread knows another thread's
// accesses up to a time: the last full barrier for all, `synced` for its own warp, and a row of
// times where smaller groups or objects ordered them. Blocks know each other through logs only: an
// object that was released with block B's knowledge, and acquired since.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace halftone::simulator {

using Times =
    std::vector<std::uint32_t>;  // by thread of a block; behind them its asynchronous agents
using Row = std::shared_ptr<const Times>;  // null: nothing beyond the last full barrier

/// Calls visit(lane) for every lane of the mask.
template <class Visit>
void each_lane_of(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

class Log;
struct Seen {
  const Log* log = nullptr;
  std::uint32_t length = 0;  // entries of the log that are known
};
using Foreign = std::shared_ptr<const std::vector<Seen>>;  // null: nothing of other blocks

/// Knowledge on its way from one thread to others.
struct Message {
  std::uint32_t block = 0;
  std::uint32_t base = 0;  // every thread's accesses up to here, and of agents what `row` says
  Row row;
  Foreign foreign;
};

Row joined(const Row& a, const Row& b);
Foreign joined(const Foreign& a, const Foreign& b);
/// Of the same block; one without a row is empty.
Message joined(const Message& a, const Message& b);

/// What was released through an object, in order. It lives as long as the launch.
class Log {
 public:
  void append(const Message& message);
  [[nodiscard]] std::uint32_t length() const { return static_cast<std::uint32_t>(entries_.size()); }
  /// The knowledge of a block among the first `length` entries, or null.
  [[nodiscard]] const Message* find(std::uint32_t block, std::uint32_t length) const;
  /// Whether it holds knowledge of this block alone.
  [[nodiscard]] bool only(std::uint32_t block) const {
    return links_.empty() && places_.size() == 1 && places_.contains(block);
  }
  /// Everything so far; entries that somebody saw are not changed afterwards.
  Seen see();
  /// Whether the first `length` entries, or logs known to them, include an access.
  [[nodiscard]] bool knows(std::uint32_t length, std::uint32_t block, std::uint32_t thread,
                           std::uint32_t time) const;

 private:
  struct Link {
    std::uint32_t position;
    Seen seen;
  };
  std::vector<Message> entries_;  // each includes the earlier ones of its block
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> places_;  // by block
  std::vector<Link> links_;
  std::uint32_t seen_ = 0;
};

/// What a thread knew at some time, kept cheaply.
struct Glance {
  std::uint32_t base = 0, synced = 0, time = 0;  // time = 0: nothing
  Row row, agents;
  Foreign foreign;
};

inline constexpr std::uint32_t kAgents =
    32;  // asynchronous engines of a block that clocks tell apart

class BlockClocks {
 public:
  BlockClocks(std::uint32_t number, std::uint32_t threads);

  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] std::uint32_t threads() const { return threads_; }
  [[nodiscard]] std::uint32_t now() const { return now_; }
  [[nodiscard]] std::uint32_t base() const { return base_; }

  /// Whether `thread` knows an access of `other`, a thread or agent of this block.
  [[nodiscard]] bool knows(std::uint32_t thread, std::uint32_t other, std::uint32_t time) const {
    const Row& row = lanes_[thread].row;
    if (row && (*row)[other] >= time) return true;
    if (other >= threads_) return agents_ && (*agents_)[other - threads_] >= time;
    return time <= base_ || other == thread ||
           (other / 32 == thread / 32 && time <= synced_[other / 32]);
  }
  /// The same of another block's thread.
  [[nodiscard]] bool knows_foreign(std::uint32_t thread, std::uint32_t block, std::uint32_t other,
                                   std::uint32_t time) const;

  /// What the lanes of a warp know, as one message; advances the clock.
  Message publish(std::uint32_t warp, std::uint32_t mask);
  void receive(std::uint32_t warp, std::uint32_t mask, const Message& message);  // of this block
  void receive(std::uint32_t warp, std::uint32_t mask, Seen seen);  // of whatever blocks
  void receive(std::uint32_t warp, std::uint32_t mask, Log& log) { receive(warp, mask, log.see()); }

  void full_barrier();
  void warp_barrier(std::uint32_t warp, std::uint32_t mask);

  [[nodiscard]] Glance glance(std::uint32_t thread) const;
  /// Whether the thread knew the access of another thread of the block at a glance.
  [[nodiscard]] bool knew(const Glance& glance, std::uint32_t thread, std::uint32_t other,
                          std::uint32_t time) const;

  /// A fence of one thread, of the block's scope or wider: what it may release later, and what it
  /// read before and may rely on now.
  void fence(std::uint32_t thread, bool wide);
  [[nodiscard]] bool has_fence(std::uint32_t thread, bool wide) const {
    return lanes_[thread].fences[wide].time != 0;
  }
  /// What the last such fence of a thread saw.
  [[nodiscard]] Message fenced(std::uint32_t thread, bool wide) const;
  /// A strong read of an object by a thread: its next fence receives what the log held then.
  void read_object(std::uint32_t thread, bool wide, Log& log);

  /// Advances the clock and returns what an agent's work done before is stamped with.
  std::uint32_t tick() { return now_++; }
  /// The message that an agent's work is done.
  [[nodiscard]] Message agent_message(std::uint32_t agent, std::uint32_t time) const;

 private:
  /// Adds what all threads knew of agents to the columns of a row.
  void add_agents(Times& times, const Row& agents) const;

  struct Lane {
    Row row;
    Foreign foreign;
    Glance fences[2];
    std::vector<Seen> pending[2];  // one of each log
  };

  std::uint32_t number_, threads_;
  std::uint32_t now_ = 1, base_ = 0;
  bool plain_ = true;                  // no lane has a row or foreign knowledge of its own
  std::vector<std::uint32_t> synced_;  // by warp
  Row agents_;                         // of agents alone: what all threads know
  std::vector<Lane> lanes_;
  Foreign foreign_;  // known to all
};

}  // namespace halftone::simulator
