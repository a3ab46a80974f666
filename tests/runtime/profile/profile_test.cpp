// SPDX-License-Identifier: Apache-2.0
// What a profiler is shown. NVTX_INJECTION64_PATH names the recorder beside this program.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "../files/scratch_folder.hpp"
#include "generated_example.hpp"
#include "halftone/checkpoint.hpp"
#include "halftone/loader.hpp"

namespace {

std::string recorded_ranges() {
  void* recorder = dlopen(std::getenv("NVTX_INJECTION64_PATH"), RTLD_LAZY | RTLD_NOLOAD);
  REQUIRE(recorder != nullptr);
  return reinterpret_cast<const char* (*)()>(dlsym(recorder, "recorded_ranges"))();
}

}  // namespace

TEST_CASE("a profiler is shown calls, batches and checkpoints, and what lies in what") {
  const halftone::tests::ScratchFolder folder;
  models::line::Trainer trainer(halftone::Device::cpu(), {.batch = 1});
  models::line::Predictor predictor(halftone::Device::cpu(), {.batch = 1});
  const std::vector<float> features(3), target(2);
  trainer.wait();
  (void)recorded_ranges();

  trainer.step(features, target);
  CHECK(recorded_ranges() == "<halftone step>");
  (void)predictor.predict(features);
  CHECK(recorded_ranges().starts_with("<halftone predict>"));
  trainer.save(folder / "run.safetensors");
  CHECK(recorded_ranges() == "<halftone save<halftone write a checkpoint>>");

  halftone::Loader loader(halftone::Dataset::view({{"features", features}}, 1),
                          {.batch = 1, .threads = 0});
  CHECK(loader.next().has_value());
  CHECK(recorded_ranges() == "<halftone wait for a batch<halftone gather a batch>>");
}

TEST_CASE("a range ends where a call throws") {
  models::line::Trainer trainer(halftone::Device::cpu(), {.batch = 1});
  (void)recorded_ranges();
  CHECK_THROWS(trainer.step(std::vector<float>(1), std::vector<float>(1)));
  CHECK(recorded_ranges() == "<halftone step>");
}
