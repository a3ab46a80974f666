// SPDX-License-Identifier: Apache-2.0
// What the cases share. The model of each is sound unless BROKEN is defined.
#pragma once

#include <halftone/dsl.hpp>

#ifdef BROKEN
inline constexpr bool is_broken = true;
#else
inline constexpr bool is_broken = false;
#endif

/// The part of a model that is at fault, or the one that stands for it in the sound model.
consteval auto either(auto broken, auto intact) {
  if constexpr (is_broken)
    return broken;
  else
    return intact;
}

constexpr auto rules = halftone::dsl::precision(halftone::dsl::everywhere(
    halftone::dsl::store(halftone::dsl::f32), halftone::dsl::compute(halftone::dsl::f32),
    halftone::dsl::accumulate(halftone::dsl::f32), halftone::dsl::master(halftone::dsl::f32)));
