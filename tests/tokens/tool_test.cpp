// SPDX-License-Identifier: Apache-2.0
// `halftone tokens`: what it writes is what the library makes, and what the loader's source reads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "files/scratch_folder.hpp"
#include "halftone/loader.hpp"
#include "halftone/tokenizer.hpp"
#include "run_tool.hpp"

namespace halftone::tests {
namespace {

struct Texts {
  ScratchFolder scratch;
  std::string first = scratch / "first.txt", second = scratch / "second.txt",
              tokenizer = scratch / "t.json", tokens = scratch / "t.tok";

  Texts() {
    std::string text;
    for (int i = 0; i < 300; ++i) text += "the cat sat on the mat " + std::to_string(i) + "\n";
    write_file(first, text);
    write_file(second, "the \xff<|endoftext|> end");
  }
};

void check_refused(const std::string& arguments, const std::string& sentence) {
  const Outcome outcome = run_tool("tokens " + arguments);
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors == "halftone: " + sentence + "\n");
}

std::string said(const std::string& arguments) {
  const Outcome outcome = run_tool("tokens " + arguments);
  CHECK(outcome.errors == "");
  CHECK(outcome.status == 0);
  return outcome.output;
}

template <class Number>
std::vector<Token> numbers_of(const std::string& file) {
  const std::string bytes = bytes_of_file(file);
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return {numbers.begin(), numbers.end()};
}

}  // namespace

TEST_CASE("the tool trains as the library does") {
  const Texts texts;
  CHECK(said("train " + texts.first + " " + texts.second + " --size 300 --out " +
             texts.tokenizer) == texts.tokenizer + ": 300 tokens\n");
  const std::string first = bytes_of_file(texts.first), second = bytes_of_file(texts.second);
  const std::string_view views[] = {first, second};
  Tokenizer::train(views, {.size = 300, .special = {"<|endoftext|>"}})
      .save(texts.scratch / "ours.json");
  CHECK(bytes_of_file(texts.tokenizer) == bytes_of_file(texts.scratch / "ours.json"));
  CHECK(said("train " + texts.second +
             " --special '<a>' --special '<b>' --least 1 --size 270 --out " +
             texts.scratch.path()) == texts.scratch.path() + ": 270 tokens\n");
  CHECK(Tokenizer::load(texts.scratch.path()).special_names() ==
        std::vector<std::string>{"<a>", "<b>"});
  CHECK(said("train " + texts.second + " --least 1000 --out " + texts.tokenizer) ==
        texts.tokenizer + ": 257 tokens, since no other pair is there 1000 times\n");
}

TEST_CASE("token files hold the texts' tokens, are read by the loader's source, and decoded") {
  const Texts texts;
  const std::string both = texts.first + " " + texts.second;
  said("train " + both + " --size 300 --out " + texts.tokenizer);
  const Tokenizer tokenizer = Tokenizer::load(texts.tokenizer);
  const std::string first = bytes_of_file(texts.first), second = bytes_of_file(texts.second);
  const Token end = *tokenizer.special("<|endoftext|>");
  std::vector<Token> expected = tokenizer.encode(first);
  expected.push_back(end);
  for (const Token token : tokenizer.encode(second, {.special = true})) expected.push_back(token);
  expected.push_back(end);
  const std::string count = std::to_string(expected.size());
  const std::string encode = "encode " + texts.tokenizer + " " + both + " --out " + texts.tokens;
  CHECK(said(encode + " --special --end '<|endoftext|>'") ==
        texts.tokens + ": " + count + " tokens of u16 from " +
            std::to_string(first.size() + second.size()) + " bytes\n");
  CHECK(numbers_of<std::uint16_t>(texts.tokens) == expected);
  CHECK(said("decode " + texts.tokenizer + " " + texts.tokens) ==
        first + "<|endoftext|>" + second + "<|endoftext|>");
  const std::string text = texts.scratch / "again.txt";
  said("decode " + texts.tokenizer + " " + texts.tokens + " --out " + text);
  CHECK(bytes_of_file(text) == first + "<|endoftext|>" + second + "<|endoftext|>");

  Loader loader(Dataset::tokens(texts.tokens, {.input = "in", .length = 8}),
                {.batch = 1, .shuffle = false});
  for (std::size_t at = 0; const auto batch = loader.next(); at += 8) {
    const auto& row = std::get<std::span<const std::int32_t>>(batch->inputs[0].values);
    REQUIRE(row.size() == 8);
    for (std::size_t i = 0; i < 8; ++i) CHECK(row[i] == expected[at + i]);
  }
  said(encode);
  CHECK(numbers_of<std::uint16_t>(texts.tokens).size() ==
        tokenizer.encode(first).size() + tokenizer.encode(second).size());
}

TEST_CASE("more than 65536 tokens are numbers of 32 bits") {
  const Texts texts;
  write_file(texts.first, "a<65280>b");
  for (const bool is_wide : {false, true}) {
    std::vector<std::string> special;
    for (int i = 0; i < (is_wide ? 65281 : 65280); ++i)
      special.push_back("<" + std::to_string(i) + ">");
    Tokenizer::bytes(special).save(texts.tokenizer);
    const std::string output =
        said("encode --special " + texts.tokenizer + " " + texts.first + " --out " + texts.tokens);
    CHECK(output.find(is_wide ? " 3 tokens of u32 " : " 9 tokens of u16 ") != output.npos);
    CHECK(said("decode " + texts.tokenizer + " " + texts.tokens) == "a<65280>b");
  }
  CHECK(numbers_of<std::uint32_t>(texts.tokens) == std::vector<Token>{'a', 65536, 'b'});
}

TEST_CASE("bytes are tokens without a tokenizer's file, and an empty text has none") {
  const Texts texts;
  said("encode bytes " + texts.second + " --out " + texts.tokens);
  CHECK(numbers_of<std::uint16_t>(texts.tokens) ==
        Tokenizer::bytes().encode(bytes_of_file(texts.second)));
  CHECK(said("decode bytes " + texts.tokens) == bytes_of_file(texts.second));
  write_file(texts.first, "");
  CHECK(said("encode bytes " + texts.first + " --out " + texts.tokens) ==
        texts.tokens + ": 0 tokens of u16 from 0 bytes\n");
  CHECK(said("decode bytes " + texts.tokens).empty());
}

TEST_CASE("what cannot be done is said in one sentence, and no file is touched") {
  const Texts texts;
  said("train " + texts.first + " --size 300 --out " + texts.tokenizer);
  const std::string before = bytes_of_file(texts.tokenizer);
  const std::string reads = "' is one of the files to read; name another one with --out";
  check_refused("train " + texts.tokenizer + " --out " + texts.tokenizer,
                "'" + texts.tokenizer + reads);
  check_refused("encode " + texts.tokenizer + " " + texts.first + " --out " + texts.tokenizer,
                "'" + texts.tokenizer + reads);
  check_refused("encode bytes " + texts.first + " --out " + texts.scratch.path() + "/./first.txt",
                "'" + texts.scratch.path() + "/./first.txt" + reads);
  check_refused("encode bytes " + texts.first + " --end x --out " + texts.tokens,
                "--end: 'x' is no special token of bytes, which has none");
  check_refused(
      "encode " + texts.tokenizer + " " + texts.first + " --end x --out " + texts.tokens,
      "--end: 'x' is no special token of " + texts.tokenizer + "; it has '<|endoftext|>'");
  write_file(texts.tokens, "abc");
  check_refused("decode bytes " + texts.tokens,
                "'" + texts.tokens +
                    "' has 3 bytes, which are no tokens of 2; give the file that encode wrote, and "
                    "its tokenizer");
  write_file(texts.tokens, std::string("a\0\0\1", 4));
  check_refused("decode bytes " + texts.tokens + " --out " + texts.scratch / "none",
                "'" + texts.tokens +
                    "' has token 256 as number 1, which is none of the tokenizer's 256; give the "
                    "tokenizer that encoded it");
  for (const char* left : {"none", "none.saving"})
    CHECK_FALSE(std::filesystem::exists(texts.scratch / left));
  check_refused("train " + (texts.scratch / "none") + " --out " + texts.tokenizer,
                "tokens: file '" + (texts.scratch / "none") +
                    "' cannot be opened: No such file or directory; check the path and its "
                    "permissions");
  CHECK(bytes_of_file(texts.tokenizer) == before);
}

TEST_CASE("help of every command fits on a screen") {
  for (const char* command : {"", "train", "encode", "decode"}) {
    const std::string help = said(std::string(command) + " --help");
    CHECK(std::count(help.begin(), help.end(), '\n') <= 24);
  }
}

}  // namespace halftone::tests
