// SPDX-License-Identifier: Apache-2.0
// cp.async of single threads: PTX ISA 9.0, 9.7.9.25.3. Bytes arrive as late as the ISA allows, when
// a lane waits for them, and until then their place holds ones that nobody may touch.
#include <algorithm>

#include "access.hpp"
#include "async.hpp"
#include "decode.hpp"
#include "shared_target.hpp"

namespace halftone::simulator {

namespace {

Stretch stretch_of(const Context& c, std::uint64_t address, std::uint32_t bytes) {
  return {Touch::write, c.block.racing.get(), address, bytes, false};
}

/// The lanes of `from` whose bytes can be read. Of a ragged copy only those that are asked for must
/// be there; its address is aligned as a whole one's.
std::uint32_t check_sources(Context& c, const Instruction& i, const Copy& copy,
                            const Access& from) {
  Access whole = from;
  each_lane(from.mask, [&](std::uint32_t l) {
    if (copy.from_bytes[l] != i.bytes) whole.mask &= ~(1u << l);
  });
  Access ragged = from;
  ragged.mask &= ~whole.mask;
  resolve_in_space(c, i, whole);
  told(c, i, whole);
  std::uint32_t readable = whole.mask;
  each_lane(ragged.mask, [&](std::uint32_t l) {
    Access one = from;
    one.mask = 1u << l;
    one.bytes = copy.from_bytes[l];
    if (!check_global(c, i, l, one.address[l], one.bytes, i.bytes, false)) return;
    told(c, i, one);
    readable |= one.mask;
  });
  return readable;
}

/// cp.async.ca|cg.shared.global [to], [from], bytes{, from_bytes}
void run_copy(Context& c, const Instruction& i) {
  Access to;
  to.space = Space::shared;
  to.use = Use::write;
  to.bytes = i.bytes;
  gather_addresses(c, i, i.at[16], to);
  Access from;
  from.space = Space::global;
  from.bytes = i.bytes;
  from.counted = true;
  Instruction source = i;
  source.offset = i.more[0];
  source.flags &= ~kNarrowAddress;
  gather_addresses(c, source, i.at[17], from);
  const std::uint32_t* sizes = i.at[18] == kNone ? nullptr : c.plane(i.at[18]);
  Copy copy;
  copy.bytes = i.bytes;
  copy.instruction = &i;
  std::uint32_t none = 0;
  each_lane(c.mask, [&](std::uint32_t l) {
    if (sizes && sizes[l] > i.bytes)
      c.report(
          Kind::invalid, i, l, {},
          "it reads " + std::to_string(sizes[l]) + " bytes to copy " + std::to_string(i.bytes));
    std::uint32_t size = sizes ? std::min<std::uint32_t>(sizes[l], i.bytes) : i.bytes;
    if (i.variant == 1 && sizes) size = sizes[l] != 0 ? 0 : i.bytes;  // ignore-src is a predicate
    copy.from_bytes[l] = static_cast<std::uint8_t>(size);
    if (size == 0) none |= 1u << l;
  });
  from.mask &= ~none;
  resolve_in_space(c, i, to);
  const std::uint32_t readable = none | check_sources(c, i, copy, from);
  copy.open = to.mask & readable;
  each_lane(copy.open, [&](std::uint32_t l) {
    copy.to[l] = static_cast<std::uint32_t>(to.address[l]);
    copy.from[l] = from.address[l];
    std::memset(to.data[l], 0xff, i.bytes);
    if (c.launch.races)
      c.launch.races->detector().async_begin(c.launch.races->lanes(c, i, l),
                                             stretch_of(c, to.address[l], i.bytes));
  });
  copy.number = c.warp.copies_made++;
  if (c.launch.races) copy.issued = c.block.racing->clocks.now();
  if (copy.open != 0) c.warp.copies.push_back(copy);
}

/// cp.async.commit_group
void run_commit(Context& c, const Instruction&) {
  for (Copy& copy : c.warp.copies)
    each_lane(copy.open & c.mask, [&](std::uint32_t l) {
      copy.group[l] = c.warp.commits[l];
      copy.committed |= 1u << l;
      copy.open &= ~(1u << l);
    });
  each_lane(c.mask, [&](std::uint32_t l) { ++c.warp.commits[l]; });
}

/// `known_by`: the mbarrier whose waiters know of the copy; null: the lane itself.
void deliver(Context& c, const Copy& copy, std::uint32_t lane,
             const SharedTarget* known_by = nullptr) {
  std::byte* to = c.block.shared.data() + copy.to[lane];
  std::memset(to, 0, copy.bytes);
  if (copy.from_bytes[lane] > 0)
    if (Buffer* buffer = c.launch.memory.find(copy.from[lane]); buffer && buffer->live)
      std::memcpy(to, buffer->data.get() + (copy.from[lane] - buffer->address),
                  copy.from_bytes[lane]);
  if (!c.launch.races) return;
  const Lanes who = c.launch.races->lanes(c, *copy.instruction, lane);
  c.launch.races->detector().source_read_end(
      who, {Touch::read, nullptr, copy.from[lane], copy.from_bytes[lane]}, copy.issued);
  const Stretch stretch = stretch_of(c, copy.to[lane], copy.bytes);
  if (known_by)
    c.launch.races->detector().async_end(who, std::span(&stretch, 1), *known_by->block->racing,
                                         known_by->address);
  else
    c.launch.races->detector().async_end(who, stretch);
}

/// cp.async.wait_group n: all but the last n groups; wait_all: those not committed too.
void run_wait(Context& c, const Instruction& i) {
  for (Copy& copy : c.warp.copies) {
    each_lane(copy.committed & c.mask, [&](std::uint32_t l) {
      if (i.variant == 0 &&
          copy.group[l] + static_cast<std::uint32_t>(i.offset) >= c.warp.commits[l])
        return;
      deliver(c, copy, l);
      copy.committed &= ~(1u << l);
    });
    if (i.variant == 1)
      each_lane(copy.open & c.mask, [&](std::uint32_t l) {
        deliver(c, copy, l);
        copy.open &= ~(1u << l);
      });
  }
  std::erase_if(c.warp.copies, [](const Copy& copy) { return (copy.open | copy.committed) == 0; });
}

/// cp.async.mbarrier.arrive{.noinc}: an arrival that comes when the lane's copies so far are done.
void run_arrive_on(Context& c, const Instruction& i) {
  const auto addresses = addresses_at(c, i, 0);
  each_lane(c.mask, [&](std::uint32_t l) {
    const SharedTarget at = shared_target(c, addresses[l]);
    if (!check_shared(c, i, l, at, 8, 8)) return;
    Mbarrier* const m = find_mbarrier(c, i, l, *at.block, at.address);
    if (!m) return;
    if (i.variant == 0) ++m->pending;
    for (Copy& copy : c.warp.copies) copy.tracked |= (copy.open | copy.committed) & 1u << l;
    const auto run = [&launch = c.launch, &block = c.block, &warp = c.warp, at, l,
                      before = c.warp.copies_made] {
      Group nobody;
      Context later{warp.registers, 1u << l, warp, block, launch, nobody};
      for (Copy& copy : warp.copies) {
        if (copy.number >= before || ((copy.open | copy.committed) >> l & 1) == 0) continue;
        deliver(later, copy, l, &at);
        copy.open &= ~(1u << l);
        copy.committed &= ~(1u << l);
      }
      const auto mbarrier = at.block->async.mbarriers.find(at.address);
      if (mbarrier == at.block->async.mbarriers.end() || mbarrier->second.pending == 0) return;
      --mbarrier->second.pending;
      complete_phase(launch, *at.block, at.address);
    };
    at.block->async.jobs.push_back({run, &i, c.thread(l), at.address});
  });
}

void decode_cp(Decoder& d) {
  Instruction& i = d.instruction;
  if (d.has("bulk")) return decode_bulk(d);
  if (d.words.size() < 2 || d.words[1] != "async") d.unknown();
  if (d.has("mbarrier")) return decode_arrive_on(d);
  if (d.has("commit_group")) {
    i.run = run_commit;
    return;
  }
  if (d.has("wait_group") || d.has("wait_all")) {
    i.run = run_wait;
    i.variant = d.has("wait_all");
    if (i.variant == 0) i.offset = d.groups_left(0);
    return;
  }
  i.run = run_copy;
  const std::uint64_t bytes = d.number(2);
  if (bytes != 4 && bytes != 8 && bytes != 16)
    d.refuse("copies 4, 8 or 16 bytes, not " + std::to_string(bytes));
  if (d.has("cg") && bytes != 16) d.refuse("copies 16 bytes, not " + std::to_string(bytes));
  i.bytes = static_cast<std::uint8_t>(bytes);
  Instruction source;
  i.at[17] = d.address(d.operand(1), source);
  i.more.push_back(static_cast<std::uint32_t>(source.offset));
  i.at[16] = d.address(d.operand(0), i);
  i.at[18] = kNone;
  if (d.operands() > (d.has("L2::cache_hint") ? 4u : 3u)) {
    if (d.register_bytes(d.operand(3).name) == kPredicate) d.unknown();  // ignore-src
    const syntax::Operand& size = d.operand(3);
    if (size.kind == syntax::Operand::Kind::integer && size.bits > bytes)
      d.refuse("reads " + std::to_string(size.bits) + " bytes to copy " + std::to_string(bytes));
    i.at[18] = d.source(3, 4);
  }
}

constexpr Opcode kOpcodes[] = {{"cp", decode_cp}};

}  // namespace

std::span<const Opcode> async_opcodes() { return kOpcodes; }

void decode_arrive_on(Decoder& d) {
  d.instruction.run = run_arrive_on;
  d.instruction.variant = d.has("noinc");
  place_address(d, d.operand(0));
}

void check_copies_at_exit(Context& c, std::uint32_t lanes) {
  finish_bulk_stores(c, lanes);
  if (!c.launch.options.check) return;
  for (const Copy& copy : c.warp.copies)
    each_lane((copy.open | copy.committed) & lanes & ~copy.tracked, [&](std::uint32_t l) {
      c.report(Kind::unfinished, *copy.instruction, l, shared_place(c.launch, copy.to[l]),
               "the thread ended before the copy was waited for");
    });
}

}  // namespace halftone::simulator
