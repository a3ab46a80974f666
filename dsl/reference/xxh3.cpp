// SPDX-License-Identifier: Apache-2.0
// XXH3-64 of https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md, with the default secret and
// seed 0.
#include "xxh3.hpp"

#include <array>
#include <bit>
#include <cstddef>

namespace halftone::reference {
namespace {

constexpr std::uint64_t kPrime32[] = {0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D};
constexpr std::uint64_t kPrime64[] = {0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                                      0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5};
constexpr std::uint64_t kMix1 = 0x165667919E3779F9, kMix2 = 0x9FB21C651E98DF25;
constexpr std::size_t kSecretBytes = 192, kStripe = 64, kStripesOfBlock = 16;

constexpr std::array<std::uint64_t, kSecretBytes / 8> kSecret = {
    0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072,
    0x78e5c0cc4ee679cb, 0x2172ffcc7dd05a82, 0x8e2443f7744608b8, 0x4c263a81e69035e0,
    0xcb00c391bb52283c, 0xa32e531b8b65d088, 0x4ef90da297486471, 0xd8acdea946ef1938,
    0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a, 0x647378d9c97e9fc8,
    0xc3ebd33483acc5ea, 0xeb6313faffa081c5, 0x49daf0b751dd0d17, 0x9e68d429265516d3,
    0xfca1477d58be162b, 0xce31d07ad1b8f88f, 0x280416958f3acb45, 0x7e404bbbcafbd7af,
};

/// Little-endian.
std::uint64_t number(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;)
    value = value << 8 | static_cast<std::uint8_t>(text[at + i]);
  return value;
}
std::uint64_t word(std::string_view text, std::size_t at) { return number(text, at, 8); }

/// From byte `at` on.
std::uint64_t secret(std::size_t at) {
  const unsigned shift = at % 8 * 8;
  const std::uint64_t low = kSecret[at / 8] >> shift;
  return shift == 0 ? low : low | kSecret[at / 8 + 1] << (64 - shift);
}

std::uint64_t swapped(std::uint64_t value) {
  std::uint64_t result = 0;
  for (int i = 0; i < 8; ++i) result = result << 8 | (value >> 8 * i & 0xff);
  return result;
}

/// The halves of the product's 128 bits, one xor the other.
std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t mask = 0xffffffff;
  const std::uint64_t low = (a & mask) * (b & mask), middle = (a >> 32) * (b & mask) + (low >> 32);
  const std::uint64_t other = (a & mask) * (b >> 32) + (middle & mask);
  const std::uint64_t high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
  return high ^ (other << 32 | (low & mask));
}

std::uint64_t shaken(std::uint64_t value, int right) { return value ^ value >> right; }

std::uint64_t avalanche(std::uint64_t hash) { return shaken(shaken(hash, 37) * kMix1, 32); }

std::uint64_t avalanche_of_xxh64(std::uint64_t hash) {
  return shaken(shaken(shaken(hash, 33) * kPrime64[1], 29) * kPrime64[2], 32);
}

std::uint64_t mixed(std::string_view text, std::size_t at, std::size_t secret_at) {
  return folded(word(text, at) ^ secret(secret_at), word(text, at + 8) ^ secret(secret_at + 8));
}

std::uint64_t of_up_to_3(std::string_view text) {
  const std::size_t size = text.size();
  const std::uint64_t combined = number(text, 0, 1) << 16 | number(text, size / 2, 1) << 24 |
                                 number(text, size - 1, 1) | size << 8;
  return avalanche_of_xxh64(combined ^ ((secret(0) ^ secret(0) >> 32) & 0xffffffff));
}

std::uint64_t of_up_to_8(std::string_view text) {
  const std::size_t size = text.size();
  const std::uint64_t ends = number(text, size - 4, 4) | number(text, 0, 4) << 32;
  std::uint64_t hash = ends ^ secret(8) ^ secret(16);
  hash = (hash ^ std::rotl(hash, 49) ^ std::rotl(hash, 24)) * kMix2;
  hash = (hash ^ ((hash >> 35) + size)) * kMix2;
  return shaken(hash, 28);
}

std::uint64_t of_up_to_16(std::string_view text) {
  const std::uint64_t low = word(text, 0) ^ secret(24) ^ secret(32);
  const std::uint64_t high = word(text, text.size() - 8) ^ secret(40) ^ secret(48);
  return avalanche(text.size() + swapped(low) + high + folded(low, high));
}

std::uint64_t of_up_to_128(std::string_view text) {
  const std::size_t size = text.size();
  std::uint64_t hash = size * kPrime64[0];
  for (std::size_t i = (size - 1) / 32 + 1; i-- > 0;) {
    hash += mixed(text, 16 * i, 32 * i) + mixed(text, size - 16 * (i + 1), 32 * i + 16);
  }
  return avalanche(hash);
}

std::uint64_t of_up_to_240(std::string_view text) {
  const std::size_t size = text.size();
  std::uint64_t hash = size * kPrime64[0];
  for (std::size_t i = 0; i < 8; ++i) hash += mixed(text, 16 * i, 16 * i);
  hash = avalanche(hash);
  for (std::size_t i = 8; i < size / 16; ++i) hash += mixed(text, 16 * i, 16 * (i - 8) + 3);
  return avalanche(hash + mixed(text, size - 16, 136 - 17));
}

using Lanes = std::array<std::uint64_t, 8>;

void accumulate(Lanes& lanes, std::string_view text, std::size_t at, std::size_t secret_at) {
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::uint64_t value = word(text, at + 8 * i), key = value ^ secret(secret_at + 8 * i);
    lanes[i ^ 1] += value;
    lanes[i] += (key & 0xffffffff) * (key >> 32);
  }
}

void scramble(Lanes& lanes) {
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    lanes[i] = (shaken(lanes[i], 47) ^ secret(kSecretBytes - kStripe + 8 * i)) * kPrime32[0];
  }
}

std::uint64_t of_more(std::string_view text) {
  Lanes lanes = {kPrime32[2], kPrime64[0], kPrime64[1], kPrime64[2],
                 kPrime64[3], kPrime32[1], kPrime64[4], kPrime32[0]};
  for (std::size_t stripe = 0; stripe < (text.size() - 1) / kStripe; ++stripe) {
    const std::size_t in_block = stripe % kStripesOfBlock;
    accumulate(lanes, text, stripe * kStripe, 8 * in_block);
    if (in_block == kStripesOfBlock - 1) scramble(lanes);
  }
  accumulate(lanes, text, text.size() - kStripe, kSecretBytes - kStripe - 7);
  std::uint64_t hash = text.size() * kPrime64[0];
  for (std::size_t i = 0; i < lanes.size(); i += 2) {
    hash += folded(lanes[i] ^ secret(11 + 8 * i), lanes[i + 1] ^ secret(19 + 8 * i));
  }
  return avalanche(hash);
}

}  // namespace

std::uint64_t xxh3(std::string_view text) {
  if (text.empty()) return avalanche_of_xxh64(secret(56) ^ secret(64));
  if (text.size() <= 3) return of_up_to_3(text);
  if (text.size() <= 8) return of_up_to_8(text);
  if (text.size() <= 16) return of_up_to_16(text);
  if (text.size() <= 128) return of_up_to_128(text);
  return text.size() <= 240 ? of_up_to_240(text) : of_more(text);
}

}  // namespace halftone::reference
