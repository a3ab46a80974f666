// SPDX-License-Identifier: Apache-2.0
// Presets of automatic casts beside the lists of the systems that they are called after, as the
// reference resolves their rules.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "autocast_lists.hpp"
#include "every_kind.hpp"
#include "halftone/description/paint.hpp"
#include "halftone/reference/resolution.hpp"

namespace {

using namespace halftone::dsl;
using autocast_lists::Kinds;
using autocast_lists::Lists;
using autocast_lists::Words;
using every_kind::every;
using halftone::description::Description;
using halftone::description::Node;
using halftone::description::NodeId;
using halftone::description::Pass;
using halftone::description::Role;
using halftone::reference::Resolution;

bool has(const Words& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

std::set<std::string> kinds() {
  std::set<std::string> words;
  for (int i = 0; i < halftone::description::kKinds; ++i) {
    const auto kind = static_cast<halftone::description::Kind>(i);
    if (halftone::description::is_computed(kind))
      words.insert(halftone::description::form_of(kind).word);
  }
  return words;
}

/// A layer or loss, named after its kind, with what stands before it.
struct Layer {
  std::string kind;
  NodeId id;
  std::vector<NodeId> values;  ///< operands that are no parameters and no integers
  bool weighs = false;         ///< whether it has a parameter
};

std::vector<Layer> layers_of(const Description& description) {
  std::vector<Layer> layers;
  for (NodeId id = 0; id < static_cast<NodeId>(description.nodes.size()); ++id) {
    const Node& node = description.nodes[id];
    if (!halftone::description::is_computed(node.kind)) continue;
    Layer layer{halftone::description::form_of(node.kind).word, id, {}};
    for (const auto& operand : node.operands) {
      const Node& read = description.nodes[operand.node];
      const std::string kind = halftone::description::form_of(read.kind).word;
      const bool counts =
          kind == "input" && (read.name == "word" || read.name == "next" || read.name == "part");
      if (kind == "parameter") layer.weighs = true;
      if (kind != "parameter" && kind != "state" && !counts) layer.values.push_back(operand.node);
    }
    layers.push_back(layer);
  }
  return layers;
}

/// What casts by lists make of the model: by node, what is computed and stored in.
void check_casts(const auto& preset, const Lists& lists, const Kinds& words, Element half) {
  const Description description = describe(every, preset, adamw());
  const Resolution rules(description);
  std::map<NodeId, Element> stored;  // inputs are f32
  const auto store_of = [&](NodeId id) { return stored.contains(id) ? stored[id] : f32; };
  for (const Layer& layer : layers_of(description)) {
    CAPTURE(layer.kind);
    REQUIRE(words.contains(layer.kind));
    const std::string& word = words.at(layer.kind);
    const bool lower = has(lists.lower, word), full = has(lists.full, word);
    Element is = f32;
    if (lower) is = half;
    if (!lower && !full && !layer.values.empty()) {  // the widest of what it reads
      is = store_of(layer.values[0]);
      for (const NodeId read : layer.values) {
        if (store_of(read) != is) is = f32;
      }
    }
    const auto reads = [&](Pass pass, Role role) {
      return rules.operand(layer.id, pass, role).format;
    };
    if (!layer.values.empty()) CHECK(reads(Pass::forward, Role::activation) == is);
    if (layer.weighs) {
      CHECK(reads(Pass::forward, Role::weight) == (lower ? half : f32));
      CHECK(rules.result(layer.id, Pass::weight_gradient).format == (lower ? half : f32));
    }
    if (halftone::description::is_loss(description.nodes[layer.id].kind)) continue;
    CHECK(rules.store(layer.id, Role::activation).format == is);
    CHECK(rules.store(layer.id, Role::gradient).format == is);
    stored[layer.id] = is;
  }
}

TEST_CASE("torch_autocast casts what torch's CUDA lists name") {
  for (const Element half : {f16, bf16}) {
    check_casts(presets::torch_autocast(half), autocast_lists::torch_cuda,
                autocast_lists::torch_words, half);
  }
}

TEST_CASE("torch_autocast_cpu casts what torch's CPU lists name") {
  for (const Element half : {f16, bf16}) {
    check_casts(presets::torch_autocast_cpu(half), autocast_lists::torch_cpu,
                autocast_lists::torch_words, half);
  }
}

TEST_CASE("apex_o1 casts what Apex's lists name") {
  Kinds words = autocast_lists::torch_words;
  words["attention"] = "matmul";
  words["upsample"] = "interpolate";
  check_casts(presets::apex_o1(), autocast_lists::apex, words, f16);
}

TEST_CASE("a kind that a system lists by Halftone's own word is decided as it says") {
  for (const Lists* lists :
       {&autocast_lists::torch_cuda, &autocast_lists::torch_cpu, &autocast_lists::apex}) {
    for (const std::string& kind : kinds()) {
      CAPTURE(kind);
      const std::string& word = autocast_lists::torch_words.at(kind);
      if (has(lists->lower, kind)) CHECK(has(lists->lower, word));
      if (has(lists->full, kind)) CHECK(has(lists->full, word));
    }
  }
}

TEST_CASE("every kind has its words in every system, and the model has every kind") {
  std::set<std::string> met;
  for (const Layer& layer : layers_of(describe(every, presets::apex_o0(), adamw())))
    met.insert(layer.kind);
  CHECK(met == kinds());
  for (const std::string& kind : kinds()) {
    CAPTURE(kind);
    CHECK(autocast_lists::torch_words.contains(kind));
    CHECK(autocast_lists::tensorflow_words.contains(kind));
  }
}

/// The list that a kind is on by the words that it is made of.
std::string tensorflow_list(const std::string& kind) {
  const autocast_lists::PaintedLists& lists = autocast_lists::tensorflow;
  bool allowed = false, inferred = false, unknown = false;
  for (const std::string& word : autocast_lists::tensorflow_words.at(kind)) {
    if (has(lists.deny, word)) return "deny";
    allowed = allowed || has(lists.allow, word);
    inferred = inferred || has(lists.infer, word);
    unknown =
        unknown || !(has(lists.allow, word) || has(lists.infer, word) || has(lists.clear, word));
  }
  return unknown ? "none" : allowed ? "allow" : inferred ? "infer" : "clear";
}

TEST_CASE("tensorflow has each kind on the list of the ops that it is made of") {
  constexpr auto rules = presets::tensorflow(f16);
  for (const std::string& word : kinds()) {
    CAPTURE(word);
    const auto kind = op(word.c_str()).clauses[0].ops;
    const auto on = [&](const auto& list) { return (list & kind).any(); };
    const auto& lists = rules.rules[0].lists;
    const std::string expected = tensorflow_list(word);
    CHECK(on(lists.allow) == (expected == "allow"));
    CHECK(on(lists.infer) == (expected == "infer"));
    CHECK(on(lists.deny) == (expected == "deny"));
    CHECK(on(lists.clear) == (expected == "clear"));
  }
}

/// What a preset computes and stores a kind in, forward.
struct Formats {
  Element reads, weighs, stores;
  bool operator==(const Formats&) const = default;
};
Formats formats_of(const Resolution& rules, const Description& description,
                   const std::string& name) {
  const auto found = std::ranges::find(description.nodes, name, &Node::name);
  REQUIRE(found != description.nodes.end());
  const auto id = static_cast<NodeId>(found - description.nodes.begin());
  return {rules.operand(id, Pass::forward, Role::activation).format,
          rules.operand(id, Pass::forward, Role::weight).format,
          rules.store(id, Role::activation).format};
}

TEST_CASE("presets of whole models have one format but for what their pages name") {
  const auto check = [](const auto& preset, const std::set<std::string>& apart, Formats whole,
                        Formats other) {
    const Description description = describe(every, preset, adamw());
    const Resolution rules(description);
    for (const Layer& layer : layers_of(description)) {
      const std::string& name = description.nodes[layer.id].name;
      CAPTURE(name);
      Formats is = apart.contains(layer.kind) ? other : whole;
      if (halftone::description::is_loss(description.nodes[layer.id].kind)) is = {f32, f32, f32};
      const Formats found = formats_of(rules, description, name);
      CHECK(found.reads == is.reads);
      CHECK(found.weighs == is.weighs);
      if (!halftone::description::is_loss(description.nodes[layer.id].kind))
        CHECK(found.stores == is.stores);
    }
  };
  const std::set<std::string> norms = {"layer_norm", "rms_norm", "group_norm", "batch_norm",
                                       "standardize"};
  check(presets::apex_o0(), {}, {f32, f32, f32}, {});
  check(presets::apex_o2(), {"batch_norm"}, {f16, f16, f16}, {f32, f32, f16});
  check(presets::apex_o3(), {}, {f16, f16, f16}, {});
  check(presets::micikevicius(), {}, {f16, f16, f16}, {});
  check(presets::keras_mixed_float16(), norms, {f16, f16, f16}, {f32, f32, f16});
  check(presets::keras_mixed_bfloat16(), norms, {bf16, bf16, bf16}, {f32, f32, bf16});
  check(presets::keras_float32(), norms, {f32, f32, f32}, {f32, f32, f32});
}

constexpr auto phases = stages("warmup", "full", "predict", "correct");

TEST_CASE("presets by phases have in each phase the format that it is given (P66)") {
  const auto formats = [](const auto& preset, const char* stage, const char* layer) {
    const Description description = describe(every, preset, adamw(), phases);
    return formats_of(Resolution(description, "cpu", stage), description, layer);
  };
  const auto scale = [](const auto& preset, const char* stage) {
    return Resolution(describe(every, preset, adamw(), phases), "cpu", stage).loss_scale().kind;
  };
  using Kind = halftone::description::LossScale::Kind;
  for (const char* stage : {"warmup", "full", "predict", "correct"}) {
    CAPTURE(std::string(stage));
    const bool predicts = std::string(stage) == "predict";
    const Element narrow = predicts ? bf16 : f32;
    CHECK(formats(presets::phases_conservative(), stage, "linear").reads == f32);
    CHECK(formats(presets::phases_default(), stage, "linear").reads == narrow);
    CHECK(formats(presets::phases_default(), stage, "linear").stores == f32);
    CHECK(formats(presets::phases_default(), stage, "gelu").reads == f32);
    const auto aggressive = formats(presets::phases_aggressive(), stage, "linear");
    CHECK(aggressive.reads == narrow);
    CHECK(aggressive.stores == narrow);
    CHECK(formats(presets::phases_aggressive(), stage, "layer_norm").reads == f32);
    CHECK(scale(presets::phases_aggressive(), stage) == Kind::none);
    const auto custom = presets::phases_custom(bf16, f16, f32, bf16);
    const Element is = predicts ? f32 : std::string(stage) == "full" ? f16 : bf16;
    CHECK(formats(custom, stage, "linear").reads == is);
    CHECK(formats(custom, stage, "linear").stores == is);
    CHECK(scale(custom, stage) == (is == f16 ? Kind::dynamic : Kind::none));
  }
}

TEST_CASE("presets of systems have the formats and scales that the systems state") {
  struct Stated {
    Element reads, norm;
    double initial, growth, ceiling;
    std::int64_t interval;
  };
  const auto check = [](const auto& preset, const char* target, const Stated& is) {
    const Description description = describe(every, preset, adamw());
    const Resolution rules(description, target);
    CHECK(formats_of(rules, description, "linear").reads == is.reads);
    CHECK(formats_of(rules, description, "layer_norm").reads == is.norm);
    CHECK(rules.loss_scale().initial == is.initial);
    CHECK(rules.loss_scale().growth == is.growth);
    CHECK(rules.loss_scale().interval == is.interval);
    CHECK(rules.loss_scale().floor == 1);
    if (is.ceiling != 0) CHECK(rules.loss_scale().ceiling == is.ceiling);
  };
  const halftone::description::LossScale none;
  const Stated bf16_alone{bf16, f32, none.initial, none.growth, 0, none.interval};
  check(presets::by_chip(), "cpu", bf16_alone);
  check(presets::by_chip(), "sm_80", bf16_alone);
  check(presets::by_chip(), "sm_120a", bf16_alone);
  check(presets::by_chip(), "sm_75", {f16, f32, 65536, 2, 0, 2000});
  check(presets::genomic_annotation(), "sm_86", bf16_alone);
  check(presets::genomic_annotation(), "sm_89",
        {f8e4m3, f32, none.initial, none.growth, 0, none.interval});
  check(presets::genomic_protein_function(), "sm_90a", bf16_alone);
  check(presets::genomic_variant_effect(), "cpu", {bf16, f32, 1024, 1.5, 0, 200});
  check(presets::genomic_domain_adaptation(), "cpu", {bf16, f32, 1024, 1.5, 0, 200});
  check(presets::genomic_generation(), "cpu", {f16, f32, 65536, 2, 0, 2000});
  check(presets::video_diffusion(f16), "cpu", {f16, f32, 65536, 2, 0, 100});
  check(presets::forecaster(), "cpu", {f16, f16, 65536, 2, 262144, 2000});
  check(presets::phases_conservative(), "cpu",
        {f32, f32, none.initial, none.growth, 0, none.interval});
  check(presets::graph_framework(f16), "cpu", {f16, f32, 65536, 2, 0, 2000});
}

TEST_CASE("presets with a loss scale have that of their source") {
  const auto scale = [](const auto& preset) {
    return Resolution(describe(every, preset, adamw())).loss_scale();
  };
  using Scale = halftone::description::LossScale;
  const Scale apex = scale(presets::apex_o1());
  CHECK(apex.kind == Scale::Kind::dynamic);
  CHECK(apex.initial == 65536);
  CHECK(apex.growth == 2);
  CHECK(apex.backoff == 0.5);
  CHECK(apex.interval == 2000);
  CHECK(apex.ceiling == 16777216);
  CHECK(scale(presets::apex_o2()) == apex);
  CHECK(scale(presets::apex_o0()).kind == Scale::Kind::none);
  CHECK(scale(presets::apex_o3()).kind == Scale::Kind::none);
  CHECK(scale(presets::keras_mixed_float16()).initial == 32768);
  CHECK(scale(presets::keras_mixed_float16()).interval == 2000);
  CHECK(scale(presets::keras_mixed_bfloat16()).kind == Scale::Kind::none);
  CHECK(scale(presets::torch_autocast(f16)).kind == Scale::Kind::none);
}

constexpr auto small =
    model("small", inputs(tensor("x", batch, 4)), from("x") | linear("fc", 4) | output("y"));

TEST_CASE("a preset fits a model that lacks most of what it lists") {
  const auto fits = [](const auto& preset, const auto&... settings) {
    const std::string sentence = checking::check(assemble(small, gather(preset, settings...))).text;
    CHECK(sentence == "");
  };
  fits(presets::torch_autocast(bf16));
  fits(presets::torch_autocast_cpu(bf16));
  fits(presets::apex_o0());
  fits(presets::apex_o1());
  fits(presets::apex_o2());
  fits(presets::apex_o3());
  fits(presets::tensorflow(f16));
  fits(presets::keras_mixed_float16());
  fits(presets::keras_mixed_bfloat16());
  fits(presets::keras_float32());
  fits(presets::micikevicius());
  fits(presets::by_chip());
  fits(presets::genomic_annotation());
  fits(presets::genomic_variant_effect());
  fits(presets::genomic_domain_adaptation());
  fits(presets::genomic_protein_function());
  fits(presets::genomic_generation());
  fits(presets::video_diffusion(f16));
  fits(presets::forecaster());
  fits(presets::phases_conservative());
  fits(presets::phases_default(), phases);
  fits(presets::phases_aggressive(), phases);
  fits(presets::phases_custom(f16, bf16, f32, f16), phases);
  fits(presets::graph_framework(f16));
}

}  // namespace
