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

std::string KernelBuilder::refusal() const {
  const auto where = "PTX line " + std::to_string(statement->ptx_line) + " of kernel '" +
                     std::string(entry_.name) + "': ";
  std::string text(statement->opcode);
  if (const std::uint32_t line = module_.lines[statement->source].line; line != 0)
    text += " (source line " + std::to_string(line) + ")";
  return where + "the instruction " + text + " cannot be simulated";
}

void KernelBuilder::add_function(const syntax::Function& function) {
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

std::map<std::string_view, std::uint32_t, std::less<>> KernelBuilder::signature_of(
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

void KernelBuilder::enter_and_leave_scopes(const syntax::Function& function,
                                           std::size_t statement) {
  std::size_t depth = 0;
  for (const syntax::Scope& scope : function.scopes)
    depth += scope.begin <= statement && statement < scope.end;
  std::size_t begun = 0;
  for (const syntax::Scope& scope : function.scopes) begun += scope.begin == statement;
  while (scopes_.size() > depth + 1) scopes_.pop_back();
  for (std::size_t i = 0; i < begun && scopes_.size() > depth + 1 - begun; ++i) scopes_.pop_back();
  while (scopes_.size() < depth + 1) scopes_.emplace_back();
}

void KernelBuilder::add_statement(const syntax::Statement& s) {
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

void KernelBuilder::note_access() {
  constexpr std::string_view kAccesses[] = {"ld", "ldu", "st", "atom", "red"};
  if (std::ranges::find(kAccesses, words[0]) == std::end(kAccesses)) return;
  const std::uint32_t bytes = std::uint32_t{instruction.bytes} * instruction.width;
  kernel_.smallest_access = std::min(kernel_.smallest_access, std::max(bytes, 1u));
}

void KernelBuilder::note_indexed_targets() {
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

void KernelBuilder::add_call(const syntax::Statement& s) {
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
  const auto copy = [&](const syntax::Operand& actual, const syntax::Variable& formal, bool back) {
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

Kernel build_kernel(const syntax::Module& module, const syntax::Function& entry) {
  return KernelBuilder(module, entry).build();
}

}  // namespace halftone::simulator
