// SPDX-License-Identifier: Apache-2.0
// cvt between integers and floats against the host's conversions, and to and from every narrow
// format against a search in the list of its values.
#include <doctest/doctest.h>

#include <cfenv>
#include <limits>

#include "opcode_table.hpp"
#include "rounded_float.hpp"

using namespace halftone::tests;
using halftone::simulator::Encoding;

namespace {

using U = std::uint32_t;

//===--- Integers and wide floats ---===//

template <class R, class A>
R clamped(A a) {
  using Limits = std::numeric_limits<R>;
  const __int128 x = a;
  return static_cast<R>(x < Limits::min()   ? __int128{Limits::min()}
                        : x > Limits::max() ? __int128{Limits::max()}
                                            : x);
}
template <class R, class A>
void add_integers(OpcodeRows& rows, const std::string& to, const std::string& from) {
  rows.push_back(row("cvt." + to + "." + from, +[](A a) { return static_cast<R>(a); }));
  rows.push_back(row("cvt.sat." + to + "." + from, +[](A a) { return clamped<R>(a); }));
}

/// PTX ISA 9.0, 9.7.9.21: out of range is the nearest limit; NaN is 0, or with 64 bits the top bit.
template <class R, class A, double (*kRound)(double)>
R to_integer(A a) {
  using Limits = std::numeric_limits<R>;
  const double x = kRound(static_cast<double>(a));
  if (x != x)
    return sizeof(R) == 8 || sizeof(A) == 8
               ? static_cast<R>(std::uint64_t{1} << (8 * sizeof(R) - 1))
               : R{0};
  if (x <= static_cast<double>(Limits::min())) return Limits::min();
  if (x >= std::ldexp(1.0, Limits::digits)) return Limits::max();
  return static_cast<R>(x);
}
template <class R, class A>
void add_to_integer(OpcodeRows& rows, const std::string& to, const std::string& from) {
  rows.push_back(row("cvt.rni." + to + "." + from, to_integer<R, A, std::nearbyint>));
  rows.push_back(row("cvt.rzi." + to + "." + from, to_integer<R, A, std::trunc>));
  rows.push_back(row("cvt.rmi." + to + "." + from, to_integer<R, A, std::floor>));
  rows.push_back(row("cvt.rpi." + to + "." + from, to_integer<R, A, std::ceil>));
}

template <class R, class A, int kMode>
R cast_in(A a) {
  volatile A x = a;
  std::fesetround(kMode);
  const volatile R result = static_cast<R>(x);
  std::fesetround(FE_TONEAREST);
  return result;
}
template <class R, class A>
void add_casts(OpcodeRows& rows, const std::string& to, const std::string& from) {
  rows.push_back(row("cvt.rn." + to + "." + from, cast_in<R, A, FE_TONEAREST>));
  rows.push_back(row("cvt.rz." + to + "." + from, cast_in<R, A, FE_TOWARDZERO>));
  rows.push_back(row("cvt.rm." + to + "." + from, cast_in<R, A, FE_DOWNWARD>));
  rows.push_back(row("cvt.rp." + to + "." + from, cast_in<R, A, FE_UPWARD>));
}

float zeroed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
float saturated(float x) { return x != x || x <= 0 ? 0.0f : std::fmin(x, 1.0f); }

OpcodeRows wide_rows() {
  OpcodeRows rows;
  add_integers<std::int8_t, std::int32_t>(rows, "s8", "s32");
  add_integers<std::uint8_t, std::int16_t>(rows, "u8", "s16");
  add_integers<std::int32_t, std::int8_t>(rows, "s32", "s8");
  add_integers<std::int16_t, std::int8_t>(rows, "s16", "s8");
  add_integers<std::int32_t, std::int16_t>(rows, "s32", "s16");
  add_integers<std::uint16_t, std::uint8_t>(rows, "u16", "u8");
  add_integers<std::uint16_t, std::uint32_t>(rows, "u16", "u32");
  add_integers<std::int64_t, std::int32_t>(rows, "s64", "s32");
  add_integers<std::uint32_t, std::int64_t>(rows, "u32", "s64");
  add_integers<std::uint64_t, std::int64_t>(rows, "u64", "s64");
  add_to_integer<std::int32_t, float>(rows, "s32", "f32");
  add_to_integer<std::uint32_t, float>(rows, "u32", "f32");
  add_to_integer<std::int64_t, float>(rows, "s64", "f32");
  add_to_integer<std::uint16_t, float>(rows, "u16", "f32");
  add_to_integer<std::int32_t, double>(rows, "s32", "f64");
  add_to_integer<std::uint64_t, double>(rows, "u64", "f64");
  add_casts<float, std::int16_t>(rows, "f32", "s16");
  add_casts<float, std::uint16_t>(rows, "f32", "u16");
  add_casts<float, std::int32_t>(rows, "f32", "s32");
  add_casts<float, std::uint32_t>(rows, "f32", "u32");
  add_casts<float, std::uint64_t>(rows, "f32", "u64");
  add_casts<float, std::int64_t>(rows, "f32", "s64");
  add_casts<double, std::int64_t>(rows, "f64", "s64");
  add_casts<double, std::uint32_t>(rows, "f64", "u32");
  add_casts<float, double>(rows, "f32", "f64");
  using F = float;
  rows.push_back(row("cvt.f64.f32", +[](F a) { return static_cast<double>(a); }));
  rows.push_back(row("cvt.rni.f32.f32", +[](F a) { return std::nearbyint(a); }));
  rows.push_back(row("cvt.rmi.f32.f32", +[](F a) { return std::floor(a); }));
  rows.push_back(row("cvt.rpi.f64.f64", +[](double a) { return std::ceil(a); }));
  rows.push_back(row("cvt.sat.f32.f32", saturated));
  rows.push_back(row("cvt.ftz.f32.f32", zeroed));
  return rows;
}

//===--- Narrow formats ---===//

template <NumberFormat k>
double value_of(U code) {
  const Listed<k>& l = Listed<k>::get();
  const Definition& d = *l.definition;
  const U sign = sign_of(d) >> code_shift(d), magnitude = code & (sign - 1);
  double x = NAN;
  if (magnitude < d.values) x = l.values[magnitude];
  if (magnitude == d.values && d.has_infinity) x = INFINITY;
  return code & sign ? -x : x;
}

constexpr Encoding kNearest{Rounding::nearest_even}, kZero{Rounding::toward_zero},
    kAway{Rounding::nearest_away}, kUp{Rounding::upward}, kDown{Rounding::downward},
    kFinite{Rounding::nearest_even, true}, kRelu{Rounding::nearest_even, false, true},
    kFiniteRelu{Rounding::nearest_even, true, true};

template <NumberFormat k>
U code_of(double x, const Encoding& how) {
  return rounded_code(*Listed<k>::get().definition, Listed<k>::get().values, x, how);
}

/// f32 to one code, of as many bits as the register that R is.
template <NumberFormat k, const Encoding* kHow, class R>
R one(float a) {
  return of_bits<R>(code_of<k>(a, *kHow));
}
/// Two f32 to a pair: the first in the upper half.
template <NumberFormat k, const Encoding* kHow, int kBits, class R>
R two(float a, float b) {
  return of_bits<R>(code_of<k>(a, *kHow) << kBits | code_of<k>(b, *kHow));
}
/// A pair of codes to f16x2.
template <NumberFormat k, int kBits, class A>
F16Pair widened(A a) {
  const auto part = [&](U code) {
    return code_of<NumberFormat::f16>(value_of<k>(code & ((1u << kBits) - 1)), kNearest);
  };
  return {part(bits_of(a) >> kBits) << 16 | part(static_cast<U>(bits_of(a)))};
}
/// A pair of 16-bit floats to a pair of codes.
template <NumberFormat k, NumberFormat kFrom, int kBits, class R>
R narrowed(U a) {
  return of_bits<R>(code_of<k>(value_of<kFrom>(a >> 16), kFinite) << kBits |
                    code_of<k>(value_of<kFrom>(a & 0xffff), kFinite));
}

template <NumberFormat k, int kBits, class R>
void add_packed(OpcodeRows& rows, const std::string& name, bool has_bytes) {
  // A pair of 4 bits is a byte, which PTX keeps in a register of 8 bits.
  const auto text = [&](const std::string& opcode, const std::string& operands) {
    if (has_bytes) return opcode + " " + operands + ";";
    const bool reads = opcode.ends_with(name);
    if (reads) return ".reg .b8 %x; cvt.u8.u16 %x, %a; " + opcode + " %d, %x;";
    return ".reg .b8 %x; " + opcode + " %x" + operands.substr(2) + "; cvt.u16.u8 %d, %x;";
  };
  rows.push_back(
      row(text("cvt.rn.satfinite." + name + ".f32", "%d, %a, %b"), two<k, &kFinite, kBits, R>));
  rows.push_back(row(text("cvt.rn.satfinite.relu." + name + ".f32", "%d, %a, %b"),
                     two<k, &kFiniteRelu, kBits, R>));
  rows.push_back(row(text("cvt.rn.satfinite." + name + ".f16x2", "%d, %a"),
                     narrowed<k, NumberFormat::f16, kBits, R>));
  rows.push_back(row(text("cvt.rn.satfinite." + name + ".bf16x2", "%d, %a"),
                     narrowed<k, NumberFormat::bf16, kBits, R>));
  rows.push_back(row(text("cvt.rn.f16x2." + name, "%d, %a"), widened<k, kBits, R>));
}

/// ue8m0: 2^(code - 127); the power at or below, or at or above.
U scale_of(float x, bool up, bool finite) {
  if (x != x) return 255;
  const double magnitude = std::fabs(static_cast<double>(x));
  for (U code = 0; code < 255; ++code) {
    const double power = std::ldexp(1.0, static_cast<int>(code) - 127);
    if (up && power >= magnitude) return code;
    if (!up && power * 2 > magnitude) return code;
  }
  return finite ? 254 : 255;
}
std::uint16_t scales_up(float a, float b) {
  return static_cast<std::uint16_t>(scale_of(a, true, true) << 8 | scale_of(b, true, true));
}
std::uint16_t scales_down(float a, float b) {
  return static_cast<std::uint16_t>(scale_of(a, false, true) << 8 | scale_of(b, false, true));
}

void add_eight_bits_and_less(OpcodeRows& rows) {
  using N = NumberFormat;
  add_packed<N::e4m3, 8, std::uint16_t>(rows, "e4m3x2", true);
  add_packed<N::e5m2, 8, std::uint16_t>(rows, "e5m2x2", true);
  add_packed<N::e2m3, 8, std::uint16_t>(rows, "e2m3x2", true);
  add_packed<N::e3m2, 8, std::uint16_t>(rows, "e3m2x2", true);
  add_packed<N::e2m1, 4, std::uint16_t>(rows, "e2m1x2", false);
  rows.push_back(row("cvt.rp.satfinite.ue8m0x2.f32", scales_up));
  rows.push_back(row("cvt.rz.satfinite.ue8m0x2.f32", scales_down));
  rows.push_back(row(
      "cvt.rp.satfinite.ue8m0x2.bf16x2",
      +[](U a) { return scales_up(of_bits<float>(a & 0xffff0000u), of_bits<float>(a << 16)); }));
  rows.push_back(row(
      "cvt.rn.bf16x2.ue8m0x2", +[](std::uint16_t a) {
        const auto part = [](U code) {
          return code == 255
                     ? 0x7fffu
                     : code_of<N::bf16>(std::ldexp(1.0, static_cast<int>(code) - 127), kNearest);
        };
        return Bf16Pair{part(a >> 8) << 16 | part(a & 255)};
      }));
}

OpcodeRows narrow_rows() {
  using N = NumberFormat;
  OpcodeRows rows;
  rows.push_back(
      row("cvt.f32.f16", +[](std::uint16_t a) { return static_cast<float>(value_of<N::f16>(a)); }));
  rows.push_back(row(
      "cvt.f32.bf16", +[](std::uint16_t a) { return static_cast<float>(value_of<N::bf16>(a)); }));
  rows.push_back(row("cvt.f64.f16", +[](std::uint16_t a) { return value_of<N::f16>(a); }));
  rows.push_back(row("cvt.rn.f16.f32", one<N::f16, &kNearest, F16Bits>));
  rows.push_back(row("cvt.rz.f16.f32", one<N::f16, &kZero, F16Bits>));
  rows.push_back(row("cvt.rp.f16.f32", one<N::f16, &kUp, F16Bits>));
  rows.push_back(row("cvt.rm.f16.f32", one<N::f16, &kDown, F16Bits>));
  rows.push_back(row("cvt.rn.relu.f16.f32", one<N::f16, &kRelu, F16Bits>));
  rows.push_back(row("cvt.rn.bf16.f32", one<N::bf16, &kNearest, Bf16Bits>));
  rows.push_back(row("cvt.rz.bf16.f32", one<N::bf16, &kZero, Bf16Bits>));
  rows.push_back(row("cvt.rn.relu.bf16.f32", one<N::bf16, &kRelu, Bf16Bits>));
  rows.push_back(row("cvt.rn.f16x2.f32", two<N::f16, &kNearest, 16, F16Pair>));
  rows.push_back(row("cvt.rz.f16x2.f32", two<N::f16, &kZero, 16, F16Pair>));
  rows.push_back(row("cvt.rn.bf16x2.f32", two<N::bf16, &kNearest, 16, Bf16Pair>));
  rows.push_back(row("cvt.rn.relu.bf16x2.f32", two<N::bf16, &kRelu, 16, Bf16Pair>));
  rows.push_back(row("cvt.rna.tf32.f32", one<N::tf32, &kAway, float>));
  rows.push_back(row("cvt.rn.tf32.f32", one<N::tf32, &kNearest, float>));
  rows.push_back(row("cvt.rz.tf32.f32", one<N::tf32, &kZero, float>));
  rows.push_back(row(
      "cvt.rn.f16.s32", +[](std::int32_t a) {
        return F16Bits{static_cast<std::uint16_t>(code_of<N::f16>(a, kNearest))};
      }));
  rows.push_back(row(
      "cvt.rn.bf16.u64", +[](std::uint64_t a) {
        static const Narrow bf16(N::bf16);
        return Bf16Bits{bf16.code(static_cast<__float128>(a))};
      }));
  rows.push_back(row(
      "cvt.rzi.s32.f16", +[](std::uint16_t a) {
        const double x = std::trunc(value_of<N::f16>(a));
        return x != x          ? 0
               : std::isinf(x) ? (x > 0 ? INT32_MAX : INT32_MIN)
                               : static_cast<std::int32_t>(x);
      }));
  rows.push_back(row(
      "cvt.rn.bf16.f16", +[](std::uint16_t a) {
        return Bf16Bits{
            static_cast<std::uint16_t>(code_of<N::bf16>(value_of<N::f16>(a), kNearest))};
      }));
  add_eight_bits_and_less(rows);
  return rows;
}

const OpcodeTable kWide(wide_rows()), kNarrow(narrow_rows());

}  // namespace

TEST_CASE("integers and wide floats convert as C++ does in every rounding") { check(kWide); }
TEST_CASE("every narrow format is written and read as the list of its values says") {
  check(kNarrow);
}
