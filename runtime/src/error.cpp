// SPDX-License-Identifier: Apache-2.0
#include "halftone/error.hpp"

#include <utility>

namespace halftone {
namespace {

std::string sentence(const Error::Parts& parts) {
  std::string text = parts.operation + ": " + parts.object + " " + parts.cause;
  if (!parts.hint.empty()) text += "; " + parts.hint;
  return text;
}

}  // namespace

Error::Error(Parts parts) : std::runtime_error(sentence(parts)), parts_(std::move(parts)) {}

}  // namespace halftone
