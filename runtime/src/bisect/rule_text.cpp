// SPDX-License-Identifier: Apache-2.0
#include "rule_text.hpp"

#include <algorithm>

namespace halftone {
namespace {

/// Words as spaces part them; what is in quotes stays together.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted && c == '\\' && i + 1 < text.size()) {
      (words.back() += c) += text[++i];
      continue;
    }
    is_quoted ^= c == '"';
    if (c != ' ' || is_quoted)
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

struct RuleText {
  std::vector<std::string> head;    ///< up to the colon
  std::vector<std::string> fields;  ///< "store bf16"; all of them
};

bool begins_with(const std::string& field, std::string_view word) {
  return field == word || (field.starts_with(word) && field[word.size()] == ' ');
}

/// Neither stands alone.
bool is_beside_others(const std::string& field) {
  return begins_with(field, "rounding") || begins_with(field, "because");
}
bool is_rounded(const std::string& field) {
  return begins_with(field, "store") || begins_with(field, "compute");
}

RuleText parse(std::string_view rule) {
  RuleText text;
  std::vector<std::string> words = words_of(rule);
  const auto colon = std::ranges::find(words, ":");
  text.head.assign(words.begin(), colon);
  for (auto word = colon == words.end() ? colon : colon + 1; word != words.end(); ++word) {
    if (text.fields.empty() || std::ranges::find(kWordsOfFields, *word) != kWordsOfFields.end())
      text.fields.push_back(*word);
    else
      text.fields.back() += " " + *word;
  }
  return text;
}

std::string spelled(const RuleText& text) {
  std::string rule;
  for (const std::string& word : text.head) rule += word + " ";
  rule += ":";
  for (const std::string& field : text.fields) rule += " " + field;
  return rule;
}

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

}  // namespace

std::vector<std::string> fields_of_rule(std::string_view rule) {
  std::vector<std::string> fields = parse(rule).fields;
  std::erase_if(fields, is_beside_others);
  return fields;
}

std::string without_fields(std::string_view rule, std::span<const std::size_t> fields) {
  RuleText text = parse(rule);
  const std::vector<std::string> stated = fields_of_rule(rule);
  for (const std::size_t field : fields) std::erase(text.fields, stated[field]);
  if (std::ranges::none_of(text.fields, is_rounded))
    std::erase_if(text.fields,
                  [](const std::string& field) { return begins_with(field, "rounding"); });
  return spelled(text);
}

std::string with_exceptions(std::string_view rule, std::span<const std::string> layers) {
  RuleText text = parse(rule);
  const bool has_some = std::ranges::find(text.head, "except") != text.head.end();
  auto at = std::ranges::find(text.head, "if_any");
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string joined = i == 0 && !has_some ? "except" : "or";
    for (const std::string& word : {joined, std::string("layer"), quoted(layers[i])})
      at = text.head.insert(at, word) + 1;
  }
  return spelled(text);
}

std::string file_of_rules(std::span<const std::string> rules) {
  std::string text;
  for (const std::string& rule : rules) text += "rule " + rule + "\n";
  return text.empty() ? "rule everywhere : store f32 compute f32\n" : text;
}

}  // namespace halftone
