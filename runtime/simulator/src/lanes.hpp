// SPDX-License-Identifier: Apache-2.0
// Instructions that compute each lane from itself: an operation is a struct with a static run(),
// and set() makes an instruction of it. Each exists twice, for any x86-64 and for AVX2 with FMA,
// where the 32 lanes become vectors.
#pragma once

#include <cmath>
#include <tuple>
#include <utility>

#include "decode.hpp"
#include "execute.hpp"
#include "formats.hpp"

namespace halftone::simulator {

template <class F, class R, class... A, std::size_t... N>
[[gnu::always_inline]] inline void run_lanes(Context& c, const Instruction& i,
                                             std::index_sequence<N...>) {
  Lane<R>* to = c.plane<Lane<R>>(i.at[0]);
  const auto from = std::make_tuple(c.plane<Lane<A>>(i.at[1 + N])...);
  if (c.mask == kAllLanes) {
    alignas(64) Lane<R> out[32];  // results may lie where operands do
    for (int l = 0; l < 32; ++l) out[l] = put<R>(F::run(get<A>(std::get<N>(from)[l])...));
    std::memcpy(to, out, sizeof out);
  } else {
    each_lane(c.mask,
              [&](std::uint32_t l) { to[l] = put<R>(F::run(get<A>(std::get<N>(from)[l])...)); });
  }
}

template <class F, class R, class... A>
void lanes(Context& c, const Instruction& i) {
  run_lanes<F, R, A...>(c, i, std::index_sequence_for<A...>{});
}

#if defined(__x86_64__)
template <class F, class R, class... A>
[[gnu::target("avx2,fma,bmi2")]] void lanes_avx2(Context& c, const Instruction& i) {
  run_lanes<F, R, A...>(c, i, std::index_sequence_for<A...>{});
}
inline bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi2");
  return has;
}
#endif

template <class F, class R, class... A>
Execute lanes_of() {
#if defined(__x86_64__)
  if (has_avx2()) return lanes_avx2<F, R, A...>;
#endif
  return lanes<F, R, A...>;
}

/// result = F(operand 1, operand 2, ...), of these types.
template <class F, class R, class... A>
void set(Decoder& d) {
  d.instruction.run = lanes_of<F, R, A...>();
  d.instruction.at[0] = d.destination(0, sizeof(R));
  std::size_t n = 0;
  ((++n, d.instruction.at[n] = d.source(n, sizeof(A))), ...);
}

/// A 16-bit float: arithmetic reads it as double and rounds its result once.
template <NumberFormat kFormat>
struct Half {
  static constexpr int kLeastExponent = kFormat == NumberFormat::f16 ? -14 : -126;
  std::uint16_t code;

  [[nodiscard]] double value() const {
    return kFormat == NumberFormat::f16 ? f16_value(code) : bf16_value(code);
  }
  static Half of(double value) { return {static_cast<std::uint16_t>(encode(kFormat, value))}; }
};
using F16 = Half<NumberFormat::f16>;
using BF16 = Half<NumberFormat::bf16>;

/// Two of them in a register.
template <class H>
struct Two {
  std::uint16_t low, high;
};

/// Calls visit.template operator()<T>() for integers.
template <class Visit>
bool with_integer(Type type, Visit visit) {
  switch (type) {
    case Type::u16:
    case Type::b16:
      visit.template operator()<std::uint16_t>();
      return true;
    case Type::s16:
      visit.template operator()<std::int16_t>();
      return true;
    case Type::u32:
    case Type::b32:
      visit.template operator()<std::uint32_t>();
      return true;
    case Type::s32:
      visit.template operator()<std::int32_t>();
      return true;
    case Type::u64:
    case Type::b64:
      visit.template operator()<std::uint64_t>();
      return true;
    case Type::s64:
      visit.template operator()<std::int64_t>();
      return true;
    default:
      return false;
  }
}

/// The same by size alone.
template <class Visit>
bool with_bits(Type type, Visit visit) {
  switch (bytes_of(type)) {
    case 2:
      visit.template operator()<std::uint16_t>();
      return true;
    case 4:
      visit.template operator()<std::uint32_t>();
      return true;
    case 8:
      visit.template operator()<std::uint64_t>();
      return true;
    default:
      return false;
  }
}
}  // namespace halftone::simulator
