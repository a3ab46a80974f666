// SPDX-License-Identifier: Apache-2.0
// Runs the tool as its user does.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace halftone::tests {

struct Outcome {
  int status = -1;  ///< the exit status; -1 when a signal ended it
  std::string output;
  std::string errors;
};

/// `halftone ARGUMENTS`, through a shell.
[[nodiscard]] Outcome run_tool(const std::string& arguments);

/// The object that a call with --json prints; fails the test when there is none.
[[nodiscard]] nlohmann::json json_of(const std::string& arguments);

}  // namespace halftone::tests
