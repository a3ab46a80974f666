// SPDX-License-Identifier: Apache-2.0
// Which names a rule's glob matches.
#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <regex>
#include <string>

#include "halftone/description/glob.hpp"

using halftone::description::glob_matches;

namespace {

struct Case {
  const char *glob, *name;
  bool matches;
};

/// The same glob as std::regex reads it.
std::regex regex_of(const std::string& glob) {
  std::string text;
  bool inside = false;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    const char c = glob[i];
    if (c == '*' && i + 1 < glob.size() && glob[i + 1] == '*') {
      text += ".*";
      ++i;
    } else if (c == '*') {
      text += "[^/]*";
    } else if (c == '?') {
      text += "[^/]";
    } else if (c == '{' && !inside && glob.find('}', i) != glob.npos) {
      inside = true;
      text += "(?:";
    } else if (inside && c == ',') {
      text += "|";
    } else if (inside && c == '}') {
      inside = false;
      text += ")";
    } else {
      text += std::string("[") + c + "]";
    }
  }
  return std::regex(text);
}

}  // namespace

TEST_CASE("stars, question marks and alternatives match as they read") {
  const Case cases[] = {
      {"fc1", "fc1", true},
      {"fc1", "fc10", false},
      {"fc1", "xfc1", false},
      {"fc*", "fc", true},
      {"fc*", "fc10", true},
      {"*1", "fc1", true},
      {"*", "fc1", true},
      {"*", "", true},
      {"*", "enc/fc1", false},
      {"enc/*", "enc/fc1", true},
      {"enc/*", "enc/a/fc", false},
      {"**", "enc/a/fc", true},
      {"enc/**", "enc/a/fc", true},
      {"enc/**", "dec/a/fc", false},
      {"**/fc", "enc/a/fc", true},
      {"**/fc", "fc", false},
      {"*/*/fc", "enc/a/fc", true},
      {"e*c/**c", "enc/a/fc", true},
      {"", "", true},
      {"", "fc1", false},
      {"f*1*", "fc12", true},
      {"f*1*", "fc2", false},
      {"a*b/*c", "ab/xb/c", false},
      {"a**b/*c", "ab/xb/c", true},
      {"fc?", "fc1", true},
      {"fc?", "fc", false},
      {"fc?", "fc/", false},
      {"?", "/", false},
      {"***", "a/b", true},
      {"{fc,proj}", "fc", true},
      {"{fc,proj}", "proj", true},
      {"{fc,proj}", "fcproj", false},
      {"h/*/{fc,proj}.weight", "h/3/proj.weight", true},
      {"h/*/{fc,proj}.weight", "h/3/norm.weight", false},
      {"{a,}b", "b", true},
      {"{}", "", true},
      {"{a,b}{c,d}", "bc", true},
      {"{a*,b}c", "axc", true},
      {"{a*,b}c", "a/c", false},
      {"{a**,b}c", "a/c", true},
      {"{?,b}", "/", false},
      {"{a,b", "{a,b", true},
      {"{a,b", "a", false},
      {"a,b}", "a,b}", true},
      {"{a{b,c}", "a{b", true},
      {"{a{b,c}", "c", true},
      {"a}", "a}", true},
      {"[ab]", "a", false},
      {"[ab]", "[ab]", true},
      {"a.b", "acb", false},
      {"\\*", "\\x", true},
      {"\xff*", "\xff\xfe", true},
  };
  for (const Case& is : cases) {
    CAPTURE(is.glob);
    CAPTURE(is.name);
    CHECK(glob_matches(is.glob, is.name) == is.matches);
  }
}

TEST_CASE("a glob matches while compiling") {
  static_assert(glob_matches("h/{1,2}*/fc?", "h/12/fc1"));
  static_assert(!glob_matches("h/{1,2}*/fc?", "h/3/fc1"));
}

TEST_CASE("random globs match what the regular expressions match that they stand for") {
  std::mt19937 random(3);
  const auto draw = [&](const char* from, std::size_t count, std::size_t longest) {
    std::string text;
    for (std::size_t length = random() % (longest + 1); length > 0; --length) {
      text += from[random() % count];
    }
    return text;
  };
  int matching = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string glob = draw("ab/**?{,}", 9, 9);
    const std::regex regex = regex_of(glob);
    for (int j = 0; j < 8; ++j) {
      const std::string name = draw("ab/", 3, 6);
      CAPTURE(glob);
      CAPTURE(name);
      const bool expected = std::regex_match(name, regex);
      matching += expected ? 1 : 0;
      REQUIRE(glob_matches(glob, name) == expected);
    }
  }
  CHECK(matching > 1000);
}

TEST_CASE("no glob takes long") {
  std::string glob, name(4000, 'a');
  for (int i = 0; i < 60; ++i) glob += "*a";
  const auto start = std::chrono::steady_clock::now();
  CHECK(glob_matches(glob, name));
  CHECK(!glob_matches(glob + "b", name));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}

TEST_CASE("a glob of more than 126 bytes matches nothing") {
  CHECK(glob_matches(std::string(126, 'a'), std::string(126, 'a')));
  CHECK(!glob_matches(std::string(127, 'a'), std::string(127, 'a')));
  CHECK(!glob_matches(std::string(127, '*'), ""));
}
