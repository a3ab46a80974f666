// SPDX-License-Identifier: Apache-2.0
// The hand-made artifact under the rules of several stages (P66).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/manifest/manifest.hpp"
#include "line_artifact.hpp"

/// A manifest for each of `groups`, changed as it says; stages are in their order. Artifacts that
/// are taken from it must not outlive it.
class StagedArtifact {
 public:
  struct Group {
    std::vector<std::string> during;
    std::function<void(halftone::manifest::Manifest&)> change = [](auto&) {};
  };

  StagedArtifact(std::vector<std::string> stages, const std::vector<Group>& groups)
      : image_(halftone_artifact_line) {
    for (const Group& group : groups) {
      halftone::manifest::Manifest manifest = hand_made::manifest();
      manifest.stages = stages;
      manifest.during = group.during;
      group.change(manifest);
      bytes_.push_back(halftone::manifest::encode(manifest));
    }
    for (const auto& bytes : bytes_) manifests_.push_back({bytes.data(), bytes.size()});
    image_.manifests = manifests_.data();
    image_.manifest_count = manifests_.size();
  }

  [[nodiscard]] halftone::Artifact artifact() const { return halftone::Artifact::linked(image_); }

 private:
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<halftone::manifest::ManifestImage> manifests_;
  halftone::manifest::ArtifactImage image_;
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
