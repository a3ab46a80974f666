// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes, as any of the files that a tokenizer is loaded from, are refused
// with a sentence or make one that gives every text back and is the same when it was saved and
// loaded.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/tokenizer.hpp"

using halftone::Token;
using halftone::Tokenizer;
namespace fs = std::filesystem;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// In memory where the system has such a folder.
fs::path folder() {
  // Never destroyed: it is asked once more at exit.
  static const fs::path& made = *new fs::path([] {
    std::error_code ignored;
    const fs::path memory = "/dev/shm";
    const fs::path root = fs::is_directory(memory, ignored) ? memory : fs::temp_directory_path();
    fs::path own = root / ("halftone_fuzz_tokens_" + std::to_string(getpid()));
    fs::create_directories(own / "gpt2");
    std::atexit([] {
      std::error_code failed;
      fs::remove_all(folder(), failed);
    });
    return own;
  }());
  return made;
}

void write(const fs::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary)
      .write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}

/// Nothing where the file is refused.
std::optional<Tokenizer> load(const fs::path& file) {
  try {
    return Tokenizer::load(file);
  } catch (const halftone::Error& error) {
    require(!std::string_view(error.what()).empty());
    return std::nullopt;
  }
}

void check(const Tokenizer& tokenizer, std::string_view text) {
  for (const bool special : {false, true}) {
    const std::vector<Token> tokens = tokenizer.encode(text, {.special = special});
    for (const Token token : tokens) require(token >= 0 && token < tokenizer.size());
    require(tokenizer.decode(tokens) == text);
  }
}

void check_saved(const Tokenizer& tokenizer, std::string_view text) {
  const fs::path file = folder() / "saved.json";
  tokenizer.save(file);
  const Tokenizer again = Tokenizer::load(file);
  require(again.size() == tokenizer.size() && again.special_names() == tokenizer.special_names() &&
          again.encode(text) == tokenizer.encode(text));
}

/// Parts of the input, by NULs; the last has the rest.
std::array<std::string_view, 3> cut(std::string_view text) {
  std::array<std::string_view, 3> parts;
  for (std::string_view& part : parts) {
    const std::size_t end = &part == &parts.back() ? text.size() : text.find('\0');
    part = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return parts;
}

/// The tokenizer.json of all bytes with these texts behind its vocabulary, merges and added tokens.
std::string extended(const std::array<std::string_view, 3>& parts) {
  static const std::string bytes = [] {
    const fs::path file = folder() / "bytes.json";
    Tokenizer::bytes().save(file);
    std::ifstream stream(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }();
  std::string json = bytes;
  const auto put = [&](std::string_view behind, char closing, std::string_view text) {
    const std::size_t from = json.find(behind);
    require(from != json.npos);
    const std::size_t at = json.find(closing, from + behind.size());
    require(at != json.npos);
    json.insert(at, text);
  };
  put("\"added_tokens\": [", ']', parts[2]);
  put("\"merges\": [", ']', parts[1]);
  // Behind the last of 256 names, none of which has a number of three digits from 256 on.
  put(": 255", '\n', parts[0]);
  return json;
}

}  // namespace

// The first byte says what the others are: a tokenizer.json, what one of bytes is extended by,
// GPT-2's vocab.json and merges.txt with a NUL between them, or a text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::optional<Tokenizer> tokenizer;
  if (data[0] == 'j' || data[0] == 'e') {
    write(folder() / "tokenizer.json", data[0] == 'j' ? std::string(rest) : extended(cut(rest)));
    tokenizer = load(folder() / "tokenizer.json");
  } else if (data[0] == 'g') {
    const std::array<std::string_view, 3> parts = cut(rest);
    write(folder() / "gpt2/vocab.json", parts[0]);
    write(folder() / "gpt2/merges.txt", parts[1]);
    tokenizer = load(folder() / "gpt2");
  } else {
    const std::string_view texts[] = {rest};
    tokenizer = Tokenizer::train(texts, {.size = 300, .special = {"<|end|>"}});
  }
  if (tokenizer) {
    check(*tokenizer, rest);
    check_saved(*tokenizer, rest);
  }
  return 0;
}
