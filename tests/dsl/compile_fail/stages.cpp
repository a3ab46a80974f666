// SPDX-License-Identifier: Apache-2.0
// Stages of a run, and rules that hold in some of them (P66).
#include <cases.hpp>

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
constexpr auto in_predict =
    precision(everywhere(store(f32), compute(f32)), where(during("predict"))(compute(bf16)));

// EXPECT bad_stage: stages(...) has a name 'full on' that is not usable: write letters, digits, '_'
// and '-' (P66)
MODEL(net, rules, adamw(), stages("warmup", either("full on", "full_on")))

// EXPECT exception_of_no_stage: the rule 'everywhere except during "ful" : compute bf16' speaks of
// the stage "ful", which the model does not have (did you mean 'full'?); correct it or add it to
// stages(...) (P66)
MODEL(net, precision(everywhere.except(during(either("ful", "full")))(compute(bf16))), adamw(),
      stages("warmup", "full"))

// EXPECT five_stages: joins more than 4 stages; write several rules (P45)
MODEL(net,
      precision(where(during("a") | during("b") | during("c") |
                      either(during("d") | during("e"), during("d")))(compute(bf16))),
      adamw(), stages("a", "b", "c", "d", "e"))

// EXPECT many_stages: stages(...) has no name or more than 8: write from 1 to so many, such as
// stages("warmup", "full") (P66)
MODEL(net, rules, adamw(),
      either(stages("a", "b", "c", "d", "e", "f", "g", "h", "i"),
             stages("a", "b", "c", "d", "e", "f", "g", "h")))

// EXPECT no_stages: the rule 'where during "predict" : compute bf16' speaks of the stage "predict",
// which the model does not have; give HALFTONE_MODEL stages(...) with its name (P66)
MODEL(net, in_predict, adamw(), either(clip(1.0), stages("predict")))

// EXPECT nothing_declared: stages(...) has no name or more than 8
MODEL(net, rules, adamw(), either(stages(), stages("a")))

// EXPECT several_lists: HALFTONE_MODEL is given several lists of stages: keep one
MODEL(net, in_predict, adamw(), stages("predict"), either(stages("full"), clip(1.0)))

// EXPECT stage_twice: stages(...) has 'full' twice: keep one (P66)
MODEL(net, rules, adamw(), stages("full", either("full", "correct")))

// EXPECT two_stages: joins two stages with &; join them with | or write several rules (P41)
MODEL(net,
      precision(where(either(during("a") & during("b"), during("a") | during("b")))(compute(bf16))),
      adamw(), stages("a", "b"))

// EXPECT unknown_stage: the rule 'where layer "fc" during "predct" : compute bf16' speaks of the
// stage "predct", which the model does not have (did you mean 'predict'?); correct it or add it to
// stages(...) (P66)
MODEL(net,
      precision(where(layer("fc") & during(either("predct", "predict")))(compute(bf16))), adamw(),
      stages("warmup", "predict"))
