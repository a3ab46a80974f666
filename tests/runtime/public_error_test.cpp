// SPDX-License-Identifier: Apache-2.0
// A program that includes no more than it uses can catch Error: artifact.hpp, which every other
// header of the runtime includes, stands here alone.
#include <doctest/doctest.h>

#include <halftone/artifact.hpp>
#include <string>

TEST_CASE("who includes a header of the runtime can catch what it throws") {
  std::string object;
  try {
    (void)halftone::Artifact::load("/nowhere");
  } catch (const halftone::Error& error) {
    object = error.object();
  }
  CHECK(object == "file '/nowhere'");
}
