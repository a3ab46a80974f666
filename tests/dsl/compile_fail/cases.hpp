// SPDX-License-Identifier: Apache-2.0
// What the cases share. A case is `// EXPECT name: sentence` and all up to the next one: a model
// that is sound, and with BROKEN has a fault of which the compiler says the sentence (see check).
#pragma once

#include <halftone/dsl.hpp>

using namespace halftone::dsl;

#ifdef BROKEN
inline constexpr bool is_broken = true;
#else
inline constexpr bool is_broken = false;
#endif

/// The part of a model that is at fault, or the one that stands for it in the sound model.
consteval auto either(auto broken, auto sound) {
  if constexpr (is_broken)
    return broken;
  else
    return sound;
}

/// Likewise where a part is no value.
#ifdef BROKEN
#define MISSPELT(broken, sound) broken
#else
#define MISSPELT(broken, sound) sound
#endif

constexpr auto rules =
    precision(everywhere(store(f32), compute(f32), accumulate(f32), master(f32)));

/// HALFTONE_MODEL for any number of models, in namespaces too.
#define MODEL(model, ...) \
  HALFTONE_CHECKED(HALFTONE_KEEP, HALFTONE_NEW(case_), HALFTONE_NEW(given_), model, __VA_ARGS__)

/// Of `net`, which the file has: two forms of one rule.
#define RULE(...)                                                                          \
  HALFTONE_CHECKED(HALFTONE_KEEP, HALFTONE_NEW(case_), HALFTONE_NEW(given_), net, adamw(), \
                   precision(either(__VA_ARGS__)))
