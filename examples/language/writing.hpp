// SPDX-License-Identifier: Apache-2.0
// Text behind a text, token by token.
#pragma once

#include <cstdint>
#include <functional>
#include <halftone/generator.hpp>
#include <halftone/sampling.hpp>
#include <halftone/tokenizer.hpp>
#include <vector>

/// Adds `count` tokens to a text of at least one, and gives each to `take`. The generator is for
/// one sequence of at most `window` tokens, as many as the model was trained to see together: where
/// they are full, it goes on from the later half of them.
void continue_text(std::vector<halftone::Token>& text, std::int64_t count,
                   halftone::Generator& generator, std::int64_t window,
                   const halftone::Sampling& sampling,
                   const std::function<void(halftone::Token)>& take);
