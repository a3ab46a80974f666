// SPDX-License-Identifier: Apache-2.0
// A vocabulary as files spell it: tokens by name, which is their bytes in GPT-2's characters or, of
// special ones, the name itself.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "vocabulary.hpp"

namespace halftone::tokens {

struct Spelled {
  std::vector<std::string> names;                           ///< by token
  std::vector<std::pair<std::string, std::string>> merges;  ///< the earlier goes first
  std::vector<Token> special;
  /// For files that do not say which are special: those that are no byte and that no merge makes.
  bool unmade_are_special = false;
};

[[nodiscard]] Spelled spelled(const Tokenizer::Vocabulary& vocabulary);

/// What a file says of a vocabulary, and the sentence where it says something else.
class Source {
 public:
  explicit Source(std::filesystem::path file) : file_(std::move(file)) {}

  [[noreturn]] void refuse(std::string cause, std::string hint) const;
  void require(bool holds, const std::string& cause, const std::string& hint) const {
    if (!holds) refuse(cause, hint);
  }

  [[nodiscard]] std::string text() const;     ///< of the file
  [[nodiscard]] nlohmann::json json() const;  ///< of the file, one object
  /// From an object of names and numbers, each of 0 to their number - 1 once.
  [[nodiscard]] std::vector<std::string> names_of(const nlohmann::json& vocabulary) const;
  [[nodiscard]] std::shared_ptr<Tokenizer::Vocabulary> vocabulary_of(Spelled spelled) const;

 private:
  std::filesystem::path file_;
};

// The two forms.
[[nodiscard]] Tokenizer load_tokenizer_json(const std::filesystem::path& file);
[[nodiscard]] Tokenizer load_gpt2_folder(const std::filesystem::path& folder);
void save_tokenizer_json(const Tokenizer::Vocabulary& vocabulary,
                         const std::filesystem::path& file);
void save_gpt2_folder(const Tokenizer::Vocabulary& vocabulary, const std::filesystem::path& folder);

/// `"name": number` for every token, a line each.
[[nodiscard]] std::string json_of(const std::vector<std::string>& names, const char* indent);
/// For sentences: a number or string, or else what it is.
[[nodiscard]] std::string brief(const nlohmann::json& value);
/// `left right`
[[nodiscard]] std::string line_of(const std::pair<std::string, std::string>& merge);
void write(const std::filesystem::path& file, std::string_view text);

}  // namespace halftone::tokens
