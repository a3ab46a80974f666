// SPDX-License-Identifier: Apache-2.0
#include "decode.hpp"

#include <algorithm>
#include <set>

#include "execute.hpp"
#include "halftone/simulator/error.hpp"
#include "opcode_families.hpp"

namespace halftone::simulator {

namespace {

constexpr std::string_view kSpecials[] = {
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%clusterid.x",
    "%clusterid.y",
    "%clusterid.z",
    "%nclusterid.x",
    "%nclusterid.y",
    "%nclusterid.z",
    "%cluster_ctaid.x",
    "%cluster_ctaid.y",
    "%cluster_ctaid.z",
    "%cluster_nctaid.x",
    "%cluster_nctaid.y",
    "%cluster_nctaid.z",
    "%cluster_ctarank",
    "%cluster_nctarank",
};

std::uint32_t aligned(std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; }

struct Register {
  std::uint32_t place = 0;
  std::uint8_t bytes = 4;  ///< 0: predicate
};

/// Whether other blocks may see an order in what this does.
bool orders_blocks(const Instruction& i) {
  const bool global = i.space == Space::global || i.space == Space::generic;
  if (i.opcode.starts_with("atom") || i.opcode.starts_with("red.")) return global;
  if (i.opcode.starts_with("ld") || i.opcode.starts_with("st"))
    return global && (i.flags & kStrong) != 0;
  const bool fence = i.opcode.starts_with("membar") || i.opcode.starts_with("fence");
  return fence && i.opcode.find("cta") == std::string_view::npos &&
         i.opcode.find("proxy") == std::string_view::npos;
}

/// The functions that an entry reaches, one behind the other in one program.
class Builder final : public Decoder {
 public:
  Builder(const syntax::Module& module, const syntax::Function& entry)
      : module_(module), entry_(entry) {}

  Kernel build() {
    kernel_.name = entry_.name;
    kernel_.lines = &module_.lines;
    kernel_.most_threads = entry_.most_threads;
    for (int i = 0; i < 3; ++i) kernel_.cluster[i] = entry_.cluster[i];
    kernel_.uses_clusters = entry_.cluster[0] != 0;
    lay_out_entry_parameters();
    for (const syntax::Variable& v : module_.variables)
      if (v.space == "shared" && v.elements != 0) place_shared(v);
    pending_.push_back(&entry_);
    placed_.insert(&entry_);
    for (std::size_t i = 0; i < pending_.size(); ++i) add_function(*pending_[i]);
    for (const auto& [at, function] : calls_) kernel_.code[at].target = starts_.at(function);
    for (const Instruction& i : kernel_.code) kernel_.orders_blocks |= orders_blocks(i);
    kernel_.local_bytes = aligned(kernel_.local_bytes, 16);
    kernel_.static_shared_bytes =
        std::max(aligned(kernel_.static_shared_bytes, 16), kernel_.static_shared_bytes);
    return std::move(kernel_);
  }

  std::uint32_t source(const syntax::Operand& operand, std::uint8_t bytes) override {
    using Kind = syntax::Operand::Kind;
    switch (operand.kind) {
      case Kind::integer:
      case Kind::float32:
      case Kind::float64:
        return literal(operand.bits, bytes);
      case Kind::name:
        break;
      default:
        unknown();
    }
    const std::string_view name = operand.name;
    if (name == "WARP_SZ") return literal(kAllLanes & 32, bytes);
    for (std::size_t i = 0; i < std::size(kSpecials); ++i)
      if (kSpecials[i] == name) return special(static_cast<Special>(i), bytes);
    if (const Register* r = find_register(name)) return r->place;
    if (const auto at = shared_.find(name); at != shared_.end())
      return literal(at->second + static_cast<std::uint64_t>(operand.offset), bytes);
    // Generic addresses see parameters below all buffers.
    if (const auto at = entry_parameters_.find(name);
        at != entry_parameters_.end() && current_ == &entry_)
      return literal(at->second + static_cast<std::uint64_t>(operand.offset), bytes);
    return variable(name, operand.offset, bytes);
  }

  std::uint32_t destination(std::string_view name) override {
    if (name == "_") {
      if (sink_ == kNone) sink_ = allocate(256);
      return sink_;
    }
    const Register* r = find_register(name);
    if (!r) unknown();
    return r->place;
  }

  std::uint32_t predicate(const syntax::Operand& operand) override {
    if (operand.kind == syntax::Operand::Kind::integer) {
      const std::uint32_t place = allocate(4);
      kernel_.literals.push_back({place, 0, operand.bits ? kAllLanes : 0});
      return place;
    }
    return destination(operand.name);
  }

  std::uint32_t address(const syntax::Operand& operand, Instruction& into) override {
    into.offset += operand.offset;
    if (operand.name.empty()) return literal(0, 8);
    if (const Register* r = find_register(operand.name)) {
      if (r->bytes == 8) return r->place;
      into.flags |= kNarrowAddress;
      return r->place;
    }
    if (const auto at = shared_.find(operand.name); at != shared_.end())
      return literal(at->second, 8);
    if (operand.name.starts_with('%')) unknown();
    if (const auto at = locals_.find(operand.name); at != locals_.end())
      return literal(at->second, 8);
    if (const auto at = entry_parameters_.find(operand.name);
        at != entry_parameters_.end() && current_ == &entry_)
      return literal(at->second, 8);
    return variable(operand.name, 0, 8);
  }

  std::uint8_t lane_bytes(std::string_view name) const override {
    const Register* r = find_register(name);
    return r ? r->bytes : 4;
  }

  std::uint32_t label(std::string_view name) override {
    fixups_.push_back({kernel_.code.size(), name, kNone});
    return kNone;
  }

  const std::vector<std::string_view>& targets(std::string_view name) override {
    for (const auto& [label, list] : current_->branch_targets)
      if (label == name) return list;
    static_cast<const Decoder*>(this)->unknown();
  }

  std::int64_t local_parameter(std::string_view name) const override {
    const auto at = locals_.find(name);
    return at == locals_.end() ? -1 : std::int64_t{at->second};
  }

  std::int64_t entry_parameter(std::string_view name) const override {
    const auto at = entry_parameters_.find(name);
    return at == entry_parameters_.end() || current_ != &entry_ ? -1 : std::int64_t{at->second};
  }

  std::uint32_t carry() override {
    if (carry_ == kNone) carry_ = allocate(4);
    return carry_;
  }

  [[noreturn]] void unknown() const override {
    const auto where = "PTX line " + std::to_string(statement->ptx_line) + " of kernel '" +
                       std::string(entry_.name) + "': ";
    std::string text(statement->opcode);
    if (const std::uint32_t line = module_.lines[statement->source].line; line != 0)
      text += " (source line " + std::to_string(line) + ")";
    throw Error(where + "the instruction " + text + " cannot be simulated");
  }

 private:
  struct Fixup {
    std::size_t instruction;
    std::string_view label;
    std::uint32_t more;  ///< index into Instruction::more, or kNone for target
  };

  std::uint32_t allocate(std::uint32_t bytes) {
    kernel_.register_bytes = aligned(kernel_.register_bytes, bytes >= 64 ? 64 : 4);
    const std::uint32_t place = kernel_.register_bytes;
    kernel_.register_bytes += bytes;
    return place;
  }

  std::uint32_t literal(std::uint64_t bits, std::uint8_t bytes) {
    if (bytes == 4) bits &= 0xffffffff;
    const auto [at, is_new] = literals_.try_emplace({bits, bytes}, 0);
    if (is_new) {
      at->second = allocate(bytes * 32u);
      kernel_.literals.push_back({at->second, bytes, bits});
    }
    return at->second;
  }

  std::uint32_t special(Special which, std::uint8_t bytes) {
    const auto [at, is_new] = specials_.try_emplace({which, bytes}, 0);
    if (is_new) {
      at->second = allocate(bytes * 32u);
      kernel_.specials.push_back({at->second, bytes, which});
    }
    return at->second;
  }

  std::uint32_t variable(std::string_view name, std::int64_t offset, std::uint8_t bytes) {
    const auto known = std::ranges::find(module_.variables, name, &syntax::Variable::name);
    if (known == module_.variables.end()) unknown();
    if (known->space == "shared")
      kernel_.dynamic_alignment = std::max(kernel_.dynamic_alignment, known->alignment);
    const std::uint32_t place = allocate(bytes * 32u);
    kernel_.addresses.push_back({place, bytes, name, offset});
    return place;
  }

  void place_shared(const syntax::Variable& v) {
    kernel_.static_shared_bytes = aligned(kernel_.static_shared_bytes, std::max(v.alignment, 4u));
    shared_[v.name] = kernel_.static_shared_bytes;
    const auto bytes = static_cast<std::uint32_t>(size_of(v));
    kernel_.shared.push_back({v.name, kernel_.static_shared_bytes, bytes});
    kernel_.static_shared_bytes += bytes;
  }

  void place_local(const syntax::Variable& v) {
    kernel_.local_bytes = aligned(kernel_.local_bytes, std::max(v.alignment, 8u));
    locals_[v.name] = kernel_.local_bytes;
    const auto bytes = static_cast<std::uint32_t>(size_of(v));
    kernel_.local.push_back({v.name, kernel_.local_bytes, bytes});
    kernel_.local_bytes += bytes;
  }

  void lay_out_entry_parameters() {
    for (const syntax::Variable& v : entry_.parameters) {
      const auto bytes = static_cast<std::uint32_t>(size_of(v));
      const std::uint32_t natural = std::max<std::uint32_t>(v.alignment, bytes_of(type_of(v.type)));
      kernel_.parameter_bytes = aligned(kernel_.parameter_bytes, std::max(natural, 1u));
      entry_parameters_[v.name] = kernel_.parameter_bytes;
      kernel_.parameters.push_back({kernel_.parameter_bytes, bytes});
      kernel_.parameter_bytes += bytes;
    }
  }

  const Register* find_register(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end()) return &found->second;
    // %r<10> declares %r0 to %r9.
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    if (digits == name.size()) return nullptr;
    const auto family = families_.find(name.substr(0, digits));
    if (family == families_.end()) return nullptr;
    return &(scopes_made_->front()[name] = make_register(family->second));
  }

  Register make_register(std::uint8_t bytes) const {
    auto* self = const_cast<Builder*>(this);
    return {self->allocate(bytes == 0 ? 4u : bytes * 32u), bytes};
  }

  void declare_registers(const syntax::Statement& s) {
    for (const syntax::Variable& v : syntax::parse_variables("reg", s.text, s.ptx_line)) {
      const Type type = type_of(v.type);
      const std::uint8_t bytes = type == Type::pred   ? 0
                                 : bytes_of(type) > 8 ? 16
                                 : bytes_of(type) > 4 ? 8
                                                      : 4;
      const bool family = s.text.find('<') != std::string_view::npos;
      if (family)
        families_[v.name] = bytes;
      else
        scopes_.back()[v.name] = make_register(bytes);
    }
  }

  void add_function(const syntax::Function& function) {
    current_ = &function;
    starts_[&function] = static_cast<std::uint32_t>(kernel_.code.size());
    families_.clear();
    scopes_.assign(1, {});
    scopes_made_ = &scopes_;
    locals_ = signature_of(function);
    std::vector<std::uint32_t> at_statement;
    for (std::size_t i = 0; i < function.statements.size(); ++i) {
      enter_and_leave_scopes(function, i);
      at_statement.push_back(static_cast<std::uint32_t>(kernel_.code.size()));
      add_statement(function.statements[i]);
    }
    at_statement.push_back(static_cast<std::uint32_t>(kernel_.code.size()));
    // A body may end without ret.
    Instruction end;
    end.flow = Flow::leave;
    end.opcode = "ret";
    kernel_.code.push_back(end);
    for (const Fixup& fixup : fixups_) {
      const auto found = std::ranges::find(function.labels, fixup.label, &syntax::Label::name);
      if (found == function.labels.end())
        throw Error("kernel '" + std::string(entry_.name) + "' has no label '" +
                    std::string(fixup.label) + "'");
      Instruction& instruction = kernel_.code[fixup.instruction];
      (fixup.more == kNone ? instruction.target : instruction.more[fixup.more]) =
          at_statement[found->statement];
    }
    fixups_.clear();
  }

  /// Where a function's formal parameters and results lie in local memory.
  std::map<std::string_view, std::uint32_t, std::less<>> signature_of(
      const syntax::Function& function) {
    if (&function == &entry_) return {};
    const auto [at, is_new] = signatures_.try_emplace(&function);
    if (is_new) {
      std::swap(locals_, at->second);
      for (const auto* list : {&function.parameters, &function.results})
        for (const syntax::Variable& v : *list) place_local(v);
      std::swap(locals_, at->second);
    }
    return at->second;
  }

  void enter_and_leave_scopes(const syntax::Function& function, std::size_t statement) {
    std::size_t depth = 0;
    for (const syntax::Scope& scope : function.scopes)
      depth += scope.begin <= statement && statement < scope.end;
    std::size_t begun = 0;
    for (const syntax::Scope& scope : function.scopes) begun += scope.begin == statement;
    while (scopes_.size() > depth + 1) scopes_.pop_back();
    for (std::size_t i = 0; i < begun && scopes_.size() > depth + 1 - begun; ++i)
      scopes_.pop_back();
    while (scopes_.size() < depth + 1) scopes_.emplace_back();
  }

  void add_statement(const syntax::Statement& s) {
    statement = &s;
    if (s.opcode == ".reg") return declare_registers(s);
    if (s.opcode == ".shared" || s.opcode == ".local" || s.opcode == ".param") {
      for (const syntax::Variable& v :
           syntax::parse_variables(s.opcode.substr(1), s.text, s.ptx_line))
        s.opcode == ".shared" ? place_shared(v) : place_local(v);
      return;
    }
    if (s.opcode.starts_with('.')) unknown();
    words = syntax::split(s.opcode);
    types.clear();
    for (std::string_view word : words)
      if (const Type t = type_of(word); t != Type::none) types.push_back(t);
    instruction = {};
    instruction.source = s.source;
    instruction.ptx_line = s.ptx_line;
    instruction.opcode = s.opcode;
    if (!s.guard.empty()) {
      instruction.guard = destination(s.guard);
      instruction.guard_negated = s.guard_negated;
    }
    if (!known_.contains(s.opcode)) {
      if (!family_of(s.opcode)) unknown();
      known_.insert(s.opcode);
    }
    if (words[0] == "call") {
      add_call(s);
      return;
    }
    const Opcode* opcode = find_opcode(words[0]);
    if (!opcode) unknown();
    opcode->decode(*this);
    note_access();
    note_indexed_targets();
    kernel_.code.push_back(std::move(instruction));
  }

  /// Races are looked for in units of the narrowest access.
  void note_access() {
    constexpr std::string_view kAccesses[] = {"ld", "ldu", "st", "atom", "red"};
    if (std::ranges::find(kAccesses, words[0]) == std::end(kAccesses)) return;
    const std::uint32_t bytes = std::uint32_t{instruction.bytes} * instruction.width;
    kernel_.smallest_access = std::min(kernel_.smallest_access, std::max(bytes, 1u));
  }

  void note_indexed_targets() {
    if (instruction.flow != Flow::indexed) return;
    const auto& list = targets(operand(1).name);
    fixups_.erase(
        std::remove_if(fixups_.begin(), fixups_.end(),
                       [&](const Fixup& f) { return f.instruction == kernel_.code.size(); }),
        fixups_.end());
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      instruction.more.push_back(kNone);
      fixups_.push_back({kernel_.code.size(), list[i], i});
    }
  }

  /// call (results), function, (arguments): arguments are copied to where the function reads them,
  /// results back.
  void add_call(const syntax::Statement& s) {
    using Kind = syntax::Operand::Kind;
    const bool has_results = s.operands[0].kind == Kind::tuple;
    const std::size_t at = has_results ? 1 : 0;
    const std::string_view name = s.operands[at].name;
    const auto callee = std::ranges::find(module_.functions, name, &syntax::Function::name);
    if (name == "__assertfail") {
      find_opcode("trap")->decode(*this);
      kernel_.code.push_back(std::move(instruction));
      return;
    }
    if (callee == module_.functions.end()) unknown();  // vprintf, malloc, pointers to functions
    const auto signature = signature_of(*callee);
    const auto copy = [&](const syntax::Operand& actual, const syntax::Variable& formal,
                          bool back) {
      Instruction move = instruction;
      move.flow = Flow::straight;
      move.run = copy_local;
      const auto mine = static_cast<std::uint32_t>(local_parameter(actual.name));
      const std::uint32_t theirs = signature.at(formal.name);
      move.at[0] = back ? mine : theirs;
      move.at[1] = back ? theirs : mine;
      move.at[2] = static_cast<std::uint32_t>(size_of(formal));
      kernel_.code.push_back(move);
    };
    if (s.operands.size() > at + 1)
      for (std::size_t i = 0; i < s.operands[at + 1].parts.size(); ++i)
        copy(s.operands[at + 1].parts[i], callee->parameters[i], false);
    if (placed_.insert(&*callee).second) pending_.push_back(&*callee);
    instruction.flow = Flow::call;
    calls_.emplace_back(kernel_.code.size(), &*callee);
    kernel_.code.push_back(instruction);
    if (has_results)
      for (std::size_t i = 0; i < s.operands[0].parts.size(); ++i)
        copy(s.operands[0].parts[i], callee->results[i], true);
  }

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

}  // namespace

Kernel build_kernel(const syntax::Module& module, const syntax::Function& entry) {
  return Builder(module, entry).build();
}

}  // namespace halftone::simulator
