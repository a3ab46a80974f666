// SPDX-License-Identifier: Apache-2.0
// The fuzz target's property on its seeds and the example models: whole, cut anywhere, and with
// single bytes changed.
#include <doctest/doctest.h>

#include <filesystem>
#include <vector>

#include "fuzz_property.hpp"
#include "models.hpp"

namespace {

std::vector<std::string> texts() {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {HALFTONE_SEEDS, HALFTONE_TEST_MODELS}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(halftone::tests::read_text(path));
  return texts;
}

}  // namespace

TEST_CASE("every seed keeps the promise of parse") {
  const auto all = texts();
  REQUIRE(all.size() > 20);
  for (const std::string& text : all) {
    CAPTURE(text);
    CHECK(halftone::tests::broken_promise(text) == "");
  }
}

TEST_CASE("every truncation of a seed keeps the promise of parse") {
  for (const std::string& text : texts()) {
    for (std::size_t length = 0; length < text.size(); ++length) {
      const auto broken = halftone::tests::broken_promise(std::string_view(text).substr(0, length));
      CHECK_MESSAGE(broken == "", "cut at " << length << ": " << text);
    }
  }
}

TEST_CASE("every change of a single byte of a seed keeps the promise of parse") {
  constexpr char kBytes[] = {'\0', '\n', ' ', '"', '\\', '%', '0',   '9',
                             '-',  '.',  ']', '}', ';',  'e', '\xff'};
  for (const std::string& text : texts()) {
    std::string changed = text;
    for (std::size_t at = 0; at < text.size(); ++at) {
      changed[at] = kBytes[at % sizeof kBytes];
      CHECK_MESSAGE(halftone::tests::broken_promise(changed) == "",
                    "byte " << at << ": " << changed);
      changed[at] = static_cast<char>(text[at] ^ (1 << at % 8));
      CHECK_MESSAGE(halftone::tests::broken_promise(changed) == "",
                    "byte " << at << ": " << changed);
      changed[at] = text[at];
    }
  }
}
