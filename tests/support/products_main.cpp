// SPDX-License-Identifier: Apache-2.0
// Runs tests with instructions for products of bf16 (provided.hpp), the processor's or emulated,
// and says why not where neither is possible (77: skipped).
#include <cstdio>

#define DOCTEST_CONFIG_IMPLEMENT
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS  // SIGILL is the emulator's
#include <doctest/doctest.h>

#include "provided.hpp"

namespace products = halftone::tests::products;

int main(int count, char** values) {
  if (const std::string why = products::provide(); !why.empty()) {
    std::printf("Skipped: %s\n", why.c_str());
    return 77;
  }
  const int result = doctest::Context(count, values).run();
  std::printf("%s: %s\n", products::kInstructions,
              products::emulates() ? "emulated" : "the processor's");
  return result;
}
