// SPDX-License-Identifier: Apache-2.0
// Files of rules that take the place of a model's own.
#include <doctest/doctest.h>

#include <string>

#include "halftone/description/text.hpp"

using namespace halftone::description;

namespace {

constexpr const char* kModel = R"(halftone description 1
model "m"
input %x : f32[batch, 4]
parameter %fc.weight : [4, 4] init constant(1)
%fc = linear(x: %x, weight: %fc.weight) : [batch, 4]
output "y" = %fc
rule everywhere : store bf16
optimizer sgd learning_rate 1 momentum 0 weight_decay 0
)";

struct Case {
  const char* text;
  int line, column;
  const char* message;
};

}  // namespace

TEST_CASE("a file's rules take the place of a model's own") {
  Description description = std::get<Description>(parse(kModel));
  for (const char* text : {
           "rule everywhere : store f16\nrule where op linear : compute f32",
           "\xef\xbb\xbfrule\teverywhere : store f16 # all\r\n\r\n  rule where op linear : "
           "compute f32\r\n",
       }) {
    CAPTURE(text);
    REQUIRE(!replace_rules(description, text));
    REQUIRE(description.rules.size() == 2);
    CHECK(rule_text(description.rules[0]) == "everywhere : store f16");
    CHECK(rule_text(description.rules[1]) == "where op linear : compute f32");
  }
}

TEST_CASE("a file of rules that cannot be meant is refused where it cannot") {
  const char* nothing =
      "this file states no rule; write 'rule everywhere : store f32 compute f32' to keep all in "
      "f32";
  const Case cases[] = {
      {"", 1, 1, nothing},
      {"# nothing but this\n\n", 1, 1, nothing},
      {"rule everywhere : store f32\n  everywhere : store f32", 2, 3,
       "expected a statement 'rule ...', but met \"everywhere\""},
      {"\nrule everywhere : compute bf16 store f16", 2, 32,
       "expected store, compute, result, accumulate, master, rounding, recompute, loss_scale, "
       "memory_budget, quantize, place or because, at most once each and in this order, but met "
       "\"store\""},
      {"rule everywhere : store f32\nrule where op relu : store bf16\nrule where op gelu : store "
       "f32",
       2, 1,
       "the rule \"where op relu : store bf16\" names a class or op that this model does not have; "
       "correct it or remove the rule (P40)"},
  };
  const Description before = std::get<Description>(parse(kModel));
  for (const Case& is : cases) {
    CAPTURE(is.text);
    Description description = before;
    const auto error = replace_rules(description, is.text);
    REQUIRE(error);
    CHECK(error->message == is.message);
    CHECK(error->line == is.line);
    CHECK(error->column == is.column);
    CHECK(description == before);
  }
}
