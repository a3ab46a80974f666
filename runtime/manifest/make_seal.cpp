// SPDX-License-Identifier: Apache-2.0
// Writes the trailer of a sealed file. Apart from checking it, which every program does and writing
// hardly one.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "seal_layout.hpp"

namespace halftone::manifest {
namespace {

/// What every artifact's object exports.
constexpr std::string_view kSymbol = "halftone_artifact";

void put_integer(std::span<std::byte> bytes, std::size_t at, std::size_t width,
                 std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
}

/// An ELF file of type ET_DYN.
bool is_shared_object(std::span<const std::byte> file) {
  return elf_end(file) != 0 && integer_at(file, 16, 2) == 3;
}

std::string last_reason() { return std::generic_category().message(errno); }

/// The reason why it cannot be read, or nothing.
std::string read_file(const std::string& path, std::vector<std::byte>& bytes) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (!std::filesystem::exists(status)) return unknown.message();
  if (!std::filesystem::is_regular_file(status)) return "it is a folder or a device";
  errno = 0;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0) return last_reason();
  bytes.resize(static_cast<std::size_t>(size));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  return file ? "" : last_reason();
}

}  // namespace

std::vector<std::byte> seal_of(std::span<const std::byte> content) {
  std::vector<std::byte> whole(content.begin(), content.end());
  whole.resize(content.size() + kSealBytes);
  const std::span<std::byte> seal = std::span(whole).last(kSealBytes);
  std::memcpy(seal.data(), kSealMagic.data(), kSealMagic.size());
  put_integer(seal, kSealVersionAt, 4, kVersion);
  put_integer(seal, kSealReservedAt, 4, 0);
  put_integer(seal, kSealLengthAt, 8, content.size());
  const Checksum checksum = checksum_of(std::span(whole).first(content.size() + kSealChecksumAt));
  std::ranges::copy(checksum, seal.begin() + kSealChecksumAt);
  return {seal.begin(), seal.end()};
}

bool seal_file(const std::string& path, std::string& error) {
  std::vector<std::byte> bytes;
  if (const std::string reason = read_file(path, bytes); !reason.empty()) {
    error = "cannot read '" + path + "': " + reason +
            "; name the shared object that the artifact was linked into";
    return false;
  }
  if (!is_shared_object(bytes)) {
    error = "'" + path + "' is no shared object; link the artifact into one and seal that";
    return false;
  }
  if (std::ranges::search(bytes, std::as_bytes(std::span(kSymbol))).empty()) {
    error = "'" + path + "' holds no artifact; link what halftonec --object wrote into it";
    return false;
  }
  DecodeError damage;
  if (check_seal(bytes, damage)) return true;
  if (damage.kind != DecodeError::Kind::unsealed) {
    error = "'" + path + "' cannot be sealed: " + damage.message + "; link it again, then seal it";
    return false;
  }
  const std::vector<std::byte> seal = seal_of(bytes);
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(reinterpret_cast<const char*>(seal.data()), static_cast<std::streamsize>(seal.size()));
  file.close();
  if (!file) {
    error = "cannot write to '" + path + "': " + last_reason() +
            "; make it and its disk writable, then link and seal it again";
    return false;
  }
  return true;
}

}  // namespace halftone::manifest
