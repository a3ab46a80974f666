// SPDX-License-Identifier: Apache-2.0
// `halftone explain`: what rules decided, what is cast, what is fused, and what all of it takes.
// docs/tools.md documents the object; the text says the same, so nothing can be in one alone.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "size.hpp"

namespace halftone::tools {

using Json = nlohmann::ordered_json;

/// The whole explanation of an artifact as one object: programs as they are for the CPU, and how
/// kernels run on all chips; or programs and kernels of one `chip`. Throws std::runtime_error when
/// the artifact was not made for it.
[[nodiscard]] Json explanation_of(std::span<const manifest::Manifest> manifests,
                                  const Binding& binding, const std::string& chip = {});

/// The same for people, in lines of at most 100 columns.
[[nodiscard]] std::string text_of(const Json& explanation);

/// The part of either that is about chips.
[[nodiscard]] Json chips_of(std::span<const manifest::Manifest> manifests, const std::string& chip);
[[nodiscard]] std::string text_of_chips(const Json& chips);

}  // namespace halftone::tools
