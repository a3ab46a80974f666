// SPDX-License-Identifier: Apache-2.0
#include "halftone/tokenizer.hpp"

#include <set>
#include <system_error>
#include <utility>

#include "spelled.hpp"
#include "text.hpp"
#include "utf8.hpp"
#include "vocabulary.hpp"

namespace halftone {
namespace tokens {

void refuse(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = kOperation,
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

namespace {

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = utf8_length(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

const std::string& text_of(const Tokenizer::Vocabulary& vocabulary, Token token) {
  if (token < 0 || static_cast<std::size_t>(token) >= vocabulary.texts.size())
    refuse("token " + std::to_string(token),
           "is none of this tokenizer's " + std::to_string(vocabulary.texts.size()),
           "decode with the tokenizer that encoded it");
  return vocabulary.texts[static_cast<std::size_t>(token)];
}

}  // namespace

void add_special(Tokenizer::Vocabulary& vocabulary, const std::vector<std::string>& names) {
  std::set<std::string_view> known;
  for (const Token token : vocabulary.special)
    known.insert(vocabulary.texts[static_cast<std::size_t>(token)]);
  for (const std::string& name : names) {
    const std::string object = "the special token " + shown(name);
    if (name.empty()) refuse("a special token", "has an empty name", "give it another");
    if (!is_utf8(name)) refuse(object, "is not UTF-8", "give it another name");
    if (!known.insert(name).second) refuse(object, "is there twice", "name it once");
    vocabulary.special.push_back(static_cast<Token>(vocabulary.texts.size()));
    vocabulary.texts.push_back(name);
  }
}

}  // namespace tokens

Tokenizer::Tokenizer(std::shared_ptr<Vocabulary> vocabulary) {
  tokens::find_whole_words(*vocabulary);
  vocabulary_ = std::move(vocabulary);
}

Tokenizer Tokenizer::bytes(const std::vector<std::string>& special) {
  auto vocabulary = std::make_shared<Vocabulary>();
  for (int byte = 0; byte < tokens::kBytes; ++byte) {
    vocabulary->of_byte[static_cast<std::size_t>(byte)] = byte;
    vocabulary->texts.emplace_back(1, static_cast<char>(byte));
  }
  tokens::add_special(*vocabulary, special);
  return Tokenizer(std::move(vocabulary));
}

Tokenizer Tokenizer::load(const std::filesystem::path& file) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(file, ignored);
  return is_folder ? tokens::load_gpt2_folder(file) : tokens::load_tokenizer_json(file);
}

void Tokenizer::save(const std::filesystem::path& file) const {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    tokens::save_gpt2_folder(*vocabulary_, file);
  } else {
    tokens::save_tokenizer_json(*vocabulary_, file);
  }
}

std::string Tokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  for (const Token token : tokens) text += tokens::text_of(*vocabulary_, token);
  return text;
}

std::int64_t Tokenizer::size() const noexcept {
  return static_cast<std::int64_t>(vocabulary_->texts.size());
}

std::string_view Tokenizer::text(Token token) const { return tokens::text_of(*vocabulary_, token); }

std::optional<Token> Tokenizer::special(std::string_view name) const {
  for (const Token token : vocabulary_->special)
    if (text(token) == name) return token;
  return std::nullopt;
}

std::vector<std::string> Tokenizer::special_names() const {
  std::vector<std::string> names;
  for (const Token token : vocabulary_->special) names.emplace_back(text(token));
  return names;
}

}  // namespace halftone
