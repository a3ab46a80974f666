// SPDX-License-Identifier: Apache-2.0
// Arithmetic of floats: PTX ISA 9.0, 9.7.3 to 9.7.5. Nearest even without modifiers is a loop over
// lanes; directed rounding, .ftz, .sat and .relu go through rounding.hpp lane by lane.
// Approximate instructions give the correctly rounded value, which stands for any inside the chips'
// error.
#include <limits>

#include "lanes.hpp"
#include "rounding.hpp"

namespace halftone::simulator {

namespace {

struct Neg {
  template <class T>
  [[gnu::always_inline]] static T run(T a) {
    return -a;
  }
};
struct Abs {
  [[gnu::always_inline]] static float run(float a) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) & 0x7fffffffu);
  }
  [[gnu::always_inline]] static double run(double a) { return std::fabs(a); }
};
struct CopySign {
  template <class T>
  static T run(T a, T b) {
    return std::copysign(b, a);
  }
};

/// A NaN among the operands is ignored, and with kPropagate wins; -0 is less than +0 (9.7.3.11).
template <bool kLeast, bool kPropagate>
struct Extreme {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    if constexpr (kPropagate) {
      if (a != a || b != b) return canonical_nan<T>();
    } else {
      if (a != a && b != b) return canonical_nan<T>();
      if (a != a) return b;
      if (b != b) return a;
    }
    if (a == b) return std::signbit(a) == kLeast ? a : b;
    return kLeast == (a < b) ? a : b;
  }
};

/// A NaN result is 7fffffff in f32 (9.7.3).
template <class F>
struct Canonical {
  template <class T, class... Rest>
  [[gnu::always_inline]] static T run(T a, Rest... rest) {
    const T result = F::run(a, rest...);
    if constexpr (sizeof(T) == 4)
      return result != result ? std::bit_cast<float>(0x7fffffffu) : result;
    else
      return result;
  }
};

/// 16-bit floats, computed in double and rounded once.
template <class F>
struct Rounded {
  template <class H, class... Rest>
  static H run(H a, Rest... rest) {
    return H::of(odd(F::exact(a.value(), rest.value()...)));
  }
};
/// The same for operations whose result needs no more than double.
template <class F>
struct InDouble {
  template <class H, class... Rest>
  static H run(H a, Rest... rest) {
    return H::of(F::run(a.value(), rest.value()...));
  }
};
/// Signs are bits, of NaNs too.
template <class F>
struct SignBits {
  template <class H>
  static H run(H a) {
    const bool negates = std::is_same_v<F, Neg>;
    return {static_cast<std::uint16_t>(negates ? a.code ^ 0x8000 : a.code & 0x7fff)};
  }
};
template <class F>
struct Both {
  template <class H, class... Rest>
  static Two<H> run(Two<H> a, Rest... rest) {
    return {F::run(H{a.low}, H{rest.low}...).code, F::run(H{a.high}, H{rest.high}...).code};
  }
};

struct Rsqrt {
  template <class T>
  static T run(T a) {
    return static_cast<T>(1 / std::sqrt(static_cast<double>(a)));
  }
};
template <double (*kFunction)(double)>
struct Approximate {
  template <class T>
  static T run(T a) {
    return static_cast<T>(kFunction(static_cast<double>(a)));
  }
};
using Ex2 = Approximate<std::exp2>;
using Lg2 = Approximate<std::log2>;
using Sin = Approximate<std::sin>;
using Cos = Approximate<std::cos>;
using Tanh = Approximate<std::tanh>;

template <class F>
struct Flushed {
  static float run(float a) { return flushed(F::run(flushed(a))); }
};
/// rcp and rsqrt.approx.ftz.f64 read and give the upper 32 bits.
template <class F>
struct UpperHalf {
  static double run(double a) {
    constexpr std::uint64_t kUpper = 0xffffffff00000000u;
    const double x = std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) & kUpper);
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(F::run(x)) & kUpper);
  }
};

enum : std::uint32_t { kFtz = 1, kSat = 2, kRelu = 4, kXorSign = 8, kPropagate = 16 };

std::uint32_t flags_of(const Decoder& d) {
  return (d.has("ftz") ? kFtz : 0u) | (d.has("sat") ? kSat : 0u) | (d.has("relu") ? kRelu : 0u) |
         (d.has("xorsign") ? kXorSign : 0u) | (d.has("NaN") ? kPropagate : 0u);
}

template <class T>
T finish(const Instruction& i, T x) {
  if (i.flags & kFtz) x = flushed(x);
  if ((i.flags & kSat)) x = x != x || x <= 0 ? T{0} : x > 1 ? T{1} : x;
  if ((i.flags & kRelu) && x == x) x = x > 0 ? x : T{0};
  return x != x ? canonical_nan<T>() : x;
}

/// F of rounding.hpp in the direction of i.variant, with the modifiers of i.flags.
template <class F, class T, class... Rest>
T modified(const Instruction& i, T a, Rest... rest) {
  const auto mode = static_cast<Direction>(i.variant);
  if (i.flags & kFtz) return finish(i, directed<F>(mode, flushed(a), flushed(rest)...));
  return finish(i, directed<F>(mode, a, rest...));
}
template <class F, class T, std::size_t... n>
void run_modified(Context& c, const Instruction& i, std::index_sequence<n...>) {
  each_lane(c.mask, [&](std::uint32_t l) {
    c.plane<Lane<T>>(i.at[0])[l] = put(modified<F>(i, get<T>(c.plane<Lane<T>>(i.at[1 + n])[l])...));
  });
}
template <class F, class T, std::size_t kOperands>
void run_modified_float(Context& c, const Instruction& i) {
  run_modified<F, T>(c, i, std::make_index_sequence<kOperands>{});
}

/// 16-bit floats with .ftz, .sat or .relu; i.width values in a register.
template <class F, class H, std::size_t... n>
void run_halves(Context& c, const Instruction& i, std::index_sequence<n...>) {
  each_lane(c.mask, [&](std::uint32_t l) {
    std::uint32_t result = 0;
    for (int part = 0; part < i.width; ++part) {
      const auto operand = [&](std::uint32_t place) {
        const double x = H{static_cast<std::uint16_t>(c.plane(place)[l] >> (16 * part))}.value();
        const double least = std::ldexp(1.0, H::kLeastExponent);
        return (i.flags & kFtz) && std::fabs(x) < least ? std::copysign(0.0, x) : x;
      };
      H half = H::of(odd(F::exact(operand(i.at[1 + n])...)));
      double x = half.value();
      if ((i.flags & kFtz) && std::fabs(x) < std::ldexp(1.0, H::kLeastExponent))
        x = std::copysign(0.0, x);
      Instruction rest;
      rest.flags = i.flags & ~kFtz;
      half = H::of(finish(rest, x));
      result |= static_cast<std::uint32_t>(half.code) << (16 * part);
    }
    c.plane(i.at[0])[l] = result;
  });
}
template <class F, class H, std::size_t kOperands>
void run_modified_half(Context& c, const Instruction& i) {
  run_halves<F, H>(c, i, std::make_index_sequence<kOperands>{});
}

void place_operands(Decoder& d, std::size_t operands, std::uint8_t bytes) {
  d.instruction.at[0] = d.destination(0, bytes);
  for (std::size_t n = 1; n <= operands; ++n) d.instruction.at[n] = d.source(n, bytes);
}

/// add, sub, mul, fma and those that are exact in `Exact`.
template <class F, std::size_t kOperands>
void set_rounded(Decoder& d) {
  Instruction& i = d.instruction;
  i.variant = static_cast<std::uint8_t>(direction_of(d));
  i.flags = flags_of(d);
  const bool plain = i.variant == 0 && i.flags == 0;
  const auto with = [&]<class G, class T>(Execute modified_run) {
    if (!plain) {
      place_operands(d, kOperands, sizeof(T));
      i.run = modified_run;
      return;
    }
    if constexpr (kOperands == 1) set<G, T, T>(d);
    if constexpr (kOperands == 2) set<G, T, T, T>(d);
    if constexpr (kOperands == 3) set<G, T, T, T, T>(d);
  };
  i.width = d.type() == Type::f16x2 || d.type() == Type::bf16x2 ? 2 : 1;
  constexpr auto kN = kOperands;
  switch (d.type()) {
    case Type::f32:
      return with.template operator()<Canonical<F>, float>(run_modified_float<F, float, kN>);
    case Type::f64:
      return with.template operator()<F, double>(run_modified_float<F, double, kN>);
    case Type::f16:
      return with.template operator()<Rounded<F>, F16>(run_modified_half<F, F16, kN>);
    case Type::bf16:
      return with.template operator()<Rounded<F>, BF16>(run_modified_half<F, BF16, kN>);
    case Type::f16x2:
      return with.template operator()<Both<Rounded<F>>, Two<F16>>(run_modified_half<F, F16, kN>);
    case Type::bf16x2:
      return with.template operator()<Both<Rounded<F>>, Two<BF16>>(run_modified_half<F, BF16, kN>);
    default:
      d.unknown();
  }
}

/// Functions of one operand: ex2, lg2, sin, cos, tanh, rcp.approx, rsqrt, sqrt.approx.
template <class F>
void set_approximate(Decoder& d) {
  const bool ftz = d.has("ftz");
  switch (d.type()) {
    case Type::f32:
      return ftz ? set<Canonical<Flushed<F>>, float, float>(d) : set<Canonical<F>, float, float>(d);
    case Type::f64:
      return ftz ? set<UpperHalf<F>, double, double>(d) : set<F, double, double>(d);
    case Type::f16:
      return set<InDouble<F>, F16, F16>(d);
    case Type::bf16:
      return set<InDouble<F>, BF16, BF16>(d);
    case Type::f16x2:
      return set<Both<InDouble<F>>, Two<F16>, Two<F16>>(d);
    case Type::bf16x2:
      return set<Both<InDouble<F>>, Two<BF16>, Two<BF16>>(d);
    default:
      d.unknown();
  }
}

template <class F>
void set_sign(Decoder& d) {
  switch (d.type()) {
    case Type::f32:  // bits of a NaN are kept
      return d.has("ftz") ? set<Flushed<F>, float, float>(d) : set<F, float, float>(d);
    case Type::f64:
      return set<F, double, double>(d);
    case Type::f16:
      return set<SignBits<F>, F16, F16>(d);
    case Type::bf16:
      return set<SignBits<F>, BF16, BF16>(d);
    case Type::f16x2:
      return set<Both<SignBits<F>>, Two<F16>, Two<F16>>(d);
    case Type::bf16x2:
      return set<Both<SignBits<F>>, Two<BF16>, Two<BF16>>(d);
    default:
      d.unknown();
  }
}

/// min and max with .ftz, .xorsign.abs or a third operand.
template <bool kLeast>
void run_extreme(Context& c, const Instruction& i) {
  each_lane(c.mask, [&](std::uint32_t l) {
    const auto operand = [&](std::size_t n) {
      const float x = get<float>(c.plane(i.at[n])[l]);
      return i.flags & kFtz ? flushed(x) : x;
    };
    const auto extreme = [&](float a, float b) {
      return i.flags & kPropagate ? Extreme<kLeast, true>::run(a, b)
                                  : Extreme<kLeast, false>::run(a, b);
    };
    float a = operand(1), b = operand(2);
    const bool negative = std::signbit(a) != std::signbit(b);
    if (i.flags & kXorSign) a = std::fabs(a), b = std::fabs(b);
    float result = extreme(a, b);
    if (i.width == 3) result = extreme(result, operand(3));
    if (i.flags & kXorSign) result = std::copysign(result, negative ? -1.0f : 1.0f);
    c.plane(i.at[0])[l] = put(result);
  });
}

template <bool kLeast>
void set_extreme(Decoder& d) {
  Instruction& i = d.instruction;
  i.flags = flags_of(d);
  const bool propagate = (i.flags & kPropagate) != 0;
  if (d.type() == Type::f32 && ((i.flags & ~kPropagate) != 0 || d.operands() > 3)) {
    i.width = d.operands() > 3 ? 3 : 2;
    place_operands(d, i.width, 4);
    i.run = run_extreme<kLeast>;
    return;
  }
  if ((i.flags & ~kPropagate) != 0) d.unknown();
  const auto with = [&]<class P, class Q, class T>() {
    propagate ? set<P, T, T, T>(d) : set<Q, T, T, T>(d);
  };
  using P = Extreme<kLeast, true>;
  using Q = Extreme<kLeast, false>;
  switch (d.type()) {
    case Type::f32:
      return with.template operator()<P, Q, float>();
    case Type::f64:
      return with.template operator()<P, Q, double>();
    case Type::f16:
      return with.template operator()<InDouble<P>, InDouble<Q>, F16>();
    case Type::bf16:
      return with.template operator()<InDouble<P>, InDouble<Q>, BF16>();
    case Type::f16x2:
      return with.template operator()<Both<InDouble<P>>, Both<InDouble<Q>>, Two<F16>>();
    case Type::bf16x2:
      return with.template operator()<Both<InDouble<P>>, Both<InDouble<Q>>, Two<BF16>>();
    default:
      d.unknown();
  }
}

bool is_float(Type t) {
  return t == Type::f32 || t == Type::f64 || t == Type::f16 || t == Type::bf16 ||
         t == Type::f16x2 || t == Type::bf16x2;
}

void decode_division(Decoder& d) {
  if (d.type() != Type::f32 && d.type() != Type::f64) d.unknown();
  set_rounded<Division, 2>(d);  // .full and .approx are not worse than rounded
}

template <class F>
void decode_root(Decoder& d) {
  if (d.type() != Type::f32 && d.type() != Type::f64) d.unknown();
  d.has("approx") ? set_approximate<F>(d) : set_rounded<F, 1>(d);
}

}  // namespace

bool decode_float(Decoder& d) {
  if (!is_float(d.type())) return false;
  if (d.types.size() != 1) d.unknown();
  const std::string_view name = d.words[0];
  if (name == "add") return set_rounded<Sum, 2>(d), true;
  if (name == "sub") return set_rounded<Difference, 2>(d), true;
  if (name == "mul") return set_rounded<Product, 2>(d), true;
  if (name == "fma" || name == "mad") return set_rounded<FusedSum, 3>(d), true;
  if (name == "div") return decode_division(d), true;
  if (name == "sqrt") return decode_root<SquareRoot>(d), true;
  if (name == "rcp") return decode_root<Reciprocal>(d), true;
  if (name == "neg") return set_sign<Neg>(d), true;
  if (name == "abs") return set_sign<Abs>(d), true;
  if (name == "min") return set_extreme<true>(d), true;
  if (name == "max") return set_extreme<false>(d), true;
  if (name == "rsqrt") return set_approximate<Rsqrt>(d), true;
  if (name == "ex2") return set_approximate<Ex2>(d), true;
  if (name == "lg2") return set_approximate<Lg2>(d), true;
  if (name == "sin") return set_approximate<Sin>(d), true;
  if (name == "cos") return set_approximate<Cos>(d), true;
  if (name == "tanh") return set_approximate<Tanh>(d), true;
  if (name == "copysign" && d.type() == Type::f32)
    return set<CopySign, float, float, float>(d), true;
  if (name == "copysign" && d.type() == Type::f64)
    return set<CopySign, double, double, double>(d), true;
  d.unknown();
}

}  // namespace halftone::simulator
