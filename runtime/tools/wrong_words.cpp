// SPDX-License-Identifier: Apache-2.0
#include "wrong_words.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "nearest.hpp"

namespace halftone::tools {
namespace {

/// The command that the words chose, and how it is called.
struct Chosen {
  const CLI::App* command;
  std::string name;

  [[nodiscard]] std::string help() const { return "'" + name + " --help'"; }
};

Chosen chosen_of(const CLI::App& app) {
  Chosen chosen{&app, app.get_name()};
  while (!chosen.command->get_subcommands().empty()) {
    chosen.command = chosen.command->get_subcommands().front();
    chosen.name += " " + chosen.command->get_name();
  }
  return chosen;
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// "'jsn' is no command; did you mean 'json'? "
std::string meant(const std::string& what, const std::vector<std::string>& words,
                  const std::string& word) {
  const std::string near = nearest(word, words);
  return "'" + word + "' is no " + what + "; " +
         (near.empty() ? "" : "did you mean '" + near + "'? ");
}

std::string sentence_of_word(const std::string& word, const Chosen& chosen) {
  if (word.starts_with('-')) {
    const std::string option = word.substr(0, word.find('='));
    return meant("option of '" + chosen.name + "'", options_of(*chosen.command), option) +
           chosen.help() + " lists them";
  }
  if (chosen.command->get_require_subcommand_min() > 0) {
    return meant("command", commands_of(*chosen.command), word) + chosen.help() + " lists them";
  }
  return "'" + word + "' is one word too many; " + chosen.help() + " says what it takes";
}

}  // namespace

void refuse_empty_values(int count, const char* const* words) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--") return;
    if (!word.starts_with("--") || !word.ends_with('=')) continue;
    throw std::runtime_error(word.substr(0, word.size() - 1) +
                             ": it is empty; give a name, or leave it out");
  }
}

std::string sentence_of(const CLI::ParseError& error, const CLI::App& app) {
  const Chosen chosen = chosen_of(app);
  const std::vector<std::string> words = chosen.command->remaining();
  if (!words.empty()) return sentence_of_word(words.front(), chosen);
  std::string text = error.what();
  std::ranges::replace(text, '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  if (text.find("; ") != text.npos) return text;
  const std::string option = text.substr(0, text.find(':'));
  if (text.find(": At Most 1 ") != text.npos) return option + " is given twice; give it once";
  if (text.ends_with(" missing")) text = option + " needs a word behind it";
  return text + "; " + chosen.help() + " says what it takes";
}

}  // namespace halftone::tools
