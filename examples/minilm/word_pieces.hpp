// SPDX-License-Identifier: Apache-2.0
// Word pieces of text, as BERT's uncased models read it (Devlin et al. 2019): without accents and
// capitals, words and marks of punctuation apart, each word in the longest pieces that the
// vocabulary has, from the left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

class WordPieces {
 public:
  /// Of a vocabulary's file, with a piece a line; those inside of a word begin with ##. Throws
  /// std::runtime_error where it cannot be read, or lacks [CLS], [SEP] or [UNK].
  explicit WordPieces(const std::string& file);

  /// [CLS], the pieces of a text in UTF-8, [SEP]; of longer texts the first `most`. A word with a
  /// part that is no piece is [UNK]. Names of special pieces in the text are text.
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text, std::size_t most) const;

 private:
  [[nodiscard]] std::int32_t special(const std::string& name) const;
  void put_word(const std::string& word, std::vector<std::int32_t>& pieces) const;

  std::unordered_map<std::string, std::int32_t> numbers_;
  std::int32_t begin_ = 0, end_ = 0, unknown_ = 0;
};
