// SPDX-License-Identifier: Apache-2.0
// Losses, optimizers and the settings of HALFTONE_MODEL.
#include <cases.hpp>

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));

// EXPECT all_frozen: the model has losses but no parameter to train: unfreeze one, or leave losses
// and optimizer out
namespace all_frozen {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4, either(frozen, on_bias(frozen))) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace all_frozen

// EXPECT bad_average: the average keeps a share outside [0, 1) in f32: write average(0.999)
MODEL(net, rules, adamw(), average(either(0.99999999, 0.999)))

// EXPECT bad_betas: adamw has a beta outside [0, 1) in f32: write betas(0.9, 0.999)
MODEL(net, rules, adamw(betas(0.9, either(0.99999999, 0.999))))

// EXPECT bad_clip: the clip norm is not positive and finite in f32: write clip(1.0) or leave clip
// out
MODEL(net, rules, adamw(), clip(either(1e-60, 1e-40)))

// EXPECT bad_clip_value: the clip value is not positive and finite in f32: write clip_value(1.0) or
// leave clip_value out
MODEL(net, rules, adamw(), clip(1.0), clip_value(either(0.0, 0.5)))

// EXPECT clip_values: HALFTONE_MODEL is given several clip_values: keep one
MODEL(net, rules, adamw(), clip_value(0.5), either(clip_value(0.5), clip(1.0)))

// EXPECT bad_learning_rate: adamw has a learning rate that is negative or not finite in f32: write
// lr(1e-3)
MODEL(net, rules, adamw(lr(either(1e39, 1e38))))

// EXPECT bad_loss_weight: loss 'loss' has a weight that is not finite in f32: write weight(1.0)
namespace bad_loss_weight {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y", weight(either(1e39, 2.0)))));
MODEL(net, rules, adamw())
}  // namespace bad_loss_weight

// EXPECT bad_momentum: sgd has a momentum outside [0, 1) in f32: write momentum(0.9)
MODEL(net, rules, sgd(momentum(either(0.99999999, 0.9))))

// EXPECT bad_optimizer_epsilon: adamw has an epsilon that is negative or not finite in f32: write
// epsilon(1e-8)
MODEL(net, rules, adamw(epsilon(either(-1e-8, 1e-8))))

// EXPECT bad_adam_epsilon: adam has an epsilon that is negative or not finite in f32: write
// epsilon(1e-8)
MODEL(net, rules, adam(epsilon(either(-1e-8, 1e-8))))

// EXPECT bad_weight_decay: sgd has a weight decay that is negative or not finite in f32: write
// weight_decay(0.01)
MODEL(net, rules, sgd(weight_decay(either(-0.1, 0.1))))

// EXPECT bad_alpha: rmsprop has an alpha outside [0, 1) in f32: write alpha(0.99)
MODEL(net, rules, rmsprop(alpha(either(1.0, 0.99))))

// EXPECT bad_dampening: sgd has a dampening outside [0, 1) in f32: write dampening(0.1)
MODEL(net, rules, sgd(momentum(0.9), dampening(either(1.0, 0.1))))

// EXPECT bad_initial_accumulator: adagrad has an initial_accumulator_value that is negative or not
// finite in f32: write initial_accumulator_value(0.1)
MODEL(net, rules, adagrad(initial_accumulator_value(either(-0.1, 0.1))))

// EXPECT bad_momentum_decay: nadam has a momentum_decay that is negative or not finite in f32:
// write momentum_decay(0.004)
MODEL(net, rules, nadam(momentum_decay(either(-0.004, 0.004))))

// EXPECT dampening_alone: sgd has dampening without a momentum: add momentum(0.9) or remove
// dampening
MODEL(net, rules, sgd(dampening(0.1), momentum(either(0.0, 0.9))))

// EXPECT nesterov_dampened: sgd has nesterov and dampening: remove one of them
MODEL(net, rules, sgd(momentum(0.9), nesterov, either(dampening(0.1), lr(0.1))))

// EXPECT nesterov_alone: sgd has nesterov without a momentum: add momentum(0.9) or remove nesterov
MODEL(net, rules, sgd(nesterov, momentum(either(1e-60, 0.9))))

// EXPECT no_loss: the model has an optimizer but no loss: add losses(...), or leave the optimizer
// out
namespace no_loss {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | linear("fc", 4) | output("z"));
#ifdef BROKEN
MODEL(net, rules, adamw())
#else
MODEL(net, rules)
#endif
}  // namespace no_loss

// EXPECT no_optimizer: the model has losses but no optimizer: add one, such as adamw(...), to
// HALFTONE_MODEL
#ifdef BROKEN
MODEL(net, rules)
#else
MODEL(net, rules, sgd())
#endif

// EXPECT no_precision: HALFTONE_MODEL is given no precision rules: add
// precision(everywhere(store(f32), compute(f32)))
MODEL(net, adamw(), either(clip(1.0), rules))

// EXPECT no_rules: precision is given no rule: write everywhere(store(f32), compute(f32))
namespace no_rules {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
MODEL(net, adamw(), either(precision(), precision(everywhere(store(f32)))))
}  // namespace no_rules

// EXPECT repeated_option: adamw is given lr twice: keep one
MODEL(net, rules, adamw(lr(1e-3), either(lr(1e-2), weight_decay(0.1))))

// EXPECT repeated_setting: HALFTONE_MODEL is given several optimizers: keep one
MODEL(net, rules, adamw(), either(sgd(), clip(1.0)))

// EXPECT schedule_of_two: the schedule gives its lambda 1 values but the lambda takes 2: make the
// numbers equal
namespace schedule_of_two {
constexpr auto falling = either([](auto step, auto all) { return step / all; },
                                [](auto step) { return 1.0 / (step + 1.0); });
MODEL(net, rules, adamw(), schedule(falling))
}  // namespace schedule_of_two

// EXPECT schedule_that_branches: the schedule has a lambda that branches on a comparison: write
// select(x > 0, a, b), once for each comparison, in place of if, ?:, while, && and ||
namespace schedule_that_branches {
constexpr auto halved = either([](auto step) { return step < 10.0 ? 1.0 : 0.5; },
                               [](auto step) { return select(step < 10.0, 1.0, 0.5); });
MODEL(net, rules, adamw(), schedule(halved))
}  // namespace schedule_that_branches

// EXPECT schedules: HALFTONE_MODEL is given several schedules: keep one
MODEL(net, rules, adamw(), schedule([](auto step) { return cosine(step, 100); }),
      either(schedule([](auto step) { return linear_warmup(step, 10); }), clip(1.0)))

// EXPECT unknown_option: adamw is given what is no option of it: it takes lr, weight_decay, betas,
// epsilon and amsgrad
MODEL(net, rules, adamw(lr(1e-3), either(momentum(0.9), betas(0.9, 0.99))))

// EXPECT unknown_option_of_lion: lion is given what is no option of it: it takes lr, weight_decay
// and betas
MODEL(net, rules, lion(either(epsilon(1e-8), betas(0.9, 0.99))))

// EXPECT clip_of_all_and_of_a_group: the model has clip() for all parameters and a group with a clip
// of its own: write group("**", clip(1.0)) in place of clip(1.0), in front of the other groups
MODEL(net, rules, adamw(), clip(1.0), group("**", either(clip(0.1), no_decay)))

// EXPECT clip_of_a_group_of_zero: the clip norm is not positive and finite in f32: write clip(1.0)
// or leave clip out
MODEL(net, rules, adamw(), group("**", clip(either(0.0, 1.0))))

// EXPECT epsilon_of_lamb: lamb has an epsilon that is not positive and finite in f32: write
// epsilon(1e-6)
MODEL(net, rules, lamb(epsilon(either(0.0, 1e-6))))

// EXPECT trust_of_lamb: lamb has a max_trust that is not positive and finite in f32: write
// max_trust(10.0) or leave max_trust out
MODEL(net, rules, lamb(max_trust(either(0.0, 10.0))))

// EXPECT unknown_option_of_lamb: lamb is given what is no option of it: it takes lr, weight_decay,
// betas, epsilon, max_trust and decayed_only
MODEL(net, rules, lamb(either(amsgrad, decayed_only)))

// EXPECT epsilons_of_adafactor: adafactor has epsilons of which the first, whose square it divides
// by, is not positive and finite in f32, or the second negative: write epsilons(1e-15, 1e-3)
MODEL(net, rules, adafactor(epsilons(either(1e-30, 1e-15), 1e-3)))

// EXPECT threshold_of_adafactor: adafactor has a clip_threshold that is not positive and finite in
// f32: write clip_threshold(1.0)
MODEL(net, rules, adafactor(clip_threshold(either(0.0, 1.0))))

// EXPECT decay_of_adafactor: adafactor has a decay_rate that is negative or not finite in f32:
// write decay_rate(0.8)
MODEL(net, rules, adafactor(decay_rate(either(-0.8, 0.8))))

// EXPECT no_option_at_all: rmsprop is given what is no option of it: it takes lr, weight_decay,
// momentum, epsilon, alpha and centered
MODEL(net, rules, rmsprop(either(0.9, alpha(0.9))))

// EXPECT unknown_setting: HALFTONE_MODEL is given what is no setting: it takes a model,
// precision(...), an optimizer such as adamw(...), clip(...), clip_value(...), schedule(...),
// average(...), stages(...) and group(...)
MODEL(net, rules, adamw(), either(lr(0.1), clip(0.1)))

// EXPECT own_optimizer_of_one_state: the optimizer has a lambda that does not compile with the
// element and its 2 states: write [](auto of, ...) { return updated(of.parameter - of.learning_rate
// * of.gradient, ...); }, with a value for each state
namespace own_optimizer_of_one_state {
constexpr auto step =
    either([](auto of, auto m) { return updated(of.parameter - of.gradient, m, m); },
           [](auto of, auto m, auto v) { return updated(of.parameter - of.gradient, m, v); });
MODEL(net, rules, own_optimizer(step, own_states("m", "v")))
}  // namespace own_optimizer_of_one_state

// EXPECT own_optimizer_of_a_number: the optimizer has a lambda that does not return the element's
// value and those of its 1 states: return updated(parameter, ...), with a number for each state
namespace own_optimizer_of_a_number {
constexpr auto step = either([](auto of, auto m) { return of.parameter - m; },
                             [](auto of, auto m) { return updated(of.parameter - m, m); });
MODEL(net, rules, own_optimizer(step, own_states("m")))
}  // namespace own_optimizer_of_a_number

// EXPECT own_state_twice: the optimizer has a state 'm', which is no identifier, a name that it has
// already or 'parameter': give each of at most 8 states a name of letters, digits and '_'
MODEL(net, rules,
      own_optimizer([](auto of, auto m, auto v) { return updated(of.parameter - v, m, v); },
                    MISSPELT(own_states("m", "m"), own_states("m", "v"))))

// EXPECT own_optimizer_of_betas: own_optimizer is given what is no option of it: it takes lr and
// weight_decay
MODEL(net, rules,
      own_optimizer([](auto of) { return updated(of.parameter - of.learning_rate * of.gradient); },
                    either(betas(0.9, 0.99), lr(0.1))))

// EXPECT by_the_macro_itself: HALFTONE_MODEL is given several precisions: keep one
HALFTONE_MODEL(net, rules, adamw(), either(rules, clip(1.0)))
