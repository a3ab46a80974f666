// SPDX-License-Identifier: Apache-2.0
// A program that exits after one step, while HALFTONE_JIT=background compiles and nobody has
// destroyed its trainer. Status 3; 77 where no NVRTC is.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "artifacts.hpp"
#include "cuda/nvrtc.hpp"
#include "halftone/device.hpp"
#include "halftone/error.hpp"
#include "inputs.hpp"

int main() {
  if (!std::getenv("NVRTC_HOME") && std::filesystem::exists(HALFTONE_FETCHED_NVRTC)) {
    setenv("NVRTC_HOME", HALFTONE_FETCHED_NVRTC, 1);
  }
  setenv("HALFTONE_CACHE", "off", 1);
  setenv("HALFTONE_JIT", "background", 1);
  static std::optional<halftone::Trainer> trainer;  // which goes after NVRTC's own objects
  try {
    (void)halftone::Nvrtc::instance();
  } catch (const halftone::Error& error) {
    std::printf("Skipped: %s\n", error.what());
    return 77;
  }
  const auto artifact = halftone::Artifact::linked(halftone_artifact_worked);
  const halftone::Binding batch{"batch", 5};
  trainer.emplace(artifact, halftone::Device::simulated("sm_80"),
                  halftone::Setup{.model = "", .bindings = std::span(&batch, 1), .seed = 1});
  simulated::Inputs inputs(artifact, 5, 1);
  inputs.draw();
  trainer->step(inputs.named());
  std::exit(3);
}
