// SPDX-License-Identifier: Apache-2.0
// The laws of what a manifest says about chips: which it holds for, and how kernels run there.
#include <cmath>

#include "halftone/encoding/traits.hpp"
#include "sizes.hpp"
#include "verify.hpp"

namespace halftone::manifest {
namespace {

constexpr std::int32_t kMostThreads = 1024, kWarp = 32, kMostSplits = 1 << 16;
constexpr std::int32_t kMostResident = 64;
constexpr std::int64_t kMostSharedBytes = 1 << 20;

bool possible(const Manifest& manifest, const std::vector<TaskAxis>& axes) {
  return std::ranges::all_of(axes, [&](const TaskAxis& axis) {
    return axis.tile > 0 && axis.tile <= kLargest && sound(manifest, axis.extent);
  });
}

bool possible(const Manifest& manifest, const Split& split) {
  return split.least > 0 && split.least <= kLargest && split.most > 0 &&
         split.most <= kMostSplits && sound(manifest, split.depth) &&
         (split.most == 1 || !split.depth.empty());
}

/// Of 16 bits or 8, or words of packed ones. The last dimension's fixed extents alone make it a
/// multiple of 16 bytes, whatever symbols stand for.
bool possible(const Manifest& manifest, const TensorMap& map) {
  const int bits = encoding::traits(map.element).bits;
  if (map.argument < 0 || (bits != 16 && bits != 8 && map.element != encoding::Element::i32) ||
      map.dimensions.size() < kLeastMapRank || map.dimensions.size() > kMostMapRank) {
    return false;
  }
  for (const MapDimension& dimension : map.dimensions) {
    if (dimension.extent.empty() || !sound(manifest, dimension.extent)) return false;
    if (dimension.box <= 0 || dimension.box > kMostBox) return false;
  }
  const MapDimension& last = map.dimensions.back();
  std::int64_t unit = bits / 8;  // its bytes, as far as they decide
  for (const Dimension& dimension : last.extent)
    unit = unit * (dimension.extent % kMapRowBytes) % kMapRowBytes;
  const std::int32_t box_bytes = last.box * bits / 8;
  return unit == 0 && box_bytes <= kMostBoxBytes && box_bytes % kMapRowBytes == 0;
}

bool possible(const Cost& cost) {
  return std::ranges::all_of(
      std::initializer_list<double>{cost.operations, cost.bytes, cost.waves, cost.microseconds},
      [](double value) { return std::isfinite(value) && value >= 0.0; });
}

/// What is wrong with how a kernel runs, or nothing.
std::string fault_of(const Manifest& manifest, const CudaKernel& kernel) {
  if (kernel.text < 0 || kernel.text >= manifest.text_count) return "has an unknown text";
  if (kernel.entry.empty()) return "has an entry without a name";
  if (kernel.threads <= 0 || kernel.threads > kMostThreads || kernel.threads % kWarp != 0) {
    return "has an impossible number of threads";
  }
  if (!possible(manifest, kernel.blocks)) return "has an impossible grid";
  if (kernel.resident < 0 || kernel.resident > kMostResident) return "has an impossible grid";
  for (const TensorMap& map : kernel.maps) {
    if (!possible(manifest, map)) return "has an impossible tensor map";
  }
  if (kernel.shared_bytes < 0 || kernel.shared_bytes > kMostSharedBytes) {
    return "has an impossible amount of shared memory";
  }
  if (!possible(manifest, kernel.split)) return "has an impossible split";
  for (const Work& part : kernel.workspace) {
    if (part.bytes <= 0 || part.bytes > kLargest || !possible(manifest, part.count)) {
      return "has an impossible workspace";
    }
  }
  if (!std::ranges::is_partitioned(kernel.workspace, &Work::zeroed)) {
    return "has zeroed parts of its workspace behind others";
  }
  for (const Plan& plan : kernel.plans) {
    if (plan.name.empty() || !possible(plan.cost)) return "has an impossible plan";
  }
  return {};
}

std::string verify_chip(const Manifest& manifest, const CudaTarget& target) {
  if (target.kernels.size() != manifest.kernels.size()) {
    return quoted("target", target.chip) + " has not one entry for every kernel";
  }
  for (std::size_t i = 0; i < target.kernels.size(); ++i) {
    if (std::string why = fault_of(manifest, target.kernels[i]); !why.empty()) {
      return quoted("kernel", manifest.kernels[i].name) + " of " + quoted("target", target.chip) +
             " " + why;
    }
  }
  return {};
}

}  // namespace

std::string verify_targets(const Manifest& manifest) {
  const auto itself = [](const std::string& name) -> const std::string& { return name; };
  if (manifest.targets.empty()) return "it holds for no target";
  if (std::string why = unique("target", manifest.targets, itself); !why.empty()) return why;
  if (manifest.assumed.size() != manifest.symbols.size() ||
      std::ranges::any_of(manifest.assumed, [](std::int64_t size) { return size <= 0; })) {
    return "the assumed sizes are not one positive number for every symbol";
  }
  if (manifest.text_count < 0) return "the number of texts is impossible";
  auto chip = manifest.cuda.begin();
  for (const std::string& target : manifest.targets) {
    if (target == "cpu") continue;
    if (chip == manifest.cuda.end() || chip->chip != target) {
      return quoted("target", target) + " has no kernels in its place";
    }
    if (std::string why = verify_chip(manifest, *chip++); !why.empty()) return why;
  }
  if (chip != manifest.cuda.end()) {
    return quoted("target", chip->chip) + " has kernels but is none of the targets";
  }
  return {};
}

bool holds_in(const Manifest& manifest, std::string_view stage) {
  if (manifest.stages.empty()) return stage.empty();
  if (stage.empty()) stage = manifest.stages.front();
  return std::ranges::find(manifest.during, stage) != manifest.during.end();
}

const CudaTarget* find_cuda(const Manifest& manifest, std::string_view chip) {
  const auto found = std::ranges::find(manifest.cuda, chip, &CudaTarget::chip);
  return found == manifest.cuda.end() ? nullptr : &*found;
}

}  // namespace halftone::manifest
