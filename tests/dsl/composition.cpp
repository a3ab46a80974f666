// SPDX-License-Identifier: Apache-2.0
// What brackets, names and orders in a specification come to.
#include <doctest/doctest.h>

#include <cmath>
#include <ctime>  // declares ::time: specifications must not clash with it
#include <string>
#include <vector>

#include "described.hpp"

using namespace specs;
using Lines = std::vector<std::string>;

namespace {

TEST_CASE("a repeat writes out its body once per copy, under numbered names") {
  constexpr auto block = residual(layer_norm("norm") | linear("fc", 8, no_bias));
  const auto net = described(
      model("net", inputs(tensor("x", batch, 8)), from("x") | repeat<3>("h", block) | output("y")));
  CHECK(lines(net, "%") ==
        Lines{"%h/0/norm = layer_norm(x: %x, weight: %h/0/norm.weight, bias: %h/0/norm.bias) "
              "{epsilon: 1e-05} : [batch, 8]",
              "%h/0/fc = linear(x: %h/0/norm, weight: %h/0/fc.weight) : [batch, 8]",
              "%h/0/fc.add = add(a: %x, b: %h/0/fc) : [batch, 8]",
              "%h/1/norm = layer_norm(x: %h/0/fc.add, weight: %h/1/norm.weight, bias: "
              "%h/1/norm.bias) {epsilon: 1e-05} : [batch, 8]",
              "%h/1/fc = linear(x: %h/1/norm, weight: %h/1/fc.weight) : [batch, 8]",
              "%h/1/fc.add = add(a: %h/0/fc.add, b: %h/1/fc) : [batch, 8]",
              "%h/2/norm = layer_norm(x: %h/1/fc.add, weight: %h/2/norm.weight, bias: "
              "%h/2/norm.bias) {epsilon: 1e-05} : [batch, 8]",
              "%h/2/fc = linear(x: %h/2/norm, weight: %h/2/fc.weight) : [batch, 8]",
              "%h/2/fc.add = add(a: %h/1/fc.add, b: %h/2/fc) : [batch, 8]"});
  CHECK(lines(net, "output") == Lines{"output \"y\" = %h/2/fc.add"});
  CHECK(lines(net, "parameter").size() == 9);
}

TEST_CASE("repeats nest, and a body finds its own names before those around it") {
  constexpr auto inner = relu("act") | add("skip");
  constexpr auto outer = as("skip") | repeat<2>("in", inner | as("sum"));
  const auto net = described(model("net", inputs(tensor("x", batch, 4)),
                                   from("x") | repeat<2>("out", outer) | output("y")));
  CHECK(lines(net, "%") ==
        Lines{"%out/0/in/0/act = relu(x: %x) : [batch, 4]",
              "%out/0/in/0/sum = add(a: %out/0/in/0/act, b: %x) : [batch, 4]",
              "%out/0/in/1/act = relu(x: %out/0/in/0/sum) : [batch, 4]",
              "%out/0/in/1/sum = add(a: %out/0/in/1/act, b: %x) : [batch, 4]",
              "%out/1/in/0/act = relu(x: %out/0/in/1/sum) : [batch, 4]",
              "%out/1/in/0/sum = add(a: %out/1/in/0/act, b: %out/0/in/1/sum) : [batch, 4]",
              "%out/1/in/1/act = relu(x: %out/1/in/0/sum) : [batch, 4]",
              "%out/1/in/1/sum = add(a: %out/1/in/1/act, b: %out/0/in/1/sum) : [batch, 4]"});
}

TEST_CASE("a named chain puts its name before those inside") {
  const auto net = described(model(
      "net", inputs(tensor("x", batch, 8)),
      from("x") |
          repeat<2>("h", named("mlp", relu("act") | linear("fc", 8, no_bias)) | add("mlp/act")) |
          named("out", named("in", relu("act"))) | add("out/in") | output("y")));
  CHECK(lines(net, "%") ==
        Lines{"%h/0/mlp/act = relu(x: %x) : [batch, 8]",
              "%h/0/mlp/fc = linear(x: %h/0/mlp/act, weight: %h/0/mlp/fc.weight) : [batch, 8]",
              "%h/0/add = add(a: %h/0/mlp/fc, b: %h/0/mlp/act) : [batch, 8]",
              "%h/1/mlp/act = relu(x: %h/0/add) : [batch, 8]",
              "%h/1/mlp/fc = linear(x: %h/1/mlp/act, weight: %h/1/mlp/fc.weight) : [batch, 8]",
              "%h/1/add = add(a: %h/1/mlp/fc, b: %h/1/mlp/act) : [batch, 8]",
              "%out/in/act = relu(x: %h/1/add) : [batch, 8]",
              "%add = add(a: %out/in/act, b: %out/in/act) : [batch, 8]"});
}

TEST_CASE("a gated layer is three linears, a function of one and a product") {
  const auto gated = [](const auto& layer) {
    return lines(
        described(model("net", inputs(tensor("x", batch, 4)), from("x") | layer | output("y"))),
        "%mlp/");
  };
  const std::string rows = " : [batch, 6]",
                    gate = "%mlp/gate = linear(x: %x, weight: %mlp/gate.weight",
                    up = "%mlp/up = linear(x: %x, weight: %mlp/up.weight",
                    product =
                        "%mlp/product = pointwise(x0: %mlp/act, x1: %mlp/up) \"product\" { "
                        "%0 = operand 0; %1 = operand 1; %2 = multiply %0 %1 }" +
                        rows,
                    down = "%mlp/down = linear(x: %mlp/product, weight: %mlp/down.weight";
  CHECK(gated(swiglu("mlp", 6, 3, no_bias)) ==
        Lines{gate + ")" + rows, "%mlp/act = silu(x: %mlp/gate)" + rows, up + ")" + rows, product,
              down + ") : [batch, 3]"});
  CHECK(gated(geglu("mlp", 6, 3))[1] ==
        "%mlp/act = gelu(x: %mlp/gate) {approximation: erf}" + rows);
  CHECK(gated(geglu("mlp", 6, 3))[0] == gate + ", bias: %mlp/gate.bias)" + rows);
  CHECK(gated(reglu("mlp", 6, 3))[1] == "%mlp/act = relu(x: %mlp/gate)" + rows);
  CHECK(gated(glu("mlp", 6, 3))[1] ==
        "%mlp/act = pointwise(x0: %mlp/gate) \"sigmoid\" { %0 = operand 0; %1 = sigmoid %0 }" +
            rows);
}

TEST_CASE("layers of positions count times, or read an input's positions") {
  const auto net = described(model(
      "net",
      inputs(tensor("x", batch, symbol("time"), 8), positions("place", batch, symbol("time"))),
      from("x") | rotary("turned", 2, "place", rotated(2), linear_scaling(4)) |
          position_embedding("learned", 16, frozen) |
          sinusoidal_embedding("waves", "place", base(100)) | sinusoidal_embedding("more") |
          output("y")));
  const std::string rows = " : [batch, time, 8]";
  CHECK(lines(net, "%") ==
        Lines{"%turned = rotary(x: %x, position: %place) {heads: 2, base: 10000, interleaved: "
              "false, factor: 4, rotated: 2}" +
                  rows,
              "%learned = position_embedding(x: %turned, weight: %learned.weight)" + rows,
              "%waves = sinusoidal_embedding(x: %learned, position: %place) {base: 100}" + rows,
              "%more = sinusoidal_embedding(x: %waves) {base: 10000}" + rows});
  CHECK(lines(net, "parameter") ==
        Lines{"parameter %learned.weight : [16, 8] init normal(0, 1) frozen"});
}

TEST_CASE("an input may want a gradient") {
  const auto net =
      describe(model("net", inputs(tensor("x", batch, 4, with_gradient), tensor("y", batch, 4)),
                     from("x") | relu("act") | linear("fc", 4, no_bias) | output("z"),
                     losses(mse("error", "z", "y"))),
               adamw(),
               precision(everywhere(store(f32)),
                         // P1: so that act has an operation in this pass.
                         where(layer("act") & input_gradient_pass)(result(bf16))));
  CHECK(lines(net, "input") ==
        Lines{"input %x : f32[batch, 4] gradient", "input %y : f32[batch, 4]"});
}

TEST_CASE("inputs are delivered in what they say, and converted") {
  const auto net = describe(
      model("net",
            inputs(tensor("pixels", u8, batch, 4, scale(1.0 / 255), offset(-0.5)),
                   tensor("half", batch, 4, f16, with_gradient),
                   tensor("shifted", i16, batch, 4, offset(1)), labels("digit", u8, batch),
                   tokens("word", u16, batch), tokens("id", batch)),
            from("pixels") | add("half") | add("shifted") | as("x"),
            from("word") | embedding("embed", 9, 4) | add("x") | as("y"),
            from("id") | embedding("more", 9, 4) | add("y") | linear("fc", 5) | output("z"),
            losses(cross_entropy("error", "z", "digit"))),
      adamw(), precision(everywhere(store(f32))));
  CHECK(lines(net, "input") ==
        Lines{"input %pixels : u8[batch, 4] scale 0.00392156862745098 offset -0.5",
              "input %half : f16[batch, 4] gradient", "input %shifted : i16[batch, 4] offset 1",
              "input %digit : u8[batch]", "input %word : u16[batch]", "input %id : i32[batch]"});
}

TEST_CASE("concat puts branches from one value side by side") {
  const auto net = described(
      model("net", inputs(tensor("x", batch, 4)),
            from("x") | concat(linear("left", 3, no_bias), linear("right", 5, no_bias) | gelu) |
                as("both") | output("y")));
  CHECK(lines(net, "%") == Lines{"%left = linear(x: %x, weight: %left.weight) : [batch, 3]",
                                 "%right = linear(x: %x, weight: %right.weight) : [batch, 5]",
                                 "%right.gelu = gelu(x: %right) {approximation: erf} : [batch, 5]",
                                 "%both = concat(part0: %left, part1: %right.gelu) : [batch, 8]"});
}

TEST_CASE("a layer without a name is called after the value that it reads") {
  const auto net = described(model("net", inputs(tensor("x", batch, 4)),
                                   from("x") | relu | gelu_tanh | relu("last") | output("y")));
  CHECK(lines(net, "%") ==
        Lines{"%x.relu = relu(x: %x) : [batch, 4]",
              "%x.relu.gelu = gelu(x: %x.relu) {approximation: tanh} : [batch, 4]",
              "%last = relu(x: %x.relu.gelu) : [batch, 4]"});
}

TEST_CASE("inputs and states keep their order when chains stand before them") {
  const auto net = described(model(
      "net", from("second") | add("kept") | as("sum") | output("sum"),
      from("third") | add("later") | add("first") | as("rest") | output("rest"),
      states(state("later", batch, 2), state("kept", batch, 2)),
      inputs(tensor("first", batch, 2), tensor("second", batch, 2), tensor("third", batch, 2))));
  CHECK(lines(net, "input") == Lines{"input %first : f32[batch, 2]",
                                     "input %second : f32[batch, 2]",
                                     "input %third : f32[batch, 2]"});
  CHECK(lines(net, "state") ==
        Lines{"state %later : [batch, 2] initial 0", "state %kept : [batch, 2] initial 0"});
}

TEST_CASE("a spec may include <ctime> and have a dimension called time") {
  constexpr Dimension steps = symbol("time");
  const auto net =
      described(model("net", inputs(tensor("x", batch, steps, 4)), from("x") | relu | output("y")));
  CHECK(lines(net, "input") == Lines{"input %x : f32[batch, time, 4]"});
  CHECK(::time(nullptr) != 0);
}

TEST_CASE("weights and biases of linear are drawn from plus or minus the root of one over inputs") {
  // k = 3, 48, 128, 1000: neither sqrt(1/k) nor its decimal digits come out exact.
  for (const long long inputs_of : {3, 48, 128, 1000}) {
    CAPTURE(inputs_of);
    const auto net = described(model("net", inputs(tensor("x", batch, inputs_of)),
                                     from("x") | linear("fc", 5) | output("y")));
    int drawn_parameters = 0;
    for (const auto& node : net.nodes) {
      const auto* is = std::get_if<halftone::description::ParameterAttributes>(&node.attributes);
      if (is == nullptr) continue;
      ++drawn_parameters;
      CHECK(is->initializer.kind == halftone::description::Initializer::Kind::uniform);
      CHECK(is->initializer.first == -is->initializer.second);
      // b is the double nearest to the root: b*b*k is 1 within the rounding of b.
      const long double bound = is->initializer.second;
      CHECK(std::abs(bound * bound * inputs_of - 1.0L) <= 0x1p-51L);
    }
    CHECK(drawn_parameters == 2);
  }
}

TEST_CASE("the optimizers start from torch's settings") {
  constexpr auto net = model("net", inputs(tensor("x", batch, 4)),
                             from("x") | linear("fc", 4) | output("y"), losses(mse("e", "y", "x")));
  constexpr auto rules =
      precision(everywhere(store(f32), compute(f32), accumulate(f32), master(f32)));
  CHECK(lines(describe(net, rules, sgd()), "optimizer") ==
        Lines{"optimizer sgd learning_rate 0.01 momentum 0 weight_decay 0"});
  CHECK(lines(describe(net, rules, adamw()), "optimizer") ==
        Lines{"optimizer adamw learning_rate 0.001 beta1 0.9 beta2 0.999 epsilon 1e-08 "
              "weight_decay 0.01"});
  CHECK(lines(describe(net, rules, adam()), "optimizer") ==
        Lines{"optimizer adam learning_rate 0.001 beta1 0.9 beta2 0.999 epsilon 1e-08 "
              "weight_decay 0"});
  CHECK(lines(describe(net, rules,
                       adam(lr(0.5), betas(0.25, 0.75), epsilon(0.125), weight_decay(2.0))),
              "optimizer") ==
        Lines{"optimizer adam learning_rate 0.5 beta1 0.25 beta2 0.75 epsilon 0.125 "
              "weight_decay 2"});
  const auto text = [&](const Optimizer& optimizer) {
    return lines(describe(net, rules, optimizer), "optimizer");
  };
  CHECK(text(sgd(lr(0.5), momentum(0.25), dampening(0.125))) ==
        Lines{"optimizer sgd learning_rate 0.5 momentum 0.25 dampening 0.125 weight_decay 0"});
  CHECK(text(adam(amsgrad)) == Lines{"optimizer adam learning_rate 0.001 beta1 0.9 beta2 0.999 "
                                     "epsilon 1e-08 weight_decay 0 amsgrad"});
  CHECK(text(adamw(amsgrad)) == Lines{"optimizer adamw learning_rate 0.001 beta1 0.9 beta2 0.999 "
                                      "epsilon 1e-08 weight_decay 0.01 amsgrad"});
  CHECK(text(nadam()) == Lines{"optimizer nadam learning_rate 0.002 beta1 0.9 beta2 0.999 epsilon "
                               "1e-08 weight_decay 0 momentum_decay 0.004"});
  CHECK(text(nadam(lr(0.5), betas(0.25, 0.75), epsilon(0.125), weight_decay(2.0),
                   momentum_decay(0.0625), decoupled_weight_decay)) ==
        Lines{"optimizer nadam learning_rate 0.5 beta1 0.25 beta2 0.75 epsilon 0.125 weight_decay "
              "2 momentum_decay 0.0625 decoupled_weight_decay"});
  CHECK(text(adagrad()) == Lines{"optimizer adagrad learning_rate 0.01 epsilon 1e-10 weight_decay "
                                 "0 initial_accumulator_value 0"});
  CHECK(
      text(adagrad(lr(0.5), epsilon(0.125), weight_decay(2.0), initial_accumulator_value(0.25))) ==
      Lines{"optimizer adagrad learning_rate 0.5 epsilon 0.125 weight_decay 2 "
            "initial_accumulator_value 0.25"});
  CHECK(text(rmsprop()) == Lines{"optimizer rmsprop learning_rate 0.01 alpha 0.99 epsilon 1e-08 "
                                 "momentum 0 weight_decay 0"});
  CHECK(text(rmsprop(lr(0.5), alpha(0.25), epsilon(0.125), momentum(0.75), centered,
                     weight_decay(2.0))) ==
        Lines{"optimizer rmsprop learning_rate 0.5 alpha 0.25 epsilon 0.125 momentum 0.75 centered "
              "weight_decay 2"});
  const auto clipped = describe(net, rules, lion(), clip_value(0.5), clip(2.0));
  CHECK(lines(clipped, "clip") == Lines{"clip 2", "clip_value 0.5"});
  CHECK(text(lion()) ==
        Lines{"optimizer lion learning_rate 1e-04 beta1 0.9 beta2 0.99 weight_decay 0"});
  CHECK(text(lion(lr(0.5), betas(0.25, 0.75), weight_decay(2.0))) ==
        Lines{"optimizer lion learning_rate 0.5 beta1 0.25 beta2 0.75 weight_decay 2"});
}

TEST_CASE("lamb's numbers begin as FusedLAMB's, every parameter's trust without a limit") {
  constexpr auto net = model("net", inputs(tensor("x", batch, 4)),
                             from("x") | linear("fc", 4) | output("y"), losses(mse("e", "y", "x")));
  constexpr auto rules = precision(everywhere(store(f32), compute(f32)));
  const auto text = [&](const Optimizer& optimizer) {
    return lines(describe(net, rules, optimizer), "optimizer");
  };
  CHECK(text(lamb()) == Lines{"optimizer lamb learning_rate 0.001 beta1 0.9 beta2 0.999 epsilon "
                              "1e-06 weight_decay 0.01"});
  CHECK(text(lamb(lr(0.5), betas(0.25, 0.75), epsilon(0.125), weight_decay(2.0), max_trust(10.0),
                  decayed_only)) ==
        Lines{"optimizer lamb learning_rate 0.5 beta1 0.25 beta2 0.75 epsilon 0.125 weight_decay 2 "
              "max_trust 10 decayed_only"});
}

TEST_CASE("adafactor's numbers begin as torch.optim.Adafactor's, its decay without a sign") {
  constexpr auto net = model("net", inputs(tensor("x", batch, 4)),
                             from("x") | linear("fc", 4) | output("y"), losses(mse("e", "y", "x")));
  constexpr auto rules = precision(everywhere(store(f32), compute(f32)));
  const auto text = [&](const Optimizer& optimizer) {
    return lines(describe(net, rules, optimizer), "optimizer");
  };
  CHECK(text(adafactor()) ==
        Lines{"optimizer adafactor learning_rate 0.01 decay_rate 0.8 epsilon1 "
              "1.1920928955078125e-07 epsilon2 0.001 clip_threshold 1 weight_decay 0"});
  CHECK(text(adafactor(lr(0.5), decay_rate(0.75), epsilons(0.25, 0.125), clip_threshold(2.0),
                       weight_decay(1.0))) ==
        Lines{"optimizer adafactor learning_rate 0.5 decay_rate 0.75 epsilon1 0.25 epsilon2 0.125 "
              "clip_threshold 2 weight_decay 1"});
}

TEST_CASE("a clip of a group has the trained parameters that no later group clips") {
  constexpr auto net = model(
      "net", inputs(tensor("x", batch, 4)),
      from("x") | linear("a", 4) | linear("b", 4, on_bias(frozen)) | linear("c", 4) | output("y"),
      losses(mse("e", "y", "x")));
  constexpr auto rules = precision(everywhere(store(f32), compute(f32)));
  const auto clips = [&](const auto&... groups) {
    return lines(describe(net, rules, sgd(), groups...), "clip");
  };
  CHECK(clips(group("**", clip(2.0)), group("**.bias", no_decay),
              group("{a,c}.*", learning_rate_scale(0.5), clip(0.25)), group("c.bias", clip(1.0)),
              clip_value(3.0)) == Lines{"clip_group 2 %b.weight",
                                        "clip_group 0.25 %a.weight %a.bias %c.weight",
                                        "clip_group 1 %c.bias", "clip_value 3"});
  CHECK(clips(group("a.*", clip(2.0))) == Lines{"clip_group 2 %a.weight %a.bias"});
  const auto refused = [&](const auto&... groups) -> std::string {
    try {
      describe(net, rules, sgd(), groups...);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(refused(group("b.bias", clip(1.0))) ==
        "the group 'b.bias' has a clip but no parameter that is trained and that no later group "
        "clips: leave the clip out");
  CHECK(refused(group("a.bias", clip(1.0)), group("a.*", clip(2.0))) ==
        "the group 'a.bias' has a clip but no parameter that is trained and that no later group "
        "clips: leave the clip out");
}

TEST_CASE("an optimizer of one's own has an expression of the parameter and of each state") {
  constexpr auto net = model("net", inputs(tensor("x", batch, 4)),
                             from("x") | linear("fc", 4) | output("y"), losses(mse("e", "y", "x")));
  constexpr auto rules = precision(everywhere(store(f32), compute(f32)));
  const auto text = [&](const Optimizer& optimizer) {
    return lines(describe(net, rules, optimizer), "optimizer");
  };
  CHECK(
      text(own_optimizer(
          [](auto of) { return updated(of.parameter - of.learning_rate * of.gradient); })) ==
      Lines{"optimizer custom learning_rate 0.001 weight_decay 0 parameter { %0 = operand 0; %1 = "
            "operand 1; %2 = operand 2; %3 = multiply %2 %1; %4 = subtract %0 %3 }"});
  CHECK(text(own_optimizer(
            [](auto of, auto old, auto count) {
              return updated(of.parameter - of.weight_decay * old, of.gradient, count + of.step);
            },
            own_states("old", "count"), lr(0.5), weight_decay(0.25))) ==
        Lines{"optimizer custom learning_rate 0.5 weight_decay 0.25 parameter { %0 = operand 0; %1 "
              "= operand 3; %2 = operand 5; %3 = multiply %1 %2; %4 = subtract %0 %3 } old { %0 = "
              "operand 1 } count { %0 = operand 4; %1 = operand 6; %2 = add %1 %0 }"});
}

TEST_CASE("initializers are torch's, of the sizes of their weight") {
  constexpr auto net =
      model("net", inputs(tensor("x", batch, 9, 9, 12)),
            from("x") | conv2d("conv", 8, kernel(3, 2), init_kaiming_normal(gain_relu, fan_out)) |
                reshape("flat", batch, 7 * 8 * 8) |
                linear("a", 50, init_kaiming_uniform(), on_bias(init_constant(0))) |
                linear("b", 30, init_xavier_normal(gain_tanh), no_bias) |
                linear("c", 20, init_xavier_uniform(), no_bias) |
                linear("d", 10, init_orthogonal(gain_leaky_relu(1)), no_bias) |
                linear("e", 5, init_truncated_normal(0, 0.02), no_bias) |
                linear("f", 4, init_truncated_normal(1, 2, -3, 4), no_bias) | output("y"));
  // torch.nn.init: sqrt(2 / (8 * 6)), sqrt(6 / 448), 5 / 3 * sqrt(2 / 80), sqrt(6 / 50).
  const auto has = [&](const char* name, const char* text, double first, double second) {
    CAPTURE(std::string(name));
    for (const auto& node : described(net).nodes) {
      if (node.name != name) continue;
      const auto& of = std::get<halftone::description::ParameterAttributes>(node.attributes);
      CHECK(halftone::description::print(described(net)).find("%" + node.name + " : ") !=
            std::string::npos);
      CHECK(of.initializer.first == doctest::Approx(first).epsilon(1e-12));
      CHECK(of.initializer.second == doctest::Approx(second).epsilon(1e-12));
      CHECK(lines(described(net), ("parameter %" + node.name + " ").c_str())[0].find(text) !=
            std::string::npos);
      return;
    }
    FAIL("no such parameter");
  };
  has("conv.weight", "init normal(0, ", 0, std::sqrt(2.0 / 48));
  has("a.weight", "init uniform(", -std::sqrt(6.0 / 448), std::sqrt(6.0 / 448));
  has("b.weight", "init normal(0, ", 0, 5.0 / 3 * std::sqrt(2.0 / 80));
  has("c.weight", "init uniform(", -std::sqrt(6.0 / 50), std::sqrt(6.0 / 50));
  has("d.weight", "init orthogonal(1)", 1, 0);
  has("e.weight", "init truncated_normal(0, 0.02, -2, 2)", 0, 0.02);
  has("f.weight", "init truncated_normal(1, 2, -3, 4)", 1, 2);
  CHECK_THROWS_WITH_AS(
      describe(model("net", inputs(tensor("x", batch, 4)),
                     from("x") | layer_norm("norm", init_orthogonal()) | output("y")),
               precision(everywhere(store(f32)))),
      "the parameter 'norm.weight' has one dimension, and its initializer wants two or more: give "
      "it init_constant(), init_uniform() or init_normal()",
      std::invalid_argument);
}

TEST_CASE("a layer that shares goes without what the other is without, wherever that stands") {
  constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 8)),
                             from("x") | linear("third", 8, shared("second")) |
                                 linear("second", 8, shared("first")) |
                                 linear("first", 8, no_bias, on_weight(no_decay)) |
                                 linear("tied_too", 8, shared("fourth")) |
                                 linear("fourth", 8, tied("first")) | output("z"),
                             losses(mse("e", "z", "y")));
  constexpr auto rules =
      precision(everywhere(store(f32), compute(f32), accumulate(f32), master(f32)));
  const auto description = describe(net, rules, sgd());
  CHECK(lines(description, "parameter %first") ==
        Lines{"parameter %first.weight : [8, 8] init uniform(-0.3535533905932738, "
              "0.3535533905932738) no_decay"});
  CHECK(lines(description, "parameter").size() == 2);
  for (const auto& [name, operands] :
       {std::pair<std::string, std::string>{"third", "x: %x, weight: %first.weight"},
        {"second", "x: %third, weight: %first.weight"},
        {"first", "x: %second, weight: %first.weight"},
        {"tied_too", "x: %first, weight: %first.weight, bias: %fourth.bias"},
        {"fourth", "x: %tied_too, weight: %first.weight, bias: %fourth.bias"}}) {
    CHECK(lines(description, "%" + name) ==
          Lines{"%" + name + " = linear(" + operands + ") : [batch, 8]"});
  }
}

TEST_CASE("describe throws the sentence of a model that was never checked") {
  const auto net = model("net", inputs(tensor("x", batch, 4)), from("y") | relu | output("z"));
  CHECK_THROWS_WITH_AS(described(net),
                       "layer 'relu' reads 'y', but no input, layer, as() or output that it can "
                       "see has that name: add it or correct the name (known here: 'x' and 'z')",
                       std::invalid_argument);
}

}  // namespace
