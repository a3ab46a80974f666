// SPDX-License-Identifier: Apache-2.0
// Whole steps: declared stays within its bound of exact, losses fall, skipped steps change nothing,
// bad input is named.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "halftone/reference/bounded.hpp"
#include "judged.hpp"
#include "models.hpp"

using namespace halftone;
using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

const Symbols kSymbols = {{"batch", 5}, {"time", 3}, {"source", 4}, {"side", 2}};

const char kRegression[] = R"(input %x : f32[batch, 3]
input %target : f32[batch, 2]
parameter %w : [2, 3] init constant(0)
parameter %b : [2] init constant(0) frozen
%y = linear(x: %x, weight: %w, bias: %b) : [batch, 2]
%loss = mse(x: %y, target: %target) : []
output "y" = %y
loss %loss weight 1
)";

const char kAdamW[] =
    "optimizer adamw learning_rate 0.01 beta1 0.9 beta2 0.999 epsilon 1e-08 weight_decay 0.1\nclip "
    "1\n";

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool has_narrow_formats(const description::Description& model) {
  const description::EncodingChoice f32;
  for (const description::Rule& rule : model.rules) {
    if (rule.store.value_or(f32) != f32 || rule.compute.value_or(f32) != f32) return true;
    if (rule.result.value_or(f32.encoding.element) != f32.encoding.element) return true;
  }
  return false;
}

// Nothing where a narrow rounding may decide a comparison, a divisor or an overflow, and in models
// that compare equal numbers: the last maximum of "adaptive" is that of one average, twice, and one
// of "sides_padded" is over a line that padding repeats.
std::optional<Run<Bounded>> bounded_run(const std::string& name, const Problem& problem) {
  try {
    return std::optional<Run<Bounded>>(std::in_place, problem);
  } catch (const std::domain_error&) {
    CHECK((has_narrow_formats(problem.model) || name == "adaptive" || name == "sides_padded"));
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE(
    "declared values and gradients of every example model are within the running error bound of "
    "exact") {
  for (const std::string& name : halftone::tests::model_names()) {
    CAPTURE(name);
    const Problem problem = make_problem(halftone::tests::load_model(name), kSymbols, 3, -0.5, 0.5);
    const Run<double> exact(problem);
    const Run<float> declared(problem);
    const std::optional<Run<Bounded>> bound = bounded_run(name, problem);
    if (!bound) continue;
    for (std::size_t id = 0; id < problem.model.nodes.size(); ++id) {
      CAPTURE(problem.model.nodes[id].name);
      Judged judged;
      judged.append(exact.forward.values[id], declared.forward.values[id],
                    bound->forward.values[id]);
      if (!exact.gradients[id].empty()) {
        judged.append(exact.gradients[id], declared.gradients[id], bound->gradients[id]);
      }
      check_declared(judged);
    }
  }
}

TEST_CASE("the loss of the digits model falls over 50 declared steps") {
  const description::Description model = halftone::tests::load_model("digits");
  Symbols symbols = {{"batch", 16}};
  const Problem problem = make_problem(model, symbols, 1, -0.125, 0.125);
  const Declared evaluator(model, symbols);
  State<float> state = evaluator.initial_state(as<float>(problem.parameters));
  Inputs<float> inputs = as<float>(problem.inputs);
  for (auto& [name, values] : inputs.values) {
    for (float& value : values) value *= 8;
  }
  float first = 0, last = 0;
  for (int i = 0; i < 50; ++i) {
    const Step<float> step = evaluator.step(state, inputs);
    REQUIRE(step.finite);
    if (i == 0) first = step.objective;
    last = step.objective;
    state = step.state;
  }
  CAPTURE(first);
  CAPTURE(last);
  CHECK(last < first / 2);
  CHECK(state.steps == 50);
}

namespace {

/// After one more step, which changed nothing.
State<float> skipped(State<float> state) {
  ++state.ended;
  return state;
}

}  // namespace

TEST_CASE("a step that is not finite changes no bit of parameters and optimizer state") {
  const Declared evaluator(parse_model(kRegression, kAdamW), {{"batch", 2}});
  State<float> state = evaluator.initial_state({{"w", {1, 2, 3, 4, 5, 6}}, {"b", {7, 8}}});
  Inputs<float> inputs{{{"x", {1, 2, 3, 4, 5, 6}}, {"target", {1, 1, 1, 1}}}, {}};
  state = evaluator.step(state, inputs).state;
  REQUIRE(state.steps == 1);
  const State<float> before = state;
  for (const float culprit :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 3e30f}) {
    inputs.values["x"][1] = culprit;
    const Step<float> step = evaluator.step(state, inputs);
    CAPTURE(culprit);
    CHECK_FALSE(step.finite);
    CHECK(step.state == skipped(before));
  }
}

TEST_CASE("a label outside the classes makes the loss NaN and the step not finite") {
  const char* statements = R"(input %label : i32[2]
parameter %x : [2, 3] init constant(0)
%loss = cross_entropy(logits: %x, label: %label) : []
loss %loss weight 1
)";
  const Declared evaluator(parse_model(statements), {});
  const State<float> state = evaluator.initial_state({{"x", {1, 2, 3, 4, 5, 6}}});
  CHECK(evaluator.step(state, {{}, {{"label", {0, 2}}}}).finite);
  for (const std::int32_t label : {-1, 3}) {
    const Step<float> step = evaluator.step(state, {{}, {{"label", {0, label}}}});
    CHECK(std::isnan(step.objective));
    CHECK_FALSE(step.finite);
    CHECK(step.state == skipped(state));
  }
}

TEST_CASE(
    "a frozen parameter keeps its bits and the learning rate of a step replaces the optimizer's") {
  const Declared evaluator(parse_model(kRegression, kAdamW), {{"batch", 2}});
  const State<float> state = evaluator.initial_state({{"w", {1, 2, 3, 4, 5, 6}}, {"b", {7, 8}}});
  const Inputs<float> inputs{{{"x", {1, 2, 3, 4, 5, 6}}, {"target", {1, 1, 1, 1}}}, {}};
  CHECK(evaluator.step(state, inputs).state.parameters.at("b") == state.parameters.at("b"));
  CHECK(evaluator.step(state, inputs).state.parameters.at("w") != state.parameters.at("w"));
  CHECK(evaluator.step(state, inputs, 0.0).state.parameters == state.parameters);
}

TEST_CASE("a state takes the assigned value after the pass that read its old one") {
  const Exact evaluator(parse_model(R"(input %x : f32[2]
state %total : [2] initial 0.5
%sum = add(a: %total, b: %x) : [2]
output "sum" = %sum
assign %total = %sum
)"),
                        {});
  State<double> state = evaluator.initial_state({});
  for (int pass = 1; pass <= 3; ++pass) {
    const Forward<double> forward = evaluator.forward(state, {{{"x", {1, 10}}}, {}});
    CHECK(forward.values[evaluator.find("total")] ==
          std::vector{0.5 + (pass - 1), 0.5 + 10 * (pass - 1)});
    CHECK(forward.states.at("total") == std::vector{0.5 + pass, 0.5 + 10 * pass});
    state.states = forward.states;
  }
}

TEST_CASE("every micro-batch of a step moves a state on, and a step that is skipped none") {
  // S1, S2, S4: two states that take each other's values, and a running sum.
  const Declared evaluator(parse_model(R"(input %x : f32[1]
parameter %w : [1] init constant(0)
state %a : [1] initial 1
state %b : [1] initial 2
state %total : [1] initial 0
%sum = add(a: %total, b: %x) : [1]
%ab = add(a: %a, b: %b) : [1]
%y = add(a: %ab, b: %w) : [1]
%loss = mse(x: %y, target: %x) : []
loss %loss weight 1
assign %a = %b
assign %b = %a
assign %total = %sum
)"),
                           {});
  const auto batch = [](float x) { return Inputs<float>{{{"x", {x}}}, {}}; };
  using States = Tensors<float>;
  State<float> state = evaluator.initial_state({{"w", {0}}});
  const std::vector three{batch(1), batch(10), batch(100)};
  const Step<float> step = evaluator.step(state, three);
  CHECK(step.finite);
  CHECK(step.state.states == States{{"a", {2}}, {"b", {1}}, {"total", {111}}});
  // y is 3 whatever the states: the mean of 2 (3 - x)
  CHECK(step.state.parameters.at("w")[0] ==
        doctest::Approx(-0.1 * 2 * ((3 - 1) + (3 - 10) + (3 - 100)) / 3));
  const std::vector spoiled{batch(1), batch(3e38f), batch(100)};
  const Step<float> next = evaluator.step(step.state, spoiled);
  CHECK_FALSE(next.finite);
  CHECK(next.state == skipped(step.state));
}

namespace {

// N2 of at most 1024 values.
float tree_of_one_chunk(std::span<const float> values) {
  float partial[32] = {};
  for (std::size_t e = 0; e < values.size(); ++e) partial[e % 32] += values[e];
  for (int s = 16; s > 0; s /= 2) {
    for (int l = 0; l < s; ++l) partial[l] += partial[l + s];
  }
  return partial[0];
}

std::vector<float> trees_of_chunks(std::span<const float> values) {
  std::vector<float> results;
  for (std::size_t at = 0; at < values.size(); at += 1024) {
    results.push_back(
        tree_of_one_chunk(values.subspan(at, std::min<std::size_t>(1024, values.size() - at))));
  }
  return results;
}

}  // namespace

TEST_CASE("N2: the results of more than 1,024 chunks are cut into chunks again") {
  constexpr std::size_t kCount = 1100000;  // 1,075 chunks
  const Declared evaluator(parse_model(R"(input %x : f32[1100000]
parameter %zero : [1100000] init constant(0)
%all = mse(x: %x, target: %zero) : []
loss %all weight 1
)"),
                           {});
  // A chunk of small squares is lost beside the sum of 32 chunks of ones, but their own sum is not
  // lost beside that of 1,024.
  std::vector<float> x(kCount, 1.0f), squares(kCount);
  std::fill(x.begin() + 1024 * 1024, x.end(), 0x1.3p-10f);
  for (std::size_t e = 0; e < kCount; ++e) squares[e] = x[e] * x[e];
  const State<float> state = evaluator.initial_state({{"zero", std::vector<float>(kCount)}});
  const float mean = evaluator.forward(state, {{{"x", x}}, {}}).losses[0];
  const std::vector<float> chunks = trees_of_chunks(squares);
  CHECK(mean == tree_of_one_chunk(trees_of_chunks(chunks)) / static_cast<float>(kCount));
  CHECK(mean != tree_of_one_chunk(chunks) / static_cast<float>(kCount));
}

TEST_CASE("gradients of several users are added from the last user to the first") {
  // At p arrive 2^-24 from the first user, 2^-24 from the second and 1 from the third. Only from
  // the last on is (1 + 2^-24) + 2^-24 = 1, as each addition is a tie that rounds to even; the
  // other order gives 1 + 2^-23.
  const Declared evaluator(parse_model(R"(input %x : f32[1]
parameter %p : [1] init constant(0)
%a = add(a: %x, b: %p) : [1]
%b = add(a: %x, b: %p) : [1]
%c = add(a: %x, b: %p) : [1]
output "a" = %a
output "b" = %b
output "c" = %c
)"),
                           {});
  const State<float> state = evaluator.initial_state({{"p", {0}}});
  const Forward<float> forward = evaluator.forward(state, {{{"x", {0}}}, {}});
  const Gradients<float> gradients =
      evaluator.backward(forward, {{"a", {0x1p-24f}}, {"b", {0x1p-24f}}, {"c", {1}}});
  CHECK(gradients[evaluator.find("p")][0] == 1.0f);
}

TEST_CASE("silu and its gradient have the values of a 40-digit calculation and their limits") {
  constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
  Problem problem;
  problem.model = parse_model(R"(input %x : f32[6]
%y = silu(x: %x) : [6]
output "y" = %y
)");
  problem.inputs.values["x"] = {-3, -1.25, 0.5, 1, 40, -200};
  problem.external["y"] = {1, 1, 1, 1, 1, 1};
  const std::vector<double> y = {-0.14227761953270035, -0.27837517353163607, 0.31122966560092728,
                                 0.73105857863000488},
                            x = {-0.088104106015169617, 0.0063191550846875812, 0.73996118730265182,
                                 0.92767051187148673};
  const Run<double> exact(problem);
  for (std::size_t e = 0; e < y.size(); ++e) {
    CAPTURE(e);
    CHECK(std::fabs(exact.value("y")[e] - y[e]) <= kRounding);
    CHECK(std::fabs(exact.gradient("x")[e] - x[e]) <= kRounding);
  }
  const Run<float> declared(problem);
  CHECK(declared.value("y")[4] == 40);
  CHECK(declared.gradient("x")[4] == 1);
  CHECK(declared.value("y")[5] == 0);
  CHECK(declared.gradient("x")[5] == 0);
}

TEST_CASE("Bounded refuses to guess a comparison that rounding decides") {
  const Bounded third = Bounded(1) / Bounded(3);
  CHECK(third < Bounded(0.5));
  CHECK_THROWS_AS((void)(third < Bounded(1.0 / 3)), std::domain_error);
}

TEST_CASE("U3, U8: schedules count applied updates, and averages follow the parameters") {
  const description::Description model = parse_model(
      kRegression,
      "optimizer sgd learning_rate 0.5 momentum 0 weight_decay 0\n"
      "schedule { %0 = operand 0; %1 = constant 1; %2 = add %0 %1; %3 = divide %1 %2 }\n"
      "average 0.75\n");
  const Exact exact(model, kSymbols);
  auto state = exact.initial_state({{"w", std::vector<double>(6, 1.0)}, {"b", {0, 0}}});
  CHECK(state.averages.size() == 1);
  double w = 1, average = 0;
  int updates = 0;
  for (const double gradient : {2.0, HUGE_VAL, -1.0, 3.0}) {
    CAPTURE(gradient);
    Gradients<double> gradients(model.nodes.size());
    gradients[exact.find("w")].assign(6, gradient);
    const auto step = exact.update(state, gradients, 0.25);
    CHECK(step.finite == std::isfinite(gradient));
    state = step.state;
    if (step.finite) {
      w -= 0.25 / (updates + 1) * gradient;  // a rate that is given is scheduled, too
      average = updates == 0 ? w : average + 0.25 * (w - average);
      ++updates;
    }
    for (const double value : state.parameters.at("w")) CHECK(value == doctest::Approx(w));
    for (const double value : state.averages.at("w")) CHECK(value == doctest::Approx(average));
  }
  CHECK(updates == 3);
}

TEST_CASE("bad input gets one sentence that names the culprit and the remedy") {
  const description::Description model = parse_model(kRegression);
  const Tensors<float> parameters = {{"w", {1, 2, 3, 4, 5, 6}}, {"b", {7, 8}}};
  const Declared evaluator(model, {{"batch", 1}});
  const State<float> state = evaluator.initial_state(parameters);
  const Inputs<float> inputs{{{"x", {1, 2, 3}}, {"target", {1, 1}}}, {}};
  const Inputs<float> without{{{"x", {1, 2, 3}}}, {}};
  const Inputs<float> wrong{{{"x", {1, 2}}, {"target", {1, 1}}}, {}};
  CHECK(message_of([&] { Declared(model, {}); }) ==
        "symbol \"batch\" of node \"x\" is not bound; give it a positive size");
  CHECK(message_of([&] {
          (void)evaluator.initial_state({{"w", {1}}, {"b", {7, 8}}});
        }) == "parameter \"w\" has 1 elements; give it 6");
  CHECK(message_of([&] {
          (void)evaluator.initial_state({{"w", parameters.at("w")}});
        }) == "parameter \"b\" is missing; give it a value");
  CHECK(message_of([&] {
          (void)evaluator.initial_state({{"x", {1}}});
        }) == "\"x\" is not a parameter; give values to parameters only");
  CHECK(message_of([&] { (void)evaluator.forward(state, without); }) ==
        "input \"target\" is missing; give it a value");
  CHECK(message_of([&] { (void)evaluator.forward(state, wrong); }) ==
        "input \"x\" has 2 elements; give it 3");
  CHECK(message_of([&] {
          (void)evaluator.backward(evaluator.forward(state, inputs), {{"z", {1}}});
        }) == "an external gradient names no output of \"test\"; use output names");
  CHECK(message_of([&] { (void)evaluator.find("nowhere"); }) ==
        "\"test\" has no node \"nowhere\"; use a name of the description");
}
