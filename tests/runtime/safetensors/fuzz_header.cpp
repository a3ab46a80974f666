// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are refused with a reason or are a safetensors file, whose tensors
// lie inside of it, one behind another, and whose header survives print and parse.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "safetensors/header.hpp"

using namespace halftone::safetensors;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool same(const Header& a, const Header& b) {
  if (a.metadata != b.metadata || a.tensors.size() != b.tensors.size()) return false;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const Tensor &x = a.tensors[i], &y = b.tensors[i];
    if (x.name != y.name || x.type != y.type || x.shape != y.shape || x.begin != y.begin ||
        x.end != y.end)
      return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span file(reinterpret_cast<const std::byte*>(data), size);
  Header header;
  std::uint64_t at = 0;
  std::string why;
  if (!parse(file, header, at, why)) {
    require(!why.empty() && header.tensors.empty() && header.metadata.empty());
    return 0;
  }
  std::uint64_t end = 0;
  for (const Tensor& tensor : header.tensors) {
    require(tensor.begin == end && tensor.end >= tensor.begin && bits_of(tensor.type) > 0);
    end = tensor.end;
  }
  require(at <= size && end == size - at);
  std::string again = print(header);
  again.append(reinterpret_cast<const char*>(data) + at, size - at);
  Header back;
  require(parse(std::as_bytes(std::span(again)), back, at, why) && same(header, back));
  return 0;
}
