// SPDX-License-Identifier: Apache-2.0
// What a Description may be called so that its typed API, its symbols and its buffers have names of
// their own. The text form allows more; halftonec refuses the rest before it builds anything.
#ifndef HALFTONE_IMPORT_NAMES_H
#define HALFTONE_IMPORT_NAMES_H

#include <optional>
#include <string>
#include <string_view>

#include "halftone/description/description.hpp"

namespace halftone::ir {

/// What the generated header calls an input, output or symbol: other characters than those of an
/// identifier become '_'; what is a keyword or a member of its classes gets one behind it.
std::string makeIdentifier(std::string_view name);

/// One sentence that names the culprit and the remedy, or nothing.
std::optional<std::string> findBadName(const description::Description &description);

} // namespace halftone::ir

#endif
