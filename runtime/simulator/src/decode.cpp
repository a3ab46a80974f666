// SPDX-License-Identifier: Apache-2.0
// Statements to instructions, function by function.
#include <algorithm>

#include "execute.hpp"
#include "halftone/simulator/error.hpp"
#include "kernel_builder.hpp"
#include "opcode_families.hpp"

namespace halftone::simulator {

namespace {

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

}  // namespace

Kernel KernelBuilder::build() {
  kernel_.name = entry_.name;
  kernel_.lines = &module_.lines;
  kernel_.most_threads = entry_.most_threads;
  for (int i = 0; i < 3; ++i) kernel_.cluster[i] = entry_.cluster[i];
  kernel_.uses_clusters = entry_.cluster[0] != 0;
  lay_out_entry_parameters();
  for (const syntax::Variable& v : module_.variables)
    if (v.space == "shared" && v.elements != 0) shared_[v.name] = place_shared(v);
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

void KernelBuilder::refuse(const std::string& what) const {
  const auto where = "PTX line " + std::to_string(statement->ptx_line) + " of kernel '" +
                     std::string(entry_.name) + "': ";
  std::string text(statement->opcode);
  if (const std::uint32_t line = module_.lines[statement->source].line; line != 0)
    text += " (source line " + std::to_string(line) + ")";
  throw Error(where + "the instruction " + text + " " + what);
}

void KernelBuilder::add_function(const syntax::Function& function) {
  current_ = &function;
  starts_[&function] = static_cast<std::uint32_t>(kernel_.code.size());
  open_scopes(function);
  std::vector<std::uint32_t> at_statement;
  for (const syntax::Statement& statement : function.statements) {
    at_statement.push_back(static_cast<std::uint32_t>(kernel_.code.size()));
    add_statement(statement);
  }
  at_statement.push_back(static_cast<std::uint32_t>(kernel_.code.size()));
  // A body may end without ret.
  Instruction end;
  end.flow = Flow::leave;
  end.opcode = "ret";
  kernel_.code.push_back(end);
  for (const Fixup& fixup : fixups_) {
    const std::uint32_t* const found = nearest(fixup.scope, fixup.label, [&](const Names& names) {
      const auto at = names.labels.find(fixup.label);
      return at == names.labels.end() ? nullptr : &at->second;
    });
    if (!found)
      throw Error("kernel '" + std::string(entry_.name) + "' has no label '" +
                  std::string(fixup.label) + "'");
    Instruction& instruction = kernel_.code[fixup.instruction];
    (fixup.more == kNone ? instruction.target : instruction.more[fixup.more]) =
        at_statement[*found];
  }
  fixups_.clear();
}

const KernelBuilder::Places& KernelBuilder::signature_of(const syntax::Function& function) {
  const auto [at, is_new] = signatures_.try_emplace(&function);
  if (is_new && &function != &entry_)
    for (const auto* list : {&function.parameters, &function.results})
      for (const syntax::Variable& v : *list) at->second[v.name] = place_local(v);
  return at->second;
}

void KernelBuilder::open_scopes(const syntax::Function& function) {
  declared_.clear();
  scopes_.assign(function.scopes.size(), {});
  for (const auto& [name, place] : scopes_[0].locals = signature_of(function)) declare(0, name);
  for (const syntax::Label& label : function.labels) {
    declare(label.scope, label.name);
    scopes_[label.scope].labels[label.name] = static_cast<std::uint32_t>(label.statement);
  }
  for (const syntax::BranchTargets& list : function.branch_targets) declare(list.scope, list.name);
}

void KernelBuilder::declare(std::uint32_t scope, std::string_view name) {
  if (!declared_.emplace(scope, name).second)
    throw Error("kernel '" + std::string(entry_.name) + "' declares '" + std::string(name) +
                "' twice in one scope");
}

void KernelBuilder::add_statement(const syntax::Statement& s) {
  begin(s);
  if (s.opcode == ".reg") return declare_registers(s);
  if (s.opcode == ".shared" || s.opcode == ".local" || s.opcode == ".param") {
    for (const syntax::Variable& v :
         syntax::parse_variables(s.opcode.substr(1), s.text, s.ptx_line)) {
      declare(s.scope, v.name);
      if (s.opcode == ".shared")
        scopes_[s.scope].shared[v.name] = place_shared(v);
      else
        scopes_[s.scope].locals[v.name] = place_local(v);
    }
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
    syntax::Operand guard;
    guard.name = s.guard;
    instruction.guard = predicate_of(guard);
    instruction.guard_negated = s.guard_negated;
  }
  if (!known_.contains(s.opcode)) {
    if (!family_of(s.opcode)) unknown();
    known_.insert(s.opcode);
  }
  if (words[0] == "call") {
    add_call();
    return;
  }
  const Opcode* opcode = find_opcode(words[0]);
  if (!opcode) unknown();
  opcode->decode(*this);
  note_access();
  note_indexed_targets();
  finish();
  kernel_.code.push_back(std::move(instruction));
}

void KernelBuilder::note_access() {
  constexpr std::string_view kAccesses[] = {"ld", "ldu", "st", "atom", "red"};
  if (std::ranges::find(kAccesses, words[0]) == std::end(kAccesses)) return;
  const std::uint32_t bytes = std::uint32_t{instruction.bytes} * instruction.width;
  kernel_.smallest_access = std::min(kernel_.smallest_access, std::max(bytes, 1u));
}

void KernelBuilder::note_indexed_targets() {
  if (instruction.flow != Flow::indexed) return;
  const auto& [name, list, scope] = targets(operand(1).name);
  if (list.empty()) refuse("needs a target in the list '" + std::string(name) + "'");
  fixups_.erase(
      std::remove_if(fixups_.begin(), fixups_.end(),
                     [&](const Fixup& f) { return f.instruction == kernel_.code.size(); }),
      fixups_.end());
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    instruction.more.push_back(kNone);
    fixups_.push_back({kernel_.code.size(), list[i], scope, i});
  }
}

void KernelBuilder::add_call() {
  const bool has_results = operand(0).kind == syntax::Operand::Kind::tuple;
  const std::size_t at = has_results ? 1 : 0;
  const std::string_view name = operand(at).name;
  const auto callee = std::ranges::find(module_.functions, name, &syntax::Function::name);
  if (name == "__assertfail") {
    find_opcode("trap")->decode(*this);
    kernel_.code.push_back(std::move(instruction));
    return;
  }
  if (callee == module_.functions.end()) unknown();  // vprintf, malloc, pointers to functions
  const auto signature = signature_of(*callee);
  const auto copy = [&](const syntax::Operand& actual, const syntax::Variable& formal, bool back) {
    Instruction move = instruction;
    move.flow = Flow::straight;
    move.run = copy_local;
    const std::uint32_t mine = argument(actual, formal), theirs = signature.at(formal.name);
    move.at[0] = back ? mine : theirs;
    move.at[1] = back ? theirs : mine;
    move.at[2] = static_cast<std::uint32_t>(size_of(formal));
    kernel_.code.push_back(move);
  };
  const std::vector<syntax::Operand> none;
  const auto& arguments = operands() > at + 1 ? operand(at + 1).parts : none;
  const auto& results = has_results ? operand(0).parts : none;
  if (arguments.size() != callee->parameters.size() || results.size() != callee->results.size())
    refuse("needs the " + std::to_string(callee->parameters.size()) + " arguments and " +
           std::to_string(callee->results.size()) + " results of '" + std::string(name) + "'");
  finish();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    copy(arguments[i], callee->parameters[i], false);
  if (placed_.insert(&*callee).second) pending_.push_back(&*callee);
  instruction.flow = Flow::call;
  calls_.emplace_back(kernel_.code.size(), &*callee);
  kernel_.code.push_back(instruction);
  for (std::size_t i = 0; i < results.size(); ++i) copy(results[i], callee->results[i], true);
}

std::uint32_t KernelBuilder::argument(const syntax::Operand& actual,
                                      const syntax::Variable& formal) const {
  const std::int64_t at = local_parameter(actual.name);
  const auto known = std::ranges::find_if(kernel_.local, [&](const Range& range) {
    return range.offset == at && range.bytes >= size_of(formal);
  });
  if (at < 0 || known == kernel_.local.end())
    refuse("needs a .param variable of " + std::to_string(size_of(formal)) + " bytes, not '" +
           std::string(actual.name) + "'");
  return known->offset;
}

Kernel build_kernel(const syntax::Module& module, const syntax::Function& entry) {
  return KernelBuilder(module, entry).build();
}

}  // namespace halftone::simulator
