// EXPECT-ERROR: the rule 'where layer "fc" : loss_scale dynamic' states loss_scale and selects by more than target; the model has one loss scale, so write a rule for it (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(layer("fc"))(dynamic_loss_scale()),
                                where(on(before(sm_80)))(dynamic_loss_scale()))))
