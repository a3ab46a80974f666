// SPDX-License-Identifier: Apache-2.0
// The hand-made artifact under the rules of several stages (P66).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "changed_artifact.hpp"
#include "halftone/manifest/manifest.hpp"
#include "line_artifact.hpp"

/// A manifest for each of `groups`, changed as it says; stages are in their order.
class StagedArtifact : public ChangedArtifact {
 public:
  struct Group {
    std::vector<std::string> during;
    std::function<void(Manifest&)> change = [](auto&) {};
  };

  StagedArtifact(const std::vector<std::string>& stages, const std::vector<Group>& groups)
      : ChangedArtifact(manifests_of(stages, groups)) {}

 private:
  static std::vector<Manifest> manifests_of(const std::vector<std::string>& stages,
                                            const std::vector<Group>& groups) {
    std::vector<Manifest> manifests;
    for (const Group& group : groups) {
      Manifest& manifest = manifests.emplace_back(hand_made::manifest());
      manifest.stages = stages;
      manifest.during = group.during;
      group.change(manifest);
    }
    return manifests;
  }
};

namespace hand_made {

inline constexpr float kScaleOfPredict = 4.0f;
inline constexpr std::int64_t kMoreOfPredict = 5000;  ///< bytes of working memory, at least

/// What a stage of other rules has that those of "warmup" do not: more to work in, which lies in
/// front of everything else, another loss scale, and kernels with more workspace.
inline void make_predict(halftone::manifest::Manifest& manifest) {
  manifest.loss_scale.initial = kScaleOfPredict;
  for (halftone::manifest::Program& program : manifest.programs) {
    if (program.name != "training") continue;
    for (halftone::manifest::Buffer& buffer : program.buffers) {
      if (buffer.slot == 0) buffer.slot = static_cast<std::int32_t>(program.slots.size());
      if (buffer.name == "loss_scale") buffer.initial = kScaleOfPredict;
    }
    program.slots.push_back(program.slots.front());
    const auto index = static_cast<std::int32_t>(program.buffers.size());
    program.slots.front() = {{index}};
    program.buffers.push_back({"%more",
                               halftone::manifest::Role::activation,
                               halftone::manifest::Element::f32,
                               {{kMoreOfPredict / 4, -1}},
                               0,
                               0.0});
  }
  for (halftone::manifest::CudaTarget& target : manifest.cuda) {
    for (halftone::manifest::CudaKernel& kernel : target.kernels) {
      if (kernel.workspace.size() > 1) kernel.workspace[1].bytes += 4000;
    }
  }
}

/// "warmup", in which a run begins, "predict", and "correct", which is as "warmup".
inline StagedArtifact three_stages() {
  return StagedArtifact({"warmup", "predict", "correct"},
                        {{{"warmup", "correct"}}, {{"predict"}, make_predict}});
}

}  // namespace hand_made
