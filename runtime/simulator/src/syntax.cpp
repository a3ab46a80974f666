// SPDX-License-Identifier: Apache-2.0
// Source of the grammar: PTX ISA 9.0, chapters 4 to 6 and 11.
#include "syntax.hpp"

#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "halftone/simulator/error.hpp"

namespace halftone::simulator::syntax {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         c == '%' || c == '.' || c == ':';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

[[noreturn]] void fail(std::uint32_t line, const std::string& what) {
  throw Error("PTX line " + std::to_string(line) + ": " + what);
}

/// Splits at `separator` outside brackets.
std::vector<std::string_view> split_outside(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == '{' || c == '(') ++depth;
    if (c == ']' || c == '}' || c == ')') --depth;
    if (c == separator && depth == 0) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (const auto last = trimmed(text.substr(begin)); !last.empty() || !parts.empty())
    parts.push_back(last);
  return parts;
}

std::optional<std::uint64_t> integer_of(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (!text.empty() && (text.back() == 'U' || text.back() == 'u')) text.remove_suffix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.starts_with("0b") || text.starts_with("0B")) {
    base = 2;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return negative ? 0 - value : value;
}

Operand parse_operand(std::string_view text, std::uint32_t line);

void parse_memory(std::string_view inside, std::uint32_t line, Operand& operand) {
  operand.kind = Operand::Kind::memory;
  const auto parts = split_outside(inside, ',');
  if (parts.empty()) fail(line, "an address is empty");
  for (std::size_t i = 1; i < parts.size(); ++i)
    operand.parts.push_back(parse_operand(parts[i], line));
  std::string_view base = parts[0];
  const std::size_t sign = base.find_first_of("+-", 1);
  if (sign != std::string_view::npos) {
    std::string_view offset = trimmed(base.substr(sign + 1));
    const bool minus = base[sign] == '-';
    const auto value = integer_of(offset);
    if (!value) fail(line, "'" + std::string(offset) + "' is no offset");
    operand.offset = static_cast<std::int64_t>(minus ? 0 - *value : *value);
    base = trimmed(base.substr(0, sign));
  }
  if (const auto absolute = integer_of(base)) {
    operand.offset += static_cast<std::int64_t>(*absolute);
    return;
  }
  operand.name = base;
}

/// 0f and 8 or 0d and 16 hexadecimal digits; false for anything else.
bool parse_float(std::string_view text, std::uint32_t line, Operand& operand) {
  if (text.size() < 3 || text[0] != '0') return false;
  const bool wide = text[1] == 'd' || text[1] == 'D';
  if (!wide && text[1] != 'f' && text[1] != 'F') return false;
  operand.kind = wide ? Operand::Kind::float64 : Operand::Kind::float32;
  const auto [end, error] =
      std::from_chars(text.data() + 2, text.data() + text.size(), operand.bits, 16);
  if (error != std::errc{} || end != text.data() + text.size())
    fail(line, "'" + std::string(text) + "' is no number");
  return true;
}

Operand parse_operand(std::string_view text, std::uint32_t line) {
  Operand operand;
  text = trimmed(text);
  if (text.empty()) fail(line, "an operand is empty");
  const char first = text.front();
  if (first == '{' || first == '(') {
    operand.kind = first == '{' ? Operand::Kind::vector : Operand::Kind::tuple;
    for (std::string_view part : split_outside(text.substr(1, text.size() - 2), ','))
      if (!part.empty()) operand.parts.push_back(parse_operand(part, line));
    return operand;
  }
  if (first == '[') {
    parse_memory(text.substr(1, text.size() - 2), line, operand);
    return operand;
  }
  if (first == '!') {
    operand.negated = true;
    text = trimmed(text.substr(1));
  }
  if (parse_float(text, line, operand)) return operand;
  if (const auto value = integer_of(text)) {
    operand.kind = Operand::Kind::integer;
    operand.bits = *value;
    return operand;
  }
  if (text.starts_with("generic(")) {  // of an initial value: all addresses here are generic
    const std::size_t close = std::min(text.find(')'), text.size() - 1);
    Operand inner = parse_operand(text.substr(8, close - 8), line);
    const std::string_view rest = trimmed(text.substr(close + 1));
    if (rest.starts_with('+'))
      inner.offset += static_cast<std::int64_t>(integer_of(trimmed(rest.substr(1))).value_or(0));
    return inner;
  }
  if (const std::size_t bar = text.find('|'); bar != std::string_view::npos) {
    operand.second = trimmed(text.substr(bar + 1));
    text = trimmed(text.substr(0, bar));
  }
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    const auto value = integer_of(trimmed(text.substr(plus + 1)));
    if (!value) fail(line, "'" + std::string(text) + "' is no address");
    operand.offset = static_cast<std::int64_t>(*value);
    text = trimmed(text.substr(0, plus));
  }
  operand.name = text;
  return operand;
}

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
      const std::size_t behind = each.find_first_of(" \t");
      for (Variable& v : parse_variables("param", each.substr(behind), line_))
        parameters.push_back(std::move(v));
    }
    return parameters;
  }

  void read_bound(Function& function) {
    const std::string_view name = word();
    std::uint64_t numbers[3] = {1, 1, 1};
    for (int i = 0; i < 3; ++i) {
      skip_space();
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      if (begin == at_) break;
      numbers[i] = integer_of(text_.substr(begin, at_ - begin)).value_or(1);
      skip_space();
      if (text_[at_] != ',') break;
      ++at_;
    }
    if (name == ".maxntid" || name == ".reqntid")
      function.most_threads = static_cast<std::uint32_t>(numbers[0] * numbers[1] * numbers[2]);
    if (name == ".reqnctapercluster")
      for (int i = 0; i < 3; ++i) function.cluster[i] = static_cast<std::uint32_t>(numbers[i]);
    if (name.empty()) fail(line_, "a function's head is not understood");
  }

  void read_body(Function& function) {
    std::vector<std::size_t> open;
    while (true) {
      if (!skip_space()) fail(line_, "a function does not end");
      const char c = text_[at_];
      if (c == '{') {
        ++at_;
        open.push_back(function.scopes.size());
        function.scopes.push_back({function.statements.size(), 0});
      } else if (c == '}') {
        ++at_;
        if (open.empty()) return;
        function.scopes[open.back()].end = function.statements.size();
        open.pop_back();
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
        function.branch_targets.emplace_back(head, split_outside(up_to(";"), ','));
      } else if (text_.substr(at_, 14) == ".callprototype") {
        up_to(";");
      } else {
        function.labels.push_back({head, function.statements.size()});
      }
      return;
    }
    if (head.empty()) fail(line_, std::string("'") + text_[at_] + "' begins no statement");
    statement.opcode = head;
    statement.source = source_;
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
  std::uint32_t line_ = 1, source_ = 0;
  std::map<Place, std::uint32_t> places_;
  Module module_;
};

/// name, name[8], name[4][2], name<10>, each perhaps with = initial values.
Variable parse_declarator(std::string_view text, const Variable& like, std::uint32_t line) {
  Variable variable = like;
  if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
    const std::string_view value = trimmed(text.substr(equals + 1));
    text = trimmed(text.substr(0, equals));
    const Operand initial = parse_operand(value, line);
    variable.initial =
        initial.kind == Operand::Kind::vector ? initial.parts : std::vector<Operand>{initial};
  }
  const std::size_t end = text.find_first_of("[<");
  variable.name = trimmed(text.substr(0, end));
  if (end == std::string_view::npos) return variable;
  std::string_view counts = text.substr(end);
  while (!counts.empty()) {
    const std::size_t close = counts.find_first_of("]>");
    if (close == std::string_view::npos) fail(line, "an array's size does not end");
    const std::string_view count = trimmed(counts.substr(1, close - 1));
    const auto value = count.empty() ? std::optional<std::uint64_t>(0) : integer_of(count);
    if (!value) fail(line, "'" + std::string(count) + "' is no size");
    variable.elements *= *value;
    counts = trimmed(counts.substr(close + 1));
  }
  return variable;
}

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

std::vector<Variable> parse_variables(std::string_view space, std::string_view text,
                                      std::uint32_t line) {
  Variable like;
  like.space = space;
  text = trimmed(text);
  while (text.starts_with('.')) {
    const std::size_t end = text.find_first_of(" \t\n");
    if (end == std::string_view::npos) fail(line, "a declaration has no name");
    const std::string_view word = text.substr(1, end - 1);
    text = trimmed(text.substr(end));
    if (word == "align") {
      const std::size_t behind = text.find_first_of(" \t\n");
      like.alignment = static_cast<std::uint32_t>(integer_of(text.substr(0, behind)).value_or(1));
      text = trimmed(text.substr(behind));
    } else if (word == "v2" || word == "v4") {
      like.vector = word == "v2" ? 2 : 4;
    } else if (word != "ptr" && word != "global" && word != "shared" && word != "const" &&
               word != "attribute(.managed)" && word != "attribute(.unified)") {
      like.type = word;
    }
  }
  std::vector<Variable> variables;
  for (std::string_view each : split_outside(text, ','))
    variables.push_back(parse_declarator(each, like, line));
  return variables;
}

}  // namespace halftone::simulator::syntax
