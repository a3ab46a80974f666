// SPDX-License-Identifier: Apache-2.0
// From statements to instructions: one function per family of opcodes, found by the opcode's first
// word in a table that each family adds to.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel.hpp"
#include "race.hpp"
#include "syntax.hpp"

namespace halftone::simulator {

/// The type words of PTX.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
  tf32,
  e4m3x2,
  e5m2x2,
  e4m3,
  e5m2,
  e2m1,
  e2m1x2,
  e2m3x2,
  e3m2x2,
  ue4m3,
  ue8m0,
  ue8m0x2,
  u16x2,
  s16x2,
};

[[nodiscard]] Type type_of(std::string_view word);  ///< none for other words
[[nodiscard]] std::uint8_t bytes_of(Type type);
[[nodiscard]] std::uint64_t size_of(const syntax::Variable& variable);  ///< in bytes
[[nodiscard]] constexpr bool is_signed(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}

/// The bytes of a register of type .pred.
inline constexpr std::uint8_t kPredicate = 0;

/// One statement while it is decoded. What a statement must not have is refused here: a register of
/// another width than the instruction's (PTX ISA 9.0, 9.4), lists that are too short or too long,
/// operands that are missing and operands that nobody asked for.
class Decoder {
 public:
  virtual ~Decoder() = default;

  const syntax::Statement* statement = nullptr;
  std::vector<std::string_view> words;  ///< of the opcode, types included
  std::vector<Type> types;              ///< the types among the words, in order
  Instruction instruction;

  [[nodiscard]] bool has(std::string_view word) const;
  [[nodiscard]] bool has_any(std::initializer_list<std::string_view> words) const;
  [[nodiscard]] Type type() const { return types.empty() ? Type::none : types.back(); }
  [[nodiscard]] std::size_t operands() const { return statement->operands.size(); }
  [[nodiscard]] const syntax::Operand& operand(std::size_t i);

  /// The elements that .v2, .v4 and .v8 ask for.
  [[nodiscard]] std::size_t elements() const;
  /// The `count` parts of an operand in braces; one may stand without.
  [[nodiscard]] std::span<const syntax::Operand> list(std::size_t i, std::size_t count);
  /// The bits of a literal.
  [[nodiscard]] std::uint64_t number(std::size_t i);

  /// All lanes of the warp run the instruction at once, or none may.
  void together();

  /// Of a wait for all but that number of groups.
  [[nodiscard]] std::uint32_t groups_left(std::size_t i);

  /// The place of a register or literal of `bytes` bytes that is read.
  [[nodiscard]] std::uint32_t source(std::size_t i, std::uint8_t bytes) {
    return source(operand(i), bytes);
  }
  [[nodiscard]] virtual std::uint32_t source(const syntax::Operand& operand,
                                             std::uint8_t bytes) = 0;
  /// The place of a register of `bytes` bytes, or kPredicate, that is written; a place nobody reads
  /// for "_".
  [[nodiscard]] std::uint32_t destination(std::size_t i, std::uint8_t bytes) {
    return destination(operand(i), bytes);
  }
  [[nodiscard]] virtual std::uint32_t destination(const syntax::Operand& operand,
                                                  std::uint8_t bytes) = 0;
  /// The place of the predicate q of a first operand d|q; kNone where there is none.
  [[nodiscard]] std::uint32_t second_destination();
  /// The place of a predicate that is read; literals 0 and 1 too. `negated`: whether it is !p,
  /// which few instructions take.
  [[nodiscard]] std::uint32_t predicate(std::size_t i, bool& negated);
  [[nodiscard]] std::uint32_t predicate(std::size_t i);
  /// Sets offset and returns the place of the address, with lanes of 8 bytes or kNarrowAddress.
  [[nodiscard]] virtual std::uint32_t address(const syntax::Operand& operand,
                                              Instruction& into) = 0;
  /// As it was declared, kPredicate for predicates; none for other names.
  [[nodiscard]] virtual std::optional<std::uint8_t> register_bytes(std::string_view name) const = 0;
  [[nodiscard]] virtual std::uint32_t label(std::string_view name) = 0;
  [[nodiscard]] virtual const syntax::BranchTargets& targets(std::string_view name) = 0;
  /// A variable of the .param space: its place in each thread's local memory, or -1.
  [[nodiscard]] virtual std::int64_t local_parameter(std::string_view name) const = 0;

  /// The offset of a parameter of the kernel, inside it; -1 for other names.
  [[nodiscard]] virtual std::int64_t entry_parameter(std::string_view name) const = 0;

  /// All parameters of the kernel.
  [[nodiscard]] virtual std::uint32_t parameter_bytes() const = 0;

  /// The place of the mask of carries that add.cc and its kin leave.
  [[nodiscard]] virtual std::uint32_t carry() = 0;

  /// Throws Error: not an instruction that is known.
  [[noreturn]] void unknown() const { refuse("cannot be simulated"); }
  /// Throws Error: the instruction, its line and its kernel, and what is wrong.
  [[noreturn]] virtual void refuse(const std::string& what) const = 0;

 protected:
  void begin(const syntax::Statement& statement);
  /// Refuses what nobody has asked for.
  void finish();

 private:
  /// The place of a predicate's register or literal.
  [[nodiscard]] virtual std::uint32_t predicate_of(const syntax::Operand& operand) = 0;

  std::uint64_t asked_ = 0;  ///< a bit per operand
  bool second_asked_ = false;
};

/// The scope that an opcode names, at its place in Instruction::flags.
[[nodiscard]] std::uint32_t scope_word(const Decoder& decoder, Scope otherwise);

using Decode = void (*)(Decoder&);

struct Opcode {
  std::string_view name;
  Decode decode;
};

/// Who decodes opcodes with this first word, or null.
[[nodiscard]] const Opcode* find_opcode(std::string_view first_word);

// The families. An opcode is looked up by its first word.
[[nodiscard]] std::span<const Opcode> arithmetic_opcodes();
[[nodiscard]] std::span<const Opcode> bit_opcodes();
[[nodiscard]] std::span<const Opcode> compare_opcodes();
[[nodiscard]] std::span<const Opcode> move_opcodes();
[[nodiscard]] std::span<const Opcode> conversion_opcodes();
[[nodiscard]] std::span<const Opcode> memory_opcodes();
[[nodiscard]] std::span<const Opcode> atomic_opcodes();
[[nodiscard]] std::span<const Opcode> control_opcodes();
[[nodiscard]] std::span<const Opcode> warp_opcodes();
[[nodiscard]] std::span<const Opcode> matrix_opcodes();
[[nodiscard]] std::span<const Opcode> async_opcodes();
[[nodiscard]] std::span<const Opcode> mbarrier_opcodes();
[[nodiscard]] std::span<const Opcode> cluster_opcodes();
[[nodiscard]] std::span<const Opcode> warpgroup_opcodes();
[[nodiscard]] std::span<const Opcode> tensor_memory_opcodes();
// cp.async.bulk, cp.reduce.async.bulk and cp.async.mbarrier, beside async_opcodes().
void decode_bulk(Decoder& decoder);
void decode_arrive_on(Decoder& decoder);
// st.async, beside memory_opcodes().
void decode_async_store(Decoder& decoder);
// cvt.pack and cvt.rs, beside conversion_opcodes().
void decode_pack(Decoder& decoder);
void decode_stochastic(Decoder& decoder);
// barrier.cluster
void decode_cluster_barrier(Decoder& decoder);

/// Decodes an arithmetic opcode of a float type; false, and nothing done, for other types.
[[nodiscard]] bool decode_float(Decoder& decoder);

}  // namespace halftone::simulator
