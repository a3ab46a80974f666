// SPDX-License-Identifier: Apache-2.0
// U4, U5, U9 to U14: generated code updates by every optimizer as the reference does, to the last
// bit, beside a schedule, clips and averages; after steps that were skipped, after numbers that the
// host set, and from a checkpoint.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "artifacts.hpp"
#include "own_pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

constexpr std::int64_t kBatch = 5;

Pair pair_of(const LinkedArtifact& artifact, const std::string& variant) {
  return make_pair(artifact, variant, kBatch);
}

}  // namespace

TEST_CASE("updates by every optimizer equal the declared reference to the last bit") {
  for (const LinkedArtifact& artifact : kArtifacts)
    for (const std::string& variant : tested_variants()) {
      CAPTURE(std::string(artifact.name));
      CAPTURE(variant);
      Pair pair = pair_of(artifact, variant);
      for (int step = 0; step < 20; ++step) {
        CAPTURE(step);
        pair.draw();
        check_step(pair);
        CHECK(pair.trainer.updated());
      }
    }
}

TEST_CASE("U7: a step that is skipped, the first one too, leaves what an optimizer keeps") {
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair = pair_of(artifact, tested_variant);
    for (int step = 0; step < 8; ++step) {
      CAPTURE(step);
      pair.draw();
      if (step == 0 || step == 3) pair.spoil(std::nanf(""));
      if (step == 4) pair.spoil(INFINITY);
      pair.deliver();
      const auto expected = pair.reference.step(pair.state, pair.inputs);
      CHECK(expected.finite == (step != 0 && step != 3 && step != 4));
      pair.trainer.step(pair.named_inputs());
      CHECK(pair.trainer.updated() == expected.finite);
      pair.state = expected.state;
      check_parameters(pair);
    }
  }
}

TEST_CASE("U3: what the host sets reaches every optimizer") {
  int with_momentum = 0;
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair = pair_of(artifact, tested_variant);
    pair.draw();
    check_step(pair);
    description::Description described = pair.description;
    std::visit(
        [&](auto& optimizer) {
          optimizer.learning_rate = 0.03;
          optimizer.weight_decay = 0.5;
          if constexpr (requires { optimizer.momentum; }) {
            if (optimizer.momentum == 0) return;
            optimizer.momentum = 0.25;
            pair.trainer.set_momentum(0.25f);
            ++with_momentum;
          }
        },
        described.optimizer);
    pair.trainer.set_learning_rate(0.03f);
    pair.trainer.set_weight_decay(0.5f);
    pair.reference = reference::Declared(described, pair.symbols);
    for (int step = 0; step < 3; ++step) {
      CAPTURE(step);
      pair.draw();
      check_step(pair);
    }
  }
  CHECK(with_momentum == 3);
}

TEST_CASE("a resumed run goes on with what its optimizer kept") {
  const std::string file =
      std::filesystem::temp_directory_path() / ("halftone_optimizers_" + std::to_string(getpid()));
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair = pair_of(artifact, tested_variant);
    for (int step = 0; step < 3; ++step) {
      pair.draw();
      check_step(pair);
    }
    pair.trainer.save(file);
    Trainer other(pair.artifact, pair.device, pair.setup(2));
    REQUIRE(other.resume(file).steps == 3);
    check_equal_steps(pair, other);
  }
  std::remove(file.c_str());
}

}  // namespace halftone::tests
