// SPDX-License-Identifier: Apache-2.0
// Branches and barriers: PTX ISA 9.0, 9.7.12 and 9.7.13. What they do to groups of lanes is in
// scheduler.cpp; here they are decoded.
#include "decode.hpp"
#include "execute.hpp"

namespace halftone::simulator {

namespace {

void run_nothing(Context&, const Instruction&) {}

void decode_bra(Decoder& d) {
  d.instruction.flow = Flow::branch;
  d.instruction.target = d.label(d.operand(0).name);
}

void decode_brx(Decoder& d) {
  if (!d.has("idx")) d.unknown();
  d.instruction.flow = Flow::indexed;
  d.instruction.at[0] = d.source(0, 4);
}

void decode_leave(Decoder& d) {
  d.instruction.flow = Flow::leave;
  d.instruction.variant = d.words[0] == "exit";
}

enum : std::uint8_t { kSync, kArrive, kPopulation, kAnd, kOr };

/// bar.sync a{, b}; bar.arrive a, b; bar.red.op p, a{, b}, {!}c: at[0] the barrier, at[1] the
/// number of threads or kNone, at[2] the predicate, at[3] the result.
void decode_bar(Decoder& d) {
  Instruction& i = d.instruction;
  if (d.has("warp")) {  // bar.warp.sync mask
    i.flow = Flow::together;
    i.run = run_nothing;
    i.flags |= kAcquire | kRelease;
    i.at[19] = d.source(0, 4);
    i.variant = 1;
    return;
  }
  if (d.has("cluster")) return decode_cluster_barrier(d);
  i.flow = Flow::barrier;
  std::size_t first = 0;
  if (d.has("red")) {
    i.variant = d.has("popc") ? kPopulation : d.has("and") ? kAnd : kOr;
    i.at[3] = d.destination(0, i.variant == kPopulation ? 4 : kPredicate);
    (void)d.operand(2);  // the least of them that there are
    bool negated = false;
    i.at[2] = d.predicate(d.operands() - 1, negated);
    i.bytes = negated;
    first = 1;
  } else {
    i.variant = d.has("arrive") ? kArrive : kSync;
  }
  const std::size_t behind = d.operands() - (d.has("red") ? 1 : 0);
  i.at[0] = d.source(first, 4);
  i.at[1] = behind > first + 1 ? d.source(first + 1, 4) : kNone;
  // Without .aligned the lanes of a warp may arrive one by one.
  i.flags = d.words[0] == "bar" || d.has("aligned") ? 1 : 0;
}

/// membar and fence order the thread's own accesses; race detection listens.
void run_fence(Context& c, const Instruction& i) {
  if (c.launch.races) c.launch.races->fence(c, i);
}

void decode_fence(Decoder& d) {
  Instruction& i = d.instruction;
  i.run = run_fence;
  // fence.mbarrier_init makes a fresh mbarrier visible to the asynchronous proxy, too.
  i.variant = d.has("mbarrier_init") || (d.has("proxy") && d.words[2].starts_with("async")) ? 1 : 0;
  if (d.has("proxy") && i.variant == 0)
    i.run = run_nothing;  // alias, tensormap: nothing here is cached
  if (d.has("tensormap::generic") && d.has("acquire")) {  // [map], bytes
    (void)d.address(d.operand(0), i);
    (void)d.number(1);
  }
  i.flags |= scope_word(d, d.has("gl") ? Scope::device : Scope::system);
}

void decode_nothing(Decoder& d) {
  d.instruction.run = run_nothing;
  if (d.words[0] == "nanosleep") (void)d.source(0, 4);
  if (d.words[0] == "pmevent") (void)d.number(0);
}

void run_trap(Context& c, const Instruction& i) {
  each_lane(c.mask, [&](std::uint32_t l) { c.report(Kind::trap, i, l, {}); });
  c.launch.stopped = true;
}
void decode_trap(Decoder& d) { d.instruction.run = run_trap; }

constexpr Opcode kOpcodes[] = {
    {"bra", decode_bra},
    {"brx", decode_brx},
    {"ret", decode_leave},
    {"exit", decode_leave},
    {"bar", decode_bar},
    {"barrier", decode_bar},
    {"membar", decode_fence},
    {"fence", decode_fence},
    {"nanosleep", decode_nothing},
    {"pmevent", decode_nothing},
    {"trap", decode_trap},
    {"brkpt", decode_trap},
    {"griddepcontrol", decode_nothing},
};

}  // namespace

std::span<const Opcode> control_opcodes() { return kOpcodes; }

}  // namespace halftone::simulator
