// SPDX-License-Identifier: Apache-2.0
#include "cache_entry.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "halftone/manifest/checksum.hpp"

namespace halftone {
namespace {

constexpr std::string_view kMagic = "HTCACHE\n";
constexpr std::size_t kKeyAt = 12, kIdentityLengthAt = 44, kIdentityAt = 52, kChecksumBytes = 16;
constexpr std::size_t kLeastBytes = kIdentityAt + 8 + kChecksumBytes;
constexpr std::uint64_t kSecondSeed = 0x9e3779b97f4a7c15;  // of the key's second half

void append(std::string& bytes, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

void append(std::string& bytes, std::string_view part) {
  append(bytes, part.size(), 8);
  bytes += part;
}

std::uint64_t integer_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return value;
}

manifest::Checksum checksum_of(std::string_view bytes, std::uint64_t seed = 0) {
  return manifest::checksum_of(std::as_bytes(std::span(bytes)), seed);
}

std::string_view view_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The two parts; false when the lengths are not those of the bytes. Nothing is added to a length
/// before it is known to be at most the size.
bool split(std::string_view bytes, DecodedEntry& entry) {
  const std::uint64_t parts = bytes.size() - kLeastBytes;
  const std::uint64_t identity = integer_at(bytes, kIdentityLengthAt, 8);
  if (identity > parts) return false;
  const std::size_t image_length_at = kIdentityAt + identity;
  const std::uint64_t image = integer_at(bytes, image_length_at, 8);
  if (image != parts - identity) return false;
  entry.identity = bytes.substr(kIdentityAt, identity);
  entry.image = bytes.substr(image_length_at + 8, image);
  return true;
}

}  // namespace

std::string encode_identity(const KernelIdentity& identity) {
  std::string bytes;
  append(bytes, kCacheFormat, 4);
  append(bytes, identity.halftone_version);
  append(bytes, identity.compiler.compiler);
  append(bytes, identity.compiler.options.size(), 8);
  for (const std::string& option : identity.compiler.options) append(bytes, option);
  append(bytes, identity.compiler.output);
  append(bytes, identity.compiler.driver);
  append(bytes, identity.architecture);
  append(bytes, identity.name);
  append(bytes, identity.text);
  return bytes;
}

CacheKey key_of(std::string_view identity) {
  const manifest::Checksum first = checksum_of(identity),
                           second = checksum_of(identity, kSecondSeed);
  CacheKey key;
  std::ranges::copy(first, key.begin());
  std::ranges::copy(second, key.begin() + first.size());
  return key;
}

std::string hexadecimal(const CacheKey& key) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : key) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::string encode_entry(std::string_view identity, std::string_view image) {
  std::string bytes;
  bytes.reserve(kLeastBytes + identity.size() + image.size());
  bytes += kMagic;
  append(bytes, kCacheFormat, 4);
  bytes += view_of(key_of(identity));
  append(bytes, identity);
  append(bytes, image);
  bytes += view_of(checksum_of(bytes));
  return bytes;
}

DecodedEntry decode_entry(std::string_view bytes) {
  DecodedEntry entry;
  if (bytes.size() < kLeastBytes || !bytes.starts_with(kMagic)) return entry;
  entry.state = EntryState::other_format;
  if (integer_at(bytes, kMagic.size(), 4) != kCacheFormat) return entry;
  DecodedEntry whole{EntryState::sound, {}, {}, {}};
  entry.state = EntryState::damaged;
  const std::string_view summed = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (!split(bytes, whole)) return entry;
  if (bytes.substr(summed.size()) != view_of(checksum_of(summed))) return entry;
  std::memcpy(whole.key.data(), bytes.data() + kKeyAt, whole.key.size());
  return whole.key == key_of(whole.identity) ? whole : entry;
}

DecodedEntry decode_entry(std::string_view bytes, std::string_view identity) {
  const DecodedEntry entry = decode_entry(bytes);
  if (entry.state != EntryState::sound || entry.identity == identity) return entry;
  DecodedEntry other;
  other.state = EntryState::other_identity;
  return other;
}

}  // namespace halftone
