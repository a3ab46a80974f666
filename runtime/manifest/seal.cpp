// SPDX-License-Identifier: Apache-2.0
// Checks the trailer of a sealed file.
#include <algorithm>
#include <cstring>

#include "seal_layout.hpp"

namespace halftone::manifest {
namespace {

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

}  // namespace

bool check_seal(std::span<const std::byte> file, DecodeError& error) {
  using Kind = DecodeError::Kind;
  if (file.size() < kSealBytes) return explain_missing_seal(file, error);
  const std::span<const std::byte> seal = file.last(kSealBytes);
  if (std::memcmp(seal.data(), kSealMagic.data(), kSealMagic.size()) != 0) {
    return explain_missing_seal(file, error);
  }
  const std::uint64_t version = integer_at(seal, kSealVersionAt, 4);
  if (version != kVersion) {
    return fail(error, Kind::version,
                "the artifact is of version " + std::to_string(version) + ", but version " +
                    std::to_string(kVersion) + " is needed");
  }
  const Checksum checksum = checksum_of(file.first(file.size() - sizeof(Checksum)));
  if (integer_at(seal, kSealLengthAt, 8) != file.size() - kSealBytes ||
      std::memcmp(seal.data() + kSealChecksumAt, checksum.data(), checksum.size()) != 0) {
    return fail(error, Kind::altered, "the file was altered: its checksum does not match");
  }
  return true;
}

}  // namespace halftone::manifest
