// SPDX-License-Identifier: Apache-2.0
// Exchange among the lanes of a warp: PTX ISA 9.0, 9.7.9.5 (shfl), 9.7.13.5 to 9.7.13.11. The
// scheduler has brought the lanes of the member mask, at[19], together.
#include <algorithm>

#include "lanes.hpp"

namespace halftone::simulator {

namespace {

enum : std::uint8_t { kUp, kDown, kButterfly, kIndex };

/// shfl.sync.mode.b32 d|p, a, b, c, members
void run_shfl(Context& c, const Instruction& i) {
  std::uint32_t* to = c.plane(i.at[0]);
  const std::uint32_t* from = c.plane(i.at[2]);
  const std::uint32_t* by = c.plane(i.at[3]);
  const std::uint32_t* clamps = c.plane(i.at[4]);
  std::array<std::uint32_t, 32> out{};
  std::uint32_t inside = 0;
  each_lane(c.mask, [&](std::uint32_t l) {
    const std::uint32_t b = by[l] & 31, clamp = clamps[l] & 31, segment = clamps[l] >> 8 & 31;
    const std::uint32_t highest = (l & segment) | (clamp & ~segment), lowest = l & segment;
    std::uint32_t source = 0;
    bool valid = false;
    switch (i.variant) {
      case kUp:
        source = l - b;
        valid = static_cast<std::int32_t>(source) >= static_cast<std::int32_t>(highest);
        break;
      case kDown:
        source = l + b;
        valid = source <= highest;
        break;
      case kButterfly:
        source = l ^ b;
        valid = source <= highest;
        break;
      default:
        source = lowest | (b & ~segment);
        valid = source <= highest;
        break;
    }
    if (!valid) source = l;
    inside |= static_cast<std::uint32_t>(valid) << l;
    if ((c.mask >> source & 1) == 0)
      c.report(Kind::inactive_lane, i, l, {},
               "lane " + std::to_string(source) + ", whose value is asked for, takes no part");
    out[l] = from[source];
  });
  each_lane(c.mask, [&](std::uint32_t l) { to[l] = out[l]; });
  if (i.at[1] != kNone) {
    std::uint32_t& p = c.predicate(i.at[1]);
    p = (p & ~c.mask) | (inside & c.mask);
  }
}

void decode_together(Decoder& d, std::size_t members) {
  d.instruction.flow = Flow::together;
  d.instruction.at[19] = d.source(members, 4);
}

void decode_shfl(Decoder& d) {
  Instruction& i = d.instruction;
  if (!d.has("sync")) d.unknown();
  i.run = run_shfl;
  i.variant = d.has("up") ? kUp : d.has("down") ? kDown : d.has("bfly") ? kButterfly : kIndex;
  i.at[0] = d.destination(0, 4);
  i.at[1] = d.second_destination();
  for (std::size_t n = 1; n < 4; ++n) i.at[1 + n] = d.source(n, 4);
  decode_together(d, 4);
}

enum : std::uint8_t { kAll, kAny, kUniform, kBallot };

/// vote.sync.mode.pred p, {!}a, members; vote.sync.ballot.b32 d, {!}a, members
void run_vote(Context& c, const Instruction& i) {
  std::uint32_t votes = c.predicate(i.at[1]);
  if (i.flags & 1) votes = ~votes;
  votes &= c.mask;
  if (i.variant == kBallot) {
    std::uint32_t* to = c.plane(i.at[0]);
    each_lane(c.mask, [&](std::uint32_t l) { to[l] = votes; });
    return;
  }
  const bool result = i.variant == kAll   ? votes == c.mask
                      : i.variant == kAny ? votes != 0
                                          : votes == 0 || votes == c.mask;
  std::uint32_t& to = c.predicate(i.at[0]);
  to = result ? to | c.mask : to & ~c.mask;
}

void decode_vote(Decoder& d) {
  Instruction& i = d.instruction;
  if (!d.has("sync")) d.unknown();
  i.run = run_vote;
  i.variant = d.has("all") ? kAll : d.has("any") ? kAny : d.has("uni") ? kUniform : kBallot;
  i.at[0] = d.destination(0, i.variant == kBallot ? 4 : kPredicate);
  bool negated = false;
  i.at[1] = d.predicate(1, negated);
  i.flags = negated;
  decode_together(d, 2);
}

/// match.any.sync.type d, a, members; match.all.sync.type d|p, a, members
template <class T>
void run_match(Context& c, const Instruction& i) {
  const T* from = c.plane<T>(i.at[2]);
  std::uint32_t* to = c.plane(i.at[0]);
  std::array<std::uint32_t, 32> out{};
  each_lane(c.mask, [&](std::uint32_t l) {
    each_lane(c.mask, [&](std::uint32_t k) {
      out[l] |= static_cast<std::uint32_t>(from[k] == from[l]) << k;
    });
  });
  bool all = true;
  each_lane(c.mask, [&](std::uint32_t l) { all = all && out[l] == c.mask; });
  each_lane(c.mask, [&](std::uint32_t l) { to[l] = i.variant == 0 ? out[l] : all ? c.mask : 0; });
  if (i.at[1] != kNone) {
    std::uint32_t& p = c.predicate(i.at[1]);
    p = all ? p | c.mask : p & ~c.mask;
  }
}

void decode_match(Decoder& d) {
  Instruction& i = d.instruction;
  const std::uint8_t bytes = bytes_of(d.type());
  const bool wide = bytes == 8;
  i.run = wide ? run_match<std::uint64_t> : run_match<std::uint32_t>;
  i.variant = d.has("all");
  i.at[0] = d.destination(0, 4);
  i.at[1] = i.variant == 0 ? kNone : d.second_destination();
  i.at[2] = d.source(1, bytes);
  decode_together(d, 2);
}

enum : std::uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor };

/// redux.sync.op.type d, a, members
template <class T>
void run_redux(Context& c, const Instruction& i) {
  const std::uint32_t* from = c.plane(i.at[1]);
  bool first = true;
  T sum{};
  each_lane(c.mask, [&](std::uint32_t l) {
    const T x = get<T>(from[l]);
    if (first) {
      sum = x;
    } else if (i.variant == kAdd) {
      sum = static_cast<T>(static_cast<std::uint32_t>(sum) + static_cast<std::uint32_t>(x));
    } else if (i.variant == kMin) {
      sum = std::min(sum, x);
    } else if (i.variant == kMax) {
      sum = std::max(sum, x);
    } else if (i.variant == kAnd) {
      sum = static_cast<T>(sum & x);
    } else {
      sum = static_cast<T>(i.variant == kOr ? sum | x : sum ^ x);
    }
    first = false;
  });
  std::uint32_t* to = c.plane(i.at[0]);
  each_lane(c.mask, [&](std::uint32_t l) { to[l] = put(sum); });
}

/// Bits of Instruction::flags.
enum : std::uint32_t { kAbsolute = 1, kNan = 2 };

/// redux.sync.min|max{.abs}{.NaN}.f32: -0 is less than +0; NaN counts with .NaN, else where there
/// is nothing else.
void run_redux_float(Context& c, const Instruction& i) {
  const std::uint32_t* from = c.plane(i.at[1]);
  // Order of the numbers as order of integers; the mapping is its own inverse.
  const auto ranked = [](std::uint32_t bits) { return bits >> 31 ? bits ^ 0x7fffffffu : bits; };
  bool any_nan = false, any = false;
  std::int32_t best = 0;
  each_lane(c.mask, [&](std::uint32_t l) {
    const std::uint32_t bits = i.flags & kAbsolute ? from[l] & 0x7fffffffu : from[l];
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    any_nan |= nan;
    if (nan) return;
    const auto x = static_cast<std::int32_t>(ranked(bits));
    best = !any ? x : i.variant == kMin ? std::min(best, x) : std::max(best, x);
    any = true;
  });
  const bool nan = !any || (any_nan && (i.flags & kNan) != 0);
  const std::uint32_t result = nan ? 0x7fffffffu : ranked(static_cast<std::uint32_t>(best));
  std::uint32_t* to = c.plane(i.at[0]);
  each_lane(c.mask, [&](std::uint32_t l) { to[l] = result; });
}

void decode_redux(Decoder& d) {
  Instruction& i = d.instruction;
  constexpr std::string_view kWords[] = {"add", "min", "max", "and", "or", "xor"};
  for (std::uint8_t n = 0; n < 6; ++n)
    if (d.words[2] == kWords[n]) i.variant = n;
  i.flags = (d.has("abs") ? +kAbsolute : 0u) | (d.has("NaN") ? +kNan : 0u);
  i.run = d.type() == Type::f32   ? run_redux_float
          : d.type() == Type::s32 ? run_redux<std::int32_t>
                                  : run_redux<std::uint32_t>;
  i.at[0] = d.destination(0, 4);
  i.at[1] = d.source(1, 4);
  decode_together(d, 2);
}

/// elect.sync d|p, members: the lowest lane.
void run_elect(Context& c, const Instruction& i) {
  const auto leader = static_cast<std::uint32_t>(std::countr_zero(c.mask));
  std::uint32_t* to = c.plane(i.at[0]);
  each_lane(c.mask, [&](std::uint32_t l) { to[l] = leader; });
  std::uint32_t& p = c.predicate(i.at[1]);
  p = (p & ~c.mask) | (1u << leader);
}

void decode_elect(Decoder& d) {
  d.instruction.run = run_elect;
  d.instruction.at[0] = d.destination(0, 4);
  d.instruction.at[1] = d.second_destination();
  if (d.instruction.at[1] == kNone) d.refuse("needs a predicate behind its result, as in %r0|%p0");
  decode_together(d, 1);
}

constexpr Opcode kOpcodes[] = {{"shfl", decode_shfl},
                               {"vote", decode_vote},
                               {"match", decode_match},
                               {"redux", decode_redux},
                               {"elect", decode_elect}};

}  // namespace

std::span<const Opcode> warp_opcodes() { return kOpcodes; }

}  // namespace halftone::simulator
