// SPDX-License-Identifier: Apache-2.0
// What precision rules written in the dsl say in the Description.
#include <doctest/doctest.h>

#include <algorithm>
#include <halftone/description/validate.hpp>
#include <random>
#include <string>
#include <vector>

#include "described.hpp"

using namespace specs;
using halftone::description::Description;

namespace {

constexpr auto trained =
    model("trained", inputs(tensor("x", batch, 8), labels("label", batch)),
          from("x") | repeat<12>("h", linear("fc", 8) | relu("act")) | layer_norm("norm", frozen) |
              residual(linear("proj", 8, no_bias, tied("head_weight"))) |
              linear("head_weight", 8, on_bias(frozen)) | output("logits"),
          losses(cross_entropy("error", "logits", "label")));
constexpr auto evaluated = model("evaluated", inputs(tensor("x", batch, 8)),
                                 from("x") | linear("fc", 8) | gelu("act") | output("y"));

/// The rule as the Description of `trained` has it.
std::string text_of(const Rule& rule) {
  const auto found = lines(describe(trained, precision(rule), adamw()), "rule ");
  REQUIRE(found.size() == 1);
  return found[0];
}

struct Case {
  Rule rule;
  const char* text;
};

TEST_CASE("every field of a rule comes to the Description") {
  const Case cases[] = {
      {everywhere(store(bf16), compute(tf32), result(f16), accumulate(f32), master(f32)),
       "rule everywhere : store bf16 compute tf32 result f16 accumulate f32 master f32"},
      {everywhere(compute(bf16), store(f16)), "rule everywhere : store f16 compute bf16"},
      {everywhere(store(f8e4m3, saturate), compute(f8e5m2), result(f16, saturate)),
       "rule everywhere : store f8e4m3 saturate compute f8e5m2 result f16 saturate"},
      {everywhere(compute(f8e5m2, saturate), store(f8e4m3)),
       "rule everywhere : store f8e4m3 compute f8e5m2 saturate"},
      {everywhere(compute(scaled(f8e4m3))),
       "rule everywhere : compute f8e4m3 scaled tensor f8e8m0 saturate"},
      {everywhere(compute(scaled(f8e4m3, delayed()))),
       "rule everywhere : compute f8e4m3 scaled delayed 1024 f8e8m0 saturate"},
      {everywhere(compute(scaled(f8e5m2, delayed(16, 2))), rounding(stochastic)),
       "rule everywhere : compute f8e5m2 scaled delayed 16 margin 2 f8e8m0 saturate rounding "
       "stochastic"},
      {everywhere(compute(scaled(f8e5m2, block(32)), saturate), store(bf16), rounding(stochastic)),
       "rule everywhere : store bf16 compute f8e5m2 scaled block 32 f8e8m0 saturate rounding "
       "stochastic"},
      {everywhere(compute(scaled(f4e2m1, block(32)))),
       "rule everywhere : compute f4e2m1 scaled block 32 f8e8m0 saturate"},
      {everywhere(compute(scaled(f8e4m3, block(32, 1)))),
       "rule everywhere : compute f8e4m3 scaled block 32 by 1 f8e8m0 saturate"},
      {everywhere(compute(scaled(f8e4m3, block(128, 64), f32))),
       "rule everywhere : compute f8e4m3 scaled block 128 by 64 f32 saturate"},
      {everywhere(compute(scaled(f4e2m1, block(16, 8), f8e4m3)), rounding(stochastic)),
       "rule everywhere : compute f4e2m1 scaled block 16 by 8 f8e4m3 saturate rounding stochastic"},
      {everywhere(compute(scaled(f4e2m1, block(16), f8e4m3, f32))),
       "rule everywhere : compute f4e2m1 scaled block 16 f8e4m3 under f32 saturate"},
      {everywhere(compute(scaled(f16, delayed(16), f32)), rounding(stochastic)),
       "rule everywhere : compute f16 scaled delayed 16 f32 saturate rounding stochastic"},
      {everywhere(compute(scaled(f6e2m3, block(32))), rounding(toward_zero)),
       "rule everywhere : compute f6e2m3 scaled block 32 f8e8m0 saturate rounding toward_zero"},
      {everywhere(compute(rotated(scaled(f4e2m1, block(16, 1), f8e4m3, f32)))),
       "rule everywhere : compute f4e2m1 scaled block 16 by 1 f8e4m3 under f32 rotated saturate"},
      {everywhere(compute(rotated(scaled(f8e4m3, block(16)))), rounding(stochastic)),
       "rule everywhere : compute f8e4m3 scaled block 16 f8e8m0 rotated saturate rounding "
       "stochastic"},
      {everywhere(store(follow)), "rule everywhere : store follow"},
      {everywhere(compute(follow)), "rule everywhere : compute follow"},
      {everywhere(accumulate(ordered)), "rule everywhere : accumulate ordered"},
      {everywhere(accumulate(hardware)), "rule everywhere : accumulate hardware"},
      {everywhere(accumulate(promoted)), "rule everywhere : accumulate promoted"},
      {everywhere(store(f16), rounding(toward_zero)),
       "rule everywhere : store f16 rounding toward_zero"},
      {everywhere(store(bf16), rounding(stochastic)),
       "rule everywhere : store bf16 rounding stochastic"},
      {everywhere(store(f16), rounding(nearest_even)),
       "rule everywhere : store f16 rounding nearest_even"},
      {everywhere(recompute(always)), "rule everywhere : recompute always"},
      {everywhere(recompute(never)), "rule everywhere : recompute never"},
      {everywhere(memory_budget(0.6)), "rule everywhere : memory_budget share 0.6"},
      {everywhere(memory_budget(1)), "rule everywhere : memory_budget share 1"},
      {everywhere(recompute(never), memory_budget_bytes(1LL << 40)),
       "rule everywhere : recompute never memory_budget bytes 1099511627776"},
      {where(weights)(quantize(i8)), "rule where role weight : quantize i8"},
      {where(weights)(quantize(f8e4m3, least_error)),
       "rule where role weight : quantize f8e4m3 least_error"},
      {where(weights)(quantize(f32)), "rule where role weight : quantize f32"},
      {where(optimizer_states)(store(bf16), place(host)),
       "rule where role optimizer_state : store bf16 place host"},
      {where(activations & layer("h/*/act"))(place(host)),
       "rule where layer \"h/*/act\" role activation : place host"},
      {where(optimizer_states & on(cpu))(place(on_device)),
       "rule where role optimizer_state target cpu : place device"},
      {everywhere(no_loss_scale()), "rule everywhere : loss_scale none"},
      {everywhere(fixed_loss_scale(128)), "rule everywhere : loss_scale fixed 128"},
      // The defaults are those of torch.amp.GradScaler, with bounds and patience of our own.
      {everywhere(dynamic_loss_scale()),
       "rule everywhere : loss_scale dynamic initial 65536 growth 2 backoff 0.5 interval 2000 "
       "floor "
       "1 ceiling 1.7014118346046923e+38 hysteresis 1 patience 50"},
      {everywhere(dynamic_loss_scale(patience(9), hysteresis(2), ceiling_at(4096), floor_at(0.5),
                                     interval(7), backoff(0.25), growth(3), initial(1024))),
       "rule everywhere : loss_scale dynamic initial 1024 growth 3 backoff 0.25 interval 7 floor "
       "0.5 ceiling 4096 hysteresis 2 patience 9"},
  };
  for (const Case& is : cases) CHECK(text_of(is.rule) == is.text);
}

TEST_CASE("every part of a rule comes to the Description") {
  const Case cases[] = {
      {where(layer("h/*/{fc,act}"))(compute(f32)),
       "rule where layer \"h/*/{fc,act}\" : compute f32"},
      {where(contraction)(compute(f32)), "rule where class contraction : compute f32"},
      {where(normalization)(compute(f32)), "rule where class normalization : compute f32"},
      {where(softmax)(compute(f32)), "rule where class softmax : compute f32"},
      {where(activation_function)(compute(f32)),
       "rule where class activation_function : compute f32"},
      {where(elementwise)(compute(f32)), "rule where class elementwise : compute f32"},
      {where(loss)(compute(f32)), "rule where class loss : compute f32"},
      {where(op("layer_norm"))(compute(f32)), "rule where op layer_norm : compute f32"},
      {where(activations)(store(f32)), "rule where role activation : store f32"},
      {where(saved_activations)(store(f32)), "rule where role saved : store f32"},
      {where(gradients)(store(f32)), "rule where role gradient : store f32"},
      {where(weights)(store(f32)), "rule where role weight : store f32"},
      {where(weight_gradients)(store(f32)), "rule where role weight_gradient : store f32"},
      {where(master_weights)(master(f32)), "rule where role master : master f32"},
      {where(master_weights)(master(bf16, with_remainder)),
       "rule where role master : master bf16 remainder"},
      {where(optimizer_states)(store(bf16), rounding(stochastic)),
       "rule where role optimizer_state : store bf16 rounding stochastic"},
      {where(optimizer_states)(store(scaled(f8e4m3, block(256), f32))),
       "rule where role optimizer_state : store f8e4m3 scaled block 256 f32 saturate"},
      {where(forward_pass)(compute(f32)), "rule where pass forward : compute f32"},
      {where(input_gradient_pass)(compute(f32)), "rule where pass input_gradient : compute f32"},
      {where(weight_gradient_pass)(compute(f32)), "rule where pass weight_gradient : compute f32"},
      {where(on(cpu))(compute(f32)), "rule where target cpu : compute f32"},
      {where(on(sm_90a))(compute(f32)), "rule where target sm_90a : compute f32"},
      {where(on(before(sm_80)))(compute(f32)), "rule where target before(sm_80) : compute f32"},
      {where(on(from(chip("sm_88"))))(compute(f32)), "rule where target from(sm_88) : compute f32"},
  };
  for (const Case& is : cases) CHECK(text_of(is.rule) == is.text);
}

TEST_CASE("bounds, exceptions, if_any and a reason come to the Description") {
  const Case cases[] = {
      {where(first_layers(2))(compute(f32)), "rule where first 2 : compute f32"},
      {where(last_layers(14))(compute(f32)), "rule where last 14 : compute f32"},
      {where(depth(0, 3))(compute(f32)), "rule where depth 0 3 : compute f32"},
      {where(at_least(64))(compute(f32)), "rule where at_least 64 : compute f32"},
      {where(weights & smaller_than(64))(store(f32)),
       "rule where role weight smaller_than 64 : store f32"},
      {where(first_layers(9) & first_layers(4) & depth(0, 9) & depth(2, 12) & at_least(8) &
             at_least(3) & smaller_than(99))(compute(f32)),
       "rule where first 4 depth 2 9 at_least 8 smaller_than 99 : compute f32"},
      {where(first_layers(1) | last_layers(1))(compute(f32)),
       "rule where first 1 or last 1 : compute f32"},
      {where(on(fp8_cores) & contraction)(compute(f32)),
       "rule where class contraction target from(sm_89) : compute f32"},
      {where(on(bf16_cores) | on(f16_cores) | on(tf32_cores) |
             on(block_scaled_cores))(compute(f32)),
       "rule where target from(sm_80)|from(sm_75)|from(sm_80)|from(sm_100a) : compute f32"},
      {everywhere.except(loss | layer("norm"))(compute(f32)),
       "rule everywhere except class loss or layer \"norm\" : compute f32"},
      // One copy of twelve.
      {where(layer("h/*/fc")).except(layer("h/3/fc"))(compute(f32)),
       "rule where layer \"h/*/fc\" except layer \"h/3/fc\" : compute f32"},
      {where(layer("h/*/act")).except(depth(0, 11))(compute(f32)),
       "rule where layer \"h/*/act\" except depth 0 11 : compute f32"},
      {where(op("mse")).if_any()(compute(f32)), "rule where op mse if_any : compute f32"},
      {everywhere.except(loss).if_any()(compute(f32)),
       "rule everywhere except class loss if_any : compute f32"},
      {everywhere(compute(f32), because("it is \"exact\"")),
       "rule everywhere : compute f32 because \"it is \\\"exact\\\"\""},
  };
  for (const Case& is : cases) {
    CHECK(text_of(is.rule) == is.text);
    // Also while it compiles, where one copy of a repeat stands for all.
    const auto compiled = checking::check(assemble(trained, gather(precision(is.rule), adamw())));
    CHECK(std::string(compiled.text) == "");
  }
}

TEST_CASE("selectors joined by and & | come to the fewest clauses that mean the same") {
  const Case cases[] = {
      {where(normalization | softmax | loss)(compute(f32)),
       "rule where class normalization|softmax|loss : compute f32"},
      {where(op("relu") | op("linear"))(compute(f32)), "rule where op linear|relu : compute f32"},
      {where(on(cpu) | on(before(sm_80)))(compute(f32)),
       "rule where target cpu|before(sm_80) : compute f32"},
      {where(layer("norm") | layer("proj"))(compute(f32)),
       "rule where layer \"norm\" or layer \"proj\" : compute f32"},
      {where(normalization | op("relu"))(compute(f32)),
       "rule where class normalization or op relu : compute f32"},
      {where((activations | gradients) & layer("h/**"))(compute(f32)),
       "rule where layer \"h/**\" role activation|gradient : compute f32"},
      {where((layer("norm") | layer("proj")) & (forward_pass | input_gradient_pass))(compute(f32)),
       "rule where layer \"norm\" pass forward|input_gradient or layer \"proj\" pass "
       "forward|input_gradient : compute f32"},
      {where((contraction & forward_pass) | (normalization & forward_pass))(compute(f32)),
       "rule where class contraction|normalization pass forward : compute f32"},
      // Merged, these two would also select the forward pass of a normalization.
      {where((contraction & forward_pass) | (normalization & input_gradient_pass))(compute(f32)),
       "rule where class contraction pass forward or class normalization pass input_gradient : "
       "compute f32"},
      {where(contraction | (contraction & forward_pass))(compute(f32)),
       "rule where class contraction or class contraction pass forward : compute f32"},
      // A cross-entropy is both.
      {where(softmax & loss)(compute(f32)),
       "rule where op cross_entropy|soft_cross_entropy : compute f32"},
      {where((op("relu") | op("linear")) & (op("linear") | op("add")))(compute(f32)),
       "rule where op linear : compute f32"},
      {where(layer("proj") & layer("proj") & on(cpu) & on(cpu))(compute(f32)),
       "rule where layer \"proj\" target cpu : compute f32"},
  };
  for (const Case& is : cases) CHECK(text_of(is.rule) == is.text);
}

TEST_CASE("rules keep their order") {
  const auto rules = precision(everywhere(store(bf16)), where(layer("norm"))(store(f32)),
                               where(on(cpu))(compute(f32)));
  CHECK(lines(describe(trained, rules, adamw()), "rule ") ==
        std::vector<std::string>{"rule everywhere : store bf16",
                                 "rule where layer \"norm\" : store f32",
                                 "rule where target cpu : compute f32"});
}

TEST_CASE("a renamed model differs in its name alone") {
  constexpr auto copy = renamed("copy", trained);
  constexpr auto rules = precision(everywhere(store(bf16)));
  Description described = describe(copy, rules, adamw());
  CHECK(described.name == "copy");
  described.name = "trained";
  CHECK(described == describe(trained, rules, adamw()));
}

/// Any rule, meaningful or not.
class RandomRule {
 public:
  explicit RandomRule(unsigned seed) : random_(seed) {}

  Rule draw() {
    Selection selection{};
    for (unsigned i = below(4); i > 0; --i) selection.selector = selection.selector | clause();
    if (below(4) == 0) {
      Selector but = exception();
      if (below(3) == 0) but = but | exception();
      selection = selection.except(but);
    }
    if (below(20) == 0) selection = selection.if_any();
    Rule rule = selection();
    const Element formats[] = {f32, f16, bf16, tf32};
    const auto state = [&](unsigned in, const FieldOfRule& field) {
      if (below(in) == 0) halftone::dsl::stating::add(rule, field);
    };
    state(2, below(5) == 0 ? store(follow) : store(formats[below(20) == 0 ? 3 : below(3)]));
    state(2, below(5) == 0 ? compute(follow) : compute(formats[below(4)]));
    state(6, result(formats[below(4)]));
    state(6, accumulate(ordered));
    state(8, master(formats[below(6) == 0 ? 1 : 0]));
    state(6, rounding(below(2) == 0 ? toward_zero : stochastic));
    state(8, recompute(always));
    state(12, below(2) == 0 ? memory_budget(0.5 * below(4)) : memory_budget_bytes(below(3)));
    state(12, below(2) == 0 ? fixed_loss_scale(below(9)) : dynamic_loss_scale(growth(below(9))));
    state(8, below(2) == 0 ? quantize(formats[below(4)], least_error) : quantize(i8));
    state(8, place(below(2) == 0 ? host : on_device));
    return rule;
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_()) % bound; }

  /// One clause: several selectors joined by & may exclude each other, which the dsl refuses alone.
  Selector clause() {
    constexpr const char* kGlobs[] = {"h/*/fc",         "h/1?/act",    "norm",
                                      "proj*",          "**.weight",   "head_*.bias",
                                      "error",          "**",          "{x,h/3/fc}",
                                      "nothing",        "x",           "h/12/fc",
                                      "*.add",          "h/*/fc.bias", "norm.normalized",
                                      "h/*/fc.product", "**.product",  "norm.product",
                                      "h/2/act.value"};
    const Selector classes[] = {contraction,         normalization, softmax,
                                activation_function, elementwise,   loss};
    const char* const ops[] = {"linear", "relu", "gelu", "add", "cross_entropy"};
    const Selector roles[] = {activations,      saved_activations, gradients,
                              weights,          weight_gradients,  master_weights,
                              optimizer_states, internal_values};
    const Selector passes[] = {forward_pass, input_gradient_pass, weight_gradient_pass};
    const Selector targets[] = {on(cpu), on(before(sm_80)), on(chip("sm_7")), on(from(cpu))};
    Selector result = layer("**");
    if (below(2) == 0) result = layer(kGlobs[below(19)]);
    if (below(3) == 0) result.clauses[0].layer = nullptr;
    if (below(3) == 0) result = result & either(classes, 6);
    if (below(4) == 0) result = result & op(ops[below(5)]);
    if (below(3) == 0) result = result & either(roles, 8);
    if (below(4) == 0) result = result & either(passes, 3);
    if (below(5) == 0) result = result & targets[below(20) == 0 ? 2 + below(2) : below(2)];
    // Those that tell copies apart are validate's alone where a glob does, too.
    const bool plain = result.clauses[0].layer == nullptr;
    const Selector bounds[] = {smaller_than(64), smaller_than(8), at_least(8),     at_least(65),
                               first_layers(1),  last_layers(2),  depth(11, 14),   depth(12, 14),
                               first_layers(0),  depth(3, 3),     smaller_than(-1)};
    if (below(5) == 0)
      result = result & bounds[below(10) == 0 ? 8 + below(3) : below(plain ? 8 : 4)];
    return result;
  }

  /// One that fits all copies of a layer or none.
  Selector exception() {
    const Selector classes[] = {contraction, normalization, activation_function, loss};
    const Selector roles[] = {activations, gradients, weights, saved_activations};
    const Selector passes[] = {forward_pass, input_gradient_pass};
    const char* const globs[] = {"norm", "proj", "error", "head_*", "nothing"};
    Selector result = below(2) == 0 ? either(classes, 4) : layer(globs[below(5)]);
    if (below(4) == 0) result = result & either(roles, 4);
    if (below(5) == 0) result = result & either(passes, 2);
    if (below(6) == 0) result = result & smaller_than(64);
    return result;
  }

  Selector either(const Selector* from, unsigned count) {
    Selector result = from[below(count)];
    if (below(2) == 0) result = result | from[below(count)];
    return result;
  }

  std::mt19937 random_;
};

/// What follows the text of the rule; empty for no sentence.
std::string trouble(const std::string& sentence, const char* end_of_rule) {
  if (sentence.empty()) return "";
  const std::size_t fields = sentence.find(" :");
  REQUIRE(fields != sentence.npos);
  const std::size_t at = sentence.find(end_of_rule, fields);
  REQUIRE(at != sentence.npos);
  return sentence.substr(at + 2);
}

/// Without what may have been meant, which depends on how many copies of a repeat there are, and
/// which validate does not say.
std::string plain(const std::string& sentence) {
  return sentence.substr(0, std::min(sentence.find(" (did you"), sentence.find(" (known")));
}

/// Both forms of a rule that its sentence prints in another way than the Description; empty where
/// they are one. Long rules are cut, and the numbers of loss scales and memory budgets left out.
std::string printed_otherwise(const std::string& sentence, const Description& description) {
  const std::string written = halftone::description::rule_text(description.rules.at(0));
  const bool shortened =
      written.size() > 200 || description.rules[0].loss_scale || description.rules[0].memory_budget;
  if (sentence.empty() || shortened || sentence.starts_with("the rule '" + written + "' "))
    return "";
  return sentence + "\nwritten: " + written;
}

template <int N, class... Optimizer>
std::string disagreement(const Model<N>& model, const Rule& rule, const Optimizer&... optimizer) {
  const auto settings = gather(precision(rule), optimizer...);
  const Program whole = assemble(model, settings);
  const std::string folded = plain(checking::check(whole).text);
  checking::Graph graph(whole, true);
  checking::elaborate(graph);
  checking::Inspection(graph).run();
  const std::string expanded = plain(checking::Report(graph).sentence().text);
  if (folded != expanded) return "compiling: " + folded + "\ndescribing: " + expanded;
  const Description description = checking::Describer(graph).run();
  if (const std::string odd = printed_otherwise(folded, description); !odd.empty()) return odd;
  const auto violation = halftone::description::validate(description);
  const std::string validated = violation ? violation->message : "";
  // Long rules are cut in a sentence of the compiler.
  if (folded.find("...'") != folded.npos) return "";
  if (trouble(folded, "' ") == trouble(validated, "\" ")) return "";
  return "compiling: " + folded + "\nvalidating: " + validated;
}

TEST_CASE("a rule that no Description can hold is printed as it was written") {
  const Case cases[] = {
      {where(layer("fc") & layer("act"))(store(f32)),
       "where layer \"fc\" and layer \"act\" : store f32"},
      {where((layer("a") | layer("fc")) & op("relu") & layer("act"))(store(f32)),
       "where layer \"a\" op relu and layer \"act\" : store f32"},
      {where(contraction & normalization)(compute(f32)),
       "where class contraction and class normalization : compute f32"},
      {where(op("linear") & op("relu"))(compute(f32)), "where op linear and op relu : compute f32"},
      {where(weights & gradients)(store(f16)), "where role weight and role gradient : store f16"},
      {where(forward_pass & weight_gradient_pass)(result(f16)),
       "where pass forward and pass weight_gradient : result f16"},
      {where(on(cpu) & on(from(sm_80)))(store(f16)),
       "where target cpu and target from(sm_80) : store f16"},
      {where((weights & gradients) | layer("fc"))(store(f16)),
       "where role weight and role gradient : store f16"},
      {where(layer("fc") && op("linear"))(store(f16)),
       "where layer \"fc\" && op linear : store f16"},
      {where(layer("fc") || op("relu"))(store(f16)), "where layer \"fc\" || op relu : store f16"},
      {where(!layer("fc"))(store(f16)), "where not layer \"fc\" : store f16"},
      {where(op("conv2d"))(store(f16)), "where op conv2d : store f16"},
      {everywhere(store(f16), compute(bf16), store(bf16)),
       "everywhere : store f16 store bf16 compute bf16"},
      {everywhere(accumulate(bf16)), "everywhere : accumulate bf16"},
      {everywhere(result(follow)), "everywhere : result follow"},
      {everywhere(master(follow)), "everywhere : master follow"},
  };
  for (const Case& is : cases) {
    const std::string sentence =
        checking::check(assemble(trained, gather(precision(is.rule), adamw()))).text;
    CAPTURE(sentence);
    CHECK(sentence.starts_with("the rule '" + std::string(is.text) + "' "));
  }
}

TEST_CASE("compiling and validating refuse the same rules with the same words") {
  RandomRule rules(11);
  int accepted = 0;
  constexpr int kRules = 6000;
  for (int i = 0; i < kRules; ++i) {
    const Rule rule = rules.draw();
    REQUIRE(rule.defect == RuleDefect::none);
    CHECK(disagreement(trained, rule, adamw()) == "");
    CHECK(disagreement(evaluated, rule) == "");
    accepted += checking::check(assemble(trained, gather(precision(rule), adamw()))).size == 0;
  }
  CAPTURE(accepted);
  CHECK(accepted > kRules / 20);
  CHECK(accepted < kRules / 2);
}

}  // namespace
