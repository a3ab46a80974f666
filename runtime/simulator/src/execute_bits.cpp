// SPDX-License-Identifier: Apache-2.0
// Bits: PTX ISA 9.0, 9.7.1.14 to 9.7.1.24 and 9.7.8.
#include <algorithm>

#include "lanes.hpp"

namespace halftone::simulator {

namespace {

struct And {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  [[gnu::always_inline]] static T run(T a) {
    return static_cast<T>(~a);
  }
};
struct CNot {
  template <class T>
  [[gnu::always_inline]] static T run(T a) {
    return a == 0 ? T{1} : T{0};
  }
};
struct Shl {
  template <class T>
  [[gnu::always_inline]] static T run(T a, std::uint32_t n) {
    return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << (n & (8 * sizeof(T) - 1)));
  }
};
struct Shr {
  template <class T>
  [[gnu::always_inline]] static T run(T a, std::uint32_t n) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (n < kBits ? n : kBits - 1));
    return n >= kBits ? T{0} : static_cast<T>(a >> (n & (kBits - 1)));
  }
};
struct Lop3 {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
    std::uint32_t result = 0;
    for (std::uint32_t entry = 0; entry < 8; ++entry) {
      if ((table >> entry & 1) == 0) continue;
      result |= (entry & 4 ? a : ~a) & (entry & 2 ? b : ~b) & (entry & 1 ? c : ~c);
    }
    return result;
  }
};
template <bool kLeft, bool kClamp>
struct Funnel {
  static std::uint32_t run(std::uint32_t low, std::uint32_t high, std::uint32_t n) {
    n = kClamp ? std::min(n, 32u) : n & 31;
    const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
    return static_cast<std::uint32_t>(kLeft ? (n == 32 ? both << 32 : both << n) >> 32 : both >> n);
  }
};
struct Prmt {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
    const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
    std::uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t nibble = selector >> (4 * i) & 15;
      auto byte = static_cast<std::uint32_t>(both >> (8 * (nibble & 7)) & 0xff);
      if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
      result |= byte << (8 * i);
    }
    return result;
  }
};
struct Bfe {
  template <class T>
  static T run(T a, std::uint32_t position, std::uint32_t length) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    position &= 0xff, length &= 0xff;
    T result = 0;
    const bool is_negative = std::is_signed_v<T> && length > 0 &&
                             (a >> std::min(position + length - 1, kBits - 1) & 1) != 0;
    for (std::uint32_t i = 0; i < kBits; ++i) {
      const bool inside = i < length && position + i < kBits;
      const bool bit = inside ? (a >> (position + i) & 1) != 0 : is_negative;
      if (bit) result = static_cast<T>(result | static_cast<T>(T{1} << i));
    }
    return result;
  }
};
struct Bfi {
  template <class T>
  static T run(T from, T into, std::uint32_t position, std::uint32_t length) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    position &= 0xff, length &= 0xff;
    for (std::uint32_t i = 0; i < length && position + i < kBits; ++i) {
      const T bit = static_cast<T>(T{1} << (position + i));
      into = static_cast<T>((from >> i & 1) ? into | bit : into & ~bit);
    }
    return into;
  }
};
template <bool kShift>
struct Bfind {
  template <class T>
  static std::uint32_t run(T a) {
    using U = std::make_unsigned_t<T>;
    U bits = static_cast<U>(a);
    if (std::is_signed_v<T> && a < 0) bits = static_cast<U>(~bits);
    if (bits == 0) return 0xffffffff;
    const auto top = static_cast<std::uint32_t>(std::bit_width(bits) - 1);
    return kShift ? 8 * sizeof(T) - 1 - top : top;
  }
};
struct Brev {
  template <class T>
  static T run(T a) {
    T result = 0;
    for (std::size_t i = 0; i < 8 * sizeof(T); ++i)
      result = static_cast<T>(result | ((a >> i & 1) << (8 * sizeof(T) - 1 - i)));
    return result;
  }
};
struct Clz {
  template <class T>
  static std::uint32_t run(T a) {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct Popc {
  template <class T>
  static std::uint32_t run(T a) {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
template <class A, class B>
struct Dot4 {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (int i = 0; i < 4; ++i)
      c += static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<A>(a >> (8 * i))) *
                                      static_cast<std::int32_t>(static_cast<B>(b >> (8 * i))));
    return c;
  }
};
/// Two products of 16-bit parts of a with the low or high two bytes of b.
template <class A, class B, bool kHigh>
struct Dot2 {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (kHigh) b >>= 16;
    for (int i = 0; i < 2; ++i)
      c += static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<A>(a >> (16 * i))) *
                                      static_cast<std::int32_t>(static_cast<B>(b >> (8 * i))));
    return c;
  }
};
/// Keeps the low b bits and fills with their sign (or zeros).
template <bool kClamp>
struct SignExtend {
  template <class T>
  static T run(T a, std::uint32_t b) {
    const std::uint32_t n = kClamp ? std::min(b, 32u) : b & 31;
    if (n == 0) return 0;
    if (n == 32) return a;
    const std::uint32_t low = static_cast<std::uint32_t>(a) << (32 - n);
    if constexpr (std::is_signed_v<T>) return static_cast<T>(low) >> (32 - n);
    return static_cast<T>(low >> (32 - n));
  }
};
/// b ones from bit a.
template <bool kClamp>
struct BitMask {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t first = kClamp ? std::min(a, 32u) : a & 31;
    const std::uint32_t count = kClamp ? std::min(b, 32u) : b & 31;
    const std::uint64_t ones = ((std::uint64_t{1} << count) - 1) << first;
    return static_cast<std::uint32_t>(ones);
  }
};
/// The position of the |offset|-th set bit at or beyond base, upwards or downwards.
struct FindNth {
  static std::uint32_t run(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
    base &= 31;
    if (offset == 0) return mask >> base & 1 ? base : ~0u;
    const int step = offset > 0 ? 1 : -1;
    std::int32_t left = offset > 0 ? offset : -offset;
    for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
      if ((mask >> at & 1) && --left == 0) return static_cast<std::uint32_t>(at);
    return ~0u;
  }
};

/// prmt with a mode: which byte of {b, a} goes where, for selector bits 0 and 1.
template <int kMode>
struct PrmtMode {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
    constexpr std::uint16_t kTable[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
        {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
        {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
        {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
        {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
        {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
    };
    return Prmt::run(a, b, kTable[kMode][selector & 3]);
  }
};

enum : std::uint8_t { kAnd, kOr, kXor, kNotOf };

void run_predicate(Context& c, const Instruction& i) {
  const std::uint32_t a = c.predicate(i.at[1]);
  const std::uint32_t b = i.variant < kNotOf ? c.predicate(i.at[2]) : 0;
  std::uint32_t result = a;
  if (i.variant == kAnd) result = a & b;
  if (i.variant == kOr) result = a | b;
  if (i.variant == kXor) result = a ^ b;
  if (i.variant == kNotOf) result = ~a;
  std::uint32_t& to = c.predicate(i.at[0]);
  to = (to & ~c.mask) | (result & c.mask);
}

template <class F, std::uint8_t kVariant, bool kUnary>
void decode_bits(Decoder& d) {
  if (d.type() == Type::pred) {
    d.instruction.run = run_predicate;
    d.instruction.variant = kVariant;
    d.instruction.at[0] = d.destination(0, kPredicate);
    d.instruction.at[1] = d.predicate(1);
    if (!kUnary) d.instruction.at[2] = d.predicate(2);
    return;
  }
  const bool known = with_bits(d.type(), [&]<class T>() {
    if constexpr (kUnary)
      set<F, T, T>(d);
    else
      set<F, T, T, T>(d);
  });
  if (!known) d.unknown();
}
void decode_shl(Decoder& d) {
  if (!with_bits(d.type(), [&]<class T>() { set<Shl, T, T, std::uint32_t>(d); })) d.unknown();
}
void decode_shr(Decoder& d) {
  if (!with_integer(d.type(), [&]<class T>() { set<Shr, T, T, std::uint32_t>(d); })) d.unknown();
}
/// lop3.or|and.b32 d|p, a, b, c, table, {!}q: p = (d != 0) or|and q.
void run_lop3_predicate(Context& c, const Instruction& i) {
  std::uint32_t nonzero = 0;
  std::uint32_t* to = c.plane(i.at[0]);
  each_lane(c.mask, [&](std::uint32_t l) {
    to[l] = Lop3::run(c.plane(i.at[1])[l], c.plane(i.at[2])[l], c.plane(i.at[3])[l],
                      c.plane(i.at[4])[l]);
    nonzero |= static_cast<std::uint32_t>(to[l] != 0) << l;
  });
  const std::uint32_t q = i.flags & 1 ? ~c.predicate(i.at[6]) : c.predicate(i.at[6]);
  std::uint32_t& p = c.predicate(i.at[5]);
  p = (p & ~c.mask) | ((i.variant == kOr ? nonzero | q : nonzero & q) & c.mask);
}
void decode_lop3(Decoder& d) {
  if (!d.has_any({"and", "or"}))
    return set<Lop3, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>(d);
  Instruction& i = d.instruction;
  i.run = run_lop3_predicate;
  i.variant = d.has("or") ? kOr : kAnd;
  i.at[0] = d.destination(0, 4);
  for (std::size_t n = 1; n < 5; ++n) i.at[n] = d.source(n, 4);
  i.at[5] = d.second_destination();
  if (i.at[5] == kNone) d.refuse("needs a predicate behind its result, as in %r0|%p0");
  bool negated = false;
  i.at[6] = d.predicate(5, negated);
  i.flags = negated;
}
void decode_shf(Decoder& d) {
  using U = std::uint32_t;
  const bool left = d.has("l"), clamp = d.has("clamp");
  if (left && clamp) return set<Funnel<true, true>, U, U, U, U>(d);
  if (left) return set<Funnel<true, false>, U, U, U, U>(d);
  if (clamp) return set<Funnel<false, true>, U, U, U, U>(d);
  set<Funnel<false, false>, U, U, U, U>(d);
}
void decode_prmt(Decoder& d) {
  using U = std::uint32_t;
  if (d.has("f4e")) return set<PrmtMode<0>, U, U, U, U>(d);
  if (d.has("b4e")) return set<PrmtMode<1>, U, U, U, U>(d);
  if (d.has("rc8")) return set<PrmtMode<2>, U, U, U, U>(d);
  if (d.has("ecl")) return set<PrmtMode<3>, U, U, U, U>(d);
  if (d.has("ecr")) return set<PrmtMode<4>, U, U, U, U>(d);
  if (d.has("rc16")) return set<PrmtMode<5>, U, U, U, U>(d);
  set<Prmt, U, U, U, U>(d);
}
void decode_bfe(Decoder& d) {
  if (!with_integer(d.type(), [&]<class T>() { set<Bfe, T, T, std::uint32_t, std::uint32_t>(d); }))
    d.unknown();
}
void decode_bfi(Decoder& d) {
  if (!with_bits(d.type(), [&]<class T>() { set<Bfi, T, T, T, std::uint32_t, std::uint32_t>(d); }))
    d.unknown();
}
void decode_bfind(Decoder& d) {
  const bool shift = d.has("shiftamt");
  if (!with_integer(d.type(), [&]<class T>() {
        if (shift)
          set<Bfind<true>, std::uint32_t, T>(d);
        else
          set<Bfind<false>, std::uint32_t, T>(d);
      }))
    d.unknown();
}
template <class F>
void decode_count(Decoder& d) {
  if (!with_bits(d.type(), [&]<class T>() { set<F, std::uint32_t, T>(d); })) d.unknown();
}
void decode_cnot(Decoder& d) {
  if (!with_bits(d.type(), [&]<class T>() { set<CNot, T, T>(d); })) d.unknown();
}
void decode_brev(Decoder& d) {
  if (!with_bits(d.type(), [&]<class T>() { set<Brev, T, T>(d); })) d.unknown();
}
void decode_dp4a(Decoder& d) {
  using U = std::uint32_t;
  if (d.types.size() != 2) d.unknown();
  const bool a = is_signed(d.types[0]), b = is_signed(d.types[1]);
  if (a && b) return set<Dot4<std::int8_t, std::int8_t>, U, U, U, U>(d);
  if (a) return set<Dot4<std::int8_t, std::uint8_t>, U, U, U, U>(d);
  if (b) return set<Dot4<std::uint8_t, std::int8_t>, U, U, U, U>(d);
  set<Dot4<std::uint8_t, std::uint8_t>, U, U, U, U>(d);
}

void decode_dp2a(Decoder& d) {
  using U = std::uint32_t;
  if (d.types.size() != 2) d.unknown();
  const bool a = is_signed(d.types[0]), b = is_signed(d.types[1]);
  const auto with = [&]<bool kHigh>() {
    if (a && b) return set<Dot2<std::int16_t, std::int8_t, kHigh>, U, U, U, U>(d);
    if (a) return set<Dot2<std::int16_t, std::uint8_t, kHigh>, U, U, U, U>(d);
    if (b) return set<Dot2<std::uint16_t, std::int8_t, kHigh>, U, U, U, U>(d);
    set<Dot2<std::uint16_t, std::uint8_t, kHigh>, U, U, U, U>(d);
  };
  d.has("hi") ? with.template operator()<true>() : with.template operator()<false>();
}
void decode_szext(Decoder& d) {
  using U = std::uint32_t;
  using I = std::int32_t;
  const bool clamp = d.has("clamp");
  if (is_signed(d.type()))
    return clamp ? set<SignExtend<true>, I, I, U>(d) : set<SignExtend<false>, I, I, U>(d);
  clamp ? set<SignExtend<true>, U, U, U>(d) : set<SignExtend<false>, U, U, U>(d);
}
void decode_bmsk(Decoder& d) {
  using U = std::uint32_t;
  d.has("clamp") ? set<BitMask<true>, U, U, U>(d) : set<BitMask<false>, U, U, U>(d);
}
void decode_fns(Decoder& d) {
  set<FindNth, std::uint32_t, std::uint32_t, std::uint32_t, std::int32_t>(d);
}

constexpr Opcode kOpcodes[] = {
    {"and", decode_bits<And, kAnd, false>},
    {"or", decode_bits<Or, kOr, false>},
    {"xor", decode_bits<Xor, kXor, false>},
    {"not", decode_bits<Not, kNotOf, true>},
    {"cnot", decode_cnot},
    {"shl", decode_shl},
    {"shr", decode_shr},
    {"lop3", decode_lop3},
    {"shf", decode_shf},
    {"prmt", decode_prmt},
    {"bfe", decode_bfe},
    {"bfi", decode_bfi},
    {"bfind", decode_bfind},
    {"brev", decode_brev},
    {"clz", decode_count<Clz>},
    {"popc", decode_count<Popc>},
    {"dp4a", decode_dp4a},
    {"dp2a", decode_dp2a},
    {"szext", decode_szext},
    {"bmsk", decode_bmsk},
    {"fns", decode_fns},
};

}  // namespace

std::span<const Opcode> bit_opcodes() { return kOpcodes; }

}  // namespace halftone::simulator
