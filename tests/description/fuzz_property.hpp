// SPDX-License-Identifier: Apache-2.0
// What must hold for any bytes; used by the fuzz target and by the replay test.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "halftone/description/text.hpp"
#include "halftone/description/validate.hpp"

namespace halftone::tests {

/// Empty when `text` is either refused with a sentence at a place inside it, or read as a valid
/// Description that survives print and parse; otherwise what went wrong.
inline std::string broken_promise(std::string_view text) {
  using namespace halftone::description;
  const auto first = parse(text);
  if (const auto* error = std::get_if<ParseError>(&first)) {
    const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
    const bool inside = error->line >= 1 && error->line <= lines && error->column >= 1 &&
                        static_cast<std::size_t>(error->column) <= text.size() + 1;
    if (!inside) return "an error outside of the text: " + error->str("text");
    return error->message.empty() ? "an error without a message" : "";
  }
  const auto& description = std::get<Description>(first);
  if (validate(description)) return "a Description that is not valid was read";
  const std::string printed = print(description);
  const auto second = parse(printed);
  if (const auto* error = std::get_if<ParseError>(&second)) {
    return "what was printed is refused: " + error->str("text");
  }
  if (std::get<Description>(second) != description)
    return "print and parse changed the Description";
  return print(std::get<Description>(second)) == printed ? "" : "printing twice differs";
}

}  // namespace halftone::tests
