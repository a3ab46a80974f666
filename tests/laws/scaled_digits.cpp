// SPDX-License-Identifier: Apache-2.0
// What scales are for: with them products in 8 bits learn to read digits as those of bf16 do, from
// gradients of any size; without them small gradients vanish.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "halftone/predictor.hpp"
#include "halftone/trainer.hpp"
#include "images.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

constexpr std::int64_t kBatch = 32;
constexpr int kPasses = 10, kDigits = 10;

std::vector<NamedValues> named(const std::vector<float>& pixels,
                               const std::vector<std::int32_t>& digits) {
  std::vector<NamedValues> inputs{{"pixels", std::span<const float>(pixels)}};
  if (!digits.empty()) inputs.push_back({"digit", std::span<const std::int32_t>(digits)});
  return inputs;
}

/// Of the held-out images, after a few passes over the others.
double accuracy(const char* name) {
  const auto found = std::ranges::find_if(kDigitsArtifacts, [&](const LinkedArtifact& artifact) {
    return artifact.name == std::string(name);
  });
  REQUIRE(found != std::end(kDigitsArtifacts));
  const Artifact artifact = Artifact::linked(*found->image);
  const Device device = Device::cpu(tested_variant);
  static const Split data = split(read_images(DIGITS_CSV));
  const Binding batch{"batch", kBatch}, all{"batch", data.held_out.count()};
  Trainer trainer(artifact, device, {.model = "", .bindings = {&batch, 1}, .seed = 1});
  std::mt19937_64 engine(1);
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto order = shuffled(data.training.count(), engine);
    for (std::size_t at = 0; at + kBatch <= order.size(); at += kBatch) {
      Images images;
      for (std::size_t i = at; i < at + kBatch; ++i)
        images.add(data.training.image(order[i]),
                   data.training.digits[static_cast<std::size_t>(order[i])]);
      trainer.step(named(images.pixels, images.digits));
    }
  }
  Predictor predictor(artifact, device, {.model = "", .bindings = {&all, 1}, .seed = 1});
  predictor.copy_parameters(trainer);
  predictor.predict(named(data.held_out.pixels, {}));
  const std::span<const float> logits = predictor.output("logits");
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < data.held_out.count(); ++i) {
    const auto row = logits.subspan(static_cast<std::size_t>(i * kDigits), kDigits);
    right += std::ranges::max_element(row) - row.begin() ==
             data.held_out.digits[static_cast<std::size_t>(i)];
  }
  return static_cast<double>(right) / static_cast<double>(data.held_out.count());
}

}  // namespace

TEST_CASE(
    "scaled operands of 16, 8 and 4 bits learn digits as those of bf16 do, from gradients however "
    "small") {
  const double wide = accuracy("bf16");
  CHECK(wide > 0.9);
  for (const char* name :
       {"tensors", "delayed", "blocks", "tiles", "columns", "factors", "vectors", "halves"}) {
    CAPTURE(std::string(name));
    CHECK(accuracy(name) > wide - 0.02);
  }
  for (const char* name : {"levels", "rotated"}) {  // in 4 bits
    CAPTURE(std::string(name));
    CHECK(accuracy(name) > wide - 0.05);
  }
  CHECK(accuracy("f8") < 0.5);
}

}  // namespace halftone::tests
