// SPDX-License-Identifier: Apache-2.0
// ld, st and their kin: PTX ISA 9.0, 9.7.9.8 to 9.7.9.19. Caching hints change nothing here.
#include "access.hpp"
#include "decode.hpp"

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
    if (at + sizeof(T) <= c.launch.parameters.size())
      std::memcpy(&value, c.launch.parameters.data() + at, sizeof(T));
    each_lane(c.mask, [&](std::uint32_t l) {
      if (i.more[e] == 8)
        c.plane<std::uint64_t>(i.at[e])[l] = static_cast<std::uint64_t>(value);
      else
        c.plane(i.at[e])[l] = static_cast<std::uint32_t>(value);
    });
  }
}

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
    case Type::b16:
    case Type::u16:
    case Type::f16:
    case Type::bf16:
      visit.template operator()<std::uint16_t>();
      return true;
    case Type::s16:
      visit.template operator()<std::int16_t>();
      return true;
    case Type::b32:
    case Type::u32:
    case Type::f32:
    case Type::f16x2:
    case Type::bf16x2:
      visit.template operator()<std::uint32_t>();
      return true;
    case Type::s32:
      visit.template operator()<std::int32_t>();
      return true;
    case Type::b64:
    case Type::u64:
    case Type::f64:
      visit.template operator()<std::uint64_t>();
      return true;
    case Type::s64:
      visit.template operator()<std::int64_t>();
      return true;
    default:
      return false;
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

/// Registers of a scalar or {a, b}.
void place_elements(Decoder& d, const syntax::Operand& operand, bool write) {
  const bool vector = operand.kind == syntax::Operand::Kind::vector;
  const std::size_t count = vector ? operand.parts.size() : 1;
  if (count > 8) d.unknown();
  Instruction& i = d.instruction;
  i.width = static_cast<std::uint8_t>(count);
  for (std::size_t e = 0; e < count; ++e) {
    const syntax::Operand& part = vector ? operand.parts[e] : operand;
    const bool is_register = part.kind == syntax::Operand::Kind::name;
    const std::uint8_t bytes = is_register               ? d.lane_bytes(part.name)
                               : bytes_of(d.type()) == 8 ? 8
                                                         : 4;
    i.at[e] = write ? d.source(part, bytes) : d.destination(part.name);
    i.more.push_back(bytes);
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

void decode_ld(Decoder& d) {
  Instruction& i = d.instruction;
  i.space = space_word(d);
  i.bytes = bytes_of(d.type());
  decode_strength(d);
  place_elements(d, d.operand(0), false);
  const bool mine = i.space == Space::parameter && d.local_parameter(d.operand(1).name) >= 0;
  const bool entry = i.space == Space::parameter && !mine && !d.operand(1).name.starts_with('%');
  if (mine) i.space = Space::local;
  i.at[16] = d.address(d.operand(1), i);
  if (entry) {
    const std::int64_t at = d.entry_parameter(d.operand(1).name);
    if (at < 0) d.unknown();
    i.offset += at;
    if (!with_type(d.type(), [&]<class T>() { i.run = run_ld_parameter<T>; })) d.unknown();
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
  place_elements(d, d.operand(1), true);
  if (i.space == Space::parameter && d.local_parameter(d.operand(0).name) >= 0)
    i.space = Space::local;
  i.at[16] = d.address(d.operand(0), i);
  if (!with_type(d.type(), [&]<class T>() { i.run = run_st<T>; })) d.unknown();
}

void run_nothing(Context&, const Instruction&) {}

void decode_nothing(Decoder& d) { d.instruction.run = run_nothing; }

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
  d.instruction.at[0] = d.destination(std::size_t{0});
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
    {"createpolicy", decode_nothing},
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
