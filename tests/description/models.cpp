// SPDX-License-Identifier: Apache-2.0
#include "models.hpp"

#include <doctest/doctest.h>

using namespace halftone;

TEST_CASE("every example model loads, survives print and parse, and bears its file's name") {
  const auto names = tests::model_names();
  CHECK(names.size() >= 25);
  for (const std::string& name : names) {
    CAPTURE(name);
    const auto model = tests::load_model(name);
    CHECK(model.name == name);
    CHECK(std::get<description::Description>(description::parse(print(model))) == model);
  }
}

TEST_CASE("the digits model has the 17482 parameters of 64-128-64-10 with one layer norm") {
  std::int64_t count = 0;
  for (const auto& node : tests::load_model("digits").nodes) {
    if (node.kind != description::kind_called("parameter")) continue;
    std::int64_t elements = 1;
    for (const auto& dimension : node.shape) elements *= dimension.extent;
    count += elements;
  }
  CHECK(count == (64 + 1) * 128 + 2 * 128 + (128 + 1) * 64 + (64 + 1) * 10);
}

TEST_CASE("a model that does not exist cannot be loaded") {
  CHECK_THROWS_AS(tests::load_model("absent"), std::runtime_error);
}
