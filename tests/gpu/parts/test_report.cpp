// SPDX-License-Identifier: Apache-2.0
#include "test_report.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace halftone::tests {

namespace {

constexpr std::size_t kMostSentences = 12;
constexpr const char* kUnusable =
    "failed before and cannot be used any more";  // as the runtime says it

}  // namespace

void Report::print(const char* word, const std::string& check, const std::string& rest) const {
  std::printf("%-7s %s: %s%s%s\n", word, program_.c_str(), check.c_str(), rest.empty() ? "" : ": ",
              rest.c_str());
  std::fflush(stdout);
}

void Report::pass(const std::string& check, const std::string& figures) {
  ++passed_;
  print("passed", check, figures);
}

void Report::fail(const std::string& check, const std::string& why) {
  ++failed_;
  print("FAILED", check, why);
}

void Report::skip(const std::string& check, const std::string& why) {
  ++skipped_;
  print("skipped", check, why);
}

void Report::run(const std::string& name, const std::function<std::vector<std::string>()>& check) {
  if (!after_.empty()) {
    if (name == after_) after_.clear();
    return;
  }
  std::vector<std::string> wrong;
  try {
    wrong = check();
  } catch (const Skipped& why) {
    return skip(name, why.what());
  } catch (const std::exception& error) {
    wrong = {error.what()};
  }
  if (!wrong.empty() && !last_.empty() && wrong.front().find(kUnusable) != std::string::npos)
    throw Lost{last_};
  last_ = name;
  if (wrong.empty()) return pass(name);
  std::string text = wrong.front();
  for (std::size_t i = 1; i < std::min(wrong.size(), kMostSentences); ++i)
    text += "\n        " + wrong[i];
  if (wrong.size() > kMostSentences)
    text += "\n        and " + std::to_string(wrong.size() - kMostSentences) + " more";
  fail(name, text);
}

int Report::finish() const {
  std::printf("%s: %d passed, %d failed, %d skipped\n", program_.c_str(), passed_, failed_,
              skipped_);
  return failed_ > 0 ? 1 : passed_ > 0 ? 0 : kSkippedExit;
}

int report_of(const std::string& program, const Arguments& arguments,
              const std::function<void(Report&)>& body) {
  const std::vector<std::string> after = list_option(arguments, "--after", '\n');
  Report report(program, after.empty() ? "" : after.front());
  try {
    body(report);
  } catch (const Lost& lost) {
    (void)report.finish();
    std::printf("resume after %s\n", lost.last.c_str());
    return kLostExit;
  } catch (const Skipped& why) {
    report.skip("everything", why.what());
  } catch (const std::exception& error) {
    report.fail("everything that follows", error.what());
  }
  return report.finish();
}

std::vector<std::string> list_option(const Arguments& arguments, const std::string& name,
                                     char between) {
  std::vector<std::string> list;
  for (int i = 1; i + 1 < arguments.count; ++i) {
    if (arguments.values[i] != name) continue;
    std::istringstream stream(arguments.values[i + 1]);
    for (std::string each; std::getline(stream, each, between);) list.push_back(each);
  }
  return list;
}

std::vector<std::string> names_option(const Arguments& arguments, const std::string& name,
                                      const std::vector<std::string>& known) {
  std::vector<std::string> names = list_option(arguments, name);
  for (const std::string& each : names) {
    if (std::ranges::find(known, each) != known.end()) continue;
    std::string sentence = name + " has '" + each + "', which is not there; choose of";
    for (const std::string& other : known) sentence += " " + other;
    throw std::runtime_error(sentence);
  }
  return names;
}

/// "3/8" as 3 and 8.
static std::pair<std::size_t, std::size_t> share_of(const std::vector<std::string>& share) {
  std::size_t numbers[2] = {};
  for (std::size_t i = 0; i < share.size() && i < 2; ++i)
    numbers[i] = static_cast<std::size_t>(std::strtoul(share[i].c_str(), nullptr, 10));
  if (share.size() != 2 || numbers[0] < 1 || numbers[0] > numbers[1])
    throw std::runtime_error("--share takes a number of a process and how many there are: 1/8");
  return {numbers[0], numbers[1]};
}

std::vector<std::string> share_of_names(const Arguments& arguments, const std::string& name,
                                        const std::vector<std::string>& known) {
  const std::vector<std::string> named = names_option(arguments, name, known);
  const std::vector<std::string> share = list_option(arguments, "--share", '/');
  if (share.empty()) return named;
  const auto [number, of] = share_of(share);
  const std::vector<std::string>& all = named.empty() ? known : named;
  std::vector<std::string> mine;
  for (std::size_t i = number - 1; i < all.size(); i += of) mine.push_back(all[i]);
  if (mine.empty()) throw Skipped("there are fewer names than processes that share them");
  return mine;
}

long number_option(const Arguments& arguments, const std::string& name, long otherwise) {
  const std::vector<std::string> given = list_option(arguments, name);
  if (given.empty()) return otherwise;
  char* end = nullptr;
  const long number = std::strtol(given.front().c_str(), &end, 10);
  if (*end != '\0' || number < 1)
    throw std::runtime_error(name + " is '" + given.front() + "'; give a number from 1 on");
  return number;
}

bool chosen(const std::vector<std::string>& list, const std::string& name) {
  return list.empty() || std::ranges::find(list, name) != list.end();
}

}  // namespace halftone::tests
