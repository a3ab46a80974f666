// EXPECT-ERROR: the rule 'everywhere : store f32 loss_scale fixed' states loss_scale, but this model has no loss to scale; remove it (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("fc", 4) | gelu("act") | output("z"));
HALFTONE_MODEL(net, precision(either(everywhere(store(f32), fixed_loss_scale(128)),
                                     everywhere(store(f32)))))
