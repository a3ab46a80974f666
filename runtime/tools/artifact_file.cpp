// SPDX-License-Identifier: Apache-2.0
// A manifest is recognized by its own header and checksum alone, so the container does not matter.
#include "artifact_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "halftone/manifest/seal.hpp"
#include "shared_library.hpp"
#include "whole_file.hpp"

namespace halftone::tools {
namespace {

constexpr std::size_t kVersionAt = 8, kLengthAt = 12, kHeaderBytes = 36;

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  }
  return value;
}

/// The magic word may stand anywhere; a header has a small version and a length that could be one.
bool begins_a_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes) return false;
  const std::uint64_t version = little_endian(bytes.subspan(kVersionAt, 4));
  const std::uint64_t length = little_endian(bytes.subspan(kLengthAt, 8));
  return version >= 1 && version < 4096 && length > 0 && length < (std::uint64_t{1} << 40);
}

void examine(std::span<const std::byte> bytes, Found& found) {
  if (!begins_a_header(bytes)) return;
  const std::uint64_t length = little_endian(bytes.subspan(kLengthAt, 8));
  const auto whole = std::min<std::uint64_t>(bytes.size(), kHeaderBytes + length);
  manifest::Manifest manifest;
  manifest::DecodeError error;
  if (!manifest::decode(bytes.first(whole), manifest, error)) {
    found.damaged.push_back(std::move(error));
  } else if (std::ranges::find(found.manifests, manifest) == found.manifests.end()) {
    found.manifests.push_back(std::move(manifest));
  }
}

/// Whether it is the first of an artifact's manifests.
bool is_first(const manifest::Manifest& manifest) {
  return std::ranges::find(manifest.targets, "cpu") != manifest.targets.end() &&
         manifest::holds_in(manifest, {});
}

/// What is wrong with a file that is sealed, or was; what never was has no damage.
bool has_broken_seal(std::span<const std::byte> file, manifest::DecodeError& damage) {
  using Kind = manifest::DecodeError::Kind;
  return !manifest::check_seal(file, damage) && damage.kind != Kind::unsealed &&
         damage.kind != Kind::malformed;
}

std::string models_of(const std::vector<manifest::Manifest>& manifests) {
  std::string text;
  for (const auto& manifest : manifests) {
    if (is_first(manifest)) text += (text.empty() ? "" : ", ") + manifest.model;
  }
  return text;
}

[[noreturn]] void refuse(const std::string& path, const manifest::DecodeError& damage) {
  const bool version = damage.kind == manifest::DecodeError::Kind::version;
  throw std::runtime_error("'" + path + "': " + damage.message + "; " +
                           (version
                                ? "use the halftone of the halftonec that made it, or make it again"
                                : "make the artifact again with halftonec"));
}

}  // namespace

std::vector<std::byte> read_file(const std::string& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (!std::filesystem::exists(status)) {
    throw std::runtime_error("there is no file '" + path + "'; name what halftonec --object wrote");
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw std::runtime_error("'" + path + "' is a folder or a device; name a file");
  }
  std::string why;
  std::vector<std::byte> bytes;
  try {
    bytes = read_whole(path, why);
  } catch (const std::exception&) {
    throw std::runtime_error("'" + path + "' is too large to be read; name what halftonec wrote");
  }
  if (why.empty()) return bytes;
  throw std::runtime_error("'" + path + "' cannot be read: " + why + "; " +
                           remedy_for(why, "check its permissions"));
}

Found find_manifests(std::span<const std::byte> bytes) {
  Found found;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::array<char, 8> magic = manifest::magic();
  const std::string_view word(magic.data(), magic.size());
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) {
    examine(bytes.subspan(at), found);
  }
  return found;
}

std::vector<manifest::Manifest> read_artifact(const std::string& path, const std::string& model) {
  const std::vector<std::byte> bytes = read_file(path);
  Found found = find_manifests(bytes);
  if (!found.damaged.empty()) refuse(path, found.damaged.front());
  if (manifest::DecodeError damage; has_broken_seal(bytes, damage)) refuse(path, damage);
  if (found.manifests.empty()) {
    throw std::runtime_error("there is no artifact in '" + path +
                             "'; name what halftonec --object wrote, or what it was linked into");
  }
  const auto artifacts = std::ranges::count_if(found.manifests, is_first);
  if (model.empty() && artifacts > 1) {
    throw std::runtime_error("'" + path + "' holds several artifacts; choose one with --model: " +
                             models_of(found.manifests));
  }
  std::vector<manifest::Manifest> chosen;
  for (const bool first : {true, false}) {
    for (const manifest::Manifest& manifest : found.manifests) {
      if (is_first(manifest) == first && (model.empty() || manifest.model == model)) {
        chosen.push_back(manifest);
      }
    }
  }
  if (chosen.empty()) {
    throw std::runtime_error("'" + path + "' holds no artifact of model '" + model +
                             "'; choose of " + models_of(found.manifests));
  }
  if (std::ranges::count_if(chosen, is_first) > 1) {
    throw std::runtime_error("'" + path + "' holds several artifacts of model '" + model +
                             "'; name the object of one of them");
  }
  return chosen;
}

std::vector<manifest::Manifest> of_stage(const std::vector<manifest::Manifest>& manifests,
                                         const std::string& stage) {
  std::vector<manifest::Manifest> chosen;
  for (const manifest::Manifest& manifest : manifests) {
    if (manifest::holds_in(manifest, stage)) chosen.push_back(manifest);
  }
  if (!chosen.empty()) return chosen;
  const manifest::Manifest& first = manifests.front();
  std::string stages;
  for (const std::string& one : first.stages) stages += (stages.empty() ? "" : ", ") + one;
  throw std::runtime_error(
      "model '" + first.model + "' has no stage '" + stage + "'; " +
      (stages.empty() ? "it declares none: leave --stage out" : "choose of " + stages));
}

}  // namespace halftone::tools
