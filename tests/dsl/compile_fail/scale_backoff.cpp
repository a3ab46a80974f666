// EXPECT-ERROR: has a loss scale whose backoff is not between 0 and 1 in f32; write 0.5 (P43)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(everywhere(dynamic_loss_scale(backoff(1))),
                                everywhere(dynamic_loss_scale(backoff(0.25))))))
