// SPDX-License-Identifier: Apache-2.0
// The words of opcodes: types, scopes, and who decodes which first word.
#include <algorithm>
#include <map>

#include "decode.hpp"
#include "execute.hpp"
#include "halftone/simulator/error.hpp"

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
    {"s16x2", Type::s16x2, 4},
};

}  // namespace

void Decoder::unknown() const { throw Error(refusal()); }

const Opcode* find_opcode(std::string_view name) {
  static const auto* const table = [] {
    auto* all = new std::map<std::string_view, const Opcode*>;
    for (const auto& family :
         {arithmetic_opcodes(), bit_opcodes(), compare_opcodes(), move_opcodes(),
          conversion_opcodes(), memory_opcodes(), atomic_opcodes(), control_opcodes(),
          warp_opcodes(), matrix_opcodes(), async_opcodes(), mbarrier_opcodes(), cluster_opcodes(),
          warpgroup_opcodes()})
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

const syntax::Operand& Decoder::operand(std::size_t i) const {
  if (i >= statement->operands.size()) unknown();
  return statement->operands[i];
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
