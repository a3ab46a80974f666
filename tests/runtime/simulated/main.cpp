// SPDX-License-Identifier: Apache-2.0
// Runs tests that need NVRTC where it is, and says why not elsewhere (77: skipped).
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "cuda/nvrtc.hpp"
#include "halftone/error.hpp"

int main(int count, char** values) {
  if (!std::getenv("NVRTC_HOME") && std::filesystem::exists(HALFTONE_FETCHED_NVRTC)) {
    setenv("NVRTC_HOME", HALFTONE_FETCHED_NVRTC, 1);
  }
  try {
    std::printf("%s\n", halftone::Nvrtc::instance().description().c_str());
  } catch (const halftone::Error& error) {
    std::printf("Skipped: %s\n", error.what());
    return 77;
  }
  return doctest::Context(count, values).run();
}
