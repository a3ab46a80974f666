// SPDX-License-Identifier: Apache-2.0
// Encoding beside the definition, bytes that are no UTF-8, special tokens, and texts in parts.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "byte_characters.hpp"
#include "files/scratch_folder.hpp"
#include "halftone/tokenizer.hpp"
#include "message_of.hpp"
#include "plain_pairs.hpp"
#include "word_end.hpp"

namespace halftone::tests {
namespace {

std::string random_text(std::mt19937& draw, std::string_view letters, std::size_t size) {
  std::string text(size, ' ');
  for (char& letter : text) letter = letters[draw() % letters.size()];
  return text;
}

const Tokenizer& trained() {
  static const Tokenizer tokenizer = [] {
    std::mt19937 draw(5);
    const std::string text = random_text(draw, "aaaabbbcc  dd'st19\xc3\xa9.\n", 20000);
    const std::string_view texts[] = {text};
    return Tokenizer::train(texts, {.size = 600, .special = {"<a>", "<a><b>", "<b>", "c"}});
  }();
  return tokenizer;
}

/// As merges.txt has them.
std::vector<plain::Pair> merges_of(const Tokenizer& tokenizer) {
  const ScratchFolder scratch;
  tokenizer.save(scratch.path());
  std::vector<plain::Pair> merges;
  std::istringstream lines(bytes_of_file(scratch / "merges.txt"));
  std::string left, right;
  std::getline(lines, left);  // the version
  while (lines >> left >> right)
    merges.emplace_back(*tokens::bytes_of(left), *tokens::bytes_of(right));
  return merges;
}

std::vector<std::string> texts_of(const Tokenizer& tokenizer, const std::vector<Token>& tokens) {
  std::vector<std::string> texts;
  for (const Token token : tokens) texts.emplace_back(tokenizer.text(token));
  return texts;
}

}  // namespace

TEST_CASE("words of any length become the tokens that looking at every pair anew gives") {
  const auto merges = merges_of(trained());
  REQUIRE(merges.size() > 200);
  std::mt19937 draw(6);
  std::map<bool, int> longer;
  for (int i = 0; i < 300; ++i) {
    // One word each: letters alone. Words of more than 32 bytes are merged another way.
    const std::string word = random_text(draw, i % 3 ? "aaabbc" : "abcd", 1 + draw() % 70);
    CAPTURE(word);
    CHECK(texts_of(trained(), trained().encode(word)) == plain::encoded(word, merges));
    ++longer[word.size() > 32];
  }
  CHECK(longer[true] > 100);
  CHECK(longer[false] > 50);
}

TEST_CASE("merges that no training made are taken in their order, too") {
  const ScratchFolder scratch;
  std::mt19937 draw(10);
  int in_parts = 0;  // tokens whose own text becomes several
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> texts = {"a", "b", "c"};
    std::vector<plain::Pair> merges;
    while (merges.size() < 12) {
      const plain::Pair pair = {texts[draw() % texts.size()], texts[draw() % texts.size()]};
      if (std::ranges::find(merges, pair) != merges.end()) continue;
      merges.push_back(pair);
      if (std::ranges::find(texts, pair.first + pair.second) == texts.end())
        texts.push_back(pair.first + pair.second);
    }
    std::ranges::shuffle(merges, draw);
    std::string vocabulary = "{", lines;
    int next = 0;
    for (const std::uint8_t byte : tokens::bytes_in_order()) {
      const std::string name = tokens::characters_of(std::string(1, static_cast<char>(byte)));
      vocabulary += (name == "\"" || name == "\\" ? "\"\\" : "\"") + name +
                    "\":" + std::to_string(next++) + ",";
    }
    for (std::size_t i = 3; i < texts.size(); ++i)
      vocabulary += "\"" + texts[i] + "\":" + std::to_string(next++) + ",";
    vocabulary.back() = '}';
    for (const auto& [left, right] : merges) lines += left + " " + right + "\n";
    write_file(scratch / "vocab.json", vocabulary);
    write_file(scratch / "merges.txt", lines);
    const Tokenizer tokenizer = Tokenizer::load(scratch.path());
    std::vector<std::string> words = texts;
    for (int i = 0; i < 30; ++i) words.push_back(random_text(draw, "abc", 1 + draw() % 50));
    for (const std::string& word : words) {
      CAPTURE(lines);
      CAPTURE(word);
      const auto expected = plain::encoded(word, merges);
      CHECK(texts_of(tokenizer, tokenizer.encode(word)) == expected);
      in_parts += &word < &words[texts.size()] && expected.size() > 1;
    }
  }
  CHECK(in_parts > 10);
}

TEST_CASE("every byte string comes back, whether it is UTF-8 or not") {
  std::mt19937 draw(7);
  const std::string_view pieces[] = {"a",        " ",    "\xc3\xa9",     "\xf0\x9f\x9a\x82",
                                     "\xc3",     "\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                     "\xe2\x80", "\n",   "'s",           "\xff"};
  const Tokenizer bytes = Tokenizer::bytes();
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (unsigned n = draw() % 20; n > 0; --n)
      text += draw() % 4 ? std::string(pieces[draw() % std::size(pieces)])
                         : std::string(1, static_cast<char>(draw()));
    CAPTURE(text);
    CHECK(trained().decode(trained().encode(text)) == text);
    CHECK(bytes.decode(bytes.encode(text)) == text);
  }
}

TEST_CASE("a byte that is part of no character is neither letter, number nor space") {
  using Words = std::vector<std::string>;
  const struct {
    std::string text;
    Words words;
  } cases[] = {
      {"a\xff"
       "b",
       {"a", "\xff", "b"}},
      {"a\xff\xfe?b", {"a", "\xff\xfe?", "b"}},
      {"a \xc3", {"a", " \xc3"}},
      {"\xc3\xa9\xc3", {"\xc3\xa9", "\xc3"}},                  // a letter, and half of one
      {"\xc0\xa0", {"\xc0\xa0"}},                              // a space in too many bytes
      {"a\xed\xa0\x80z", {"a", "\xed\xa0\x80", "z"}},          // a surrogate
      {"a\xf4\x90\x80\x80z", {"a", "\xf4\x90\x80\x80", "z"}},  // beyond U+10FFFF
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    Words words;
    for (std::size_t begin = 0, end = 0; begin < c.text.size(); begin = end) {
      end = tokens::word_end(c.text, begin);
      words.push_back(c.text.substr(begin, end - begin));
    }
    CHECK(words == c.words);
  }
}

TEST_CASE("the tokenizer of bytes gives each byte its value, and special tokens the next numbers") {
  const Tokenizer tokenizer = Tokenizer::bytes({"<|endoftext|>"});
  CHECK(tokenizer.size() == 257);
  CHECK(tokenizer.special("<|endoftext|>") == 256);
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    CHECK(tokenizer.encode(text) == std::vector<Token>{byte});
    CHECK(tokenizer.text(byte) == text);
  }
  CHECK(tokenizer.encode("").empty());
  CHECK(tokenizer.encode("a<|endoftext|>", {.special = true}) == std::vector<Token>{'a', 256});
}

TEST_CASE("names of special tokens are text unless asked for, and of several the longest counts") {
  const Token a = *trained().special("<a>"), ab = *trained().special("<a><b>"),
              b = *trained().special("<b>"), c = *trained().special("c");
  for (const Token token : trained().encode("<a><b>c <a>")) CHECK(token < a);
  const auto special = [](std::string_view text) {
    return trained().encode(text, {.special = true});
  };
  CHECK(special("<a><b>") == std::vector<Token>{ab});
  CHECK(special("<a><a><b>") == std::vector<Token>{a, ab});
  CHECK(special("<b><a>") == std::vector<Token>{b, a});
  CHECK(special("<a><c<b>") == std::vector<Token>{a, trained().encode("<").front(), c, b});
  CHECK(trained().decode(special("<a><c<b>")) == "<a><c<b>");
}

TEST_CASE("words end where special tokens begin") {
  // "a " before the end of a text is one word's "a" and " ".
  const std::vector<Token> parts = {trained().encode("a ").front(), trained().encode(" ").front(),
                                    *trained().special("<b>"), trained().encode("a").front()};
  CHECK(trained().encode("a <b>a", {.special = true}) == parts);
}

TEST_CASE(
    "a text that is encoded in parts has the same tokens, and more words than are remembered") {
  std::mt19937 draw(8);
  std::string text;  // more than 2^18 different words
  for (int i = 0; i < 280000; ++i)
    text += " " + std::to_string(i * std::int64_t{7919} % 1000003) + "ab";
  text += text.substr(0, 200000);  // the first of them once more
  const std::vector<Token> whole = trained().encode(text);
  std::vector<Token> parts;
  std::size_t before = 0, calls = 0;
  trained().encode(text, [&](std::span<const Token> tokens, std::size_t bytes) {
    CHECK(bytes > before);
    CHECK_FALSE(tokens.empty());
    before = bytes;
    parts.insert(parts.end(), tokens.begin(), tokens.end());
    if (++calls % 8 == 1) CHECK(trained().decode(parts) == text.substr(0, bytes));
  });
  CHECK(calls > 10);
  CHECK(before == text.size());
  CHECK(parts == whole);
  std::vector<Token> words;  // each by a call of its own, which remembers nothing
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = tokens::word_end(text, begin);
    const auto some = trained().encode(text.substr(begin, end - begin));
    words.insert(words.end(), some.begin(), some.end());
  }
  CHECK(words == whole);
}

TEST_CASE("a word of megabytes is encoded, too") {
  const std::string text(std::size_t{1} << 22, 'a');
  const std::vector<Token> tokens = trained().encode(text);
  CHECK(tokens.size() < text.size() / 2);
  CHECK(trained().decode(tokens) == text);
}

TEST_CASE("numbers that are no tokens are refused") {
  const Tokenizer bytes = Tokenizer::bytes();
  for (const Token token : {-1, 256, 1 << 30}) {
    const std::vector<Token> tokens = {65, token};
    const std::string sentence = "tokenizer: token " + std::to_string(token) +
                                 " is none of this tokenizer's 256; decode with the tokenizer that "
                                 "encoded it";
    CHECK(message_of([&] { (void)bytes.decode(tokens); }) == sentence);
    CHECK(message_of([&] { (void)bytes.text(token); }) == sentence);
  }
}

}  // namespace halftone::tests
