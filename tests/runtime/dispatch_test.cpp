// SPDX-License-Identifier: Apache-2.0
// Which of an artifact's targets a chip runs. The expected column follows NVIDIA's rules: a target
// with 'a' runs on its own chip alone, one with 'f' on later chips of its major, any other on all
// later chips ("CUDA C++ Programming Guide", Compute Capabilities).
#include "dispatch.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_CASE("a chip runs the target that suits it best") {
  const std::vector<std::string> ten = {"sm_75",  "sm_80",   "sm_86",   "sm_87",   "sm_89",
                                        "sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a"};
  struct Case {
    const char* chip;
    std::vector<std::string> targets;
    const char *target, *architecture;
  };
  const Case cases[] = {
      {"sm_75", ten, "sm_75", "sm_75"},
      {"sm_86", ten, "sm_86", "sm_86"},
      {"sm_90", ten, "sm_90a", "sm_90a"},
      {"sm_90a", ten, "sm_90a", "sm_90a"},
      {"sm_100", ten, "sm_100a", "sm_100a"},
      {"sm_121", ten, "sm_121a", "sm_121a"},
      {"sm_88", ten, "sm_87", "sm_88"},    // a later chip runs an earlier target
      {"sm_110", ten, "sm_89", "sm_110"},  // never another chip's 'a'
      {"sm_72", ten, nullptr, nullptr},
      {"sm_80", {"sm_90a"}, nullptr, nullptr},
      {"sm_80", {"sm_86"}, nullptr, nullptr},
      {"sm_103", {"sm_100f", "sm_90"}, "sm_100f", "sm_103"},
      {"sm_103", {"sm_90", "sm_100"}, "sm_100", "sm_103"},
      {"sm_120", {"sm_100f", "sm_90"}, "sm_90", "sm_120"},
      {"sm_90", {"sm_90", "sm_90a"}, "sm_90a", "sm_90a"},
      {"sm_90a", {"sm_90", "sm_80"}, "sm_90", "sm_90"},
      {"sm_80", {}, nullptr, nullptr},
      {"gfx90a", ten, nullptr, nullptr},
      {"sm_80", {"cpu", "rocm", "sm_", "sm_80x", "sm_-80", "sm_800000000000"}, nullptr, nullptr},
  };
  for (const Case& c : cases) {
    CAPTURE(c.chip);
    const auto chosen = halftone::choose_target(c.chip, c.targets);
    CHECK(chosen.has_value() == (c.target != nullptr));
    if (!chosen || !c.target) continue;
    CHECK(c.targets[*chosen] == c.target);
    CHECK(halftone::architecture_for(c.chip, c.targets[*chosen]) == c.architecture);
  }
}
