// SPDX-License-Identifier: Apache-2.0
// What emitted_test.cpp asks of three chips, asked of the eight others. Of the long list.
#include <algorithm>
#include <cstdio>

#include "replayed_models.hpp"

namespace halftone::tests {

TEST_CASE("kernels of all other chips have the CPU's bits there" * doctest::skip()) {
  constexpr const char* kEmittedTest[] = {"sm_75", "sm_80", "sm_90a"};
  Tally all;
  std::size_t kernels = 0, chips = 0;
  for (const simulator::Chip& chip : simulator::chips()) {
    const std::string name(chip.name);
    if (std::ranges::find(kEmittedTest, name) != std::end(kEmittedTest)) continue;
    ++chips;
    for (const LinkedArtifact& linked : kArtifacts) {
      const Texts texts = texts_of(linked, name);
      CHECK_FALSE(texts.empty());
      kernels += texts.size();
      for (const auto& options :
           {simulator::LaunchOptions{.traffic = false},
            simulator::LaunchOptions{
                .traffic = false, .seed = 1, .accumulation = simulator::Accumulation::truncating}})
        replay_texts(linked, name, texts, {.options = options}, all);
    }
    std::printf("%s: %zu kernels so far\n", name.c_str(), kernels);
    std::fflush(stdout);
  }
  CHECK(chips == 8);
  CHECK(all.launches > 0);
  CHECK(all.exact_sums > 0);
  CHECK(all.kernels.size() == kernels);
  std::printf("%zu chips: ", chips);
  report(all);
}

}  // namespace halftone::tests
