// SPDX-License-Identifier: Apache-2.0
// tcgen05: PTX ISA 9.0, 9.7.16, of one block (cta_group::1): allocation, commits, loads. Sums
// that are under way read as NaN, and so do registers that a load has not filled.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>

#include "matrix.hpp"
#include "shared_target.hpp"
#include "tensor_work.hpp"

namespace halftone::simulator {

namespace {

constexpr std::uint32_t kPoison = 0x7fff7fff;
constexpr std::uint32_t kFewestColumns = 32;  // of an allocation

//===--- Allocation ---===//

void store_address(Context& c, const Instruction& i, std::uint32_t column) {
  const std::uint32_t lane = lane_of(c);
  const SharedTarget to = shared_target(c, addresses_at(c, i, 0)[lane]);
  if (!check_shared(c, i, lane, to, 4, 4)) return;
  if (c.launch.races) {
    std::array<std::uint64_t, 32> addresses;
    addresses.fill(to.address);
    LaneAccess what;
    what.touch = Touch::write;
    what.owner = to.block->racing.get();
    what.addresses = addresses.data();
    what.bytes = 4;
    c.launch.races->detector().access(c.launch.races->lanes(c, i, lane), what);
  }
  std::memcpy(to.block->shared.data() + to.address, &column, 4);
  check_set_shared(c, i, lane, to, 4, true);
}

bool check_columns(Context& c, const Instruction& i, std::uint32_t count) {
  if (count >= kFewestColumns && count <= kTensorColumns && std::has_single_bit(count)) return true;
  c.report(Kind::invalid, i, lane_of(c), {},
           "columns are allocated in powers of two from 32 to 512, not " + std::to_string(count));
  return false;
}

void run_alloc(Context& c, const Instruction& i) {
  TensorMemory& memory = c.block.async.tensor;
  const std::uint32_t count = c.plane(i.at[0])[lane_of(c)];
  if (!check_columns(c, i, count)) return;
  if (!memory.has_permit)
    return c.report(Kind::invalid, i, lane_of(c), {},
                    "the block has said by tcgen05.relinquish_alloc_permit that it allocates no "
                    "more");
  std::uint32_t column = 0;
  for (const auto& [first, held] : memory.allocated) {
    if (first >= column + count) break;
    column = (first + held + count - 1) / count * count;
  }
  if (column + count > kTensorColumns)
    return c.report(Kind::launch_limit, i, lane_of(c), {},
                    "it waits for ever: no " + std::to_string(count) + " columns are free");
  if (memory.cells.empty()) {
    memory.cells.assign(kTensorLanes * kTensorColumns, kPoison);
    memory.set.assign(memory.cells.size(), false);
    memory.columns.resize(kTensorQuarters * kTensorColumns);
  }
  for (std::uint32_t lane = 0; lane < kTensorLanes; ++lane)
    for (std::uint32_t k = column; k < column + count; ++k)
      memory.set[lane * kTensorColumns + k] = false;
  memory.allocated.emplace(column, count);
  memory.allocation = &i;
  store_address(c, i, column);
}

void run_dealloc(Context& c, const Instruction& i) {
  TensorMemory& memory = c.block.async.tensor;
  const std::uint32_t column = c.plane(i.at[0])[lane_of(c)], count = c.plane(i.at[1])[lane_of(c)];
  const auto found = memory.allocated.find(column);
  if (found == memory.allocated.end() || found->second != count)
    return c.report(Kind::invalid, i, lane_of(c), {"tensor", {}, column},
                    std::to_string(count) + " columns from here on were not allocated together");
  const TensorRegion all{column, count};
  check_touch(c, i, all, true, false);
  each_column(memory, all, [](TensorColumn& each) { each = {}; });
  memory.allocated.erase(found);
}

void run_relinquish(Context& c, const Instruction&) { c.block.async.tensor.has_permit = false; }

//===--- Completion ---===//

/// tcgen05.commit: an arrival once all that the thread asked for is done.
void run_commit(Context& c, const Instruction& i) {
  if (!is_alone(c, i)) return;
  const std::uint32_t lane = lane_of(c);
  const SharedTarget at = shared_target(c, addresses_at(c, i, 0)[lane]);
  if (!check_shared(c, i, lane, at, 8, 8) || !find_mbarrier(c, i, lane, *at.block, at.address))
    return;
  std::vector<TensorWork>& open = c.block.async.tensor.open[thread_of(c)];
  auto work = std::make_shared<std::vector<TensorWork>>(std::move(open));
  open.clear();
  Execution& launch = c.launch;
  std::optional<Lanes> who;
  if (launch.races) {
    who.emplace(launch.races->lanes(c, i));
    launch.races->detector().async_check(*who,
                                         {Touch::read, at.block->racing.get(), at.address, 8});
    // What the thread knows when it asks is known to who waits.
    launch.races->detector().mbarrier_arrive(*who, *at.block->racing, at.address);
  }
  const std::uint32_t thread = thread_of(c);
  const auto run = [&launch, &block = c.block, at, work, who, thread] {
    finish_tensor_work(launch, block, *work, at, who, thread);
    const auto m = at.block->async.mbarriers.find(at.address);
    if (m == at.block->async.mbarriers.end()) return;
    if (m->second.pending > 0) --m->second.pending;
    complete_phase(launch, *at.block, at.address);
  };
  at.block->async.jobs.push_back({run, &i, thread, at.address});
}

void run_fence(Context& c, const Instruction& i) {
  if (!c.launch.races) return;
  TensorMemory& memory = c.block.async.tensor;
  BlockClocks& clocks = c.block.racing->clocks;
  each_lane(c.mask, [&](std::uint32_t l) {
    const std::uint32_t thread = c.thread(l);
    if (i.variant == 0)
      memory.fences_before[thread].push_back(clocks.now());
    else
      memory.fences_after[thread] = clocks.glance(thread);
  });
  if (i.variant == 0) clocks.tick();
}

//===--- Loads ---===//

constexpr std::uint32_t kSixteenRows = 1;

/// Position of a lane's register: 9.7.16.2.3.1, figures of .32x32b and .16x256b.
Position load_position(bool sixteen_rows, int lane, int place) {
  if (!sixteen_rows) return {lane, place};
  const Position p = c_position(lane, place % 4);
  return {p.row, 8 * (place / 4) + p.column};
}

void run_load(Context& c, const Instruction& i) {
  TensorMemory& memory = c.block.async.tensor;
  const std::uint32_t lane = lane_of(c);
  const auto from = static_cast<std::uint32_t>(addresses_at(c, i, 0)[lane]);
  const bool sixteen = (i.flags & kSixteenRows) != 0;
  const std::uint32_t first = from >> 16, quarter = c.warp.index % 4, rows = sixteen ? 16 : 32;
  const std::uint32_t columns = static_cast<std::uint32_t>(i.more.size() - 3) * (sixteen ? 2 : 1);
  const TensorRegion region{from & 0xffff, columns, 1u << quarter};
  const Place place{"tensor", {}, from & 0xffff};
  if (first % rows != 0)
    return c.report(Kind::misaligned, i, lane, place,
                    "lanes begin at a multiple of " + std::to_string(rows));
  if (first / 32 != quarter)
    return c.report(Kind::out_of_bounds, i, lane, place,
                    "warp " + std::to_string(c.warp.index) + " reads lanes " +
                        std::to_string(32 * quarter) + " to " + std::to_string(32 * quarter + 31) +
                        " alone");
  if (!check_region(c, i, region)) return;
  check_touch(c, i, region, false, false);
  bool under_way = false, all_set = true;
  each_column(memory, region, [&](TensorColumn& column) {
    under_way = under_way || column.under_way > 0;
    if (c.launch.races)
      stamp_read(column, {c.block.racing->clocks.now(), c.thread(lane), kNone, &i});
  });
  for (std::size_t n = 0; n + 3 < i.more.size(); ++n) {
    std::array<std::uint32_t, 32>& values = c.warp.tensor_loads[i.more[n + 3]];
    for (int l = 0; l < 32; ++l) {
      const Position p = load_position(sixteen, l, static_cast<int>(n));
      const std::uint32_t row = first + static_cast<std::uint32_t>(p.row),
                          column = region.column + static_cast<std::uint32_t>(p.column);
      all_set = all_set && (under_way || memory.set[row * kTensorColumns + column]);
      values[static_cast<std::size_t>(l)] = under_way ? kPoison : memory.cell(row, column);
    }
    std::fill_n(c.plane(i.more[n + 3]), 32, kPoison);
  }
  if (!all_set && c.launch.options.check) c.report(Kind::uninitialised, i, lane, place);
}

void run_wait(Context& c, const Instruction&) {
  for (const auto& [place, values] : c.warp.tensor_loads)
    std::copy_n(values.begin(), 32, c.plane(place));
  c.warp.tensor_loads.clear();
}

//===--- Words ---===//

void decode_load(Decoder& d) {
  Instruction& i = d.instruction;
  if (d.words.size() != 7) d.unknown();
  const bool sixteen = d.words[4] == "16x256b";
  std::size_t times = 0;
  for (std::size_t x = 1; x <= (sixteen ? 32 : 128); x *= 2)
    if (d.words[5] == "x" + std::to_string(x)) times = x;
  if (times == 0) d.unknown();
  i.run = run_load;
  if (sixteen) i.flags |= kSixteenRows;
  place_address(d, d.operand(1));
  for (const syntax::Operand& part : d.list(0, times * (sixteen ? 4 : 1)))
    i.more.push_back(d.destination(part, 4));
  d.together();
}

void decode_tensor(Decoder& d) {
  Instruction& i = d.instruction;
  const std::string_view word = d.words.size() > 1 ? d.words[1] : std::string_view();
  if (word == "mma") return decode_tensor_product(d);
  if (word == "cp") return decode_tensor_copy_in(d);
  if (word == "ld") return decode_load(d);
  if (word == "alloc") {
    i.run = run_alloc;
    place_address(d, d.operand(0));
    i.at[0] = d.source(1, 4);
    d.together();
  } else if (word == "dealloc") {
    i.run = run_dealloc;
    i.at[0] = d.source(0, 4);
    i.at[1] = d.source(1, 4);
    d.together();
  } else if (word == "relinquish_alloc_permit") {
    i.run = run_relinquish;
    d.together();
  } else if (word == "commit") {
    i.run = run_commit;
    place_address(d, d.operand(0));
  } else if (word == "fence::before_thread_sync" || word == "fence::after_thread_sync") {
    i.run = run_fence;
    i.variant = word == "fence::after_thread_sync";
  } else if (word == "wait::ld") {
    i.run = run_wait;
    d.together();
  } else {
    d.unknown();
  }
}

constexpr Opcode kOpcodes[] = {{"tcgen05", decode_tensor}};

}  // namespace

std::span<const Opcode> tensor_memory_opcodes() { return kOpcodes; }

void check_tensor_loads(Context& c, const Instruction& i) {
  if (i.run == run_load || i.run == run_wait || c.mask == 0 || i.run == copy_local) return;
  const auto busy = [&](std::uint32_t place) {
    return place != 0 && c.warp.tensor_loads.contains(place);
  };
  if (std::ranges::none_of(i.at, busy)) return;
  c.report(Kind::in_flight, i, static_cast<std::uint32_t>(std::countr_zero(c.mask)), {},
           "it uses a register that a tcgen05.ld has not filled yet; tcgen05.wait::ld must come "
           "before");
}

void each_left_over(const Block& block,
                    const std::function<void(const Instruction&, std::uint32_t thread,
                                             const char* detail)>& visit) {
  const TensorMemory& memory = block.async.tensor;
  for (const auto& [thread, open] : memory.open)
    for (const TensorWork& work : open)
      visit(*work.instruction, thread, "the block ended before a tcgen05.commit followed");
  if (!memory.allocated.empty())
    visit(*memory.allocation, 0, "the block ended before tcgen05.dealloc gave its columns back");
}

}  // namespace halftone::simulator
