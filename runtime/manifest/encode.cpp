// SPDX-License-Identifier: Apache-2.0
// Writes the encoding. Apart from reading, which every program does and writing hardly one.
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>

#include "fields.hpp"
#include "halftone/manifest/manifest.hpp"
#include "header.hpp"

namespace halftone::manifest {
namespace {

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& bytes) : bytes_(bytes) {}

  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_enum_v<T> || std::same_as<T, bool>) {
      integer(static_cast<std::uint8_t>(value));
    } else if constexpr (std::same_as<T, double>) {
      integer(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::integral<T>) {
      integer(static_cast<std::make_unsigned_t<T>>(value));
    } else {
      static_assert(HasFields<T>);
      std::apply([&](auto... member) { ((*this)(value.*member), ...); }, kFields<T>);
    }
  }

  void operator()(const std::string& text) {
    integer(std::uint64_t{text.size()});
    for (char c : text) integer(static_cast<std::uint8_t>(c));
  }

  template <class T>
  void operator()(const std::vector<T>& items) {
    integer(std::uint64_t{items.size()});
    for (const T& item : items) (*this)(item);
  }

  template <class T, std::size_t n>
  void operator()(const T (&items)[n]) {
    for (const T& item : items) (*this)(item);
  }

 private:
  template <std::unsigned_integral T>
  void integer(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
  }

  std::vector<std::byte>& bytes_;
};

}  // namespace

std::vector<std::byte> encode(const Manifest& manifest) {
  std::vector<std::byte> bytes(kMagicBytes);
  std::memcpy(bytes.data(), magic().data(), kMagicBytes);
  Writer write(bytes);
  write(kVersion);
  bytes.resize(kHeaderBytes);
  write(manifest);

  std::vector<std::byte> length;
  Writer{length}(std::uint64_t{bytes.size() - kHeaderBytes});
  std::copy(length.begin(), length.end(), bytes.begin() + kLengthAt);
  const Checksum checksum = checksum_of_manifest(bytes);
  std::copy(checksum.begin(), checksum.end(), bytes.begin() + kChecksumAt);
  return bytes;
}

}  // namespace halftone::manifest
