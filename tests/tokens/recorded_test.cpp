// SPDX-License-Identifier: Apache-2.0
// Beside what PyPI's tokenizers and tiktoken made: theirs/, by record_vectors.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "files/scratch_folder.hpp"
#include "halftone/tokenizer.hpp"
#include "word_end.hpp"

namespace halftone::tests {
namespace {

using Json = nlohmann::json;

const Json& recorded() {
  static const Json json = Json::parse(bytes_of_file(THEIRS "/vectors.json"));
  return json;
}

/// As their tokenizers were trained.
Tokenizer trained() {
  std::vector<std::string> texts = recorded()["texts"];
  texts.insert(texts.begin(), bytes_of_file(LICENSE));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return Tokenizer::train(views, {.size = recorded()["size"].get<std::int64_t>() + 1,
                                  .special = {"<|endoftext|>"},
                                  .least_count = recorded()["least_count"]});
}

void check_tokens(const Tokenizer& tokenizer) {
  REQUIRE(recorded()["vectors"].size() > 100);
  for (const Json& vector : recorded()["vectors"]) {
    const std::string text = vector["text"];
    CAPTURE(text);
    CHECK(tokenizer.encode(text) == vector["tokens"].get<std::vector<Token>>());
    const std::vector<Token> special = vector["with_special"];
    CHECK(tokenizer.encode(text, {.special = true}) == special);
    CHECK(tokenizer.decode(special) == text);
  }
}

}  // namespace

TEST_CASE("texts are cut into the words that tokenizers' ByteLevel makes") {
  for (const Json& vector : recorded()["vectors"]) {
    const std::string text = vector["text"];
    CAPTURE(text);
    std::vector<std::string> words;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = tokens::word_end(text, begin);
      words.push_back(text.substr(begin, end - begin));
    }
    CHECK(words == vector["words"].get<std::vector<std::string>>());
  }
}

TEST_CASE("training finds the merges that tokenizers' BpeTrainer does, in the same order") {
  const ScratchFolder scratch;
  trained().save(scratch.path());
  CHECK(bytes_of_file(scratch / "merges.txt") == bytes_of_file(THEIRS "/merges.txt"));
  Json vocabulary = Json::parse(bytes_of_file(scratch / "vocab.json"));
  vocabulary.erase("<|endoftext|>");
  CHECK(vocabulary == Json::parse(bytes_of_file(THEIRS "/vocab.json")));
}

TEST_CASE("texts become the tokens that tokenizers and tiktoken make of them") {
  check_tokens(trained());
}

TEST_CASE("a tokenizer.json as tokenizers saves it is read") {
  const Tokenizer theirs = Tokenizer::load(THEIRS "/tokenizer.json");
  CHECK(theirs.size() == recorded()["size"].get<std::int64_t>() + 1);
  CHECK(theirs.special_names() == std::vector<std::string>{"<|endoftext|>"});
  check_tokens(theirs);
}

TEST_CASE("a vocab.json and a merges.txt as tokenizers saves them are read") {
  const Tokenizer theirs = Tokenizer::load(THEIRS);
  CHECK(theirs.size() == recorded()["size"]);
  CHECK(theirs.special_names().empty());
  for (const Json& vector : recorded()["vectors"]) {
    const std::string text = vector["text"];
    CAPTURE(text);
    CHECK(theirs.encode(text) == vector["tokens"].get<std::vector<Token>>());
  }
}

}  // namespace halftone::tests
