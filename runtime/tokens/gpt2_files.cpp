// SPDX-License-Identifier: Apache-2.0
// GPT-2's pair of files: vocab.json, an object of names and numbers, and merges.txt, a line each.
#include <algorithm>

#include "spelled.hpp"
#include "text.hpp"

namespace halftone::tokens {
namespace {

constexpr const char *kVocabulary = "vocab.json", *kMerges = "merges.txt";
constexpr std::string_view kVersion = "#version: 0.2\n";

std::vector<std::pair<std::string, std::string>> merges_of(const Source& source) {
  std::vector<std::pair<std::string, std::string>> merges;
  const std::string text = source.text();
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    std::string_view each = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), each.size() + 1));
    if (each.ends_with('\r')) each.remove_suffix(1);
    if (each.empty() || (line == 1 && each.starts_with("#version"))) continue;
    const std::size_t space = each.find(' ');
    source.require(space != each.npos && each.find(' ', space + 1) == each.npos,
                   "has " + shown(each) + " in line " + std::to_string(line),
                   "give two tokens in each line, with a space between them");
    merges.emplace_back(each.substr(0, space), each.substr(space + 1));
  }
  return merges;
}

}  // namespace

Tokenizer load_gpt2_folder(const std::filesystem::path& folder) {
  const Source vocabulary(folder / kVocabulary), merges(folder / kMerges);
  Spelled spelled;
  spelled.names = vocabulary.names_of(vocabulary.json());
  spelled.merges = merges_of(merges);
  spelled.unmade_are_special = true;
  return Tokenizer(merges.vocabulary_of(std::move(spelled)));
}

void save_gpt2_folder(const Tokenizer::Vocabulary& vocabulary,
                      const std::filesystem::path& folder) {
  const Spelled parts = spelled(vocabulary);
  std::string merges(kVersion);
  for (const auto& merge : parts.merges) merges += line_of(merge) + "\n";
  write(folder / kVocabulary, "{" + json_of(parts.names, "  ") + "}\n");
  write(folder / kMerges, merges);
}

}  // namespace halftone::tokens
