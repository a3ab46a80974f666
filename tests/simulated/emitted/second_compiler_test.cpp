// SPDX-License-Identifier: Apache-2.0
// clang-22 compiles the same kernel texts to PTX, which must give the same bits: of a model with
// contractions of class A and B, or with HALFTONE_EVERY_KERNEL of all. Says "Skipped:" where clang
// cannot.
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
  Texts seen;
  for (const LinkedArtifact& linked : kArtifacts) {
    if (!every_kernel && std::string_view(linked.name) != "mixed_rules") continue;
    const Texts texts = texts_of(linked, "sm_80");
    replay_texts(linked, "sm_80", every_kernel ? texts : take_new(texts, seen),
                 {.compile = compile_with_clang}, all);
  }
  report(all);
  CHECK(all.launches > 0);
  CHECK(all.exact_sums > 0);
}

}  // namespace halftone::tests
