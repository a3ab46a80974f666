// SPDX-License-Identifier: Apache-2.0
// The globs by which rules name layers (P3): `*` is any characters but `/`, `**` any characters,
// `?` one character but `/`, `{a,b}` one of the alternatives, which hold no further braces. All
// else stands for itself.
#pragma once

#include <string_view>

#include "halftone/description/glob_states.hpp"

namespace halftone::description {

/// Whether `glob` matches the whole of `name`. A brace without its end stands for itself; a glob of
/// more than kLongestGlob bytes matches nothing.
constexpr bool glob_matches(std::string_view glob, std::string_view name) {
  const GlobStates states(glob.data(), glob.size());
  GlobStates::Set at = states.start();
  for (std::size_t i = 0; i < name.size() && at != 0; ++i) at = states.after(at, name[i]);
  return states.accepts(at);
}

}  // namespace halftone::description
