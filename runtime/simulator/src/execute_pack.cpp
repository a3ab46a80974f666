// SPDX-License-Identifier: Apache-2.0
// cvt.pack, and cvt.rs to pairs of 16-bit floats: PTX ISA 9.0, 9.7.9.22 and 9.7.9.21. How the four
// operands of cvt.rs to e4m3x4 and its kin share the random bits is stated by a figure alone, so
// that those are refused.
#include <algorithm>

#include "decode.hpp"
#include "execute.hpp"
#include "formats.hpp"

namespace halftone::simulator {

namespace {

/// Bits of Instruction::flags.
enum : std::uint32_t { kFinite = 1, kRelu = 2 };

template <int kBits, bool kSigned>
std::uint32_t clamped(std::int32_t x) {
  constexpr std::int32_t kLeast = kSigned ? -(1 << (kBits - 1)) : 0;
  constexpr std::int32_t kMost = kSigned ? (1 << (kBits - 1)) - 1 : (1 << kBits) - 1;
  return static_cast<std::uint32_t>(std::clamp(x, kLeast, kMost)) & ((1u << kBits) - 1);
}

/// From the top: the low bits of c where there is one, then a and b, each clamped to kBits bits.
template <int kBits, bool kSigned>
void run_pack(Context& c, const Instruction& i) {
  std::uint32_t* to = c.plane(i.at[0]);
  const auto* upper = c.plane<std::int32_t>(i.at[1]);
  const auto* lower = c.plane<std::int32_t>(i.at[2]);
  const std::uint32_t* rest = i.at[3] == kNone ? nullptr : c.plane(i.at[3]);
  each_lane(c.mask, [&](std::uint32_t l) {
    std::uint32_t packed =
        clamped<kBits, kSigned>(upper[l]) << kBits | clamped<kBits, kSigned>(lower[l]);
    if constexpr (kBits < 16) packed |= rest[l] << 2 * kBits;
    to[l] = packed;
  });
}

/// The upper half of the random bits is the first operand's; f16 takes 13 bits of each half, as
/// many as it discards of a normal number.
template <NumberFormat kTo>
void run_stochastic(Context& c, const Instruction& i) {
  constexpr int kCount = kTo == NumberFormat::f16 ? 13 : 16;
  constexpr std::uint32_t kMask = (1u << kCount) - 1;
  const Encoding how{Rounding::stochastic, (i.flags & kFinite) != 0, (i.flags & kRelu) != 0};
  std::uint32_t* to = c.plane(i.at[0]);
  const auto* upper = c.plane<float>(i.at[1]);
  const auto* lower = c.plane<float>(i.at[2]);
  const std::uint32_t* random = c.plane(i.at[3]);
  each_lane(c.mask, [&](std::uint32_t l) {
    to[l] = encode(kTo, upper[l], how, {random[l] >> 16 & kMask, kCount}) << 16 |
            encode(kTo, lower[l], how, {random[l] & kMask, kCount});
  });
}

template <int kBits, bool kSigned>
void set_pack(Decoder& d) {
  Instruction& i = d.instruction;
  if (d.operands() != (kBits < 16 ? 4u : 3u)) d.unknown();
  i.at[3] = kBits < 16 ? d.source(3, 4) : kNone;
  i.run = run_pack<kBits, kSigned>;
}

}  // namespace

void decode_pack(Decoder& d) {
  Instruction& i = d.instruction;
  i.at[0] = d.destination(std::size_t{0});
  i.at[1] = d.source(1, 4);
  i.at[2] = d.source(2, 4);
  const std::string_view to = d.words.at(3);
  if (to == "u16") return set_pack<16, false>(d);
  if (to == "s16") return set_pack<16, true>(d);
  if (to == "u8") return set_pack<8, false>(d);
  if (to == "s8") return set_pack<8, true>(d);
  if (to == "u4") return set_pack<4, false>(d);
  if (to == "s4") return set_pack<4, true>(d);
  if (to == "u2") return set_pack<2, false>(d);
  if (to == "s2") return set_pack<2, true>(d);
  d.unknown();
}

void decode_stochastic(Decoder& d) {
  Instruction& i = d.instruction;
  if (d.operands() != 4) d.unknown();
  i.flags = (d.has("satfinite") ? +kFinite : 0u) | (d.has("relu") ? +kRelu : 0u);
  i.at[0] = d.destination(std::size_t{0});
  for (std::size_t n = 1; n < 4; ++n) i.at[n] = d.source(n, 4);
  i.run = d.has("bf16x2") ? run_stochastic<NumberFormat::bf16> : run_stochastic<NumberFormat::f16>;
}

}  // namespace halftone::simulator
