// SPDX-License-Identifier: Apache-2.0
// `halftone tokens` of a build without ICU.
#include <stdexcept>

#include "tokens_command.hpp"

namespace halftone::tools {
namespace {

[[noreturn]] void refuse() {
  throw std::runtime_error(
      "tokens: this halftone was built without ICU, which says what a letter is; install "
      "libicu-dev "
      "and build it again");
}

}  // namespace

void train_tokenizer(const TokensTask&, const std::function<void(const std::string&)>&) {
  refuse();
}
void encode_texts(const TokensTask&, const std::function<void(const std::string&)>&) { refuse(); }
void decode_tokens(const TokensTask&, const std::function<void(const std::string&)>&) { refuse(); }

}  // namespace halftone::tools
