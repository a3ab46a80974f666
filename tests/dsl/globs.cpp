// SPDX-License-Identifier: Apache-2.0
// Which layers a precision rule's glob selects.
#include <doctest/doctest.h>

#include <halftone/dsl.hpp>

namespace {

struct Case {
  const char *glob, *name;
  bool matches;
};

TEST_CASE("one star stays inside a component, two cross components") {
  const Case kCases[] = {
      {"fc1", "fc1", true},
      {"fc1", "fc10", false},
      {"fc1", "xfc1", false},
      {"fc*", "fc", true},
      {"fc*", "fc10", true},
      {"*1", "fc1", true},
      {"*", "fc1", true},
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
      {"", "fc1", false},
      {"f*1*", "fc12", true},
      {"f*1*", "fc2", false},
  };
  const long long no_copies[] = {0};
  for (const Case& is : kCases) {
    CAPTURE(is.glob);
    CAPTURE(is.name);
    CHECK(halftone::dsl::checking::matches(is.glob, is.name, no_copies) == is.matches);
  }
}

TEST_CASE("a glob matches the copies of a repeat that exist") {
  // Of 12 copies of h, and 3 of g inside each.
  const long long copies[] = {12, 3};
  const Case kCases[] = {
      {"h/*/fc", "h/*/fc", true},    {"h/0/fc", "h/*/fc", true},     {"h/11/fc", "h/*/fc", true},
      {"h/12/fc", "h/*/fc", false},  {"h/00/fc", "h/*/fc", false},   {"h/1*/fc", "h/*/fc", true},
      {"h/**", "h/*/fc", true},      {"**/fc", "h/*/fc", true},      {"h/x/fc", "h/*/fc", false},
      {"h/11/g/2", "h/*/g/*", true}, {"h/11/g/3", "h/*/g/*", false}, {"h/*/g/2", "h/*/g/*", true},
      {"h/*/g/3", "h/*/g/*", false}, {"**/2", "h/*/g/*", true},      {"**/3", "h/*/g/*", false},
      {"h/7*/fc", "h/*/fc", true},   {"h/2*/fc", "h/*/fc", true},    {"h/*1/fc", "h/*/fc", true},
  };
  for (const Case& is : kCases) {
    CAPTURE(is.glob);
    CAPTURE(is.name);
    CHECK(halftone::dsl::checking::matches(is.glob, is.name, copies) == is.matches);
  }
}

}  // namespace
