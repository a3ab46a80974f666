// SPDX-License-Identifier: Apache-2.0
// `halftone tokens`: makes tokenizers of texts, token files of texts, and texts of token files
// (docs/tokens.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace halftone::tools {

struct TokensTask {
  std::vector<std::string> texts;
  std::string tokenizer;  ///< a file or folder; "bytes" is Tokenizer::bytes()
  std::string tokens;     ///< a token file
  std::string output;     ///< decode: may be empty, for standard output
  std::int64_t size = 8192, least_count = 2;
  std::vector<std::string> special = {"<|endoftext|>"};
  std::string end;             ///< a special token behind every text; may be empty
  bool names_special = false;  ///< names of special tokens in texts become these
};

/// Each throws, in one sentence, where it cannot be done; `say` gets a line about what was.
void train_tokenizer(const TokensTask& task, const std::function<void(const std::string&)>& say);
void encode_texts(const TokensTask& task, const std::function<void(const std::string&)>& say);
void decode_tokens(const TokensTask& task, const std::function<void(const std::string&)>& say);

}  // namespace halftone::tools
