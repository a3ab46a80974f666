// SPDX-License-Identifier: Apache-2.0
#include "halftone/bisect.hpp"

#include <array>

#include "../files/replace_file.hpp"
#include "compiled_variants.hpp"
#include "rule_text.hpp"
#include "search.hpp"

namespace halftone {
namespace {

void save_remedy(const BisectResult& result, const std::filesystem::path& file) {
  const std::string text =
      "# Of model " + result.model + ", for halftonec --rules\n" + file_of_rules(result.remedy);
  const std::array<std::string_view, 1> parts = {text};
  replace_file(system_file_calls(), "bisect", file, parts, 0);
}

}  // namespace

BisectResult bisect(const Artifact& artifact, const BisectOptions& options,
                    const TrainVariant& train) {
  return bisect(artifact.manifests(), options, train);
}

BisectResult bisect(std::span<const manifest::Manifest> manifests, const BisectOptions& options,
                    const TrainVariant& train) {
  const manifest::Manifest& manifest = manifests.front();
  CompiledVariants variants(manifests, options, train);
  BisectResult result = search_rules(manifest.rules, options, variants);
  result.model = manifest.model;
  save(result, options.folder / "bisect.json");
  if (!result.blamed.empty()) save_remedy(result, options.folder / "remedy.rules");
  return result;
}

}  // namespace halftone
