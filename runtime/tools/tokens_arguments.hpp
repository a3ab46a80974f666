// SPDX-License-Identifier: Apache-2.0
// The words of `halftone tokens`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>

#include "tokens_command.hpp"

namespace halftone::tools {

using TokensCommand = void (*)(const TokensTask&, const std::function<void(const std::string&)>&);

/// What each command does once it is parsed; `task`, which must stay, holds what it is told.
[[nodiscard]] std::map<CLI::App*, TokensCommand> add_tokens(CLI::App& app, TokensTask& task);

}  // namespace halftone::tools
