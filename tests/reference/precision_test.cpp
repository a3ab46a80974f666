// SPDX-License-Identifier: Apache-2.0
// Declared evaluation under precision rules against numpy's bits (record_precision.py): whole
// steps, rules of every kind in one model, and the models whose roundings a fusing compiler loses.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "models.hpp"
#include "precision_expected.hpp"
#include "problem.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

void check(const std::string& name, const std::vector<float>& values) {
  check_bits(kPrecisionBits, name, values);
}

const char kLinear[] = R"(input %x : f32[7, 6]
input %target : f32[7, 5]
parameter %fc.weight : [5, 6] init constant(0)
parameter %fc.bias : [5] init constant(0)
%fc = linear(x: %x, weight: %fc.weight, bias: %fc.bias) : [7, 5]
%act = relu(x: %fc) : [7, 5]
%loss = mse(x: %act, target: %target) : []
loss %loss weight 0.3
)";

const char kMomentum[] =
    "optimizer sgd learning_rate 0.3 momentum 0.9 weight_decay 0.7\nclip 0.5\n";

struct Formats {
  std::string name, rules;
};

// A model that is trained through its outputs alone, beside a loss that weighs nothing: without any
// loss there is no backward pass for rules to speak of (P40).
void train_through_outputs(Problem& problem, const std::string& statements) {
  problem.model = parse_model(R"(parameter %aside : [1] init constant(0)
parameter %away : [1] init constant(0)
%idle = mse(x: %aside, target: %away) : []
loss %idle weight 0
)" + statements);
  problem.parameters["aside"] = problem.parameters["away"] = {0};
}

const Formats kFormats[] = {
    {"f32", ""},
    {"bf16", "rule everywhere : store bf16 compute bf16\n"},
    {"f16", "rule everywhere : store f16 compute f16 loss_scale fixed 1024\n"},
    {"f8e4m3",
     "rule everywhere : store f8e4m3 saturate compute f8e4m3 saturate loss_scale fixed 65536\n"},
    {"f8e5m2", "rule everywhere : store f8e5m2 compute f8e5m2 loss_scale fixed 1024\n"},
};

const char kMixed[] = R"(input %x : f32[7, 6]
input %target : f32[7, 5]
parameter %fc.weight : [6, 6] init constant(0)
parameter %fc.bias : [6] init constant(0)
parameter %norm.weight : [6] init constant(0)
parameter %norm.bias : [6] init constant(0)
parameter %head.weight : [5, 12] init constant(0)
%fc = linear(x: %x, weight: %fc.weight, bias: %fc.bias) : [7, 6]
%act = relu(x: %fc) : [7, 6]
%sum = add(a: %act, b: %x) : [7, 6]
%norm = layer_norm(x: %sum, weight: %norm.weight, bias: %norm.bias) {epsilon: 1e-05} : [7, 6]
%joined = concat(part0: %norm, part1: %act) : [7, 12]
%head = linear(x: %joined, weight: %head.weight) : [7, 5]
%loss = mse(x: %head, target: %target) : []
loss %loss weight 0.3
rule everywhere : store bf16 compute bf16 loss_scale fixed 256
rule where layer "{fc,act}" : store f16 compute f16
rule where op add|concat : store follow compute follow
rule where class normalization|loss : compute f32
rule where layer "norm" role activation : store f32
rule where layer "sum" role saved : store f16 rounding toward_zero
rule where layer "act" role gradient : store bf16 rounding toward_zero
rule where class contraction pass weight_gradient : compute tf32 result bf16
rule where layer "head" pass forward : result tf32
rule where layer "head" role weight : store f16 rounding toward_zero
rule where op concat role activation : compute f16 rounding toward_zero
)";

// One batch of the saved model `name`, its floats data(count, salt) with salts counted from 1.
Run<float> run_of(const std::string& name) {
  Problem problem;
  problem.model = halftone::tests::load_model(name);
  problem.symbols = {{"batch", 5}};
  const Exact shapes(problem.model, problem.symbols);
  std::int64_t salt = 0;
  for (std::size_t id = 0; id < problem.model.nodes.size(); ++id) {
    const auto& node = problem.model.nodes[id];
    const std::int64_t count = shapes.count(static_cast<halftone::description::NodeId>(id));
    if (node.kind == halftone::description::kind_called("input"))
      problem.inputs.values[node.name] = data(count, ++salt);
    if (node.kind == halftone::description::kind_called("parameter"))
      problem.parameters[node.name] = data(count, ++salt);
  }
  return Run<float>(problem);
}

}  // namespace

TEST_CASE("a whole step of two micro-batches has numpy's bits in every format") {
  for (const Formats& formats : kFormats) {
    const std::string& name = formats.name;
    const std::string loss_in_f32 = "rule where class loss : compute f32\n";
    const Declared evaluator(parse_model(kLinear + formats.rules + loss_in_f32, kMomentum), {});
    const State<float> state = evaluator.initial_state(
        {{"fc.weight", data<float>(30, 2)}, {"fc.bias", data<float>(5, 3)}});
    const Tensors<float> target = {{"target", data<float>(35, 4)}};
    const auto backward_of = [&](std::int64_t salt) {
      Inputs<float> inputs{target, {}};
      inputs.values["x"] = data<float>(42, salt);
      const Forward<float> forward = evaluator.forward(state, inputs);
      return std::pair(forward, evaluator.backward(forward));
    };
    const auto [forward, gradients] = backward_of(1);
    check(name + " act", forward.values[evaluator.find("act")]);
    check(name + " loss", forward.losses);
    for (const char* node : {"act", "fc.weight", "fc.bias"}) {
      check(name + " gradient " + node, gradients[evaluator.find(node)]);
    }
    const auto sum = evaluator.accumulate(gradients, backward_of(5).second);
    const Step<float> step = evaluator.update(state, sum, {}, 2);
    check(name + " norm", {step.norm});
    for (const char* parameter : {"fc.weight", "fc.bias"}) {
      check(name + " " + parameter, step.state.parameters.at(parameter));
    }
  }
}

TEST_CASE("rules of every kind in one model have numpy's bits") {
  const Declared evaluator(parse_model(kMixed), {});
  const State<float> state = evaluator.initial_state({{"fc.weight", data<float>(36, 3)},
                                                      {"fc.bias", data<float>(6, 4)},
                                                      {"norm.weight", data<float>(6, 5)},
                                                      {"norm.bias", data<float>(6, 6)},
                                                      {"head.weight", data<float>(60, 7)}});
  const Inputs<float> inputs{{{"x", data<float>(42, 1)}, {"target", data<float>(35, 2)}}, {}};
  const Forward<float> forward = evaluator.forward(state, inputs);
  for (const char* node : {"sum", "norm", "joined", "head"}) {
    check(std::string("mixed ") + node, forward.values[evaluator.find(node)]);
  }
  check("mixed loss", forward.losses);
  const Gradients<float> gradients = evaluator.backward(forward);
  for (const char* node : {"head", "joined", "norm", "sum", "act", "fc", "fc.weight", "fc.bias",
                           "norm.weight", "norm.bias", "head.weight"}) {
    check(std::string("mixed gradient ") + node, gradients[evaluator.find(node)]);
  }
  check("mixed norm of all", {evaluator.update(state, gradients).norm});
}

TEST_CASE("P39: internal values that rules round have numpy's bits, in gradients too") {
  const Declared evaluator(parse_model(R"(input %x : f32[7, 6]
input %target : f32[7, 5]
parameter %fc.weight : [6, 6] init constant(0)
parameter %fc.bias : [6] init constant(0)
parameter %norm.weight : [6] init constant(0)
parameter %norm.bias : [6] init constant(0)
parameter %rms.weight : [6] init constant(0)
parameter %head.weight : [5, 6] init constant(0)
%fc = linear(x: %x, weight: %fc.weight, bias: %fc.bias) : [7, 6]
%norm = layer_norm(x: %fc, weight: %norm.weight, bias: %norm.bias) {epsilon: 1e-05} : [7, 6]
%rms = rms_norm(x: %norm, weight: %rms.weight) {epsilon: 1e-06} : [7, 6]
%head = linear(x: %rms, weight: %head.weight) : [7, 5]
%loss = mse(x: %head, target: %target) : []
loss %loss weight 1
rule where op linear role internal : store bf16
rule where layer "fc.product" role internal : store f16
rule where layer "norm" role internal : store bf16 rounding toward_zero
rule where layer "rms.*" role internal : store tf32
)"),
                           {});
  const State<float> state = evaluator.initial_state({{"fc.weight", data<float>(36, 3)},
                                                      {"fc.bias", data<float>(6, 4)},
                                                      {"norm.weight", data<float>(6, 5)},
                                                      {"norm.bias", data<float>(6, 6)},
                                                      {"rms.weight", data<float>(6, 7)},
                                                      {"head.weight", data<float>(30, 8)}});
  const Inputs<float> inputs{{{"x", data<float>(42, 1)}, {"target", data<float>(35, 2)}}, {}};
  const Forward<float> forward = evaluator.forward(state, inputs);
  for (const char* node : {"fc", "norm", "rms", "head"}) {
    check(std::string("internals ") + node, forward.values[evaluator.find(node)]);
  }
  const Gradients<float> gradients = evaluator.backward(forward);
  for (const char* node :
       {"rms", "norm", "fc", "head.weight", "rms.weight", "norm.weight", "fc.weight"}) {
    check(std::string("internals gradient ") + node, gradients[evaluator.find(node)]);
  }
}

TEST_CASE("P39: cross_entropy rounds the probabilities of its gradient") {
  const struct {
    const char* rule;
    float third;
  } cases[] = {{"", 1.0f / 3},
               {"rule where role internal : store f16\n", 0x1.554p-2f},
               {"rule where role internal : store bf16\n", 0x1.56p-2f},
               {"rule where role internal : store bf16 rounding toward_zero\n", 0x1.54p-2f}};
  for (const auto& c : cases) {
    CAPTURE(std::string(c.rule));
    Problem problem;
    problem.model = parse_model(std::string(R"(input %x : f32[1, 3]
input %label : i32[1]
parameter %w : [1, 3] init constant(0)
%y = add(a: %x, b: %w) : [1, 3]
%loss = cross_entropy(logits: %y, label: %label) : []
loss %loss weight 1
)") + c.rule);
    problem.inputs.values["x"] = {4, 4, 4};
    problem.inputs.integers["label"] = {1};
    problem.parameters["w"] = {0, 0, 0};
    const Run<float> run(problem);
    CHECK(run.gradient("w") == std::vector<float>{c.third, c.third - 1, c.third});
    CHECK(run.forward.losses[0] == doctest::Approx(std::log(3.0)).epsilon(1e-6));
  }
}

TEST_CASE("an f16 overflow stays an infinity for whoever reads it next") {
  const Run<float> run = run_of("f16_overflow");
  check("f16_overflow large", run.value("large"));
  check("f16_overflow clamped", run.value("clamped"));
  check("f16_overflow gradient large", run.gradient("large"));
  check("f16_overflow gradient fc.weight", run.gradient("fc.weight"));
}

TEST_CASE("a value that goes to bf16 and back is rounded") {
  const Run<float> run = run_of("bf16_round_trip");
  check("bf16_round_trip rest", run.value("rest"));
  check("bf16_round_trip gradient fc.weight", run.gradient("fc.weight"));
}

TEST_CASE("a bf16 product is rounded before an f32 sum reads it") {
  const Run<float> run = run_of("bf16_matmul_then_add");
  check("bf16_matmul_then_add sum", run.value("sum"));
  check("bf16_matmul_then_add gradient fc.weight", run.gradient("fc.weight"));
}

TEST_CASE("a rotary embedding in bf16 is rounded at every node") {
  const Run<float> run = run_of("rotary_bf16");
  check("rotary_bf16 rotated", run.value("rotated"));
  check("rotary_bf16 gradient even.weight", run.gradient("even.weight"));
  check("rotary_bf16 gradient odd.weight", run.gradient("odd.weight"));
}

TEST_CASE("D42: relu passes no gradient where its result rounded to zero") {
  for (const bool rounds : {false, true}) {
    Problem problem;
    problem.model = parse_model(std::string(R"(input %x : f32[2]
parameter %w : [2] init constant(0)
%sum = add(a: %x, b: %w) : [2]
%y = relu(x: %sum) : [2]
output "y" = %y
)") + (rounds ? "rule where op relu role activation : store f16\n" : ""));
    problem.inputs.values["x"] = {0x1p-26, 1};
    problem.parameters["w"] = {0, 0};
    problem.external["y"] = {3, 3};
    const Run<float> run(problem);
    CHECK(run.value("y") == std::vector<float>{rounds ? 0 : 0x1p-26f, 1});
    CHECK(run.gradient("w") == std::vector<float>{rounds ? 0.0f : 3.0f, 3});
  }
}

TEST_CASE("D48: maximum and sum are those of the logits that the gradient's pass reads") {
  Problem problem;
  problem.model = parse_model(R"(input %x : f32[1, 2]
input %label : i32[1]
parameter %w : [1, 2] init constant(0)
%y = add(a: %x, b: %w) : [1, 2]
%loss = cross_entropy(logits: %y, label: %label) : []
loss %loss weight 1
rule where op cross_entropy pass input_gradient : compute bf16
)");
  problem.inputs.values["x"] = {0, 0x1.01p+0};  // the gradient's pass reads 0 and 1
  problem.inputs.integers["label"] = {1};
  problem.parameters["w"] = {0, 0};
  const Run<float> run(problem);
  CHECK(run.forward.losses[0] == doctest::Approx(std::log1p(std::exp(-0x1.01p+0))).epsilon(1e-6));
  const double first = std::exp(-1.0) / (1 + std::exp(-1.0));
  CHECK(run.gradient("w")[0] == doctest::Approx(first).epsilon(1e-6));
  CHECK(run.gradient("w")[1] == doctest::Approx(-first).epsilon(1e-6));
}

TEST_CASE("P30: a weight is stored from its master before the operation rounds it") {
  Problem problem;
  problem.model = parse_model(R"(input %x : f32[1]
parameter %kept : [1] init constant(0)
parameter %stored : [1] init constant(0)
%a = add(a: %x, b: %kept) : [1]
%b = add(a: %x, b: %stored) : [1]
output "a" = %a
output "b" = %b
rule where role weight : compute bf16
rule where layer "stored" role weight : store f16
)");
  problem.inputs.values["x"] = {0};
  // f16 takes 2^-12 away, which leaves a tie for bf16.
  problem.parameters["kept"] = problem.parameters["stored"] = {1 + 0x1p-8 + 0x1p-12};
  problem.external = {{"a", {1}}, {"b", {1}}};
  const Run<float> run(problem);
  CHECK(run.value("a")[0] == 1 + 0x1p-7f);
  CHECK(run.value("b")[0] == 1);
}

TEST_CASE(
    "P30, P37: each pass rounds the gradient it reads, the bias gradient's with the weight's") {
  Problem problem;
  train_through_outputs(problem, R"(input %x : f32[1, 1]
parameter %before : [1, 1] init constant(0)
parameter %w : [1, 1] init constant(0)
parameter %b : [1] init constant(0)
%sum = add(a: %x, b: %before) : [1, 1]
%y = linear(x: %sum, weight: %w, bias: %b) : [1, 1]
output "y" = %y
rule where op linear role gradient pass weight_gradient : compute bf16
rule where op linear role gradient pass input_gradient : compute f16
)");
  problem.inputs.values["x"] = {1};
  problem.parameters["before"] = problem.parameters["b"] = {0};
  problem.parameters["w"] = {1};
  problem.external["y"] = {1 + 0x1p-9 + 0x1p-12};
  const Run<float> run(problem);
  CHECK(run.gradient("y")[0] == 1 + 0x1p-9f + 0x1p-12f);
  CHECK(run.gradient("w")[0] == 1);
  CHECK(run.gradient("b")[0] == 1);
  CHECK(run.gradient("before")[0] == 1 + 0x1p-9f);
}

TEST_CASE("P32: a result is rounded to the result format and then to the store") {
  Problem problem;
  problem.model = parse_model(R"(input %x : f32[2]
%y = pointwise(x0: %x) "identity" { %0 = operand 0 } : [2]
%z = pointwise(x0: %x) "identity" { %0 = operand 0 } : [2]
output "y" = %y
output "z" = %z
rule where layer "y" : store bf16 result tf32
rule where layer "z" : store bf16
)");
  // tf32 takes 2^-12 away, which leaves a tie for bf16.
  problem.inputs.values["x"] = {1 + 0x1p-8 + 0x1p-12, 3};
  problem.external = {{"y", {0, 0}}, {"z", {0, 0}}};
  CHECK(Run<float>(problem).value("y") == std::vector<float>{1, 3});
  CHECK(Run<float>(problem).value("z") == std::vector<float>{1 + 0x1p-7f, 3});
}

TEST_CASE("P36: a caller's gradient is scaled in f32 and then rounded") {
  Problem problem;
  train_through_outputs(problem, R"(input %x : f32[3]
parameter %w : [3] init constant(0)
%y = add(a: %x, b: %w) : [3]
output "y" = %y
output "again" = %y
rule where role gradient : store f16
rule everywhere : loss_scale fixed 1024
)");
  problem.inputs.values["x"] = {1, 1, 1};
  problem.parameters["w"] = {0, 0, 0};
  // 2^-30 is below f16 until it is scaled, 2049 / 2048 is a tie, 100 overflows.
  problem.external["y"] = {0x1p-30, 2049.0 / 2048, 100};
  CHECK(Run<float>(problem).gradient("w") == std::vector<float>{0x1p-20f, 1024, INFINITY});
  // The last output's gradient comes first, and the sum of both is rounded.
  problem.external["y"] = {0, 0x1p-11, 0};
  problem.external["again"] = {0, 1, 0};
  CHECK(Run<float>(problem).gradient("w") == std::vector<float>{0, 1024, 0});
}

TEST_CASE("P34: every contribution and every partial sum of a gradient is rounded") {
  Problem problem;
  train_through_outputs(problem, R"(input %x : f32[1]
parameter %w : [1] init constant(0)
%v = add(a: %x, b: %w) : [1]
%a = add(a: %v, b: %x) : [1]
%b = add(a: %v, b: %x) : [1]
%c = add(a: %v, b: %x) : [1]
output "a" = %a
output "b" = %b
output "c" = %c
rule where layer "v" role gradient : store bf16
)");
  problem.inputs.values["x"] = {1};
  problem.parameters["w"] = {0};
  // bf16 has 8 digits: 1 + 2^-8 is a tie to even, twice; in f32 the sum would be 1 + 2^-7.
  problem.external = {{"a", {0x1p-8}}, {"b", {0x1p-8}}, {"c", {1}}};
  CHECK(Run<float>(problem).gradient("w")[0] == 1);
  // Each contribution by itself: 1 + 2^-9 is 1 before 2^-9 is added.
  problem.external = {{"a", {0x1p-7}}, {"b", {0}}, {"c", {1 + 0x1p-8}}};
  CHECK(Run<float>(problem).gradient("w")[0] == 1 + 0x1p-7f);
}

TEST_CASE("P35: a parameter's gradients are rounded one by one and added in f32") {
  Problem problem;
  train_through_outputs(problem, R"(input %x : f32[1]
parameter %w : [1] init constant(0)
%a = add(a: %x, b: %w) : [1]
%b = add(a: %x, b: %w) : [1]
output "a" = %a
output "b" = %b
rule where pass weight_gradient : result bf16
)");
  problem.inputs.values["x"] = {1};
  problem.parameters["w"] = {0};
  problem.external = {{"a", {0x1p-12 + 0x1p-21}}, {"b", {1 + 0x1p-9}}};
  CHECK(Run<float>(problem).gradient("w")[0] == 1 + 0x1p-12f);
}

TEST_CASE("a target's rules are another evaluation") {
  const char* kSquare = R"(input %x : f32[1]
%y = pointwise(x0: %x) "square" { %0 = operand 0; %1 = multiply %0 %0 } : [1]
output "y" = %y
rule where target from(sm_80) : store bf16
)";
  const auto square = [&](const char* target) {
    const Declared evaluator(parse_model(kSquare), {}, target);
    const State<float> state = evaluator.initial_state({});
    return evaluator.forward(state, {{{"x", {1.01f}}}, {}}).values[evaluator.find("y")][0];
  };
  CHECK(square("cpu") == 1.01f * 1.01f);
  CHECK(square("sm_90a") == 1.0234375f);
}
