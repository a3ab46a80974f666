// SPDX-License-Identifier: Apache-2.0
// Runs tests of all code variants where the processor has all, and says why not elsewhere (77:
// skipped).
#include <cstdio>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "halftone/device.hpp"

int main(int count, char** values) {
  try {
    (void)halftone::Device::cpu("x86-64-v3");
  } catch (const halftone::Error& error) {
    std::printf("Skipped: %s\n", error.what());
    return 77;
  }
  return doctest::Context(count, values).run();
}
