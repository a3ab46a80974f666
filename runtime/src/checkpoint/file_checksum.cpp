// SPDX-License-Identifier: Apache-2.0
#include "file_checksum.hpp"

#include "halftone/manifest/checksum.hpp"

namespace halftone {
namespace {

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

/// Of header and tensors, where the header has no_checksum() for its own.
std::string checksum_of(std::string_view header, std::span<const std::byte> tensors) {
  return hexadecimal(manifest::checksum_of(tensors, manifest::hash_of(header)));
}

}  // namespace

const std::string& no_checksum() {
  static const std::string zeros(2 * sizeof(manifest::Checksum), '0');
  return zeros;
}

void set_checksum(Snapshot& snapshot) {
  const std::string sum = checksum_of(snapshot.header, snapshot.tensors);
  snapshot.header.replace(snapshot.header.find(no_checksum()), sum.size(), sum);
}

bool is_intact(std::span<const std::byte> file, std::uint64_t tensors_at,
               std::string_view claimed) {
  std::string header(reinterpret_cast<const char*>(file.data()), tensors_at);
  const std::size_t at =
      claimed.size() == no_checksum().size() ? header.find(claimed) : std::string::npos;
  if (at == std::string::npos) return false;
  header.replace(at, claimed.size(), no_checksum());
  return checksum_of(header, file.subspan(tensors_at)) == claimed;
}

}  // namespace halftone
