// SPDX-License-Identifier: Apache-2.0
#include "coverage.hpp"

#include <cstdio>
#include <map>
#include <string>

#include "halftone/description/validate.hpp"
#include "halftone/encoding/traits.hpp"
#include "random_model.hpp"

namespace halftone::tests {

using namespace halftone::description;
using encoding::Scaling;

namespace {

std::string scaling_of(Scaling::Kind kind) {
  return kind == Scaling::Kind::tensor    ? "scaled tensors"
         : kind == Scaling::Kind::delayed ? "delayed scales"
         : kind == Scaling::Kind::row     ? "scales of rows"
         : kind == Scaling::Kind::column  ? "scales of columns"
                                          : "scaled blocks";
}

class Coverage {
 public:
  /// Everything that there is, not drawn yet.
  Coverage() {
    for (const KindForm* form : AllKinds::forms) {
      const std::string kind = form->word;
      count(kind, 0);
      for (const OperandForm& operand : form->operands) {
        if (operand.optional) count(kind + " with " + operand.role, 0);
      }
      for (const SettingForm& setting : form->settings) {
        if (setting.optional) count(kind + " that states " + setting.name, 0);
        for (const char* word : setting.words) count(kind + " of " + word, 0);
      }
    }
    for (int i = 0; i < encoding::kElements; ++i) {
      const encoding::ElementTraits& traits = encoding::traits(static_cast<Element>(i));
      if (traits.computed && !traits.integer) count("rules of " + std::string(traits.word), 0);
    }
    for (const Scaling::Kind kind :
         {Scaling::Kind::tensor, Scaling::Kind::block, Scaling::Kind::delayed, Scaling::Kind::row,
          Scaling::Kind::column}) {
      Encoding scaled = Element::f8e4m3;
      scaled.saturate = true;
      scaled.scaling = {.kind = kind, .size = 32, .scale = Element::f8e8m0};
      if (kind == Scaling::Kind::delayed) scaled.scaling.history = 4;
      if (encoding::fault(scaled) == nullptr) count(scaling_of(kind), 0);
    }
    for (const char* word : encoding::kRoundingWords) count(std::string("rounding ") + word, 0);
    for (const char* word : kAccumulationWords) count(std::string("accumulate ") + word, 0);
    for (const char* word : kLossScaleWords) count(std::string("loss scale ") + word, 0);
    for (int i = 0; i < kRoles; ++i) count(std::string("rules of role ") + kRoleWords[i], 0);
    count_optimizers(std::make_index_sequence<std::variant_size_v<Optimizer>>());
    for (const char* part : {"a clip",
                             "clips of groups",
                             "a value clip",
                             "a schedule",
                             "an average",
                             "a metric",
                             "an input's gradient",
                             "a shared weight",
                             "recompute",
                             "saturation",
                             "an exception",
                             "a memory budget",
                             "a remainder",
                             "blocks of several rows",
                             "scales of two levels",
                             "two levels under f32",
                             "rotated blocks",
                             "scales of f32",
                             "blocks of f32",
                             "scaled f16",
                             "weights as i8",
                             "weights as f8e4m3",
                             "scales of least error"}) {
      count(part, 0);
    }
  }

  void add(const Description& model);
  int report() const {
    int missing = 0;
    for (const auto& [what, times] : counts_) {
      if (times > 0) continue;
      std::printf("no model has %s: let tests/random_specs draw it\n", what.c_str());
      ++missing;
    }
    std::printf("%zu of %zu are drawn\n", counts_.size() - static_cast<std::size_t>(missing),
                counts_.size());
    return missing > 0 ? 1 : 0;
  }

 private:
  void count(const std::string& what, int times = 1) { counts_[what] += times; }
  template <std::size_t... I>
  void count_optimizers(std::index_sequence<I...>) {
    (count(std::string("optimizer ") + std::variant_alternative_t<I, Optimizer>::word, 0), ...);
  }
  void add_node(const Description& model, const Node& node);
  void add_rule(const Rule& rule);

  std::map<std::string, int> counts_;
};

void Coverage::add_node(const Description& model, const Node& node) {
  const KindForm& form = form_of(node.kind);
  const std::string kind = form.word;
  count(kind);
  for (const Operand& operand : node.operands) {
    if (operand_form(form, operand.role).optional) count(kind + " with " + operand.role);
    int readers = 0;
    for (const Node& other : model.nodes) {
      for (const Operand& read : other.operands) readers += read.node == operand.node ? 1 : 0;
    }
    const Node& source = model.nodes[static_cast<std::size_t>(operand.node)];
    if (is_parameter(source.kind) && readers > 1) count("a shared weight");
  }
  if (wants_gradient(node)) count("an input's gradient");
  const auto* attributes = std::get_if<LayerAttributes>(&node.attributes);
  if (!attributes) return;
  for (const Setting& setting : attributes->settings) {
    for (const SettingForm& one : form.settings) {
      if (setting.name == one.name && one.optional) count(kind + " that states " + one.name);
    }
    const auto* word = std::get_if<std::string>(&setting.value);
    if (word) count(kind + " of " + *word);
  }
}

void Coverage::add_rule(const Rule& rule) {
  const auto add_encoding = [&](const Encoding& encoding) {
    count("rules of " + std::string(encoding::word(encoding.element)));
    if (encoding.saturate) count("saturation");
    const Scaling::Kind kind = encoding.scaling.kind;
    if (kind != Scaling::Kind::none) count(scaling_of(kind));
    if (encoding.scaling.rows > 1) count("blocks of several rows");
    if (encoding.scaling.rotated) count("rotated blocks");
    if (has_two_levels(encoding.scaling)) {
      count("scales of two levels");
      if (factors_sums(encoding)) count("two levels under f32");
    }
    if (factors_sums(encoding)) count("scales of f32");
    if (has_f32_scales(encoding) && !factors_sums(encoding)) count("blocks of f32");
    if (gains_range(traits(encoding.element)) && factors_sums(encoding)) count("scaled f16");
  };
  if (rule.store && !rule.store->follow) add_encoding(rule.store->encoding);
  if (rule.compute && !rule.compute->follow) add_encoding(rule.compute->encoding);
  if (rule.result) add_encoding(*rule.result);
  if (rule.rounding) {
    count(std::string("rounding ") + encoding::kRoundingWords[static_cast<int>(*rule.rounding)]);
  }
  if (rule.accumulate) {
    count(std::string("accumulate ") + kAccumulationWords[static_cast<int>(*rule.accumulate)]);
  }
  if (rule.loss_scale) {
    count(std::string("loss scale ") + kLossScaleWords[static_cast<int>(rule.loss_scale->kind)]);
  }
  if (rule.recompute) count("recompute");
  if (rule.memory_budget) count("a memory budget");
  if (rule.quantize) {
    count(std::string("weights as ") + encoding::word(rule.quantize->element));
    if (rule.quantize->scale == Quantization::Scale::least_error) count("scales of least error");
  }
  if (rule.remainder) count("a remainder");
  if (!rule.exceptions.empty()) count("an exception");
  for (const Clause& clause : rule.clauses) {
    for (const Role role : clause.roles) {
      count(std::string("rules of role ") + kRoleWords[static_cast<int>(role)]);
    }
  }
}

void Coverage::add(const Description& model) {
  for (const Node& node : model.nodes) add_node(model, node);
  for (const Rule& rule : model.rules) add_rule(rule);
  for (const Loss& loss : model.losses) {
    if (loss.weight == 0) count("a metric");
  }
  std::visit([&](const auto& of) { count(std::string("optimizer ") + of.word); }, model.optimizer);
  if (model.clip) count("a clip");
  if (model.clip_groups.size() > 1) count("clips of groups");
  if (model.clip_value) count("a value clip");
  if (model.schedule) count("a schedule");
  if (model.average) count("an average");
}

}  // namespace

int check_coverage(std::uint64_t seed, std::size_t count) {
  Coverage coverage;
  for (std::size_t i = 0; i < count; ++i) {
    const Description model = random_model(seed + i);
    if (!validate(model)) coverage.add(model);
  }
  return coverage.report();
}

}  // namespace halftone::tests
