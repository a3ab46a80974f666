// SPDX-License-Identifier: Apache-2.0
// cvt.rs: the chosen neighbour against the distances in the list of values, the share of the random
// bits against what hardware did; cvt.pack against the ISA, bit by bit.
#include <doctest/doctest.h>

#include <bit>
#include <cstdio>

#include "opcode_table.hpp"
#include "rounded_float.hpp"

using namespace halftone::tests;

namespace {

using U = std::uint32_t;

/// PTX ISA 9.0, 9.7.9.21: the random bits are added to the discarded ones, and the carry rounds
/// away from zero. In the list of values: floor(2^bits * distance from the value below, in steps).
template <NumberFormat k, int kBits>
U random_code(float x, U random, bool finite, bool relu) {
  const Definition& d = *Listed<k>::get().definition;
  const std::vector<double>& values = Listed<k>::get().values;
  if (x != x) return d.nan ? d.nan : d.values - 1;
  if (relu && std::signbit(x)) return 0;
  const U sign = std::signbit(x) ? sign_of(d) : 0;
  const double magnitude = std::fabs(static_cast<double>(x));
  const double step = values.back() - values[values.size() - 2];
  if (magnitude >= values.back() + step) return sign | (finite ? d.values - 1 : d.values);
  const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
  const double low = *(above - 1), next = above == values.end() ? low + step : *above;
  const double discarded = std::floor(std::ldexp((magnitude - low) / (next - low), kBits));
  const bool away = discarded + (random & ((1u << kBits) - 1)) >= std::ldexp(1.0, kBits);
  const auto code = static_cast<U>(above - 1 - values.begin()) + (away ? 1 : 0);
  return sign | (finite && code == d.values ? code - 1 : code);
}
template <NumberFormat k, int kBits, bool kFinite, bool kRelu, class R>
R random_pair(float a, float b, U random) {
  return {random_code<k, kBits>(a, random >> 16, kFinite, kRelu) << 16 |
          random_code<k, kBits>(b, random, kFinite, kRelu)};
}

/// Which bit of the register each of an operand's 16 random bits is, the highest first: by the kind
/// of sharing (bytes; of e2m1, half bytes), then by operand. Sources: docs/decisions/0015.
constexpr int kBitOf[2][4][16] = {{{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
                                   {31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16},
                                   {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                   {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
                                  {{8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31},
                                   {31, 30, 29, 28, 27, 26, 25, 24, 15, 14, 13, 12, 11, 10, 9, 8},
                                   {0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23},
                                   {23, 22, 21, 20, 19, 18, 17, 16, 7, 6, 5, 4, 3, 2, 1, 0}}};
U random_of(U random, bool of_four_bits, int operand) {
  U bits = 0;
  for (const int bit : kBitOf[of_four_bits][operand]) bits = bits << 1 | (random >> bit & 1);
  return bits;
}
template <NumberFormat k, bool kRelu>
U random_four(float a, float b, float e, float f, U random) {
  constexpr bool kFour = k == NumberFormat::e2m1;
  U packed = 0;
  int operand = 0;
  for (const float x : {a, b, e, f})
    packed = packed << (kFour ? 4 : 8) |
             random_code<k, 16>(x, random_of(random, kFour, operand++), true, kRelu);
  return packed;
}
/// From 2^-7 to 2, where every narrow format has neighbours to choose from.
float near_one(U a) { return of_bits<float>((a & 0x83ffffffu) + 0x3c000000u); }

template <NumberFormat k, class R>
void add_random_four(OpcodeRows& rows, const std::string& name) {
  rows.push_back(row(
      "cvt.rs.satfinite." + name + ".f32 %d, {%a, %b, %b, %a}, %c;",
      +[](float a, float b, U random) {
        return static_cast<R>(random_four<k, false>(a, b, b, a, random));
      }));
  rows.push_back(row(
      "cvt.rs.relu.satfinite." + name + ".f32 %d, {%a, %b, %a, %b}, %c;",
      +[](float a, float b, U random) {
        return static_cast<R>(random_four<k, true>(a, b, a, b, random));
      }));
  rows.push_back(row(
      ".reg .b32 %x, %y; and.b32 %x, %a, 0x83ffffff; add.u32 %x, %x, 0x3c000000; "
      "and.b32 %y, %b, 0x83ffffff; add.u32 %y, %y, 0x3c000000; cvt.rs.satfinite." +
          name + ".f32 %d, {%x, %x, %y, %y}, %c;",
      +[](U a, U b, U random) {
        const float x = near_one(a), y = near_one(b);
        return static_cast<R>(random_four<k, false>(x, x, y, y, random));
      }));
}

/// Around the subnormals of f16, from 2^-25 to 2^-10, which the telling values hardly meet.
float small_number(U a, U b) {
  return of_bits<float>(((a * 0x9e3779b1u + b) & 0x87ffffffu) + (102u << 23));
}

/// PTX ISA 9.0, 9.7.9.22, bit by bit.
template <int kBits, bool kSigned>
U packed(std::int32_t a, std::int32_t b, U c) {
  const std::int64_t least = kSigned ? -(std::int64_t{1} << (kBits - 1)) : 0;
  const std::int64_t most = (std::int64_t{1} << (kSigned ? kBits - 1 : kBits)) - 1;
  const std::int64_t upper = a < least ? least : a > most ? most : a;
  const std::int64_t lower = b < least ? least : b > most ? most : b;
  U result = 0;
  for (int bit = 0; bit < 32; ++bit) {
    const std::int64_t from = bit < kBits ? lower : bit < 2 * kBits ? upper : c;
    const int place = bit < kBits ? bit : bit < 2 * kBits ? bit - kBits : bit - 2 * kBits;
    result |= static_cast<U>(from >> place & 1) << bit;
  }
  return result;
}

OpcodeRows random_rows() {
  using N = NumberFormat;
  OpcodeRows rows;
  rows.push_back(row("cvt.rs.f16x2.f32", random_pair<N::f16, 13, false, false, F16Pair>));
  rows.push_back(row("cvt.rs.relu.f16x2.f32", random_pair<N::f16, 13, false, true, F16Pair>));
  rows.push_back(row("cvt.rs.satfinite.f16x2.f32", random_pair<N::f16, 13, true, false, F16Pair>));
  rows.push_back(row("cvt.rs.bf16x2.f32", random_pair<N::bf16, 16, false, false, Bf16Pair>));
  rows.push_back(
      row("cvt.rs.relu.satfinite.bf16x2.f32", random_pair<N::bf16, 16, true, true, Bf16Pair>));
  const std::string small = " %x, %a, 0x9e3779b1, %b; and.b32 %x, %x, 0x87ffffff; ";
  rows.push_back(row(
      ".reg .b32 %x; mad.lo.u32" + small +
          "add.u32 %x, %x, 0x33000000; cvt.rs.f16x2.f32 %d, %x, %x, %c;",
      +[](U a, U b, U random) {
        const float x = small_number(a, b);
        return random_pair<N::f16, 13, false, false, F16Pair>(x, x, random);
      }));
  add_random_four<N::e4m3, U>(rows, "e4m3x4");
  add_random_four<N::e5m2, U>(rows, "e5m2x4");
  add_random_four<N::e2m3, U>(rows, "e2m3x4");
  add_random_four<N::e3m2, U>(rows, "e3m2x4");
  add_random_four<N::e2m1, std::uint16_t>(rows, "e2m1x4");
  return rows;
}

/// What was read out of a B200 by the carry of each operand (docs/decisions/0015).
struct Measured {
  U random;
  bool of_four_bits;
  U bits[4];
};
constexpr Measured kMeasured[] = {
    {0x12345678, false, {0x2c48, 0x1234, 0x1e6a, 0x5678}},
    {0x12345678, true, {0x6a48, 0x1256, 0x1e2c, 0x3478}},
    {1u << 31, false, {0x0001, 0x8000, 0, 0}},
    {1u << 31, true, {0x0001, 0x8000, 0, 0}},
    {1u << 8, false, {0, 0, 0x0080, 0x0100}},
    {1u << 8, true, {0x8000, 0x0001, 0, 0}},
};

/// Each operand lies between 1 and the next value, as far from that as its random bits just reach,
/// or 2^-16 of the step further.
OpcodeRow measured_row(const Measured& m, bool reaches) {
  const U one = m.of_four_bits ? 2 : 0x38, bits = m.of_four_bits ? 4 : 8;
  const double step = m.of_four_bits ? 0.5 : 0.125;
  std::string operands;
  U wanted = 0;
  for (const U random : m.bits) {
    const double part = (65536.0 - random - (reaches ? 0 : 1)) / 65536;
    char text[16];
    std::snprintf(text, sizeof text, "0f%08X",
                  std::bit_cast<U>(static_cast<float>(1 + step * part)));
    operands += (operands.empty() ? "" : ", ") + std::string(text);
    wanted = wanted << bits | (one + (reaches ? 1 : 0));
  }
  const std::string text = std::string("cvt.rs.satfinite.") + (m.of_four_bits ? "e2m1" : "e4m3") +
                           "x4.f32 %d, {" + operands + "}, " + std::to_string(m.random) + ";";
  OpcodeRow made = m.of_four_bits ? row(
                                        text, +[](U) { return std::uint16_t{0}; })
                                  : row(text, +[](U) { return U{0}; });
  made.expected = [wanted](const std::uint64_t*) { return std::uint64_t{wanted}; };
  return made;
}
OpcodeRows measured_rows() {
  OpcodeRows rows;
  for (const Measured& m : kMeasured) {
    rows.push_back(measured_row(m, true));
    rows.push_back(measured_row(m, false));
  }
  return rows;
}

OpcodeRows pack_rows() {
  OpcodeRows rows;
  using S = std::int32_t;
  rows.push_back(row("cvt.pack.sat.u16.s32", +[](S a, S b) { return packed<16, false>(a, b, 0); }));
  rows.push_back(row("cvt.pack.sat.s16.s32", +[](S a, S b) { return packed<16, true>(a, b, 0); }));
  rows.push_back(row("cvt.pack.sat.u8.s32.b32", packed<8, false>));
  rows.push_back(row("cvt.pack.sat.s8.s32.b32", packed<8, true>));
  rows.push_back(row("cvt.pack.sat.u4.s32.b32", packed<4, false>));
  rows.push_back(row("cvt.pack.sat.s4.s32.b32", packed<4, true>));
  rows.push_back(row("cvt.pack.sat.u2.s32.b32", packed<2, false>));
  rows.push_back(row("cvt.pack.sat.s2.s32.b32", packed<2, true>));
  return rows;
}

const OpcodeTable kRandom(random_rows()), kMeasuredRows(measured_rows()), kPack(pack_rows());

}  // namespace

TEST_CASE("random bits round up as often as the distance from the value below says") {
  check(kRandom);
}
TEST_CASE("four operands share the random bits as a B200 was measured to do") {
  check(kMeasuredRows);
}
TEST_CASE("integers are clamped and packed below the bits of a third operand") { check(kPack); }
