// SPDX-License-Identifier: Apache-2.0
#include "tokens_command.hpp"

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "files/mapped_file.hpp"
#include "files/replace_file.hpp"
#include "halftone/tokenizer.hpp"
#include "progress_line.hpp"

namespace halftone::tools {
namespace {

using Say = std::function<void(const std::string&)>;
using Part = std::function<void(std::string_view)>;

constexpr const char* kOperation = "tokens";

/// The task's texts, which lie in files.
struct Texts {
  std::vector<std::shared_ptr<const MappedFile>> files;
  std::vector<std::string_view> texts;
  std::size_t bytes = 0;
};

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

Texts opened(const std::vector<std::string>& files) {
  Texts texts;
  for (const std::string& file : files) {
    texts.files.push_back(MappedFile::open(system_file_calls(), kOperation, file));
    texts.texts.push_back(text_of(*texts.files.back()));
    texts.bytes += texts.texts.back().size();
  }
  return texts;
}

void require_other_file(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (output != input && !std::filesystem::equivalent(output, input, ignored)) continue;
    throw std::runtime_error("'" + output +
                             "' is one of the files to read; name another one with --out");
  }
}

Tokenizer tokenizer_of(const std::string& name) {
  return name == "bytes" ? Tokenizer::bytes() : Tokenizer::load(name);
}

/// The least of u16 and u32 that has all tokens; what encode writes, decode expects.
bool is_wide(const Tokenizer& tokenizer) { return tokenizer.size() > 65536; }

std::optional<Token> end_of(const Tokenizer& tokenizer, const TokensTask& task) {
  if (task.end.empty()) return std::nullopt;
  const auto token = tokenizer.special(task.end);
  if (token) return token;
  std::string names;
  for (const std::string& name : tokenizer.special_names())
    names += (names.empty() ? "'" : ", '") + name + "'";
  throw std::runtime_error("--end: '" + task.end + "' is no special token of " + task.tokenizer +
                           (names.empty() ? ", which has none" : "; it has " + names));
}

/// As little-endian numbers of 2 or 4 bytes.
template <class Number>
void put(std::span<const Token> tokens, std::vector<char>& bytes) {
  bytes.resize(tokens.size() * sizeof(Number));
  char* at = bytes.data();
  for (const Token token : tokens) {
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      *at++ = static_cast<char>(static_cast<std::uint32_t>(token) >> (8 * i));
  }
}

class TokenWriter {
 public:
  TokenWriter(bool is_wide, const Part& write) : is_wide_(is_wide), write_(write) {}

  void operator()(std::span<const Token> tokens) {
    is_wide_ ? put<std::uint32_t>(tokens, bytes_) : put<std::uint16_t>(tokens, bytes_);
    write_({bytes_.data(), bytes_.size()});
    count_ += tokens.size();
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  bool is_wide_;
  const Part& write_;
  std::vector<char> bytes_;
  std::size_t count_ = 0;
};

template <class Number>
void decode(const Tokenizer& tokenizer, std::string_view bytes, const std::string& file,
            const Part& write) {
  if (bytes.size() % sizeof(Number) != 0)
    throw std::runtime_error("'" + file + "' has " + std::to_string(bytes.size()) +
                             " bytes, which are no tokens of " + std::to_string(sizeof(Number)) +
                             "; give the file that encode wrote, and its tokenizer");
  ProgressLine progress;
  constexpr std::size_t kPart = std::size_t{1} << 16;
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Number)) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      number |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    if (number >= tokenizer.size())
      throw std::runtime_error(
          "'" + file + "' has token " + std::to_string(number) + " as number " +
          std::to_string(at / sizeof(Number)) + ", which is none of the tokenizer's " +
          std::to_string(tokenizer.size()) + "; give the tokenizer that encoded it");
    text += tokenizer.text(static_cast<Token>(number));
    if (text.size() < kPart) continue;
    write(text);
    text.clear();
    progress("decode: " + megabytes(at) + " of " + megabytes(bytes.size()));
  }
  write(text);
}

}  // namespace

void train_tokenizer(const TokensTask& task, const Say& say) {
  require_other_file(task.output, task.texts);
  const Texts texts = opened(task.texts);
  ProgressLine progress;
  const auto follow = [&](const TokenizerProgress& so_far) {
    const auto bytes = static_cast<std::size_t>(so_far.bytes);
    progress("train: " + (bytes < texts.bytes ? megabytes(bytes) + " of " + megabytes(texts.bytes)
                                              : std::to_string(so_far.tokens) + " of " +
                                                    std::to_string(task.size) + " tokens"));
  };
  const Tokenizer tokenizer = Tokenizer::train(texts.texts, {.size = task.size,
                                                             .special = task.special,
                                                             .least_count = task.least_count,
                                                             .progress = follow});
  tokenizer.save(task.output);
  progress.clear();
  say(task.output + ": " + std::to_string(tokenizer.size()) + " tokens" +
      (tokenizer.size() < task.size
           ? ", since no other pair is there " + std::to_string(task.least_count) + " times"
           : ""));
}

void encode_texts(const TokensTask& task, const Say& say) {
  require_other_file(task.output, task.texts);
  require_other_file(task.output, {task.tokenizer});
  const Tokenizer tokenizer = tokenizer_of(task.tokenizer);
  const std::optional<Token> end = end_of(tokenizer, task);
  const Texts texts = opened(task.texts);
  ProgressLine progress;
  std::size_t before = 0, count = 0;
  const auto write_all = [&](const Part& part) {
    TokenWriter write(is_wide(tokenizer), part);
    for (const std::string_view text : texts.texts) {
      const auto take = [&](std::span<const Token> tokens, std::size_t bytes) {
        write(tokens);
        progress("encode: " + megabytes(before + bytes) + " of " + megabytes(texts.bytes));
      };
      tokenizer.encode(text, take, {.special = task.names_special});
      if (end) write({&*end, 1});
      before += text.size();
    }
    count = write.count();
  };
  replace_file_in_parts(system_file_calls(), kOperation, task.output, write_all, 0);
  progress.clear();
  say(task.output + ": " + std::to_string(count) + " tokens of u" +
      (is_wide(tokenizer) ? "32" : "16") + " from " + std::to_string(texts.bytes) + " bytes");
}

void decode_tokens(const TokensTask& task, const Say& say) {
  const Tokenizer tokenizer = tokenizer_of(task.tokenizer);
  const auto file = MappedFile::open(system_file_calls(), kOperation, task.tokens);
  const auto write_all = [&](const Part& part) {
    is_wide(tokenizer) ? decode<std::uint32_t>(tokenizer, text_of(*file), task.tokens, part)
                       : decode<std::uint16_t>(tokenizer, text_of(*file), task.tokens, part);
  };
  if (task.output.empty()) return write_all([](std::string_view part) { std::cout << part; });
  require_other_file(task.output, {task.tokenizer, task.tokens});
  replace_file_in_parts(system_file_calls(), kOperation, task.output, write_all, 0);
  say(task.output + ": " + std::to_string(std::filesystem::file_size(task.output)) + " bytes");
}

}  // namespace halftone::tools
