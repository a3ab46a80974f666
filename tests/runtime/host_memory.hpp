// SPDX-License-Identifier: Apache-2.0
// How tests of values in the host's memory (P91, P98) use a trainer, and what it takes of either
// memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "changed_artifact.hpp"
#include "halftone/run_log.hpp"
#include "halftone/stages.hpp"
#include "worked_example.hpp"

namespace host_memory {

/// Of 5 rows.
inline const worked_example::Floats kSomeFeatures(15, 1.5f), kSomeTarget(10, 2.0f);

/// The ways to a step: in one, of two micro-batches, and pass by pass.
inline void use(const ChangedArtifact& changed, const halftone::Device& device) {
  models::line::Trainer trainer(changed.artifact(), device, {.batch = 5, .seed = 1});
  trainer.step(kSomeFeatures, kSomeTarget);
  trainer.accumulate(kSomeFeatures, kSomeTarget);
  trainer.step(kSomeFeatures, kSomeTarget);
  trainer.forward(kSomeFeatures, kSomeTarget);
  trainer.backward();
  trainer.check();
  trainer.update();
  (void)trainer.stats();
}

inline std::size_t count(const std::vector<std::string>& calls, const std::string& call) {
  return static_cast<std::size_t>(std::ranges::count(calls, call));
}

/// What a trainer of 5 rows is planned to take.
inline halftone::StageMemory planned(const ChangedArtifact& changed,
                                     const halftone::Device& device) {
  const halftone::Binding bindings[] = {{"batch", 5}};
  const halftone::Setup setup{.model = {}, .bindings = bindings};
  return halftone::plan_stages(changed.artifact(), device, setup).front();
}

/// Bytes that a trainer's facts tell of a role and of all others.
struct Held {
  std::int64_t of_role = 0, of_others = 0;
};
inline Held held(const halftone::Trainer& trainer, std::string_view role) {
  Held bytes;
  for (const halftone::RunFacts::Memory& memory : halftone::facts_of(trainer).memory) {
    if (memory.role == "accumulated") continue;  // once there are micro-batches
    (memory.role == role ? bytes.of_role : bytes.of_others) += memory.bytes;
  }
  return bytes;
}

}  // namespace host_memory
