// SPDX-License-Identifier: Apache-2.0
// cvt.pack, and cvt.rs to two and to four floats: PTX ISA 9.0, 9.7.9.22 and 9.7.9.21.
#include <algorithm>
#include <array>

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

std::uint32_t reversed(std::uint32_t half) {
  std::uint32_t result = 0;
  for (int bit = 0; bit < 16; ++bit) result |= (half >> bit & 1) << (15 - bit);
  return result;
}

/// The 16 random bits of each of four operands. PTX ISA states which half, or which bytes of both
/// halves, the first and the last two share, and ptxas's expansion into two instructions agrees;
/// that the first of two reads them in reverse was measured on B200 (docs/decisions/0015).
std::array<std::uint32_t, 4> shared_bits(std::uint32_t random, bool in_bytes) {
  const std::uint32_t first =
      in_bytes ? (random >> 16 & 0xff00) | (random >> 8 & 0xff) : random >> 16;
  const std::uint32_t last = in_bytes ? (random >> 8 & 0xff00) | (random & 0xff) : random & 0xffff;
  return {reversed(first), first, reversed(last), last};
}

/// The first operand lies on top.
template <NumberFormat kTo>
void run_stochastic_four(Context& c, const Instruction& i) {
  constexpr bool kFour = kTo == NumberFormat::e2m1;
  const Encoding how{Rounding::stochastic, true, (i.flags & kRelu) != 0};
  std::uint32_t* to = c.plane(i.at[0]);
  const std::uint32_t* random = c.plane(i.at[5]);
  each_lane(c.mask, [&](std::uint32_t l) {
    const std::array<std::uint32_t, 4> bits = shared_bits(random[l], kFour);
    std::uint32_t packed = 0;
    for (std::size_t n = 0; n < 4; ++n)
      packed = packed << (kFour ? 4 : 8) |
               encode(kTo, c.plane<float>(i.at[1 + n])[l], how, {bits[n], 16});
    to[l] = packed;
  });
}

void decode_stochastic_four(Decoder& d) {
  Instruction& i = d.instruction;
  i.at[0] = d.destination(0, d.has("e2m1x4") ? 2 : 4);
  const std::span<const syntax::Operand> from = d.list(1, 4);
  for (std::size_t n = 0; n < 4; ++n) i.at[1 + n] = d.source(from[n], 4);
  i.at[5] = d.source(2, 4);
  i.run = d.has("e4m3x4")   ? run_stochastic_four<NumberFormat::e4m3>
          : d.has("e5m2x4") ? run_stochastic_four<NumberFormat::e5m2>
          : d.has("e2m3x4") ? run_stochastic_four<NumberFormat::e2m3>
          : d.has("e3m2x4") ? run_stochastic_four<NumberFormat::e3m2>
                            : run_stochastic_four<NumberFormat::e2m1>;
}

template <int kBits, bool kSigned>
void set_pack(Decoder& d) {
  Instruction& i = d.instruction;
  i.at[3] = kBits < 16 ? d.source(3, 4) : kNone;
  i.run = run_pack<kBits, kSigned>;
}

}  // namespace

void decode_pack(Decoder& d) {
  Instruction& i = d.instruction;
  i.at[0] = d.destination(0, 4);
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
  i.flags = (d.has("satfinite") ? +kFinite : 0u) | (d.has("relu") ? +kRelu : 0u);
  if (!d.has_any({"f16x2", "bf16x2"})) return decode_stochastic_four(d);
  i.at[0] = d.destination(0, 4);
  for (std::size_t n = 1; n < 4; ++n) i.at[n] = d.source(n, 4);
  i.run = d.has("bf16x2") ? run_stochastic<NumberFormat::bf16> : run_stochastic<NumberFormat::f16>;
}

}  // namespace halftone::simulator
