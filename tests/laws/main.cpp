// SPDX-License-Identifier: Apache-2.0
// laws [--variant NAME] [DOCTEST ARGUMENT...]: runs tests, those that ask for it with that variant
// of the code, where the processor has it, and says why not elsewhere (77: skipped).
#include <cstdio>
#include <cstring>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "halftone/device.hpp"
#include "tested_variant.hpp"

int main(int count, char** values) {
  using halftone::tests::tested_variant;
  if (count > 2 && std::strcmp(values[1], "--variant") == 0) {
    tested_variant = values[2];
    count -= 2;
    values += 2;
  }
  try {
    (void)halftone::Device::cpu(tested_variant);
  } catch (const halftone::Error& error) {
    std::printf("Skipped: %s\n", error.what());
    return 77;
  }
  return doctest::Context(count, values).run();
}
