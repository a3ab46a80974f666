// SPDX-License-Identifier: Apache-2.0
// Takes the place of `halftone compile-texts` and answers what STUB_VERSION and STUB_IMAGE hold.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "halftone/manifest/texts.hpp"

int main(int, char** arguments) {
  namespace hm = halftone::manifest;
  std::ifstream jobs(arguments[2], std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(jobs), {}};
  std::vector<std::string> strings;
  hm::DecodeError error;
  if (!hm::unpack_texts(std::as_bytes(std::span(packed)), strings, error)) return 1;
  std::vector<std::string> answer(strings.size() / 3 + 1, std::getenv("STUB_IMAGE"));
  answer[0] = std::getenv("STUB_VERSION");
  const std::vector<std::byte> bytes = hm::pack_texts(answer);
  std::ofstream images(arguments[3], std::ios::binary);
  images.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  return images.flush() ? 0 : 1;
}
