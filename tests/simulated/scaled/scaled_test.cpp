// SPDX-License-Identifier: Apache-2.0
// P48, P51 to P53, P72, P76, P77, P87, P89, P100 and P101 on simulated chips: values of 8, 6 and 4
// bits, with and without scales, and drawn ones have the CPU's bits, which laws compare with the
// reference, whether a chip has tensor cores for such numbers or not.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "artifacts.hpp"
#include "halftone/trainer.hpp"
#include "laws/own_pair.hpp"
#include "replayed_models.hpp"
#include "simulated/checkpoint_of.hpp"
#include "simulation.hpp"

namespace halftone::tests {
namespace {

/// Of three steps, the second of which is skipped since an input is infinite: parameters that a
/// chip has otherwise than the CPU, and checkpoints, which have states and histories of scales,
/// too.
std::size_t count_differing(const LinkedArtifact& linked, const std::string& chip,
                            const CompileKernel& compile = compile_with_nvrtc) {
  std::size_t differing = 0;
  Pair pair = make_pair(linked, "x86-64-v3", 5);
  Trainer trainer(pair.artifact, simulated(chip, {.traffic = false}, compile), pair.setup(1));
  for (int step = 0; step < 3; ++step) {
    CAPTURE(step);
    pair.draw();
    if (step == 1) pair.spoil(INFINITY);
    for (Trainer* each : {&pair.trainer, &trainer}) {
      each->step(pair.named_inputs());
      CHECK(each->updated() == (step != 1));
    }
    for (const std::string& name : trainer.parameter_names()) {
      if (first_difference(trainer.parameter(name), pair.trainer.parameter(name)) != -1)
        ++differing;
    }
    if (checkpoint_of(trainer) != checkpoint_of(pair.trainer)) ++differing;
  }
  return differing;
}

/// NVRTC, given texts in which `to` stands for `from`; `changed` counts them.
CompileKernel with_fault(const std::string& from, const std::string& to, std::size_t& changed) {
  return [from, to, &changed](std::string text, const std::string& entry,
                              const std::string& architecture) {
    if (const std::size_t at = text.find(from); at != text.npos) {
      text.replace(at, from.size(), to);
      ++changed;
    }
    return compile_with_nvrtc(text, entry, architecture);
  };
}

}  // namespace

TEST_CASE("steps with scaled, 8-bit and drawn values have the CPU's bits on every chip") {
  for (const LinkedArtifact& linked : kOrdered) {
    CAPTURE(std::string(linked.name));
    for (const char* chip : {"sm_80", "sm_89", "sm_120a"}) {
      CAPTURE(std::string(chip));
      CHECK(count_differing(linked, chip) == 0);
    }
  }
}

TEST_CASE("a scale of half the size is seen, draws by another multiplier, a maximum that stays") {
  struct Fault {
    std::string_view model;
    const char *from, *to;
  };
  for (const Fault& fault : {Fault{"scaled_grids", "0x1.24924ap-9f", "0x1.24924ap-10f"},
                             Fault{"stochastic", "3528531795LL", "3528531797LL"},
                             Fault{"delayed", "atomicExch(body.so_far, 0u)", "*body.so_far"}}) {
    CAPTURE(std::string(fault.model));
    const auto* linked = std::ranges::find(
        kOrdered, fault.model, [](const auto& each) { return std::string_view(each.name); });
    std::size_t changed = 0;
    CHECK(count_differing(*linked, "sm_80", with_fault(fault.from, fault.to, changed)) > 0);
    CHECK(changed > 0);
  }
}

TEST_CASE("kernels with scaled, 8-bit and drawn values have the CPU's bits, given its operands") {
  Tally all;
  for (const char* chip : {"sm_75", "sm_90a", "sm_100a"}) {
    Texts seen;
    for (const LinkedArtifact& linked : kArtifacts) {
      const Texts texts = take_new(texts_of(linked, chip), seen);
      if (!texts.empty()) replay_texts(linked, chip, texts, {.options = {.traffic = false}}, all);
    }
  }
  report(all);
  CHECK(all.exact_sums > 0);
  CHECK(all.bounded > 0);
}

}  // namespace halftone::tests
