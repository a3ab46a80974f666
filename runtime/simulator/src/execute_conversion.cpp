// SPDX-License-Identifier: Apache-2.0
// cvt: PTX ISA 9.0, 9.7.9.21.
#include <limits>

#include "lanes.hpp"
#include "rounding.hpp"

namespace halftone::simulator {

namespace {

/// Integers: the low bits, with the source's sign; .sat clamps.
template <bool kSaturate>
struct ToInteger {
  template <class R, class A>
  [[gnu::always_inline]] static R convert(A a) {
    if constexpr (kSaturate) {
      using Limits = std::numeric_limits<R>;
      if (std::cmp_less(a, Limits::min())) return Limits::min();
      if (std::cmp_greater(a, Limits::max())) return Limits::max();
    }
    return static_cast<R>(a);
  }
};
template <class R, bool kSaturate>
struct IntegerTo {
  template <class A>
  [[gnu::always_inline]] static R run(A a) {
    return ToInteger<kSaturate>::template convert<R>(a);
  }
};

struct FromF16 {
  [[gnu::always_inline]] static float run(std::uint16_t code) { return f16_value(code); }
};
struct FromBf16 {
  [[gnu::always_inline]] static float run(std::uint16_t code) { return bf16_value(code); }
};
struct ToF16 {
  [[gnu::always_inline]] static std::uint16_t run(float x) { return f16_code(x); }
};
struct ToBf16 {
  [[gnu::always_inline]] static std::uint16_t run(float x) { return bf16_code(x); }
};

template <class F>
struct PairOf {
  [[gnu::always_inline]] static std::uint32_t run(float upper, float lower) {
    return static_cast<std::uint32_t>(F::run(upper)) << 16 | F::run(lower);
  }
};

/// Bits of Instruction::flags for conversions by formats.hpp.
enum : std::uint32_t { kFinite = 1, kRelu = 2 };

Encoding encoding_of(const Instruction& i) {
  return {static_cast<Rounding>(i.variant), (i.flags & kFinite) != 0, (i.flags & kRelu) != 0};
}

/// One f32 (or an integer or 16-bit float) to a narrow format.
template <NumberFormat kTo>
void run_encode(Context& c, const Instruction& i) {
  std::uint32_t* to = c.plane(i.at[0]);
  const std::uint32_t* from = c.plane(i.at[1]);
  each_lane(c.mask, [&](std::uint32_t l) {
    to[l] = encode(kTo, std::bit_cast<float>(from[l]), encoding_of(i));
  });
}
/// Two f32 to a pair.
template <NumberFormat kTo>
void run_encode_pair(Context& c, const Instruction& i) {
  std::uint32_t* to = c.plane(i.at[0]);
  const std::uint32_t* upper = c.plane(i.at[1]);
  const std::uint32_t* lower = c.plane(i.at[2]);
  each_lane(c.mask, [&](std::uint32_t l) {
    to[l] = encode_pair(kTo, std::bit_cast<float>(upper[l]), std::bit_cast<float>(lower[l]),
                        encoding_of(i));
  });
}
/// A pair to a pair of another format.
template <NumberFormat kTo, NumberFormat kFrom>
void run_convert_pair(Context& c, const Instruction& i) {
  std::uint32_t* to = c.plane(i.at[0]);
  const std::uint32_t* from = c.plane(i.at[1]);
  each_lane(c.mask, [&](std::uint32_t l) {
    const Pair pair = decode_pair(kFrom, from[l]);
    to[l] = encode_pair(kTo, pair.upper, pair.lower, encoding_of(i));
  });
}

template <class Visit>
bool with_narrow(Type type, Visit visit) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      visit.template operator()<NumberFormat::f16>();
      return true;
    case Type::bf16:
    case Type::bf16x2:
      visit.template operator()<NumberFormat::bf16>();
      return true;
    case Type::tf32:
      visit.template operator()<NumberFormat::tf32>();
      return true;
    case Type::e4m3x2:
      visit.template operator()<NumberFormat::e4m3>();
      return true;
    case Type::e5m2x2:
      visit.template operator()<NumberFormat::e5m2>();
      return true;
    case Type::e2m1x2:
      visit.template operator()<NumberFormat::e2m1>();
      return true;
    case Type::e2m3x2:
      visit.template operator()<NumberFormat::e2m3>();
      return true;
    case Type::e3m2x2:
      visit.template operator()<NumberFormat::e3m2>();
      return true;
    case Type::ue8m0x2:
      visit.template operator()<NumberFormat::ue8m0>();
      return true;
    default:
      return false;
  }
}

bool is_pair(Type t) {
  return t == Type::f16x2 || t == Type::bf16x2 || t == Type::e4m3x2 || t == Type::e5m2x2 ||
         t == Type::e2m1x2 || t == Type::e2m3x2 || t == Type::e3m2x2 || t == Type::ue8m0x2;
}

Rounding rounding_of(const Decoder& d) {
  if (d.has("rz")) return Rounding::toward_zero;
  if (d.has("rm")) return Rounding::downward;
  if (d.has("rp")) return Rounding::upward;
  if (d.has("rna")) return Rounding::nearest_away;
  return Rounding::nearest_even;
}

template <class Visit>
bool with_any_integer(Type type, Visit visit) {
  if (type == Type::u8) return visit.template operator()<std::uint8_t>(), true;
  if (type == Type::s8) return visit.template operator()<std::int8_t>(), true;
  return with_integer(type, visit);
}

bool is_float(Type t) {
  return t == Type::f32 || t == Type::f64 || t == Type::f16 || t == Type::bf16;
}

void decode_to_narrow(Decoder& d, Type to, Type from) {
  Instruction& i = d.instruction;
  i.variant = static_cast<std::uint8_t>(rounding_of(d));
  i.flags = (d.has("satfinite") ? +kFinite : 0u) | (d.has("relu") ? +kRelu : 0u);
  i.at[0] = d.destination(0, bytes_of(to));
  i.at[1] = d.source(1, bytes_of(from));
  const bool plain = i.variant == 0 && i.flags == 0;
  if (plain && from == Type::f32 && to == Type::f16) return set<ToF16, std::uint16_t, float>(d);
  if (plain && from == Type::f32 && to == Type::bf16) return set<ToBf16, std::uint16_t, float>(d);
  bool known = false;
  with_narrow(to, [&]<NumberFormat kTo>() {
    if (from == Type::f32 && is_pair(to)) {
      i.at[2] = d.source(2, 4);
      if (plain && kTo == NumberFormat::f16)
        return known = true, set<PairOf<ToF16>, std::uint32_t, float, float>(d);
      if (plain && kTo == NumberFormat::bf16)
        return known = true, set<PairOf<ToBf16>, std::uint32_t, float, float>(d);
      i.run = run_encode_pair<kTo>;
      known = d.operands() == 3;
    } else if (from == Type::f32) {
      i.run = run_encode<kTo>;
      known = d.operands() == 2;
    } else if (is_pair(from)) {
      known =
          with_narrow(from, [&]<NumberFormat kFrom>() { i.run = run_convert_pair<kTo, kFrom>; });
    }
  });
  if (!known) d.unknown();
}

//===--- Single numbers, any to any ---===//

enum : std::uint32_t { kIntegral = 4, kSaturate = 8, kFlush = 16 };

template <class T>
Exact exact_integer(T x) {
  const auto sum = static_cast<double>(x);
  return {sum, static_cast<double>(static_cast<__int128>(x) - static_cast<__int128>(sum))};
}

Exact read_number(Type type, std::uint64_t bits) {
  const auto narrow = static_cast<std::uint32_t>(bits);
  switch (type) {
    case Type::f16:
      return {f16_value(static_cast<std::uint16_t>(bits)), 0};
    case Type::bf16:
      return {bf16_value(static_cast<std::uint16_t>(bits)), 0};
    case Type::f32:
      return {std::bit_cast<float>(narrow), 0};
    case Type::f64:
      return {std::bit_cast<double>(bits), 0};
    default:
      break;
  }
  Exact value{};
  with_any_integer(type, [&]<class T>() { value = exact_integer(static_cast<T>(bits)); });
  return value;
}

double to_integral(Direction direction, double x) {
  switch (direction) {
    case Direction::nearest:
      return std::nearbyint(x);
    case Direction::zero:
      return std::trunc(x);
    case Direction::down:
      return std::floor(x);
    case Direction::up:
      return std::ceil(x);
  }
  return x;
}

/// Out of range: the nearest limit. NaN: 0, or the highest bit where 64 bits take part (9.7.9.21).
template <class T>
T to_integer(double x, bool wide) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(x)) return wide ? static_cast<T>(std::uint64_t{1} << (8 * sizeof(T) - 1)) : T{0};
  if (x < static_cast<double>(Limits::min())) return Limits::min();
  if (x >= std::ldexp(1.0, Limits::digits)) return Limits::max();
  return static_cast<T>(x);
}

std::uint64_t write_number(const Instruction& i, Type to, Type from, Exact value) {
  const auto rounding = static_cast<Direction>(i.variant);
  const Encoding encoding{static_cast<Rounding>(i.variant), (i.flags & kFinite) != 0,
                          (i.flags & kRelu) != 0};
  switch (to) {
    case Type::f16:
      return encode(NumberFormat::f16, odd(value), encoding);
    case Type::bf16:
      return encode(NumberFormat::bf16, odd(value), encoding);
    case Type::f32: {
      float result = to_f32(rounding, value);
      if (i.flags & kFlush) result = flushed(result);
      return put(result != result ? canonical_nan<float>() : result);
    }
    case Type::f64:
      return put(toward(rounding, value.sum, value.error));
    default:
      break;
  }
  std::uint64_t result = 0;
  const bool wide = from == Type::f64 || bytes_of(to) == 8;
  with_any_integer(to, [&]<class T>() {
    result = static_cast<std::uint64_t>(to_integer<T>(to_integral(rounding, value.sum), wide));
  });
  return result;
}

/// A register may be wider than its type (9.4.1): the bytes that the lanes of operand n take.
std::uint8_t converted_bytes(Decoder& d, std::size_t n, Type type) {
  return d.register_bytes(d.operand(n).name) == 8 ? std::uint8_t{8} : bytes_of(type);
}

/// at[0] and at[1]: the registers; at[2] and at[3]: the types; bytes and width: of the registers.
void place_converted(Decoder& d, Type to, Type from) {
  Instruction& i = d.instruction;
  i.bytes = converted_bytes(d, 0, to);
  i.width = converted_bytes(d, 1, from);
  i.at[0] = d.destination(0, i.bytes);
  i.at[1] = d.source(1, i.width);
  i.at[2] = static_cast<std::uint32_t>(to);
  i.at[3] = static_cast<std::uint32_t>(from);
}

std::uint64_t read_lane(Context& c, const Instruction& i, std::uint32_t lane) {
  return i.width == 8 ? c.plane<std::uint64_t>(i.at[1])[lane] : c.plane(i.at[1])[lane];
}

void write_lane(Context& c, const Instruction& i, std::uint32_t lane, std::uint64_t bits) {
  if (i.bytes == 8)
    c.plane<std::uint64_t>(i.at[0])[lane] = bits;
  else
    c.plane(i.at[0])[lane] = static_cast<std::uint32_t>(bits);
}

void run_number(Context& c, const Instruction& i) {
  const auto to = static_cast<Type>(i.at[2]), from = static_cast<Type>(i.at[3]);
  each_lane(c.mask, [&](std::uint32_t l) {
    Exact value = read_number(from, read_lane(c, i, l));
    if ((i.flags & kFlush) && from == Type::f32) value.sum = flushed(static_cast<float>(value.sum));
    if (i.flags & kIntegral) value.sum = to_integral(static_cast<Direction>(i.variant), value.sum);
    if (i.flags & kSaturate) {
      const double x = value.sum;
      value = {x != x || x <= 0 ? 0.0 : x > 1 ? 1.0 : x, 0};
    }
    write_lane(c, i, l, write_number(i, to, from, value));
  });
}

void decode_number(Decoder& d, Type to, Type from) {
  Instruction& i = d.instruction;
  const bool floats = is_float(to) && is_float(from);
  i.variant = static_cast<std::uint8_t>(direction_of(d));
  if (floats && d.has_any({"rni", "rzi", "rmi", "rpi"})) i.flags |= kIntegral;
  if (is_float(to) && d.has("sat")) i.flags |= kSaturate;
  if (d.has("ftz")) i.flags |= kFlush;
  if (d.has("satfinite")) i.flags |= kFinite;
  if (d.has("relu")) i.flags |= kRelu;
  place_converted(d, to, from);
  i.run = run_number;
}

/// The same for integers. The result is widened as its type says.
void run_wide_integers(Context& c, const Instruction& i) {
  const auto to = static_cast<Type>(i.at[2]), from = static_cast<Type>(i.at[3]);
  each_lane(c.mask, [&](std::uint32_t l) {
    const std::uint64_t bits = read_lane(c, i, l);
    std::uint64_t result = 0;
    with_any_integer(from, [&]<class A>() {
      with_any_integer(to, [&]<class R>() {
        const A a = static_cast<A>(bits);
        result = static_cast<std::uint64_t>(
            (i.flags & kSaturate) != 0 ? IntegerTo<R, true>::run(a) : IntegerTo<R, false>::run(a));
      });
    });
    write_lane(c, i, l, result);
  });
}

/// False where each register's lanes are as its type wants them.
bool decode_wide_integers(Decoder& d, Type to, Type from) {
  const bool extends = is_signed(to) && d.register_bytes(d.operand(0).name) > bytes_of(to);
  if (!extends && converted_bytes(d, 0, to) == bytes_of(to) &&
      converted_bytes(d, 1, from) == bytes_of(from))
    return false;
  Instruction& i = d.instruction;
  place_converted(d, to, from);
  i.flags = d.has("sat") ? +kSaturate : 0u;
  i.run = run_wide_integers;
  return true;
}

void decode_integers(Decoder& d, Type to, Type from) {
  if (decode_wide_integers(d, to, from)) return;
  const bool saturate = d.has("sat");
  with_any_integer(to, [&]<class R>() {
    with_any_integer(from, [&]<class A>() {
      saturate ? set<IntegerTo<R, true>, R, A>(d) : set<IntegerTo<R, false>, R, A>(d);
    });
  });
  if (!d.instruction.run) d.unknown();
}

void decode_cvt(Decoder& d) {
  if (d.has("pack")) return decode_pack(d);
  if (d.has("rs")) return decode_stochastic(d);
  if (d.types.size() != 2) d.unknown();
  const Type to = d.types[0], from = d.types[1];
  const bool fits =
      converted_bytes(d, 0, to) == bytes_of(to) && converted_bytes(d, 1, from) == bytes_of(from);
  const bool plain =
      fits && !d.has_any({"ftz", "sat", "relu", "rni", "rzi", "rmi", "rpi", "rm", "rp"});
  if (plain && from == Type::f16 && to == Type::f32) return set<FromF16, float, std::uint16_t>(d);
  if (plain && from == Type::bf16 && to == Type::f32) return set<FromBf16, float, std::uint16_t>(d);
  if (to == Type::tf32 || is_pair(to)) return decode_to_narrow(d, to, from);
  if (plain && from == Type::f32 && (to == Type::f16 || to == Type::bf16))
    return decode_to_narrow(d, to, from);
  if (is_float(to) || is_float(from)) return decode_number(d, to, from);
  decode_integers(d, to, from);
}

constexpr Opcode kOpcodes[] = {{"cvt", decode_cvt}};

}  // namespace

std::span<const Opcode> conversion_opcodes() { return kOpcodes; }

}  // namespace halftone::simulator
