// SPDX-License-Identifier: Apache-2.0
// tokens_worker FOLDER: answers lines, for compare.py, about FOLDER/CASE.txt.
//   train CASE SIZE   seconds; writes FOLDER/CASE.ours.json
//   load CASE FILE    the tokenizer that what follows encodes CASE with
//   whole CASE        seconds for the text in one call, and how many tokens it has
//   lines CASE        the same, with a call for every line
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/tokenizer.hpp"

using namespace halftone;

namespace {

struct Case {
  std::string text;
  std::optional<Tokenizer> tokenizer;
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Case& case_of(const std::string& folder, const std::string& name) {
  static std::map<std::string, Case> cases;
  Case& each = cases[name];
  if (each.text.empty()) {
    std::ifstream in(folder + "/" + name + ".txt", std::ios::binary);
    each.text.assign(std::istreambuf_iterator<char>(in), {});
  }
  return each;
}

/// With the line ends.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end == text.npos ? end : end + 1));
    text.remove_prefix(lines.back().size());
  }
  return lines;
}

void answer_encode(const Case& each, bool by_line) {
  const std::vector<std::string_view> texts =
      by_line ? lines_of(each.text) : std::vector<std::string_view>{each.text};
  std::size_t tokens = 0;
  const double start = seconds();
  for (const std::string_view text : texts) tokens += each.tokenizer->encode(text).size();
  std::printf("ok %.9g %zu\n", seconds() - start, tokens);
}

void answer(const std::string& folder, const std::string& line) {
  std::istringstream in(line);
  std::string what, name, rest;
  in >> what >> name >> rest;
  Case& each = case_of(folder, name);
  if (what == "train") {
    const std::string_view text = each.text;
    const double start = seconds();
    const Tokenizer made = Tokenizer::train({&text, 1}, {.size = std::stoll(rest)});
    std::printf("ok %.9g\n", seconds() - start);
    made.save(folder + "/" + name + ".ours.json");
  } else if (what == "load") {
    each.tokenizer = Tokenizer::load(rest);
    std::printf("ok 0\n");
  } else {
    answer_encode(each, what == "lines");
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      answer(words[1], line);
    } catch (const std::exception& error) {
      std::printf("error %s\n", error.what());
    }
    std::fflush(stdout);
  }
  return 0;
}
