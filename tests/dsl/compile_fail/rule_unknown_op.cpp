// EXPECT-ERROR: names the op "conv2d", which no layer or loss is; write linear, layer_norm, relu, gelu, silu, add, concat, pointwise, cross_entropy, mse or pointwise_loss (P40)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(op("conv2d"))(store(bf16)),
                                where(op("linear"))(store(bf16)))))
