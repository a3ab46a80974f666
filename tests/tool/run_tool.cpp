// SPDX-License-Identifier: Apache-2.0
#include "run_tool.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace halftone::tests {
namespace {

std::string taken(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::filesystem::remove(path);
  return text;
}

}  // namespace

Outcome run_tool(const std::string& arguments) {
  const std::string place = (std::filesystem::temp_directory_path() / "halftone_tool.").string() +
                            std::to_string(getpid());
  const std::string command = std::string("'") + HALFTONE_TOOL + "' " + arguments + " >" + place +
                              ".out 2>" + place + ".err";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, taken(place + ".out"),
          taken(place + ".err")};
}

nlohmann::json json_of(const std::string& arguments) {
  const Outcome outcome = run_tool(arguments + " --json");
  INFO(arguments << ": " << outcome.errors);
  REQUIRE(outcome.errors.empty());
  return nlohmann::json::parse(outcome.output);
}

}  // namespace halftone::tests
