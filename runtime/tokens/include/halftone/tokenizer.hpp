// SPDX-License-Identifier: Apache-2.0
// Text as tokens: bytes, or byte-pair encoding of bytes as GPT-2's (docs/tokens.md). A library of
// its own, halftone::tokens; nothing that trains needs it.
//
//   auto tokenizer = halftone::Tokenizer::load("tokenizer.json");
//   std::vector<halftone::Token> tokens = tokenizer.encode("It is a truth");
//   std::string text = tokenizer.decode(tokens);
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/error.hpp"

namespace halftone {

/// As trainers and predictors take it.
using Token = std::int32_t;

struct EncodeOptions {
  /// Where the text has the name of a special token, it becomes that token; of several at one place
  /// the longest. Leave it off for text from strangers: names are then text as any other.
  bool special = false;
};

struct TokenizerProgress {
  std::int64_t bytes = 0;   ///< of the texts, that were read
  std::int64_t tokens = 0;  ///< that there are so far; at first those of bytes and special ones
};

struct TokenizerTraining {
  std::int64_t size = 0;                  ///< tokens, those of bytes and special ones included
  std::vector<std::string> special = {};  ///< names of special tokens; theirs are the last numbers
  std::int64_t least_count = 2;           ///< a pair that is rarer makes no token
  /// Called some times a second, when all is read, and at the end.
  std::function<void(const TokenizerProgress&)> progress = {};
};

/// Immutable, cheap to copy, and used by any number of threads at once. Every text is encoded, also
/// one that is no UTF-8, and decoded to the same bytes. Every method throws Error, naming culprit
/// and remedy.
class Tokenizer {
 public:
  /// 256 tokens, each byte's its value, and behind them special ones.
  [[nodiscard]] static Tokenizer bytes(const std::vector<std::string>& special = {});

  /// Byte-pair encoding (Sennrich et al. 2016) over the words that GPT-2's pattern makes of each
  /// text: the most frequent pair of tokens that stand side by side becomes one, again and again;
  /// of equally frequent ones that with the smaller left token, then the smaller right one. Fewer
  /// tokens than asked for where no pair is frequent enough. The texts are read once, and must stay
  /// until this returns.
  [[nodiscard]] static Tokenizer train(std::span<const std::string_view> texts,
                                       const TokenizerTraining& options);

  /// A tokenizer.json of Hugging Face's tokenizers, which must be byte-level BPE with GPT-2's
  /// pattern, or a folder with GPT-2's vocab.json and merges.txt.
  [[nodiscard]] static Tokenizer load(const std::filesystem::path& file);

  /// The same forms: a folder that is there, or a file, which is replaced as a whole.
  void save(const std::filesystem::path& file) const;

  [[nodiscard]] std::vector<Token> encode(std::string_view text,
                                          const EncodeOptions& options = {}) const;

  /// For long texts: the same tokens, some at a time, each with how many bytes of the text are
  /// behind them.
  using Take = std::function<void(std::span<const Token> tokens, std::size_t bytes)>;
  void encode(std::string_view text, const Take& take, const EncodeOptions& options = {}) const;

  [[nodiscard]] std::string decode(std::span<const Token> tokens) const;

  [[nodiscard]] std::int64_t size() const noexcept;        ///< tokens are 0 to size() - 1
  [[nodiscard]] std::string_view text(Token token) const;  ///< bytes, or a special one's name
  [[nodiscard]] std::optional<Token> special(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> special_names() const;  ///< by token

  /// The library's own.
  struct Vocabulary;
  explicit Tokenizer(std::shared_ptr<Vocabulary> vocabulary);

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace halftone
