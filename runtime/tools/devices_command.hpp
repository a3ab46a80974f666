// SPDX-License-Identifier: Apache-2.0
// `halftone devices`: what this machine has, and what an artifact would run on.
#pragma once

#include <string>

#include "words.hpp"

namespace halftone::tools {

/// The object that docs/tools.md describes. `artifact` may be empty, otherwise `model` is as for
/// read_artifact, which it throws like; it throws Error for a word in the environment that is none.
[[nodiscard]] Json devices_of(const std::string& artifact, const std::string& model);

/// The same for people.
[[nodiscard]] std::string text_of_devices(const Json& devices);

}  // namespace halftone::tools
