// SPDX-License-Identifier: Apache-2.0
// HALFTONE_JIT=background on simulated chips: kernels compiled for one batch have the bits of those
// for all, also where they take over in the middle of a run.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "artifacts.hpp"
#include "halftone/device.hpp"
#include "halftone/manifest/texts.hpp"
#include "halftone/predictor.hpp"
#include "inputs.hpp"

using namespace simulated;
using halftone::Device, halftone::Predictor, halftone::Trainer;
using halftone::manifest::ArtifactImage;

namespace {

Device device_with(const char* jit, const std::string& chip) {
  setenv("HALFTONE_JIT", jit, 1);
  Device device = Device::simulated(chip);
  unsetenv("HALFTONE_JIT");
  return device;
}

std::string variant_of(const Trainer& trainer) { return trainer.stats().variant; }
std::string variant_of(const Predictor& predictor) { return predictor.variant(); }

/// Until what was compiled in the background is there, or is not to be had.
template <class Program>
void await_kernels(const Program& program) {
  for (int tries = 0; tries < 3000; ++tries) {
    if (variant_of(program).find("being specialised") == std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

TEST_CASE("kernels for one batch take over in a run and change no bit of it") {
  struct Case {
    const char* model;
    const ArtifactImage* image;
    const char* chip;
    std::int64_t batch;
  };
  const Case cases[] = {{"digits", &halftone_artifact_digits, "sm_80", 13},
                        {"digits_bf16", &halftone_artifact_digits_bf16, "sm_90a", 16}};
  constexpr int kSteps = 7, kTakesOver = 3, kSpoiled = 5;
  for (const Case& c : cases) {
    CAPTURE(c.model);
    const Artifact artifact = Artifact::linked(*c.image);
    const halftone::Binding batch{"batch", c.batch};
    const halftone::Setup setup{.model = "", .bindings = std::span(&batch, 1), .seed = 3};
    Trainer plain(artifact, device_with("", c.chip), setup),
        special(artifact, device_with("background", c.chip), setup);
    Inputs inputs(artifact, c.batch, 7);
    const std::string sizes = "specialised for batch " + std::to_string(c.batch);
    for (int step = 0; step < kSteps; ++step) {
      CAPTURE(step);
      inputs.draw();
      if (step == kSpoiled) inputs.spoil();
      if (step == kTakesOver) await_kernels(special);
      for (Trainer* each : {&plain, &special}) each->step(inputs.named());
      CHECK(special.updated() == plain.updated());
      CHECK(special.updated() == (step != kSpoiled));
      CHECK(weights_of(special) == weights_of(plain));
      const auto a = special.stats(), b = plain.stats();
      CHECK(bits(std::array{a.grad_norm, a.loss_scale, a.losses[0].value}) ==
            bits(std::array{b.grad_norm, b.loss_scale, b.losses[0].value}));
      if (step >= kTakesOver) CHECK(a.variant == std::string(c.chip) + ", " + sizes);
    }
    // The other text is another kernel, not the same once more.
    std::vector<std::string> texts;
    halftone::manifest::DecodeError error;
    REQUIRE(halftone::manifest::unpack_texts({c.image->texts, c.image->text_bytes}, texts, error));
    for (const std::string& text : texts) {
      CHECK(text.find("  symbol_batch = HALFTONE_SYMBOL_batch;\n") != text.npos);
    }
  }
}

TEST_CASE("fewer rows than kernels were compiled for have the bits of a trainer without them") {
  const Artifact artifact = Artifact::linked(halftone_artifact_digits);
  const halftone::Binding batch{"batch", 13};
  const halftone::Setup setup{.model = "", .bindings = std::span(&batch, 1), .seed = 3};
  Trainer plain(artifact, device_with("", "sm_80"), setup),
      special(artifact, device_with("background", "sm_80"), setup);
  for (const std::int64_t rows : {13, 6, 13, 6, 1}) {
    CAPTURE(rows);
    const Inputs inputs(artifact, rows, static_cast<unsigned>(rows));
    for (Trainer* each : {&plain, &special}) each->step(inputs.named());
    CHECK(weights_of(special) == weights_of(plain));
    CHECK(bits(special.output("logits")) == bits(plain.output("logits")));
    await_kernels(special);
  }
  CHECK(special.stats().variant == "sm_80, specialised for batch 13");
}

TEST_CASE("a predictor's kernels for one batch have the bits of those for all") {
  const Artifact artifact = Artifact::linked(halftone_artifact_digits);
  const halftone::Binding batch{"batch", 21};
  const halftone::Setup setup{.model = "", .bindings = std::span(&batch, 1), .seed = 3};
  Predictor predictor(artifact, device_with("background", "sm_80"), setup);
  const Inputs all(artifact, 21, 7);
  const std::vector<NamedValues> inputs = {all.named().front()};  // without labels
  predictor.predict(inputs);
  const auto expected = bits(predictor.output("logits"));
  await_kernels(predictor);
  CHECK(predictor.variant() == "sm_80, specialised for batch 21 from the next step on");
  predictor.predict(inputs);
  CHECK(predictor.variant() == "sm_80, specialised for batch 21");
  CHECK(bits(predictor.output("logits")) == expected);
}
