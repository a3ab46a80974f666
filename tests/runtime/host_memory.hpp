// SPDX-License-Identifier: Apache-2.0
// How tests of values in the host's memory (P91, P98) use a trainer, what it takes of either
// memory, and states of the hand-made artifact that lie there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "changed_artifact.hpp"
#include "files/scratch_folder.hpp"
#include "halftone/run_log.hpp"
#include "halftone/stages.hpp"
#include "halftone/trainer.hpp"
#include "line_artifact.hpp"
#include "worked_example.hpp"

namespace host_memory {

/// Of 5 rows.
inline const worked_example::Floats kSomeFeatures(15, 1.5f), kSomeTarget(10, 2.0f);

inline constexpr float kInitial = 0.15625f;
inline constexpr std::int64_t kStateBytes = hand_made::kParameterElements * 4;

/// Training's update in two launches, of which each sees half of a state and leaves it as it is.
inline void keep_states(halftone::manifest::Manifest& manifest, bool in_host) {
  using namespace halftone::manifest;
  Program& program = manifest.programs[0];
  const auto index = static_cast<std::int32_t>(program.buffers.size());
  const auto slot = static_cast<std::int32_t>(program.slots.size());
  program.buffers.push_back({"sgd.momentum",
                             Role::optimizer_state,
                             Element::f32,
                             {{hand_made::kParameterElements, -1}},
                             slot,
                             kInitial});
  program.buffers.back().in_host = in_host;
  program.slots.push_back({{index}});
  auto& update = program.phases[static_cast<std::size_t>(Phase::update)];
  constexpr std::int64_t kHalf = hand_made::kParameterElements / 2;
  update.push_back(update.front());
  for (std::size_t i = 0; i < update.size(); ++i) {
    update[i].arguments.push_back(
        {index, static_cast<std::int64_t>(i) * kHalf, 0, in_host ? kHalf : 0});
  }
}

/// What a trainer saves.
inline std::string saved(halftone::Trainer& trainer) {
  const halftone::tests::ScratchFolder folder;
  trainer.save(folder / "state");
  return halftone::tests::bytes_of_file(folder / "state");
}

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
