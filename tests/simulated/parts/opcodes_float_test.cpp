// SPDX-License-Identifier: Apache-2.0
// Float arithmetic: f32 and f64 against the host's IEEE arithmetic in every rounding, 16-bit floats
// against 128-bit floats and a search, approximations against libm within what PTX ISA 9.0, 9.7.3
// allows.
#include <doctest/doctest.h>

#include <cfenv>

#include "opcode_table.hpp"
#include "rounded_float.hpp"

using namespace halftone::tests;

namespace {

/// f in a rounding of the host; operands through volatile, so that nothing is folded.
template <int kMode, class T, class F>
T rounded(F f) {
  const int before = std::fegetround();
  std::fesetround(kMode);
  const volatile T result = f();
  std::fesetround(before);
  return result;
}
template <int kMode, class T>
T add_in(T a, T b) {
  volatile T x = a, y = b;
  return rounded<kMode, T>([&] { return x + y; });
}
template <int kMode, class T>
T subtract_in(T a, T b) {
  volatile T x = a, y = b;
  return rounded<kMode, T>([&] { return x - y; });
}
template <int kMode, class T>
T multiply_in(T a, T b) {
  volatile T x = a, y = b;
  return rounded<kMode, T>([&] { return x * y; });
}
template <int kMode, class T>
T divide_in(T a, T b) {
  volatile T x = a, y = b;
  return rounded<kMode, T>([&] { return x / y; });
}
template <int kMode, class T>
T fma_in(T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  return rounded<kMode, T>([&] { return std::fma(x, y, z); });
}
template <int kMode, class T>
T root_in(T a) {
  volatile T x = a;
  return rounded<kMode, T>([&] { return std::sqrt(static_cast<T>(x)); });
}
template <int kMode, class T>
T reciprocal_in(T a) {
  return divide_in<kMode, T>(T{1}, a);
}

template <int kMode, class T>
void add_rounding(OpcodeRows& rows, const std::string& end) {
  rows.push_back(row("add" + end, add_in<kMode, T>));
  rows.push_back(row("sub" + end, subtract_in<kMode, T>));
  rows.push_back(row("mul" + end, multiply_in<kMode, T>));
  rows.push_back(row("fma" + end, fma_in<kMode, T>));
  rows.push_back(row("div" + end, divide_in<kMode, T>));
  rows.push_back(row("sqrt" + end, root_in<kMode, T>));
  rows.push_back(row("rcp" + end, reciprocal_in<kMode, T>));
}

template <class T>
T least(T a, T b) {
  if (a != a || b != b) return a != a ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class T>
T greatest(T a, T b) {
  if (a != a || b != b) return a != a ? b : a;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

template <class T>
void add_type(OpcodeRows& rows, const std::string& type) {
  add_rounding<FE_TONEAREST, T>(rows, ".rn." + type);
  add_rounding<FE_TOWARDZERO, T>(rows, ".rz." + type);
  add_rounding<FE_DOWNWARD, T>(rows, ".rm." + type);
  add_rounding<FE_UPWARD, T>(rows, ".rp." + type);
  rows.push_back(row("add." + type, add_in<FE_TONEAREST, T>));
  rows.push_back(row("sub." + type, subtract_in<FE_TONEAREST, T>));
  rows.push_back(row("mul." + type, multiply_in<FE_TONEAREST, T>));
  rows.push_back(row("mad.rn." + type, fma_in<FE_TONEAREST, T>));
  rows.push_back(row("neg." + type, +[](T a) { return -a; }));
  rows.push_back(row("abs." + type, +[](T a) { return std::fabs(a); }));
  rows.push_back(row("min." + type, least<T>));
  rows.push_back(row("max." + type, greatest<T>));
  rows.push_back(row("copysign." + type, +[](T a, T b) { return std::copysign(b, a); }));
}

float zeroed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
float saturated(float x) { return x != x || x <= 0 ? 0.0f : std::fmin(x, 1.0f); }

template <int kKind>
std::uint32_t is_class(float x) {
  return std::fpclassify(x) == kKind;
}
std::string testp(const char* word) {
  return std::string(".reg .pred %q; testp.") + word + ".f32 %q, %a; selp.b32 %d, 1, 0, %q;";
}

OpcodeRows float_rows() {
  OpcodeRows rows;
  add_type<float>(rows, "f32");
  add_type<double>(rows, "f64");
  using F = float;
  rows.push_back(row("add.ftz.f32", +[](F a, F b) { return zeroed(zeroed(a) + zeroed(b)); }));
  rows.push_back(row("mul.rn.ftz.f32", +[](F a, F b) { return zeroed(zeroed(a) * zeroed(b)); }));
  rows.push_back(row("add.sat.f32", +[](F a, F b) { return saturated(a + b); }));
  rows.push_back(
      row("fma.rn.sat.f32", +[](F a, F b, F c) { return saturated(std::fma(a, b, c)); }));
  rows.push_back(
      row("min.NaN.f32", +[](F a, F b) { return a != a || b != b ? F(NAN) : least(a, b); }));
  rows.push_back(
      row("max.NaN.f32", +[](F a, F b) { return a != a || b != b ? F(NAN) : greatest(a, b); }));
  rows.push_back(row(
      "max.xorsign.abs.f32", +[](F a, F b) {
        const bool negative = std::signbit(a) != std::signbit(b);
        return std::copysign(greatest(std::fabs(a), std::fabs(b)), negative ? -1.0f : 1.0f);
      }));
  rows.push_back(row("neg.ftz.f32", +[](F a) { return -zeroed(a); }));
  rows.push_back(row(testp("finite"), +[](F a) { return std::uint32_t{std::isfinite(a)}; }));
  rows.push_back(row(testp("infinite"), is_class<FP_INFINITE>));
  rows.push_back(row(testp("notanumber"), is_class<FP_NAN>));
  rows.push_back(row(testp("number"), +[](F a) { return std::uint32_t{!std::isnan(a)}; }));
  rows.push_back(row(testp("normal"), is_class<FP_NORMAL>));
  rows.push_back(row(testp("subnormal"), is_class<FP_SUBNORMAL>));
  return rows;
}

// The errors are those of PTX ISA 9.0, 9.7.3.
OpcodeRows approximate_rows() {
  using F = float;
  const auto near = [](const std::string& text, F (*f)(F), double relative,
                       double absolute = 0x1p-149) {
    return row_near(text, f, relative, absolute);
  };
  OpcodeRows rows;
  rows.push_back(row_near("div.full.f32", +[](F a, F b) { return a / b; }, 0x1p-22, 0x1p-149));
  rows.push_back(row_near("div.approx.f32", +[](F a, F b) { return a / b; }, 0x1p-22, 0x1p-149));
  rows.push_back(near("rcp.approx.f32", +[](F a) { return 1 / a; }, 0x1p-23));
  rows.push_back(near("rcp.approx.ftz.f32", +[](F a) { return zeroed(1 / zeroed(a)); }, 0x1p-23));
  rows.push_back(near("sqrt.approx.f32", +[](F a) { return std::sqrt(a); }, 0x1p-23));
  rows.push_back(
      near("rsqrt.approx.f32", +[](F a) { return F(1 / std::sqrt(double(a))); }, 0x1p-22));
  rows.push_back(
      row_near("rsqrt.approx.f64", +[](double a) { return 1 / std::sqrt(a); }, 0x1p-20, 0));
  rows.push_back(
      row_near("rcp.approx.ftz.f64", +[](double a) { return 1 / a; }, 0x1p-19, 0x1p-1022));
  rows.push_back(near("ex2.approx.f32", +[](F a) { return std::exp2(a); }, 0x1p-22));
  rows.push_back(
      near("ex2.approx.ftz.f32", +[](F a) { return zeroed(std::exp2(zeroed(a))); }, 0x1p-22));
  rows.push_back(near("lg2.approx.f32", +[](F a) { return std::log2(a); }, 0x1p-22, 0x1p-22));
  rows.push_back(near("sin.approx.f32", +[](F a) { return std::sin(a); }, 0, 0x1p-20));
  rows.push_back(near("cos.approx.f32", +[](F a) { return std::cos(a); }, 0, 0x1p-20));
  rows.push_back(near("tanh.approx.f32", +[](F a) { return std::tanh(a); }, 0x1p-11));
  return rows;
}

//===--- 16-bit floats ---===//

template <NumberFormat kFormat>
const Narrow& narrow() {
  static const Narrow made(kFormat);
  return made;
}
template <NumberFormat k>
using Bits = std::conditional_t<k == NumberFormat::f16, F16Bits, Bf16Bits>;
template <NumberFormat k>
using PairBits = std::conditional_t<k == NumberFormat::f16, F16Pair, Bf16Pair>;

/// What is exact in 128 bits for the operands of the samples, and the sign of an exact zero.
template <NumberFormat k>
struct Halves {
  using B = Bits<k>;
  static double value(B x) { return narrow<k>().value(x.bits); }
  static B add(B a, B b) {
    const double x = value(a), y = value(b);
    return {narrow<k>().code(static_cast<__float128>(x) + y, std::signbit(x + y))};
  }
  static B subtract(B a, B b) { return add(a, {static_cast<std::uint16_t>(b.bits ^ 0x8000)}); }
  static B multiply(B a, B b) {
    const double x = value(a), y = value(b);
    return {narrow<k>().code(static_cast<__float128>(x) * y, std::signbit(x) != std::signbit(y))};
  }
  static B fma(B a, B b, B c) {
    const __float128 product = static_cast<__float128>(value(a)) * value(b);
    const bool zero = std::signbit(value(a)) != std::signbit(value(b)) && std::signbit(value(c));
    const bool negative = product == 0 && value(c) == 0 ? zero : false;
    // 2Sum: what 113 bits cannot hold decides ties.
    const __float128 third = value(c), sum = product + third, back = sum - product;
    const __float128 left = (product - (sum - back)) + (third - back);
    return {narrow<k>().code(sum, negative, left > 0 ? 1 : left < 0 ? -1 : 0)};
  }
  static B fma_relu(B a, B b, B c) {
    const B x = fma(a, b, c);
    const bool is_nan = value(x) != value(x);
    return !is_nan && (x.bits & 0x8000) ? B{0} : x;
  }
  static B negative(B a) { return {static_cast<std::uint16_t>(a.bits ^ 0x8000)}; }
  static B magnitude(B a) { return {static_cast<std::uint16_t>(a.bits & 0x7fff)}; }
  static B smaller(B a, B b) { return picked(a, b, least(value(a), value(b))); }
  static B larger(B a, B b) { return picked(a, b, greatest(value(a), value(b))); }
  static B larger_or_nan(B a, B b) {
    if (value(a) != value(a) || value(b) != value(b)) return {0x7fff};
    return larger(a, b);
  }
  static B picked(B a, B b, double x) {
    if (x != x) return {0x7fff};
    return value(a) == x && std::signbit(value(a)) == std::signbit(x) ? a : b;
  }
};

/// A function of one, two or three on both halves of registers.
template <NumberFormat k, auto kFunction, class... P>
PairBits<k> both(P... operands) {
  const auto low = kFunction(Bits<k>{static_cast<std::uint16_t>(operands.bits)}...);
  const auto high = kFunction(Bits<k>{static_cast<std::uint16_t>(operands.bits >> 16)}...);
  return {static_cast<std::uint32_t>(high.bits) << 16 | low.bits};
}

template <NumberFormat k>
void add_halves(OpcodeRows& rows, const std::string& type) {
  using H = Halves<k>;
  using P = PairBits<k>;
  const auto unary = [&]<auto f>(const std::string& name) {
    rows.push_back(row(name + "." + type, f));
    rows.push_back(row(name + "." + type + "x2", both<k, f, P>));
  };
  const auto binary = [&]<auto f>(const std::string& name) {
    rows.push_back(row(name + "." + type, f));
    rows.push_back(row(name + "." + type + "x2", both<k, f, P, P>));
  };
  const auto ternary = [&]<auto f>(const std::string& name) {
    rows.push_back(row(name + "." + type, f));
    rows.push_back(row(name + "." + type + "x2", both<k, f, P, P, P>));
  };
  binary.template operator()<&H::add>("add.rn");
  binary.template operator()<&H::subtract>("sub.rn");
  binary.template operator()<&H::multiply>("mul.rn");
  ternary.template operator()<&H::fma>("fma.rn");
  ternary.template operator()<&H::fma_relu>("fma.rn.relu");
  unary.template operator()<&H::negative>("neg");
  unary.template operator()<&H::magnitude>("abs");
  binary.template operator()<&H::smaller>("min");
  binary.template operator()<&H::larger>("max");
  binary.template operator()<&H::larger_or_nan>("max.NaN");
}

/// Of a 16-bit float, within `ulps` of its format.
template <NumberFormat k>
OpcodeRow approximate_half(const std::string& text, double (*f)(double), double relative,
                           double absolute) {
  OpcodeRow made = row(text, +[](Bits<k> a) { return a; });
  made.expected = [f](const std::uint64_t* a) {
    return bits_of(f(narrow<k>().value(static_cast<std::uint16_t>(a[0]))));
  };
  made.same = [=](std::uint64_t got, std::uint64_t wanted) {
    const double x = narrow<k>().value(static_cast<std::uint16_t>(got)),
                 y = of_bits<double>(wanted);
    if ((x != x && y != y) || x == y) return true;
    if (std::isinf(x))
      return std::fabs(y) * (1 + relative) >
             narrow<k>().value(k == NumberFormat::f16 ? 0x7bff : 0x7f7f);
    return std::fabs(x - y) <= absolute + relative * std::fabs(y);
  };
  return made;
}

OpcodeRows half_rows() {
  OpcodeRows rows;
  add_halves<NumberFormat::f16>(rows, "f16");
  add_halves<NumberFormat::bf16>(rows, "bf16");
  rows.push_back(approximate_half<NumberFormat::f16>("ex2.approx.f16", std::exp2, 0x1p-9, 0x1p-24));
  rows.push_back(
      approximate_half<NumberFormat::bf16>("ex2.approx.ftz.bf16", std::exp2, 0x1p-7, 0x1p-126));
  rows.push_back(
      approximate_half<NumberFormat::f16>("tanh.approx.f16", std::tanh, 0x1p-10, 0x1p-24));
  rows.push_back(
      approximate_half<NumberFormat::bf16>("tanh.approx.bf16", std::tanh, 0x1p-8, 0x1p-133));
  return rows;
}

const OpcodeTable kFloats(float_rows()), kApproximations(approximate_rows()), kHalves(half_rows());

}  // namespace

TEST_CASE("float opcodes give what the host's IEEE arithmetic gives in every rounding") {
  check(kFloats);
}
TEST_CASE("approximations lie within the errors that PTX states") { check(kApproximations); }
TEST_CASE("16-bit floats are rounded once to nearest even") { check(kHalves); }
