// EXPECT-ERROR: the rule 'where layer "first" pass weight_gradient : result bf16' combines parts that no operation and no value
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("first", 8, frozen) | linear("fc", 4) | output("guess"),
          losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(layer("first") & weight_gradient_pass)(result(bf16)),
                                where(layer("fc") & weight_gradient_pass)(result(bf16)))))
