// SPDX-License-Identifier: Apache-2.0
#include "races.hpp"

#include "access.hpp"

namespace halftone::simulator {

namespace {

constexpr std::string_view kWords[] = {"a read of what another thread writes",
                                       "a write to what another thread reads", "two writes"};

std::string detail_of(const Conflict& c) {
  std::string text;
  switch (c.what) {
    case Conflict::What::race:
      text = std::string(kWords[static_cast<int>(c.order)]) + ", and nothing orders the two";
      break;
    case Conflict::What::in_flight:
      text = c.order == Order::write_after_read ? "the other operation may still read it"
                                                : "the other operation has not written it yet";
      break;
    case Conflict::What::missing_fence:
      text = "it was written without fence.proxy.async before this asynchronous access";
      break;
    case Conflict::What::owner_gone:
      return "the block whose shared memory it is, number " + std::to_string(c.other_block) +
             ", may have ended before: nothing orders the access and that end";
  }
  if (c.block != c.other_block)
    text += "; the other is of block number " + std::to_string(c.other_block);
  return text;
}

Scope scope_of(std::uint32_t flags) { return static_cast<Scope>(flags >> kScopeShift & 3); }

}  // namespace

Races::Races(Execution& launch)
    : launch_(launch),
      detector_(launch.kernel.smallest_access, [this](const Conflict& c) { report(c); }) {}

std::uint32_t Races::site(const Instruction& instruction) const {
  return static_cast<std::uint32_t>(&instruction - launch_.kernel.code.data());
}

Lanes Races::lanes(const Context& c, const Instruction& i) const {
  return {*c.block.racing, c.warp.index, c.mask, site(i)};
}

Lanes Races::lanes(const Context& c, const Instruction& i, std::uint32_t lane) const {
  return {*c.block.racing, c.warp.index, 1u << lane, site(i)};
}

void Races::block_begins(Block& block) {
  block.racing = detector_.block_begins(static_cast<std::uint32_t>(block.number), block.threads,
                                        static_cast<std::uint32_t>(block.shared.size()));
}

void Races::access(const Context& c, const Instruction& i, const Access& access,
                   bool (*same)(const void*, std::uint32_t, std::uint32_t)) {
  if (access.mask == 0 || (access.space != Space::shared && access.space != Space::global)) return;
  LaneAccess what;
  what.touch = access.use == Use::read ? Touch::read : Touch::write;
  what.owner = access.space == Space::shared ? access.owner->racing.get() : nullptr;
  what.addresses = access.address.data();
  what.bytes = access.bytes;
  what.strong = (i.flags & kStrong) != 0;
  what.scope = scope_of(i.flags);
  const std::pair<const Context*, const Instruction*> pair(&c, &i);
  what.same = same;
  what.context = &pair;
  const Lanes who{*c.block.racing, c.warp.index, access.mask, site(i)};
  detector_.access(who, what);
  if (!what.strong) return;
  Strength strength;
  strength.reads = access.use == Use::read || (access.use == Use::atomic && i.at[0] != kNone);
  strength.writes = access.use != Use::read;
  strength.acquire = (i.flags & kAcquire) != 0;
  strength.release = (i.flags & kRelease) != 0;
  detector_.synchronize(who, what, strength);
}

void Races::fence(const Context& c, const Instruction& i) {
  if (i.variant == 1) return detector_.proxy_fence(lanes(c, i));
  detector_.fence(lanes(c, i), scope_of(i.flags));
}

void Races::report(const Conflict& c) {
  const Instruction& i = launch_.kernel.code[c.site];
  Finding finding;
  finding.kind = c.what == Conflict::What::race         ? Kind::race
                 : c.what == Conflict::What::owner_gone ? Kind::out_of_bounds
                 : c.what == Conflict::What::in_flight  ? Kind::in_flight
                                                        : Kind::missing_fence;
  finding.kernel = launch_.kernel.name;
  finding.space = c.shared ? "shared" : "global";
  finding.offset = c.address;
  if (c.shared) {
    const Place place = shared_place(launch_, c.address);
    finding.buffer = place.buffer;
    finding.offset = place.offset;
  } else if (const Buffer* buffer = launch_.memory.find(c.address)) {
    finding.buffer = buffer->name;
    finding.offset = c.address - buffer->address;
  }
  set_lines(finding, launch_.kernel, i);
  finding.other_line = (*launch_.kernel.lines)[launch_.kernel.code[c.other_site].source].line;
  finding.block = position_in(c.block, launch_.grid);
  finding.thread = c.thread;
  finding.other_thread = c.other_thread;
  finding.detail = detail_of(c);
  launch_.findings.add(std::move(finding));
}

}  // namespace halftone::simulator
