// SPDX-License-Identifier: Apache-2.0
// `halftone devices`: what this machine has, and what an artifact would run on.
#pragma once

#include <string>

namespace halftone::tools {

/// The lines to print. `artifact` may be empty, otherwise `model` is as for read_artifact, which it
/// throws like.
[[nodiscard]] std::string devices_text(const std::string& artifact, const std::string& model);

}  // namespace halftone::tools
