// SPDX-License-Identifier: Apache-2.0
// MODEL.halftone: the rules that presets::tensorflow(bf16) paints it with, for compare.py.
#include <cstdio>
#include <fstream>
#include <halftone/dsl.hpp>
#include <iterator>
#include <string>
#include <variant>

#include "halftone/description/paint.hpp"
#include "halftone/description/text.hpp"

int main(int count, char** values) {
  namespace description = halftone::description;
  if (count != 2) {
    std::fputs("MODEL.halftone: the model to paint\n", stderr);
    return 2;
  }
  std::ifstream file(values[1]);
  auto parsed = description::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  auto* model = std::get_if<description::Description>(&parsed);
  if (model == nullptr) {
    std::fprintf(stderr, "%s is no description of a model\n", values[1]);
    return 1;
  }
  constexpr auto painted = halftone::dsl::presets::tensorflow(halftone::dsl::bf16);
  for (const description::Rule& rule :
       description::paint_rules(*model, painted.rules[0].lists, painted.rules[0].painted_in))
    std::puts(description::rule_text(rule).c_str());
  return 0;
}
