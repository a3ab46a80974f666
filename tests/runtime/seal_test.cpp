// SPDX-License-Identifier: Apache-2.0
// Seals: what they cover, and what breaks them.
#include "halftone/manifest/seal.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace halftone::manifest;
using Kind = DecodeError::Kind;

namespace {

std::vector<std::byte> sealed(std::vector<std::byte> content) {
  const std::vector<std::byte> seal = seal_of(content);
  content.insert(content.end(), seal.begin(), seal.end());
  return content;
}

std::vector<std::byte> some_content() {
  std::vector<std::byte> content;
  for (int i = 0; i < 100; ++i) content.push_back(static_cast<std::byte>(i));
  return content;
}

}  // namespace

TEST_CASE("a seal fits the file that it was made for and no other") {
  std::vector<std::byte> file = sealed(some_content());
  DecodeError error;
  CHECK(file.size() == 100 + kSealBytes);
  CHECK(check_seal(file, error));
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    const std::byte mask{static_cast<unsigned char>(1u << (bit % 8))};
    file[bit / 8] ^= mask;
    CAPTURE(bit);
    REQUIRE_FALSE(check_seal(file, error));
    file[bit / 8] ^= mask;
  }
  for (std::size_t length = 0; length < file.size(); ++length) {
    CAPTURE(length);
    REQUIRE_FALSE(check_seal(std::span(file).first(length), error));
  }
}

TEST_CASE("a seal of another version names both versions") {
  std::vector<std::byte> file = sealed(some_content());
  file[100 + 8] = std::byte{kVersion + 1};
  DecodeError error;
  CHECK_FALSE(check_seal(file, error));
  CHECK(error.kind == Kind::version);
  CHECK(error.message == "the artifact is of version 24, but version 23 is needed");
}
