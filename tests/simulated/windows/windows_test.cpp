// SPDX-License-Identifier: Apache-2.0
// D77 to D102 on simulated chips whose contractions are all N1, in f32 or without tensor cores for
// the format: whole training steps have the CPU's bits, which laws compare with the reference.
#include <doctest/doctest.h>

#include <string>

#include "artifacts.hpp"
#include "halftone/trainer.hpp"
#include "laws/pair.hpp"
#include "simulation.hpp"

namespace halftone::tests {

TEST_CASE("layers of images, of long sequences and of segments have the CPU's bits on a chip") {
  struct Run {
    const char *model, *chip;
  };
  for (const auto& [model, chip] : {Run{"windows", "sm_80"},
                                    {"windows_bf16", "sm_75"},
                                    {"grouped", "sm_75"},
                                    {"grouped_f16", "sm_90a"},
                                    {"resampled", "sm_86"},
                                    {"adaptive", "sm_80"},
                                    {"padded", "sm_80"},
                                    {"padded_f16", "sm_75"},
                                    {"segments", "sm_90a"},
                                    {"segments_bf16", "sm_75"},
                                    {"long_convolution", "sm_80"},
                                    {"long_convolution_bf16", "sm_75"},
                                    {"unet", "sm_80"},
                                    {"unet_bf16", "sm_75"},
                                    {"sides", "sm_80"},
                                    {"sides_bf16", "sm_75"},
                                    {"joined_rows", "sm_80"},
                                    {"large_windows", "sm_75"}}) {
    CAPTURE(std::string(model));
    Pair pair(model, *find_artifact(model).image, "x86-64-v3", 2);
    Trainer trainer(pair.artifact, simulated(chip), pair.setup(1));
    for (int step = 0; step < 2; ++step) {
      CAPTURE(step);
      pair.draw();
      for (Trainer* each : {&pair.trainer, &trainer}) {
        each->step(pair.named_inputs());
        REQUIRE(each->updated());
      }
      CHECK(bits(trainer.loss("error")) == bits(pair.trainer.loss("error")));
      for (const std::string& name : trainer.parameter_names()) {
        CAPTURE(name);
        CHECK(first_difference(trainer.parameter(name), pair.trainer.parameter(name)) == -1);
      }
    }
  }
}

}  // namespace halftone::tests
