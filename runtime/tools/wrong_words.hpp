// SPDX-License-Identifier: Apache-2.0
// One sentence with a remedy for words that the command line does not take: CLI11 names the fault
// alone.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace halftone::tools {

/// Throws std::runtime_error for an option with nothing behind its =, which CLI11 would give the
/// next word.
void refuse_empty_values(int count, const char* const* words);

[[nodiscard]] std::string sentence_of(const CLI::ParseError& error, const CLI::App& app);

}  // namespace halftone::tools
