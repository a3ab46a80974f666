// SPDX-License-Identifier: Apache-2.0
// `halftone explain`: what rules decided, what is cast, what is fused, and what all of it takes.
// docs/tools.md documents the object; the text says the same, so nothing can be in one alone.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "size.hpp"

namespace halftone::tools {

using Json = nlohmann::ordered_json;

/// The whole explanation as one object.
[[nodiscard]] Json explanation_of(const manifest::Manifest& manifest, const Binding& binding);

/// The same for people, in lines of at most 100 columns.
[[nodiscard]] std::string text_of(const Json& explanation);

}  // namespace halftone::tools
