// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <set>

#include "halftone/description/text.hpp"
#include "halftone/description/validate.hpp"
#include "random_description.hpp"

using namespace halftone::description;

namespace {

Description any_description() {
  const auto number = rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint32_t>());
  const auto list = rc::gen::container<std::vector<std::uint32_t>>(number);
  return halftone::tests::random_description(*rc::gen::scale(3.0, list));
}

}  // namespace

TEST_CASE("print and parse give back any valid Description, and the same text") {
  std::set<Kind> kinds;
  const bool holds = rc::check("parse(print(d)) == d", [&kinds] {
    const Description description = any_description();
    for (const Node& node : description.nodes) kinds.insert(node.kind);
    const auto violation = validate(description);
    if (violation) RC_FAIL(violation->message);
    const std::string text = print(description);
    const auto result = parse(text);
    if (const auto* error = std::get_if<ParseError>(&result))
      RC_FAIL(error->str("text") + "\n" + text);
    const Description& read = std::get<Description>(result);
    RC_ASSERT(read == description);
    RC_ASSERT(print(read) == text);
  });
  CHECK(holds);
  CHECK(kinds.size() == 14);
}

TEST_CASE("the shape of every node of a valid Description is the inferred one") {
  CHECK(rc::check("infer_shape(d, node) == node.shape", [] {
    const Description description = any_description();
    for (const Node& node : description.nodes) {
      const auto shape = infer_shape(description, node);
      RC_ASSERT(shape.has_value() == (node.kind > Kind::state));
      if (shape) RC_ASSERT(*shape == node.shape);
    }
  }));
}
