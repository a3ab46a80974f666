// SPDX-License-Identifier: Apache-2.0
// The model of docs/precision-guide.md, for several sets of rules.
#pragma once

#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto digits =
    model("digits", inputs(tensor("pixels", batch, 64), labels("digit", batch)),
          from("pixels") | linear("fc1", 128) | gelu("act1") | layer_norm("norm") |
              linear("fc2", 64) | gelu("act2") | linear("head", 10) | output("logits"),
          losses(cross_entropy("error", "logits", "digit")));
