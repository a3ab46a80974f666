// SPDX-License-Identifier: Apache-2.0
// What a Description may be called so that its typed API, its symbols and its buffers have names of
// their own, and how large its tensors may be. The text form allows more; halftonec refuses the
// rest before it builds anything.
#ifndef HALFTONE_IMPORT_NAMES_H
#define HALFTONE_IMPORT_NAMES_H

#include <optional>
#include <string>
#include <string_view>

#include "halftone/description/description.hpp"

namespace halftone::ir {

/// A C++ identifier made of `name`: other characters become '_', keywords get one behind them.
std::string makeIdentifier(std::string_view name);

/// One sentence that names the culprit and the remedy, or nothing.
std::optional<std::string> findBadName(const description::Description &description);
std::optional<std::string> findBadSize(const description::Description &description);

} // namespace halftone::ir

#endif
