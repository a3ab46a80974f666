// SPDX-License-Identifier: Apache-2.0
#include "spelled.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "byte_characters.hpp"
#include "files/replace_file.hpp"
#include "text.hpp"
#include "utf8.hpp"

namespace halftone::tokens {
namespace {

constexpr const char* kGiveAnother = "give byte-level BPE, as GPT-2's is";

using Numbers = std::unordered_map<std::string, Token>;

/// Turns the parts of a file into a vocabulary, and refuses those that do not fit together.
class Reader {
 public:
  Reader(const Source& source, Spelled spelled) : source_(source), spelled_(std::move(spelled)) {
    const auto count = static_cast<Token>(spelled_.names.size());
    for (Token token = 0; token < count; ++token)
      numbers_.emplace(spelled_.names[static_cast<std::size_t>(token)], token);
  }

  std::shared_ptr<Tokenizer::Vocabulary> read() {
    read_bytes();
    for (const auto& merge : spelled_.merges) read_merge(merge);
    read_special();
    read_texts();
    return vocabulary_;
  }

 private:
  Token number_of(const std::string& name, const char* what) {
    const auto found = numbers_.find(name);
    if (found == numbers_.end())
      source_.refuse("has " + std::string(what) + " " + shown(name) + ", which is no token",
                     kGiveAnother);
    return found->second;
  }

  void read_bytes() {
    is_made_.resize(spelled_.names.size());
    for (unsigned byte = 0; byte < kBytes; ++byte) {
      const Token token =
          number_of(characters_of(std::string(1, static_cast<char>(byte))), "for a byte");
      vocabulary_->of_byte[byte] = token;
      is_made_[static_cast<std::size_t>(token)] = true;
    }
  }

  void read_merge(const std::pair<std::string, std::string>& merge) {
    const Token left = number_of(merge.first, "a merge of"),
                right = number_of(merge.second, "a merge of"),
                made = number_of(merge.first + merge.second, "a merge to");
    if (vocabulary_->ranks.find(pair_of(left, right)) != PairTable::kNone)
      source_.refuse("has the merge " + shown(line_of(merge)) + " twice", "leave one out");
    is_made_[static_cast<std::size_t>(made)] = true;
    vocabulary_->add_merge({left, right, made});
  }

  void read_special() {
    std::vector<Token>& special = vocabulary_->special;
    special = std::move(spelled_.special);
    for (std::size_t token = 0; spelled_.unmade_are_special && token < is_made_.size(); ++token)
      if (!is_made_[token]) special.push_back(static_cast<Token>(token));
    std::ranges::sort(special);
    const auto rest = std::ranges::unique(special);
    special.erase(rest.begin(), rest.end());
    for (const Token token : special) {
      const std::string& name = spelled_.names[static_cast<std::size_t>(token)];
      source_.require(!name.empty(), "has a special token without a name", "give it one");
      source_.require(!is_made_[static_cast<std::size_t>(token)],
                      "has the special token " + shown(name) + ", which is a byte or merged, too",
                      "give it another name");
    }
  }

  void read_texts() {
    const auto& special = vocabulary_->special;
    for (std::size_t token = 0; token < spelled_.names.size(); ++token) {
      const std::string& name = spelled_.names[token];
      if (std::ranges::binary_search(special, static_cast<Token>(token))) {
        vocabulary_->texts.push_back(name);
        continue;
      }
      const auto bytes = bytes_of(name);
      if (!bytes)
        source_.refuse("has the token " + shown(name) + ", whose characters stand for no bytes",
                       kGiveAnother);
      vocabulary_->texts.push_back(*bytes);
    }
  }

  const Source& source_;
  Spelled spelled_;
  Numbers numbers_;
  std::vector<bool> is_made_;
  std::shared_ptr<Tokenizer::Vocabulary> vocabulary_ = std::make_shared<Tokenizer::Vocabulary>();
};

}  // namespace

void Source::refuse(std::string cause, std::string hint) const {
  tokens::refuse(named("file", file_.string()), std::move(cause), std::move(hint));
}

std::string Source::text() const {
  const std::vector<std::byte> bytes = read_file(system_file_calls(), kOperation, file_);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

nlohmann::json Source::json() const {
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text());
  } catch (const nlohmann::json::parse_error& error) {
    refuse("is no JSON at byte " + std::to_string(error.byte),
           "give a tokenizer.json, or the folder of a vocab.json and its merges.txt");
  } catch (const nlohmann::json::out_of_range&) {
    refuse("has a number that no 64 bits hold", "number tokens from 0");
  }
  require(json.is_object(), "is no JSON object",
          "give a tokenizer.json, or the folder of a vocab.json and its merges.txt");
  return json;
}

std::vector<std::string> Source::names_of(const nlohmann::json& vocabulary) const {
  require(vocabulary.is_object(), "has no vocabulary of names and numbers", kGiveAnother);
  std::vector<std::string> names(vocabulary.size());
  std::vector<bool> is_there(names.size());
  for (const auto& [name, number] : vocabulary.items()) {
    const bool fits = number.is_number_unsigned() && number.get<std::uint64_t>() < names.size() &&
                      !is_there[number.get<std::size_t>()];
    require(fits, "gives the token " + shown(name) + " the number " + shown(brief(number)),
            "number the " + std::to_string(names.size()) + " tokens from 0, each once");
    names[number.get<std::size_t>()] = name;
    is_there[number.get<std::size_t>()] = true;
  }
  return names;
}

std::shared_ptr<Tokenizer::Vocabulary> Source::vocabulary_of(Spelled spelled) const {
  return Reader(*this, std::move(spelled)).read();
}

Spelled spelled(const Tokenizer::Vocabulary& vocabulary) {
  Spelled spelled{.names = {}, .merges = {}, .special = vocabulary.special};
  for (const std::string& text : vocabulary.texts) spelled.names.push_back(characters_of(text));
  const auto at = [](Token token) { return static_cast<std::size_t>(token); };
  for (const Token token : vocabulary.special)
    spelled.names[at(token)] = vocabulary.texts[at(token)];
  for (const auto& merge : vocabulary.merges)
    spelled.merges.emplace_back(spelled.names[at(merge.left)], spelled.names[at(merge.right)]);
  return spelled;
}

std::string json_of(const std::vector<std::string>& names, const char* indent) {
  std::string json;
  for (std::size_t token = 0; token < names.size(); ++token) {
    json += token == 0 ? "\n" : ",\n";
    json += indent;
    append_json_text(json, names[token]);
    json += ": " + std::to_string(token);
  }
  return json + "\n";
}

std::string brief(const nlohmann::json& value) {
  return value.is_structured() ? value.type_name() : value.dump();
}

std::string line_of(const std::pair<std::string, std::string>& merge) {
  return merge.first + " " + merge.second;
}

void write(const std::filesystem::path& file, std::string_view text) {
  const std::array<std::string_view, 1> parts = {text};
  replace_file(system_file_calls(), kOperation, file, parts, 0);
}

}  // namespace halftone::tokens
