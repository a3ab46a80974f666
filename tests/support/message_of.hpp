// SPDX-License-Identifier: Apache-2.0
// The sentence of the halftone::Error that an action ends in.
#pragma once

#include <string>

#include "halftone/error.hpp"

template <class Action>
[[nodiscard]] std::string message_of(const Action& action) {
  try {
    action();
  } catch (const halftone::Error& error) {
    return error.what();
  }
  return "no error";
}
