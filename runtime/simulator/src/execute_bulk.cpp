// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk, cp.reduce.async.bulk and their groups: PTX ISA 9.0, 9.7.9.25.4 and 9.7.9.25.5.
#include <bit>
#include <optional>

#include "bulk_copy.hpp"

namespace halftone::simulator {

namespace {

// more: first operand's address, second's, the mbarrier's (loads). at[0]: bytes, at[1]: ranks of a
// multicast or kNone.
enum : std::uint32_t { kFirst = 0, kSecond = 3, kMbarrier = 6 };

bool check_size(Context& c, const Instruction& i, std::uint32_t lane, std::uint32_t bytes) {
  if (bytes % 16 == 0) return true;
  c.report(Kind::misaligned, i, lane, {},
           "a bulk copy is a multiple of 16 bytes, not " + std::to_string(bytes));
  return false;
}

bool check_alignment(Context& c, const Instruction& i, std::uint32_t lane, std::uint64_t global) {
  if (global % 16 == 0) return true;
  const Buffer* const buffer = c.launch.memory.find(global);
  c.report(Kind::misaligned, i, lane,
           {"global", buffer ? std::string_view(buffer->name) : std::string_view(),
            buffer ? global - buffer->address : global},
           "the address must be a multiple of 16");
  return false;
}

/// Global to the shared memory of one block, or of all blocks whose ranks a mask names, at the same
/// address in each.
void run_load(Context& c, const Instruction& i) {
  const auto to = addresses_at(c, i, kFirst), from = addresses_at(c, i, kSecond),
             mbarrier = addresses_at(c, i, kMbarrier);
  each_lane(c.mask, [&](std::uint32_t l) {
    BulkLoad load;
    load.bytes = c.plane(i.at[0])[l];
    if (!check_size(c, i, l, load.bytes) || !check_alignment(c, i, l, from[l])) return;
    if (load.bytes > 0) load.pieces.push_back({from[l], 0, load.bytes});
    const std::uint32_t ranks = i.at[1] == kNone ? 0 : c.plane(i.at[1])[l] & 0xffff;
    const auto start = [&](SharedTarget target, SharedTarget object) {
      load.to = target;
      load.mbarrier = object;
      if (check_shared(c, i, l, target, load.bytes, 16)) start_load(c, i, l, load);
    };
    if (i.at[1] == kNone) return start(shared_target(c, to[l]), shared_target(c, mbarrier[l]));
    each_lane(ranks, [&](std::uint32_t rank) {
      Block* const block = rank < c.block.cluster.size() ? c.block.cluster[rank] : nullptr;
      start({block, shared_target(c, to[l]).address},
            {block, shared_target(c, mbarrier[l]).address});
    });
  });
}

/// Shared memory of the block to that of another of the cluster.
void run_between_blocks(Context& c, const Instruction& i) {
  const auto to = addresses_at(c, i, kFirst), from = addresses_at(c, i, kSecond),
             mbarrier = addresses_at(c, i, kMbarrier);
  each_lane(c.mask, [&](std::uint32_t l) {
    const std::uint32_t bytes = c.plane(i.at[0])[l];
    const SharedTarget target = shared_target(c, to[l]), source = shared_target(c, from[l]),
                       object = shared_target(c, mbarrier[l]);
    if (!check_size(c, i, l, bytes) || !check_shared(c, i, l, target, bytes, 16) ||
        !check_shared(c, i, l, source, bytes, 16))
      return;
    if (!check_shared(c, i, l, object, 8, 8) ||
        !find_mbarrier(c, i, l, *object.block, object.address))
      return;
    check_set_shared(c, i, l, source, bytes, false);
    Execution& launch = c.launch;
    const std::array touched{
        Stretch{Touch::read, source.block->racing.get(), source.address, bytes},
        Stretch{Touch::write, target.block->racing.get(), target.address, bytes}};
    std::optional<Lanes> who;
    if (launch.races) {
      who.emplace(launch.races->lanes(c, i, l));
      for (const Stretch& stretch : touched) launch.races->detector().async_begin(*who, stretch);
    }
    poison(target, bytes);
    object.block->async.jobs.push_back(
        {[&launch, target, source, object, bytes, touched, who] {
           std::memmove(target.block->shared.data() + target.address,
                        source.block->shared.data() + source.address, bytes);
           set_bits(target.block->shared_set, target.address, bytes, true);
           if (who)
             launch.races->detector().async_end(*who, touched, *object.block->racing,
                                                object.address);
           const auto m = object.block->async.mbarriers.find(object.address);
           if (m == object.block->async.mbarriers.end()) return;
           m->second.bytes -= bytes;
           complete_phase(launch, *object.block, object.address);
         },
         &i, c.thread(l), object.address});
  });
}

void run_store(Context& c, const Instruction& i) {
  const auto to = addresses_at(c, i, kFirst), from = addresses_at(c, i, kSecond);
  each_lane(c.mask, [&](std::uint32_t l) {
    BulkWrite write;
    write.from = shared_target(c, from[l]);
    write.bytes = c.plane(i.at[0])[l];
    write.operation = static_cast<ReduceOperation>(i.variant);
    write.type = static_cast<Type>(i.width);
    if (!check_size(c, i, l, write.bytes) || !check_alignment(c, i, l, to[l])) return;
    if (!check_shared(c, i, l, write.from, write.bytes, 16)) return;
    if (write.bytes > 0) write.pieces.push_back({to[l], 0, write.bytes});
    start_store(c, i, l, std::move(write));
  });
}

void run_commit(Context& c, const Instruction&) {
  for (BulkStore& store : c.warp.bulk_stores) {
    if (store.committed || (c.mask >> store.lane & 1) == 0) continue;
    store.committed = true;
    store.group = c.warp.bulk_commits[store.lane];
  }
  each_lane(c.mask, [&](std::uint32_t l) { ++c.warp.bulk_commits[l]; });
}

/// All groups but the last `offset`; variant 1: .read, which waits for the sources only.
void run_wait(Context& c, const Instruction& i) {
  std::erase_if(c.warp.bulk_stores, [&](BulkStore& store) {
    if (!store.committed || (c.mask >> store.lane & 1) == 0) return false;
    if (store.group + static_cast<std::uint32_t>(i.offset) >= c.warp.bulk_commits[store.lane])
      return false;
    if (!store.was_read) store.read();
    store.was_read = true;
    if (i.variant == 1) return false;
    store.write();
    return true;
  });
}

void run_nothing(Context&, const Instruction&) {}

void decode_groups(Decoder& d) {
  Instruction& i = d.instruction;
  i.run = d.has("commit_group") ? run_commit : run_wait;
  if (d.has("commit_group")) return;
  i.variant = d.has("read");
  i.offset = d.groups_left(0);
}

}  // namespace

void decode_bulk(Decoder& d) {
  Instruction& i = d.instruction;
  if (d.has_any({"commit_group", "wait_group"})) return decode_groups(d);
  if (d.has("prefetch")) {
    i.run = run_nothing;
    if (d.has("tensor")) return place_box(d, d.operand(0));
    place_address(d, d.operand(0));
    (void)d.source(1, 4);
    return;
  }
  if (d.has_any({"cp_mask", "ignore_oob"})) d.unknown();
  if (d.has("tensor")) return decode_tensor_copy(d);
  const bool reduces = d.words[1] == "reduce";
  place_address(d, d.operand(0));
  place_address(d, d.operand(1));
  i.at[0] = d.source(2, 4);
  i.at[1] = kNone;
  if (d.has("bulk_group")) {
    i.run = run_store;
    if (reduces) i.variant = static_cast<std::uint8_t>(reduce_word(d));
    i.width = static_cast<std::uint8_t>(d.type());
    std::byte scratch[16] = {};
    if (!reduce_bytes(static_cast<ReduceOperation>(i.variant), d.type(), scratch, scratch, 16))
      d.unknown();
    return;
  }
  if (reduces) d.unknown();
  place_address(d, d.operand(3));
  // The destination is named first, then the source.
  const bool between = d.words[3].starts_with("shared") && d.words[4].starts_with("shared");
  i.run = between ? run_between_blocks : run_load;
  if (d.has("multicast::cluster")) i.at[1] = d.source(4, 2);
}

}  // namespace halftone::simulator
