// SPDX-License-Identifier: Apache-2.0
#include "packed_kernels.hpp"

#include <algorithm>
#include <cstdio>

#include "halftone/error.hpp"
#include "halftone/manifest/manifest.hpp"
#include "text.hpp"

namespace halftone {
namespace {

/// {13, 0} of "13.0", which parse_entry() has seen to.
CudaVersion version_of(const std::string& text) {
  CudaVersion version;
  std::sscanf(text.c_str(), "%d.%d", &version.major, &version.minor);
  return version;
}

}  // namespace

std::vector<AheadOfTime> PackedKernels::offers() const {
  std::vector<AheadOfTime> all;
  for (const manifest::AheadImage& image : ahead) {
    if (std::ranges::find(all, image.architecture, &AheadOfTime::architecture) != all.end()) {
      continue;
    }
    all.push_back({image.architecture, version_of(image.compiler)});
  }
  return all;
}

const std::string* PackedKernels::find(std::int32_t text, const std::string& architecture) const {
  for (const manifest::AheadImage& image : ahead) {
    if (image.text == text && image.architecture == architecture) return &image.bytes;
  }
  return nullptr;
}

std::vector<std::string> chips_of(std::span<const manifest::Manifest> manifests) {
  std::vector<std::string> chips;
  for (const manifest::Manifest& manifest : manifests) {
    for (const manifest::CudaTarget& target : manifest.cuda) chips.push_back(target.chip);
  }
  return chips;
}

std::vector<std::string> chips_with_maps(std::span<const manifest::Manifest> manifests) {
  const auto has_maps = [](const manifest::CudaKernel& kernel) { return !kernel.maps.empty(); };
  std::vector<std::string> chips;
  for (const manifest::Manifest& manifest : manifests) {
    for (const manifest::CudaTarget& target : manifest.cuda) {
      if (std::ranges::any_of(target.kernels, has_maps)) chips.push_back(target.chip);
    }
  }
  return chips;
}

std::shared_ptr<const PackedKernels> unpack_kernels(const Artifact& artifact, const char* who) {
  const auto refuse = [&](const std::string& cause) {
    throw Error({.operation = who,
                 .object = named("model", artifact.manifest().model),
                 .cause = "has damaged kernel texts: " + cause,
                 .hint = "make the artifact again with halftonec"});
  };
  const manifest::ArtifactImage& image = artifact.image();
  auto kernels = std::make_shared<PackedKernels>();
  manifest::DecodeError error;
  if (!manifest::unpack_texts({image.texts, image.text_bytes}, kernels->texts, error)) {
    refuse(error.message);
  }
  const auto count = static_cast<std::size_t>(artifact.manifest().text_count);
  if (kernels->texts.size() < count) refuse("their number is not the manifest's");
  if (!manifest::split_ahead(kernels->texts, count, kernels->ahead)) {
    refuse("what was compiled of them ahead of time cannot be read");
  }
  return kernels;
}

}  // namespace halftone
