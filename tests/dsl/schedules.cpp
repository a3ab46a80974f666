// SPDX-License-Identifier: Apache-2.0
// Schedules of the learning rate: what they are traced to, and their values beside torch's.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "described.hpp"
#include "expression.hpp"
#include "schedules_expected.hpp"

using namespace specs;

namespace {

template <class F>
halftone::description::Description scheduled(F function) {
  return describe(
      model("net", inputs(tensor("x", batch, 2), tensor("y", batch, 1)),
            from("x") | linear("fc", 1) | output("out"), losses(mse("loss", "out", "y"))),
      precision(everywhere(store(f32), compute(f32))), sgd(), schedule(function), average(0.5));
}

template <class Scalar, class F>
Scalar value(F function, int update) {
  namespace reference = halftone::reference;
  const halftone::description::Description model = scheduled(function);
  reference::Values<Scalar> results;
  const reference::Values<Scalar> step = {static_cast<Scalar>(update)};
  reference::evaluate<Scalar>(*model.schedule, step, results);
  return results.back();
}

/// In f64 and in f32, whose roundings and recipes are good for about 1e-6.
template <class F>
void check_against_torch(const char* name, F function) {
  CAPTURE(std::string(name));
  for (const TorchSchedule& torch : kTorchSchedules) {
    if (std::string(torch.name) != name) continue;
    for (int update = 0; update < static_cast<int>(std::size(torch.rates)); ++update) {
      CAPTURE(update);
      CHECK(std::fabs(value<double>(function, update) - torch.rates[update]) <= 2e-8);
      CHECK(std::fabs(value<float>(function, update) - torch.rates[update]) <= 1e-6);
    }
    return;
  }
  FAIL("no such schedule was recorded");
}

}  // namespace

TEST_CASE("schedules have the learning rates of torch's") {
  check_against_torch("linear", [](auto step) { return linear_ramp(step, 40, 0.25, 0.75); });
  check_against_torch("cosine", [](auto step) { return cosine(step, 60, 0.125); });
  check_against_torch("step_decay", [](auto step) { return step_decay(step, 7, 0.7); });
  check_against_torch("exponential", [](auto step) { return exponential(step, 0.95); });
  check_against_torch("multi_step", [](auto step) { return multi_step(step, 0.3, 5, 20, 21); });
  check_against_torch("polynomial", [](auto step) { return polynomial(step, 50, 1.5); });
  check_against_torch("one_cycle", [](auto step) { return one_cycle(step, 60); });
  check_against_torch("one_cycle of 60 with 0.5, 10 and 100",
                      [](auto step) { return one_cycle(step, 60, 0.5, 10, 100); });
}

TEST_CASE("a cycle without steps to rise in begins at its top") {
  const auto cycle = [](auto step) { return one_cycle(step, 10, 0.1); };  // rises for 0 updates
  CHECK(std::fabs(value<double>(cycle, 0) - 1) < 2e-8);
  CHECK(std::fabs(value<double>(cycle, 9) - 1 / 25e4) < 2e-8);
  const auto shorter = [](auto step) { return one_cycle(step, 3); };  // for 0.9 - 1
  CHECK(std::fabs(value<double>(shorter, 2) - 1 / 25e4) < 2e-8);
  CHECK(value<double>(shorter, 0) < 1);
}

TEST_CASE("a warm-up begins above zero and ends at one") {
  const auto warm = [](auto step) { return linear_warmup(step, 4); };
  for (int update = 0; update < 8; ++update)
    CHECK(value<double>(warm, update) == std::fmin((update + 1) / 4.0, 1.0));
  const auto root = [](auto step) { return inverse_sqrt(step, 4); };
  for (int update = 0; update < 20; ++update) {
    const double passed = (update + 1) / 4.0;
    CHECK(std::fabs(value<double>(root, update) - std::fmin(passed, 1 / std::sqrt(passed))) <
          1e-12);
  }
}

TEST_CASE("behind their end schedules stay as they were") {
  CHECK(std::fabs(value<float>([](auto step) { return cosine(step, 60, 0.125); }, 1000000) -
                  0.125f) < 1e-6);
  CHECK(value<float>([](auto step) { return polynomial(step, 50, 1.5); }, 51) == 0.0f);
  CHECK(value<float>([](auto step) { return linear_ramp(step, 40); }, 41) == 0.0f);
}

TEST_CASE("schedule and average are statements of the description") {
  const auto text = scheduled([](auto step) { return 1.0 / (step + 1.0); });
  CHECK(lines(text, "schedule") ==
        std::vector<std::string>{
            "schedule { %0 = operand 0; %1 = constant 1; %2 = add %0 %1; %3 = divide %1 %2 }"});
  CHECK(lines(text, "average") == std::vector<std::string>{"average 0.5"});
}

TEST_CASE("groups give options to parameters by name, and layers' own options win") {
  constexpr auto net = model("net", inputs(tensor("x", batch, 4), tensor("y", batch, 1)),
                             from("x") | repeat<2>("h", linear("fc", 4)) |
                                 linear("out", 1, on_bias(init_constant(3))) | output("z"),
                             losses(mse("loss", "z", "y")));
  const auto text = describe(net, precision(everywhere(store(f32), compute(f32))), adamw(),
                             group("**.bias", no_decay, init_constant(0)),
                             group("h/*/fc.*", learning_rate_scale(0.5)),
                             group("h/0/**", frozen, learning_rate_scale(0.25)));
  CHECK(
      lines(text, "parameter") ==
      std::vector<std::string>{
          "parameter %h/0/fc.weight : [4, 4] init uniform(-0.5, 0.5) frozen learning_rate_scale "
          "0.25",
          "parameter %h/0/fc.bias : [4] init constant(0) no_decay frozen learning_rate_scale 0.25",
          "parameter %h/1/fc.weight : [4, 4] init uniform(-0.5, 0.5) learning_rate_scale 0.5",
          "parameter %h/1/fc.bias : [4] init constant(0) no_decay learning_rate_scale 0.5",
          "parameter %out.weight : [1, 4] init uniform(-0.5, 0.5)",
          "parameter %out.bias : [1] init constant(3) no_decay"});
}

TEST_CASE("a group that names nothing is refused with the names that there are") {
  constexpr auto net =
      model("net", inputs(tensor("x", batch, 4), tensor("y", batch, 1)),
            from("x") | linear("out", 1) | output("z"), losses(mse("loss", "z", "y")));
  CHECK_THROWS_WITH(describe(net, precision(everywhere(store(f32), compute(f32))), adamw(),
                             group("*.bais", no_decay)),
                    "the group '*.bais' names no parameter: the model's are 'out.weight', "
                    "'out.bias'");
}
