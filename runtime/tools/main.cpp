// SPDX-License-Identifier: Apache-2.0
// halftone: looks into artifacts and after the kernel cache, and lists devices. Exit status 0:
// done, and for diff equal, for cache verify sound; 1: diff found differences, cache verify found
// damage; 2: an error, one sentence on standard error.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "artifact_file.hpp"
#include "artifact_texts.hpp"
#include "cache_command.hpp"
#include "compile_texts.hpp"
#include "devices_command.hpp"
#include "diff.hpp"
#include "explain.hpp"
#include "simulate.hpp"

namespace {

namespace tools = halftone::tools;

constexpr int kDifferent = 1, kError = 2;

struct Arguments {
  std::string first, second, model, symbols, chip, simulate, folder;
  bool json = false;
};

tools::Json explanation(const std::string& path, const Arguments& arguments) {
  const auto manifests = tools::read_artifact(path, arguments.model);
  return tools::explanation_of(manifests, tools::bind_symbols(manifests.front(), arguments.symbols),
                               arguments.chip);
}

/// Names that are no UTF-8 must not end in an error of the library.
std::string text_of_json(const tools::Json& json) {
  return json.dump(2, ' ', false, tools::Json::error_handler_t::replace) + "\n";
}

/// The same chip in both halves.
void add_simulation(tools::Json& json, const Arguments& arguments) {
  const auto manifests = tools::read_artifact(arguments.first, arguments.model);
  json["simulated"] = tools::simulation_of(
      manifests, tools::read_texts(arguments.first, manifests.front()).texts,
      tools::bind_symbols(manifests.front(), arguments.symbols), arguments.chip);
}

int explain(Arguments arguments) {
  const bool simulates = !arguments.simulate.empty();
  if (simulates) arguments.chip = arguments.simulate;
  tools::Json json = explanation(arguments.first, arguments);
  if (simulates) add_simulation(json, arguments);
  std::cout << (arguments.json ? text_of_json(json) : tools::text_of(json));
  if (simulates && !arguments.json) std::cout << tools::text_of_simulation(json["simulated"]);
  return 0;
}

int diff(const Arguments& arguments) {
  const tools::Json json = tools::difference_of(explanation(arguments.first, arguments),
                                                explanation(arguments.second, arguments));
  std::cout << (arguments.json ? text_of_json(json) : tools::text_of_difference(json));
  return json["equal"].get<bool>() ? 0 : kDifferent;
}

int look_after_cache(tools::CacheTask task, const Arguments& arguments) {
  const tools::CacheReport report = tools::look_after_cache(task, arguments.folder);
  std::cout << report.text;
  return report.sound ? 0 : kDifferent;
}

/// One line, with a remedy: CLI11 names the fault alone.
std::string sentence_of(const CLI::ParseError& error, const CLI::App& app) {
  std::string text = error.what();
  std::ranges::replace(text, '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  if (text.find("; ") != text.npos) return text;
  const CLI::App* chosen = &app;
  std::string command = app.get_name();
  while (!chosen->get_subcommands().empty()) {
    chosen = chosen->get_subcommands().front();
    command += " " + chosen->get_name();
  }
  const std::vector<std::string> words = chosen->remaining();
  if (chosen->get_require_subcommand_min() > 0 && !words.empty() && !words[0].starts_with('-')) {
    return "'" + words[0] + "' is no command; '" + command + " --help' lists them";
  }
  return text + "; '" + command + " --help' says what it takes";
}

using CacheCommands = std::map<CLI::App*, tools::CacheTask>;

/// An empty word, as of a variable that is not set, must not mean that nothing was said.
std::string not_empty(const std::string& word) {
  return word.empty() ? "it is empty; give a name, or leave it out" : "";
}

CacheCommands add_cache(CLI::App& app, Arguments& arguments) {
  CLI::App& cache = *app.add_subcommand("cache", "The folder of compiled kernels");
  cache.require_subcommand(1);
  CacheCommands commands;
  const auto add = [&](const char* name, const char* help, tools::CacheTask task) {
    CLI::App* command = cache.add_subcommand(name, help);
    command->add_option("DIR", arguments.folder, "A folder other than the one that programs use")
        ->check(not_empty);
    commands.emplace(command, task);
  };
  add("stats", "What it holds", tools::CacheTask::stats);
  add("verify", "Whether every kernel in it is sound", tools::CacheTask::verify);
  add("prune", "Keeps to HALFTONE_CACHE_MAX, removes old remains", tools::CacheTask::prune);
  add("clear", "Removes all kernels", tools::CacheTask::clear);
  return commands;
}

int devices(const Arguments& arguments) {
  const tools::Json json = tools::devices_of(arguments.first, arguments.model);
  std::cout << (arguments.json ? text_of_json(json) : tools::text_of_devices(json));
  return 0;
}

void add_model(CLI::App& command, Arguments& arguments) {
  command.add_option("--model", arguments.model, "Which model of a file that holds several")
      ->check(not_empty);
}

void add_options(CLI::App& command, Arguments& arguments) {
  command.add_flag("--json", arguments.json, "Print one JSON object (docs/tools.md)");
  command.add_option("--symbols", arguments.symbols, "Sizes of symbols, such as batch=32,time=8")
      ->check(not_empty);
  command.add_option("--chip", arguments.chip, "Only this one of the chips, such as sm_80")
      ->check(not_empty);
  add_model(command, arguments);
}

int run(int count, char** values) {
  Arguments arguments;
  CLI::App app(
      "Says what a Halftone artifact does: formats, casts, kernels, memory; looks after the kernel "
      "cache",
      "halftone");
  app.require_subcommand(1);
  CLI::App& explaining = *app.add_subcommand("explain", "What rules decided, and what it takes");
  explaining
      .add_option("ARTIFACT", arguments.first, "What halftonec --object wrote, or was linked")
      ->required();
  add_options(explaining, arguments);
  explaining
      .add_option("--simulate", arguments.simulate,
                  "Run a step on this chip in software, and count: sm_80")
      ->check(not_empty)
      ->excludes(explaining.get_option("--chip"));
  CLI::App& comparing = *app.add_subcommand("diff", "What differs between two artifacts");
  comparing.add_option("A", arguments.first, "An artifact")->required();
  comparing.add_option("B", arguments.second, "Another")->required();
  add_options(comparing, arguments);
  const CacheCommands caching = add_cache(app, arguments);
  CLI::App& listing = *app.add_subcommand("devices", "What this machine has, and what would run");
  listing.add_option("ARTIFACT", arguments.first, "An artifact to choose a device for")
      ->check(not_empty);
  listing.add_flag("--json", arguments.json, "Print one JSON object (docs/tools.md)");
  add_model(listing, arguments);
  CLI::App& compiling = *app.add_subcommand("compile-texts", "For halftonec --aot");
  compiling.add_option("JOBS", arguments.first, "What halftonec wrote")->required();
  compiling.add_option("IMAGES", arguments.second, "The file to write")->required();
  compiling.group("");  // not for people
  try {
    app.parse(count, values);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    throw std::runtime_error(sentence_of(error, app));
  }
  for (const auto& [command, task] : caching) {
    if (command->parsed()) return look_after_cache(task, arguments);
  }
  if (compiling.parsed()) {
    tools::compile_texts(arguments.first, arguments.second);
    return 0;
  }
  if (listing.parsed()) return devices(arguments);
  return explaining.parsed() ? explain(arguments) : diff(arguments);
}

}  // namespace

int main(int count, char** values) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of the write
  try {
    const int status = run(count, values);
    if (std::fflush(stdout) != 0 || !std::cout.flush()) {
      throw std::runtime_error(
          "standard output cannot be written; free its disk, or redirect it elsewhere");
    }
    return status;
  } catch (const std::exception& error) {
    std::cerr << "halftone: " << error.what() << "\n";
    return kError;
  }
}
