// SPDX-License-Identifier: Apache-2.0
// Loss scales as fields of rules.
#include <cases.hpp>

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));

// EXPECT backoff: has a loss scale whose backoff is not between 0 and 1 in f32; write 0.5 (P43)
RULE(everywhere(dynamic_loss_scale(backoff(1))), everywhere(dynamic_loss_scale(backoff(0.25))))

// EXPECT ceiling: has a loss scale with a ceiling that is not positive and finite in f32; write
// such a number (P43)
RULE(everywhere(dynamic_loss_scale(ceiling_at(1e39))),
     everywhere(dynamic_loss_scale(ceiling_at(1e38))))

// EXPECT divisor: has a loss scale with a floor of which 1/scale is not finite in f32; write a
// number above 3e-39 (P43)
RULE(everywhere(dynamic_loss_scale(floor_at(1e-45))),
     everywhere(dynamic_loss_scale(floor_at(3e-39))))

// EXPECT fixed: the rule 'everywhere : loss_scale fixed' has a loss scale with an initial value
// that is not positive and finite in f32;
RULE(everywhere(fixed_loss_scale(1e-46)), everywhere(fixed_loss_scale(3e-39)))

// EXPECT fixed_nan: has a loss scale with an initial value that is not positive and finite in f32;
// write such a number (P43)
RULE(everywhere(fixed_loss_scale(__builtin_nan(""))), everywhere(fixed_loss_scale(128)))

// EXPECT floor: has a loss scale with a floor that is not positive and finite in f32; write such a
// number (P43)
RULE(everywhere(dynamic_loss_scale(floor_at(-1))), everywhere(dynamic_loss_scale(floor_at(0.5))))

// EXPECT growth: has a loss scale whose growth is not finite and above 1 in f32; write 2 (P43)
RULE(everywhere(dynamic_loss_scale(growth(1))), everywhere(dynamic_loss_scale(growth(1.5))))

// EXPECT hysteresis: has a loss scale with a hysteresis outside of 1 to 16777216; write a number in
// there (P43)
RULE(everywhere(dynamic_loss_scale(hysteresis(0))), everywhere(dynamic_loss_scale(hysteresis(1))))

// EXPECT initial: has a loss scale with an initial value that is not positive and finite in f32;
// write such a number (P43)
RULE(everywhere(dynamic_loss_scale(initial(0))), everywhere(dynamic_loss_scale(initial(1))))

// EXPECT interval: has a loss scale with an interval outside of 1 to 16777216; write a number in
// there (P43)
RULE(everywhere(dynamic_loss_scale(interval(16777217))),
     everywhere(dynamic_loss_scale(interval(16777216))))

// EXPECT order: has a loss scale that starts outside of its bounds; make floor <= initial <=
// ceiling (P43)
RULE(everywhere(dynamic_loss_scale(initial(1024), ceiling_at(512))),
     everywhere(dynamic_loss_scale(initial(1024), ceiling_at(1024))))

// EXPECT patience: has a loss scale with a patience outside of 1 to 16777216; write a number in
// there (P43)
RULE(everywhere(dynamic_loss_scale(patience(0))), everywhere(dynamic_loss_scale(patience(1))))

// EXPECT setting_twice: the rule 'everywhere : loss_scale dynamic' gives its loss scale two
// settings initial; keep one of them (P43)
RULE(everywhere(dynamic_loss_scale(initial(65536), initial(2))),
     everywhere(dynamic_loss_scale(initial(2), patience(3))))

// EXPECT stranger: gives its loss scale what is no setting of one; write initial, growth, backoff,
// interval, floor_at, ceiling_at, hysteresis or patience (P43)
RULE(everywhere(dynamic_loss_scale(lr(2))), everywhere(dynamic_loss_scale(growth(2))))
