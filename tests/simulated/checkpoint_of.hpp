// SPDX-License-Identifier: Apache-2.0
// A trainer's whole checkpoint, for comparisons of one device with another.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "halftone/trainer.hpp"

namespace halftone::tests {

inline std::string checkpoint_of(Trainer& trainer) {
  const std::string file = std::filesystem::temp_directory_path() /
                           ("halftone_checkpoint_of_" + std::to_string(getpid()));
  trainer.save(file);
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  std::remove(file.c_str());
  return bytes;
}

}  // namespace halftone::tests
