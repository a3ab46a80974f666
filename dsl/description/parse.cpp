// SPDX-License-Identifier: Apache-2.0
// Reads the text form: one statement a line, no recursion, memory in proportion to the text.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "faults.hpp"
#include "halftone/description/text.hpp"
#include "parts.hpp"
#include "scanner.hpp"
#include "spelling.hpp"

namespace halftone::description {
namespace {

using detail::Position;
using detail::Section;

constexpr std::string_view kVersion = "1";
constexpr std::size_t kLongestText = std::size_t{1} << 26;  // bytes; keeps lines and columns in int

/// Calls use with one of each, in the order of Optimizer.
template <class Use>
void for_optimizers(Use use) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (use(std::variant_alternative_t<I, Optimizer>()), ...);
  }
  (std::make_index_sequence<std::variant_size_v<Optimizer>>());
}

/// "sgd, adamw or adam", of all.
std::string known_optimizers() {
  std::vector<std::string> words;
  for_optimizers([&]<class Is>(const Is&) { words.emplace_back(Is::word); });
  std::string list = words.front();
  for (std::size_t i = 1; i < words.size(); ++i)
    list += (i + 1 < words.size() ? ", " : " or ") + words[i];
  return list;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : scan_(text) {}

  std::variant<Description, ParseError> parse() {
    if (!(parse_header() && parse_statements() && check())) return *scan_.error();
    return std::move(description_);
  }

  /// A file of rules for a description.
  std::variant<Description, ParseError> parse_rules(const Description& of) {
    description_ = of;
    description_.rules.clear();
    if (!(parse_rule_statements() && check())) return *scan_.error();
    return std::move(description_);
  }

 private:
  bool parse_header();
  bool parse_statements();
  bool parse_statement();
  bool parse_rule_statements();
  bool check();

  bool parse_model();
  bool parse_source(Kind kind);
  bool read_source(Node& node);
  bool read_input(Node& node);
  bool parse_layer();
  bool parse_output();
  bool parse_loss();
  bool parse_assignment();
  bool parse_rule();
  bool parse_optimizer();
  template <class Optimizer>
  bool read_optimizer(Optimizer& optimizer);
  bool read_functions(auto&) { return true; }
  bool read_functions(Custom& custom);
  bool parse_clip();
  bool parse_clip_group();
  bool parse_clip_value();
  bool parse_schedule();
  bool parse_average();
  bool parse_stages();

  bool read_new_name(std::string& name);
  bool read_node(NodeId& node);
  bool read_operands(std::vector<Operand>& operands);
  bool add_node(Node node);
  bool record(Section section, bool once = false);

  detail::Scanner scan_;
  Position statement_;  // start of the statement being read
  Description description_;
  std::unordered_map<std::string_view, NodeId> ids_;  // names lie in the text
  std::string_view new_name_;
  std::vector<Position> places_[detail::kSections];  // where each section's statements start
};

bool Parser::parse_header() {
  if (!scan_.take_word("halftone") || !scan_.take_word("description")) {
    return scan_.fail({},
                      "this is no description; its first line must be 'halftone description 1'");
  }
  const Position place = scan_.position();
  std::string_view version;
  if (!scan_.read_word(version, "the version '1'")) return false;
  if (version != kVersion) {
    return scan_.fail(place, "this text has version " + detail::quoted(version.substr(0, 32)) +
                                 " of the form, but version 1 is read; print it again");
  }
  return scan_.expect_end_of_line();
}

bool Parser::parse_statements() {
  while (scan_.next_statement()) {
    statement_ = scan_.position();
    if (!parse_statement() || !scan_.expect_end_of_line()) return false;
  }
  for (const Section section : {Section::model, Section::optimizer}) {
    if (!places_[static_cast<std::size_t>(section)].empty()) continue;
    return scan_.fail(scan_.position(),
                      section == Section::model
                          ? "the text ends without a model; add the statement 'model \"name\"'"
                          : "the text ends without an optimizer; add one, " + known_optimizers());
  }
  return true;
}

bool Parser::parse_rule_statements() {
  while (scan_.next_statement()) {
    statement_ = scan_.position();
    if (!scan_.take_word("rule")) return scan_.unexpected("a statement 'rule ...'");
    if (!parse_rule()) return false;
  }
  if (!description_.rules.empty()) return true;
  return scan_.fail({},
                    "this file states no rule; write 'rule everywhere : store f32 compute f32' to "
                    "keep all in f32");
}

bool Parser::parse_statement() {
  struct Statement {
    std::string_view word;
    bool (Parser::*parse)();
  };
  static constexpr Statement kStatements[] = {
      {"model", &Parser::parse_model},
      {"output", &Parser::parse_output},
      {"loss", &Parser::parse_loss},
      {"assign", &Parser::parse_assignment},
      {"rule", &Parser::parse_rule},
      {"optimizer", &Parser::parse_optimizer},
      {"clip", &Parser::parse_clip},
      {"clip_group", &Parser::parse_clip_group},
      {"clip_value", &Parser::parse_clip_value},
      {"average", &Parser::parse_average},
      {"schedule", &Parser::parse_schedule},
      {"stages", &Parser::parse_stages},
  };
  if (scan_.peek() == '%') return parse_layer();
  for (const Statement& statement : kStatements) {
    if (scan_.take_word(statement.word)) return (this->*statement.parse)();
  }
  std::string sources;
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    if (!is_source(kind)) continue;
    if (scan_.take_word(detail::spelled(kind))) return parse_source(kind);
    sources.append(detail::spelled(kind)).append(", ");
  }
  return scan_.unexpected("a statement (model, " + sources +
                          "'%name = ...', output, loss, assign, rule, optimizer, clip, clip_group, "
                          "clip_value, "
                          "schedule, average or stages)");
}

bool Parser::check() {
  auto fault = detail::find_fault(description_);
  if (!fault) return true;
  const auto& places = places_[static_cast<std::size_t>(fault->section)];
  return scan_.fail(fault->index < places.size() ? places[fault->index] : Position{},
                    std::move(fault->message));
}

bool Parser::record(Section section, bool once) {
  auto& places = places_[static_cast<std::size_t>(section)];
  if (once && !places.empty()) {
    return scan_.fail(statement_, "this statement stands on line " +
                                      std::to_string(places[0].line) + " already; remove one");
  }
  places.push_back(statement_);
  return true;
}

bool Parser::add_node(Node node) {
  ids_.emplace(new_name_, static_cast<NodeId>(description_.nodes.size()));
  description_.nodes.push_back(std::move(node));
  return record(Section::node);
}

bool Parser::read_new_name(std::string& name) {
  const Position start = scan_.position();
  if (!scan_.read_name(new_name_, "the new node's name, such as %fc1")) return false;
  name = new_name_;
  const auto known = ids_.find(new_name_);
  if (known == ids_.end()) return true;
  const auto line =
      places_[static_cast<std::size_t>(Section::node)][static_cast<std::size_t>(known->second)]
          .line;
  return scan_.fail(start, "the node '%" + name + "' stands on line " + std::to_string(line) +
                               " already; rename one (D2)");
}

bool Parser::read_node(NodeId& node) {
  const Position start = scan_.position();
  std::string_view name;
  if (!scan_.read_name(name, "a node, such as %fc1")) return false;
  const auto known = ids_.find(name);
  if (known == ids_.end()) {
    return scan_.fail(start, "no node '%" + std::string(name) +
                                 "' stands above; nodes come before their users (D1)");
  }
  node = known->second;
  return true;
}

bool Parser::parse_model() {
  return record(Section::model, true) &&
         scan_.read_string(description_.name, "the model's name in quotes");
}

bool Parser::parse_source(Kind kind) {
  Node node;
  node.kind = kind;
  return read_new_name(node.name) && scan_.expect(':') && read_source(node) &&
         add_node(std::move(node));
}

/// What follows the colon.
bool Parser::read_source(Node& node) {
  if (is_input(node.kind) && !scan_.read_enum(node.format, "a format", encoding::is_delivered))
    return false;
  if (!detail::read_shape(scan_, node.shape)) return false;
  if (is_state(node.kind)) {
    return detail::read_setting(scan_, "initial",
                                node.attributes.emplace<StateAttributes>().initial);
  }
  if (is_input(node.kind)) return read_input(node);
  if (!is_parameter(node.kind)) return true;
  auto& attributes = node.attributes.emplace<ParameterAttributes>();
  if (!(scan_.expect_word("init") && detail::read_initializer(scan_, attributes.initializer))) {
    return false;
  }
  attributes.decay = !scan_.take_word("no_decay");
  attributes.frozen = scan_.take_word("frozen");
  return !scan_.take_word("learning_rate_scale") ||
         scan_.read_number(attributes.learning_rate_scale, "a number");
}

/// What follows an input's shape; one that states nothing has no attributes.
bool Parser::read_input(Node& node) {
  InputAttributes input;
  input.gradient = scan_.take_word("gradient");
  if (scan_.take_word("scale") && !scan_.read_number(input.scale, "a number")) return false;
  if (scan_.take_word("offset") && !scan_.read_number(input.offset, "a number")) return false;
  if (input != InputAttributes{}) node.attributes = input;
  return true;
}

bool Parser::read_operands(std::vector<Operand>& operands) {
  if (!scan_.expect('(')) return false;
  if (scan_.take(')')) return true;
  do {
    Operand operand;
    std::string_view role;
    if (!(scan_.read_word(role, "an operand's role, such as x") && scan_.expect(':') &&
          read_node(operand.node))) {
      return false;
    }
    operand.role = role;
    operands.push_back(std::move(operand));
  } while (scan_.take(','));
  return scan_.expect(')');
}

bool Parser::parse_layer() {
  Node node;
  if (!read_new_name(node.name) || !scan_.expect('=')) return false;
  const Position start = scan_.position();
  if (!scan_.read_enum(node.kind, "a layer or a loss", is_computed)) return false;
  if (is_source(node.kind)) {
    return scan_.fail(start, "a source is not computed; write '" +
                                 std::string(detail::spelled(node.kind)) + " %name : ...'");
  }
  return read_operands(node.operands) && detail::read_attributes(scan_, node) &&
         scan_.expect(':') && detail::read_shape(scan_, node.shape) && add_node(std::move(node));
}

bool Parser::parse_output() {
  Output output;
  if (!(scan_.read_string(output.name, "the output's name in quotes") && scan_.expect('=') &&
        read_node(output.node))) {
    return false;
  }
  description_.outputs.push_back(std::move(output));
  return record(Section::output);
}

bool Parser::parse_loss() {
  Loss loss;
  if (!read_node(loss.node) || !detail::read_setting(scan_, "weight", loss.weight)) return false;
  description_.losses.push_back(loss);
  return record(Section::loss);
}

bool Parser::parse_assignment() {
  Assignment assignment;
  if (!(read_node(assignment.state) && scan_.expect('=') && read_node(assignment.value))) {
    return false;
  }
  description_.assignments.push_back(assignment);
  return record(Section::assignment);
}

bool Parser::parse_rule() {
  return detail::read_rule(scan_, description_.rules.emplace_back()) && record(Section::rule);
}

bool Parser::parse_optimizer() {
  if (!record(Section::optimizer, true)) return false;
  bool known = false, read = false;
  for_optimizers([&]<class Optimizer>(Optimizer optimizer) {
    if (known || !scan_.take_word(Optimizer::word)) return;
    known = true;
    read = read_optimizer(optimizer);
    description_.optimizer = optimizer;
  });
  return known ? read : scan_.unexpected("an optimizer, " + known_optimizers());
}

/// What follows the settings of a user's: "parameter { ... } momentum { ... }".
bool Parser::read_functions(Custom& custom) {
  if (!scan_.expect_word(detail::spelled(kParameterKind)) ||
      !detail::read_expression(scan_, 0, custom.parameter))
    return false;
  while (!scan_.at_end_of_line()) {
    std::string_view name;
    if (!scan_.read_word(name, "the name of a state")) return false;
    Custom::State& state = custom.states.emplace_back();
    state.name = name;
    if (!detail::read_expression(scan_, 0, state.next)) return false;
  }
  const auto operands = static_cast<std::int32_t>(kCustomOperands + custom.states.size());
  custom.parameter.arity = operands;
  for (Custom::State& state : custom.states) state.next.arity = operands;
  return true;
}

template <class Optimizer>
bool Parser::read_optimizer(Optimizer& optimizer) {
  for (const auto& setting : Optimizer::settings) {
    if (setting.flag != nullptr) {
      optimizer.*setting.flag = scan_.take_word(setting.word);
    } else if (setting.optional) {
      if (scan_.take_word(setting.word) &&
          !scan_.read_number(optimizer.*setting.number, "a number"))
        return false;
    } else if (!detail::read_setting(scan_, setting.word, optimizer.*setting.number)) {
      return false;
    }
  }
  return read_functions(optimizer);
}

bool Parser::parse_clip_value() {
  return record(Section::clip_value, true) &&
         scan_.read_number(description_.clip_value.emplace(),
                           "the largest size of a gradient's element");
}

bool Parser::parse_clip() {
  return record(Section::clip, true) &&
         scan_.read_number(description_.clip.emplace(), "the largest gradient norm");
}

bool Parser::parse_clip_group() {
  ClipGroup& group = description_.clip_groups.emplace_back();
  if (!record(Section::clip_group) ||
      !scan_.read_number(group.norm, "the largest norm of the group's gradients"))
    return false;
  do {
    if (!read_node(group.parameters.emplace_back())) return false;
  } while (!scan_.at_end_of_line());
  return true;
}

bool Parser::parse_schedule() {
  return record(Section::schedule, true) &&
         detail::read_expression(scan_, 1, description_.schedule.emplace());
}

bool Parser::parse_average() {
  return record(Section::average, true) &&
         scan_.read_number(description_.average.emplace(), "the share that averages keep");
}

bool Parser::parse_stages() {
  if (!record(Section::stages, true)) return false;
  do {
    if (!scan_.read_string(description_.stages.emplace_back(), "the name of a stage in quotes")) {
      return false;
    }
  } while (!scan_.at_end_of_line());
  return true;
}

}  // namespace

std::variant<Description, ParseError> parse(std::string_view text) {
  if (text.size() <= kLongestText) return Parser(text).parse();
  return ParseError{1, 1, "this text is larger than 64 MiB; a description is far smaller"};
}

std::optional<ParseError> replace_rules(Description& description, std::string_view text) {
  if (text.size() > kLongestText) {
    return ParseError{1, 1, "this text is larger than 64 MiB; a file of rules is far smaller"};
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // some editors write it
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  auto parsed = Parser(text).parse_rules(description);
  if (auto* error = std::get_if<ParseError>(&parsed)) return std::move(*error);
  description = std::move(std::get<Description>(parsed));
  return std::nullopt;
}

std::string ParseError::str(std::string_view file) const {
  return std::string(file) + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " +
         message;
}

}  // namespace halftone::description
