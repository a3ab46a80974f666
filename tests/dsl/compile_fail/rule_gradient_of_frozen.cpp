// EXPECT-ERROR: the rule 'where layer "backbone/**" role gradient : store bf16' combines parts that no operation and no value
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") | repeat<3>("backbone", linear("fc", 8, frozen) | relu("act")) | linear("first", 8) |
        repeat<2>("h", linear("fc", 8)) | linear("last", 4) | output("guess"),
    losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(layer("backbone/**") & gradients)(store(bf16)),
                                where(layer("{first,h/*/fc,last}") & gradients)(store(bf16)))))
