// SPDX-License-Identifier: Apache-2.0
#include "random_training.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "halftone/description/validate.hpp"
#include "halftone/encoding/traits.hpp"
#include "random_function.hpp"

namespace halftone::tests {

using namespace halftone::description;
using encoding::Scaling;

namespace {

template <class Enum>
std::vector<Enum> some(Choices& choices, int last) {
  std::vector<Enum> chosen;
  while (chosen.empty()) {
    for (int i = 0; i <= last; ++i) {
      if (choices.happens(25)) chosen.push_back(static_cast<Enum>(i));
    }
  }
  return chosen;
}

class RuleWriter {
 public:
  RuleWriter(Choices& choices, const Description& model) : choices_(choices), model_(model) {}

  /// Of the whole model, as most models have it.
  Rule everywhere() {
    Rule rule;
    rule.store = choice();
    rule.compute = choices_.happens(70) ? rule.store : compute();
    if (choices_.happens(50)) rule.loss_scale = loss_scale();
    if (choices_.happens(25)) rule.recompute = choices_.happens(50);
    if (choices_.happens(25)) rule.memory_budget = memory_budget();
    return rule;
  }

  /// Of weights, which predictors hold so.
  Rule quantizing() {
    static constexpr Element kElements[] = {Element::i8, Element::f8e4m3, Element::f32};
    Rule rule;
    rule.clauses.emplace_back().roles = {Role::weight};
    rule.quantize.emplace().element = choices_.one_of(kElements);
    if (is_quantized(rule.quantize->element) && choices_.happens(40))
      rule.quantize->scale = Quantization::Scale::least_error;
    return rule;
  }

  /// P87: of what multiplies its sums by scales of f32.
  Rule with_factors() {
    Rule rule;
    for (const Kind kind : {kind_called("linear"), kind_called("matmul")})
      if (has(kind)) rule.clauses.emplace_back().ops = {kind};
    const std::int64_t of_ten = choices_.between(0, 9);
    Encoding scaled = of_ten < 5   ? Element::f8e4m3
                      : of_ten < 7 ? Element::f16  // P100
                                   : Element::f4e2m1;
    scaled.saturate = true;
    scaled.scaling = {.kind = Scaling::Kind::tensor, .scale = Element::f32};
    if (scaled.element == Element::f4e2m1 && choices_.happens(60)) {  // P97
      static constexpr std::int32_t kSizes[] = {2, 3, 16};
      scaled.scaling = {.kind = Scaling::Kind::block,
                        .size = choices_.one_of(kSizes),
                        .rows = choices_.happens(40) ? choices_.one_of(kSizes) : 1,
                        .scale = Element::f8e4m3,
                        .of_all = Element::f32};
    } else if (choices_.happens(40)) {
      scaled.scaling.kind = Scaling::Kind::delayed;
      scaled.scaling.history = choices_.happens(50) ? 1 : 3;
      scaled.scaling.margin = choices_.happens(80) ? 0 : 1;
    }
    if (scaled.scaling.kind == Scaling::Kind::block && has(kind_called("linear")) &&
        choices_.happens(40)) {  // P105, P106: what weight gradients sum over are rows
      scaled.scaling.rows = encoding::kRotated;
      scaled.scaling.size = 1;
      scaled.scaling.rotated = true;
      rule.clauses.resize(1);
      rule.clauses[0].ops = {kind_called("linear")};
      rule.clauses[0].passes = {Pass::weight_gradient};
      rule.if_any = true;
    }
    rule.compute = EncodingChoice{false, scaled};
    return rule;
  }

  /// Any clauses and fields; many mean nothing.
  Rule any() {
    Rule rule;
    for (std::int64_t i = choices_.between(0, 2); i > 0; --i) rule.clauses.push_back(clause());
    if (choices_.happens(15)) rule.exceptions.push_back(clause());
    rule.if_any = choices_.happens(10);
    if (choices_.happens(15)) {  // stands beside little else
      rule.master = Element::f32;
      return rule;
    }
    if (choices_.happens(50)) rule.store = choice();
    if (choices_.happens(50)) rule.compute = compute();
    if (choices_.happens(15)) rule.result = encoding();
    if (choices_.happens(15)) {
      rule.accumulate = static_cast<Accumulation>(choices_.below(std::size(kAccumulationWords)));
    }
    if (choices_.happens(20)) {
      rule.rounding = static_cast<Rounding>(choices_.below(std::size(encoding::kRoundingWords)));
    }
    if (choices_.happens(15)) rule.recompute = choices_.happens(50);
    return rule;
  }

  /// P68
  Rule of_states() {
    Rule rule;
    rule.clauses.emplace_back().roles = {Role::optimizer_state};
    Encoding held = choices_.happens(60) ? Element::bf16 : Element::f16;
    held.saturate = choices_.happens(30);
    if (choices_.happens(40)) {  // P86
      held = choices_.happens(60) ? Element::f8e4m3 : Element::f8e5m2;
      held.scaling = {.kind = encoding::Scaling::Kind::block,
                      .size = 32 << choices_.below(6),
                      .scale = Element::f32};
      held.saturate = true;
    }
    rule.store = EncodingChoice{false, held};
    if (choices_.happens(60)) {
      rule.rounding = static_cast<Rounding>(choices_.below(std::size(encoding::kRoundingWords)));
    }
    return rule;
  }

  /// P69
  Rule of_masters() {
    Rule rule;
    rule.clauses.emplace_back().roles = {Role::master};
    rule.master = Element::bf16;
    rule.remainder = true;
    return rule;
  }

 private:
  bool has(Kind kind) const {
    return std::any_of(model_.nodes.begin(), model_.nodes.end(),
                       [&](const Node& node) { return node.kind == kind; });
  }

  std::string glob() {
    std::string name = choices_.one_of(model_.nodes).name;
    if (choices_.happens(20)) return "*";
    if (choices_.happens(20)) return name.substr(0, 1) + "*";
    return name;
  }

  Clause clause() {
    Clause clause;
    if (choices_.happens(50)) clause.layer = glob();
    if (choices_.happens(25)) {
      clause.classes = some<LayerClass>(choices_, static_cast<int>(LayerClass::loss));
    }
    if (choices_.happens(25)) clause.ops = {choices_.one_of(model_.nodes).kind};
    if (choices_.happens(35)) clause.roles = some<Role>(choices_, kRoles - 1);
    if (choices_.happens(25)) {
      clause.passes = some<Pass>(choices_, static_cast<int>(std::size(kPassWords)) - 1);
    }
    if (choices_.happens(10)) clause.targets.push_back({Relation::is, "cpu"});
    if (choices_.happens(10)) clause.bounds.first = choices_.between(1, 3);
    if (choices_.happens(5)) clause.bounds.last = choices_.between(1, 3);
    if (choices_.happens(5)) clause.bounds.at_least = choices_.between(1, 100);
    return clause;
  }

  Encoding encoding() {
    std::vector<Element> floats;  // those that validate() lets rules state
    for (int i = 0; i < encoding::kElements; ++i) {
      const auto element = static_cast<Element>(i);
      if (encoding::traits(element).computed && !encoding::traits(element).integer) {
        floats.push_back(element);
      }
    }
    Encoding encoding = choices_.one_of(floats);
    encoding.saturate = encoding::is_narrow(encoding.element) && choices_.happens(40);
    return encoding;
  }

  EncodingChoice choice() {
    if (choices_.happens(10)) return {true, Element::f32};
    return {false, encoding()};
  }

  /// Of what operations read; others follow or are of single elements (P51).
  EncodingChoice compute() {
    if (choices_.happens(80)) return choice();
    Encoding scaled = choices_.happens(70) ? Element::f8e4m3 : Element::f8e5m2;
    scaled.saturate = true;
    scaled.scaling = {.kind = Scaling::Kind::tensor, .scale = Element::f8e8m0};
    if (choices_.happens(50)) {
      static constexpr std::int32_t kSizes[] = {2, 4, 8, 32, 128};
      scaled.scaling.kind = Scaling::Kind::block;
      scaled.scaling.size = choices_.one_of(kSizes);
      if (choices_.happens(40)) scaled.scaling.rows = choices_.one_of(kSizes);
      if (choices_.happens(20)) {
        scaled.element = Element::f4e2m1;
        scaled.scaling.scale = Element::f8e4m3;
      } else if (choices_.happens(30)) {  // P101
        scaled.scaling.scale = Element::f32;
      }
    } else if (choices_.happens(50)) {
      static constexpr std::int32_t kHistories[] = {1, 2, 5};
      scaled.scaling.kind = Scaling::Kind::delayed;
      scaled.scaling.history = choices_.one_of(kHistories);
      scaled.scaling.margin = choices_.happens(80) ? 0 : 1;
    } else if (choices_.happens(50)) {
      scaled.scaling.kind = choices_.happens(50) ? Scaling::Kind::row : Scaling::Kind::column;
    }
    return {false, scaled};
  }

  /// Many models cannot meet one, and are tried with the smallest that they can.
  MemoryBudget memory_budget() {
    return {.share = choices_.one_of(std::vector{1.0, 0.95, 0.9, 0.8, 0.7, 0.5})};
  }

  LossScale loss_scale() {
    LossScale scale;
    scale.kind = static_cast<LossScale::Kind>(choices_.below(std::size(kLossScaleWords)));
    if (scale.kind == LossScale::Kind::none) return scale;
    scale.initial = std::ldexp(1.0, static_cast<int>(choices_.below(17)));
    if (scale.kind == LossScale::Kind::fixed) return scale;
    scale.interval = choices_.between(1, 3);
    scale.hysteresis = choices_.between(1, 2);
    return scale;
  }

  Choices& choices_;
  const Description& model_;
};

double random_number(Choices& choices, double standard, bool below_one) {
  if (below_one) return choices.one_of(std::vector{standard, 0.0, 0.5, 0.9});
  if (standard == 0) return choices.one_of(std::vector{0.0, 0.0, 0.01, 0.1});
  return standard * choices.one_of(std::vector{1.0, 1.0, 10.0, 0.1});
}

void write_functions(Choices&, auto&) {}

/// U14
void write_functions(Choices& choices, Custom& custom) {
  for (std::int64_t states = choices.between(0, 3); states > 0; --states) {
    custom.states.push_back({"s" + std::to_string(states), {}});
  }
  const std::size_t operands = kCustomOperands + custom.states.size();
  custom.parameter = random_expression(choices, operands);
  for (Custom::State& state : custom.states) state.next = random_expression(choices, operands);
}

template <std::size_t... I>
Optimizer standard_optimizer(std::size_t index, std::index_sequence<I...>) {
  Optimizer optimizer;
  ((I == index ? void(optimizer = std::variant_alternative_t<I, Optimizer>()) : void()), ...);
  return optimizer;
}

Optimizer random_optimizer(Choices& choices) {
  constexpr std::size_t kOptimizers = std::variant_size_v<Optimizer>;
  Optimizer optimizer =
      standard_optimizer(choices.below(kOptimizers), std::make_index_sequence<kOptimizers>());
  std::visit(
      [&](auto& of) {
        for (const auto& setting : of.settings) {
          if (setting.flag != nullptr) {
            of.*setting.flag = choices.happens(40);
          } else {
            double& number = of.*setting.number;
            number = random_number(choices, number, setting.below_one);
          }
        }
        write_functions(choices, of);
      },
      optimizer);
  return optimizer;
}

}  // namespace

void add_random_rules(Choices& choices, Description& model) {
  RuleWriter writer(choices, model);
  const auto add = [&](Rule rule) {
    model.rules.push_back(std::move(rule));
    if (validate(model)) model.rules.pop_back();
  };
  if (choices.happens(70)) add(writer.everywhere());
  const std::int64_t wanted = choices.between(0, 4);
  for (std::int64_t tries = 6 * wanted; tries > 0; --tries) {
    if (static_cast<std::int64_t>(model.rules.size()) < wanted) add(writer.any());
  }
  if (choices.happens(20)) add(writer.of_states());
  if (choices.happens(20)) add(writer.of_masters());
  if (choices.happens(30)) add(writer.quantizing());
  Rule factors = writer.with_factors();
  if (!factors.clauses.empty() && choices.happens(15)) add(std::move(factors));
}

/// Of all gradients, or of those of groups (U2).
static void add_clips(Choices& choices, Description& model) {
  const std::vector norms{0.01, 1.0, 100.0};
  if (choices.happens(50) || std::holds_alternative<Adafactor>(model.optimizer)) {  // U18
    model.clip = choices.one_of(norms);
    return;
  }
  std::vector<ClipGroup> groups(static_cast<std::size_t>(choices.between(1, 3)));
  for (ClipGroup& group : groups) group.norm = choices.one_of(norms);
  for (std::size_t id = 0; id < model.nodes.size(); ++id) {
    const auto* of = std::get_if<ParameterAttributes>(&model.nodes[id].attributes);
    if (of == nullptr || of->frozen || choices.happens(20)) continue;
    groups[choices.below(groups.size())].parameters.push_back(static_cast<NodeId>(id));
  }
  for (const ClipGroup& group : groups) {
    if (!group.parameters.empty()) model.clip_groups.push_back(group);
  }
}

void add_random_optimizer(Choices& choices, Description& model) {
  for (int tries = 0; tries < 8; ++tries) {  // D11 asks more of some than of each setting alone
    model.optimizer = random_optimizer(choices);
    if (!validate(model)) break;
  }
  if (choices.happens(40)) add_clips(choices, model);
  if (choices.happens(20)) model.clip_value = choices.one_of(std::vector{0.001, 0.1});
  if (choices.happens(25)) model.schedule = random_expression(choices, 1);
  if (choices.happens(25)) model.average = choices.one_of(std::vector{0.0, 0.5, 0.99});
}

}  // namespace halftone::tests
