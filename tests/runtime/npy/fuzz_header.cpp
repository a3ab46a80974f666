// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are refused with a reason or are an array, whose elements are all
// that lies behind the header, and whose header survives print and parse.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "npy/header.hpp"

using namespace halftone::npy;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span file(reinterpret_cast<const std::byte*>(data), size);
  Header header;
  std::string why;
  if (!parse(file, header, why)) {
    require(!why.empty() && header.shape.empty());
    return 0;
  }
  const auto bytes = static_cast<std::uint64_t>(form(header.type).bytes);
  require(header.data_at <= size && header.elements <= size &&
          header.elements * bytes == size - header.data_at);
  std::string again = print(header.type, header.shape);
  require(again.size() % 64 == 0);
  again.append(reinterpret_cast<const char*>(data) + header.data_at, size - header.data_at);
  Header back;
  require(parse(std::as_bytes(std::span(again)), back, why));
  require(back.type == header.type && back.shape == header.shape && !back.fortran_order &&
          back.elements == header.elements);
  return 0;
}
