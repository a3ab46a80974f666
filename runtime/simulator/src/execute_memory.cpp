// SPDX-License-Identifier: Apache-2.0
// ld, st and their kin: PTX ISA 9.0, 9.7.9.8 to 9.7.9.19. Caching hints change nothing here.
#include "access.hpp"
#include "decode.hpp"
#include "lanes.hpp"

namespace halftone::simulator {

namespace {

/// Element `e` of what a lane loaded, widened to its register as the type says.
template <class T>
void store_lanes(Context& c, const Instruction& i, const Access& a) {
  for (std::uint32_t e = 0; e < i.width; ++e) {
    const bool wide = i.more[e] == 8;
    auto* narrow_to = c.plane(i.at[e]);
    auto* wide_to = c.plane<std::uint64_t>(i.at[e]);
    each_lane(a.mask, [&](std::uint32_t l) {
      T value;
      std::memcpy(&value, a.data[l] + e * sizeof(T), sizeof(T));
      using Extended = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      if (wide)
        wide_to[l] = static_cast<std::uint64_t>(static_cast<Extended>(value));
      else
        narrow_to[l] = static_cast<std::uint32_t>(static_cast<Extended>(value));
    });
  }
}

/// Lanes whose load failed read ones.
void poison(Context& c, const Instruction& i, std::uint32_t mask) {
  for (std::uint32_t e = 0; e < i.width; ++e)
    each_lane(mask, [&](std::uint32_t l) {
      if (i.more[e] == 8)
        c.plane<std::uint64_t>(i.at[e])[l] = ~std::uint64_t{0};
      else
        c.plane(i.at[e])[l] = kAllLanes;
    });
}

template <class T>
void run_ld(Context& c, const Instruction& i) {
  Access access;
  access.space = i.space;
  access.bytes = static_cast<std::uint32_t>(sizeof(T)) * i.width;
  gather_addresses(c, i, i.at[16], access);
  std::uint32_t served = 0;
  resolve(c, i, access, [&](const Access& a) {
    served |= a.mask;
    store_lanes<T>(c, i, a);
  });
  if (served != c.mask) poison(c, i, c.mask & ~served);
}

/// Whether two lanes store the same; see Races::access for the context.
template <class T>
bool same_stored(const void* context, std::uint32_t lane, std::uint32_t other) {
  const auto [c, i] = *static_cast<const std::pair<const Context*, const Instruction*>*>(context);
  for (std::uint32_t e = 0; e < i->width; ++e) {
    const bool wide = i->more[e] == 8;
    const auto value = [&, c = c, i = i](std::uint32_t l) {
      return wide ? static_cast<T>(c->template plane<std::uint64_t>(i->at[e])[l])
                  : static_cast<T>(c->plane(i->at[e])[l]);
    };
    if (value(lane) != value(other)) return false;
  }
  return true;
}

template <class T>
void run_st(Context& c, const Instruction& i) {
  Access access;
  access.space = i.space;
  access.use = Use::write;
  access.bytes = static_cast<std::uint32_t>(sizeof(T)) * i.width;
  gather_addresses(c, i, i.at[16], access);
  ++c.launch.progress;
  resolve(
      c, i, access,
      [&](const Access& a) {
        for (std::uint32_t e = 0; e < i.width; ++e) {
          const auto* from32 = c.plane(i.at[e]);
          const auto* from64 = c.plane<std::uint64_t>(i.at[e]);
          each_lane(a.mask, [&](std::uint32_t l) {
            const T value = i.more[e] == 8 ? static_cast<T>(from64[l]) : static_cast<T>(from32[l]);
            std::memcpy(a.data[l] + e * sizeof(T), &value, sizeof(T));
          });
        }
      },
      same_stored<T>);
}

/// ld.param of the kernel's own: the same for all.
template <class T>
void run_ld_parameter(Context& c, const Instruction& i) {
  for (std::uint32_t e = 0; e < i.width; ++e) {
    T value{};
    const auto at = static_cast<std::size_t>(i.offset) + e * sizeof(T);
    std::memcpy(&value, c.launch.parameters.data() + at, sizeof(T));
    each_lane(c.mask, [&](std::uint32_t l) {
      if (i.more[e] == 8)
        c.plane<std::uint64_t>(i.at[e])[l] = static_cast<std::uint64_t>(value);
      else
        c.plane(i.at[e])[l] = static_cast<std::uint32_t>(value);
    });
  }
}

/// Calls visit.template operator()<T>() with the integer that holds a value of the type.
template <class Visit>
bool with_type(Type type, Visit visit) {
  switch (type) {
    case Type::b8:
    case Type::u8:
      visit.template operator()<std::uint8_t>();
      return true;
    case Type::s8:
      visit.template operator()<std::int8_t>();
      return true;
    case Type::f16:
    case Type::bf16:
      return with_integer(Type::b16, visit);
    case Type::f32:
    case Type::f16x2:
    case Type::bf16x2:
      return with_integer(Type::b32, visit);
    case Type::f64:
      return with_integer(Type::b64, visit);
    default:
      return with_integer(type, visit);
  }
}

Space space_word(const Decoder& d) {
  if (d.has("global")) return Space::global;
  if (d.has_any({"shared", "shared::cta"})) return Space::shared;
  if (d.has("local")) return Space::local;
  if (d.has_any({"param", "param::entry", "param::func"})) return Space::parameter;
  if (d.has("const")) return Space::constant;
  if (d.has("shared::cluster")) return Space::cluster;
  return Space::generic;
}

/// Registers of a scalar or {a, b}, which may be wider than the type.
void place_elements(Decoder& d, std::size_t operand, bool write) {
  Instruction& i = d.instruction;
  i.width = static_cast<std::uint8_t>(d.elements());
  const auto parts = d.list(operand, i.width);
  for (std::size_t e = 0; e < i.width; ++e) {
    const bool wide = d.register_bytes(parts[e].name) == 8;
    const std::uint8_t bytes = wide ? 8 : bytes_of(d.type());
    i.at[e] = write ? d.source(parts[e], bytes) : d.destination(parts[e], bytes);
    i.more.push_back(bytes == 8 ? 8 : 4);
  }
}

void decode_strength(Decoder& d) {
  Instruction& i = d.instruction;
  if (d.has("nc")) i.flags |= kReadOnly;
  if (d.has_any({"volatile", "relaxed", "acquire", "release", "mmio"})) i.flags |= kStrong;
  if (d.has("acquire")) i.flags |= kAcquire;
  if (d.has("release")) i.flags |= kRelease;
  i.flags |= scope_word(d, Scope::system);
}

/// A load of `bytes` bytes of the kernel's own parameters lies in them, on its grain.
void check_parameters(const Decoder& d, std::uint64_t bytes) {
  const auto at = static_cast<std::uint64_t>(d.instruction.offset);
  if (const std::uint64_t all = d.parameter_bytes(); at > all || bytes > all - at)
    d.refuse("reads bytes " + std::to_string(at) + " to " + std::to_string(at + bytes - 1) +
             " of " + std::to_string(all) + " bytes of parameters");
  if (at % bytes != 0)
    d.refuse("reads " + std::to_string(bytes) + " bytes at byte " + std::to_string(at) +
             " of the parameters, no multiple of " + std::to_string(bytes));
}

void decode_ld(Decoder& d) {
  Instruction& i = d.instruction;
  i.space = space_word(d);
  i.bytes = bytes_of(d.type());
  decode_strength(d);
  place_elements(d, 0, false);
  const bool mine = i.space == Space::parameter && d.local_parameter(d.operand(1).name) >= 0;
  const bool entry = i.space == Space::parameter && !mine && !d.operand(1).name.starts_with('%');
  if (mine) i.space = Space::local;
  i.at[16] = d.address(d.operand(1), i);
  if (entry) {
    const std::int64_t at = d.entry_parameter(d.operand(1).name);
    if (at < 0 || i.offset < 0) d.unknown();
    i.offset += at;
    if (!with_type(d.type(), [&]<class T>() { i.run = run_ld_parameter<T>; })) d.unknown();
    check_parameters(d, std::uint64_t{i.bytes} * i.width);
    return;
  }
  if (!with_type(d.type(), [&]<class T>() { i.run = run_ld<T>; })) d.unknown();
}

void decode_st(Decoder& d) {
  if (d.has("async")) return decode_async_store(d);
  Instruction& i = d.instruction;
  i.space = space_word(d);
  i.bytes = bytes_of(d.type());
  decode_strength(d);
  place_elements(d, 1, true);
  if (i.space == Space::parameter && d.local_parameter(d.operand(0).name) >= 0)
    i.space = Space::local;
  i.at[16] = d.address(d.operand(0), i);
  if (!with_type(d.type(), [&]<class T>() { i.run = run_st<T>; })) d.unknown();
}

void run_nothing(Context&, const Instruction&) {}

/// prefetch [a], prefetchu [a]; discard [a], bytes and applypriority [a], bytes.
void decode_nothing(Decoder& d) {
  d.instruction.run = run_nothing;
  (void)d.address(d.operand(0), d.instruction);
  if (!d.words[0].starts_with("prefetch")) (void)d.number(1);
}

/// A policy is a hint: what it holds changes nothing.
void decode_policy(Decoder& d) {
  d.instruction.run = run_nothing;
  (void)d.destination(0, 8);
  for (std::size_t n = 1; n < d.operands(); ++n) (void)d.operand(n);
}

/// isspacep.space p, a
void run_isspacep(Context& c, const Instruction& i) {
  const std::uint64_t* address = c.plane<std::uint64_t>(i.at[1]);
  std::uint32_t mask = 0;
  each_lane(c.mask, [&](std::uint32_t l) {
    mask |= static_cast<std::uint32_t>(space_of(address[l]) == i.space) << l;
  });
  std::uint32_t& to = c.predicate(i.at[0]);
  to = (to & ~c.mask) | mask;
}
void decode_isspacep(Decoder& d) {
  d.instruction.space = space_word(d);
  d.instruction.run = run_isspacep;
  d.instruction.at[0] = d.destination(0, kPredicate);
  d.instruction.at[1] = d.source(1, 8);
}

constexpr Opcode kOpcodes[] = {
    {"ld", decode_ld},
    {"ldu", decode_ld},
    {"st", decode_st},
    {"prefetch", decode_nothing},
    {"prefetchu", decode_nothing},
    {"isspacep", decode_isspacep},
    {"discard", decode_nothing},
    {"applypriority", decode_nothing},
    {"createpolicy", decode_policy},
};

}  // namespace

std::span<const Opcode> memory_opcodes() { return kOpcodes; }

void copy_local(Context& c, const Instruction& i) {
  const std::uint32_t bytes = c.launch.kernel.local_bytes;
  each_lane(c.mask, [&](std::uint32_t l) {
    std::byte* lane = c.warp.local.data() + std::size_t{l} * bytes;
    std::memcpy(lane + i.at[0], lane + i.at[1], i.at[2]);
    set_bits(c.warp.local_set, std::uint64_t{l} * bytes + i.at[0], i.at[2], true);
  });
}

}  // namespace halftone::simulator
