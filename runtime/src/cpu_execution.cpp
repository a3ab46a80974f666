// SPDX-License-Identifier: Apache-2.0
#include "cpu_execution.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "floating_point.hpp"
#include "halftone/error.hpp"
#include "processor.hpp"
#include "text.hpp"

namespace halftone {

using manifest::Phase, manifest::Role;

CpuExecution::CpuExecution(const ProgramPlan& plan, std::shared_ptr<CpuMemory> memory)
    : plan_(plan),
      memory_(std::move(memory)),
      variant_(choose_variant()),
      packed_(plan, variant_),
      outcome_buffers_(outcome_buffers(plan)) {
  count_block_floats();
}

void CpuExecution::start() {
  plan_.device().pool().start();
  const manifest::ArenaPlan& arena = plan_.arena();
  if (!memory_->arena && arena.bytes > 0) memory_->arena = allocate(arena.bytes);
  if (!memory_->parts && part_bytes() > 0) memory_->parts = allocate(part_bytes());
  const std::size_t buffers = plan_.program().buffers.size();
  for (std::size_t i = 0; i < buffers; ++i) {
    if (const auto values = plan_.first_values(i); !values.empty()) write(i, 0, values);
  }
  if (!memory_->blocks) make_block_memory();
  make_packed_memory();
  planned_ = bind(plan_.planned());
  kept_.resize(buffers);
  for (std::size_t i : kept_buffers(plan_)) {
    kept_[i].resize(static_cast<std::size_t>(plan_.bytes(i)));
  }
}

std::size_t CpuExecution::choose_variant() const {
  const auto& offered = plan_.manifest().variants;
  const Device& device = plan_.device();
  for (const std::string& variant : device.variants()) {
    const auto found = std::ranges::find(offered, variant);
    if (found == offered.end()) continue;
    return static_cast<std::size_t>(found - offered.begin());
  }
  throw Error({.operation = plan_.who(),
               .object = named("model", plan_.manifest().model),
               .cause = "has code for " + listed(offered) + ", but the device '" + device.name() +
                        "' runs " + listed(device.variants()),
               .hint = "choose another device or make the artifact for this one"});
}

std::byte* CpuExecution::take(std::int64_t bytes) {
  constexpr std::int64_t kAlignment = manifest::kSlotAlignment;
  auto* address = static_cast<std::byte*>(memory_->source.allocate(bytes, kAlignment));
  if (reinterpret_cast<std::uintptr_t>(address) % kAlignment == 0) return address;
  throw Error({.operation = plan_.who(),
               .object = "the memory source of the device '" + plan_.device().name() + "'",
               .cause = "gave an address that is no multiple of " + std::to_string(kAlignment),
               .hint = "let its allocate() return what is aligned as its second argument says"});
}

std::byte* CpuExecution::allocate(std::int64_t bytes) {
  std::byte* address = take(bytes);
  if (!address) plan_.refuse_bytes(bytes);
  std::memset(address, 0, static_cast<std::size_t>(bytes));
  return address;
}

std::byte* CpuExecution::address(std::size_t index) const {
  const manifest::Buffer& buffer = plan_.buffer(index);
  std::byte* piece = buffer.role == Role::accumulated                ? memory_->accumulated
                     : manifest::is_of_part(plan_.program(), buffer) ? memory_->parts
                                                                     : memory_->arena;
  return piece + plan_.arena().slot_offsets[static_cast<std::size_t>(buffer.slot)];
}

std::int64_t CpuExecution::bytes_predicted() const {
  return plan_.arena().bytes + (memory_->accumulated ? plan_.arena().accumulated_bytes : 0) +
         part_bytes() + block_bytes() + memory_->packed_bytes + packed_.kept_bytes();
}

std::int64_t CpuExecution::part_bytes() const {
  return plan_.device().pool().threads() * plan_.arena().part_bytes;
}

void CpuExecution::write(std::size_t buffer, std::int64_t at, std::span<const std::byte> bytes) {
  packed_.forget(buffer);
  if (!bytes.empty()) std::memcpy(address(buffer) + at, bytes.data(), bytes.size());
}

void CpuExecution::copy(std::size_t buffer, std::int64_t to, std::int64_t from,
                        std::int64_t bytes) {
  packed_.forget(buffer);
  std::memcpy(address(buffer) + to, address(buffer) + from, static_cast<std::size_t>(bytes));
}

void CpuExecution::clear(std::size_t buffer, std::int64_t at, std::int64_t bytes) {
  packed_.forget(buffer);
  std::memset(address(buffer) + at, 0, static_cast<std::size_t>(bytes));
}

std::span<std::byte> CpuExecution::staged(std::size_t buffer) {
  return {address(buffer), static_cast<std::size_t>(plan_.bytes(buffer, in_use_->sizes))};
}

void CpuExecution::use(const Sizes& sizes) {
  if (sizes.symbols == plan_.planned().symbols) {
    in_use_ = &planned_;
  } else if (BoundPhases* kept = smaller_.find(sizes.symbols)) {
    in_use_ = kept;
  } else {
    in_use_ = &smaller_.add(sizes.symbols, bind(sizes), [](const BoundPhases&) { return true; });
  }
}

void CpuExecution::prepare_accumulation() {
  if (accumulates_) return;
  if (!memory_->accumulated && plan_.arena().accumulated_bytes > 0) {
    memory_->accumulated = allocate(plan_.arena().accumulated_bytes);
  }
  bind(planned_, Phase::accumulate);
  smaller_.for_each([this](BoundPhases& bound) { bind(bound, Phase::accumulate); });
  accumulates_ = true;
}

CpuExecution::BoundPhases CpuExecution::bind(const Sizes& sizes) {
  BoundPhases bound{.sizes = sizes};
  for (std::size_t phase = 0; phase < manifest::kPhases; ++phase) {
    if (static_cast<Phase>(phase) != Phase::accumulate || accumulates_) {
      bind(bound, static_cast<Phase>(phase));
    }
  }
  return bound;
}

void CpuExecution::bind(BoundPhases& bound, Phase phase) {
  std::vector<BoundStep> steps;
  try {
    const std::span<const manifest::Launch> all = plan_.launches(phase);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const manifest::Section* section = plan_.section_of(phase, i);
      if (!section) {
        steps.emplace_back(bind(all[i], bound.sizes, {}));
      } else if (static_cast<std::size_t>(section->first) != i) {
        continue;
      } else if (section->parts.empty()) {
        bind(steps, *section, bound.sizes);
      } else {
        steps.emplace_back(bind_parts(*section, bound.sizes));
      }
    }
  } catch (const std::overflow_error&) {
    refuse_tasks();
  }
  bound.phases[static_cast<std::size_t>(phase)] = std::move(steps);
}

/// All of a section's launches, chunk by chunk.
void CpuExecution::bind(std::vector<BoundStep>& steps, const manifest::Section& section,
                        const Sizes& sizes) {
  for (const auto& [chunk, begin] : plan_.chunks_of(section, sizes)) {
    for (const manifest::Launch& launch : plan_.launches_of(section)) {
      steps.emplace_back(bind(launch, chunk, {&section, begin}));
    }
  }
}

bool CpuExecution::side_by_side(const manifest::Section& section) const {
  return ProgramPlan::count_parts(section, plan_.planned()) >= plan_.device().pool().threads();
}

CpuExecution::PartPlace CpuExecution::place_of(const manifest::Argument& argument,
                                               const manifest::Section& section,
                                               const Sizes& sizes) const {
  const auto index = static_cast<std::size_t>(argument.buffer);
  const manifest::Buffer& buffer = plan_.buffer(index);
  PartPlace place{.first = address(index) + plan_.first_byte(argument),
                  .own = manifest::is_of_part(plan_.program(), buffer)};
  if (argument.parts == 0) return place;
  const auto [each, elements] = plan_.part_of(argument, section, sizes);
  place.each = each;
  place.stride = manifest::bytes_of(buffer.encoding, elements);
  return place;
}

CpuExecution::BoundParts CpuExecution::bind_parts(const manifest::Section& section,
                                                  const Sizes& sizes) {
  BoundParts parts;
  parts.count = ProgramPlan::count_parts(section, sizes);
  parts.side_by_side = side_by_side(section);
  for (const manifest::Launch& launch : plan_.launches_of(section)) {
    parts.launches.push_back(bind(launch, sizes, {&section, 0}));
    std::vector<PartPlace>& places = parts.places.emplace_back();
    for (const manifest::Argument& argument : launch.arguments) {
      places.push_back(place_of(argument, section, sizes));
    }
  }
  std::vector<std::vector<void*>> arguments;
  for (const BoundLaunch& launch : parts.launches) arguments.push_back(launch.arguments);
  parts.arguments.assign(static_cast<std::size_t>(plan_.device().pool().threads()), arguments);
  return parts;
}

/// Fewer rows may be cut in a way that takes more memory than the planned ones. Then they are cut
/// as those are, which fits.
manifest::BlockPlan CpuExecution::blocks_of(const manifest::Kernel& kernel, const Sizes& sizes,
                                            int threads) const {
  if (kernel.blocking.tiles.empty()) return {};
  const auto best = [&](const Sizes& of) {
    return manifest::plan_blocks(kernel, variant_, of.symbols, this_processor().caches, threads);
  };
  const manifest::BlockPlan plan = best(sizes);
  const Sizes& planned = plan_.planned();
  if (sizes.symbols == planned.symbols || plan.floats() <= memory_->block_floats) return plan;
  return manifest::plan_blocks(kernel, variant_, sizes.symbols, best(planned).blocks);
}

/// That share a launch of the section, or of none.
int CpuExecution::threads_of(const manifest::Section* section) const {
  const bool alone = section && !section->parts.empty() && side_by_side(*section);
  return alone ? 1 : plan_.device().pool().threads();
}

void CpuExecution::count_block_floats() {
  std::int64_t& most = memory_->block_floats;
  try {
    for (std::size_t phase = 0; phase < manifest::kPhases; ++phase) {
      const std::span launches = plan_.launches(static_cast<Phase>(phase));
      for (std::size_t i = 0; i < launches.size(); ++i) {
        const manifest::Section* section = plan_.section_of(static_cast<Phase>(phase), i);
        const manifest::Kernel& kernel = plan_.kernel(launches[i]);
        most = std::max(most, blocks_of(kernel, plan_.planned(), threads_of(section)).floats());
        find_packed(launches[i], section);
      }
    }
    memory_->packed_bytes = std::max(memory_->packed_bytes, packed_.shared_bytes());
  } catch (const std::overflow_error&) {
    refuse_tasks();
  }
}

/// Threads that have parts each for themselves pack for themselves, too.
void CpuExecution::find_packed(const manifest::Launch& launch, const manifest::Section* section) {
  if (section && !section->parts.empty()) return;
  const Sizes sizes =
      section ? plan_.chunks_of(*section, plan_.planned()).front().sizes : plan_.planned();
  packed_.add(launch, sizes, blocks_of(plan_.kernel(launch), sizes, threads_of(section)));
}

void CpuExecution::make_packed_memory() {
  const auto taken = [&](std::int64_t bytes) {
    std::byte* memory = bytes > 0 ? take(bytes) : nullptr;
    if (bytes > 0 && !memory) plan_.refuse_bytes(bytes);
    return memory;
  };
  if (!memory_->packed) memory_->packed = taken(memory_->packed_bytes);
  packed_.lie_in(taken(packed_.kept_bytes()), memory_->packed, memory_->packed_bytes);
}

void CpuExecution::make_block_memory() {
  const std::int64_t bytes = block_bytes();
  if (bytes == 0) return;
  memory_->blocks = reinterpret_cast<float*>(take(bytes));  // each thread writes what it reads
  if (memory_->blocks) return;
  throw Error({.operation = plan_.who(),
               .object = named("model", plan_.manifest().model),
               .cause = "needs " + std::to_string(bytes) + " bytes of memory for contractions on " +
                        std::to_string(plan_.device().threads()) + " threads, which the device '" +
                        plan_.device().name() + "' does not have",
               .hint = "free memory, or give the device fewer threads"});
}

std::int64_t CpuExecution::block_bytes() const {
  return plan_.device().pool().threads() * memory_->block_floats * std::int64_t{sizeof(float)};
}

void CpuExecution::refuse_tasks() const {
  plan_.refuse_launch("has a kernel with more than 2^62 tasks");
}

CpuExecution::BoundLaunch CpuExecution::bind(const manifest::Launch& launch, const Sizes& sizes,
                                             const Chunk& chunk) {
  const manifest::Kernel& kernel = plan_.kernel(launch);
  const void* const* entries = plan_.artifact().image().cpu_entries[variant_];
  const auto entry_at = [&](std::int32_t index) {
    return index < 0 ? nullptr : reinterpret_cast<CpuEntry>(const_cast<void*>(entries[index]));
  };
  BoundLaunch bound{entry_at(kernel.cpu_entry),
                    entry_at(kernel.cpu_finish),
                    {},
                    0,
                    blocks_of(kernel, sizes, threads_of(chunk.section)),
                    {},
                    sizes.symbols};
  bound.tasks = kernel.blocking.tiles.empty() ? manifest::task_count(kernel, sizes.symbols)
                                              : bound.blocks.tasks;
  std::vector<manifest::MemoryRange> ranges;
  for (const manifest::Argument& argument : launch.arguments) {
    const auto buffer = static_cast<std::size_t>(argument.buffer);
    std::byte* begin = address(buffer) + plan_.first_byte(argument);
    std::int64_t elements = plan_.elements(argument, sizes);
    if (chunk.section && argument.parts > 0) {
      elements = plan_.part_of(argument, *chunk.section, sizes).elements;
    } else if (chunk.section) {
      begin += plan_.bytes_before(argument, *chunk.section, sizes, chunk.begin);
    }
    bound.arguments.push_back(begin);
    ranges.push_back({begin, manifest::bytes_of(plan_.buffer(buffer).encoding, elements)});
  }
  bound.blocks.blocks.past_caches = manifest::past_caches(ranges, this_processor().caches);
  if (!chunk.section || chunk.section->parts.empty()) {
    bound.packing = packed_.find(launch, sizes, bound.blocks);
  }
  if (bound.packing) {
    bound.blocks.blocks.rhs = bound.packing->blocks.rhs;
    bound.blocks.blocks.panels = manifest::Panels::packed;
  }
  return bound;
}

void CpuExecution::run(std::span<const Phase> phases) {
  plan_.device().pool().start();  // before any kernel, so that none is left undone
  outcomes_.reserve(outcomes_.size() + 1);
  const ThreadPool::Use use(plan_.device().pool());
  for (Phase phase : phases) {
    for (std::size_t i = 0; phase == Phase::forward && i < kept_.size(); ++i) {
      if (!kept_[i].empty()) std::memcpy(kept_[i].data(), address(i), kept_[i].size());
    }
    if (phase == Phase::refresh) packed_.forget();
    for (BoundStep& step : in_use_->phases[static_cast<std::size_t>(phase)]) {
      std::visit([&](auto& bound) { run(bound); }, step);
    }
    if (phase != Phase::update) continue;
    const auto value = [&](std::optional<std::size_t> buffer, float otherwise) {
      return buffer ? *reinterpret_cast<const float*>(address(*buffer)) : otherwise;
    };
    outcomes_.push_back({value(outcome_buffers_.finite, 1.0f) != 0.0f,
                         static_cast<std::int64_t>(value(outcome_buffers_.floored, 0.0f))});
  }
}

void CpuExecution::run(Phase phase, std::size_t launch) {
  if (phase == Phase::refresh) packed_.forget();
  run(std::get<BoundLaunch>(in_use_->phases[static_cast<std::size_t>(phase)][launch]));
}

void CpuExecution::call(CpuEntry entry, const BoundLaunch& launch, void* const* arguments,
                        std::int64_t first, std::int64_t last, int slot) const {
  const StandardFloatingPoint mode;
  const manifest::CpuBlocks blocks =
      launch.blocks.in(memory_->blocks + slot * memory_->block_floats);
  entry(arguments, launch.symbols.data(), first, last, &blocks);
}

/// Its rhs, for all tasks, unless that is done.
void CpuExecution::pack(BoundLaunch& launch) {
  PackedOperands::Packing& packing = *launch.packing;
  if (packing.is_done && *packing.is_done) return;
  plan_.device().pool().run(
      packing.tasks, packing.work, [&](std::int64_t first, std::int64_t last, int) {
        const StandardFloatingPoint mode;
        launch.entry(launch.arguments.data(), launch.symbols.data(), first, last, &packing.blocks);
      });
  if (packing.is_done) *packing.is_done = true;
}

void CpuExecution::run(BoundLaunch& launch) {
  if (launch.packing) pack(launch);
  // A contraction's finish takes a maximum, which its tasks raise.
  if (launch.finish && launch.blocks.tasks > 0)
    *static_cast<float*>(launch.arguments.back()) = 0.0f;
  plan_.device().pool().run(
      launch.tasks, launch.work, [&](std::int64_t first, std::int64_t last, int slot) {
        call(launch.entry, launch, launch.arguments.data(), first, last, slot);
      });
  if (launch.finish) call(launch.finish, launch, launch.arguments.data(), 0, 1, 0);
}

/// Puts the addresses of a part, and of what the thread of `slot` has for itself.
void CpuExecution::place(const BoundParts& parts, std::size_t launch, std::int64_t part, int slot,
                         std::vector<void*>& arguments) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const PartPlace& at = parts.places[launch][i];
    const std::int64_t own = at.own ? slot * plan_.arena().part_bytes : 0;
    arguments[i] = at.first + own + part / at.each * at.stride;
  }
}

void CpuExecution::run(BoundParts& parts) {
  if (!parts.side_by_side) {
    for (std::int64_t part = 0; part < parts.count; ++part) {
      for (std::size_t i = 0; i < parts.launches.size(); ++i) {
        place(parts, i, part, 0, parts.launches[i].arguments);
        run(parts.launches[i]);
      }
    }
    return;
  }
  plan_.device().pool().run(
      parts.count, parts.work, [&](std::int64_t first, std::int64_t last, int slot) {
        auto& arguments = parts.arguments[static_cast<std::size_t>(slot)];
        for (std::int64_t part = first; part < last; ++part) {
          for (std::size_t i = 0; i < parts.launches.size(); ++i) {
            const BoundLaunch& launch = parts.launches[i];
            place(parts, i, part, slot, arguments[i]);
            call(launch.entry, launch, arguments[i].data(), 0, launch.tasks, slot);
          }
        }
      });
}

}  // namespace halftone
