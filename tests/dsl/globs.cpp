// SPDX-License-Identifier: Apache-2.0
// Which layers of a repeat a precision rule's glob selects: one name stands for all copies.
#include <doctest/doctest.h>

#include <halftone/description/glob.hpp>
#include <halftone/dsl.hpp>
#include <random>
#include <string>

namespace {

using halftone::description::glob_matches;
using halftone::description::GlobStates;

/// `name` has a * for the number of a copy, of which there are `copies` in turn.
bool matches(const std::string& glob, const std::string& name, const long long* copies) {
  const GlobStates states(glob.data(), glob.size());
  halftone::dsl::checking::NameReader reader(states);
  for (const char c : name) {
    if (c == '*')
      reader.put_copies(*copies++);
    else
      reader.put(c);
  }
  return reader.matches();
}

struct Case {
  const char *glob, *name;
  bool matches;
};

TEST_CASE("a glob matches the copies of a repeat that exist") {
  // Of 12 copies of h, and 3 of g inside each.
  const long long copies[] = {12, 3};
  const Case kCases[] = {
      {"h/*/fc", "h/*/fc", true},
      {"h/0/fc", "h/*/fc", true},
      {"h/11/fc", "h/*/fc", true},
      {"h/12/fc", "h/*/fc", false},
      {"h/00/fc", "h/*/fc", false},
      {"h/1*/fc", "h/*/fc", true},
      {"h/**", "h/*/fc", true},
      {"**/fc", "h/*/fc", true},
      {"h/x/fc", "h/*/fc", false},
      {"h/11/g/2", "h/*/g/*", true},
      {"h/11/g/3", "h/*/g/*", false},
      {"h/*/g/2", "h/*/g/*", true},
      {"h/*/g/3", "h/*/g/*", false},
      {"**/2", "h/*/g/*", true},
      {"**/3", "h/*/g/*", false},
      {"h/7*/fc", "h/*/fc", true},
      {"h/2*/fc", "h/*/fc", true},
      {"h/*1/fc", "h/*/fc", true},
      {"h/*12/fc", "h/*/fc", false},
      {"h/?/fc", "h/*/fc", true},
      {"h/?1/fc", "h/*/fc", true},
      {"h/?2/fc", "h/*/fc", false},
      {"h/1??fc", "h/*/fc", false},
      {"h/{2,12}/fc", "h/*/fc", true},
      {"h/{12,13}/fc", "h/*/fc", false},
      {"h/{1,12}{0,3}/fc", "h/*/fc", true},
      {"h/{1,12}{2,3}/fc", "h/*/fc", false},
      {"", "h/*/fc", false},
  };
  for (const Case& is : kCases) {
    CAPTURE(is.glob);
    CAPTURE(is.name);
    CHECK(matches(is.glob, is.name, copies) == is.matches);
  }
}

TEST_CASE("a name of all copies matches when the name of one of them does") {
  std::mt19937 random(7);
  int matching = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string glob = "h/";
    for (std::size_t length = 1 + random() % 6; length > 0; --length) {
      glob += "/012***?{,}"[random() % 11];
    }
    const long long copies[] = {1 + static_cast<long long>(random() % 130),
                                1 + static_cast<long long>(random() % 12)};
    bool expected = false;
    for (long long outer = 0; outer < copies[0] && !expected; ++outer) {
      for (long long inner = 0; inner < copies[1] && !expected; ++inner) {
        expected = glob_matches(glob, "h/" + std::to_string(outer) + "/" + std::to_string(inner));
      }
    }
    matching += expected ? 1 : 0;
    CAPTURE(glob);
    CAPTURE(copies[0]);
    CAPTURE(copies[1]);
    REQUIRE(matches(glob, "h/*/*", copies) == expected);
  }
  CHECK(matching > 100);
}

}  // namespace
