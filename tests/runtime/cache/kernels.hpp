// SPDX-License-Identifier: Apache-2.0
// Kernels for a cache that never compiles any: an identity and an image for every number.
#pragma once

#include <string>

#include "cache/cache_folder.hpp"
#include "cache/cache_names.hpp"
#include "cache/kernel_cache.hpp"

namespace halftone::tests {

inline KernelIdentity identity_of(int number) {
  return {.halftone_version = "1.2.3",
          .text = "extern \"C\" __global__ void k" + std::to_string(number) + "() {}",
          .name = "k" + std::to_string(number),
          .architecture = "sm_90a",
          .compiler = {.compiler = "NVRTC 13.0",
                       .options = {"--std=c++17", "--fmad=false"},
                       .output = "cubin",
                       .driver = ""}};
}

/// Bytes that no other number has: with zeros, no text.
inline std::string image_of(int number, std::size_t bytes = 100) {
  std::string image = "image " + std::to_string(number) + std::string(1, '\0');
  std::uint32_t state = static_cast<std::uint32_t>(number) * 2654435761u + 1;
  while (image.size() < bytes) {
    state = state * 1664525u + 1013904223u;
    image += static_cast<char>(state >> 24);
  }
  return image;
}

inline std::string name_of(int number) {
  return entry_name(key_of(encode_identity(identity_of(number))));
}
inline std::string lock_name_of(int number) {
  return hexadecimal(key_of(encode_identity(identity_of(number)))) + ".lock";
}
inline std::string entry_of(int number) {
  return encode_entry(encode_identity(identity_of(number)), image_of(number));
}

inline CacheSettings settings_for(const std::string& folder,
                                  CacheMode mode = CacheMode::read_write) {
  CacheSettings settings;
  settings.mode = mode;
  settings.folder = folder;
  return settings;
}

/// Asks for a kernel; `made` counts how often it had to be compiled.
inline std::string ask(KernelCache& cache, int number, int& made) {
  return cache.image(identity_of(number), [&] {
    ++made;
    return image_of(number);
  });
}
inline std::string ask(KernelCache& cache, int number) {
  int made = 0;
  return ask(cache, number, made);
}

}  // namespace halftone::tests
