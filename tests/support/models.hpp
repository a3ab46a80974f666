// SPDX-License-Identifier: Apache-2.0
// The example Descriptions of tests/support/models, shared by every test that needs a model.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "halftone/description/text.hpp"

namespace halftone::tests {

/// The file names without ".halftone", sorted.
inline std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(HALFTONE_TEST_MODELS)) {
    if (entry.path().extension() == ".halftone") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The text of a file; throws when it cannot be read.
inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Throws a sentence with file, line and column when the text is not a valid Description.
inline description::Description load_model(
    const std::string& name, const std::filesystem::path& folder = HALFTONE_TEST_MODELS) {
  const auto path = folder / (name + ".halftone");
  auto parsed = description::parse(read_text(path));
  if (const auto* error = std::get_if<description::ParseError>(&parsed)) {
    throw std::runtime_error(error->str(path.string()));
  }
  return std::get<description::Description>(std::move(parsed));
}

}  // namespace halftone::tests
