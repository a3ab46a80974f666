// SPDX-License-Identifier: Apache-2.0
// Sizes with the symbols bound: elements, tasks, blocks, the arena and workspaces. Every product
// and sum is checked.
#include "halftone/manifest/plan.hpp"

#include <algorithm>
#include <numeric>

#include "halftone/encoding/traits.hpp"
#include "sizes.hpp"
#include "verify.hpp"

namespace halftone::manifest {
namespace {

std::int64_t count_of(const std::vector<TaskAxis>& axes, std::span<const std::int64_t> symbols) {
  std::int64_t count = 1;
  for (const TaskAxis& axis : axes) {
    count = times(count, plus(elements(axis.extent, symbols), axis.tile - 1) / axis.tile);
  }
  return count;
}

std::int64_t rounded_up(std::int64_t value, std::int64_t to) {
  return plus(value, to - 1) / to * to;
}

}  // namespace

std::int64_t bytes_of(const Encoding& encoding, std::int64_t elements) {
  const int bits = encoding::traits(encoding.element).bits;
  return plus(times(elements / 8, bits), encoding::storage_bytes(encoding.element, elements % 8));
}

std::int64_t elements(std::span<const Dimension> shape, std::span<const std::int64_t> symbols) {
  std::int64_t count = 1;
  for (const Dimension& dimension : shape) {
    std::int64_t length = dimension.extent;
    if (dimension.symbol >= 0) {
      const std::int64_t bound = symbols[static_cast<std::size_t>(dimension.symbol)];
      length = times(length, plus(bound, dimension.divisor - 1) / dimension.divisor);
      length = std::max<std::int64_t>(plus(length, dimension.added), 0);
    }
    count = times(count, length);
  }
  return count;
}

std::int64_t task_count(const Kernel& kernel, std::span<const std::int64_t> symbols) {
  return count_of(kernel.tasks, symbols);
}

const Limit* find_exceeded(const Manifest& manifest, std::span<const std::int64_t> symbols) {
  const auto found = std::ranges::find_if(manifest.limits, [&](const Limit& limit) {
    const std::int64_t bound = symbols[static_cast<std::size_t>(limit.symbol)];
    return bound > limit.most || (bound != 0 && bound < limit.least);
  });
  return found == manifest.limits.end() ? nullptr : &*found;
}

std::string reason_of(const Limit& limit) {
  if (limit.parameter.empty()) return quoted("layer", limit.layer) + " " + limit.reason;
  return quoted("layer", limit.layer) + " has " + std::to_string(limit.most) +
         (limit.most == 1 ? " time, the row of " : " times, the rows of ") +
         quoted("parameter", limit.parameter);
}

std::string added_text(const Dimension& dimension) {
  if (dimension.added == 0) return {};
  return (dimension.added < 0 ? " - " : " + ") + std::to_string(std::abs(dimension.added));
}

std::int64_t split_count(const Split& split, std::span<const std::int64_t> symbols) {
  if (split.most == 1) return 1;
  const std::int64_t parts = plus(elements(split.depth, symbols), split.least - 1) / split.least;
  return std::clamp<std::int64_t>(parts, 1, split.most);
}

std::int64_t block_count(const CudaKernel& kernel, std::span<const std::int64_t> symbols) {
  return times(count_of(kernel.blocks, symbols), split_count(kernel.split, symbols));
}

std::int64_t grid_size(const CudaKernel& kernel, std::span<const std::int64_t> symbols,
                       std::int64_t multiprocessors) {
  const std::int64_t all = block_count(kernel, symbols);
  if (kernel.resident == 0 || multiprocessors <= 0) return all;
  return std::min(all, times(multiprocessors, kernel.resident));
}

WorkspacePlan plan_workspace(const CudaKernel& kernel, std::span<const std::int64_t> symbols) {
  WorkspacePlan plan;
  for (const Work& part : kernel.workspace) {
    std::int64_t bytes = times(part.bytes, count_of(part.count, symbols));
    if (part.per_split) bytes = times(bytes, split_count(kernel.split, symbols));
    plan.offsets.push_back(plan.bytes);
    plan.bytes = plus(plan.bytes, rounded_up(bytes, kWorkAlignment));
  }
  return plan;
}

std::int64_t chunk_of(const Section& section, std::span<const std::int64_t> symbols) {
  const std::int64_t all = symbols[static_cast<std::size_t>(section.symbol)];
  const std::int64_t inner = elements(section.inner, symbols);
  const std::int64_t least = section.multiple / std::gcd(section.multiple, inner);
  const std::int64_t fitting = section.rows / inner / least * least;
  return std::min(std::max(fitting, least), all);
}

std::int64_t elements(const Program& program, const Buffer& buffer,
                      std::span<const std::int64_t> symbols) {
  if (buffer.section < 0) return elements(buffer.shape, symbols);
  const Section& section = program.sections[static_cast<std::size_t>(buffer.section)];
  if (!section.parts.empty()) return elements(buffer.shape, symbols);
  std::vector<std::int64_t> of_chunk(symbols.begin(), symbols.end());
  of_chunk[static_cast<std::size_t>(section.symbol)] = chunk_of(section, symbols);
  return elements(buffer.shape, of_chunk);
}

const Section* section_of(const Program& program, std::size_t phase, std::size_t launch) {
  for (const Section& section : program.sections) {
    const auto behind = static_cast<std::int64_t>(launch) - section.first;
    if (static_cast<std::size_t>(section.phase) == phase && behind >= 0 && behind < section.count) {
      return &section;
    }
  }
  return nullptr;
}

bool is_of_part(const Program& program, const Buffer& buffer) {
  return buffer.section >= 0 &&
         !program.sections[static_cast<std::size_t>(buffer.section)].parts.empty();
}

ArenaPlan plan_arena(const Program& program, std::span<const std::int64_t> symbols,
                     bool has_own_memory) {
  ArenaPlan plan;
  for (const Slot& slot : program.slots) {
    std::int64_t largest = 0;
    std::int64_t* bytes_so_far = &plan.bytes;
    for (std::int32_t tenant : slot.tenants) {
      const Buffer& buffer = program.buffers[static_cast<std::size_t>(tenant)];
      const std::int64_t bytes = bytes_of(buffer.encoding, elements(program, buffer, symbols));
      if (bytes > largest) largest = bytes;
      if (buffer.role == Role::accumulated) bytes_so_far = &plan.accumulated_bytes;
      if (is_of_part(program, buffer)) bytes_so_far = &plan.part_bytes;
      if (buffer.in_host && has_own_memory) bytes_so_far = &plan.host_bytes;
    }
    plan.slot_offsets.push_back(*bytes_so_far);
    *bytes_so_far = plus(*bytes_so_far, rounded_up(largest, kSlotAlignment));
  }
  for (const Stay& stay : program.stays) {
    const Buffer& buffer = program.buffers[static_cast<std::size_t>(stay.buffer)];
    const std::int64_t bytes =
        rounded_up(bytes_of(buffer.encoding, elements(buffer.shape, symbols)), kSlotAlignment);
    plan.stay_offsets.push_back(plan.host_bytes);
    plan.host_bytes = plus(plan.host_bytes, bytes);
    plan.stay_bytes = plus(plan.stay_bytes, bytes);
  }
  return plan;
}

std::int64_t activation_bytes(const Program& program, std::span<const std::int64_t> symbols) {
  Program of_activations = program;
  std::erase_if(of_activations.slots, [&](const Slot& slot) {
    const auto role_of = [&](std::int32_t tenant) {
      return program.buffers[static_cast<std::size_t>(tenant)].role;
    };
    return slot.tenants.empty() || role_of(slot.tenants.front()) != Role::activation;
  });
  return plan_arena(of_activations, symbols).bytes;
}

}  // namespace halftone::manifest
