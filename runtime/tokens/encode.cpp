// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>

#include "merge_word.hpp"
#include "vocabulary.hpp"
#include "word_end.hpp"
#include "word_table.hpp"

namespace halftone {
namespace tokens {
namespace {

constexpr std::size_t kShort = 2048;  // bytes of a text whose few words are not worth remembering
constexpr std::size_t kPart = std::size_t{1} << 16;  // tokens handed over at once

/// Names of special tokens in a text.
class SpecialNames {
 public:
  SpecialNames() = default;
  explicit SpecialNames(const Tokenizer::Vocabulary& vocabulary) {
    for (const Token token : vocabulary.special) {
      const std::string& name = vocabulary.texts[static_cast<std::size_t>(token)];
      tokens_.emplace(name, token);
      sizes_.insert(name.size());
      begins_[static_cast<unsigned char>(name[0])] = true;
    }
  }

  struct Found {
    Token token;
    std::size_t begin, end;
  };

  /// The first one at or behind `at`, and of several there the longest.
  [[nodiscard]] std::optional<Found> next(std::string_view text, std::size_t at) const {
    for (; !tokens_.empty() && at < text.size(); ++at) {
      if (!begins_[static_cast<unsigned char>(text[at])]) continue;
      for (const std::size_t size : sizes_) {
        const auto found = tokens_.find(text.substr(at, size));
        if (found != tokens_.end()) return Found{found->second, at, at + found->first.size()};
      }
    }
    return std::nullopt;
  }

 private:
  std::unordered_map<std::string_view, Token> tokens_;
  std::set<std::size_t, std::greater<>> sizes_;
  std::array<bool, 256> begins_{};
};

/// Words' tokens, each word's computed once while it is remembered.
class WordEncoder {
 public:
  WordEncoder(const Tokenizer::Vocabulary& vocabulary, bool remembers)
      : vocabulary_(vocabulary), merger_(vocabulary), longest_(remembers ? kLongest : 0) {}

  /// Appends the tokens of a word of a text that stays.
  void encode(std::string_view word, std::vector<Token>& tokens) {
    if (const Token* token = vocabulary_.whole.find(word)) return tokens.push_back(*token);
    if (word.size() > longest_) return merger_.merge(word, tokens);
    if (words_.size() >= kMost) words_ = {}, memory_.clear();
    const auto [found, is_new] = words_.insert(word);
    if (is_new) {
      found.first = static_cast<std::uint32_t>(memory_.size());
      merger_.merge(word, memory_);
      found.count = static_cast<std::uint32_t>(memory_.size()) - found.first;
    }
    const auto first = memory_.begin() + found.first;
    tokens.insert(tokens.end(), first, first + found.count);
  }

 private:
  static constexpr std::size_t kLongest = 64;                 // longer ones hardly come again
  static constexpr std::size_t kMost = std::size_t{1} << 18;  // words, in some 30 MB

  struct Tokens {
    std::uint32_t first = 0, count = 0;  ///< in `memory_`
  };

  const Tokenizer::Vocabulary& vocabulary_;
  WordMerger merger_;
  std::size_t longest_;  ///< that is remembered
  WordTable<Tokens> words_;
  std::vector<Token> memory_;
};

class TextEncoder {
 public:
  TextEncoder(const Tokenizer::Vocabulary& vocabulary, std::string_view text,
              const Tokenizer::Take& take)
      : vocabulary_(vocabulary),
        text_(text),
        take_(take),
        words_(vocabulary, text.size() > kShort) {}

  void encode(const EncodeOptions& options) {
    const SpecialNames names = options.special ? SpecialNames(vocabulary_) : SpecialNames();
    for (std::size_t at = 0; at < text_.size();) {
      const auto found = names.next(text_, at);
      encode_words(at, found ? found->begin : text_.size());
      at = found ? found->end : text_.size();
      if (found) push(found->token, at);
    }
    if (!tokens_.empty()) hand_over(text_.size());
  }

 private:
  void encode_words(std::size_t begin, std::size_t end) {
    const std::string_view text = text_.substr(0, end);
    if (vocabulary_.merges.empty()) {
      for (; begin < end; ++begin)
        push(vocabulary_.of_byte[static_cast<unsigned char>(text[begin])], begin + 1);
      return;
    }
    while (begin < end) {
      const std::size_t word = begin;
      begin = word_end(text, word);
      words_.encode(text.substr(word, begin - word), tokens_);
      if (tokens_.size() >= kPart) hand_over(begin);
    }
  }

  void push(Token token, std::size_t bytes) {
    tokens_.push_back(token);
    if (tokens_.size() >= kPart) hand_over(bytes);
  }

  void hand_over(std::size_t bytes) {
    take_(tokens_, bytes);
    tokens_.clear();
  }

  const Tokenizer::Vocabulary& vocabulary_;
  std::string_view text_;
  const Tokenizer::Take& take_;
  WordEncoder words_;
  std::vector<Token> tokens_;
};

}  // namespace
}  // namespace tokens

void Tokenizer::encode(std::string_view text, const Take& take,
                       const EncodeOptions& options) const {
  tokens::TextEncoder(*vocabulary_, text, take).encode(options);
}

std::vector<Token> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<Token> all;
  encode(
      text,
      [&](std::span<const Token> some, std::size_t) {
        all.insert(all.end(), some.begin(), some.end());
      },
      options);
  return all;
}

}  // namespace halftone
