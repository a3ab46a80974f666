// SPDX-License-Identifier: Apache-2.0
// rewrite IN OUT: reads a safetensors file and writes what it holds as another one; prints every
// tensor in the order of its bytes: name, type, extents. For compare_with_pypi.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "safetensors/header.hpp"

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::ifstream in(arguments[1], std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  halftone::safetensors::Header header;
  std::uint64_t at = 0;
  std::string why;
  if (!parse(std::as_bytes(std::span(file)), header, at, why)) {
    std::printf("it %s\n", why.c_str());
    return 1;
  }
  for (const auto& tensor : header.tensors) {
    std::printf("%s %s", tensor.name.c_str(), tensor.type.c_str());
    for (const std::int64_t extent : tensor.shape)
      std::printf(" %lld", static_cast<long long>(extent));
    std::printf("\n");
  }
  std::ofstream(arguments[2], std::ios::binary) << print(header) << file.substr(at);
  return 0;
}
