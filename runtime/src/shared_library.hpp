// SPDX-License-Identifier: Apache-2.0
// Libraries that are opened at run time, what the loader says of those that it refuses, and the
// limit on open files, which is behind more faults than it is named in.
#pragma once

#include <string>
#include <string_view>

namespace halftone {

/// `name` is a path or, without a slash, what the loader looks for. Null when it is not opened;
/// then `refusal` has the loader's words, or is empty where there is no such file. The
/// caller may dlclose() it.
[[nodiscard]] void* open_library(const std::string& name, int mode, std::string& refusal);

/// Why no further file can be opened just now, in the system's words; empty where one can.
[[nodiscard]] std::string words_of_full_table();

/// What to do about words of the system or the loader: `otherwise`, save where a limit is at fault.
[[nodiscard]] std::string remedy_for(std::string_view words, std::string otherwise);

}  // namespace halftone
