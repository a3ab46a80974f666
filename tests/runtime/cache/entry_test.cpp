// SPDX-License-Identifier: Apache-2.0
// Entries as bytes. What they must look like is written down here a second time.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <set>

#include "cache/cache_entry.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "kernels.hpp"

namespace halftone::tests {
namespace {

std::string integer(std::uint64_t value, int bytes) {
  std::string text;
  for (; bytes > 0; --bytes, value /= 256) text += static_cast<char>(value % 256);
  return text;
}

std::string with_length(const std::string& part) { return integer(part.size(), 8) + part; }

std::string xxh3_128(const std::string& bytes, XXH64_hash_t seed = 0) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH128(bytes.data(), bytes.size(), seed));
  return {reinterpret_cast<const char*>(canonical.digest), sizeof canonical.digest};
}

std::string key_bytes(const std::string& identity) {
  return xxh3_128(identity) + xxh3_128(identity, 0x9e3779b97f4a7c15);
}

/// An entry with any fields and a right checksum.
std::string entry_with(const std::string& magic, std::uint32_t format, const std::string& key,
                       const std::string& parts) {
  const std::string bytes = magic + integer(format, 4) + key + parts;
  return bytes + xxh3_128(bytes);
}

const std::string kMagic = "HTCACHE\n";

}  // namespace

TEST_CASE("the bytes of identity, key and entry are those that the layout says") {
  const KernelIdentity kernel{
      "0.1.0", "text", "name", "sm_80", {"NVRTC 13.0", {"-a", "-b"}, "PTX", "driver 13.0"}};
  const std::string identity = integer(1, 4) + with_length("0.1.0") + with_length("NVRTC 13.0") +
                               integer(2, 8) + with_length("-a") + with_length("-b") +
                               with_length("PTX") + with_length("driver 13.0") +
                               with_length("sm_80") + with_length("name") + with_length("text");
  CHECK(encode_identity(kernel) == identity);
  const std::string image("\0cubin\xff", 7);
  const std::string entry =
      entry_with(kMagic, 1, key_bytes(identity), with_length(identity) + with_length(image));
  CHECK(encode_entry(identity, image) == entry);
  const DecodedEntry decoded = decode_entry(entry, identity);
  REQUIRE(decoded.state == EntryState::sound);
  CHECK(decoded.image == image);
  CHECK(decoded.identity == identity);
}

TEST_CASE("every flip of a bit and every truncation of an entry is detected") {
  const std::string identity = encode_identity(identity_of(1)), image = image_of(1, 10'000);
  std::string bytes = encode_entry(identity, image);
  REQUIRE(decode_entry(bytes, identity).image == image);
  std::size_t flips = 0, truncations = 0, believed = 0;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit, ++flips) {
    const char mask = static_cast<char>(1 << (bit % 8));
    bytes[bit / 8] ^= mask;
    believed += decode_entry(bytes, identity).state == EntryState::sound;
    bytes[bit / 8] ^= mask;
  }
  for (std::size_t length = 0; length < bytes.size(); ++length, ++truncations) {
    believed += decode_entry(std::string_view(bytes).substr(0, length)).state == EntryState::sound;
  }
  believed += decode_entry(bytes + '\0').state == EntryState::sound;
  CHECK(believed == 0);
  MESSAGE("entry of " << bytes.size() << " bytes: flips tried " << flips << ", truncations tried "
                      << truncations << ", believed " << believed);
}

TEST_CASE("entries with a right checksum and wrong fields are not believed") {
  const std::string identity = encode_identity(identity_of(1)), key = key_bytes(identity);
  const std::string parts = with_length(identity) + with_length("image");
  const auto parts_with = [&](std::uint64_t identity_length, std::uint64_t image_length) {
    return integer(identity_length, 8) + identity + integer(image_length, 8) + "image";
  };
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t size = identity.size();
  struct Case {
    const char* what;
    std::string bytes;
    EntryState expected;
  };
  const Case cases[] = {
      {"sound", entry_with(kMagic, 1, key, parts), EntryState::sound},
      {"another magic word", entry_with("HTCACHE\r", 1, key, parts), EntryState::no_entry},
      {"another format", entry_with(kMagic, 2, key, parts), EntryState::other_format},
      {"another key", entry_with(kMagic, 1, key_bytes("x"), parts), EntryState::damaged},
      {"identity of 2^63", entry_with(kMagic, 1, key, parts_with(kMost / 2 + 1, 5)),
       EntryState::damaged},
      {"identity of 2^64 - 1", entry_with(kMagic, 1, key, parts_with(kMost, 5)),
       EntryState::damaged},
      {"identity that wraps to a sound sum",
       entry_with(kMagic, 1, key, parts_with(kMost - 7, size + 13)), EntryState::damaged},
      {"image of 2^64 - 1", entry_with(kMagic, 1, key, parts_with(size, kMost)),
       EntryState::damaged},
      {"image one too long", entry_with(kMagic, 1, key, parts_with(size, 6)), EntryState::damaged},
      {"image one too short", entry_with(kMagic, 1, key, parts_with(size, 4)), EntryState::damaged},
  };
  for (const Case& each : cases) {
    CAPTURE(each.what);
    CHECK(decode_entry(each.bytes, identity).state == each.expected);
  }
  CHECK(decode_entry(entry_of(2), identity).state == EntryState::other_identity);
}

TEST_CASE("a change of any part of an identity is another key") {
  using Change = std::function<void(KernelIdentity&)>;
  const std::pair<const char*, Change> changes[] = {
      {"nothing", [](KernelIdentity&) {}},
      {"version", [](KernelIdentity& k) { k.halftone_version += "1"; }},
      {"text", [](KernelIdentity& k) { k.text[3] ^= 1; }},
      {"text, one space", [](KernelIdentity& k) { k.text += ' '; }},
      {"entry name", [](KernelIdentity& k) { k.name = "k7"; }},
      {"chip", [](KernelIdentity& k) { k.architecture = "sm_90"; }},
      {"compiler", [](KernelIdentity& k) { k.compiler.compiler = "NVRTC 13.1"; }},
      {"compiler's build", [](KernelIdentity& k) { k.compiler.compiler += " build 88"; }},
      {"one option", [](KernelIdentity& k) { k.compiler.options[1] = "--fmad=true"; }},
      {"one option more", [](KernelIdentity& k) { k.compiler.options.push_back("-lineinfo"); }},
      {"an empty option more", [](KernelIdentity& k) { k.compiler.options.push_back(""); }},
      {"one option less", [](KernelIdentity& k) { k.compiler.options.pop_back(); }},
      {"order of options",
       [](KernelIdentity& k) { std::swap(k.compiler.options[0], k.compiler.options[1]); }},
      {"two options in one",
       [](KernelIdentity& k) { k.compiler.options = {"--std=c++17--fmad=false"}; }},
      {"output", [](KernelIdentity& k) { k.compiler.output = "PTX"; }},
      {"driver", [](KernelIdentity& k) { k.compiler.driver = "driver 13.0"; }},
      {"a letter from name to text",
       [](KernelIdentity& k) {
         k.text = k.name.substr(1) + k.text;
         k.name.resize(1);
       }},
      {"output and driver swapped",
       [](KernelIdentity& k) { std::swap(k.compiler.output, k.compiler.driver); }},
  };
  std::set<std::string> identities, keys;
  for (const auto& [what, change] : changes) {
    KernelIdentity kernel = identity_of(1);
    change(kernel);
    CAPTURE(what);
    CHECK(identities.insert(encode_identity(kernel)).second);
    CHECK(keys.insert(hexadecimal(key_of(encode_identity(kernel)))).second);
  }
  MESSAGE("parts of the key changed: " << keys.size() - 1 << ", other keys: " << keys.size() - 1);
}

}  // namespace halftone::tests
