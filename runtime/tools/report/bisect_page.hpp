// SPDX-License-Identifier: Apache-2.0
// `halftone bisect`: one self-contained HTML page about a search for rules to blame.
#pragma once

#include <string>

#include "halftone/bisect.hpp"

namespace halftone::tools {

/// What is to blame; losses of the reference, of all rules and of the remedy; every variant with
/// its differences, seed by seed; and what roundings did to values under all rules.
[[nodiscard]] std::string page_of(const BisectResult& result);

}  // namespace halftone::tools
