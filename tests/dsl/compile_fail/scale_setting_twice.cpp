// EXPECT-ERROR: the rule 'everywhere : loss_scale dynamic' gives its loss scale two settings initial; keep one of them (P43)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(everywhere(dynamic_loss_scale(initial(65536), initial(2))),
                                everywhere(dynamic_loss_scale(initial(2), patience(3))))))
