// SPDX-License-Identifier: Apache-2.0
// Contractions by tensor copies and wgmma (decisions/0033) on a simulated chip: the plan is chosen
// where products are large, runs at any size, and its sums are exact where they are and inside N8
// elsewhere.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <regex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "artifacts.hpp"
#include "halftone/manifest/manifest.hpp"
#include "replay.hpp"
#include "simulation.hpp"

namespace halftone::tests {

namespace {

constexpr std::string_view kRun = "warpgroup_contraction::run<";

Artifact artifact_of(const char* name) { return Artifact::linked(*find_artifact(name).image); }

/// The kernels of a chip by their names.
std::map<std::string, manifest::CudaKernel> kernels_of(const Artifact& artifact,
                                                       std::string_view chip) {
  std::map<std::string, manifest::CudaKernel> kernels;
  for (const manifest::Manifest& manifest : artifact.manifests())
    if (const auto* target = manifest::find_cuda(manifest, chip))
      for (std::size_t i = 0; i < manifest.kernels.size(); ++i)
        kernels[manifest.kernels[i].name] = target->kernels[i];
  return kernels;
}

bool is_by_warp_groups(const manifest::CudaKernel& kernel) {
  return !kernel.plans.empty() &&
         kernel.plans.front().name.find("warp groups") != std::string::npos;
}

/// How many tensor maps the training step's kernels of warp groups have.
std::map<std::string, std::size_t> maps_of(
    const std::map<std::string, manifest::CudaKernel>& kernels) {
  std::map<std::string, std::size_t> maps;
  for (const auto& [name, kernel] : kernels)
    if (is_by_warp_groups(kernel) && !name.starts_with("inference_"))
      maps[name] = kernel.maps.size();
  return maps;
}

/// One for each operand whose rows are a multiple of 16 bytes.
const std::map<std::string, std::size_t> kMaps = {
    {"one", 2},
    {"one_weight_gradient", 2},
    {"two", 2},
    {"two_input_gradient", 2},
    {"two_weight_gradient", 2},
    {"three", 2},
    {"three_input_gradient", 2},
    {"three_weight_gradient", 2},
    {"four", 2},
    {"four_input_gradient", 1},
    {"four_weight_gradient", 1},
    {"five", 0},
    {"five_input_gradient", 1},
    {"five_weight_gradient", 1},
};

/// The artifact with depths split from 128 on, where they are split at all; texts go with it.
class SplitArtifact {
 public:
  explicit SplitArtifact(const char* name) : image_(*find_artifact(name).image) {
    for (std::uint64_t i = 0; i < image_.manifest_count; ++i) {
      manifest::Manifest manifest;
      manifest::DecodeError error;
      const auto& own = image_.manifests[i];
      if (!manifest::decode({own.bytes, own.size}, manifest, error))
        throw std::runtime_error(error.message);
      for (manifest::CudaTarget& target : manifest.cuda)
        for (manifest::CudaKernel& kernel : target.kernels)
          if (is_by_warp_groups(kernel) && kernel.split.most > 1) kernel.split.least = 128;
      encoded_.push_back(manifest::encode(manifest));
    }
    for (const auto& bytes : encoded_) manifests_.push_back({bytes.data(), bytes.size()});
    image_.manifests = manifests_.data();
  }
  [[nodiscard]] Artifact artifact() const { return Artifact::linked(image_); }

  [[nodiscard]] static std::string text(const std::string& own) {
    static const std::regex parts("[+] [0-9]+LL[)] / [0-9]+LL, 1LL");
    return std::regex_replace(own, parts, "+ 127LL) / 128LL, 1LL");
  }

 private:
  manifest::ArtifactImage image_;
  std::vector<std::vector<std::byte>> encoded_;
  std::vector<manifest::ManifestImage> manifests_;
};

/// In the text of every kernel, `from` becomes `to`.
struct Mutant {
  const char* fault;
  std::string_view from, to;
};

struct Run {
  Tally tally;
  std::size_t findings = 0;
  int changed = 0;
  std::string error = {};
};

/// A chip of so many SMs, so that blocks have further tiles.
Device small_chip(std::int64_t multiprocessors, CompileKernel compile,
                  SimulatedDriver::Observe observe) {
  return simulated_under({.checks_launches = true, .multiprocessors = multiprocessors}, "sm_90a",
                         {}, std::move(compile), std::move(observe));
}

/// Every kernel of warp groups of a training step, and nothing else; stops at the first that fails.
Run run(std::int64_t batch, const Mutant& mutant = {}, const char* model = "products") {
  Run result;
  const auto compile = [&](const std::string& text, const std::string& entry,
                           const std::string& architecture) {
    const bool runs = text.find(kRun) != text.npos || entry.starts_with("halftone_refresh");
    if (!runs) return empty_kernel(entry, architecture);
    std::string own = SplitArtifact::text(text);
    const std::size_t at = mutant.from.empty() ? own.npos : own.find(mutant.from);
    const bool is_mutant = at != own.npos && text.find(kRun) != text.npos;
    if (is_mutant) own.replace(at, mutant.from.size(), mutant.to);
    auto compiled = compile_with_nvrtc(own, entry, architecture);
    result.changed += is_mutant;  // of a text that does not compile nothing is seen
    return compiled;
  };
  const auto observe = [&](const std::string&, const simulator::LaunchReport& report) {
    result.findings += report.findings.size();
  };
  const std::vector<Binding> bindings = {{"batch", batch}};
  const SplitArtifact split(model);
  try {
    Replay replay(
        split.artifact(), small_chip(4, compile, observe),
        {.model = "", .bindings = bindings, .seed = 5},
        [](const std::string& text) { return text.find(kRun) != text.npos; }, "training");
    replay.step(1, result.tally);
  } catch (const std::exception& error) {
    result.error = error.what();
  }
  return result;
}

/// The first three every day, the others with HALFTONE_EVERY_KERNEL.
constexpr Mutant kMutants[] = {
    {"a stage is not waited for", "ring.wait_full(turn.stage, turn.parity);", ""},
    {"the last part of the depth is not added", "split < splits_; ++split",
     "split + 1 < splits_; ++split"},
    {"rows that begin in the middle of a word are not shifted", "16 * odd", "0 * odd"},
    {"a step of k is left out", "step < kDepth / 16", "step < kDepth / 16 - 1"},
    {"operands of another place are multiplied", "(stage + own_row * kLineBytes) >> 4",
     "stage >> 4"},
    {"lhs's sums miss a chunk", "chunk < chunks; ++chunk", "chunk + 1 < chunks; ++chunk"},
    {"what threads copy is not fenced", "ptx::fence_proxy_async();", ""},
    {"rows past the last are stored", "row >= body_.rows || ", ""},
};

}  // namespace

TEST_CASE("large products are planned for warp groups of sm_90a, and no others") {
  const auto large = kernels_of(artifact_of("products"), "sm_90a");
  CHECK(maps_of(large) == kMaps);
  CHECK(maps_of(kernels_of(artifact_of("products"), "sm_80")).empty());
  CHECK(maps_of(kernels_of(artifact_of("products_small"), "sm_90a")).empty());
  for (const auto& [name, kernel] : large) {
    CAPTURE(name);
    if (!is_by_warp_groups(kernel)) continue;
    CHECK(kernel.resident == 1);
    CHECK(kernel.threads == 384);
    CHECK(kernel.no_warpgroups.empty());
  }
  const auto& two = large.at("two");  // [batch, 504] by [760, 504], f16
  const std::vector<manifest::Dimension> batch = {{1, 0}}, depth = {{504, -1}};
  REQUIRE(two.maps[0].dimensions.size() == 2);
  CHECK(two.maps[0].dimensions[0].extent == batch);
  CHECK(two.maps[0].dimensions[1].extent == depth);
  CHECK(two.maps[0].element == manifest::Element::f16);
  CHECK(two.maps[1].dimensions[0].extent == std::vector<manifest::Dimension>{{760, -1}});
  for (const char* name : {"one", "two", "three"}) {
    CAPTURE(std::string(name));
    CHECK(large.at(std::string(name) + "_weight_gradient").split.most > 1);
  }
}

TEST_CASE("products by warp groups have exact sums where they are, and are in N8 elsewhere") {
  for (const std::int64_t batch : {37, 140}) {
    CAPTURE(batch);
    const Run result = run(batch);
    CAPTURE(result.error);
    CAPTURE(result.tally.first);
    CHECK(result.error.empty());
    CHECK(result.tally.clean());
    CHECK(result.findings == 0);
    CHECK(result.tally.kernels.size() == kMaps.size());
    CHECK(result.tally.exact_sums == static_cast<int>(kMaps.size()));
    std::printf("batch %lld: %lld elements inside their bounds\n", static_cast<long long>(batch),
                static_cast<long long>(result.tally.bounded));
  }
}

TEST_CASE("products by warp groups are stored as columns of what others store, too") {
  struct Case {
    Mutant mutant;
    std::int64_t batch;  // vectors are those of tiles with all of their rows
  };
  const Case cases[] = {
      {{"nothing", "", ""}, 140},
      {{"columns lie elsewhere", " + row * 760 + 504", " + row * 760 + 496"}, 37},
      {{"rows lie elsewhere", " + row * 773 + 509", " + row * 772 + 509"}, 37},
      {{"no vector is whole", "return false && ((0", "return ((0"}, 140},
  };
  for (const auto& [mutant, batch] : cases) {
    CAPTURE(std::string(mutant.fault));
    const Run result = run(batch, mutant, "joined");
    CAPTURE(result.error);
    CAPTURE(result.tally.first);
    const bool is_clean = result.error.empty() && result.tally.clean() && result.findings == 0;
    CHECK(is_clean == mutant.from.empty());
    if (!mutant.from.empty()) CHECK(result.changed > 0);
    for (const char* name : {"one", "two", "three", "four"})
      if (mutant.from.empty()) CHECK(result.tally.kernels.contains(name));
  }
}

TEST_CASE("products by warp groups find the largest magnitude of their elements") {
  constexpr Mutant kFaults[] = {
      {"nothing", "", ""},
      {"a group's maxima are not handed in", "threadIdx.x >= 128", "threadIdx.x >= 256"},
      {"half of a warp is left out", "int distance = 16; distance > 0",
       "int distance = 8; distance > 0"},
      {"some warp is the last", "const unsigned int last = gridDim.x * kWarps - 1;",
       "const unsigned int last = gridDim.x - 1;"},
  };
  for (const Mutant& mutant : kFaults) {
    CAPTURE(std::string(mutant.fault));
    const Run result = run(140, mutant, "maxima");
    CAPTURE(result.error);
    CAPTURE(result.tally.first);
    const bool is_clean = result.error.empty() && result.tally.clean() && result.findings == 0;
    CHECK(is_clean == mutant.from.empty());
    if (!mutant.from.empty()) CHECK(result.changed > 0);
    for (const char* name : {"one", "two", "two_input_gradient"})
      if (mutant.from.empty()) CHECK(result.tally.kernels.contains(name));
  }
}

TEST_CASE("faults that a kernel's text is given are seen") {
  const std::size_t count = std::getenv("HALFTONE_EVERY_KERNEL") ? std::size(kMutants) : 3;
  for (const Mutant& mutant : std::span(kMutants).first(count)) {
    CAPTURE(std::string(mutant.fault));
    const Run result = run(140, mutant);
    CHECK(result.changed > 0);
    CHECK((!result.tally.clean() || result.findings > 0 || !result.error.empty()));
  }
}

}  // namespace halftone::tests
