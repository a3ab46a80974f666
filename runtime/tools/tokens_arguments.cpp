// SPDX-License-Identifier: Apache-2.0
#include "tokens_arguments.hpp"

#include <cstdint>
#include <limits>

namespace halftone::tools {
namespace {

std::string not_empty(const std::string& word) {
  return word.empty() ? "it is empty; give a name, or leave it out" : "";
}

void add_tokenizer(CLI::App& command, TokensTask& task) {
  command
      .add_option("TOKENIZER", task.tokenizer,
                  "tokenizer.json, a folder of vocab.json and merges.txt, or 'bytes'")
      ->required()
      ->check(not_empty);
}

void add_texts(CLI::App& command, TokensTask& task) {
  command.add_option("TEXT", task.texts, "Files, read as they are")->required()->check(not_empty);
}

void add_output(CLI::App& command, TokensTask& task, const char* help, bool is_required) {
  command.add_option("--out", task.output, help)->required(is_required)->check(not_empty);
}

void add_train(CLI::App& command, TokensTask& task) {
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  add_texts(command, task);
  add_output(command, task, "The tokenizer.json to write, or a folder for the pair", true);
  command.add_option("--size", task.size, "Tokens, those of bytes and special ones included")
      ->check(CLI::Range(257, kMost))
      ->capture_default_str();
  command.add_option("--special", task.special, "Names of special tokens, in place of the default")
      ->check(not_empty)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->capture_default_str();
  command.add_option("--least", task.least_count, "Rarer pairs make no token")
      ->check(CLI::Range(1, kMost))
      ->capture_default_str();
}

void add_encode(CLI::App& command, TokensTask& task) {
  add_tokenizer(command, task);
  add_texts(command, task);
  add_output(command, task, "The token file to write", true);
  command.add_option("--end", task.end, "The special token to put behind every text")
      ->check(not_empty);
  command.add_flag("--special", task.names_special, "Names of special tokens in texts become them")
      ->disable_flag_override();
}

void add_decode(CLI::App& command, TokensTask& task) {
  add_tokenizer(command, task);
  command.add_option("TOKENS", task.tokens, "What encode wrote")->required()->check(not_empty);
  add_output(command, task, "The text to write; else standard output", false);
}

}  // namespace

std::map<CLI::App*, TokensCommand> add_tokens(CLI::App& app, TokensTask& task) {
  CLI::App& tokens = *app.add_subcommand("tokens", "Text as tokens (docs/tokens.md)");
  tokens.require_subcommand(1);
  CLI::App* const train = tokens.add_subcommand("train", "A tokenizer of texts");
  CLI::App* const encode = tokens.add_subcommand("encode", "One token file of texts");
  CLI::App* const decode = tokens.add_subcommand("decode", "The text of a token file");
  add_train(*train, task);
  add_encode(*encode, task);
  add_decode(*decode, task);
  return {{train, train_tokenizer}, {encode, encode_texts}, {decode, decode_tokens}};
}

}  // namespace halftone::tools
