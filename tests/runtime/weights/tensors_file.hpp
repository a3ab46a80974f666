// SPDX-License-Identifier: Apache-2.0
// safetensors files of any tensors.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "safetensors/header.hpp"

namespace weights_tests {

struct TensorOf {
  template <class Element>
  TensorOf(std::string name, std::vector<std::int64_t> shape, std::string type,
           const std::vector<Element>& values)
      : name(std::move(name)),
        type(std::move(type)),
        shape(std::move(shape)),
        bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Element)) {}
  TensorOf(std::string name, std::vector<std::int64_t> shape, const std::vector<float>& values)
      : TensorOf(std::move(name), std::move(shape), "F32", values) {}

  std::string name, type;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

inline std::string file_of(const std::vector<TensorOf>& tensors) {
  halftone::safetensors::Header header;
  std::string bytes;
  for (const TensorOf& tensor : tensors) {
    const std::size_t begin = bytes.size();
    bytes += tensor.bytes;
    header.tensors.push_back({tensor.name, tensor.type, tensor.shape, begin, bytes.size()});
  }
  return print(header) + bytes;
}

}  // namespace weights_tests
