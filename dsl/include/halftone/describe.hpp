// SPDX-License-Identifier: Apache-2.0
// The only bridge from a specification to its Description. No header of a model includes it:
// halftone_add_model builds a small program that defines HALFTONE_DESCRIBE, includes the model's
// header, then this one, and prints the Description of what halftone_offered(0) stands for.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "halftone/description/description.hpp"
#include "halftone/description/glob.hpp"
#include "halftone/description/paint.hpp"
#include "halftone/dsl.hpp"

namespace halftone::dsl::checking {

class Describer {
 public:
  explicit Describer(const Graph& graph) : graph_(graph), program_(graph.program) {}

  description::Description run() {
    out_.name = program_[0].name;
    name_nodes();
    check_groups();
    place_nodes();
    for (int i = 0; i < graph_.outputs.size(); ++i) {
      const NamedOutput& output = graph_.outputs[i];
      Name name;
      write_scope(name, graph_, output.scope);
      name.put(program_[output.token].name);
      out_.outputs.push_back({name.text, ids_[output.value.node]});
    }
    for (int i = 0; i < graph_.losses.size(); ++i) {
      out_.losses.push_back({ids_[graph_.losses[i].node], graph_.losses[i].weight});
    }
    for (int i = 0; i < graph_.updates.size(); ++i) {
      out_.assignments.push_back(
          {ids_[graph_.updates[i].state.node], ids_[graph_.updates[i].value.node]});
    }
    settings();
    return std::move(out_);
  }

 private:
  struct Name {
    std::string text;
    void put(char c) { text += c; }
    void put(const char* words) { text += words; }
    void put(long long number) { text += std::to_string(number); }
    void put_copies(long long) { text += '*'; }  // every copy is written out, so never asked for
  };

  /// Names that the user gave stay; a derived name that is taken gets .2, .3, ...
  void name_nodes() {
    std::unordered_set<std::string> taken;
    names_.resize(graph_.nodes.size());
    for (const bool given : {true, false}) {
      for (int n = 0; n < graph_.nodes.size(); ++n) {
        if ((graph_.nodes[n].name != nullptr) != given) continue;
        Name name;
        write_name(name, graph_, n);
        std::string unique = name.text;
        for (int i = 2; !taken.insert(unique).second; ++i)
          unique = name.text + "." + std::to_string(i);
        names_[n] = unique;
      }
    }
  }

  /// Inputs, parameters and states first, then the layers; each in the graph's order.
  void place_nodes() {
    ids_.resize(graph_.nodes.size());
    for (int group = 0; group < 4; ++group) {
      for (int i = 0; i < graph_.order.size(); ++i) {
        const int n = graph_.order[i];
        if (group_of(graph_.nodes[n].category) != group) continue;
        ids_[n] = static_cast<description::NodeId>(out_.nodes.size());
        out_.nodes.push_back(node(n));
      }
    }
  }

  static int group_of(Category category) {
    return category == Category::layer || category == Category::loss ? 3
           : category == Category::delivered                         ? 0
           : category == Category::trained                           ? 1
                                                                     : 2;
  }

  description::Node node(int n) const {
    const Node& from = graph_.nodes[n];
    description::Node to;
    to.name = names_[n];
    to.kind = from.kind;
    for (int i = 0; i < from.operand_count; ++i) {
      to.operands.push_back({role(from, i), ids_[graph_.operand(from, i).node]});
    }
    for (int i = 0; i < from.shape.rank; ++i)
      to.shape.push_back(dimension(from.shape.dimensions[i]));
    if (from.category == Category::delivered) to.format = delivered_in(program_[from.token].number);
    to.attributes = attributes(n);
    return to;
  }

  static description::Dimension dimension(const Dimension& from) {
    if (from.symbol != nullptr) return {from.extent, from.symbol, from.factor};
    return {from.extent, ""};
  }

  /// As in the table of nodes of docs/spec/description.md.
  static std::string role(const Node& node, int i) {
    const description::OperandForm& form = form_of_operand(node, i);
    return form.repeated ? form.role + std::to_string(i) : form.role;
  }

  description::Attributes attributes(int n) const {
    const Node& node = graph_.nodes[n];
    if (node.category == Category::trained) return parameter(n);
    if (node.owned) return description::StateAttributes{own_form(program_, node).first};
    if (node.category == Category::delivered) return input(program_[node.token]);
    const description::KindForm& form = form_of(node.kind);
    if (form.settings.size == 0 && !form.function) return std::monostate{};
    description::LayerAttributes to = description::standard_attributes(node.kind);
    for (int i = 0; i < form.settings.size; ++i) {
      if (form.settings[i].type == description::SettingType::dimensions)
        set(setting(to, form, i), list_of(program_, node.token));
    }
    for (int at = node.token; at < program_.size; ++at) {
      if (at > node.token && !is_layer_option(program_[at].part)) break;
      const int i = stated(program_[at]);
      if (i >= 0) set(setting(to, form, i), form.settings[i], program_[at].x);
    }
    if (node.category == Category::kept)
      return description::StateAttributes{to.number(form.settings[0].name)};
    if (form.function) to.function = function(program_[node.token]);
    return to;
  }

  /// Of an input that states nothing there are none.
  static description::Attributes input(const Token& token) {
    description::InputAttributes to{.gradient = (token.number & kWantsGradient) != 0};
    if ((token.number & kScaled) != 0) to.scale = token.x;
    if ((token.number & kShifted) != 0) to.offset = token.y;
    if (to == description::InputAttributes{}) return std::monostate{};
    return to;
  }

  /// Setting `i` of the form, which gets its place among those that there are.
  static description::Setting& setting(description::LayerAttributes& to,
                                       const description::KindForm& form, int i) {
    std::size_t at = 0;
    for (int before = 0; before < i; ++before) {
      at += at < to.settings.size() && to.settings[at].name == form.settings[before].name;
    }
    const bool exists = at < to.settings.size() && to.settings[at].name == form.settings[i].name;
    if (!exists) to.settings.insert(to.settings.begin() + at, {form.settings[i].name, 0.0});
    return to.settings[at];
  }

  static void set(description::Setting& setting, const description::SettingForm& form, double x) {
    using description::SettingType;
    if (form.type == SettingType::number) setting.value = x;
    if (form.type == SettingType::flag) setting.value = x != 0;
    if (form.type == SettingType::choice)
      setting.value = std::string(form.words[static_cast<int>(x)]);
    if (form.type == SettingType::integer) setting.value = static_cast<std::int64_t>(x);
    if (form.type != SettingType::integers) return;
    using Numbers = std::vector<std::int64_t>;
    auto* numbers = std::get_if<Numbers>(&setting.value);
    if (numbers == nullptr) numbers = &setting.value.emplace<Numbers>();
    numbers->push_back(static_cast<std::int64_t>(x));
  }

  void set(description::Setting& setting, const TokenList& list) const {
    auto& dimensions = std::get<description::Shape>(setting.value);
    for (int i = 0; i < list.count; ++i)
      dimensions.push_back(dimension(dimension_of(program_[list.first + i])));
  }

  description::ParameterAttributes parameter(int n) const {
    const Node& node = graph_.nodes[n];
    description::ParameterAttributes to;
    to.initializer = default_initializer(node);
    for_options(names_[n], [&](const Token& option) {
      if (is_parameter_option(option.part)) apply(option, n, to);
    });
    for (int at = node.token + 1; at < program_.size && is_layer_option(program_[at].part); ++at) {
      if (speaks_of(program_[at], own_form(program_, node))) apply(program_[at], n, to);
    }
    return to;
  }

  void apply(const Token& option, int n, description::ParameterAttributes& to) const {
    using Draw = description::Initializer::Kind;
    if (option.part == Part::frozen) to.frozen = true;
    if (option.part == Part::no_decay) to.decay = false;
    if (option.part == Part::learning_rate_scale) to.learning_rate_scale = option.x;
    if (option.part == Part::init_constant) to.initializer = {Draw::constant, option.x, option.y};
    if (option.part == Part::init_uniform) to.initializer = {Draw::uniform, option.x, option.y};
    if (option.part == Part::init_normal) to.initializer = {Draw::normal, option.x, option.y};
    if (option.part == Part::init_truncated_normal)
      to.initializer = {Draw::truncated_normal, option.x, option.y};
    if (option.part == Part::init_bounds) {
      to.initializer.low = option.x;
      to.initializer.high = option.y;
    }
    if (option.part >= Part::init_orthogonal) to.initializer = scaled(option, n);
  }

  /// torch.nn.init's formulas of a gain and the sizes of a weight (outputs, places..., inputs).
  /// Throws std::invalid_argument where it has one dimension.
  description::Initializer scaled(const Token& option, int n) const {
    using Draw = description::Initializer::Kind;
    const Node& node = graph_.nodes[n];
    if (node.shape.rank < 2)
      throw std::invalid_argument("the parameter '" + names_[n] +
                                  "' has one dimension, and its initializer wants two or more: "
                                  "give it init_constant(), init_uniform() or init_normal()");
    const double gain = std::sqrt(option.x);
    if (option.part == Part::init_orthogonal) return {Draw::orthogonal, gain};
    double places = 1;
    for (int d = 1; d + 1 < node.shape.rank; ++d)
      places *= static_cast<double>(node.shape.dimensions[d].extent);
    const double fan_in = static_cast<double>(node.inputs);
    const double fan_out = static_cast<double>(node.shape.dimensions[0].extent) * places;
    const bool by_both =
        option.part == Part::init_xavier_uniform || option.part == Part::init_xavier_normal;
    const double fan = option.number == static_cast<long long>(Fan::out) ? fan_out : fan_in;
    const double deviation =
        by_both ? gain * std::sqrt(2.0 / (fan_in + fan_out)) : gain / std::sqrt(fan);
    if (option.part == Part::init_xavier_normal || option.part == Part::init_kaiming_normal)
      return {Draw::normal, 0.0, deviation};
    const double bound = std::sqrt(3.0) * deviation;
    return {Draw::uniform, -bound, bound};
  }

  /// Options of the groups whose globs match a parameter's name.
  void for_options(const std::string& name, const auto& use) const {
    bool matches = false;
    for (int at = 0; at < program_.group_tokens; ++at) {
      const Token& token = program_.groups[at];
      if (token.part == Part::group)
        matches = description::glob_matches(token.name, name);
      else if (matches)
        use(token);
    }
  }

  /// Throws std::invalid_argument where a group speaks of no parameter.
  void check_groups() const {
    for (int at = 0; at < program_.group_tokens; ++at) {
      const Token& token = program_.groups[at];
      if (token.part != Part::group) continue;
      std::string known;
      bool matches = false;
      for (int n = 0; n < graph_.nodes.size(); ++n) {
        if (graph_.nodes[n].category != Category::trained) continue;
        matches = matches || description::glob_matches(token.name, names_[n]);
        known += (known.empty() ? "'" : ", '") + names_[n] + "'";
      }
      if (!matches)
        throw std::invalid_argument("the group '" + std::string(token.name) +
                                    "' names no parameter: the model's are " + known);
    }
  }

  description::Initializer default_initializer(const Node& node) const {
    using Draw = description::Initializer::Kind;
    const description::OperandForm& form = own_form(program_, node);
    if (form.start == description::Start::constant) return {Draw::constant, form.first, 0.0};
    if (form.start == description::Start::normal) return {Draw::normal, 0.0, 1.0};
    const double bound = std::sqrt(1.0 / static_cast<double>(node.inputs));
    return {Draw::uniform, -bound, bound};
  }

  static description::Function function(const Token& token) {
    const Expression& of = *token.expression;
    return {of.word != nullptr ? of.word : token.name,
            expression(of, token.number == kNumbered ? &token.x : nullptr)};
  }

  /// With a number it stands for the last value.
  static description::Expression expression(const Expression& of, const double* number = nullptr) {
    description::Expression to{number != nullptr ? of.arity - 1 : of.arity, {}};
    for (int i = 0; i < of.size; ++i) {
      const Instruction& from = of.instructions[i];
      if (from.op == ScalarOp::operand && from.a == to.arity)
        to.instructions.push_back({description::ScalarOp::constant, 0, 0, 0, *number});
      else
        to.instructions.push_back(
            {static_cast<description::ScalarOp>(from.op), from.a, from.b, from.c, from.constant});
    }
    return to;
  }

  template <class Enum>
  static std::vector<Enum> choices(meaning::Mask mask) {
    std::vector<Enum> list;
    for (unsigned i = 0; mask >> i != 0; ++i) {
      if ((mask >> i & 1) != 0) list.push_back(static_cast<Enum>(i));
    }
    return list;
  }

  static description::Clause clause(const SelectedParts& from) {
    description::Clause to;
    if (from.layer != nullptr) to.layer = from.layer;
    to.classes = choices<description::LayerClass>(from.classes);
    for (int i = 0; i < description::kKinds; ++i) {
      const auto kind = static_cast<description::Kind>(i);
      if (from.ops.has(kind)) to.ops.push_back(kind);
    }
    to.roles = choices<description::Role>(from.roles);
    to.passes = choices<description::Pass>(from.passes);
    for (int i = 0; i < from.target_count; ++i) {
      to.targets.push_back({from.targets[i].relation, from.targets[i].name});
    }
    to.bounds = from.bounds;
    for (int i = 0; i < from.stage_count; ++i) to.stages.push_back(from.stages[i]);
    return to;
  }

  static description::Rule rule(const Rule& from) {
    using meaning::Field;
    description::Rule to;
    for (int i = 0; i < from.selector.size; ++i)
      to.clauses.push_back(clause(from.selector.clauses[i]));
    for (int i = 0; i < from.exceptions.size; ++i)
      to.exceptions.push_back(clause(from.exceptions.clauses[i]));
    to.if_any = from.if_any;
    if (from.because != nullptr) to.because = from.because;
    const meaning::Fields& fields = from.fields;
    if (fields.has(Field::store)) to.store = fields.store;
    if (fields.has(Field::compute)) to.compute = fields.compute;
    if (fields.has(Field::result)) to.result = fields.result;
    if (fields.has(Field::accumulate)) to.accumulate = fields.accumulate;
    if (fields.has(Field::master)) to.master = fields.master;
    to.remainder = fields.remainder;
    if (fields.has(Field::rounding)) to.rounding = fields.rounding;
    if (fields.has(Field::recompute)) to.recompute = fields.recompute;
    if (fields.has(Field::loss_scale)) to.loss_scale = fields.loss_scale;
    if (fields.has(Field::memory_budget)) to.memory_budget = fields.memory_budget;
    if (fields.has(Field::quantize)) to.quantize = fields.quantize;
    if (fields.has(Field::place)) to.place = fields.place;
    return to;
  }

  /// Of each group with a clip the trained parameters that no later one clips. Throws
  /// std::invalid_argument where there are none.
  void clip_groups() {
    for (int at = 0; at < program_.group_tokens; ++at) {
      if (program_.groups[at].part != Part::group_clip) continue;
      description::ClipGroup& group = out_.clip_groups.emplace_back();
      group.norm = program_.groups[at].x;
      for (int n = 0; n < graph_.nodes.size(); ++n) {
        if (graph_.nodes[n].category != Category::trained) continue;
        const Token* clip = nullptr;
        for_options(names_[n], [&](const Token& option) {
          if (option.part == Part::group_clip) clip = &option;
        });
        const description::Node& node = out_.nodes[static_cast<std::size_t>(ids_[n])];
        if (clip == &program_.groups[at] &&
            !std::get<description::ParameterAttributes>(node.attributes).frozen)
          group.parameters.push_back(ids_[n]);
      }
      if (group.parameters.empty())
        throw std::invalid_argument("the group '" + std::string(glob_before(at)) +
                                    "' has a clip but no parameter that is trained and that no "
                                    "later group clips: leave the clip out");
      std::sort(group.parameters.begin(), group.parameters.end());
    }
  }

  const char* glob_before(int at) const {
    while (program_.groups[at].part != Part::group) --at;
    return program_.groups[at].name;
  }

  static description::Optimizer optimizer(const Optimizer& is) {
    switch (is.kind) {
      case Optimizer::Kind::adamw:
        return description::AdamW{is.learning_rate, is.beta1,        is.beta2,
                                  is.epsilon,       is.weight_decay, is.amsgrad};
      case Optimizer::Kind::adam:
        return description::Adam{is.learning_rate, is.beta1,        is.beta2,
                                 is.epsilon,       is.weight_decay, is.amsgrad};
      case Optimizer::Kind::nadam:
        return description::NAdam{
            is.learning_rate, is.beta1,          is.beta2,                 is.epsilon,
            is.weight_decay,  is.momentum_decay, is.decoupled_weight_decay};
      case Optimizer::Kind::adagrad:
        return description::Adagrad{is.learning_rate, is.epsilon, is.weight_decay,
                                    is.initial_accumulator_value};
      case Optimizer::Kind::rmsprop:
        return description::RmsProp{is.learning_rate, is.alpha,    is.epsilon,
                                    is.momentum,      is.centered, is.weight_decay};
      case Optimizer::Kind::lion:
        return description::Lion{is.learning_rate, is.beta1, is.beta2, is.weight_decay};
      case Optimizer::Kind::lamb:
        return description::Lamb{is.learning_rate, is.beta1,     is.beta2,       is.epsilon,
                                 is.weight_decay,  is.max_trust, is.decayed_only};
      case Optimizer::Kind::adafactor:
        return description::Adafactor{is.learning_rate, is.decay_rate,     is.epsilon1,
                                      is.epsilon2,      is.clip_threshold, is.weight_decay};
      case Optimizer::Kind::sgd:
        return description::Sgd{is.learning_rate, is.momentum, is.nesterov, is.weight_decay,
                                is.dampening};
      case Optimizer::Kind::custom: {
        description::Custom to{is.learning_rate, is.weight_decay, expression(*is.values[0]), {}};
        for (int i = 0; i < is.state_count; ++i)
          to.states.push_back({is.states[i], expression(*is.values[i + 1])});
        return to;
      }
      case Optimizer::Kind::none:
        break;
    }
    return {};
  }

  void settings() {
    for (int i = 0; i < program_.rule_count; ++i) {
      const Rule& from = program_.rules[i];
      if (!from.lists.allow.any()) {
        out_.rules.push_back(rule(from));
        continue;
      }
      for (description::Rule& painted :
           description::paint_rules(out_, from.lists, from.painted_in)) {
        out_.rules.push_back(std::move(painted));
      }
    }
    out_.optimizer = optimizer(program_.optimizer);
    if (program_.given.clips > 0) out_.clip = program_.clip;
    clip_groups();
    if (program_.given.value_clips > 0) out_.clip_value = program_.clip_value;
    if (program_.given.schedules > 0) out_.schedule = expression(*program_.schedule);
    if (program_.given.averages > 0) out_.average = program_.average;
    for (int i = 0; i < program_.stages.count; ++i)
      out_.stages.push_back(program_.stages.names[i]);
  }

  const Graph& graph_;
  const Program& program_;
  std::vector<std::string> names_;
  std::vector<description::NodeId> ids_;
  description::Description out_;
};

static_assert(static_cast<int>(ScalarOp::select) ==
                  static_cast<int>(description::ScalarOp::select) &&
              static_cast<int>(ScalarOp::sigmoid) ==
                  static_cast<int>(description::ScalarOp::sigmoid) &&
              static_cast<int>(ScalarOp::add) == static_cast<int>(description::ScalarOp::add));

}  // namespace halftone::dsl::checking

namespace halftone::dsl {

/// The Description of a program, every copy of a repeat written out. Throws std::invalid_argument
/// with the sentence of the compile-time check when the program was never checked and is not sound.
inline description::Description describe(const Program& program) {
  checking::Graph graph(program, true);
  checking::elaborate(graph);
  if (graph.sound()) checking::Inspection(graph).run();
  if (!graph.sound()) throw std::invalid_argument(checking::Report(graph).sentence().text);
  return checking::Describer(graph).run();
}

/// Of a model and what HALFTONE_MODEL takes after it.
template <int N, class... Parts>
description::Description describe(const Model<N>& model, const Parts&... parts) {
  const auto settings = gather(parts...);
  return describe(assemble(model, settings));
}

}  // namespace halftone::dsl
