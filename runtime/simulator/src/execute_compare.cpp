// SPDX-License-Identifier: Apache-2.0
// Comparisons and selections: PTX ISA 9.0, 9.7.3.3 (testp), 9.7.6 and 9.7.7. A comparison of floats
// is false with a NaN, but for the unordered ones.
#include <algorithm>

#include "lanes.hpp"
#include "rounding.hpp"

namespace halftone::simulator {

namespace {

enum class Test : std::uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

constexpr std::pair<std::string_view, Test> kTests[] = {
    {"eq", Test::eq},   {"ne", Test::ne},   {"lt", Test::lt},   {"le", Test::le},
    {"gt", Test::gt},   {"ge", Test::ge},   {"lo", Test::lt},   {"ls", Test::le},
    {"hi", Test::gt},   {"hs", Test::ge},   {"equ", Test::equ}, {"neu", Test::neu},
    {"ltu", Test::ltu}, {"leu", Test::leu}, {"gtu", Test::gtu}, {"geu", Test::geu},
    {"num", Test::num}, {"nan", Test::nan},
};

template <Test kTest, class T>
[[gnu::always_inline]] inline bool holds(T a, T b) {
  if constexpr (kTest == Test::eq) return a == b;
  if constexpr (kTest == Test::ne) {
    if constexpr (std::is_floating_point_v<T>) return a < b || a > b;  // false with a NaN
    return a != b;
  }
  if constexpr (kTest == Test::lt) return a < b;
  if constexpr (kTest == Test::le) return a <= b;
  if constexpr (kTest == Test::gt) return a > b;
  if constexpr (kTest == Test::ge) return a >= b;
  if constexpr (kTest == Test::equ) return !(a < b || a > b);
  if constexpr (kTest == Test::neu) return a != b;
  if constexpr (kTest == Test::ltu) return !(a >= b);
  if constexpr (kTest == Test::leu) return !(a > b);
  if constexpr (kTest == Test::gtu) return !(a <= b);
  if constexpr (kTest == Test::geu) return !(a < b);
  if constexpr (kTest == Test::num) return a == a && b == b;
  return a != a || b != b;
}

template <class T>
struct Reads {
  [[gnu::always_inline]] static T of(Lane<T> lane) { return get<T>(lane); }
};
template <NumberFormat k>
struct Reads<Half<k>> {
  static float of(std::uint32_t lane) { return static_cast<float>(get<Half<k>>(lane).value()); }
};

template <Test kTest, class T>
[[gnu::always_inline]] inline std::uint32_t mask_of(Context& c, const Instruction& i) {
  const Lane<T>* a = c.plane<Lane<T>>(i.at[1]);
  const Lane<T>* b = c.plane<Lane<T>>(i.at[2]);
  std::uint32_t mask = 0;
  for (int l = 0; l < 32; ++l)
    mask |= static_cast<std::uint32_t>(holds<kTest>(Reads<T>::of(a[l]), Reads<T>::of(b[l]))) << l;
  return mask;
}

/// setp.test.boolean p|q, a, b, c: p = test op c, q = !test op c; flags: 1 and, 2 or, 4 xor.
[[gnu::always_inline]] inline void store_predicates(Context& c, const Instruction& i,
                                                    std::uint32_t p, std::uint32_t q) {
  if (i.flags != 0) {
    std::uint32_t third = c.predicate(i.at[4]);
    if (i.flags & 8) third = ~third;
    p = i.flags & 1 ? p & third : i.flags & 2 ? p | third : p ^ third;
    q = i.flags & 1 ? q & third : i.flags & 2 ? q | third : q ^ third;
  }
  std::uint32_t& to = c.predicate(i.at[0]);
  to = (to & ~c.mask) | (p & c.mask);
  if (i.at[3] != kNone) {
    std::uint32_t& other = c.predicate(i.at[3]);
    other = (other & ~c.mask) | (q & c.mask);
  }
}

template <Test kTest, class T>
void run_setp(Context& c, const Instruction& i) {
  const std::uint32_t mask = mask_of<kTest, T>(c, i);
  store_predicates(c, i, mask, ~mask);
}
#if defined(__x86_64__)
template <Test kTest, class T>
[[gnu::target("avx2,fma,bmi2")]] void run_setp_avx2(Context& c, const Instruction& i) {
  const std::uint32_t mask = mask_of<kTest, T>(c, i);
  store_predicates(c, i, mask, ~mask);
}
#endif

template <class T, std::size_t... N>
Execute setp_of(Test test, std::index_sequence<N...>) {
  Execute plain[] = {run_setp<static_cast<Test>(N), T>...};
#if defined(__x86_64__)
  Execute fast[] = {run_setp_avx2<static_cast<Test>(N), T>...};
  if (has_avx2()) return fast[static_cast<std::size_t>(test)];
#endif
  return plain[static_cast<std::size_t>(test)];
}

template <class T>
void set_setp(Decoder& d, Test test) {
  d.instruction.run = setp_of<T>(test, std::make_index_sequence<14>{});
  d.instruction.at[1] = d.source(1, sizeof(T));
  d.instruction.at[2] = d.source(2, sizeof(T));
}

Test test_of(Decoder& d) {
  for (const auto& [word, test] : kTests)
    if (d.words.size() > 1 && d.words[1] == word) return test;
  d.unknown();
}

template <std::size_t... N>
bool holds_at(Test test, float a, float b, std::index_sequence<N...>) {
  bool result = false;
  ((test == static_cast<Test>(N) && (result = holds<static_cast<Test>(N)>(a, b))), ...);
  return result;
}

/// Comparisons of .ftz operands and of 16-bit floats in pairs: bits of the low and the high halves.
struct HalfMasks {
  std::uint32_t low = 0, high = 0;
};
HalfMasks compare_parts(Context& c, const Instruction& i, Type type) {
  const bool is_f16 = type == Type::f16x2 || type == Type::f16;
  HalfMasks masks;
  each_lane(c.mask, [&](std::uint32_t l) {
    const std::uint32_t a = c.plane(i.at[1])[l], b = c.plane(i.at[2])[l];
    const auto test = [&](int part) {
      if (type == Type::f32)
        return holds_at(static_cast<Test>(i.variant), flushed(std::bit_cast<float>(a)),
                        flushed(std::bit_cast<float>(b)), std::make_index_sequence<14>{});
      const auto value = [&](std::uint32_t word) {
        const auto code = static_cast<std::uint16_t>(word >> (16 * part));
        return is_f16 ? f16_value(code) : bf16_value(code);
      };
      return holds_at(static_cast<Test>(i.variant), value(a), value(b),
                      std::make_index_sequence<14>{});
    };
    masks.low |= static_cast<std::uint32_t>(test(0)) << l;
    if (type != Type::f32) masks.high |= static_cast<std::uint32_t>(test(1)) << l;
  });
  return masks;
}

/// setp.test.ftz.f32 and, with i.bytes 2, setp.test.f16x2 p|q.
void run_setp_parts(Context& c, const Instruction& i) {
  const HalfMasks masks = compare_parts(c, i, static_cast<Type>(i.at[5]));
  store_predicates(c, i, masks.low, i.bytes == 2 ? masks.high : ~masks.low);
}

void decode_setp(Decoder& d) {
  const Test test = test_of(d);
  d.instruction.at[0] = d.destination(0, kPredicate);
  d.instruction.at[3] = d.second_destination();
  if (d.has("and")) d.instruction.flags = 1;
  if (d.has("or")) d.instruction.flags = 2;
  if (d.has("xor")) d.instruction.flags = 4;
  if (d.instruction.flags != 0) {
    bool negated = false;
    d.instruction.at[4] = d.predicate(3, negated);
    if (negated) d.instruction.flags |= 8;
  }
  const bool pair = d.type() == Type::f16x2 || d.type() == Type::bf16x2;
  if (pair || d.has("ftz")) {
    if (!pair && d.type() != Type::f32) d.unknown();
    d.instruction.variant = static_cast<std::uint8_t>(test);
    d.instruction.bytes = pair ? 2 : 4;
    d.instruction.at[1] = d.source(1, 4);
    d.instruction.at[2] = d.source(2, 4);
    d.instruction.at[5] = static_cast<std::uint32_t>(d.type());
    d.instruction.run = run_setp_parts;
    return;
  }
  switch (d.type()) {
    case Type::f32:
      return set_setp<float>(d, test);
    case Type::f64:
      return set_setp<double>(d, test);
    case Type::f16:
      return set_setp<F16>(d, test);
    case Type::bf16:
      return set_setp<BF16>(d, test);
    default:
      break;
  }
  if (!with_integer(d.type(), [&]<class T>() { set_setp<T>(d, test); })) d.unknown();
}

/// set.test.u32|s32|f32.type: a word of ones, or 1.0.
template <Test kTest, class T>
void run_set(Context& c, const Instruction& i) {
  const std::uint32_t mask = mask_of<kTest, T>(c, i);
  std::uint32_t* to = c.plane(i.at[0]);
  each_lane(c.mask, [&](std::uint32_t l) { to[l] = mask >> l & 1 ? i.flags : 0; });
}
template <class T, std::size_t... N>
Execute set_of(Test test, std::index_sequence<N...>) {
  Execute all[] = {run_set<static_cast<Test>(N), T>...};
  return all[static_cast<std::size_t>(test)];
}
/// set of 16-bit floats or .ftz: i.flags for a half that holds; both halves of a pair.
void run_set_parts(Context& c, const Instruction& i) {
  const auto type = static_cast<Type>(i.at[5]);
  const HalfMasks masks = compare_parts(c, i, type);
  std::uint32_t* to = c.plane(i.at[0]);
  each_lane(c.mask, [&](std::uint32_t l) {
    const bool low = masks.low >> l & 1, high = masks.high >> l & 1;
    to[l] = low ? i.flags : 0;
    if (i.bytes == 2) to[l] = (low ? i.flags & 0xffff : 0) | (high ? i.flags << 16 : 0);
  });
}

void decode_set(Decoder& d) {
  if (d.types.size() != 2 || d.operands() != 3) d.unknown();
  const Test test = test_of(d);
  const Type from = d.types[1];
  const bool pair = from == Type::f16x2 || from == Type::bf16x2;
  if (pair || from == Type::f16 || from == Type::bf16 || d.has("ftz")) {
    constexpr std::pair<Type, std::uint32_t> kTrue[] = {
        {Type::f16, 0x3c00},    {Type::f16x2, 0x3c00},   {Type::bf16, 0x3f80},
        {Type::bf16x2, 0x3f80}, {Type::f32, 0x3f800000}, {Type::u16, 0xffff},
        {Type::s16, 0xffff},    {Type::u32, kAllLanes},  {Type::s32, kAllLanes},
    };
    const auto held = std::ranges::find(kTrue, d.types[0], &std::pair<Type, std::uint32_t>::first);
    if (held == std::end(kTrue)) d.unknown();
    Instruction& i = d.instruction;
    i.flags = held->second;
    i.variant = static_cast<std::uint8_t>(test);
    i.bytes = pair ? 2 : 4;
    i.at[0] = d.destination(0, bytes_of(d.types[0]));
    i.at[1] = d.source(1, bytes_of(from));
    i.at[2] = d.source(2, bytes_of(from));
    i.at[5] = static_cast<std::uint32_t>(from);
    i.run = run_set_parts;
    return;
  }
  d.instruction.flags = d.types[0] == Type::f32 ? 0x3f800000u : kAllLanes;
  const auto with = [&]<class T>() {
    d.instruction.run = set_of<T>(test, std::make_index_sequence<14>{});
    d.instruction.at[0] = d.destination(0, 4);
    d.instruction.at[1] = d.source(1, sizeof(T));
    d.instruction.at[2] = d.source(2, sizeof(T));
  };
  if (d.type() == Type::f32) return with.template operator()<float>();
  if (!with_integer(d.type(), with)) d.unknown();
}

template <class T>
[[gnu::always_inline]] inline void select_lanes(Context& c, const Instruction& i) {
  T* to = c.plane<T>(i.at[0]);
  const T* a = c.plane<T>(i.at[1]);
  const T* b = c.plane<T>(i.at[2]);
  const std::uint32_t chosen = c.predicate(i.at[3]);
  if (c.mask == kAllLanes) {
    alignas(64) T out[32];
    for (int l = 0; l < 32; ++l) {
      const T pick = T{0} - static_cast<T>(chosen >> l & 1);
      out[l] = (a[l] & pick) | (b[l] & ~pick);
    }
    std::memcpy(to, out, sizeof out);
  } else {
    each_lane(c.mask, [&](std::uint32_t l) { to[l] = chosen >> l & 1 ? a[l] : b[l]; });
  }
}
template <class T>
void run_selp(Context& c, const Instruction& i) {
  select_lanes<T>(c, i);
}
#if defined(__x86_64__)
template <class T>
[[gnu::target("avx2,fma,bmi2")]] void run_selp_avx2(Context& c, const Instruction& i) {
  select_lanes<T>(c, i);
}
#endif

void decode_selp(Decoder& d) {
  const std::uint8_t bytes = bytes_of(d.type());
  const bool wide = bytes == 8;
  d.instruction.run = wide ? run_selp<std::uint64_t> : run_selp<std::uint32_t>;
#if defined(__x86_64__)
  if (has_avx2())
    d.instruction.run = wide ? run_selp_avx2<std::uint64_t> : run_selp_avx2<std::uint32_t>;
#endif
  d.instruction.at[0] = d.destination(0, bytes);
  d.instruction.at[1] = d.source(1, bytes);
  d.instruction.at[2] = d.source(2, bytes);
  d.instruction.at[3] = d.predicate(3);
}

struct Slct {
  template <class T, class C>
  static T run(T a, T b, C c) {
    return c >= 0 ? a : b;
  }
};
void decode_slct(Decoder& d) {
  if (d.types.size() != 2) d.unknown();
  const bool known = with_bits(d.types[0], [&]<class T>() {
    if (d.types[1] == Type::s32) set<Slct, T, T, T, std::int32_t>(d);
    if (d.types[1] == Type::f32) set<Slct, T, T, T, float>(d);
  });
  if (!known || !d.instruction.run) d.unknown();
}

/// testp.finite, infinite, number, notanumber, normal, subnormal.
template <class T>
void run_testp(Context& c, const Instruction& i) {
  const Lane<T>* a = c.plane<Lane<T>>(i.at[1]);
  std::uint32_t mask = 0;
  each_lane(c.mask, [&](std::uint32_t l) {
    const T x = get<T>(a[l]);
    const int kind = std::fpclassify(x);
    const bool tests[] = {kind != FP_NAN && kind != FP_INFINITE,
                          kind == FP_INFINITE,
                          kind != FP_NAN,
                          kind == FP_NAN,
                          kind == FP_NORMAL,
                          kind == FP_SUBNORMAL};
    mask |= static_cast<std::uint32_t>(tests[i.variant]) << l;
  });
  std::uint32_t& to = c.predicate(i.at[0]);
  to = (to & ~c.mask) | mask;
}
void decode_testp(Decoder& d) {
  constexpr std::string_view kWords[] = {"finite",     "infinite", "number",
                                         "notanumber", "normal",   "subnormal"};
  const auto word = std::find(std::begin(kWords), std::end(kWords), d.words[1]);
  if (word == std::end(kWords)) d.unknown();
  d.instruction.variant = static_cast<std::uint8_t>(word - std::begin(kWords));
  d.instruction.run = d.type() == Type::f64 ? run_testp<double> : run_testp<float>;
  d.instruction.at[0] = d.destination(0, kPredicate);
  d.instruction.at[1] = d.source(1, bytes_of(d.type()));
}
constexpr Opcode kOpcodes[] = {
    {"setp", decode_setp}, {"set", decode_set},     {"selp", decode_selp},
    {"slct", decode_slct}, {"testp", decode_testp},
};

}  // namespace

std::span<const Opcode> compare_opcodes() { return kOpcodes; }

}  // namespace halftone::simulator
