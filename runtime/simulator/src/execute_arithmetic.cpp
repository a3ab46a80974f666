// SPDX-License-Identifier: Apache-2.0
// Arithmetic: PTX ISA 9.0, 9.7.1 and 9.7.2 (integers); floats are in execute_float.cpp. Integer
// arithmetic wraps; .sat clamps s32.
#include <algorithm>
#include <limits>

#include "lanes.hpp"

namespace halftone::simulator {

namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(T) == 4,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

struct Add {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
  }
};
struct Sub {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
  }
};
struct Mul {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    if constexpr (sizeof(T) <= 4)  // 32 bits vectorise, 64 would not
      return static_cast<T>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
    else
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
};
struct MulWide {
  template <class T>
  [[gnu::always_inline]] static Wide<T> run(T a, T b) {
    return static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b);
  }
};
struct MulHigh {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    return static_cast<T>((static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)) >> (8 * sizeof(T)));
  }
};
struct MadLow {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b, T c) {
    return Add::run(Mul::run(a, b), c);
  }
};
struct MadHigh {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b, T c) {
    return Add::run(MulHigh::run(a, b), c);
  }
};
struct MadWide {
  template <class T>
  [[gnu::always_inline]] static Wide<T> run(T a, T b, Wide<T> c) {
    return Add::run(MulWide::run(a, b), c);
  }
};
/// Of the low 24 bits of each operand; high: bits 16 to 47 of the product.
template <bool kHigh>
struct Mul24 {
  template <class T>
  static T run(T a, T b) {
    const auto low = [](T x) {
      return static_cast<Wide<T>>(static_cast<T>(static_cast<std::uint32_t>(x) << 8) >> 8);
    };
    return static_cast<T>((low(a) * low(b)) >> (kHigh ? 16 : 0));
  }
};
template <bool kHigh>
struct Mad24 {
  template <class T>
  static T run(T a, T b, T c) {
    return Add::run(Mul24<kHigh>::run(a, b), c);
  }
};
/// F in 64 bits, clamped to s32.
template <class F>
struct Clamped {
  template <class... T>
  static std::int32_t run(T... a) {
    const std::int64_t exact = F::run(static_cast<std::int64_t>(a)...);
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(
        exact, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
  }
};
struct HighThenAdd {
  static std::int64_t run(std::int64_t a, std::int64_t b, std::int64_t c) {
    return ((a * b) >> 32) + c;
  }
};
/// Division by zero gives all ones, as the chips do; PTX leaves it open.
struct Div {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return Sub::run(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
struct Neg {
  template <class T>
  [[gnu::always_inline]] static T run(T a) {
    return Sub::run(T{0}, a);
  }
};
struct Abs {
  template <class T>
  [[gnu::always_inline]] static T run(T a) {
    return a < 0 ? Sub::run(T{0}, a) : a;
  }
};
template <bool kLeast>
struct Extreme {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    return kLeast == (a < b) ? a : b;
  }
};
struct Sad {
  template <class T>
  static T run(T a, T b, T c) {
    return Add::run(c, a < b ? Sub::run(b, a) : Sub::run(a, b));
  }
};

/// The same on both 16-bit halves of a register.
template <class T>
struct Halves {
  T low, high;
};
template <class F, bool kRelu = false>
struct OnHalves {
  template <class T, class... Rest>
  static Halves<T> run(Halves<T> a, Rest... rest) {
    Halves<T> both{F::run(a.low, rest.low...), F::run(a.high, rest.high...)};
    if constexpr (kRelu) both = {std::max<T>(both.low, 0), std::max<T>(both.high, 0)};
    return both;
  }
};

template <class F>
bool set_halves(Decoder& d, bool relu = false) {
  using S = Halves<std::int16_t>;
  using U = Halves<std::uint16_t>;
  if (d.type() == Type::u16x2) return set<OnHalves<F>, U, U, U>(d), true;
  if (d.type() != Type::s16x2) return false;
  relu ? set<OnHalves<F, true>, S, S, S>(d) : set<OnHalves<F>, S, S, S>(d);
  return true;
}

//===--- Carries: add.cc, addc, sub.cc, subc, mad.cc, madc ---===//

enum : std::uint8_t { kAddCarry, kSubBorrow, kMadLowCarry, kMadHighCarry };
enum : std::uint32_t { kReads = 1, kWrites = 2 };

/// at[4] is the mask of carries; a borrow is a carry that is set.
template <class T>
void run_carry(Context& c, const Instruction& i) {
  std::uint32_t& carries = c.predicate(i.at[4]);
  std::uint32_t left = 0;
  each_lane(c.mask, [&](std::uint32_t l) {
    const T a = get<T>(c.plane<Lane<T>>(i.at[1])[l]), b = get<T>(c.plane<Lane<T>>(i.at[2])[l]);
    const T in = i.flags & kReads ? static_cast<T>(carries >> l & 1) : T{0};
    Wide<T> sum = 0;
    if (i.variant == kAddCarry)
      sum = Wide<T>{a} + b + in;
    else if (i.variant == kSubBorrow)
      sum = Wide<T>{a} - b - in;
    else {
      const T third = get<T>(c.plane<Lane<T>>(i.at[3])[l]);
      const Wide<T> product = Wide<T>{a} * b;
      const T part =
          static_cast<T>(i.variant == kMadHighCarry ? product >> (8 * sizeof(T)) : product);
      sum = Wide<T>{part} + third + in;
    }
    c.plane<Lane<T>>(i.at[0])[l] = put(static_cast<T>(sum));
    left |= static_cast<std::uint32_t>((sum >> (8 * sizeof(T)) & 1) != 0) << l;
  });
  if (i.flags & kWrites) carries = (carries & ~c.mask) | left;
}

/// False for opcodes that have nothing to do with carries.
bool decode_carry(Decoder& d) {
  const std::string_view name = d.words[0];
  const bool reads = name.ends_with('c'), writes = d.words.size() > 1 && d.has("cc");
  if (!reads && !writes) return false;
  Instruction& i = d.instruction;
  const std::uint8_t bytes = bytes_of(d.type());
  const bool mad = name.starts_with("mad");
  i.variant = name.starts_with("add")   ? kAddCarry
              : name.starts_with("sub") ? kSubBorrow
              : d.has("hi")             ? kMadHighCarry
                                        : kMadLowCarry;
  i.flags = (reads ? +kReads : 0u) | (writes ? +kWrites : 0u);
  i.at[0] = d.destination(0, bytes);
  for (std::size_t n = 1; n < (mad ? 4u : 3u); ++n) i.at[n] = d.source(n, bytes);
  i.at[4] = d.carry();
  // Low bits do not depend on the sign, a high product does.
  if (d.type() == Type::s32 && i.variant == kMadHighCarry) d.unknown();
  if (d.type() == Type::s64 && i.variant == kMadHighCarry) d.unknown();
  i.run = bytes == 8 ? run_carry<std::uint64_t> : run_carry<std::uint32_t>;
  return true;
}

template <class F>
void decode_sum(Decoder& d) {
  if (decode_carry(d) || decode_float(d)) return;
  using I = std::int32_t;
  if (d.has("sat")) {
    if (d.type() != Type::s32) d.unknown();
    return set<Clamped<F>, I, I, I>(d);
  }
  if (set_halves<F>(d)) return;
  if (!with_integer(d.type(), [&]<class T>() { set<F, T, T, T>(d); })) d.unknown();
}

void decode_mul(Decoder& d) {
  if (decode_float(d)) return;
  const bool known = with_integer(d.type(), [&]<class T>() {
    if (d.has("wide")) {
      if constexpr (sizeof(T) < 8) set<MulWide, Wide<T>, T, T>(d);
    } else if (d.has("hi")) {
      set<MulHigh, T, T, T>(d);
    } else {
      set<Mul, T, T, T>(d);
    }
  });
  if (!known || !d.instruction.run) d.unknown();
}

void decode_mad(Decoder& d) {
  if (decode_carry(d) || decode_float(d)) return;
  using I = std::int32_t;
  if (d.has("sat")) return d.has("hi") ? set<Clamped<HighThenAdd>, I, I, I, I>(d) : d.unknown();
  const bool known = with_integer(d.type(), [&]<class T>() {
    if (d.has("wide")) {
      if constexpr (sizeof(T) < 8) set<MadWide, Wide<T>, T, T, Wide<T>>(d);
    } else if (d.has("hi")) {
      set<MadHigh, T, T, T, T>(d);
    } else {
      set<MadLow, T, T, T, T>(d);
    }
  });
  if (!known || !d.instruction.run) d.unknown();
}

void decode_mul24(Decoder& d) {
  if (d.has("sat") || (d.type() != Type::s32 && d.type() != Type::u32)) d.unknown();
  const bool mad = d.words[0] == "mad24", high = d.has("hi");
  with_integer(d.type(), [&]<class T>() {
    if (mad) return high ? set<Mad24<true>, T, T, T, T>(d) : set<Mad24<false>, T, T, T, T>(d);
    high ? set<Mul24<true>, T, T, T>(d) : set<Mul24<false>, T, T, T>(d);
  });
}

template <class F>
void decode_quotient(Decoder& d) {
  if (decode_float(d)) return;
  if (!with_integer(d.type(), [&]<class T>() { set<F, T, T, T>(d); })) d.unknown();
}

template <class F>
void decode_sign(Decoder& d) {
  if (decode_float(d)) return;
  const bool known = with_integer(d.type(), [&]<class T>() {
    if constexpr (std::is_signed_v<T>) set<F, T, T>(d);
  });
  if (!known || !d.instruction.run) d.unknown();
}

template <bool kLeast>
void decode_extreme(Decoder& d) {
  if (decode_float(d) || set_halves<Extreme<kLeast>>(d, d.has("relu"))) return;
  if (d.has("relu")) d.unknown();
  if (!with_integer(d.type(), [&]<class T>() { set<Extreme<kLeast>, T, T, T>(d); })) d.unknown();
}

void decode_sad(Decoder& d) {
  if (!with_integer(d.type(), [&]<class T>() { set<Sad, T, T, T, T>(d); })) d.unknown();
}

void decode_float_only(Decoder& d) {
  if (!decode_float(d)) d.unknown();
}

constexpr Opcode kOpcodes[] = {
    {"add", decode_sum<Add>},
    {"addc", decode_sum<Add>},
    {"sub", decode_sum<Sub>},
    {"subc", decode_sum<Sub>},
    {"mul", decode_mul},
    {"mad", decode_mad},
    {"madc", decode_mad},
    {"mul24", decode_mul24},
    {"mad24", decode_mul24},
    {"div", decode_quotient<Div>},
    {"rem", decode_quotient<Rem>},
    {"neg", decode_sign<Neg>},
    {"abs", decode_sign<Abs>},
    {"min", decode_extreme<true>},
    {"max", decode_extreme<false>},
    {"sad", decode_sad},
    {"fma", decode_float_only},
    {"sqrt", decode_float_only},
    {"rcp", decode_float_only},
    {"rsqrt", decode_float_only},
    {"ex2", decode_float_only},
    {"lg2", decode_float_only},
    {"sin", decode_float_only},
    {"cos", decode_float_only},
    {"tanh", decode_float_only},
    {"copysign", decode_float_only},
};

}  // namespace

std::span<const Opcode> arithmetic_opcodes() { return kOpcodes; }

}  // namespace halftone::simulator
