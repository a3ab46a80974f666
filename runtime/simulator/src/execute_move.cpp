// SPDX-License-Identifier: Apache-2.0
// mov and its kin: PTX ISA 9.0, 9.7.9.1 to 9.7.9.7; cvta, 9.7.9.20. A variable's name is its
// address.
#include "lanes.hpp"

namespace halftone::simulator {

namespace {

struct Copy1 {
  template <class T>
  [[gnu::always_inline]] static T run(T a) {
    return a;
  }
};

/// {a, b} = x and x = {a, b}: `width` parts of `bytes` each in a value of 4 or 8 bytes.
void run_unpack(Context& c, const Instruction& i) {
  const std::uint32_t bits = 8u * i.bytes;
  const bool wide = i.bytes * i.width == 8;
  const auto* from32 = c.plane(i.at[8]);
  const auto* from64 = c.plane<std::uint64_t>(i.at[8]);
  std::array<std::uint64_t, 32> values{};
  each_lane(c.mask, [&](std::uint32_t l) { values[l] = wide ? from64[l] : from32[l]; });
  for (std::uint32_t part = 0; part < i.width; ++part)
    each_lane(c.mask, [&](std::uint32_t l) {
      c.plane(i.at[part])[l] =
          static_cast<std::uint32_t>(values[l] >> (bits * part) & ((std::uint64_t{1} << bits) - 1));
    });
}
void run_pack(Context& c, const Instruction& i) {
  const std::uint32_t bits = 8u * i.bytes;
  std::array<std::uint64_t, 32> values{};
  for (std::uint32_t part = 0; part < i.width; ++part)
    each_lane(c.mask, [&](std::uint32_t l) {
      const std::uint64_t value = c.plane(i.at[part])[l] & ((std::uint64_t{1} << bits) - 1);
      values[l] |= value << (bits * part);
    });
  const bool wide = i.bytes * i.width == 8;
  each_lane(c.mask, [&](std::uint32_t l) {
    if (wide)
      c.plane<std::uint64_t>(i.at[8])[l] = values[l];
    else
      c.plane(i.at[8])[l] = static_cast<std::uint32_t>(values[l]);
  });
}

void run_predicate_copy(Context& c, const Instruction& i) {
  std::uint32_t& to = c.predicate(i.at[0]);
  to = (to & ~c.mask) | (c.predicate(i.at[1]) & c.mask);
}

void run_active_mask(Context& c, const Instruction& i) {
  std::uint32_t* to = c.plane(i.at[0]);
  each_lane(c.mask, [&](std::uint32_t l) { to[l] = c.group.mask; });
}

/// %clock and %globaltimer: instructions of the launch so far.
template <class T>
void run_clock(Context& c, const Instruction& i) {
  T* to = c.plane<T>(i.at[0]);
  each_lane(c.mask, [&](std::uint32_t l) {
    to[l] = static_cast<T>(c.launch.counters.warp_instructions + c.warp.executed);
  });
}

void decode_mov(Decoder& d) {
  using Kind = syntax::Operand::Kind;
  Instruction& i = d.instruction;
  const std::uint8_t bytes = bytes_of(d.type());
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const syntax::Operand& parts = d.operand(side);
    if (parts.kind != Kind::vector) continue;
    if (bytes > 8) d.unknown();
    const std::size_t count = parts.parts.size();
    if ((count != 2 && count != 4) || bytes < count)
      d.refuse("needs 2 or 4 parts of whole bytes, not " + std::to_string(count));
    i.width = static_cast<std::uint8_t>(count);
    i.bytes = static_cast<std::uint8_t>(bytes / i.width);
    for (std::size_t part = 0; part < count; ++part)
      i.at[part] = side == 0 ? d.destination(parts.parts[part], i.bytes)
                             : d.source(parts.parts[part], i.bytes);
    i.at[8] = side == 0 ? d.source(1, bytes) : d.destination(0, bytes);
    i.run = side == 0 ? run_unpack : run_pack;
    return;
  }
  if (d.type() == Type::pred) {
    i.run = run_predicate_copy;
    i.at[0] = d.destination(0, kPredicate);
    i.at[1] = d.predicate(1);
    return;
  }
  const std::string_view name = d.operand(1).name;
  if (name == "%clock" || name == "%clock_hi" || name == "%clock64" || name == "%globaltimer" ||
      name == "%globaltimer_lo") {
    i.at[0] = d.destination(0, bytes);
    i.run = bytes == 8 ? run_clock<std::uint64_t> : run_clock<std::uint32_t>;
    return;
  }
  // A parameter's name is its address in each thread's local memory, or in the kernel's parameters.
  std::int64_t at = d.local_parameter(name);
  if (at < 0) at = d.entry_parameter(name);
  if (at >= 0) {
    syntax::Operand address;
    address.kind = Kind::integer;
    address.bits = static_cast<std::uint64_t>(at + d.operand(1).offset);
    i.at[0] = d.destination(0, bytes);
    i.at[1] = d.source(address, bytes);
    i.run = bytes == 8 ? lanes_of<Copy1, std::uint64_t, std::uint64_t>()
                       : lanes_of<Copy1, std::uint32_t, std::uint32_t>();
    return;
  }
  if (!with_bits(d.type(), [&]<class T>() { set<Copy1, T, T>(d); })) d.unknown();
}

void decode_activemask(Decoder& d) {
  d.instruction.run = run_active_mask;
  d.instruction.at[0] = d.destination(0, 4);
}

template <std::uint64_t kWindow, bool kTo, class T>
void run_cvta(Context& c, const Instruction& i) {
  T* to = c.plane<T>(i.at[0]);
  const T* from = c.plane<T>(i.at[1]);
  each_lane(c.mask, [&](std::uint32_t l) {
    to[l] = static_cast<T>(kTo ? from[l] - kWindow : from[l] + kWindow);
  });
}

void decode_cvta(Decoder& d) {
  Instruction& i = d.instruction;
  if (d.type() != Type::u64) d.unknown();
  i.at[0] = d.destination(0, 8);
  i.at[1] = d.source(1, 8);
  const bool to = d.has("to");
  using U = std::uint64_t;
  if (d.has_any({"shared", "shared::cta"})) {
    i.run = to ? run_cvta<kSharedWindow, true, U> : run_cvta<kSharedWindow, false, U>;
  } else if (d.has("local")) {
    i.run = to ? run_cvta<kLocalWindow, true, U> : run_cvta<kLocalWindow, false, U>;
  } else if (d.has("param")) {
    i.run = to ? run_cvta<kParameterWindow, true, U> : run_cvta<kParameterWindow, false, U>;
  } else if (d.has_any({"global", "const"})) {
    i.run = run_cvta<0, true, U>;
  } else {
    d.unknown();
  }
}

constexpr Opcode kOpcodes[] = {
    {"mov", decode_mov}, {"activemask", decode_activemask}, {"cvta", decode_cvta}};

}  // namespace

std::span<const Opcode> move_opcodes() { return kOpcodes; }

}  // namespace halftone::simulator
