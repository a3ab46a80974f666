// SPDX-License-Identifier: Apache-2.0
// Training beside counting every pair anew, and its limits.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "byte_characters.hpp"
#include "halftone/tokenizer.hpp"
#include "message_of.hpp"
#include "plain_pairs.hpp"

namespace halftone::tests {
namespace {

/// The numbers of tokens: first the bytes, as GPT-2 has them, then what merges make.
class ByNumber {
 public:
  ByNumber() {
    for (const std::uint8_t byte : tokens::bytes_in_order()) add(std::string(1, char(byte)));
  }
  bool operator()(const plain::Pair& a, const plain::Pair& b) const {
    return std::pair(numbers_->at(a.first), numbers_->at(a.second)) <
           std::pair(numbers_->at(b.first), numbers_->at(b.second));
  }
  void made(const plain::Pair& pair) const { add(pair.first + pair.second); }

 private:
  void add(const std::string& text) const { numbers_->try_emplace(text, numbers_->size()); }

  std::shared_ptr<std::map<std::string, std::size_t>> numbers_ =
      std::make_shared<std::map<std::string, std::size_t>>();
};

std::string random_word(std::mt19937& draw, unsigned letters, unsigned most) {
  std::string word(1 + draw() % most, 'a');
  for (char& letter : word) letter = static_cast<char>('a' + draw() % letters);
  return word;
}

Tokenizer trained(const std::string& text, const TokenizerTraining& options) {
  const std::string_view texts[] = {text};
  return Tokenizer::train(texts, options);
}

}  // namespace

TEST_CASE("training takes the pairs that counting all of them anew in every step takes") {
  std::mt19937 draw(1);
  std::size_t merges = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    // Few letters make runs such as aaaa, and pairs that are equally frequent.
    const unsigned letters = 1 + draw() % 4, most = 1 + draw() % (round % 10 ? 24 : 300);
    std::vector<std::string> words;
    std::string text;
    for (int i = 0; i < 40; ++i) {
      words.push_back((i == 0 ? "" : " ") + random_word(draw, letters, most));
      text += words.back();
    }
    const std::int64_t least = 1 + draw() % 3;
    const auto expected = plain::learned(words, 40, least, ByNumber());
    const Tokenizer tokenizer = trained(text, {.size = 296, .least_count = least});
    std::set<std::string> texts;
    for (const auto& pair : expected) texts.insert(pair.first + pair.second);
    REQUIRE(texts.size() == expected.size());  // no two pairs make one text
    REQUIRE(tokenizer.size() == static_cast<std::int64_t>(256 + expected.size()));
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(tokenizer.text(static_cast<Token>(256 + i)) == expected[i].first + expected[i].second);
    merges += expected.size();
  }
  CHECK(merges > 1000);
}

TEST_CASE("a pair that is as frequent as another comes first when its left token is smaller") {
  const Tokenizer tokenizer = trained("dc\ndc\nbd\nbd\nbc\nbc", {.size = 300});
  REQUIRE(tokenizer.size() == 259);
  CHECK(tokenizer.text(256) == "bc");  // of bc and bd that with the smaller right token
  CHECK(tokenizer.text(257) == "bd");
  CHECK(tokenizer.text(258) == "dc");
}

TEST_CASE("bytes have the numbers of GPT-2's first tokens, and special ones the last") {
  const Tokenizer tokenizer = trained("aa aa", {.size = 259, .special = {"<|b|>", "<|a|>"}});
  CHECK(tokenizer.text(0) == "!");
  CHECK(tokenizer.text(93) == "~");
  CHECK(tokenizer.text(94) == "\xa1");
  CHECK(tokenizer.text(188) == std::string(1, '\0'));
  CHECK(tokenizer.text(220) == " ");
  CHECK(tokenizer.text(255) == "\xad");
  CHECK(tokenizer.text(256) == "aa");
  CHECK(tokenizer.special("<|b|>") == 257);
  CHECK(tokenizer.special("<|a|>") == 258);
  CHECK_FALSE(tokenizer.special("aa"));
  CHECK(tokenizer.special_names() == std::vector<std::string>{"<|b|>", "<|a|>"});
}

TEST_CASE("pairs across texts and words are none") {
  const std::string_view texts[] = {"a", "b", "a", "b"};
  CHECK(Tokenizer::train(texts, {.size = 300}).size() == 256);
  CHECK(trained("a\nb\na\nb", {.size = 300}).size() == 256);
  CHECK(Tokenizer::train({}, {.size = 300}).size() == 256);
}

TEST_CASE("training that cannot be is refused") {
  const struct {
    TokenizerTraining options;
    const char* sentence;
  } cases[] = {
      {{.size = 255},
       "tokenizer: the size is 255; give 256 or more, as the bytes and the special tokens are, and "
       "less than 2^31"},
      {{.size = 256, .special = {"x"}},
       "tokenizer: the size is 256; give 257 or more, as the bytes and the special tokens are, and "
       "less than 2^31"},
      {{.size = std::int64_t{1} << 31},
       "tokenizer: the size is 2147483648; give 256 or more, as the bytes and the special tokens "
       "are, and less than 2^31"},
      {{.size = 300, .least_count = 0}, "tokenizer: the least count is 0; give 1 or more"},
      {{.size = 300, .special = {""}},
       "tokenizer: a special token has an empty name; give it another"},
      {{.size = 300, .special = {"\xff"}},
       "tokenizer: the special token '\xff' is not UTF-8; give it another name"},
      {{.size = 300, .special = {"x", "x"}},
       "tokenizer: the special token 'x' is there twice; name it once"},
  };
  for (const auto& c : cases)
    CHECK(message_of([&] { (void)trained("", c.options); }) == c.sentence);
}

TEST_CASE("progress counts the bytes read, then the tokens made") {
  std::mt19937 draw(3);
  std::string text;
  for (int i = 0; i < 5000; ++i) text += random_word(draw, 26, 8) + " ";
  std::vector<TokenizerProgress> said;
  (void)trained(text, {.size = 300, .special = {"x"}, .progress = [&](const auto& so_far) {
                         said.push_back(so_far);
                       }});
  const auto size = static_cast<std::int64_t>(text.size());
  REQUIRE(said.size() >= 3);
  CHECK(said.front().bytes < size);
  CHECK(said.front().tokens == 256);
  CHECK(said.back().bytes == size);
  CHECK(said.back().tokens == 299);
}

}  // namespace halftone::tests
