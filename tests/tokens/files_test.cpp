// SPDX-License-Identifier: Apache-2.0
// tokenizer.json, and vocab.json with merges.txt: what is written is read, and what would make
// other tokens is refused.
#include <doctest/doctest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "files/scratch_folder.hpp"
#include "halftone/tokenizer.hpp"
#include "message_of.hpp"

namespace halftone::tests {
namespace {

using Json = nlohmann::json;

Tokenizer trained() {
  const std::string_view texts[] = {"one two one two \xc3\xa9\xc3\xa9 \"\\ \"\\ one\n\none\n\n"};
  return Tokenizer::train(texts, {.size = 280, .special = {"<|a b|>", "\xe2\x82\xac\"\n"}});
}

void check_same(const Tokenizer& a, const Tokenizer& b) {
  REQUIRE(a.size() == b.size());
  for (Token token = 0; token < a.size(); ++token) CHECK(a.text(token) == b.text(token));
  CHECK(a.special_names() == b.special_names());
  const std::string text = "one two \xff\xc3\xa9\xc3\xa9 <|a b|>\n\n one\"\\";
  CHECK(a.encode(text) == b.encode(text));
  CHECK(a.encode(text, {.special = true}) == b.encode(text, {.special = true}));
}

/// What `load` says of a file that differs in one thing.
class Changed {
 public:
  Changed() { trained().save(file_); }

  std::string refusal(const std::function<void(Json&)>& change) {
    Json json = Json::parse(bytes_of_file(file_));
    change(json);
    return refusal_of(json.dump());
  }
  std::string refusal_of(std::string_view text) {
    write_file(other_, text);
    const std::string message = message_of([&] { (void)Tokenizer::load(other_); });
    const std::string head = "tokenizer: file '" + other_ + "' ";
    return message.starts_with(head) ? message.substr(head.size()) : message;
  }

 private:
  ScratchFolder scratch_;
  std::string file_ = scratch_ / "tokenizer.json", other_ = scratch_ / "other.json";
};

}  // namespace

TEST_CASE("tokenizers come back from both forms of files, and their files are the same again") {
  const ScratchFolder scratch;
  for (const Tokenizer& tokenizer : {trained(), Tokenizer::bytes(), Tokenizer::bytes({"<|x|>"})}) {
    tokenizer.save(scratch / "a.json");
    const Tokenizer json = Tokenizer::load(scratch / "a.json");
    check_same(tokenizer, json);
    json.save(scratch / "b.json");
    CHECK(bytes_of_file(scratch / "a.json") == bytes_of_file(scratch / "b.json"));
    tokenizer.save(scratch.path());
    check_same(tokenizer, Tokenizer::load(scratch.path()));
  }
}

TEST_CASE("merges.txt may have other line ends, an empty line, and no version") {
  const ScratchFolder scratch;
  trained().save(scratch.path());
  std::string merges = bytes_of_file(scratch / "merges.txt");
  merges = merges.substr(merges.find('\n') + 1);
  for (std::size_t at = 0; (at = merges.find('\n', at)) != merges.npos; at += 2)
    merges.replace(at, 1, "\r\n");
  write_file(scratch / "merges.txt", merges + "\r\n");
  check_same(trained(), Tokenizer::load(scratch.path()));
}

TEST_CASE("a tokenizer.json that would make other tokens is refused") {
  Changed changed;
  CHECK(changed.refusal([](Json&) {}) == "no error");
  const auto model = [](const char* name, Json value) {
    return [=](Json& json) { json["model"][name] = value; };
  };
  const auto words = [](const char* name, Json value) {
    return [=](Json& json) { json["pre_tokenizer"][name] = value; };
  };
  const auto added = [](const char* name, Json value) {
    return [=](Json& json) { json["added_tokens"][0][name] = value; };
  };
  const struct {
    std::function<void(Json&)> change;
    std::string sentence;
  } cases[] = {
      {model("type", "WordPiece"), "has no model of type BPE; give byte-level BPE, as GPT-2's is"},
      {[](Json& json) { json.erase("model"); },
       "has no model of type BPE; give byte-level BPE, as GPT-2's is"},
      {model("end_of_word_suffix", "</w>"),
       "has a model with end_of_word_suffix, which is not supported; give byte-level BPE without "
       "it"},
      {model("ignore_merges", true),
       "has a model with ignore_merges, which is not supported; give byte-level BPE without it"},
      {model("dropout", 0.1), "has a model with dropout; set it to null: encoding draws nothing"},
      {[](Json& json) { json["normalizer"] = {{"type", "NFC"}}; },
       "has a normalizer, which is not supported; give one without, whose tokens are of the text "
       "as "
       "it is"},
      {words("type", "Whitespace"),
       "has another pre_tokenizer than ByteLevel with its own pattern; give one that makes words "
       "as "
       "GPT-2's does"},
      {words("use_regex", false),
       "has another pre_tokenizer than ByteLevel with its own pattern; give one that makes words "
       "as "
       "GPT-2's does"},
      {words("add_prefix_space", true),
       "has a pre_tokenizer that adds a space before texts; set add_prefix_space to false, and "
       "begin "
       "texts with a space yourself"},
      {model("vocab", Json::array()),
       "has no vocabulary of names and numbers; give byte-level BPE, as GPT-2's is"},
      {[](Json& json) { json["model"]["vocab"]["a"] = 1 << 20; },
       "gives the token 'a' the number '1048576'; number the 267 tokens from 0, each once"},
      {[](Json& json) { json["model"]["vocab"]["b"] = -1; },
       "gives the token 'b' the number '-1'; number the 267 tokens from 0, each once"},
      {[](Json& json) { json["model"]["vocab"]["c"] = json["model"]["vocab"]["d"]; },
       "gives the token 'd' the number '67'; number the 267 tokens from 0, each once"},
      {[](Json& json) {
         json["model"]["vocab"]["xx"] = json["model"]["vocab"]["x"];
         json["model"]["vocab"].erase("x");
       },
       "has for a byte 'x', which is no token; give byte-level BPE, as GPT-2's is"},
      {[](Json& json) { json["model"]["merges"].push_back("xx y"); },
       "has a merge of 'xx', which is no token; give byte-level BPE, as GPT-2's is"},
      {[](Json& json) { json["model"]["merges"].push_back("x y"); },
       "has a merge to 'xy', which is no token; give byte-level BPE, as GPT-2's is"},
      {[](Json& json) { json["model"]["merges"].push_back(json["model"]["merges"][0]); },
       "has the merge 'n e' twice; leave one out"},
      {[](Json& json) { json["model"]["merges"].push_back(7); },
       "has '7' among its merges; give each as \"left right\" or [\"left\", \"right\"]"},
      {model("merges", Json()), "has a model without merges; give byte-level BPE"},
      {added("lstrip", true), "has the added token '<|a b|>' with lstrip; set it to false"},
      {added("special", false),
       "has the added token '<|a b|>', which is not special; make it special, or leave it out"},
      {added("id", 3),
       "has the added token '<|a b|>' as number 3, which is not its place; number it as in the "
       "vocabulary, or behind it without a gap"},
      {added("id", 100000),
       "has the added token '<|a b|>' as number 100000, which is not its place; number it as in "
       "the "
       "vocabulary, or behind it without a gap"},
      {[](Json& json) {
         json["added_tokens"].push_back(json["added_tokens"][0]);
         json["added_tokens"][2]["content"] = "o";
         json["added_tokens"][2]["id"] = json["model"]["vocab"]["o"];
       },
       "has the special token 'o', which is a byte or merged, too; give it another name"},
      {[](Json& json) { json["added_tokens"] = 1; },
       "has added_tokens that are no list; give a list of objects"},
      {[](Json& json) { json["added_tokens"] = Json::array(); },
       "has the token '<|a b|>', whose characters stand for no bytes; give byte-level BPE, as "
       "GPT-2's is"},
  };
  for (const auto& c : cases) CHECK(changed.refusal(c.change) == c.sentence);
}

TEST_CASE("files that are none are refused") {
  Changed changed;
  const std::string give =
      "; give a tokenizer.json, or the folder of a vocab.json and its merges.txt";
  CHECK(changed.refusal_of("") == "is no JSON at byte 1" + give);
  CHECK(changed.refusal_of("{\"a\": }") == "is no JSON at byte 7" + give);
  CHECK(changed.refusal_of("{\"a\": \"\xff\"}") == "is no JSON at byte 8" + give);
  CHECK(changed.refusal_of("[]") == "is no JSON object" + give);
  CHECK(changed.refusal_of("{\"model\": 1e999}") ==
        "has a number that no 64 bits hold; number tokens from 0");
  const std::string deep(100000, '[');  // what names it must not follow it down
  CHECK(changed.refusal_of("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": " + deep +
                           std::string(deep.size(), ']') +
                           "}}, \"pre_tokenizer\": {\"type\": \"ByteLevel\", "
                           "\"add_prefix_space\": false}}") ==
        "gives the token 'a' the number 'array'; number the 1 tokens from 0, each once");
  const ScratchFolder scratch;
  CHECK(message_of([&] {
          (void)Tokenizer::load(scratch.path());
        }).starts_with("tokenizer: file '" + (scratch / "vocab.json") + "' cannot be opened"));
  trained().save(scratch.path());
  write_file(scratch / "merges.txt", "#version: 0.2\no n\no n e\n");
  CHECK(message_of([&] { (void)Tokenizer::load(scratch.path()); }) ==
        "tokenizer: file '" + (scratch / "merges.txt") +
            "' has 'o n e' in line 3; give two tokens in each line, with a space between them");
}

TEST_CASE("a damaged file is refused, or is a tokenizer that gives texts back") {
  const ScratchFolder scratch;
  const std::string file = scratch / "t.json", text = "one two \xff\xc3\xa9 <|a b|>";
  trained().save(file);
  const std::string sound = bytes_of_file(file);
  std::mt19937 draw(9);
  constexpr std::string_view kBytes = "0123456789{}[]\",: \\aeoX\xc4\xa0\n";
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::string damaged = sound;
    // Half of the time behind the vocabulary of bytes, which is most of the file.
    const std::size_t first = i % 2 ? damaged.find("\"merges\"") : 0;
    for (unsigned n = 1 + draw() % 2; n > 0; --n)
      damaged[first + draw() % (damaged.size() - first)] = kBytes[draw() % kBytes.size()];
    if (i % 10 == 0) damaged.resize(draw() % damaged.size());
    write_file(file, damaged);
    CAPTURE(damaged);
    const std::string message = message_of([&] {
      const Tokenizer tokenizer = Tokenizer::load(file);
      CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
    });
    const bool is_refused = message != "no error";
    if (is_refused) CHECK(message.starts_with("tokenizer: file '" + file + "' "));
    refused += is_refused;
  }
  CHECK(refused > 100);
  CHECK(refused < 400);
}

}  // namespace halftone::tests
