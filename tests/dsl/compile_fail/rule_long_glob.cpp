// EXPECT-ERROR: names a layer by more than 126 characters, the most that are matched; write * in place of some of them (P40)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

#define LONG_NAME                                                                                  \
  "a_name_of_132_characters_a_name_of_132_characters_a_name_of_132_characters_a_name_of_132_chara" \
  "cters_a_name_of_132_characters_a_name_"
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear(LONG_NAME, 4) | output("guess"));
HALFTONE_MODEL(net, precision(either(where(layer(LONG_NAME))(store(bf16)),
                                     where(layer("a_name_of_132*"))(store(bf16)))))
