// SPDX-License-Identifier: Apache-2.0
// The words of opcodes: types, scopes, and who decodes which first word.
#include <algorithm>
#include <limits>
#include <map>

#include "decode.hpp"
#include "execute.hpp"

namespace halftone::simulator {

namespace {

struct TypeWord {
  std::string_view word;
  Type type;
  std::uint8_t bytes;
};

constexpr TypeWord kTypes[] = {
    {"pred", Type::pred, 0},     {"b8", Type::b8, 1},           {"b16", Type::b16, 2},
    {"b32", Type::b32, 4},       {"b64", Type::b64, 8},         {"b128", Type::b128, 16},
    {"u8", Type::u8, 1},         {"u16", Type::u16, 2},         {"u32", Type::u32, 4},
    {"u64", Type::u64, 8},       {"s8", Type::s8, 1},           {"s16", Type::s16, 2},
    {"s32", Type::s32, 4},       {"s64", Type::s64, 8},         {"f16", Type::f16, 2},
    {"f16x2", Type::f16x2, 4},   {"bf16", Type::bf16, 2},       {"bf16x2", Type::bf16x2, 4},
    {"f32", Type::f32, 4},       {"f64", Type::f64, 8},         {"tf32", Type::tf32, 4},
    {"e4m3x2", Type::e4m3x2, 2}, {"e5m2x2", Type::e5m2x2, 2},   {"e4m3", Type::e4m3, 1},
    {"e5m2", Type::e5m2, 1},     {"e2m1x2", Type::e2m1x2, 1},   {"e2m3x2", Type::e2m3x2, 2},
    {"e3m2x2", Type::e3m2x2, 2}, {"ue8m0x2", Type::ue8m0x2, 2}, {"u16x2", Type::u16x2, 4},
    {"s16x2", Type::s16x2, 4},   {"ue8m0", Type::ue8m0, 1},     {"e2m1", Type::e2m1, 1},
    {"ue4m3", Type::ue4m3, 1},
};

}  // namespace

const Opcode* find_opcode(std::string_view name) {
  static const auto* const table = [] {
    auto* all = new std::map<std::string_view, const Opcode*>;
    for (const auto& family :
         {arithmetic_opcodes(), bit_opcodes(), compare_opcodes(), move_opcodes(),
          conversion_opcodes(), memory_opcodes(), atomic_opcodes(), control_opcodes(),
          warp_opcodes(), matrix_opcodes(), async_opcodes(), mbarrier_opcodes(), cluster_opcodes(),
          warpgroup_opcodes(), tensor_memory_opcodes()})
      for (const Opcode& opcode : family) all->emplace(opcode.name, &opcode);
    return all;
  }();
  const auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}

Type type_of(std::string_view word) {
  for (const TypeWord& each : kTypes)
    if (each.word == word) return each.type;
  return Type::none;
}

std::uint8_t bytes_of(Type type) {
  for (const TypeWord& each : kTypes)
    if (each.type == type) return each.bytes;
  return 0;
}

std::uint64_t size_of(const syntax::Variable& v) {
  return v.elements * v.vector * std::max<std::uint8_t>(1, bytes_of(type_of(v.type)));
}

bool Decoder::has(std::string_view word) const {
  return std::ranges::find(words, word) != words.end();
}

bool Decoder::has_any(std::initializer_list<std::string_view> list) const {
  return std::ranges::any_of(list, [&](std::string_view word) { return has(word); });
}

const syntax::Operand& Decoder::operand(std::size_t i) {
  if (i >= operands()) refuse("lacks operand " + std::to_string(i + 1));
  if (i < 64) asked_ |= std::uint64_t{1} << i;
  return statement->operands[i];
}

std::size_t Decoder::elements() const { return has("v8") ? 8 : has("v4") ? 4 : has("v2") ? 2 : 1; }

std::span<const syntax::Operand> Decoder::list(std::size_t i, std::size_t count) {
  const syntax::Operand& all = operand(i);
  const std::span<const syntax::Operand> parts =
      all.kind == syntax::Operand::Kind::vector ? std::span(all.parts) : std::span(&all, 1);
  if (parts.size() != count)
    refuse("needs " + std::to_string(count) +
           (count == 1 ? " register as operand " : " registers as operand ") +
           std::to_string(i + 1) + ", not " + std::to_string(parts.size()));
  return parts;
}

std::uint64_t Decoder::number(std::size_t i) {
  if (operand(i).kind != syntax::Operand::Kind::integer)
    refuse("needs a number as operand " + std::to_string(i + 1));
  return operand(i).bits;
}

std::uint32_t Decoder::groups_left(std::size_t i) {
  const std::uint64_t groups = number(i);
  if (groups > std::numeric_limits<std::int32_t>::max())
    refuse("waits for all but a number of groups, which " +
           std::to_string(static_cast<std::int64_t>(groups)) + " is not");
  return static_cast<std::uint32_t>(groups);
}

void Decoder::together() {
  instruction.flow = Flow::together;
  syntax::Operand all;
  all.kind = syntax::Operand::Kind::integer;
  all.bits = kAllLanes;
  instruction.at[19] = source(all, 4);
}

std::uint32_t Decoder::second_destination() {
  second_asked_ = true;
  const std::string_view name = operand(0).second;
  if (name.empty()) return kNone;
  syntax::Operand second;
  second.name = name;
  return destination(second, kPredicate);
}

std::uint32_t Decoder::predicate(std::size_t i, bool& negated) {
  negated = operand(i).negated;
  return predicate_of(operand(i));
}

std::uint32_t Decoder::predicate(std::size_t i) {
  bool negated = false;
  const std::uint32_t place = predicate(i, negated);
  if (negated) refuse("cannot be simulated with '!' before '" + std::string(operand(i).name) + "'");
  return place;
}

void Decoder::begin(const syntax::Statement& s) {
  statement = &s;
  asked_ = 0;
  second_asked_ = false;
}

void Decoder::finish() {
  const auto asked = [&](std::size_t i) { return i < 64 && (asked_ >> i & 1) != 0; };
  if (has("L2::cache_hint")) {  // a policy behind all others changes nothing
    const std::size_t policy = operands() - (operands() > 0 && !asked(operands() - 1));
    (void)source(policy, 8);
  }
  const auto alone = [&](const syntax::Operand& each) {
    if (!each.second.empty())
      refuse("takes no '|" + std::string(each.second) + "' behind '" + std::string(each.name) +
             "'");
  };
  for (std::size_t i = 0; i < operands(); ++i) {
    if (!asked(i)) refuse("takes no operand " + std::to_string(i + 1));
    const syntax::Operand& each = statement->operands[i];
    if (i > 0 || !second_asked_) alone(each);
    for (const syntax::Operand& part : each.parts) alone(part);
  }
}

std::uint32_t scope_word(const Decoder& d, Scope otherwise) {
  const Scope scope = d.has("cta")       ? Scope::block
                      : d.has("cluster") ? Scope::cluster
                      : d.has("gpu")     ? Scope::device
                      : d.has("sys")     ? Scope::system
                                         : otherwise;
  return static_cast<std::uint32_t>(scope) << kScopeShift;
}

}  // namespace halftone::simulator
