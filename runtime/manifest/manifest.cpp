// SPDX-License-Identifier: Apache-2.0
// Reads the encoding: little-endian fields in the order of fields.hpp, strings and vectors behind a
// 64-bit length.
#include "halftone/manifest/manifest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstring>

#include "fields.hpp"
#include "header.hpp"
#include "verify.hpp"

namespace halftone::manifest {
namespace {

/// The word's bytes inverted, the first one lowest; read at run time alone.
const volatile std::uint64_t kInvertedMagic = ~std::uint64_t{0x0a46'494e'414d'5448};

/// Every call returns false once the bytes have run out or a value is impossible. Vectors grow
/// element by element, so a hostile length cannot ask for more memory than the bytes at hand
/// justify.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  template <class T>
  [[nodiscard]] bool operator()(T& value) {
    if constexpr (std::is_enum_v<T>) {
      std::uint8_t raw = 0;
      if (!integer(raw) || raw > static_cast<std::uint8_t>(kLast<T>)) return false;
      value = static_cast<T>(raw);
      return true;
    } else if constexpr (std::same_as<T, bool>) {
      std::uint8_t raw = 0;
      if (!integer(raw) || raw > 1) return false;
      value = raw == 1;
      return true;
    } else if constexpr (std::same_as<T, double>) {
      std::uint64_t raw = 0;
      if (!integer(raw)) return false;
      value = std::bit_cast<double>(raw);
      return true;
    } else if constexpr (std::integral<T>) {
      std::make_unsigned_t<T> raw = 0;
      if (!integer(raw)) return false;
      value = static_cast<T>(raw);
      return true;
    } else {
      static_assert(HasFields<T>);
      return std::apply([&](auto... member) { return ((*this)(value.*member) && ...); },
                        kFields<T>);
    }
  }

  [[nodiscard]] bool operator()(std::string& text) {
    std::uint64_t size = 0;
    if (!integer(size) || size > rest_.size()) return false;
    text.resize(size);
    if (size != 0) std::memcpy(text.data(), rest_.data(), size);
    rest_ = rest_.subspan(size);
    return true;
  }

  template <class T>
  [[nodiscard]] bool operator()(std::vector<T>& items) {
    std::uint64_t size = 0;
    if (!integer(size) || size > rest_.size()) return false;
    items.clear();
    for (std::uint64_t i = 0; i < size; ++i) {
      if (!(*this)(items.emplace_back())) return false;
    }
    return true;
  }

  template <class T, std::size_t n>
  [[nodiscard]] bool operator()(T (&items)[n]) {
    return std::all_of(std::begin(items), std::end(items), [&](T& item) { return (*this)(item); });
  }

  template <std::unsigned_integral T>
  [[nodiscard]] bool integer(T& value) {
    if (rest_.size() < sizeof(T)) return false;
    value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>(value | (static_cast<T>(rest_[i]) << (8 * i)));
    }
    rest_ = rest_.subspan(sizeof(T));
    return true;
  }

 private:
  std::span<const std::byte> rest_;
};

bool fail(DecodeError& error, DecodeError::Kind kind, std::string message) {
  error = {kind, std::move(message)};
  return false;
}

bool check_header(std::span<const std::byte> bytes, DecodeError& error) {
  using Kind = DecodeError::Kind;
  if (bytes.size() < kHeaderBytes) {
    return fail(error, Kind::truncated,
                "the manifest is truncated: " + std::to_string(bytes.size()) +
                    " bytes are fewer than its header has");
  }
  if (std::memcmp(bytes.data(), magic().data(), kMagicBytes) != 0) {
    return fail(error, Kind::malformed, "the bytes are no Halftone manifest");
  }
  Reader header(bytes.subspan(kMagicBytes));
  std::uint32_t version = 0;
  std::uint64_t length = 0;
  if (!header.integer(version) || !header.integer(length)) return false;
  if (version != kVersion) {
    return fail(error, Kind::version,
                "the manifest is of version " + std::to_string(version) + ", but version " +
                    std::to_string(kVersion) + " is needed");
  }
  const std::uint64_t present = bytes.size() - kHeaderBytes;
  if (length > present) {
    return fail(error, Kind::truncated,
                "the manifest is truncated: " + std::to_string(present) + " of its " +
                    std::to_string(length) + " bytes are there");
  }
  const Checksum checksum = checksum_of_manifest(bytes);
  if (std::memcmp(bytes.data() + kChecksumAt, checksum.data(), 16) != 0) {
    return fail(error, Kind::altered, "the manifest was altered: its checksum does not match");
  }
  return true;
}

}  // namespace

std::array<char, 8> magic() noexcept {
  const std::uint64_t word = ~kInvertedMagic;
  std::array<char, kMagicBytes> bytes{};
  for (std::size_t i = 0; i < kMagicBytes; ++i) bytes[i] = static_cast<char>(word >> (8 * i));
  return bytes;
}

bool decode(std::span<const std::byte> bytes, Manifest& manifest, DecodeError& error) {
  manifest = {};
  if (!check_header(bytes, error)) return false;
  Reader read(bytes.subspan(kHeaderBytes));
  Manifest result;
  if (!read(result) || !read.at_end()) {
    return fail(error, DecodeError::Kind::malformed, "the manifest's fields do not parse");
  }
  if (std::string why = verify(result); !why.empty()) {
    return fail(error, DecodeError::Kind::malformed, "the manifest is inconsistent: " + why);
  }
  manifest = std::move(result);
  return true;
}

}  // namespace halftone::manifest
