// SPDX-License-Identifier: Apache-2.0
#include "halftone/description/reserved_names.hpp"

#include <doctest/doctest.h>

using halftone::description::hides_namespace;
using halftone::description::Reserved;
using halftone::description::reserved_as;

TEST_CASE("a name that C++ keeps for itself is told, with what for") {
  struct Case {
    const char* name;
    Reserved as;
  };
  const Case cases[] = {
      {"class", Reserved::keyword},      {"alignas", Reserved::keyword},
      {"xor_eq", Reserved::keyword},     {"co_await", Reserved::keyword},
      {"const-cast", Reserved::keyword},  // const_cast, as C++ would call it
      {"NULL", Reserved::macro},         {"WINT_MAX", Reserved::macro},
      {"assert", Reserved::macro},       {"M/PI", Reserved::macro},
      {"_Input", Reserved::compiler},    {"-Input", Reserved::compiler},
      {"a__b", Reserved::compiler},      {"a-/b", Reserved::compiler},
      {"__FILE__", Reserved::compiler},  {"Class", Reserved::nothing},
      {"classes", Reserved::nothing},    {"clas", Reserved::nothing},
      {"_input", Reserved::nothing},     {"input_", Reserved::nothing},
      {"a_b/c-d", Reserved::nothing},    {"NULLS", Reserved::nothing},
      {"", Reserved::nothing},           {"_", Reserved::nothing},
  };
  for (const Case& is : cases) {
    CAPTURE(is.name);
    CHECK(reserved_as(is.name) == is.as);
  }
}

TEST_CASE("a model cannot be called like a namespace that its header names") {
  CHECK(hides_namespace("std"));
  CHECK(hides_namespace("halftone"));
  CHECK(hides_namespace("models"));
  CHECK_FALSE(hides_namespace("model"));
}
