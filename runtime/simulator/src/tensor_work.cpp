// SPDX-License-Identifier: Apache-2.0
// The order of what touches tensor memory: PTX ISA 9.0, 9.7.16.6. Tensor cores do what a thread
// asks for in order, also copies behind products, of which it does not say so; whoever else touches
// the same columns must have waited, and fenced.
#include "tensor_work.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace halftone::simulator {

namespace {

/// What the acting thread must know, and have fenced, of an earlier touch.
void check_stamp(Context& c, const Instruction& i, const TensorStamp& stamp, std::uint32_t column,
                 bool by_tensor_cores) {
  if (stamp.time == 0 || (by_tensor_cores && stamp.issuer == thread_of(c))) return;
  BlockClocks& clocks = c.block.racing->clocks;
  TensorMemory& memory = c.block.async.tensor;
  const std::uint32_t thread = thread_of(c);
  const Place place{"tensor", {}, column};
  if (stamp.thread == thread || stamp.thread / 32 * 32 == thread / 32 * 32) return;
  if (!clocks.knows(thread, stamp.thread, stamp.time))
    return c.report(Kind::race, i, lane_of(c), place,
                    "nothing orders it behind the " + std::string(stamp.instruction->opcode) +
                        " of the same column");
  const auto after = memory.fences_after.find(thread);
  if (after == memory.fences_after.end() ||
      !clocks.knew(after->second, thread, stamp.thread, stamp.time))
    return c.report(Kind::missing_fence, i, lane_of(c), place,
                    "tcgen05.fence::after_thread_sync must stand between what ordered it behind " +
                        std::string(stamp.instruction->opcode) + " and it");
  if (stamp.thread >= clocks.threads()) return;  // tcgen05.commit fences
  const std::vector<std::uint32_t>& before = memory.fences_before[stamp.thread];
  const auto fence = std::ranges::lower_bound(before, stamp.time);
  if (fence == before.end() || !clocks.knows(thread, stamp.thread, *fence))
    c.report(Kind::missing_fence, i, lane_of(c), place,
             "tcgen05.fence::before_thread_sync must stand between " +
                 std::string(stamp.instruction->opcode) + " and what orders this behind it");
}

void stamp_written(TensorColumn& column, const TensorStamp& stamp) {
  column.written = stamp;
  column.read.clear();
}

}  // namespace

void check_touch(Context& c, const Instruction& i, const TensorRegion& region, bool writes,
                 bool by_tensor_cores) {
  TensorMemory& memory = c.block.async.tensor;
  bool in_flight = false;
  std::uint32_t column = region.column, number = 0;
  each_column(memory, region, [&](TensorColumn& each) {
    column = region.column + number++ % region.columns;
    const bool is_own = by_tensor_cores && each.by == thread_of(c);
    in_flight = in_flight || (each.under_way > 0 && !is_own);
    if (!c.launch.races || each.under_way > 0) return;
    check_stamp(c, i, each.written, column, by_tensor_cores);
    if (writes)
      for (const TensorStamp& stamp : each.read) check_stamp(c, i, stamp, column, by_tensor_cores);
  });
  if (in_flight)
    c.report(Kind::in_flight, i, lane_of(c), {"tensor", {}, region.column},
             "tensor cores may still work there: the mbarrier of a tcgen05.commit must be waited "
             "for");
}

void stamp_read(TensorColumn& column, const TensorStamp& stamp) {
  for (TensorStamp& other : column.read)
    if (other.thread == stamp.thread) {
      other = stamp;
      return;
    }
  column.read.push_back(stamp);
}

bool is_alone(Context& c, const Instruction& i) {
  if (std::popcount(c.mask) == 1) return true;
  c.report(Kind::invalid, i, lane_of(c), {},
           std::to_string(std::popcount(c.mask)) +
               " lanes ask for it, and each of them gets it; one is to");
  return false;
}

bool check_region(Context& c, const Instruction& i, const TensorRegion& region) {
  for (const auto& [first, count] : c.block.async.tensor.allocated)
    if (region.column >= first && region.column + region.columns <= first + count) return true;
  c.report(Kind::out_of_bounds, i, lane_of(c), {"tensor", {}, region.column},
           "columns " + std::to_string(region.column) + " to " +
               std::to_string(region.column + region.columns - 1) + " are not allocated");
  return false;
}

void begin_tensor_work(Context& c, const Instruction& i, TensorWork work) {
  work.instruction = &i;
  TensorMemory& memory = c.block.async.tensor;
  for (const TensorRegion& region : work.read) check_touch(c, i, region, false, true);
  for (const TensorRegion& region : work.written) check_touch(c, i, region, true, true);
  for (const auto* regions : {&work.read, &work.written})
    for (const TensorRegion& region : *regions)
      each_column(memory, region, [&](TensorColumn& column) {
        ++column.under_way;
        column.by = thread_of(c);
      });
  if (c.launch.races) {
    const Lanes who = c.launch.races->lanes(c, i);
    for (const Stretch& stretch : work.sources)
      c.launch.races->detector().async_begin(who, stretch);
  }
  memory.open[thread_of(c)].push_back(std::move(work));
}

void finish_tensor_work(Execution& launch, Block& block, const std::vector<TensorWork>& all,
                        const SharedTarget& at, const std::optional<Lanes>& who,
                        std::uint32_t thread) {
  TensorMemory& memory = block.async.tensor;
  std::vector<Stretch> sources;
  for (const TensorWork& each : all) {
    each.run();
    sources.insert(sources.end(), each.sources.begin(), each.sources.end());
  }
  TensorStamp stamp;
  if (who) {
    RacingBlock& racing = *block.racing;
    launch.races->detector().async_end(*who, sources, *at.block->racing, at.address);
    RacingBlock::Mbarrier& barrier = racing.mbarrier(at.address);
    auto& done = memory.done[thread];
    for (const auto& [agent, time] : done)
      barrier.arriving = joined(barrier.arriving, racing.clocks.agent_message(agent, time));
    stamp = {racing.clocks.now() - 1, racing.clocks.threads() + barrier.agent, thread};
    done[barrier.agent] = stamp.time;
  }
  const auto end = [&](const TensorRegion& region, auto mark) {
    each_column(memory, region, [&](TensorColumn& column) {
      --column.under_way;
      if (who) mark(column, stamp);
    });
  };
  for (const TensorWork& each : all) {
    stamp.instruction = each.instruction;
    for (const TensorRegion& region : each.read) end(region, stamp_read);
    for (const TensorRegion& region : each.written) end(region, stamp_written);
  }
}

}  // namespace halftone::simulator
