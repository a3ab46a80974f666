// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are refused with a sentence or read as a Description that survives
// print and parse.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz_property.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string broken = halftone::tests::broken_promise(text);
  if (broken.empty()) return 0;
  std::fprintf(stderr, "%s\n", broken.c_str());
  std::abort();
}
