// SPDX-License-Identifier: Apache-2.0
#include "artifact_texts.hpp"

#include <zstd.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "artifact_file.hpp"

namespace halftone::tools {
namespace {

constexpr std::string_view kFrame = "\x28\xb5\x2f\xfd";  // RFC 8878, 3.1.1: the magic number

/// Every text opens with its model's name; what was compiled ahead of time lies behind them.
bool sort_out(std::vector<std::string> packed, const manifest::Manifest& manifest,
              ArtifactTexts& found) {
  const auto count = static_cast<std::size_t>(manifest.text_count);
  if (!manifest::split_ahead(packed, count, found.ahead)) return false;
  found.texts = std::move(packed);
  const std::string start = "// " + manifest.model + ": ";
  return std::ranges::all_of(found.texts,
                             [&](const auto& text) { return text.starts_with(start); });
}

}  // namespace

ArtifactTexts read_texts(const std::string& path, const manifest::Manifest& manifest) {
  if (manifest.text_count == 0) {
    throw std::runtime_error("there are no kernel texts of model '" + manifest.model + "' in '" +
                             path + "'; make the artifact for a chip with halftonec --targets");
  }
  const std::vector<std::byte> bytes = read_file(path);
  std::string damage = "they are not where the manifest says that there are some";
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (auto at = all.find(kFrame); at != all.npos; at = all.find(kFrame, at + 1)) {
    const std::size_t size = ZSTD_findFrameCompressedSize(all.data() + at, all.size() - at);
    if (ZSTD_isError(size)) continue;
    std::vector<std::string> texts;
    manifest::DecodeError error;
    if (!manifest::unpack_texts(std::span(bytes).subspan(at, size), texts, error)) {
      damage = error.message;
      continue;
    }
    if (ArtifactTexts found; sort_out(std::move(texts), manifest, found)) return found;
  }
  throw std::runtime_error("'" + path + "': the kernel texts of model '" + manifest.model +
                           "' are damaged: " + damage + "; make the artifact again with halftonec");
}

}  // namespace halftone::tools
