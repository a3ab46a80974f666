// SPDX-License-Identifier: Apache-2.0
// Long convolutions on simulated chips, in passes of many blocks (docs/decisions/0057): whole steps
// have the bits of the CPU, which transforms each sequence in one task and which laws compare with
// the reference.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "artifacts.hpp"
#include "halftone/trainer.hpp"
#include "laws/own_pair.hpp"
#include "simulation.hpp"

namespace halftone::tests {

namespace {

constexpr const char* kOutputs[] = {"x", "y", "z", "w"};

/// How many kernels of the chip, but those of a diagnosis, are of this skeleton.
std::int64_t count(const Artifact& artifact, const std::string& chip, const std::string& skeleton) {
  std::int64_t found = 0;
  for (const manifest::Manifest& manifest : artifact.manifests())
    if (std::ranges::count(manifest.targets, chip) != 0)
      found += std::ranges::count_if(manifest.kernels, [&](const manifest::Kernel& kernel) {
        return kernel.skeleton == skeleton && !kernel.name.starts_with("diagnosis_");
      });
  return found;
}

/// Whether the entry is one of the chip's passes.
bool is_pass(const Artifact& artifact, const std::string& chip, const std::string& entry) {
  return std::ranges::any_of(artifact.manifests(), [&](const manifest::Manifest& manifest) {
    return std::ranges::count(manifest.targets, chip) != 0 &&
           std::ranges::any_of(manifest.kernels, [&](const manifest::Kernel& kernel) {
             return kernel.skeleton.ends_with("_pass") && entry.ends_with("_" + kernel.name);
           });
  });
}

/// Compiles texts with `from`, if they are of passes, with `to` in its first place.
struct Fault {
  const char *name, *from, *to;
  bool changed = false;

  auto compile() {
    return
        [this](const std::string& text, const std::string& entry, const std::string& architecture) {
          const std::size_t at = text.find(from);
          if (text.find("_pass::run") == text.npos || at == text.npos)
            return compile_with_nvrtc(text, entry, architecture);
          changed = true;
          std::string other = text;
          return compile_with_nvrtc(other.replace(at, std::string(from).size(), to), entry,
                                    architecture);
        };
  }
};

using Values = std::vector<std::vector<float>>;

/// The outputs and parameters behind a step with the pair's inputs.
Values stepped(Pair& pair, const Device& device) {
  Trainer trainer(pair.artifact, device, pair.setup(1));
  trainer.step(pair.named_inputs());
  CHECK(trainer.updated());
  Values values;
  for (const char* output : kOutputs) {
    const auto found = trainer.output(output);
    values.emplace_back(found.begin(), found.end());
  }
  for (const std::string& name : trainer.parameter_names()) {
    const auto found = trainer.parameter(name);
    values.emplace_back(found.begin(), found.end());
  }
  return values;
}

bool are_equal(const Values& a, const Values& b) {
  return std::ranges::equal(a, b, [](const std::vector<float>& one, const std::vector<float>& two) {
    return first_difference(one, two) == -1;
  });
}

/// The model with inputs.
Pair drawn() {
  Pair pair = make_pair(find_artifact("long_passes"), "x86-64-v3", 2);
  pair.draw();
  return pair;
}

}  // namespace

TEST_CASE("passes over long sequences have the bits of transforms in one task") {
  Pair pair = drawn();
  const Values wanted = stepped(pair, pair.device);
  for (const char* chip : {"sm_75", "sm_90a"}) {
    CAPTURE(std::string(chip));
    CHECK(count(pair.artifact, chip, "transform") == 0);
    CHECK(count(pair.artifact, chip, "inverse_transform") == 0);
    for (const char* pass :
         {"transform_pass", "inverse_transform_pass", "convolution_pass", "correlation_pass"}) {
      CAPTURE(std::string(pass));
      CHECK(count(pair.artifact, chip, pass) >= 4);
      CHECK(count(pair.artifact, "cpu", pass) == 0);
    }
    std::uint64_t conflicts = 0;
    const auto observe = [&](const std::string& entry, const simulator::LaunchReport& report) {
      if (is_pass(pair.artifact, chip, entry))
        conflicts += report.counters.shared_wavefronts - report.counters.shared_wavefronts_ideal;
    };
    CHECK(are_equal(stepped(pair, simulated(chip, {}, compile_with_nvrtc, observe)), wanted));
    CHECK(conflicts == 0);
  }
}

TEST_CASE("faults of passes are seen: in bits, as a race or as an access out of bounds") {
  Pair pair = drawn();
  const Values wanted = stepped(pair, pair.device);
  for (Fault fault : {
           Fault{"no barrier between stages", "if (stage > 0) __syncthreads();", ""},
           Fault{"no barrier before the last stages",
                 "spread_to_last(body, pass);\n  __syncthreads();", "spread_to_last(body, pass);"},
           Fault{"no barrier on the way back", "stage -= 2) {\n    __syncthreads();",
                 "stage -= 2) {"},
           Fault{"pieces in the wrong places", "number % kSize * kDistance + piece % kDistance",
                 "number % kSize * kDistance"},
           Fault{"turns of another part", "(first_piece_ + piece) / kDistance", "0"},
           Fault{"no conjugate", "kConjugates ? real : -real", "-real"},
           Fault{"the spectrum of other channels", "task_ % kBlocksOfChannels * Body::kPlaces",
                 "0"},
           Fault{"places behind the sequence", "place < Body::kLength && column_ < Body::kChannels",
                 "column_ < Body::kChannels"},
       }) {
    CAPTURE(std::string(fault.name));
    std::size_t findings = 0;
    bool differs = false;
    const auto observe = [&](const std::string&, const simulator::LaunchReport& report) {
      findings += report.findings.size();
    };
    try {
      differs = !are_equal(stepped(pair, simulated("sm_80", {}, fault.compile(), observe)), wanted);
    } catch (const std::exception& error) {  // findings end a launch
      CHECK(std::string(error.what()).find("NVRTC") == std::string::npos);
      differs = true;
    }
    CHECK(fault.changed);
    CHECK((differs || findings > 0));
  }
}

}  // namespace halftone::tests
