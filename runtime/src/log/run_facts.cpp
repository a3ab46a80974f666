// SPDX-License-Identifier: Apache-2.0
// What a trainer is, for logs: sizes, rules, memory, and which kernel reads and writes what.
#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "../trainer_state.hpp"
#include "halftone/encoding/text.hpp"
#include "halftone/manifest/spelling.hpp"
#include "halftone/manifest/version.hpp"
#include "halftone/run_log.hpp"

namespace halftone {
namespace {

using manifest::Buffer;
using manifest::Launch;
using manifest::Phase;
using manifest::Program;
using manifest::Role;

std::int64_t rounded_up(std::int64_t bytes) {
  return (bytes + manifest::kSlotAlignment - 1) / manifest::kSlotAlignment *
         manifest::kSlotAlignment;
}

/// By role and format; a slot's bytes are those of its largest tenant. With the workspace they are
/// all that was predicted, beside what lies in the host's memory.
std::vector<RunFacts::Memory> memory_of(const BoundProgram& program) {
  const ProgramPlan& plan = program.plan();
  std::map<std::tuple<Role, std::string, bool>, RunFacts::Memory> memory;
  const auto of = [&](std::size_t index) -> RunFacts::Memory& {
    const Buffer& buffer = plan.buffer(index);
    std::string format = spelled(buffer.encoding);
    const bool in_host = plan.lies_in_host(index);
    RunFacts::Memory& entry = memory[{buffer.role, format, in_host}];
    entry.role = spelled(buffer.role);
    if (in_host) entry.role += " in the host's memory";
    entry.format = std::move(format);
    return entry;
  };
  for (const manifest::Slot& slot : program.program().slots) {
    std::size_t largest = 0;
    for (const std::int32_t tenant : slot.tenants) {
      const auto index = static_cast<std::size_t>(tenant);
      ++of(index).tensors;
      if (tenant == slot.tenants.front() || plan.bytes(index) > plan.bytes(largest))
        largest = index;
    }
    const bool counts = !slot.tenants.empty() &&  // what threads have for themselves is workspace
                        !manifest::is_of_part(program.program(), plan.buffer(largest));
    if (counts) of(largest).bytes += rounded_up(plan.bytes(largest));
  }
  std::vector<RunFacts::Memory> list;
  for (const auto& [key, entry] : memory) list.push_back(entry);
  std::map<std::string, RunFacts::Memory> stays;  // by format (P98)
  for (const manifest::Stay& stay : program.program().stays) {
    const auto index = static_cast<std::size_t>(stay.buffer);
    const std::string format = spelled(plan.buffer(index).encoding);
    RunFacts::Memory& entry = stays[format];
    entry.role = "activation in the host's memory";
    entry.format = format;
    ++entry.tensors;
    entry.bytes += rounded_up(plan.bytes(index));
  }
  for (const auto& [key, entry] : stays) list.push_back(entry);
  const std::int64_t workspace = program.execution().bytes_predicted() - plan.arena().bytes;
  if (workspace > 0) list.push_back({.role = "workspace", .format = "", .bytes = workspace});
  return list;
}

/// A buffer that has no name of its own is known by a value that lies in it.
std::vector<RunFacts::Buffer> buffers_of(const BoundProgram& bound) {
  const Program& program = bound.program();
  std::vector<RunFacts::Buffer> buffers;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    buffers.push_back({buffer.name, spelled(buffer.encoding), bound.plan().bytes(i)});
  }
  for (const manifest::Value& value : program.values) {
    if (value.buffer < 0) continue;
    std::string& name = buffers[static_cast<std::size_t>(value.buffer)].name;
    if (!name.starts_with('%')) continue;
    name = (value.role == manifest::ValueRole::gradient ? "d " : "") + value.name;
  }
  return buffers;
}

/// Whether a launch writes an argument, from what the manifest says of its buffer. `again`: the
/// launch has it for the second time, and inputs come before results. What one step makes and later
/// launches of the step read is written where it first occurs.
bool is_written(Role role, Phase phase, bool again, bool made) {
  switch (role) {
    case Role::activation:
    case Role::output:
    case Role::input_gradient:
    case Role::loss:
    case Role::statistic:
      return !made;
    case Role::gradients:
      return phase == Phase::backward;
    case Role::working_copies:
    case Role::state:
      return phase == Phase::update;
    default:
      return again;
  }
}

void add(std::vector<std::int32_t>& buffers, std::int32_t buffer) {
  if (std::ranges::find(buffers, buffer) == buffers.end()) buffers.push_back(buffer);
}

/// `made`: the buffers that launches before it wrote.
RunFacts::Kernel kernel_of(const BoundProgram& bound, const Launch& launch, Phase phase,
                           std::vector<bool>& made) {
  const manifest::Kernel& kernel = bound.plan().kernel(launch);
  RunFacts::Kernel facts{.phase = std::string(spelled(phase)),
                         .name = kernel.name,
                         .skeleton = kernel.skeleton,
                         .fused = launch.fused,
                         .reads = {},
                         .writes = {}};
  for (auto at = launch.arguments.begin(); at != launch.arguments.end(); ++at) {
    const auto buffer = static_cast<std::size_t>(at->buffer);
    const bool again = std::find(launch.arguments.begin(), at, *at) != at;
    const Role role = bound.plan().buffer(buffer).role;
    add(is_written(role, phase, again, made[buffer]) ? facts.writes : facts.reads, at->buffer);
  }
  for (const std::int32_t buffer : facts.writes) made[static_cast<std::size_t>(buffer)] = true;
  return facts;
}

std::vector<RunFacts::Kernel> kernels_of(const BoundProgram& bound) {
  std::vector<RunFacts::Kernel> kernels;
  std::vector<bool> made(bound.program().buffers.size(), false);
  for (const manifest::PhaseForm& form : manifest::kPhaseForms) {
    if (form.run_by != manifest::RunBy::step) continue;
    for (const Launch& launch : bound.plan().launches(form.phase))
      kernels.push_back(kernel_of(bound, launch, form.phase, made));
  }
  return kernels;
}

std::vector<RunFacts::Cast> casts_of(const BoundProgram& bound) {
  std::vector<RunFacts::Cast> casts;
  for (const manifest::Cast& cast : bound.program().casts) {
    const manifest::Value& value = bound.program().values[static_cast<std::size_t>(cast.value)];
    casts.push_back(
        {.value = value.name,
         .role = std::string(spelled(value.role)),
         .from = std::string(encoding::word(cast.from.element)),
         .to = std::string(encoding::word(cast.to.element)) + (cast.to.saturate ? " saturate" : ""),
         .kernel = cast.kernel,
         .rule = cast.rule < 0 ? "" : bound.manifest().rules[static_cast<std::size_t>(cast.rule)],
         .own_launch = cast.own_launch});
  }
  return casts;
}

void count_parameters(const manifest::Manifest& manifest, RunFacts& facts) {
  for (const manifest::Parameter& parameter : manifest.parameters) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : parameter.shape) elements *= extent;
    ++facts.parameter_tensors;
    facts.parameters += elements;
    if (!parameter.trained) continue;
    facts.trained_parameters += elements;
    facts.trained.push_back(parameter.name);
  }
}

}  // namespace

RunFacts facts_of(const Trainer& trainer) {
  const Statistics statistics = trainer.stats();
  const auto state = trainer.use("facts_of");
  const BoundProgram& bound = state->program;
  const manifest::Manifest& manifest = bound.manifest();
  const Device& device = bound.plan().device();
  RunFacts facts;
  facts.name = facts.model = manifest.model;
  facts.halftone_version = kVersionOfHalftone;
  facts.rules = manifest.rules;
  facts.losses = manifest.losses;
  facts.loss_scale = spelled(manifest.loss_scale.kind);
  facts.device = device.name();
  facts.hardware = device.description();
  facts.variant = statistics.variant;
  facts.threads = device.threads();
  for (std::size_t i = 0; i < manifest.symbols.size(); ++i)
    facts.sizes.emplace_back(manifest.symbols[i], bound.plan().symbols()[i]);
  facts.seed = state->step.seed();
  facts.started =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  facts.first_step = statistics.steps;
  facts.first_skipped_steps = statistics.skipped_steps;
  count_parameters(manifest, facts);
  facts.memory = memory_of(bound);
  facts.buffers = buffers_of(bound);
  facts.kernels = kernels_of(bound);
  facts.casts = casts_of(bound);
  return facts;
}

}  // namespace halftone
