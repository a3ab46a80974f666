// SPDX-License-Identifier: Apache-2.0
// Bits, comparisons, selections and moves against C++ written from PTX ISA 9.0's pseudo-code.
#include <doctest/doctest.h>

#include <algorithm>

#include "opcode_table.hpp"

using namespace halftone::tests;

namespace {

using U = std::uint32_t;
using I = std::int32_t;
using U64 = std::uint64_t;

/// The field [position, position + length) as a string of bits, least first; beyond the word:
/// `fill`.
template <class T>
std::array<bool, 8 * sizeof(T)> bits(T x) {
  std::array<bool, 8 * sizeof(T)> list{};
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = (static_cast<U64>(x) >> i & 1) != 0;
  return list;
}
template <class T>
T word(const std::array<bool, 8 * sizeof(T)>& list) {
  U64 x = 0;
  for (std::size_t i = 0; i < list.size(); ++i) x |= U64{list[i]} << i;
  return static_cast<T>(x);
}

template <class T>
void add_logic(OpcodeRows& rows, const std::string& type) {
  rows.push_back(row("and." + type, +[](T a, T b) { return static_cast<T>(a & b); }));
  rows.push_back(row("or." + type, +[](T a, T b) { return static_cast<T>(a | b); }));
  rows.push_back(row("xor." + type, +[](T a, T b) { return static_cast<T>(a ^ b); }));
  rows.push_back(row("not." + type, +[](T a) { return static_cast<T>(~a); }));
  rows.push_back(row("cnot." + type, +[](T a) { return static_cast<T>(a == 0); }));
  rows.push_back(row(
      "shl." + type, +[](T a, U n) {
        auto list = bits(a), moved = bits(T{0});
        for (std::size_t i = 0; i + n < list.size(); ++i) moved[i + n] = list[i];
        return word<T>(moved);
      }));
}
template <class T>
void add_shift(OpcodeRows& rows, const std::string& type) {
  rows.push_back(row(
      "shr." + type, +[](T a, U n) {
        const auto list = bits(a);
        auto moved = bits(std::is_signed_v<T> && a < 0 ? static_cast<T>(~T{0}) : T{0});
        for (std::size_t i = n; i < list.size(); ++i) moved[i - n] = list[i];
        return word<T>(moved);
      }));
}

template <class T>
void add_fields(OpcodeRows& rows) {
  using S = std::make_signed_t<T>;
  const std::string size = std::to_string(8 * sizeof(T));
  rows.push_back(row(
      "bfe.u" + size, +[](T a, U position, U length) {
        position &= 255, length &= 255;
        auto list = bits(T{0});
        for (std::size_t i = 0; i < std::min<std::size_t>(length, list.size()); ++i)
          if (position + i < list.size()) list[i] = bits(a)[position + i];
        return word<T>(list);
      }));
  rows.push_back(row(
      "bfe.s" + size, +[](S a, U position, U length) {
        position &= 255, length &= 255;
        const std::size_t top = std::min<std::size_t>(position + length - 1, 8 * sizeof(T) - 1);
        const bool sign = length > 0 && bits(a)[top];
        auto list = bits(S{0});
        for (std::size_t i = 0; i < list.size(); ++i)
          list[i] = i < length && position + i < list.size() ? bits(a)[position + i] : sign;
        return word<S>(list);
      }));
  rows.push_back(row(
      "bfi.b" + size + " %d, %a, %b, %c, 11;", +[](T a, T b, U position) {
        auto list = bits(b);
        for (std::size_t i = 0; i < 11; ++i)
          if ((position & 255) + i < list.size()) list[(position & 255) + i] = bits(a)[i];
        return word<T>(list);
      }));
  rows.push_back(row(
      "brev.b" + size, +[](T a) {
        auto list = bits(a);
        std::reverse(list.begin(), list.end());
        return word<T>(list);
      }));
}

template <class T>
void add_counts(OpcodeRows& rows) {
  using S = std::make_signed_t<T>;
  const std::string size = std::to_string(8 * sizeof(T));
  rows.push_back(row(
      "clz.b" + size, +[](T a) {
        const auto list = bits(a);
        return static_cast<U>(std::find(list.rbegin(), list.rend(), true) - list.rbegin());
      }));
  rows.push_back(row(
      "popc.b" + size, +[](T a) {
        const auto list = bits(a);
        return static_cast<U>(std::count(list.begin(), list.end(), true));
      }));
  rows.push_back(row(
      "bfind.u" + size, +[](T a) {
        for (int i = 8 * sizeof(T) - 1; i >= 0; --i)
          if (bits(a)[static_cast<std::size_t>(i)]) return static_cast<U>(i);
        return ~U{0};
      }));
  rows.push_back(row(
      "bfind.shiftamt.s" + size, +[](S a) {
        const bool sign = a < 0;
        for (int i = 8 * sizeof(T) - 1; i >= 0; --i)
          if (bits(a)[static_cast<std::size_t>(i)] != sign)
            return static_cast<U>(8 * static_cast<int>(sizeof(T)) - 1 - i);
        return ~U{0};
      }));
}

U byte_of(U a, U b, U which) { return (which < 4 ? a >> 8 * which : b >> 8 * (which - 4)) & 255; }
U permuted(U a, U b, std::array<U, 4> from) {
  U x = 0;
  for (U i = 0; i < 4; ++i) x |= byte_of(a, b, from[i]) << 8 * i;
  return x;
}

template <class A, class B>
U dot4(U a, U b, U c) {
  std::int64_t sum = static_cast<I>(c);
  for (int i = 0; i < 4; ++i)
    sum += std::int64_t{static_cast<A>(a >> 8 * i)} * static_cast<B>(b >> 8 * i);
  return static_cast<U>(sum);
}
template <class A, class B, int kShift>
U dot2(U a, U b, U c) {
  std::int64_t sum = static_cast<I>(c);
  for (int i = 0; i < 2; ++i)
    sum += std::int64_t{static_cast<A>(a >> 16 * i)} * static_cast<B>(b >> (kShift + 8 * i));
  return static_cast<U>(sum);
}

void add_permutations(OpcodeRows& rows) {
  rows.push_back(row(
      "prmt.b32", +[](U a, U b, U c) {
        U x = 0;
        for (U i = 0; i < 4; ++i) {
          const U nibble = c >> 4 * i & 15, byte = byte_of(a, b, nibble & 7);
          x |= (nibble & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
        }
        return x;
      }));
  rows.push_back(row(
      "prmt.b32.f4e", +[](U a, U b, U c) {
        c &= 3;
        return permuted(a, b, {c, c + 1, c + 2, c + 3});
      }));
  rows.push_back(row(
      "prmt.b32.b4e", +[](U a, U b, U c) {
        c &= 3;
        return permuted(a, b, {c, (c + 7) % 8, (c + 6) % 8, (c + 5) % 8});
      }));
  rows.push_back(row(
      "prmt.b32.rc8", +[](U a, U b, U c) {
        c &= 3;
        return permuted(a, b, {c, c, c, c});
      }));
  rows.push_back(row(
      "prmt.b32.ecl", +[](U a, U b, U c) {
        c &= 3;
        return permuted(a, b, {c, std::max(c, 1u), std::max(c, 2u), 3});
      }));
  rows.push_back(row(
      "prmt.b32.ecr", +[](U a, U b, U c) {
        c &= 3;
        return permuted(a, b, {0, std::min(c, 1u), std::min(c, 2u), c});
      }));
  rows.push_back(row(
      "prmt.b32.rc16", +[](U a, U b, U c) {
        c = c & 1 ? 2 : 0;
        return permuted(a, b, {c, c + 1, c, c + 1});
      }));
}

void add_sums_and_masks(OpcodeRows& rows) {
  rows.push_back(row("dp4a.u32.u32", dot4<std::uint8_t, std::uint8_t>));
  rows.push_back(row("dp4a.s32.u32", dot4<std::int8_t, std::uint8_t>));
  rows.push_back(row("dp4a.s32.s32", dot4<std::int8_t, std::int8_t>));
  rows.push_back(row("dp2a.lo.s32.s32", dot2<std::int16_t, std::int8_t, 0>));
  rows.push_back(row("dp2a.hi.u32.s32", dot2<std::uint16_t, std::int8_t, 16>));
  rows.push_back(row(
      "szext.clamp.s32", +[](I a, U n) {
        n = std::min(n, 32u);
        return n == 0 ? 0
                      : static_cast<I>(static_cast<std::int64_t>(static_cast<U64>(a) << (64 - n)) >>
                                       (64 - n));
      }));
  rows.push_back(row(
      "szext.wrap.u32", +[](U a, U n) { return n % 32 == 0 ? 0 : a & ((U{1} << n % 32) - 1); }));
  rows.push_back(row(
      "bmsk.clamp.b32", +[](U a, U b) {
        U x = 0;
        for (U i = 0; i < 32; ++i) x |= static_cast<U>(i >= a && i - a < b) << i;
        return x;
      }));
  rows.push_back(row(
      "bmsk.wrap.b32", +[](U a, U b) {
        U x = 0;
        for (U i = 0; i < 32; ++i) x |= static_cast<U>(i >= a % 32 && i - a % 32 < b % 32) << i;
        return x;
      }));
  rows.push_back(row(
      "and.b32 %b, %b, 31; fns.b32 %d, %a, %b, 2;", +[](U mask, U base) {
        int left = 2;
        for (U i = base & 31; i < 32; ++i)
          if ((mask >> i & 1) != 0 && --left == 0) return i;
        return ~U{0};
      }));
}

OpcodeRows bit_rows() {
  OpcodeRows rows;
  add_logic<std::uint16_t>(rows, "b16");
  add_logic<U>(rows, "b32");
  add_logic<U64>(rows, "b64");
  add_shift<std::uint16_t>(rows, "u16");
  add_shift<std::int16_t>(rows, "s16");
  add_shift<U>(rows, "u32");
  add_shift<I>(rows, "s32");
  add_shift<U64>(rows, "u64");
  add_shift<std::int64_t>(rows, "s64");
  add_fields<U>(rows);
  add_fields<U64>(rows);
  add_counts<U>(rows);
  add_counts<U64>(rows);
  rows.push_back(row("lop3.b32 %d, %a, %b, %c, 0x96;", +[](U a, U b, U c) { return a ^ b ^ c; }));
  rows.push_back(row(
      "lop3.b32 %d, %a, %b, %c, 0xe8;",
      +[](U a, U b, U c) { return (a & b) | (a & c) | (b & c); }));
  rows.push_back(
      row("lop3.b32 %d, %a, %b, %c, 0x2a;", +[](U a, U b, U c) { return ~(a & b) & c; }));
  rows.push_back(row(
      "shf.l.wrap.b32",
      +[](U a, U b, U n) { return static_cast<U>((U64{b} << 32 | a) << (n & 31) >> 32); }));
  rows.push_back(row(
      "shf.r.wrap.b32",
      +[](U a, U b, U n) { return static_cast<U>((U64{b} << 32 | a) >> (n & 31)); }));
  rows.push_back(row(
      "shf.l.clamp.b32",
      +[](U a, U b, U n) { return n >= 32 ? a : static_cast<U>((U64{b} << 32 | a) << n >> 32); }));
  rows.push_back(row(
      "shf.r.clamp.b32",
      +[](U a, U b, U n) { return n >= 32 ? b : static_cast<U>((U64{b} << 32 | a) >> n); }));
  add_permutations(rows);
  add_sums_and_masks(rows);
  return rows;
}

//===--- Comparisons, selections, moves ---===//

std::string compared(const std::string& test, const std::string& type) {
  return ".reg .pred %q; setp." + test + "." + type + " %q, %a, %b; selp.b32 %d, 1, 0, %q;";
}
template <class T>
void add_tests(OpcodeRows& rows, const std::string& type, bool is_unsigned) {
  rows.push_back(row(compared("eq", type), +[](T a, T b) { return U{a == b}; }));
  rows.push_back(
      row(compared(is_unsigned ? "lo" : "lt", type), +[](T a, T b) { return U{a < b}; }));
  rows.push_back(
      row(compared(is_unsigned ? "ls" : "le", type), +[](T a, T b) { return U{a <= b}; }));
  rows.push_back(
      row(compared(is_unsigned ? "hi" : "gt", type), +[](T a, T b) { return U{a > b}; }));
  rows.push_back(
      row(compared(is_unsigned ? "hs" : "ge", type), +[](T a, T b) { return U{a >= b}; }));
  rows.push_back(
      row(compared("ne", type), +[](T a, T b) { return U{a == a && b == b && a != b}; }));
}
template <class T>
void add_float_tests(OpcodeRows& rows, const std::string& type) {
  add_tests<T>(rows, type, false);
  rows.push_back(row(compared("num", type), +[](T a, T b) { return U{a == a && b == b}; }));
  rows.push_back(row(compared("nan", type), +[](T a, T b) { return U{a != a || b != b}; }));
  rows.push_back(
      row(compared("equ", type), +[](T a, T b) { return U{a != a || b != b || a == b}; }));
  rows.push_back(
      row(compared("neu", type), +[](T a, T b) { return U{a != a || b != b || a != b}; }));
  rows.push_back(
      row(compared("ltu", type), +[](T a, T b) { return U{a != a || b != b || a < b}; }));
  rows.push_back(
      row(compared("leu", type), +[](T a, T b) { return U{a != a || b != b || a <= b}; }));
  rows.push_back(
      row(compared("gtu", type), +[](T a, T b) { return U{a != a || b != b || a > b}; }));
  rows.push_back(
      row(compared("geu", type), +[](T a, T b) { return U{a != a || b != b || a >= b}; }));
}

double half(std::uint32_t code) {
  const std::uint32_t e = code >> 10 & 31, m = code & 1023;
  const double x = e == 31 ? (m ? NAN : INFINITY)
                   : e     ? std::ldexp(1024 + m, static_cast<int>(e) - 25)
                           : std::ldexp(m, -24);
  return code & 0x8000 ? -x : x;
}

void add_selections(OpcodeRows& rows) {
  rows.push_back(row("set.lt.u32.s32", +[](I a, I b) { return a < b ? ~U{0} : 0; }));
  rows.push_back(row("set.ge.f32.u32", +[](U a, U b) { return a >= b ? 1.0f : 0.0f; }));
  rows.push_back(row("set.gtu.u32.f32", +[](float a, float b) { return !(a <= b) ? ~U{0} : 0; }));
  rows.push_back(row(
      "set.ne.f16x2.f16x2", +[](U a, U b) {
        const auto one = [](U x, U y) {
          return half(x) < half(y) || half(x) > half(y) ? 0x3c00u : 0u;
        };
        return one(a & 0xffff, b & 0xffff) | one(a >> 16, b >> 16) << 16;
      }));
  rows.push_back(row(
      ".reg .pred %q; setp.lt.s32 %q, %c, 0; selp.b64 %d, %a, %b, %q;",
      +[](U64 a, U64 b, I c) { return c < 0 ? a : b; }));
  rows.push_back(row("slct.b32.s32", +[](U a, U b, I c) { return c >= 0 ? a : b; }));
  rows.push_back(row("slct.u64.f32", +[](U64 a, U64 b, float c) { return c >= 0 ? a : b; }));
  rows.push_back(row("mov.u16", +[](std::uint16_t a) { return a; }));
  rows.push_back(row("mov.b32", +[](U a) { return a; }));
  rows.push_back(row("mov.f64", +[](U64 a) { return a; }));
  rows.push_back(row(
      ".reg .b16 %x, %y; mov.b32 {%x, %y}, %a; mov.b32 %d, {%y, %x};",
      +[](U a) { return a << 16 | a >> 16; }));
  rows.push_back(row(
      ".reg .b32 %x, %y; mov.b64 {%x, %y}, %a; mov.b64 %d, {%y, %x};",
      +[](U64 a) { return a << 32 | a >> 32; }));
}

OpcodeRows compare_rows() {
  OpcodeRows rows;
  add_tests<std::uint16_t>(rows, "u16", true);
  add_tests<std::int16_t>(rows, "s16", false);
  add_tests<U>(rows, "u32", true);
  add_tests<I>(rows, "s32", false);
  add_tests<U64>(rows, "u64", true);
  add_tests<std::int64_t>(rows, "s64", false);
  add_float_tests<float>(rows, "f32");
  add_float_tests<double>(rows, "f64");
  rows.push_back(row(
      compared("lt", "f16"),
      +[](std::uint16_t a, std::uint16_t b) { return U{half(a) < half(b)}; }));
  rows.push_back(row(
      compared("geu", "f16"),
      +[](std::uint16_t a, std::uint16_t b) { return U{!(half(a) < half(b))}; }));
  rows.push_back(row(
      compared("gt", "bf16"), +[](std::uint16_t a, std::uint16_t b) {
        return U{of_bits<float>(U64{a} << 16) > of_bits<float>(U64{b} << 16)};
      }));
  rows.push_back(row(
      ".reg .pred %q, %s; setp.le.f16x2 %q|%s, %a, %b; selp.b32 %d, 1, 0, %q; @%s add.u32 %d, %d, "
      "2;",
      +[](U a, U b) {
        return U{half(a & 0xffff) <= half(b & 0xffff)} + 2 * U{half(a >> 16) <= half(b >> 16)};
      }));
  rows.push_back(row(
      ".reg .pred %q, %s; setp.gt.s32 %s, %b, 0; setp.lt.or.s32 %q|%s, %a, %b, !%s; selp.b32 %d, "
      "1, 0, "
      "%q; @%s add.u32 %d, %d, 2;",
      +[](I a, I b) { return U{a < b || b <= 0} + 2 * U{a >= b || b <= 0}; }));
  rows.push_back(row(
      ".reg .pred %q, %s; setp.gt.s32 %s, %b, 0; setp.lt.and.s32 %q, %a, %b, %s; selp.b32 %d, 1, "
      "0, %q;",
      +[](I a, I b) { return U{a < b && b > 0}; }));
  rows.push_back(row(
      ".reg .pred %q, %s, %t; setp.gt.s32 %s, %b, 0; setp.gt.s32 %t, %a, 0; xor.pred %q, %s, %t; "
      "and.pred "
      "%s, %s, %t; not.pred %t, %t; or.pred %t, %t, %q; mov.pred %s, %s; selp.b32 %d, 1, 0, %s; "
      "@%t "
      "add.u32 %d, %d, 2;",
      +[](I a, I b) { return U{a > 0 && b > 0} + 2 * U{a <= 0 || (a > 0) != (b > 0)}; }));
  add_selections(rows);
  return rows;
}

const OpcodeTable kBits(bit_rows()), kComparisons(compare_rows());

}  // namespace

TEST_CASE("bit opcodes give what their definitions bit by bit give") { check(kBits); }
TEST_CASE("comparisons, selections and moves follow IEEE and C++") { check(kComparisons); }
