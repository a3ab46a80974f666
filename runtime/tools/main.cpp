// SPDX-License-Identifier: Apache-2.0
// halftone: looks into artifacts and after the kernel cache, lists devices, makes pages of run logs
// and tokens of texts, finds rules that harm training. Exit status 0: done, and for diff equal, for
// cache verify sound; 1: diff found differences, cache verify found damage; 2: an error, one
// sentence on standard error.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "artifact_file.hpp"
#include "artifact_texts.hpp"
#include "bisect_command.hpp"
#include "cache_command.hpp"
#include "compile_texts.hpp"
#include "devices_command.hpp"
#include "diff.hpp"
#include "explain.hpp"
#include "halftone/manifest/version.hpp"
#include "ranges_command.hpp"
#include "report_command.hpp"
#include "simulate.hpp"
#include "tokens_arguments.hpp"
#include "wrong_words.hpp"

namespace {

namespace tools = halftone::tools;

constexpr int kDifferent = 1, kError = 2;

struct Arguments {
  std::string first, second, model, stage, symbols, chip, simulate, folder;
  bool json = false, summary = false, all = false, diagnosis = false;
  tools::ReportTask report;
  tools::TokensTask tokens;
  tools::BisectTask bisect;

  [[nodiscard]] tools::Extent extent() const {
    using Part = tools::Extent::Part;
    return {summary ? Part::summary : all ? Part::all : Part::decisions, diagnosis};
  }
};

using Manifests = std::vector<halftone::manifest::Manifest>;

/// `elsewhere`: symbols of another artifact, which --symbols may bind too.
tools::Json explanation(const Manifests& manifests, const std::string& stage,
                        const Arguments& arguments,
                        const std::vector<std::string>& elsewhere = {}) {
  return tools::explanation_of(tools::of_stage(manifests, stage),
                               tools::bind_symbols(manifests.front(), arguments.symbols, elsewhere),
                               arguments.chip);
}

/// Names that are no UTF-8 must not end in an error of the library.
std::string text_of_json(const tools::Json& json) {
  return json.dump(2, ' ', false, tools::Json::error_handler_t::replace) + "\n";
}

/// The same chip in both halves.
void add_simulation(tools::Json& json, const Manifests& manifests, const Arguments& arguments) {
  json["simulated"] = tools::simulation_of(
      manifests, tools::read_texts(arguments.first, manifests.front()).texts,
      tools::bind_symbols(manifests.front(), arguments.symbols), arguments.chip, arguments.stage);
}

int explain(Arguments arguments) {
  const bool simulates = !arguments.simulate.empty();
  if (simulates) arguments.chip = arguments.simulate;
  const Manifests manifests = tools::read_artifact(arguments.first, arguments.model);
  tools::Json json = explanation(manifests, arguments.stage, arguments);
  if (simulates) add_simulation(json, manifests, arguments);
  std::cout << (arguments.json ? text_of_json(json) : tools::text_of(json, arguments.extent()));
  if (simulates && !arguments.json) std::cout << tools::text_of_simulation(json["simulated"]);
  return 0;
}

/// Models or stages: of both artifacts, or of A and, behind a comma, of B.
std::pair<std::string, std::string> pair_of(const std::string& option, const std::string& words) {
  const auto comma = words.find(',');
  if (comma == words.npos) return {words, words};
  const std::string a = words.substr(0, comma), b = words.substr(comma + 1);
  if (a.empty() || b.empty()) {
    throw std::runtime_error("--" + option + ": '" + words + "' names no two " + option +
                             "s; write A's,B's");
  }
  return {a, b};
}

int diff(const Arguments& arguments) {
  const auto [model_of_a, model_of_b] = pair_of("model", arguments.model);
  const auto [stage_of_a, stage_of_b] = pair_of("stage", arguments.stage);
  const Manifests first = tools::read_artifact(arguments.first, model_of_a);
  const Manifests second = tools::read_artifact(arguments.second, model_of_b);
  const tools::Json a = explanation(first, stage_of_a, arguments, second.front().symbols);
  const tools::Json b = explanation(second, stage_of_b, arguments, first.front().symbols);
  const tools::Json json = tools::difference_of(a, b);
  std::cout << (arguments.json ? text_of_json(json) : tools::text_of_difference(json, a, b));
  return json["equal"].get<bool>() ? 0 : kDifferent;
}

int look_after_cache(tools::CacheTask task, const Arguments& arguments) {
  const tools::CacheReport report = tools::look_after_cache(task, arguments.folder);
  std::cout << report.text;
  return report.sound ? 0 : kDifferent;
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

void add_model(CLI::App& command, Arguments& arguments,
               const char* help = "Which model of a file that holds several") {
  command.add_option("--model", arguments.model, help)->check(not_empty);
}

void add_stage(CLI::App& command, Arguments& arguments, const char* help) {
  command.add_option("--stage", arguments.stage, help)->check(not_empty);
}

void add_json(CLI::App& command, Arguments& arguments) {
  command.add_flag("--json", arguments.json, "Print one JSON object (docs/tools.md)")
      ->disable_flag_override();
}

void add_options(CLI::App& command, Arguments& arguments) {
  add_json(command, arguments);
  command.add_option("--symbols", arguments.symbols, "Sizes of symbols, such as batch=32,time=8")
      ->check(not_empty);
  command.add_option("--chip", arguments.chip, "Only this one of the chips, such as sm_80")
      ->check(not_empty);
}

/// What is left out of the object would be missed, so the object is always whole.
void add_extent(CLI::App& command, Arguments& arguments) {
  CLI::Option* const json = command.get_option("--json");
  const auto add = [&](const char* name, bool& flag, const char* help) {
    return command.add_flag(name, flag, help)->disable_flag_override()->excludes(json);
  };
  CLI::Option* const summary = add("--summary", arguments.summary, "Counts, bytes and chips alone");
  add("--all", arguments.all, "Every value, kernel, cast and plan too")->excludes(summary);
  add("--diagnosis", arguments.diagnosis, "The program that explains skipped steps too");
}

CLI::App& add_explain(CLI::App& app, Arguments& arguments) {
  CLI::App& command = *app.add_subcommand("explain", "What rules decided, and what it takes");
  command.add_option("ARTIFACT", arguments.first, "What halftonec --object wrote, or was linked")
      ->required()
      ->check(not_empty);
  add_options(command, arguments);
  add_model(command, arguments);
  add_stage(command, arguments, "Which stage of a run, by stages(...); the first otherwise");
  add_extent(command, arguments);
  command
      .add_option("--simulate", arguments.simulate,
                  "Run a step on this chip in software, and count: sm_80")
      ->check(not_empty)
      ->excludes(command.get_option("--chip"));
  return command;
}

CLI::App& add_diff(CLI::App& app, Arguments& arguments) {
  CLI::App& command = *app.add_subcommand("diff", "What differs between two artifacts");
  command.add_option("A", arguments.first, "An artifact")->required()->check(not_empty);
  command.add_option("B", arguments.second, "Another")->required()->check(not_empty);
  add_options(command, arguments);
  add_model(command, arguments,
            "Which model of files that hold several; where B's is another, A's,B's");
  add_stage(command, arguments, "Which stage of both, or A's,B's, as of one artifact with itself");
  return command;
}

CLI::App& add_devices(CLI::App& app, Arguments& arguments) {
  CLI::App& command = *app.add_subcommand("devices", "What this machine has, and what would run");
  command.add_option("ARTIFACT", arguments.first, "An artifact to choose a device for")
      ->check(not_empty);
  add_json(command, arguments);
  add_model(command, arguments);
  return command;
}

void print(const std::string& line) { std::cout << line << std::endl; }

/// For people alone.
void note(const std::string& text) {
  std::cerr << "halftone: " << tools::printable(text, false) << "\n";
}

int report(const Arguments& arguments) {
  tools::report(arguments.report, print, note);
  return 0;
}

int bisect(const Arguments& arguments) {
  tools::bisect(arguments.bisect, print, note);
  return 0;
}

CLI::App& add_report(CLI::App& app, Arguments& arguments) {
  CLI::App& command = *app.add_subcommand("report", "A page about run logs (docs/run-logs.md)");
  tools::ReportTask& task = arguments.report;
  command.add_option("RUN", task.runs, "What a run log wrote; several are compared")
      ->required()
      ->check(not_empty);
  command.add_option("--output", task.page, "The page to write; else RUN.html beside the first")
      ->check(not_empty);
  CLI::Option* const follow =
      command.add_flag("--follow", task.follow, "Write it again until the runs have ended")
          ->disable_flag_override();
  command.add_option("--seconds", task.seconds, "From one page to the next")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str()
      ->needs(follow);
  return command;
}

CLI::App& add_ranges(CLI::App& app, Arguments& arguments) {
  CLI::App& command = *app.add_subcommand(
      "ranges", "What weights or a checkpoint say to halftonec --audit (docs/audit.md)");
  command.add_option("FILE", arguments.first, "A safetensors file")->required()->check(not_empty);
  return command;
}

CLI::App& add_compile_texts(CLI::App& app, Arguments& arguments) {
  CLI::App& command = *app.add_subcommand("compile-texts", "For halftonec --aot");
  command.add_option("JOBS", arguments.first, "What halftonec wrote")->required();
  command.add_option("IMAGES", arguments.second, "The file to write")->required();
  command.group("");  // not for people
  return command;
}

int run(int count, char** values) {
  Arguments arguments;
  CLI::App app(
      "Says what an artifact does, looks after the kernel cache, makes pages of runs, tokens of "
      "text",
      "halftone");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("halftone ") + halftone::kVersionOfHalftone);
  const CLI::App& explaining = add_explain(app, arguments);
  add_diff(app, arguments);
  const CacheCommands caching = add_cache(app, arguments);
  const CLI::App& listing = add_devices(app, arguments);
  const CLI::App& reporting = add_report(app, arguments);
  const CLI::App& bisecting = tools::add_bisect(app, arguments.bisect);
  const CLI::App& ranging = add_ranges(app, arguments);
  const auto tokenizing = tools::add_tokens(app, arguments.tokens);
  const CLI::App& compiling = add_compile_texts(app, arguments);
  tools::refuse_empty_values(count, values);
  try {
    app.parse(count, values);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    throw std::runtime_error(tools::sentence_of(error, app));
  }
  for (const auto& [command, task] : caching) {
    if (command->parsed()) return look_after_cache(task, arguments);
  }
  for (const auto& [command, act] : tokenizing) {
    if (!command->parsed()) continue;
    act(arguments.tokens, [](const std::string& line) { std::cout << line << "\n"; });
    return 0;
  }
  if (compiling.parsed()) {
    tools::compile_texts(arguments.first, arguments.second);
    return 0;
  }
  if (listing.parsed()) return devices(arguments);
  if (reporting.parsed()) return report(arguments);
  if (ranging.parsed()) {
    std::cout << tools::ranges_of(arguments.first);
    return 0;
  }
  if (bisecting.parsed()) return bisect(arguments);
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
    std::cerr << "halftone: " << tools::printable(error.what(), true) << "\n";
    return kError;
  }
}
