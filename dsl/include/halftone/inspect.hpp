// SPDX-License-Identifier: Apache-2.0
// The rules on a whole model and its settings: everything is used (D5), losses, states, parameters,
// optimizer and precision rules are sound (D6 to D11).
#pragma once

#include "halftone/description/in_f32.hpp"
#include "halftone/description/reserved_names.hpp"
#include "halftone/elaborate.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/rules.hpp"

namespace halftone::dsl::checking {

using description::is_finite_in_f32, description::is_fraction_in_f32,
    description::is_positive_in_f32;

class Inspection {
 public:
  constexpr explicit Inspection(Graph& graph) : graph_(graph), program_(graph.program) {}

  constexpr void run() {
    names_in_code();
    names_of_buffers();
    usage();
    states();
    for (int n = 0; n < graph_.nodes.size() && graph_.sound(); ++n) {
      if (!graph_.nodes[n].owned) layer_options(n);
    }
    if (graph_.sound()) objective();
    if (graph_.sound()) optimizer();
    if (graph_.sound()) stages();
    if (graph_.sound()) precision();
  }

 private:
  /// The generated header makes C++ names of the model's, its inputs', outputs' and symbols'; it
  /// writes '_' behind a keyword that is not the model's.
  constexpr void names_in_code() {
    List<int> sources, outputs;  // tokens
    for (int i = 0; i < program_.size; ++i) {
      const Token& token = program_[i];
      const bool source = is_input(token);
      const bool symbol = token.part == Part::dimension && token.name != nullptr;
      const bool output = token.part == Part::output;
      if (token.part != Part::model && !source && !symbol && !output) continue;
      if (token.part == Part::model && description::hides_namespace(token.name))
        graph_.fail({.fault = Fault::hidden_namespace, .text = token.name});
      if (symbol && same_text(token.name, "seed"))
        graph_.fail({.fault = Fault::seed_symbol, .token = i});
      const description::Reserved reserved = description::reserved_as(token.name);
      const bool suffixed = reserved == description::Reserved::keyword && token.part != Part::model;
      if (reserved != description::Reserved::nothing && !suffixed) {
        graph_.fail({.fault = Fault::reserved_name,
                     .token = i,
                     .text = token.name,
                     .number = static_cast<int>(reserved)});
      }
      if (source) distinguish(sources, i);
      if (output) distinguish(outputs, i);
    }
  }

  /// Arguments of one function, or members of one struct.
  constexpr void distinguish(List<int>& others, int token) {
    for (int i = 0; i < others.size(); ++i) {
      if (description::names::are_alike(program_[others[i]].name, program_[token].name)) {
        graph_.fail({.fault = Fault::same_name_in_code, .other = others[i], .token = token});
      }
    }
    others.push(token);
  }

  /// Names outside of repeats: of a value, or before the dot of a parameter's or of a layer's that
  /// is called after what it reads.
  constexpr void names_of_buffers() {
    for (int n = 0; n < graph_.nodes.size(); ++n) {
      const Node* node = &graph_.nodes[n];
      if (node->scope >= 0) continue;
      bool dotted = node->owned;
      for (int base = 0; node->name == nullptr; node = &graph_.nodes[base], dotted = true)
        if ((base = continued(graph_, *node)) < 0) break;
      if (node->name == nullptr || !description::begins_as_buffer(node->name)) continue;
      if (dotted ? description::is_buffer_family(node->name) : description::is_buffer(node->name))
        graph_.fail({.fault = Fault::buffer_name, .text = node->name});
    }
  }

  constexpr void usage() {
    bool any_input = false;
    for (int n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (node.owned) continue;  // its layer reads it
      if (node.category == Category::delivered) {
        any_input = true;
        input(n);
      }
      if (node.users > 0 || node.category == Category::loss) continue;
      const Fault fault = node.category == Category::delivered ? Fault::unused_input
                          : node.category == Category::kept    ? Fault::unused_state
                                                               : Fault::unused_value;
      graph_.fail({.fault = fault, .node = n});
    }
    if (!any_input) graph_.fail({.fault = Fault::no_input});
    for (int i = 0; i < graph_.outputs.size(); ++i) {
      const int value = graph_.outputs[i].value.node;
      if (graph_.nodes[value].category == Category::loss)
        graph_.fail({.fault = Fault::loss_as_value, .other = value});
      if (graph_.nodes[value].integers) {
        graph_.fail(
            {.fault = Fault::integers_as_values, .other = value, .token = graph_.outputs[i].token});
      }
    }
  }

  constexpr void input(int n) {
    const long long number = program_[graph_.nodes[n].token].number;
    const encoding::Element element = delivered_in(number);
    const bool counted = (number & kIntegers) != 0, integers = encoding::traits(element).integer;
    const bool wants = (number & kWantsGradient) != 0;
    const bool converts = (number & (kScaled | kShifted)) != 0;
    const Token& token = program_[graph_.nodes[n].token];
    const auto refuse_if = [&](bool is_wrong, Fault fault) {
      if (is_wrong)
        graph_.fail({.fault = fault, .node = n, .text = encoding::traits(element).word});
    };
    refuse_if((number & kTwice) != 0, Fault::input_twice);
    refuse_if(counted && !integers, Fault::element_of_integers);
    const bool is_value =
        integers ? encoding::is_exact_in_f32(element) : encoding::is_delivered(element);
    refuse_if(!counted && !is_value, Fault::element_of_values);
    refuse_if(converts && (counted || !integers), Fault::no_conversion);
    refuse_if(!is_finite_in_f32(token.x) || !is_finite_in_f32(token.y), Fault::bad_conversion);
    refuse_if(wants && integers, Fault::integers_with_gradient);
    refuse_if(wants && graph_.losses.size() == 0, Fault::gradient_without_loss);
  }

  constexpr void states() {
    for (int i = 0; i < graph_.updates.size(); ++i) {
      const int target = graph_.updates[i].state.node;
      const int value = graph_.updates[i].value.node;
      const Node& state = graph_.nodes[target];
      if (state.category != Category::kept)
        graph_.fail({.fault = Fault::not_a_state, .node = target});
      if (graph_.nodes[value].category == Category::loss)
        graph_.fail({.fault = Fault::loss_as_value, .node = target, .other = value});
      if (graph_.nodes[value].integers) {
        graph_.fail({.fault = Fault::integers_as_values, .node = target, .other = value});
      }
      if (!(state.shape == graph_.nodes[value].shape)) {
        graph_.fail({.fault = Fault::assigned_shape,
                     .node = target,
                     .other = value,
                     .left = state.shape,
                     .right = graph_.nodes[value].shape});
      }
      for (int j = 0; j < i; ++j) {
        if (graph_.updates[j].state.node == target)
          graph_.fail({.fault = Fault::assigned_twice, .node = target});
      }
    }
  }

  constexpr void layer_options(int n) {
    const Node& node = graph_.nodes[n];
    setting(n, program_[node.token]);
    const int first = node.token + 1;
    if (first == program_.size || !is_layer_option(program_[first].part)) return;
    int without = without_of(node.kind);
    int ties = 0;
    bool shares = false;
    for (int at = first; at < program_.size && is_layer_option(program_[at].part); ++at) {
      const Token& option = program_[at];
      setting(n, option);
      if (option.part == Part::without) without |= option.detail;
      if (option.part == Part::without && !has_optional(node.kind, option.detail))
        graph_.fail({.fault = Fault::not_an_option, .token = node.token});
      if (option.part != Part::tied) continue;
      shares = option.detail == kBoth;
      if (++ties > 1) graph_.fail({.fault = Fault::tied_twice, .node = n});
    }
    if (shares && (without & ~without_of(node.kind)) != 0)
      graph_.fail({.fault = Fault::tied_options, .node = n});
    for (int at = first; at < program_.size && is_layer_option(program_[at].part); ++at) {
      const Token& option = program_[at];
      if (!is_parameter_option(option.part)) continue;
      if (shares || (ties > 0 && (option.detail & kWeight) != 0))
        graph_.fail({.fault = Fault::tied_options, .node = n});
      if ((option.detail & ~without) == 0)
        graph_.fail({.fault = Fault::no_bias_options, .node = n});
      parameter_option(n, option);
    }
  }

  /// The targets of which the kind has no parameter.
  static constexpr int without_of(description::Kind kind) {
    int without = kBoth;
    for (const auto& operand : form_of(kind).operands) {
      if (operand.is_parameter()) without &= ~target_of(operand.group);
    }
    return without;
  }

  /// Whether the kind has a parameter of this target that it may go without.
  static constexpr bool has_optional(description::Kind kind, int target) {
    for (const auto& operand : form_of(kind).operands) {
      if (operand.optional && operand.is_parameter() && target_of(operand.group) == target)
        return true;
    }
    return false;
  }

  constexpr void setting(int n, const Token& token) {
    const int i = stated(token);
    if (i < 0) return;
    const auto& form = form_of(graph_.nodes[n].kind).settings[i];
    if (form.accepts != nullptr && !form.accepts(token.x))
      graph_.fail({.fault = Fault::bad_setting, .node = n, .number = i});
  }

  constexpr void parameter_option(int n, const Token& option) {
    if (option.part == Part::learning_rate_scale &&
        !(is_finite_in_f32(option.x) && option.x >= 0)) {
      graph_.fail({.fault = Fault::bad_scale, .node = n});
    }
    const bool ordered = option.part == Part::init_uniform  ? option.x <= option.y
                         : option.part == Part::init_bounds ? option.x <= option.y
                         : option.part == Part::init_normal ||
                                 option.part == Part::init_truncated_normal
                             ? option.y >= 0
                             : true;
    if (!is_finite_in_f32(option.x) || !is_finite_in_f32(option.y) || !ordered) {
      graph_.fail({.fault = Fault::bad_initializer, .node = n});
    }
  }

  /// A model is trained, with losses and an optimizer, or only evaluated, with neither.
  constexpr void objective() {
    if (program_.given.strangers > 0) graph_.fail({.fault = Fault::unknown_setting});
    if (program_.given.optimizers > 0 && graph_.losses.size() == 0)
      graph_.fail({.fault = Fault::no_loss});
    if (program_.given.optimizers == 0 && graph_.losses.size() > 0)
      graph_.fail({.fault = Fault::no_optimizer});
    const Counts& given = program_.given;
    const char* several = given.optimizers > 1    ? "optimizers"
                          : given.clips > 1       ? "clips"
                          : given.value_clips > 1 ? "clip_values"
                          : given.schedules > 1   ? "schedules"
                          : given.averages > 1    ? "averages"
                          : given.stages > 1      ? "lists of stages"
                          : given.precisions > 1  ? "precisions"
                                                  : nullptr;
    if (several != nullptr) graph_.fail({.fault = Fault::repeated_setting, .text = several});
    for (int i = 0; i < graph_.losses.size(); ++i) {
      if (!is_finite_in_f32(graph_.losses[i].weight))
        graph_.fail({.fault = Fault::bad_loss_weight, .node = graph_.losses[i].node});
    }
    if (graph_.losses.size() == 0) return;
    for (int n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (node.category == Category::trained && !is_frozen(program_, node)) return;
    }
    graph_.fail({.fault = Fault::all_frozen});
  }

  constexpr void require(bool holds, Fault fault) {
    if (!holds) graph_.fail({.fault = fault, .text = word_of(program_.optimizer.kind)});
  }

  static constexpr const char* word_of(Optimizer::Kind kind) {
    return kOptimizerWords[static_cast<int>(kind)];
  }

  static constexpr bool is_plain(double number) { return is_finite_in_f32(number) && number >= 0; }

  constexpr void optimizer() {
    const Optimizer& is = program_.optimizer;
    require(!is.stranger, Fault::unknown_option);
    require(is.twice == nullptr, Fault::repeated_option);
    require(is_plain(is.learning_rate), Fault::bad_learning_rate);
    require(is_plain(is.weight_decay), Fault::bad_weight_decay);
    require(is_fraction_in_f32(is.momentum), Fault::bad_momentum);
    require(!is.nesterov || is_positive_in_f32(is.momentum), Fault::nesterov_alone);
    require(is_fraction_in_f32(is.dampening), Fault::bad_dampening);
    require(is.dampening == 0 || is_positive_in_f32(is.momentum), Fault::dampening_alone);
    require(is.dampening == 0 || !is.nesterov, Fault::nesterov_dampened);
    require(is_fraction_in_f32(is.beta1) && is_fraction_in_f32(is.beta2), Fault::bad_betas);
    require(is_plain(is.epsilon), Fault::bad_optimizer_epsilon);
    require(is_plain(is.momentum_decay), Fault::bad_momentum_decay);
    require(is_plain(is.initial_accumulator_value), Fault::bad_initial_accumulator);
    require(is_fraction_in_f32(is.alpha), Fault::bad_alpha);
    require(is.kind != Optimizer::Kind::lamb || is_positive_in_f32(is.epsilon),
            Fault::bad_lamb_epsilon);
    require(!is.limits_trust || is_positive_in_f32(is.max_trust), Fault::bad_max_trust);
    require(is_plain(is.decay_rate), Fault::bad_decay_rate);
    require(is_positive_in_f32(is.epsilon1 * is.epsilon1) && is_plain(is.epsilon2),
            Fault::bad_epsilons);
    require(is_positive_in_f32(is.clip_threshold), Fault::bad_clip_threshold);
    require(program_.given.clips == 0 || is_positive_in_f32(program_.clip), Fault::bad_clip);
    for (int at = 0; at < program_.group_tokens; ++at) {
      if (program_.groups[at].part != Part::group_clip) continue;
      require(is_positive_in_f32(program_.groups[at].x), Fault::bad_clip);
      require(program_.given.clips == 0, Fault::clips_of_all_and_groups);
    }
    require(program_.given.value_clips == 0 || is_positive_in_f32(program_.clip_value),
            Fault::bad_clip_value);
    require(is_fraction_in_f32(program_.average), Fault::bad_average);
    if (program_.given.schedules > 0) lambda(*program_.schedule, -1);
    if (is.kind == Optimizer::Kind::custom) custom(is);
  }

  constexpr void custom(const Optimizer& is) {
    for (int i = 0; i <= is.state_count; ++i) lambda(*is.values[i], kLambdaOfOptimizer);
    for (int i = 0; i < is.state_count; ++i) {
      bool usable = is_identifier(is.states[i]) &&
                    !same_text(is.states[i], form_of(description::kParameterKind).word);
      for (int j = 0; j < i; ++j) usable = usable && !same_text(is.states[j], is.states[i]);
      if (!usable) graph_.fail({.fault = Fault::bad_state_name, .text = is.states[i]});
    }
  }

  constexpr void lambda(const Expression& expression, int node) {
    if (expression.defect == Defect::none) return;
    graph_.fail({.fault = fault_of(expression.defect), .node = node, .number = expression.arity});
  }

  constexpr void stages() {
    const Stages& is = program_.stages;
    if (program_.given.stages > 0 && (is.count == 0 || is.count > description::kMostStages))
      return graph_.fail({.fault = Fault::many_stages});
    for (int i = 0; i < is.count; ++i) {
      if (!description::is_stage_name(is.names[i]))
        return graph_.fail({.fault = Fault::bad_stage, .text = is.names[i]});
      for (int j = 0; j < i; ++j) {
        if (same_text(is.names[i], is.names[j]))
          return graph_.fail({.fault = Fault::repeated_stage, .text = is.names[i]});
      }
    }
  }

  /// P66: a stage that a rule speaks of and that is not declared; null where there is none.
  constexpr const char* undeclared(const Selector& selector) const {
    for (int c = 0; c < selector.size; ++c) {
      for (int i = 0; i < selector.clauses[c].stage_count; ++i) {
        const char* const name = selector.clauses[c].stages[i];
        bool known = false;
        for (int s = 0; s < program_.stages.count; ++s)
          known = known || (name != nullptr && same_text(name, program_.stages.names[s]));
        if (!known) return name == nullptr ? "" : name;
      }
    }
    return nullptr;
  }

  constexpr void precision() {
    if (program_.given.precisions == 0) return graph_.fail({.fault = Fault::no_precision});
    if (program_.rule_count == 0) return graph_.fail({.fault = Fault::no_rule});
    ModelView model(graph_);
    for (int r = 0; r < program_.rule_count && graph_.sound(); ++r) {
      const Rule& rule = program_.rules[r];
      if (rule.defect != RuleDefect::none) {
        return graph_.fail(
            {.fault = Fault::rule_defect, .text = rule.word, .rule = r, .defect = rule.defect});
      }
      for (const Selector* selector : {&rule.selector, &rule.exceptions}) {
        const char* const stage = undeclared(*selector);
        if (stage != nullptr)
          return graph_.fail({.fault = Fault::unknown_stage, .text = stage, .rule = r});
      }
      const meaning::Finding found = rule.lists.allow.any()
                                         ? painted(rule, model)
                                         : meaning::find_fault(RuleView{rule}, model);
      if (found.trouble == meaning::Trouble::none) continue;
      graph_.fail({.fault = Fault::rule, .rule = r, .meaning = found});
    }
  }

  /// P64: something that paint allows must be in the model.
  static constexpr meaning::Finding painted(const Rule& rule, ModelView& model) {
    Rule allowed;
    allowed.selector = selecting::only(SelectedParts{.ops = rule.lists.allow});
    allowed.fields.stated = meaning::bit(meaning::Field::compute);
    meaning::Finding found = meaning::find_fault(RuleView{allowed}, model);
    found.clause = -1;
    return found;
  }

  Graph& graph_;
  const Program& program_;
};

}  // namespace halftone::dsl::checking
