// SPDX-License-Identifier: Apache-2.0
// mbarriers, barriers of clusters, and asynchronous accesses: of the race detector.
#include <bit>

#include "race.hpp"

namespace halftone::simulator {

void RaceDetector::mbarrier_arrive(const Lanes& who, RacingBlock& owner, std::uint32_t address) {
  RacingBlock::Mbarrier& barrier = owner.mbarrier(address);
  const Message message = who.block.clocks.publish(who.warp, who.mask);
  if (&who.block != &owner && !barrier.others)
    barrier.others = logs_.emplace_back(std::make_unique<Log>()).get();
  if (&who.block == &owner)
    barrier.arriving = joined(barrier.arriving, message);
  else
    barrier.others->append(message);
}

void RaceDetector::mbarrier_complete(RacingBlock& owner, std::uint32_t address) {
  RacingBlock::Mbarrier& barrier = owner.mbarrier(address);
  barrier.complete = joined(barrier.complete, barrier.arriving);
  barrier.arriving = {};
  if (barrier.others) barrier.others_complete = barrier.others->see();
}

void RaceDetector::mbarrier_wait(const Lanes& who, RacingBlock& owner, std::uint32_t address) {
  RacingBlock::Mbarrier& barrier = owner.mbarrier(address);
  if (&who.block == &owner) who.block.clocks.receive(who.warp, who.mask, barrier.complete);
  who.block.clocks.receive(who.warp, who.mask, barrier.others_complete);
}

// The barrier of a cluster is an mbarrier of each of its blocks.
constexpr std::uint32_t kClusterBarrier = 0xffffffff;

void RaceDetector::cluster_arrive(const Lanes& who, std::span<RacingBlock* const> blocks) {
  for (RacingBlock* block : blocks) mbarrier_arrive(who, *block, kClusterBarrier);
}

void RaceDetector::cluster_complete(std::span<RacingBlock* const> blocks) {
  for (RacingBlock* block : blocks) mbarrier_complete(*block, kClusterBarrier);
}

void RaceDetector::cluster_wait(const Lanes& who) {
  mbarrier_wait(who, who.block, kClusterBarrier);
}

void RaceDetector::proxy_fence(const Lanes& who) {
  RacingBlock& block = who.block;
  block.proxy_fences.resize(block.clocks.threads());
  block.proxy_seen.resize(block.clocks.threads());
  each_lane_of(who.mask, [&](std::uint32_t l) {
    const std::uint32_t thread = who.warp * 32 + l;
    block.proxy_fences[thread].push_back(block.clocks.now());
    block.proxy_seen[thread] = block.clocks.glance(thread);
  });
  block.clocks.tick();
}

RaceDetector::Actor RaceDetector::actor_of(const Lanes& who, std::uint32_t lane,
                                           const Stretch& stretch, Mode mode) const {
  Stamp stamp{who.block.clocks.now(), who.block.clocks.number(), who.site};
  stamp.thread = static_cast<std::uint16_t>(who.warp * 32 + lane);
  stamp.generic = !stretch.proxy;
  stamp.strong = strength_of(stretch.strong, Scope::device);
  return {who.block, stamp.thread, 1u << lane, stamp, stretch.touch, stretch.owner, mode};
}

void RaceDetector::fly(const Lanes& who, const Stretch& stretch, int change) {
  if (!stretch.owner || stretch.bytes == 0) return;
  FlightMap& flight = stretch.owner->flight;
  flight.opened(change);
  for (std::uint64_t at = stretch.address / 4 * 4; at < stretch.address + stretch.bytes; at += 4) {
    FlightMap::Word& word = flight.at(at);
    std::uint16_t& count = stretch.touch == Touch::read ? word.reads : word.writes;
    count = static_cast<std::uint16_t>(count + change);
    if (change < 0 || (stretch.touch == Touch::read && word.writes > 0)) continue;
    word.site = who.site;
    word.thread = static_cast<std::uint16_t>(
        who.warp * 32 + static_cast<std::uint32_t>(std::countr_zero(who.mask)));
  }
}

void RaceDetector::async_check(const Lanes& who, const Stretch& stretch) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(who.mask));
  touch(actor_of(who, lane, stretch, Mode::check), stretch.address, stretch.bytes);
}

void RaceDetector::async_begin(const Lanes& who, const Stretch& stretch) {
  async_check(who, stretch);
  fly(who, stretch, 1);
}

void RaceDetector::async_end(const Lanes& who, const Stretch& stretch) {
  fly(who, stretch, -1);
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(who.mask));
  touch(actor_of(who, lane, stretch, stretch.owner ? Mode::record : Mode::check_and_record),
        stretch.address, stretch.bytes);
}

void RaceDetector::async_end(const Lanes& issuer, std::span<const Stretch> stretches,
                             RacingBlock& owner, std::uint32_t mbarrier) {
  RacingBlock::Mbarrier& barrier = owner.mbarrier(mbarrier);
  const std::uint32_t time = owner.clocks.tick();
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(issuer.mask));
  for (const Stretch& stretch : stretches) {
    fly(issuer, stretch, -1);
    Actor actor = actor_of(issuer, lane, stretch, Mode::record);
    actor.stamp.time = time;
    actor.stamp.block = owner.clocks.number();
    actor.stamp.thread = static_cast<std::uint16_t>(owner.clocks.threads() + barrier.agent);
    actor.lanes = 0;
    touch(actor, stretch.address, stretch.bytes);
  }
  barrier.arriving = joined(barrier.arriving, owner.clocks.agent_message(barrier.agent, time));
}

void RaceDetector::source_read_end(const Lanes& who, const Stretch& source, std::uint32_t issued) {
  Stamp read{issued, who.block.clocks.number(), who.site};
  read.thread = static_cast<std::uint16_t>(who.warp * 32 +
                                           static_cast<std::uint32_t>(std::countr_zero(who.mask)));
  bool told = false;
  const auto look = [&](ShadowLines& page, std::uint64_t at, std::uint32_t bytes) {
    page.visit(at % GlobalShadow::kPage, bytes, false, sets_, [&](const Cell& cell) {
      const Stamp& write = cell.write;
      if (told || write.block != read.block || write.time <= issued) return;
      told = true;
      report({who.block, write.thread, 0, write, Touch::write, nullptr}, Conflict::What::in_flight,
             Order::write_after_read, at, read, read.thread);
    });
  };
  global_.each_part(source.address, source.bytes, look);
}

}  // namespace halftone::simulator
