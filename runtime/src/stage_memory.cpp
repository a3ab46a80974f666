// SPDX-License-Identifier: Apache-2.0
#include "stage_memory.hpp"

#include <algorithm>
#include <map>

#include "halftone/encoding/text.hpp"
#include "text.hpp"

namespace halftone {
namespace {

using manifest::Role;

/// Whether every run makes it anew.
bool is_working(Role role) { return role == Role::activation || role == Role::working_copies; }

/// Whether it lies beside the device's memory (P91).
bool is_in_host(const ProgramPlan& plan, const manifest::Buffer& buffer) {
  return buffer.in_host && plan.target();
}

std::int64_t rounded_up(std::int64_t bytes) {
  return (bytes + manifest::kSlotAlignment - 1) / manifest::kSlotAlignment *
         manifest::kSlotAlignment;
}

/// Of the slot's largest tenant; slots of what outlasts a run have one.
std::int64_t bytes_of(const ProgramPlan& plan, const manifest::Slot& slot) {
  std::int64_t largest = 0;
  for (const std::int32_t tenant : slot.tenants) {
    largest = std::max(largest, plan.bytes(static_cast<std::size_t>(tenant)));
  }
  return rounded_up(largest);
}

/// The places of what outlasts a run.
struct Kept {
  std::map<std::string, std::int64_t> places;  ///< by shared_name, format and size
  std::int64_t bytes = 0;

  std::int64_t place(const ProgramPlan& plan, std::size_t buffer) {
    const std::int64_t size = rounded_up(plan.bytes(buffer));
    const std::string key = shared_name(plan, buffer) + ' ' +
                            spelled(plan.buffer(buffer).encoding) + ' ' + std::to_string(size);
    const auto [known, is_new] = places.try_emplace(key, bytes);
    if (is_new) bytes += size;
    return known->second;
  }
};

const manifest::Buffer* tenant_of(const ProgramPlan& plan, const manifest::Slot& slot) {
  return slot.tenants.empty() ? nullptr
                              : &plan.buffer(static_cast<std::size_t>(slot.tenants.front()));
}

}  // namespace

bool is_of_loss_scale(const manifest::Buffer& buffer) {
  return buffer.role == Role::optimizer_state && buffer.name.starts_with("loss_scale");
}

std::string shared_name(const ProgramPlan& plan, std::size_t index) {
  const manifest::Buffer& buffer = plan.buffer(index);
  if (!is_of_loss_scale(buffer)) return buffer.name;
  const manifest::LossScale& scale = plan.manifest().loss_scale;
  std::string name = buffer.name + " " + std::to_string(static_cast<int>(scale.kind));
  for (const double number :
       {scale.initial, scale.growth, scale.backoff, scale.floor, scale.ceiling}) {
    name += ' ' + number_text(number);
  }
  for (const std::int64_t count : {scale.interval, scale.hysteresis, scale.patience}) {
    name += ' ' + std::to_string(count);
  }
  return name;
}

ArenaUse arena_use(const ProgramPlan& plan) {
  ArenaUse use;
  for (const manifest::Slot& slot : plan.program().slots) {
    const manifest::Buffer* tenant = tenant_of(plan, slot);
    if (!tenant || tenant->role == Role::accumulated ||
        manifest::is_of_part(plan.program(), *tenant)) {
      continue;
    }
    (is_in_host(plan, *tenant)  ? use.host
     : is_working(tenant->role) ? use.working
                                : use.kept) += bytes_of(plan, slot);
  }
  use.host += plan.arena().stay_bytes;
  return use;
}

void share_memory(std::span<ProgramPlan* const> plans) {
  Kept kept, accumulated, host;
  std::vector<manifest::ArenaPlan> arenas;
  for (const ProgramPlan* plan : plans) {
    manifest::ArenaPlan& arena = arenas.emplace_back(plan->arena());
    for (std::size_t i = 0; i < plan->program().slots.size(); ++i) {
      const manifest::Slot& slot = plan->program().slots[i];
      const manifest::Buffer* tenant = tenant_of(*plan, slot);
      if (!tenant || is_working(tenant->role)) continue;
      Kept& piece = tenant->role == Role::accumulated ? accumulated
                    : is_in_host(*plan, *tenant)      ? host
                                                      : kept;
      arena.slot_offsets[i] = piece.place(*plan, static_cast<std::size_t>(slot.tenants.front()));
    }
  }
  manifest::ArenaPlan largest;
  largest.host_bytes = host.bytes;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    std::int64_t end = kept.bytes;
    for (std::size_t i = 0; i < plans[p]->program().slots.size(); ++i) {
      const manifest::Slot& slot = plans[p]->program().slots[i];
      const manifest::Buffer* tenant = tenant_of(*plans[p], slot);
      if (!tenant || !is_working(tenant->role)) continue;
      if (manifest::is_of_part(plans[p]->program(), *tenant)) continue;  // in each thread's piece
      arenas[p].slot_offsets[i] = end;
      end += bytes_of(*plans[p], slot);
    }
    largest.bytes = std::max(largest.bytes, end);
    std::int64_t host_end = host.bytes;
    for (std::size_t i = 0; i < arenas[p].stay_offsets.size(); ++i) {
      const manifest::Stay& stay = plans[p]->program().stays[i];
      arenas[p].stay_offsets[i] = host_end;
      host_end += rounded_up(plans[p]->bytes(static_cast<std::size_t>(stay.buffer)));
    }
    largest.host_bytes = std::max(largest.host_bytes, host_end);
    largest.part_bytes = std::max(largest.part_bytes, arenas[p].part_bytes);
  }
  for (std::size_t p = 0; p < plans.size(); ++p) {
    arenas[p].bytes = largest.bytes;
    arenas[p].part_bytes = largest.part_bytes;
    arenas[p].accumulated_bytes = accumulated.bytes;
    arenas[p].host_bytes = largest.host_bytes;
    plans[p]->lie_in(std::move(arenas[p]));
  }
}

}  // namespace halftone
