// SPDX-License-Identifier: Apache-2.0
// The graph that a specification stands for, in containers that also work in constant evaluations.
// What checks a model has a namespace of its own, so that its names stay free in users' files.
#pragma once

#include "halftone/training.hpp"

namespace halftone::dsl::checking {

/// A growing array for constant evaluations; std::vector would cost every user's compilation more.
template <class T>
class List {
 public:
  constexpr List() = default;
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  constexpr ~List() { delete[] data_; }

  constexpr int size() const { return size_; }
  constexpr T& operator[](int i) { return data_[i]; }
  constexpr const T& operator[](int i) const { return data_[i]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr void pop() { --size_; }
  /// A list that was empty gets `size` elements.
  constexpr void fill(int size) {
    data_ = new T[static_cast<unsigned>(size)]{};
    size_ = capacity_ = size;
  }
  constexpr void truncate(int size) { size_ = size; }

  constexpr void push(const T& value) {
    if (size_ == capacity_) grow();
    data_[size_++] = value;
  }

 private:
  constexpr void grow() {
    capacity_ = capacity_ == 0 ? 16 : 2 * capacity_;
    T* larger = new T[static_cast<unsigned>(capacity_)]{};
    for (int i = 0; i < size_; ++i) larger[i] = data_[i];
    delete[] data_;
    data_ = larger;
  }

  T* data_ = nullptr;
  int size_ = 0, capacity_ = 0;
};

using Hash = unsigned long long;
inline constexpr Hash kHashStart = 14695981039346656037ull;  // FNV-1a, 64 bits
constexpr Hash extend(Hash hash, char c) {
  return (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
}
constexpr Hash extend(Hash hash, const char* text) {
  for (; *text != 0; ++text)  // not by the other, since steps are few
    hash = (hash ^ static_cast<unsigned char>(*text)) * 1099511628211ull;
  return hash;
}

using description::Category, description::form_of;

/// What a name stands for that is a layer's where a parameter is read: its weight, or the parameter
/// in the same role.
enum class Tie : unsigned char { none, weight, same };

/// A node, or the name of one in the scope where it was written.
struct Value {
  int node = -1;
  const char* name = nullptr;
  int scope = -1;
  Tie tie = Tie::none;

  constexpr bool exists() const { return node >= 0 || name != nullptr; }
};

/// One copy of a repeat's body, index -1 standing for all of them; or a named chain.
struct Scope {
  const char* name = nullptr;
  long long index = -1;
  long long count = 0;  ///< of copies; 0 of a named chain
  int parent = -1;
  Hash hash = kHashStart;  ///< of the path with its last '/'
};

struct Node {
  description::Kind kind{};
  Category category{};    ///< the kind's, at hand: a constant evaluation has few steps
  bool integers = false;  ///< an input of labels or tokens
  bool gradient = false;  ///< an input that wants one
  bool weighs = false;    ///< a loss whose last operand is a sample_weight
  bool owned = false;     ///< a parameter or a state, made with its layer
  int role = 0;           ///< of what a layer owns: which of its operands; otherwise 0
  long long inputs = 0;   ///< parameters: what one output of the layer sums
  const char* name =
      nullptr;  ///< what a layer owns: the layer's; null for one that is called after what it reads
  int scope = -1;
  int token = -1;                       ///< the layer's token; its options and operands follow
  int operands = 0, operand_count = 0;  ///< a range of Graph::operands
  unsigned absent = 0;                  ///< bits of optional operands that a user did not name
  int users = 0;                        ///< operands, outputs and assignments that read it
  unsigned char mark = 0;               ///< sorting: 0 untouched, 1 being visited, 2 placed
  Shape shape{};
};

/// What a name stands for. `token` says what gave the name.
struct Entry {
  Hash hash = 0;
  const char* name = nullptr;
  int token = -1;
  Value value;
};

struct NamedOutput {
  int token = -1, scope = -1;
  Value value;
};
struct WeightedLoss {
  int node = -1;
  double weight = 1;
};
struct StateUpdate {
  Value state, value;
};
/// A repeat's body must return what it receives.
struct Seam {
  int token = -1;
  Value enters, leaves;
  int scope = -1;  ///< of the copy
};

/// What is wrong; check.hpp has the sentence for each.
enum class Fault : unsigned char {
  none,
  misuse,
  // names
  empty_name,
  bad_name,
  bad_model_name,
  bad_symbol,
  reserved_name,
  buffer_name,
  hidden_namespace,
  seed_symbol,
  same_name_in_code,
  duplicate_name,
  same_derived_name,
  unknown_value,
  self_alias,
  // structure
  not_constant,
  no_input,
  no_source,
  bad_repeat,
  too_many_dimensions,
  cycle,
  unused_input,
  unused_state,
  unused_value,
  // shapes
  bad_extent,
  bad_factor,
  sum_of_symbol,
  too_many_elements,
  symbolic_columns,
  repeat_shape,
  residual_shape,
  shape,  // refused by the kind's rule
  // kinds
  integers_as_values,
  values_as_integers,
  weight_not_delivered,
  loss_as_value,
  // parameters
  not_an_option,
  integers_with_gradient,
  gradient_without_loss,
  input_twice,
  element_of_values,
  element_of_integers,
  no_conversion,
  bad_conversion,
  tied_unknown,
  tied_kind,
  tied_cycle,
  tied_turned,
  tied_shape,
  tied_options,
  tied_twice,
  no_bias_options,
  bad_scale,
  bad_initializer,
  bad_setting,
  // pointwise
  captures,
  arity,
  lambda_result,
  lambda_constants,
  lambda_nan,
  lambda_length,
  lambda_branch,
  lambda_condition,
  lambda_untraceable,
  // states
  not_a_state,
  assigned_twice,
  assigned_shape,
  // training
  no_loss,
  no_optimizer,
  bad_loss_weight,
  all_frozen,
  unknown_setting,
  repeated_setting,
  no_precision,
  no_rule,
  rule_defect,
  rule,
  unknown_stage,
  unknown_option,
  repeated_option,
  bad_learning_rate,
  bad_weight_decay,
  bad_momentum,
  nesterov_alone,
  bad_dampening,
  dampening_alone,
  nesterov_dampened,
  bad_betas,
  bad_optimizer_epsilon,
  bad_momentum_decay,
  bad_initial_accumulator,
  bad_alpha,
  bad_lamb_epsilon,
  bad_max_trust,
  bad_decay_rate,
  bad_epsilons,
  bad_clip_threshold,
  bad_clip,
  clips_of_all_and_groups,
  bad_clip_value,
  bad_average,
  bad_stage,
  repeated_stage,
  many_stages,
  bad_state_name,
};

/// In the place of a node whose lambda has a defect; -1 is the schedule.
inline constexpr int kLambdaOfOptimizer = -2;

/// What a lambda with a defect makes of a model.
constexpr Fault fault_of(Defect defect) {
  constexpr Fault kFaults[] = {Fault::none,
                               Fault::captures,
                               Fault::arity,
                               Fault::lambda_result,
                               Fault::lambda_constants,
                               Fault::lambda_nan,
                               Fault::lambda_length,
                               Fault::lambda_branch,
                               Fault::lambda_condition,
                               Fault::lambda_untraceable};
  return kFaults[static_cast<int>(defect)];
}

/// The first fault, with what its sentence needs; which fields are set depends on the fault.
struct Finding {
  Fault fault = Fault::none;
  int node = -1, other = -1;  ///< nodes
  int token = -1;
  const char* text = nullptr;
  long long number = 0;
  Shape left{}, right{};
  int rule = -1;
  RuleDefect defect = RuleDefect::none;
  description::rules::Finding meaning{};
};

struct Graph {
  Program program;
  bool expand = false;  ///< write out every copy of a repeat; otherwise one stands for all

  List<Scope> scopes;
  List<Node> nodes;
  List<Value> operands;
  List<Entry> entries;
  List<int> slots;  ///< open addressing over entries, -1 is free
  List<NamedOutput> outputs;
  List<WeightedLoss> losses;
  List<StateUpdate> updates;
  List<Seam> seams;
  List<int> tied;   ///< nodes that use another's parameter
  List<int> order;  ///< nodes, operands before their users
  Finding finding;

  constexpr Graph(const Program& of, bool expanded) : program(of), expand(expanded) {}

  constexpr bool sound() const { return finding.fault == Fault::none; }
  constexpr void fail(const Finding& found) {
    if (sound()) finding = found;
  }
  constexpr Value& operand(const Node& node, int i) { return operands[node.operands + i]; }
  constexpr const Value& operand(const Node& node, int i) const {
    return operands[node.operands + i];
  }
  constexpr Node& read(const Node& node, int i) { return nodes[operand(node, i).node]; }
};

/// What begins a graph: an input or a state.
constexpr bool is_given(const Node& node) {
  return node.category == Category::delivered || node.category == Category::kept;
}
constexpr bool is_input(const Token& token) {
  return token.part == Part::node && description::is_input(token.kind());
}
constexpr bool is_parameter_option(Part part) {
  return part >= Part::frozen && part <= Part::init_kaiming_normal;
}
constexpr bool is_layer_option(Part part) {
  return part >= Part::extent && part <= Part::init_kaiming_normal;
}

/// Which setting of its node's kind a token states, or -1.
constexpr int stated(const Token& token) {
  if (token.part == Part::setting) return token.detail;
  return token.part == Part::node && token.y == kStated && !is_input(token) ? 0 : -1;
}

/// What a layer states of a setting that is a list: a token for each number among its options.
struct StatedList {
  const Program* program = nullptr;
  int layer = 0, setting = 0;

  constexpr int size() const {
    int count = 0;
    for (int at = layer + 1; is_option(at); ++at) count += stated((*program)[at]) == setting;
    return count;
  }
  constexpr long long operator[](int i) const {
    int at = layer + 1;
    while (stated((*program)[at]) != setting || i-- > 0) ++at;
    return whole_number((*program)[at].x);
  }

 private:
  constexpr bool is_option(int at) const {
    return at < program->size && is_layer_option((*program)[at].part);
  }
};

/// A layer's list of dimensions: `count` tokens behind its options.
struct TokenList {
  int first = 0, count = 0;
};
constexpr TokenList list_of(const Program& program, int layer) {
  TokenList list{layer + 1};
  while (list.first < program.size && is_layer_option(program[list.first].part)) ++list.first;
  while (list.first + list.count < program.size &&
         program[list.first + list.count].part == Part::dimension) {
    ++list.count;
  }
  return list;
}
constexpr Dimension dimension_of(const Token& token) {
  return token.name != nullptr ? Dimension(token.name, token.number) + whole_number(token.x)
                               : Dimension(token.number);
}

/// What the layer's form says of what it owns.
constexpr const description::OperandForm& own_form(const Program& program, const Node& owned) {
  return form_of(program[owned.token].kind()).operands[owned.role];
}
/// Whether an option speaks of a parameter.
constexpr bool speaks_of(const Token& option, const description::OperandForm& parameter) {
  return is_parameter_option(option.part) && (option.detail & target_of(parameter.group)) != 0;
}

/// Whether a parameter is never trained.
constexpr bool is_frozen(const Program& program, const Node& parameter) {
  const description::OperandForm& form = own_form(program, parameter);
  for (int at = parameter.token + 1; at < program.size && is_layer_option(program[at].part); ++at) {
    if (program[at].part == Part::frozen && speaks_of(program[at], form)) return true;
  }
  return false;
}

/// Which operand of a kind may be that of another layer, or -1.
constexpr int tied_operand(description::Kind kind) {
  const auto& operands = form_of(kind).operands;
  int i = operands.size - 1;
  while (i >= 0 && !operands[i].may_be_tied) --i;
  return i;
}

/// The form of operand `i` of a node; `form`: of its kind.
constexpr const description::OperandForm& form_of_operand(const description::KindForm& form,
                                                          const Node& node, int i) {
  if (form.operands[0].repeated)
    return form.operands[node.weighs && i + 1 == node.operand_count ? form.operands.size - 1 : 0];
  int role = i;
  for (unsigned absent = node.absent, at = 0; absent != 0 && at <= static_cast<unsigned>(role);
       absent >>= 1, ++at)
    role += static_cast<int>(absent & 1);
  return form.operands[role];
}
constexpr const description::OperandForm& form_of_operand(const Node& node, int i) {
  return form_of_operand(form_of(node.kind), node, i);
}

/// What a layer without a name is called behind what it continues.
constexpr const char* word_of(const Graph& graph, const Node& node) {
  const Expression* expression = graph.program[node.token].expression;
  return expression != nullptr && expression->word != nullptr ? expression->word
                                                              : form_of(node.kind).word;
}

/// The node that a layer without a name is called after: the one it continues, if that lies in the
/// same copy of the same repeat; otherwise -1. A residual continues its body, which is the second
/// operand.
constexpr int continued(const Graph& graph, const Node& node) {
  const bool residual = graph.program[node.token].part == Part::end_residual;
  const int base = graph.operand(node, residual ? 1 : 0).node;
  return base >= 0 && graph.nodes[base].scope == node.scope ? base : -1;
}

}  // namespace halftone::dsl::checking
