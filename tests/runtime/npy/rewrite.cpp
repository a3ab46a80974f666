// SPDX-License-Identifier: Apache-2.0
// rewrite IN OUT: loads an array and saves it as another file; where that is refused, prints the
// sentence and ends with 1. For compare_with_numpy.
#include <cstdio>

#include "halftone/npy.hpp"

int main(int count, char** arguments) {
  if (count != 3) return 2;
  try {
    const halftone::NpyArray array = halftone::load_npy(arguments[1]);
    std::visit([&](const auto& values) { halftone::save_npy(arguments[2], values, array.shape); },
               array.values);
  } catch (const halftone::Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  return 0;
}
