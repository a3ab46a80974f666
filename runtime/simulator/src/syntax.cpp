// SPDX-License-Identifier: Apache-2.0
// Modules, functions and statements. Source of the grammar: PTX ISA 9.0, chapters 4 to 6 and 11.
#include "syntax.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "syntax_text.hpp"

namespace halftone::simulator::syntax {

namespace {

/// Reads statements one after another.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Module read() {
    while (skip_space()) read_top(module_);
    return std::move(module_);
  }

 private:
  /// Past white space and comments; false at the end.
  bool skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (is_space(c)) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) fail(line_, "a comment does not end");
        for (; at_ < end + 2; ++at_) line_ += text_[at_] == '\n';
      } else {
        return true;
      }
    }
    return false;
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// Up to and past one of `ends`, outside brackets; without it.
  std::string_view up_to(std::string_view ends) {
    const std::size_t begin = at_;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (depth == 0 && ends.find(c) != std::string_view::npos) {
        const auto found = text_.substr(begin, at_ - begin);
        ++at_;
        return trimmed(found);
      }
      if (c == '[' || c == '{' || c == '(') ++depth;
      if (c == ']' || c == '}' || c == ')') --depth;
      if (c == '"') {
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        }
      }
    }
    fail(line_, "the text ends inside a statement");
  }

  std::string_view line() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    return trimmed(text_.substr(begin, at_ - begin));
  }

  void read_top(Module& module) {
    const std::uint32_t line_of = line_;
    std::string_view directive = word();
    if (directive == ".version") {
      module.version = line();
    } else if (directive == ".target") {
      module.target = line();
    } else if (directive == ".address_size" || directive == ".file") {
      line();
    } else if (directive == ".section") {
      up_to("{");
      up_to("}");
    } else if (directive == ".visible" || directive == ".weak" || directive == ".common") {
      // The directive behind it says what it is.
    } else if (directive == ".extern") {
      skip_space();
      directive = word();
      if (directive == ".func") {
        up_to(";");
        return;
      }
      for (Variable v : parse_variables(directive.substr(1), up_to(";"), line_of)) {
        v.external = true;
        module.variables.push_back(std::move(v));
      }
    } else if (directive == ".global" || directive == ".const" || directive == ".shared") {
      for (Variable& v : parse_variables(directive.substr(1), up_to(";"), line_of))
        module.variables.push_back(std::move(v));
    } else if (directive == ".entry" || directive == ".func") {
      read_function(directive == ".entry", module);
    } else if (directive == ".alias" || directive == ".pragma") {
      up_to(";");
    } else {
      fail(line_of, "'" + std::string(directive) + "' is not known");
    }
  }

  void read_function(bool entry, Module& module) {
    Function function;
    source_ = 0;
    places_.clear();
    function.entry = entry;
    skip_space();
    if (text_[at_] == '(') {
      ++at_;
      function.results = read_parameters(up_to(")"));
      skip_space();
    }
    function.name = word();
    skip_space();
    if (text_[at_] == '(') {
      ++at_;
      function.parameters = read_parameters(up_to(")"));
    }
    while (skip_space() && text_[at_] != '{' && text_[at_] != ';') read_bound(function);
    if (text_[at_++] == ';') return;  // a declaration
    read_body(function);
    module.functions.push_back(std::move(function));
  }

  std::vector<Variable> read_parameters(std::string_view text) {
    std::vector<Variable> parameters;
    for (std::string_view each : split_outside(text, ',')) {
      if (each.empty()) continue;
      const std::size_t behind = each.find_first_of(" \t\n");
      if (behind == std::string_view::npos) fail(line_, "a declaration has no name");
      for (Variable& v : parse_variables("param", each.substr(behind), line_))
        parameters.push_back(std::move(v));
    }
    return parameters;
  }

  void read_bound(Function& function) {
    const std::string_view name = word();
    constexpr std::uint64_t kMost = 65535;  // more than a chip has of anything that is bounded here
    std::uint64_t numbers[3] = {1, 1, 1};
    for (int i = 0; i < 3; ++i) {
      skip_space();
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      if (begin == at_) break;
      const std::string_view number = text_.substr(begin, at_ - begin);
      numbers[i] = integer_of(number).value_or(kMost + 1);
      if (numbers[i] > kMost) fail(line_, std::string(name) + " cannot be " + std::string(number));
      skip_space();
      if (text_[at_] != ',') break;
      ++at_;
    }
    if (name == ".maxntid" || name == ".reqntid")
      function.most_threads =
          static_cast<std::uint32_t>(std::min(numbers[0] * numbers[1] * numbers[2], kMost));
    if (name == ".reqnctapercluster")
      for (int i = 0; i < 3; ++i) function.cluster[i] = static_cast<std::uint32_t>(numbers[i]);
    if (name.empty()) fail(line_, "a function's head is not understood");
  }

  void read_body(Function& function) {
    scope_ = 0;
    while (true) {
      if (!skip_space()) fail(line_, "a function does not end");
      const char c = text_[at_];
      if (c == '{') {
        ++at_;
        function.scopes.push_back({scope_});
        scope_ = static_cast<std::uint32_t>(function.scopes.size() - 1);
      } else if (c == '}') {
        ++at_;
        if (scope_ == 0) return;
        scope_ = function.scopes[scope_].around;
      } else {
        read_statement(function);
      }
    }
  }

  /// .loc file line column{, function_name label, inlined_at file line column}. The place behind
  /// inlined_at was itself given by the latest .loc there, so that the lines form a chain.
  void read_location() {
    const auto parts = split_outside(line(), ' ');
    std::vector<std::uint32_t> numbers;
    for (std::string_view part : parts) {
      if (part.ends_with(',')) part.remove_suffix(1);
      if (const auto value = integer_of(part))
        numbers.push_back(static_cast<std::uint32_t>(*value));
    }
    if (numbers.size() < 3 || numbers[1] == 0) return;  // code of no line stays with the one before
    std::uint32_t caller = 0;
    if (numbers.size() >= 6) {
      const Place at{numbers[3], numbers[4], numbers[5]};
      const auto known = places_.find(at);
      caller = known == places_.end() ? add_line(at, 0) : known->second;
    }
    const Place here{numbers[0], numbers[1], numbers[2]};
    const auto known = places_.find(here);
    const bool same = known != places_.end() && module_.lines[known->second].caller == caller;
    source_ = same ? known->second : add_line(here, caller);
  }

  using Place = std::array<std::uint32_t, 3>;  // file, line, column
  std::uint32_t add_line(const Place& place, std::uint32_t caller) {
    module_.lines.push_back({place[1], caller});
    return places_[place] = static_cast<std::uint32_t>(module_.lines.size() - 1);
  }

  void read_statement(Function& function) {
    Statement statement;
    statement.ptx_line = line_;
    if (text_[at_] == '@') {
      ++at_;
      statement.guard_negated = text_[at_] == '!';
      at_ += statement.guard_negated;
      statement.guard = word();
      skip_space();
    }
    std::string_view head = word();
    for (const std::string_view space : {".reg", ".local", ".shared", ".param"})
      if (head.starts_with(space) && head.size() > space.size() && head[space.size()] == '.') {
        at_ -= head.size() - space.size();  // .reg.b16 is .reg .b16
        head = space;
      }
    if (head == ".loc") return read_location();
    if (head == ".file" || head == ".pragma") {
      up_to(";");
      return;
    }
    // A label ends in a colon that is_name took in.
    if (head.ends_with(':')) {
      head.remove_suffix(1);
      skip_space();
      if (text_.substr(at_, 14) == ".branchtargets") {
        at_ += 14;
        function.branch_targets.push_back({head, split_outside(up_to(";"), ','), scope_});
      } else if (text_.substr(at_, 14) == ".callprototype") {
        up_to(";");
      } else {
        function.labels.push_back({head, function.statements.size(), scope_});
      }
      return;
    }
    if (head.empty()) fail(line_, std::string("'") + text_[at_] + "' begins no statement");
    statement.opcode = head;
    statement.source = source_;
    statement.scope = scope_;
    const std::string_view rest = up_to(";");
    if (head.front() == '.') {
      statement.text = rest;
    } else {
      for (std::string_view operand : split_outside(rest, ','))
        statement.operands.push_back(parse_operand(operand, statement.ptx_line));
    }
    function.statements.push_back(std::move(statement));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1, source_ = 0, scope_ = 0;
  std::map<Place, std::uint32_t> places_;
  Module module_;
};

}  // namespace

Module parse(std::string_view text) {
  // NVRTC ends its texts with a zero.
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  return Reader(text).read();
}

std::vector<std::string_view> split(std::string_view opcode) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= opcode.size(); ++i)
    if (i == opcode.size() || opcode[i] == '.') {
      parts.push_back(opcode.substr(begin, i - begin));
      begin = i + 1;
    }
  return parts;
}

}  // namespace halftone::simulator::syntax
