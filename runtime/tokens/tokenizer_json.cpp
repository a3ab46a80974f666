// SPDX-License-Identifier: Apache-2.0
// tokenizer.json of Hugging Face's tokenizers, as far as it is byte-level BPE with GPT-2's pattern.
#include "spelled.hpp"
#include "text.hpp"
#include "utf8.hpp"

namespace halftone::tokens {
namespace {

using Json = nlohmann::json;

/// Null where there is no such member, too.
const Json& member(const Json& object, const char* name) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

bool is_absent(const Json& value) { return value.is_null() || value == "" || value == false; }

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : source_(file), json_(source_.json()) {}

  Tokenizer read() {
    require_form();
    const Json& model = member(json_, "model");
    Spelled spelled;
    spelled.names = source_.names_of(member(model, "vocab"));
    read_merges(member(model, "merges"), spelled);
    read_added(member(json_, "added_tokens"), spelled);
    return Tokenizer(source_.vocabulary_of(std::move(spelled)));
  }

 private:
  /// What would make other tokens than ours is refused.
  void require_form() const {
    const Json& model = member(json_, "model");
    source_.require(member(model, "type") == "BPE", "has no model of type BPE",
                    "give byte-level BPE, as GPT-2's is");
    for (const char* name :
         {"continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "ignore_merges"}) {
      source_.require(is_absent(member(model, name)),
                      "has a model with " + std::string(name) + ", which is not supported",
                      "give byte-level BPE without it");
    }
    const Json& dropout = member(model, "dropout");
    source_.require(dropout.is_null() || dropout == 0.0, "has a model with dropout",
                    "set it to null: encoding draws nothing");
    source_.require(member(json_, "normalizer").is_null(),
                    "has a normalizer, which is not supported",
                    "give one without, whose tokens are of the text as it is");
    const Json& words = member(json_, "pre_tokenizer");
    source_.require(member(words, "type") == "ByteLevel" && member(words, "use_regex") != false,
                    "has another pre_tokenizer than ByteLevel with its own pattern",
                    "give one that makes words as GPT-2's does");
    source_.require(member(words, "add_prefix_space") == false,
                    "has a pre_tokenizer that adds a space before texts",
                    "set add_prefix_space to false, and begin texts with a space yourself");
  }

  /// "left right", or ["left", "right"].
  void read_merges(const Json& merges, Spelled& spelled) const {
    source_.require(merges.is_array(), "has a model without merges", "give byte-level BPE");
    for (const Json& merge : merges) {
      const bool is_list =
          merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
      const std::string text = merge.is_string() ? merge.get<std::string>() : "";
      const std::size_t space = text.find(' ');
      source_.require(is_list || space != text.npos,
                      "has " + shown(brief(merge)) + " among its merges",
                      "give each as \"left right\" or [\"left\", \"right\"]");
      if (is_list) {
        spelled.merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
      } else {
        spelled.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
      }
    }
  }

  /// Each is in the vocabulary already, or gets the next number.
  void read_added(const Json& added, Spelled& spelled) const {
    source_.require(added.is_null() || added.is_array(), "has added_tokens that are no list",
                    "give a list of objects");
    for (const Json& token : added) {
      const Json &content = member(token, "content"), &id = member(token, "id");
      source_.require(content.is_string() && id.is_number_unsigned(),
                      "has " + shown(brief(token)) + " among its added_tokens",
                      "give each content and id");
      const auto name = content.get<std::string>();
      const std::string what = "has the added token " + shown(name);
      for (const char* option : {"single_word", "lstrip", "rstrip"})
        source_.require(is_absent(member(token, option)), what + " with " + option,
                        "set it to false");
      source_.require(member(token, "special") == true, what + ", which is not special",
                      "make it special, or leave it out");
      const auto number = id.get<std::uint64_t>();
      if (number == spelled.names.size()) spelled.names.push_back(name);
      source_.require(number < spelled.names.size() && spelled.names[number] == name,
                      what + " as number " + std::to_string(number) + ", which is not its place",
                      "number it as in the vocabulary, or behind it without a gap");
      spelled.special.push_back(static_cast<Token>(number));
    }
  }

  Source source_;
  Json json_;
};

constexpr const char* kHead = R"({
  "version": "1.0",
  "truncation": null,
  "padding": null,
  "added_tokens": [)";

constexpr const char* kBody = R"(],
  "normalizer": null,
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
  "post_processor": null,
  "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
  "model": {
    "type": "BPE",
    "dropout": null,
    "unk_token": null,
    "continuing_subword_prefix": null,
    "end_of_word_suffix": null,
    "fuse_unk": false,
    "byte_fallback": false,
    "ignore_merges": false,
    "vocab": {)";

}  // namespace

Tokenizer load_tokenizer_json(const std::filesystem::path& file) { return Reader(file).read(); }

void save_tokenizer_json(const Tokenizer::Vocabulary& vocabulary,
                         const std::filesystem::path& file) {
  const Spelled parts = spelled(vocabulary);
  std::string json = kHead;
  for (const Token token : parts.special) {
    json += token == parts.special.front() ? "\n" : ",\n";
    json += "    {\"id\": " + std::to_string(token) + ", \"content\": ";
    append_json_text(json, parts.names[static_cast<std::size_t>(token)]);
    json += R"(, "single_word": false, "lstrip": false, "rstrip": false, )"
            R"("normalized": false, "special": true})";
  }
  json += kBody + json_of(parts.names, "      ") + "    },\n    \"merges\": [";
  for (const auto& merge : parts.merges) {
    json += &merge == parts.merges.data() ? "\n      " : ",\n      ";
    append_json_text(json, line_of(merge));
  }
  write(file, json + "\n    ]\n  }\n}\n");
}

}  // namespace halftone::tokens
