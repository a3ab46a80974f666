// SPDX-License-Identifier: Apache-2.0
// clang-22 compiles the same kernel texts to PTX, which must give the same bits: of one model's
// training and inference, with contractions of class A and B, or with HALFTONE_EVERY_KERNEL of all.
// Says "Skipped:" where clang cannot.
#include <cstdlib>

#include "replayed_models.hpp"

namespace halftone::tests {

TEST_CASE("another compiler's PTX of the same texts gives the same bits" * doctest::skip()) {
  if (const std::string why = clang_missing(); !why.empty()) {
    std::printf("Skipped: %s\n", why.c_str());
    return;
  }
  const bool every_kernel = std::getenv("HALFTONE_EVERY_KERNEL") != nullptr;
  Tally all;
  for (const LinkedArtifact& linked : kArtifacts) {
    if (!every_kernel && std::string_view(linked.name) != "mixed_rules") continue;
    Texts texts = texts_of(linked, "sm_80"), seen;
    if (!every_kernel) {
      texts = take_new(texts, seen);
      std::erase_if(texts, [](const std::string& text) {
        return text.find("halftone_diagnosis_") != text.npos;
      });
    }
    replay_texts(linked, "sm_80", texts, {.compile = compile_with_clang}, all);
  }
  report(all);
  CHECK(all.launches > 0);
  CHECK(all.exact_sums > 0);
}

}  // namespace halftone::tests
