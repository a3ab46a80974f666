// SPDX-License-Identifier: Apache-2.0
// PTX as it is written: functions of statements with operands, names not yet looked up. Views point
// into the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::simulator::syntax {

struct Operand {
  enum class Kind : std::uint8_t { name, integer, float32, float64, memory, vector, tuple };
  Kind kind = Kind::name;
  std::string_view name;       ///< name: register, variable, label; memory: its base, or empty
  std::uint64_t bits = 0;      ///< integer and float literals
  std::int64_t offset = 0;     ///< memory, and names such as symbol+8
  bool negated = false;        ///< !%p
  std::vector<Operand> parts;  ///< vector {a, b}, tuple (a, b), and memory [a, {x, y}]
  std::string_view second;     ///< %p of %r|%p
};

struct Statement {
  std::string_view opcode;  ///< "ld.global.v4.f32", or a directive such as ".reg"
  std::string_view guard;   ///< register name, or empty
  bool guard_negated = false;
  std::vector<Operand> operands;
  std::string_view text;  ///< of a directive, behind its name
  std::uint32_t ptx_line = 0;
  std::uint32_t source = 0;  ///< index of Module::lines
  std::uint32_t scope = 0;   ///< index of Function::scopes
};

/// A line of the text that was compiled; 0 where nothing is known.
struct SourceLine {
  std::uint32_t line = 0;
  std::uint32_t caller = 0;  ///< index of the line it was inlined at, or 0
};

struct Variable {
  std::string_view name;
  std::string_view space;  ///< "global", "const", "shared", "local", "param", "reg"
  std::string_view type;   ///< "b8", "u32", "f32", "pred", ...
  std::uint32_t alignment = 1;
  std::uint64_t elements = 1;  ///< 0: extern, sized by the launch
  std::uint32_t vector = 1;    ///< .v2, .v4
  bool external = false;
  std::vector<Operand> initial;
};

struct Label {
  std::string_view name;
  std::size_t statement = 0;  ///< index of the statement behind it
  std::uint32_t scope = 0;    ///< index of Function::scopes
};

struct BranchTargets {
  std::string_view name;
  std::vector<std::string_view> labels;
  std::uint32_t scope = 0;  ///< index of Function::scopes
};

struct Scope {               ///< one pair of braces
  std::uint32_t around = 0;  ///< index of the scope that it lies in; the first lies in none
};

struct Function {
  std::string_view name;
  bool entry = false;
  std::vector<Variable> parameters, results;
  std::vector<Statement> statements;  ///< directives too: .reg, .shared, .local, .param
  std::vector<Label> labels;
  std::vector<Scope> scopes = {{}};  ///< the body's own is the first
  std::vector<BranchTargets> branch_targets;
  std::uint32_t most_threads = 0;        ///< .maxntid, .reqntid; 0: not stated
  std::uint32_t cluster[3] = {0, 0, 0};  ///< .reqnctapercluster
};

struct Module {
  std::string version, target;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<SourceLine> lines = {{}};
};

/// Throws Error. `text` must outlive the result.
[[nodiscard]] Module parse(std::string_view text);

/// The parts of "ld.global.v4.f32" between dots.
[[nodiscard]] std::vector<std::string_view> split(std::string_view opcode);

/// A declaration's variables: ".align 8 .b8 name[16]", "%r<10>" (name "%r", elements 10), ...
[[nodiscard]] std::vector<Variable> parse_variables(std::string_view space, std::string_view text,
                                                    std::uint32_t line);

}  // namespace halftone::simulator::syntax
