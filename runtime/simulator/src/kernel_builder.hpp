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

  std::uint32_t destination(const syntax::Operand& operand, std::uint8_t bytes) override;

  std::uint32_t address(const syntax::Operand& operand, Instruction& into) override;

  std::optional<std::uint8_t> register_bytes(std::string_view name) const override;

  std::uint32_t label(std::string_view name) override;

  const syntax::BranchTargets& targets(std::string_view name) override;

  std::int64_t local_parameter(std::string_view name) const override;

  std::int64_t entry_parameter(std::string_view name) const override;

  std::uint32_t parameter_bytes() const override { return kernel_.parameter_bytes; }

  std::uint32_t carry() override;

  [[noreturn]] void refuse(const std::string& what) const override;

 private:
  std::uint32_t predicate_of(const syntax::Operand& operand) override;

  struct Register {
    std::uint32_t place = 0;
    std::uint8_t bytes = 4;  ///< kPredicate, 1, 2, 4, 8 or 16
  };
  using Places = std::map<std::string_view, std::uint32_t, std::less<>>;
  struct Family {  ///< %r<10>
    std::uint8_t bytes = 4;
    std::uint64_t count = 0;
  };
  /// What one pair of braces declares.
  struct Names {
    std::map<std::string_view, Register, std::less<>> registers;
    std::map<std::string_view, Family, std::less<>> families;
    Places shared, locals, labels;  ///< of labels, their statements
  };
  struct Fixup {
    std::size_t instruction;
    std::string_view label;
    std::uint32_t scope;  ///< that the label is named in
    std::uint32_t more;   ///< index into Instruction::more, or kNone for target
  };

  std::uint32_t allocate(std::uint32_t bytes);

  std::uint32_t literal(std::uint64_t bits, std::uint8_t bytes);

  std::uint32_t special(Special which, std::uint8_t bytes);

  std::uint32_t variable(std::string_view name, std::int64_t offset, std::uint8_t bytes);

  /// Where a variable begins behind the `used` bytes of its space; it is one of `ranges` then.
  /// Throws Error when it is larger than any chip's.
  std::uint32_t place(const syntax::Variable& v, std::uint32_t least_alignment, std::uint32_t& used,
                      std::vector<Range>& ranges) const;

  [[nodiscard]] std::uint32_t place_shared(const syntax::Variable& v);

  [[nodiscard]] std::uint32_t place_local(const syntax::Variable& v);

  void lay_out_entry_parameters();

  /// Null for a name of something else. Refuses a number that a family of registers lacks.
  const Register* find_register(std::string_view name) const;

  /// Its place. Refuses registers that do not have the `bytes` that the instruction needs.
  std::uint32_t place_of(const Register& r, std::string_view name, std::uint8_t bytes) const;

  Register make_register(std::uint8_t bytes) const;

  void declare_registers(const syntax::Statement& s);

  void add_function(const syntax::Function& function);

  /// Where a function's formal parameters and results lie in local memory.
  const Places& signature_of(const syntax::Function& function);

  /// The names of a function's scopes as far as they are known before its statements are read.
  void open_scopes(const syntax::Function& function);

  /// The pointer that `find` makes of the names of `scope`, or where that is null of the nearest
  /// scope around it; null when a scope on the way declares `name` as something else.
  template <class Find>
  auto nearest(std::uint32_t scope, std::string_view name, Find find) const {
    auto found = find(scopes_[scope]);
    while (!found && scope != 0 && !declared_.contains({scope, name})) {
      scope = current_->scopes[scope].around;
      found = find(scopes_[scope]);
    }
    return found;
  }

  /// Where the statement's scopes have a variable of local or of shared memory; null elsewhere.
  const std::uint32_t* find_place(Places Names::* space, std::string_view name) const;

  /// Throws Error when the scope declares the name already.
  void declare(std::uint32_t scope, std::string_view name);

  void add_statement(const syntax::Statement& s);

  /// Races are looked for in units of the narrowest access.
  void note_access();

  void note_indexed_targets();

  /// call (results), function, (arguments): arguments are copied to where the function reads them,
  /// results back.
  void add_call();

  /// Where the caller's argument or result for a formal one of the function lies.
  std::uint32_t argument(const syntax::Operand& actual, const syntax::Variable& formal) const;

  const syntax::Module& module_;
  const syntax::Function& entry_;
  const syntax::Function* current_ = nullptr;
  Kernel kernel_;
  std::map<std::pair<std::uint64_t, std::uint8_t>, std::uint32_t> literals_;
  std::map<std::pair<Special, std::uint8_t>, std::uint32_t> specials_;
  Places shared_, entry_parameters_;                               ///< of the module, of the entry
  mutable std::vector<Names> scopes_;                              ///< of the current function
  std::set<std::pair<std::uint32_t, std::string_view>> declared_;  ///< by them
  std::map<const syntax::Function*, Places> signatures_;
  std::map<const syntax::Function*, std::uint32_t> starts_;
  std::vector<const syntax::Function*> pending_;
  std::set<const syntax::Function*> placed_;
  std::vector<std::pair<std::size_t, const syntax::Function*>> calls_;
  std::vector<Fixup> fixups_;
  std::set<std::string_view> known_;  // opcodes that a family describes
  std::uint32_t sink_ = kNone, carry_ = kNone;
};

}  // namespace halftone::simulator
