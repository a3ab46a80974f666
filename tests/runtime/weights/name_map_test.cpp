// SPDX-License-Identifier: Apache-2.0
// Which parameter a tensor is for: names with and without `*`, the first entry that matches.
#include "weights/name_map.hpp"

#include <doctest/doctest.h>

#include "message_of.hpp"

using halftone::Destination, halftone::matches, halftone::NameMap, halftone::WeightName;

namespace {

/// The texts of the stars, each in brackets; "no" where the pattern does not match.
std::string stars(std::string_view pattern, std::string_view name) {
  std::vector<std::string_view> texts;
  if (!matches(pattern, name, texts)) return "no";
  std::string all;
  for (const std::string_view text : texts) all += "[" + std::string(text) + "]";
  return all;
}

}  // namespace

TEST_CASE("a star is any text, the first ones as short as they can be") {
  const struct {
    const char *pattern, *name, *stars;
  } cases[] = {{"a.b", "a.b", ""},
               {"a.b", "a.bc", "no"},
               {"", "", ""},
               {"", "a", "no"},
               {"*", "", "[]"},
               {"*", "a.b", "[a.b]"},
               {"*.weight", "fc.weight", "[fc]"},
               {"*.weight", "fc.weight.weight", "[fc.weight]"},
               {"*.weight", ".weight", "[]"},
               {"*.weight", "weight", "no"},
               {"layers.*.fc", "layers.10.fc", "[10]"},
               {"layers.*.fc", "layers.fc", "no"},
               {"*.*", "a.b.c", "[a][b.c]"},
               {"*ab*ab", "abab", "[][]"},
               {"*ab*ab", "ab", "no"},
               {"*ab*ab", "xabyabzab", "[x][yabz]"},
               {"a*a", "a", "no"},
               {"a**c", "abc", "[][b]"},
               {"*aab*", "aaab", "[a][]"}};
  for (const auto& c : cases) {
    CAPTURE(c.pattern);
    CAPTURE(c.name);
    CHECK(stars(c.pattern, c.name) == c.stars);
  }
}

TEST_CASE("the first entry that matches holds, and others keep their names") {
  const std::vector<WeightName> names = {{"encoder.layers.0.weight", "fc1.weight"},
                                         {"encoder.layers.*.*", "block*.*"},
                                         {"*.kernel", "*.weight", true},
                                         {"*.steps", ""}};
  const NameMap map(names);
  const struct {
    const char *tensor, *parameter;
    bool transposed, is_exact;
  } cases[] = {{"encoder.layers.0.weight", "fc1.weight", false, true},
               {"encoder.layers.0.bias", "block0.bias", false, false},
               {"encoder.layers.11.fc.kernel", "block11.fc.kernel", false, false},
               {"head.kernel", "head.weight", true, false},
               {"norm.steps", "", false, false},
               {"norm.weight", "norm.weight", false, false}};
  for (const auto& c : cases) {
    CAPTURE(c.tensor);
    const Destination destination = map.of(c.tensor);
    CHECK(destination.parameter == c.parameter);
    CHECK(destination.transposed == c.transposed);
    CHECK(destination.is_exact == c.is_exact);
  }
}

TEST_CASE("entries whose stars do not pair are refused") {
  const std::vector<WeightName> more = {{"a.*", "b.*.*"}}, none = {{"*.weight", "fc.weight"}};
  CHECK(
      message_of([&] { const NameMap map(more); }) ==
      "load_weights: entry {\"a.*\", \"b.*.*\"} of LoadOptions::names has 1 '*' on the left and 2 "
      "on the right; write as many on both sides");
  CHECK(message_of([&] { const NameMap map(none); }) ==
        "load_weights: entry {\"*.weight\", \"fc.weight\"} of LoadOptions::names has 1 '*' on the "
        "left and 0 on the right; write as many on both sides");
}
