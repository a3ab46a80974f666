// SPDX-License-Identifier: Apache-2.0
// Writes and checks the trailer of a sealed file.
#include "halftone/manifest/seal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "halftone/manifest/checksum.hpp"

namespace halftone::manifest {
namespace {

/// What every artifact's object exports.
constexpr std::string_view kSymbol = "halftone_artifact";
constexpr std::array<char, 8> kMagic = {'H', 'T', 'S', 'E', 'A', 'L', '\r', '\n'};
constexpr std::size_t kVersionAt = 8, kReservedAt = 12, kLengthAt = 16, kChecksumAt = 24;
static_assert(kChecksumAt + sizeof(Checksum) == kSealBytes);

std::uint64_t integer_at(std::span<const std::byte> bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= static_cast<std::uint64_t>(bytes[at + i]) << (8 * i);
  }
  return value;
}

void put_integer(std::span<std::byte> bytes, std::size_t at, std::size_t width,
                 std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
}

/// Where an ELF file of 64 bits ends by its own account, the end of its section headers, or 0 for
/// other files.
std::uint64_t elf_end(std::span<const std::byte> file) {
  constexpr std::size_t kElfHeaderBytes = 64;
  constexpr unsigned char kElfMagic[] = {0x7f, 'E', 'L', 'F', 2};
  if (file.size() < kElfHeaderBytes || std::memcmp(file.data(), kElfMagic, 5) != 0) return 0;
  const std::uint64_t section_headers_at = integer_at(file, 40, 8);
  return section_headers_at + integer_at(file, 58, 2) * integer_at(file, 60, 2);
}

/// An ELF file of type ET_DYN.
bool is_shared_object(std::span<const std::byte> file) {
  return elf_end(file) != 0 && integer_at(file, 16, 2) == 3;
}

bool fail(DecodeError& error, DecodeError::Kind kind, std::string message) {
  error = {kind, std::move(message)};
  return false;
}

/// Why a file without a seal has none.
bool explain_missing_seal(std::span<const std::byte> file, DecodeError& error) {
  const std::uint64_t end = elf_end(file);
  const bool is_cut = end > file.size() || (end < file.size() && file.size() - end < kSealBytes);
  if (end != 0 && is_cut) {
    return fail(error, DecodeError::Kind::truncated, "the file is truncated: its seal is missing");
  }
  if (end != 0) {
    return fail(error, DecodeError::Kind::unsealed, "the file does not end in a seal");
  }
  return fail(error, DecodeError::Kind::malformed,
              "the file is no Halftone artifact: it does not end in a seal");
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
  std::memcpy(seal.data(), kMagic.data(), kMagic.size());
  put_integer(seal, kVersionAt, 4, kVersion);
  put_integer(seal, kReservedAt, 4, 0);
  put_integer(seal, kLengthAt, 8, content.size());
  const Checksum checksum = checksum_of(std::span(whole).first(content.size() + kChecksumAt));
  std::ranges::copy(checksum, seal.begin() + kChecksumAt);
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

bool check_seal(std::span<const std::byte> file, DecodeError& error) {
  using Kind = DecodeError::Kind;
  if (file.size() < kSealBytes) return explain_missing_seal(file, error);
  const std::span<const std::byte> seal = file.last(kSealBytes);
  if (std::memcmp(seal.data(), kMagic.data(), kMagic.size()) != 0) {
    return explain_missing_seal(file, error);
  }
  const std::uint64_t version = integer_at(seal, kVersionAt, 4);
  if (version != kVersion) {
    return fail(error, Kind::version,
                "the artifact is of version " + std::to_string(version) + ", but version " +
                    std::to_string(kVersion) + " is needed");
  }
  const Checksum checksum = checksum_of(file.first(file.size() - sizeof(Checksum)));
  if (integer_at(seal, kLengthAt, 8) != file.size() - kSealBytes ||
      std::memcmp(seal.data() + kChecksumAt, checksum.data(), checksum.size()) != 0) {
    return fail(error, Kind::altered, "the file was altered: its checksum does not match");
  }
  return true;
}

}  // namespace halftone::manifest
