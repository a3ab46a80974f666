// SPDX-License-Identifier: Apache-2.0
// atom and red: PTX ISA 9.0, 9.7.13.12 and .13. Lanes take turns in ascending order, which is one
// of the orders that a chip may choose.
#include <algorithm>
#include <cmath>

#include "access.hpp"
#include "decode.hpp"
#include "lanes.hpp"
#include "rounding.hpp"

namespace halftone::simulator {

namespace {

enum : std::uint8_t { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExch, kCas };

constexpr std::string_view kWords[] = {"add", "min", "max", "inc",  "dec",
                                       "and", "or",  "xor", "exch", "cas"};

template <class T>
T combine(std::uint8_t operation, T old, T b, T c) {
  if constexpr (std::is_floating_point_v<T>) {
    if (operation == kAdd) {
      const T sum = old + b;
      return sum != sum ? canonical_nan<T>() : sum;
    }
    return operation == kExch ? b : old;
  } else {
    using U = std::make_unsigned_t<T>;
    switch (operation) {
      case kAdd:
        return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
      case kMin:
        return std::min(old, b);
      case kMax:
        return std::max(old, b);
      case kInc:
        return old >= b ? T{0} : static_cast<T>(old + 1);
      case kDec:
        return old == 0 || old > b ? b : static_cast<T>(old - 1);
      case kAnd:
        return static_cast<T>(old & b);
      case kOr:
        return static_cast<T>(old | b);
      case kXor:
        return static_cast<T>(old ^ b);
      case kExch:
        return b;
      default:
        return old == b ? c : old;  // cas
    }
  }
}

/// f16, bf16 or pairs of them: add, min, max of each.
template <class H>
H combine_half(std::uint8_t operation, H old, H b) {
  const double x = old.value(), y = b.value();
  if (operation == kAdd) return H::of(x + y);
  const bool least = operation == kMin;
  if (x != x && y != y) return {0x7fff};
  if (x != x || y != y) return x != x ? b : old;
  if (x == y) return std::signbit(x) == least ? old : b;  // -0 is less than +0
  return least == (y < x) ? b : old;
}
template <class H>
Two<H> combine_half(std::uint8_t operation, Two<H> old, Two<H> b) {
  return {combine_half(operation, H{old.low}, H{b.low}).code,
          combine_half(operation, H{old.high}, H{b.high}).code};
}

template <class T, class Combine>
void run(Context& c, const Instruction& i, Combine combine_values) {
  Access access;
  access.space = i.space;
  access.use = Use::atomic;
  access.bytes = sizeof(T);
  gather_addresses(c, i, i.at[16], access);
  using L = Lane<T>;
  resolve(c, i, access, [&](const Access& a) {
    c.launch.counters.atomics += static_cast<std::uint64_t>(std::popcount(a.mask));
    each_lane(a.mask, [&](std::uint32_t l) {
      T old;
      std::memcpy(&old, a.data[l], sizeof(T));
      const T b = get<T>(c.plane<L>(i.at[1])[l]);
      const T third = i.variant == kCas ? get<T>(c.plane<L>(i.at[2])[l]) : T{};
      const T value = combine_values(old, b, third);
      c.launch.progress += std::memcmp(a.data[l], &value, sizeof(T)) != 0;
      std::memcpy(a.data[l], &value, sizeof(T));
      if (i.at[0] != kNone) c.plane<L>(i.at[0])[l] = put(old);
    });
  });
}

template <class T>
void run_atomic(Context& c, const Instruction& i) {
  run<T>(c, i, [&](T old, T b, T third) { return combine(i.variant, old, b, third); });
}

template <class T>
void run_half(Context& c, const Instruction& i) {
  run<T>(c, i, [&](T old, T b, T) { return combine_half(i.variant, old, b); });
}

/// red.vN, atom.vN of f32 or of pairs of 16-bit floats: the elements one after the other; at[1] and
/// on the sources, at[8] and on the results.
template <class T, class Combine>
void run_vector(Context& c, const Instruction& i, Combine combine_values) {
  Access access;
  access.space = i.space;
  access.use = Use::atomic;
  access.bytes = static_cast<std::uint32_t>(sizeof(T)) * i.width;
  gather_addresses(c, i, i.at[16], access);
  resolve(c, i, access, [&](const Access& a) {
    c.launch.counters.atomics += static_cast<std::uint64_t>(std::popcount(a.mask));
    ++c.launch.progress;
    each_lane(a.mask, [&](std::uint32_t l) {
      for (std::uint32_t e = 0; e < i.width; ++e) {
        T old;
        std::memcpy(&old, a.data[l] + e * sizeof(T), sizeof(T));
        const T value = combine_values(old, get<T>(c.plane(i.at[1 + e])[l]));
        std::memcpy(a.data[l] + e * sizeof(T), &value, sizeof(T));
        if (i.at[8 + e] != kNone) c.plane(i.at[8 + e])[l] = put(old);
      }
    });
  });
}

void decode_vector(Decoder& d, std::size_t first) {
  Instruction& i = d.instruction;
  if (i.variant != kAdd) d.unknown();
  i.width = static_cast<std::uint8_t>(d.elements());
  const auto results = first == 0 ? std::span<const syntax::Operand>() : d.list(0, i.width);
  const auto sources = d.list(first + 1, i.width);
  for (std::size_t e = 0; e < i.width; ++e) {
    i.at[1 + e] = d.source(sources[e], 4);
    i.at[8 + e] = results.empty() ? kNone : d.destination(results[e], 4);
  }
  i.at[16] = d.address(d.operand(first), i);
  using P = Two<F16>;
  using Q = Two<BF16>;
  if (d.type() == Type::f32)
    i.run = [](Context& c, const Instruction& at) {
      run_vector<float>(c, at, [](float x, float y) { return combine(kAdd, x, y, 0.0f); });
    };
  else if (d.type() == Type::f16x2)
    i.run = [](Context& c, const Instruction& at) {
      run_vector<P>(c, at, [](P x, P y) { return combine_half(kAdd, x, y); });
    };
  else if (d.type() == Type::bf16x2)
    i.run = [](Context& c, const Instruction& at) {
      run_vector<Q>(c, at, [](Q x, Q y) { return combine_half(kAdd, x, y); });
    };
  else
    d.unknown();
}

/// Null for types that have no atomics.
Execute atomic_of(Type type) {
  switch (type) {
    case Type::u32:
    case Type::b32:
      return run_atomic<std::uint32_t>;
    case Type::s32:
      return run_atomic<std::int32_t>;
    case Type::u64:
    case Type::b64:
      return run_atomic<std::uint64_t>;
    case Type::s64:
      return run_atomic<std::int64_t>;
    case Type::b16:
      return run_atomic<std::uint16_t>;
    case Type::f32:
      return run_atomic<float>;
    case Type::f64:
      return run_atomic<double>;
    case Type::f16:
      return run_half<F16>;
    case Type::bf16:
      return run_half<BF16>;
    case Type::f16x2:
      return run_half<Two<F16>>;
    case Type::bf16x2:
      return run_half<Two<BF16>>;
    default:
      return nullptr;
  }
}

void decode_atomic(Decoder& d) {
  Instruction& i = d.instruction;
  const bool red = d.words[0] == "red";
  i.space = d.has("global")                        ? Space::global
            : d.has_any({"shared", "shared::cta"}) ? Space::shared
            : d.has("shared::cluster")             ? Space::cluster
                                                   : Space::generic;
  i.variant = 255;
  for (std::uint8_t n = 0; n < std::size(kWords); ++n)
    if (d.has(kWords[n])) i.variant = n;
  if (i.variant == 255) d.unknown();
  i.flags |= kStrong;
  if (d.has_any({"acquire", "acq_rel"})) i.flags |= kAcquire;
  if (d.has_any({"release", "acq_rel"})) i.flags |= kRelease;
  i.flags |= scope_word(d, Scope::device);
  const std::uint8_t bytes = bytes_of(d.type());
  const std::size_t first = red ? 0 : 1;
  if (d.has_any({"v2", "v4", "v8"})) return decode_vector(d, first);
  i.at[0] = red ? kNone : d.destination(0, bytes);
  i.at[16] = d.address(d.operand(first), i);
  i.at[1] = d.source(first + 1, bytes);
  if (i.variant == kCas) i.at[2] = d.source(first + 2, bytes);
  i.bytes = bytes;
  i.run = atomic_of(d.type());
  if (!i.run) d.unknown();
}

constexpr Opcode kOpcodes[] = {{"atom", decode_atomic}, {"red", decode_atomic}};

}  // namespace

std::span<const Opcode> atomic_opcodes() { return kOpcodes; }

}  // namespace halftone::simulator
