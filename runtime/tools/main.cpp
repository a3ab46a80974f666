// SPDX-License-Identifier: Apache-2.0
// halftone: looks into artifacts. Exit status 0: done, and for diff equal; 1: diff found
// differences; 2: an error, one sentence on standard error.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "artifact_file.hpp"
#include "diff.hpp"
#include "explain.hpp"

namespace {

namespace tools = halftone::tools;

constexpr int kDifferent = 1, kError = 2;

struct Arguments {
  std::string first, second, model, symbols, chip;
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

int explain(const Arguments& arguments) {
  const tools::Json json = explanation(arguments.first, arguments);
  std::cout << (arguments.json ? text_of_json(json) : tools::text_of(json));
  return 0;
}

int diff(const Arguments& arguments) {
  const tools::Json json = tools::difference_of(explanation(arguments.first, arguments),
                                                explanation(arguments.second, arguments));
  std::cout << (arguments.json ? text_of_json(json) : tools::text_of_difference(json));
  return json["equal"].get<bool>() ? 0 : kDifferent;
}

void add_options(CLI::App& command, Arguments& arguments) {
  command.add_flag("--json", arguments.json, "Print one JSON object (docs/tools.md)");
  command.add_option("--symbols", arguments.symbols, "Sizes of symbols, such as batch=32,time=8");
  command.add_option("--chip", arguments.chip, "Only this one of the chips, such as sm_80");
  command.add_option("--model", arguments.model, "Which model of a file that holds several");
}

int run(int count, char** values) {
  Arguments arguments;
  CLI::App app("Says what a Halftone artifact does: formats, casts, kernels, memory");
  app.require_subcommand(1);
  CLI::App& explaining = *app.add_subcommand("explain", "What rules decided, and what it takes");
  explaining
      .add_option("ARTIFACT", arguments.first, "What halftonec --object wrote, or was linked")
      ->required();
  add_options(explaining, arguments);
  CLI::App& comparing = *app.add_subcommand("diff", "What differs between two artifacts");
  comparing.add_option("A", arguments.first, "An artifact")->required();
  comparing.add_option("B", arguments.second, "Another")->required();
  add_options(comparing, arguments);
  try {
    app.parse(count, values);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kError;
  }
  return explaining.parsed() ? explain(arguments) : diff(arguments);
}

}  // namespace

int main(int count, char** values) {
  try {
    return run(count, values);
  } catch (const std::exception& error) {
    std::cerr << "halftone: " << error.what() << "\n";
    return kError;
  }
}
