// SPDX-License-Identifier: Apache-2.0
#include "packed_operands.hpp"

#include <algorithm>

namespace halftone {

using manifest::Phase, manifest::Role;

namespace {

bool is_of_weights(Role role) { return role == Role::parameters || role == Role::working_copies; }

const manifest::Argument& rhs_of(const manifest::Launch& launch, const manifest::Kernel& kernel) {
  return launch.arguments[static_cast<std::size_t>(kernel.blocking.rhs)];
}

}  // namespace

PackedOperands::PackedOperands(const ProgramPlan& plan, std::size_t variant)
    : plan_(plan),
      variant_(variant),
      only_reads_weights_(plan.launches(Phase::backward).empty() &&
                          plan.launches(Phase::update).empty()) {}

/// Panels of f32 are as large as parameters, and of several rows they come from memory no sooner
/// than tasks turn them: of those only what one row reads is worth it.
bool PackedOperands::is_worth_keeping(const manifest::Launch& launch, const Sizes& sizes) const {
  const manifest::Kernel& kernel = plan_.kernel(launch);
  if (plan_.device().packed() == Packed::always) return true;
  if (!is_worth_keeping_packed(kernel, variant_, sizes.symbols)) return false;
  if (kernel.blocking.tiles[variant_].depth > 1) return true;
  const manifest::TaskAxis& rows = kernel.tasks[kernel.tasks.size() - 2];
  const auto buffer = static_cast<std::size_t>(rhs_of(launch, kernel).buffer);
  return manifest::elements(rows.extent, sizes.symbols) == 1 &&
         plan_.buffer(buffer).encoding.element == encoding::Element::f32;
}

/// What decodes runs for one time of each sequence far more often than for the planned ones.
Sizes PackedOperands::most_often(const Sizes& planned) const {
  if (plan_.program().name != manifest::kDecode) return planned;
  Sizes sizes = planned;
  for (std::size_t i = 0; i < sizes.symbols.size(); ++i) {
    if (i != plan_.leading_symbol()) sizes.symbols[i] = 1;
  }
  return sizes;
}

/// Whether it is a weight of a program that only reads weights, and packing pays.
bool PackedOperands::stays(const manifest::Launch& launch, const Sizes& sizes) const {
  const manifest::Kernel& kernel = plan_.kernel(launch);
  const auto buffer = static_cast<std::size_t>(rhs_of(launch, kernel).buffer);
  return only_reads_weights_ && is_of_weights(plan_.buffer(buffer).role) &&
         is_worth_keeping(launch, most_often(sizes));
}

bool PackedOperands::is_wanted(const manifest::Kernel& kernel,
                               const manifest::BlockPlan& blocks) const {
  return plan_.device().packed() == Packed::always || is_worth_packing(kernel, variant_, blocks);
}

PackedOperands::Weight* PackedOperands::find(const manifest::Launch& launch) {
  const manifest::Argument& rhs = rhs_of(launch, plan_.kernel(launch));
  const auto found = std::ranges::find_if(weights_, [&](const Weight& weight) {
    return weight.kernel == launch.kernel && weight.buffer == rhs.buffer &&
           weight.offset == rhs.offset;
  });
  return found == weights_.end() ? nullptr : &*found;
}

void PackedOperands::add(const manifest::Launch& launch, const Sizes& sizes,
                         const manifest::BlockPlan& blocks) {
  const manifest::Kernel& kernel = plan_.kernel(launch);
  if (kernel.blocking.rhs < 0 || plan_.device().packed() == Packed::never) return;
  const std::int64_t bytes = plan_packing(kernel, variant_, sizes.symbols).bytes;
  if (stays(launch, sizes)) {
    if (find(launch)) return;
    const manifest::Argument& rhs = rhs_of(launch, kernel);
    weights_.push_back({launch.kernel, rhs.buffer, rhs.offset, kept_bytes_});
    kept_bytes_ += bytes;
  } else if (is_wanted(kernel, blocks)) {
    shared_bytes_ = std::max(shared_bytes_, bytes);
  }
}

void PackedOperands::lie_in(std::byte* kept, std::byte* shared,
                            std::int64_t shared_bytes) noexcept {
  kept_ = kept;
  shared_ = shared;
  shared_bytes_ = shared_bytes;
}

std::optional<PackedOperands::Packing> PackedOperands::find(const manifest::Launch& launch,
                                                            const Sizes& sizes,
                                                            const manifest::BlockPlan& blocks) {
  const manifest::Kernel& kernel = plan_.kernel(launch);
  if (kernel.blocking.rhs < 0 || plan_.device().packed() == Packed::never) return std::nullopt;
  const manifest::PackingPlan plan = plan_packing(kernel, variant_, sizes.symbols);
  Packing packing{.blocks = plan.blocks, .tasks = plan.tasks};
  if (Weight* weight = find(launch)) {
    if (!is_worth_keeping(launch, sizes)) return std::nullopt;
    packing.blocks.rhs = kept_ + weight->at;
    packing.is_done = &weight->is_done;
    return packing;
  }
  // Fewer rows may be cut where the planned ones are not.
  if (!is_wanted(kernel, blocks) || plan.bytes > shared_bytes_) return std::nullopt;
  packing.blocks.rhs = shared_;
  return packing;
}

void PackedOperands::forget(std::size_t buffer) noexcept {
  for (Weight& weight : weights_) {
    if (static_cast<std::size_t>(weight.buffer) == buffer) weight.is_done = false;
  }
}

void PackedOperands::forget() noexcept {
  for (Weight& weight : weights_) weight.is_done = false;
}

}  // namespace halftone
