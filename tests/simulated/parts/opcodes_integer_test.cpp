// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic against C++ in 128 bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "opcode_table.hpp"

using namespace halftone::tests;

namespace {

using Wide = __int128;
using UWide = unsigned __int128;

template <class T>
struct Double;
template <>
struct Double<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct Double<std::int16_t> {
  using type = std::int32_t;
};
template <>
struct Double<std::uint32_t> {
  using type = std::uint64_t;
};
template <>
struct Double<std::int32_t> {
  using type = std::int64_t;
};

/// A value without the extension's meaning: signed types keep their sign.
template <class T>
Wide wide(T x) {
  return static_cast<Wide>(x);
}

/// The lower bits of a product, which wraps: that of two u64 fits no signed type.
template <class T>
UWide low(T a, T b) {
  return static_cast<UWide>(wide(a)) * static_cast<UWide>(wide(b));
}

template <class T>
T high(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(wide(a) * wide(b) >> 8 * sizeof(T));
  else
    return static_cast<T>(UWide{a} * UWide{b} >> 8 * sizeof(T));
}

template <class T>
void add_type(OpcodeRows& rows, const std::string& type) {
  const auto two = [&](const char* name, T (*f)(T, T)) { rows.push_back(row(name + type, f)); };
  const auto three = [&](const char* name, T (*f)(T, T, T)) {
    rows.push_back(row(name + type, f));
  };
  two("add.", [](T a, T b) { return static_cast<T>(wide(a) + wide(b)); });
  two("sub.", [](T a, T b) { return static_cast<T>(wide(a) - wide(b)); });
  two("mul.lo.", [](T a, T b) { return static_cast<T>(low(a, b)); });
  two("mul.hi.", high<T>);
  three("mad.lo.", [](T a, T b, T c) { return static_cast<T>(low(a, b) + static_cast<UWide>(wide(c))); });
  three("mad.hi.", [](T a, T b, T c) { return static_cast<T>(wide(high(a, b)) + wide(c)); });
  two("min.", [](T a, T b) { return std::min(a, b); });
  two("max.", [](T a, T b) { return std::max(a, b); });
  three("sad.", [](T a, T b, T c) {
    return static_cast<T>(wide(c) + (a < b ? wide(b) - wide(a) : wide(a) - wide(b)));
  });
  // A quotient by zero is open: the divisor is made odd.
  const std::string odd = sizeof(T) == 2 ? "b16" : sizeof(T) == 4 ? "b32" : "b64";
  const auto quotient = [&](const std::string& name, T (*f)(T, T)) {
    rows.push_back(row("or." + odd + " %b, %b, 1; " + name + type + " %d, %a, %b;", f));
  };
  quotient("div.", [](T a, T b) { return static_cast<T>(wide(a) / wide(static_cast<T>(b | 1))); });
  quotient("rem.", [](T a, T b) { return static_cast<T>(wide(a) % wide(static_cast<T>(b | 1))); });
  if constexpr (std::is_signed_v<T>) {
    rows.push_back(row("neg." + type, +[](T a) { return static_cast<T>(-wide(a)); }));
    rows.push_back(
        row("abs." + type, +[](T a) { return static_cast<T>(a < 0 ? -wide(a) : wide(a)); }));
  }
  if constexpr (sizeof(T) < 8) {
    using D = typename Double<T>::type;
    rows.push_back(
        row("mul.wide." + type, +[](T a, T b) { return static_cast<D>(wide(a) * wide(b)); }));
    rows.push_back(row(
        "mad.wide." + type,
        +[](T a, T b, D c) { return static_cast<D>(wide(a) * wide(b) + wide(c)); }));
  }
}

template <class T>
void add_carries(OpcodeRows& rows, const std::string& type) {
  // The low word is a + b; the high word is a * 3 with the carry: all of a two-word sum.
  using R = T (*)(T, T);
  rows.push_back(
      row("add.cc." + type + " %d, %a, %b; addc." + type + " %d, %b, 0;", R([](T a, T b) {
            return static_cast<T>(b + static_cast<T>((UWide{a} + b) >> 8 * sizeof(T)));
          })));
  rows.push_back(row("sub.cc." + type + " %d, %a, %b; subc." + type + " %d, %b, 0;",
                     R([](T a, T b) { return static_cast<T>(b - (a < b ? 1 : 0)); })));
  using R3 = T (*)(T, T, T);
  rows.push_back(
      row("mad.lo.cc." + type + " %d, %a, %b, %c; madc.hi." + type + " %d, %a, %b, 0;",
          R3([](T a, T b, T c) { return static_cast<T>((UWide{a} * b + c) >> 8 * sizeof(T)); })));
  // A carry passes through addc.cc.
  rows.push_back(row("add.cc." + type + " %d, %a, %b; addc.cc." + type + " %d, %c, %b; addc." +
                         type + " %d, 0, 0;",
                     R3([](T a, T b, T c) {
                       const UWide carry = (UWide{a} + b) >> 8 * sizeof(T);
                       return static_cast<T>((UWide{c} + b + carry) >> 8 * sizeof(T));
                     })));
}

std::int32_t clamped(Wide x) {
  return static_cast<std::int32_t>(std::clamp<Wide>(x, INT32_MIN, INT32_MAX));
}
std::int32_t low24(std::int32_t x) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << 8) >> 8;
}

template <class T>
std::uint32_t halves(std::uint32_t a, std::uint32_t b, Wide (*f)(Wide, Wide)) {
  const auto part = [&](int shift) {
    return std::uint32_t{static_cast<std::uint16_t>(
               f(static_cast<T>(a >> shift), static_cast<T>(b >> shift)))}
           << shift;
  };
  return part(0) | part(16);
}

OpcodeRows integer_rows() {
  OpcodeRows rows;
  add_type<std::uint16_t>(rows, "u16");
  add_type<std::int16_t>(rows, "s16");
  add_type<std::uint32_t>(rows, "u32");
  add_type<std::int32_t>(rows, "s32");
  add_type<std::uint64_t>(rows, "u64");
  add_type<std::int64_t>(rows, "s64");
  add_carries<std::uint32_t>(rows, "u32");
  add_carries<std::uint64_t>(rows, "u64");
  using I = std::int32_t;
  using U = std::uint32_t;
  rows.push_back(row("add.sat.s32", +[](I a, I b) { return clamped(wide(a) + b); }));
  rows.push_back(row("sub.sat.s32", +[](I a, I b) { return clamped(wide(a) - b); }));
  rows.push_back(
      row("mad.hi.sat.s32", +[](I a, I b, I c) { return clamped((wide(a) * b >> 32) + c); }));
  rows.push_back(row(
      "mul24.lo.u32",
      +[](U a, U b) { return static_cast<U>(UWide{a & 0xffffff} * (b & 0xffffff)); }));
  rows.push_back(row(
      "mul24.hi.s32", +[](I a, I b) { return static_cast<I>(wide(low24(a)) * low24(b) >> 16); }));
  rows.push_back(row(
      "mad24.lo.s32",
      +[](I a, I b, I c) { return static_cast<I>(wide(low24(a)) * low24(b) + c); }));
  rows.push_back(row(
      "add.u16x2",
      +[](U a, U b) { return halves<std::uint16_t>(a, b, [](Wide x, Wide y) { return x + y; }); }));
  rows.push_back(row(
      "sub.s16x2",
      +[](U a, U b) { return halves<std::int16_t>(a, b, [](Wide x, Wide y) { return x - y; }); }));
  rows.push_back(row(
      "min.s16x2", +[](U a, U b) {
        return halves<std::int16_t>(a, b, [](Wide x, Wide y) { return std::min(x, y); });
      }));
  rows.push_back(row(
      "max.u16x2", +[](U a, U b) {
        return halves<std::uint16_t>(a, b, [](Wide x, Wide y) { return std::max(x, y); });
      }));
  rows.push_back(row(
      "max.relu.s16x2", +[](U a, U b) {
        return halves<std::int16_t>(
            a, b, [](Wide x, Wide y) { return std::max<Wide>(0, std::max(x, y)); });
      }));
  return rows;
}

const OpcodeTable kIntegers(integer_rows());

}  // namespace

TEST_CASE("integer opcodes give what 128-bit integers give") { check(kIntegers); }
