// SPDX-License-Identifier: Apache-2.0
// clang-22 compiles the same kernel texts to PTX, which must give the same bits: of two models, or
// with HALFTONE_EVERY_MODEL of all. Skipped (77) where clang cannot.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>

#include "replayed_models.hpp"
#include "simulation.hpp"

namespace halftone::tests {

TEST_CASE("another compiler's PTX of the same texts gives the same bits") {
  const Device device = simulated("sm_80", {}, compile_with_clang);
  const bool every_model = std::getenv("HALFTONE_EVERY_MODEL") != nullptr;
  Tally all;
  for (const LinkedArtifact& linked : kArtifacts) {
    const std::string_view name = linked.name;
    if (every_model || name == "digits_f16" || name == "mixed_rules")
      replay_model(linked, device, "sm_80", all);
  }
  report(all);
  CHECK(all.launches > 0);
  CHECK(all.exact_sums > 0);
}

}  // namespace halftone::tests

int main(int count, char** values) {
  if (const std::string why = halftone::tests::clang_missing(); !why.empty()) {
    std::printf("Skipped: %s\n", why.c_str());
    return 77;
  }
  return doctest::Context(count, values).run();
}
