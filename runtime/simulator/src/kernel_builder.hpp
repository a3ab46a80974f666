// SPDX-License-Identifier: Apache-2.0
// A kernel while it is decoded: the functions that its entry reaches, one behind the other in one
// program, and where in the registers of a warp each name lies.
#pragma once

#include <map>
#include <set>

#include "decode.hpp"

namespace halftone::simulator {

[[nodiscard]] inline std::uint32_t aligned(std::uint32_t value, std::uint32_t to) {
  return (value + to - 1) / to * to;
}

class KernelBuilder final : public Decoder {
 public:
  KernelBuilder(const syntax::Module& module, const syntax::Function& entry)
      : module_(module), entry_(entry) {}

  Kernel build();

  std::uint32_t source(const syntax::Operand& operand, std::uint8_t bytes) override;

  std::uint32_t destination(std::string_view name) override;

  std::uint32_t predicate(const syntax::Operand& operand) override;

  std::uint32_t address(const syntax::Operand& operand, Instruction& into) override;

  std::uint8_t lane_bytes(std::string_view name) const override;

  std::uint32_t label(std::string_view name) override;

  const std::vector<std::string_view>& targets(std::string_view name) override;

  std::int64_t local_parameter(std::string_view name) const override;

  std::int64_t entry_parameter(std::string_view name) const override;

  std::uint32_t carry() override;

 private:
  std::string refusal() const override;

  struct Register {
    std::uint32_t place = 0;
    std::uint8_t bytes = 4;  ///< 0: predicate
  };
  struct Fixup {
    std::size_t instruction;
    std::string_view label;
    std::uint32_t more;  ///< index into Instruction::more, or kNone for target
  };

  std::uint32_t allocate(std::uint32_t bytes);

  std::uint32_t literal(std::uint64_t bits, std::uint8_t bytes);

  std::uint32_t special(Special which, std::uint8_t bytes);

  std::uint32_t variable(std::string_view name, std::int64_t offset, std::uint8_t bytes);

  void place_shared(const syntax::Variable& v);

  void place_local(const syntax::Variable& v);

  void lay_out_entry_parameters();

  const Register* find_register(std::string_view name) const;

  Register make_register(std::uint8_t bytes) const;

  void declare_registers(const syntax::Statement& s);

  void add_function(const syntax::Function& function);

  /// Where a function's formal parameters and results lie in local memory.
  std::map<std::string_view, std::uint32_t, std::less<>> signature_of(
      const syntax::Function& function);

  void enter_and_leave_scopes(const syntax::Function& function, std::size_t statement);

  void add_statement(const syntax::Statement& s);

  /// Races are looked for in units of the narrowest access.
  void note_access();

  void note_indexed_targets();

  /// call (results), function, (arguments): arguments are copied to where the function reads them,
  /// results back.
  void add_call(const syntax::Statement& s);

  const syntax::Module& module_;
  const syntax::Function& entry_;
  const syntax::Function* current_ = nullptr;
  Kernel kernel_;
  std::map<std::pair<std::uint64_t, std::uint8_t>, std::uint32_t> literals_;
  std::map<std::pair<Special, std::uint8_t>, std::uint32_t> specials_;
  std::map<std::string_view, std::uint32_t, std::less<>> shared_, locals_, entry_parameters_;
  std::map<std::string_view, std::uint8_t, std::less<>> families_;
  mutable std::vector<std::map<std::string_view, Register, std::less<>>> scopes_;
  std::vector<std::map<std::string_view, Register, std::less<>>>* scopes_made_ = nullptr;
  std::map<const syntax::Function*, std::map<std::string_view, std::uint32_t, std::less<>>>
      signatures_;
  std::map<const syntax::Function*, std::uint32_t> starts_;
  std::vector<const syntax::Function*> pending_;
  std::set<const syntax::Function*> placed_;
  std::vector<std::pair<std::size_t, const syntax::Function*>> calls_;
  std::vector<Fixup> fixups_;
  std::set<std::string_view> known_;  // opcodes that a family describes
  std::uint32_t sink_ = kNone, carry_ = kNone;
};

}  // namespace halftone::simulator
