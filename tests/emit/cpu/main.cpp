// SPDX-License-Identifier: Apache-2.0
// Runs tests of the variants that the processor has, and says at the end which it has not (77:
// skipped).
#include <cstdio>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "native.hpp"

int main(int count, char** values) {
  const int result = doctest::Context(count, values).run();
  if (result != 0 || native::skipped().empty()) return result;
  for (const auto& [variant, reason] : native::skipped()) {
    std::printf("Skipped: %s\n", reason.c_str());
  }
  return 77;
}
