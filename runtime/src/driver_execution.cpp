// SPDX-License-Identifier: Apache-2.0
#include "driver_execution.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>
#include <utility>

#include "halftone/error.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/manifest/spelling.hpp"
#include "text.hpp"
#include "workspace.hpp"

namespace halftone {
namespace {

using manifest::Phase, manifest::Role;

std::shared_ptr<OwnedStream> stream_of(const ProgramPlan& plan) {
  OwnedStream owned = make_stream(plan.who(), *plan.device().driver());
  return std::make_shared<OwnedStream>(std::move(owned));
}

std::vector<std::size_t> kernels_of(const manifest::Program& program) {
  std::set<std::size_t> kernels;
  for (const auto& phase : program.phases) {
    for (const manifest::Launch& launch : phase) {
      kernels.insert(static_cast<std::size_t>(launch.kernel));
    }
  }
  return {kernels.begin(), kernels.end()};
}

/// Kernels of sections run with the sizes of chunks, so none is made for the planned sizes alone.
std::vector<std::size_t> without_sections(std::vector<std::size_t> kernels,
                                          const ProgramPlan& plan) {
  for (const manifest::Section& section : plan.program().sections) {
    for (const manifest::Launch& launch : plan.launches_of(section)) {
      std::erase(kernels, static_cast<std::size_t>(launch.kernel));
    }
  }
  return kernels;
}

/// That one of the plans needs.
std::int64_t largest_workspace(std::span<const ProgramPlan* const> plans) {
  std::int64_t most = 0;
  for (const ProgramPlan* plan : plans) {
    try {
      const auto kernels = kernels_of(plan->program());
      most = std::max(most, plan_workspaces(*plan->target(), kernels, plan->symbols()).bytes);
    } catch (const std::overflow_error&) {
      plan->refuse_size("needs more than 2^62 bytes of memory");
    }
  }
  return most;
}

/// Whether only write() changes it.
bool is_the_hosts(Role role) { return role == Role::hyperparameter; }

/// Whether what the phase writes goes from step to step.
bool changes_what_persists(Phase phase) {
  return phase == Phase::accumulate || phase == Phase::check || phase == Phase::update;
}

}  // namespace

DriverExecution::DriverExecution(const ProgramPlan& plan, std::span<const ProgramPlan* const> turns,
                                 const DriverExecution* first)
    : plan_(plan),
      context_(plan.device().driver()),
      stream_(first ? first->stream_ : stream_of(plan)),
      kernels_(kernels_of(plan.program())),
      whole_(without_sections(kernels_, plan)),
      memory_(plan, *context_, stream_->get(), kernels_, largest_workspace(turns),
              first ? &first->memory_ : nullptr),
      general_(load(images_of(plan, *context_, kernels_), kernels_)),
      in_use_(&general_->planned),
      runs_(plan, *context_, memory_, stream_->get(), first ? &first->runs_ : nullptr),
      transfers_(),
      kept_buffers_(halftone::kept_buffers(plan)),
      mirrors_(plan.program().buffers.size()) {
  if (memory_.has_host_parts()) transfers_.emplace(plan.who(), *context_, stream_->get());
  if (!plan.program().stays.empty()) {
    std::vector<std::int32_t> slots;
    for (const manifest::Buffer& buffer : plan.program().buffers) slots.push_back(buffer.slot);
    stays_.emplace(plan.who(), *context_, stream_->get(), memory_.stays(), std::move(slots));
  }
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    if (is_the_hosts(plan.buffer(i).role)) {  // as memory_ filled it
      mirrors_[i] = {std::vector<std::byte>(static_cast<std::size_t>(plan.bytes(i))), false};
    }
    if (const auto values = plan.first_values(i); !values.empty()) write(i, 0, values);
  }
}

std::unique_ptr<DriverExecution::Loaded> DriverExecution::load(
    const KernelImages& images, std::span<const std::size_t> kernels) {
  auto loaded = std::make_unique<Loaded>(Loaded{DriverModules(plan_, *context_, kernels, images)});
  loaded->planned = bind(loaded->modules, plan_.planned());
  return loaded;
}

void DriverExecution::use(const Sizes& sizes) {
  if (sizes.symbols == plan_.planned().symbols) {
    in_use_ = &(special_ ? special_ : general_)->planned;
  } else if (BoundPhases* kept = smaller_.find(sizes.symbols)) {
    in_use_ = kept;
  } else {
    const auto is_done = [this](const BoundPhases& old) { return runs_.done() > old.used; };
    in_use_ = &smaller_.add(sizes.symbols, bind(general_->modules, sizes), is_done);
  }
  mark_stale();  // what was read of a buffer may be less than it has
}

DriverExecution::~DriverExecution() { (void)context_->driver().synchronise(stream_->get()); }

void DriverExecution::begin_turn() {
  memory_.zero_workspaces(kernels_);
  forget_what_was_read();
}

void DriverExecution::forget_what_was_read() {
  for (Mirror& mirror : mirrors_) mirror.stale = true;
}

std::string DriverExecution::variant() const {
  const std::string &chip = context_->properties().chip, &target = plan_.target()->chip;
  const std::string& made = plan_.architecture();
  const std::string special = specialisation_ ? ", " + specialisation_->text() : "";
  if (target.starts_with(chip) || chip.starts_with(target)) return target + special;
  return target + " on " + chip + (made.starts_with(chip) ? "" : " as " + made) + special;
}

void DriverExecution::prepare_accumulation() {
  memory_.allocate_accumulated();
  const auto bind_late = [this](BoundPhases& bound) {
    if (bound.phases[static_cast<std::size_t>(Phase::accumulate)].empty()) {
      bind(bound, Phase::accumulate);
    }
  };
  bind_late(general_->planned);
  if (special_) bind_late(special_->planned);
  smaller_.for_each(bind_late);
}

DriverExecution::BoundPhases DriverExecution::bind(const DriverModules& modules,
                                                   const Sizes& sizes) const {
  BoundPhases bound{.modules = &modules, .sizes = sizes};
  for (std::size_t phase = 0; phase < manifest::kPhases; ++phase) {
    const bool has_memory = static_cast<Phase>(phase) != Phase::accumulate || memory_.accumulates();
    if (has_memory) bind(bound, static_cast<Phase>(phase));
  }
  return bound;
}

void DriverExecution::bind(BoundPhases& bound, Phase phase) const {
  std::vector<BoundLaunch> launches;
  const std::span<const manifest::Launch> all = plan_.launches(phase);
  std::vector<std::vector<std::size_t>> places(all.size());
  std::size_t with_parts = 0;
  const auto add = [&](std::size_t launch, const DriverModules& modules, LaunchPlace place) {
    place.of_parts = with_parts % Transfers::kPlaces;
    places[launch].push_back(launches.size());
    launches.push_back(bind_launch({plan_, *context_, memory_, modules}, all[launch], place));
    if (!launches.back().parts.empty()) ++with_parts;
  };
  // While the first kernels are loaded, they are the ones that are bound.
  const DriverModules& general = general_ ? general_->modules : *bound.modules;
  try {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const manifest::Section* section = plan_.section_of(phase, i);
      if (!section) {
        add(i, *bound.modules, {bound.sizes});
      } else if (static_cast<std::size_t>(section->first) == i) {
        const std::size_t end = i + static_cast<std::size_t>(section->count);
        for (const auto& [chunk, begin] : plan_.chunks_of(*section, bound.sizes)) {
          for (std::size_t of = i; of < end; ++of) add(of, general, {chunk, section, begin});
        }
      }
    }
  } catch (const std::overflow_error&) {
    plan_.refuse_launch("has a kernel with more than 2^62 blocks");
  }
  bound.phases[static_cast<std::size_t>(phase)] = std::move(launches);
  bound.places[static_cast<std::size_t>(phase)] = std::move(places);
}

void DriverExecution::launch(const BoundLaunch& bound) {
  std::vector<const void*> parameters;
  for (const EncodedMap& map : bound.maps) parameters.push_back(&map);
  for (const std::uint64_t& value : bound.values) parameters.push_back(&value);
  DriverLaunch launch = bound.shape;
  launch.parameters = parameters;
  context_->run("launch", context_->kernel_text(bound.entry), [&](Driver& driver) {
    return driver.launch(bound.function, launch, stream_->get());
  });
}

std::string DriverExecution::text_of(std::span<const Phase> phases) {
  std::string text = "the kernels of ";
  for (Phase phase : phases) {
    text += (phase == phases.front() ? "" : ", ") + std::string(manifest::spelled(phase));
  }
  return text;
}

void DriverExecution::run(std::span<const Phase> phases) {
  in_flight_ = text_of(phases);
  if (phases.front() == Phase::forward) specialise();
  const bool checks = context_->options().checks_launches;
  const DriverGraph graph = checks ? DriverGraph{} : this->graph(phases);
  const bool is_refresh = phases.front() == Phase::refresh;  // goes before the run of the inputs
  const bool updates = std::ranges::find(phases, Phase::update) != phases.end();
  const bool was_torn = is_torn();
  if (!is_refresh) runs_.begin(in_flight_, updates);
  mark_stale();
  if (checks) {
    put_on_stream(*in_use_, phases);
  } else {
    context_->run("launch", in_flight_,
                  [&](Driver& driver) { return driver.launch(graph, stream_->get()); });
    if (std::ranges::any_of(phases, changes_what_persists)) tear();
  }
  if (!is_refresh) runs_.end();
  set_torn(was_torn);
  in_use_->used = runs_.ended();
}

void DriverExecution::forget_runs() {
  synchronise();
  runs_.forget();
}

std::vector<Outcome> DriverExecution::outcomes(bool all) {
  if (all && runs_.any()) synchronise();
  return runs_.take_outcomes();
}

void DriverExecution::run(Phase phase, std::size_t index) {
  const auto of = static_cast<std::size_t>(phase);
  mark_stale();
  for (const std::size_t place : in_use_->places[of][index]) {
    const BoundLaunch& bound = in_use_->phases[of][place];
    in_flight_ = context_->kernel_text(bound.entry);
    const BoundLaunch* const alone[] = {&bound};
    begin_copies(*in_use_, alone);
    launch_beside_copies(bound);
    end_copies();
  }
}

DriverGraph DriverExecution::graph(std::span<const Phase> phases) {
  std::uint32_t set = 0;
  for (Phase phase : phases) set |= 1u << static_cast<unsigned>(phase);
  if (!in_use_->graphs.contains(set)) capture(*in_use_, set, phases);
  return in_use_->graphs.at(set).graph.get();
}

void DriverExecution::capture(BoundPhases& bound, std::uint32_t set,
                              std::span<const Phase> phases) {
  const std::string what = text_of(phases);
  context_->run("capture", what,
                [&](Driver& driver) { return driver.begin_capture(stream_->get()); });
  DriverGraph graph{};
  try {
    put_on_stream(bound, phases);
  } catch (...) {  // the stream must not stay in capture
    if (context_->driver().end_capture(stream_->get(), graph).ok()) {
      (void)context_->driver().destroy_graph(graph);
    }
    throw;
  }
  context_->run("capture", what,
                [&](Driver& driver) { return driver.end_capture(stream_->get(), graph); });
  OwnedGraph owned(context_->driver(), graph);  // before anything that may throw
  bound.graphs[set] = {{phases.begin(), phases.end()}, std::move(owned)};
}

/// What the launches see of the host's memory begins to come in front of the first of them.
void DriverExecution::begin_copies(const BoundPhases& of,
                                   std::span<const BoundLaunch* const> launches) {
  if (transfers_) {
    std::vector<const std::vector<HostPart>*> parts;
    for (const BoundLaunch* bound : launches) {
      if (!bound->parts.empty()) parts.push_back(&bound->parts);
    }
    transfers_->begin(std::move(parts));
  }
  if (stays_) {
    std::vector<std::span<const std::size_t>> buffers;
    for (const BoundLaunch* bound : launches) buffers.emplace_back(bound->buffers);
    std::vector<std::int64_t> bytes;
    for (const HostStay& stay : stays_->stays())
      bytes.push_back(plan_.bytes(stay.buffer, of.sizes));
    stays_->begin(buffers, std::move(bytes));
  }
}

void DriverExecution::launch_beside_copies(const BoundLaunch& bound) {
  if (!bound.parts.empty()) transfers_->before_launch();
  if (stays_) stays_->before_launch();
  launch(bound);
  if (!bound.parts.empty()) transfers_->after_launch();
  if (stays_) stays_->after_launch();
}

void DriverExecution::end_copies() {
  if (transfers_) transfers_->end();
  if (stays_) stays_->end();
}

void DriverExecution::put_on_stream(const BoundPhases& all, std::span<const Phase> phases) {
  std::vector<const BoundLaunch*> launches;
  for (Phase phase : phases) {
    for (const BoundLaunch& bound : all.phases[static_cast<std::size_t>(phase)]) {
      launches.push_back(&bound);
    }
  }
  begin_copies(all, launches);
  for (Phase phase : phases) {
    if (phase == Phase::forward) keep();
    for (const BoundLaunch& bound : all.phases[static_cast<std::size_t>(phase)]) {
      put_on_stream(bound, changes_what_persists(phase));
    }
  }
  end_copies();
}

/// A checked one is waited for, so that an error is the kernel's own.
void DriverExecution::put_on_stream(const BoundLaunch& bound, bool changes_what_persists) {
  const bool checks = context_->options().checks_launches;
  if (checks && changes_what_persists) tear();
  launch_beside_copies(bound);
  if (!checks) return;
  in_flight_ = context_->kernel_text(bound.entry);
  synchronise();
}

/// Between two steps. Programs for diagnosis never get here.
void DriverExecution::specialise() {
  if (context_->options().jit != Jit::background || plan_.symbols().empty()) return;
  if (!specialisation_) {
    specialisation_ = std::make_unique<Specialisation>(plan_, context_, whole_);
  } else if (const auto images = specialisation_->take()) {
    exchange(*images);
  }
}

/// All of it or nothing. What a failed device makes of it is told by the run that follows. Fewer
/// rows than planned run on the kernels for all sizes, which stay.
void DriverExecution::exchange(const KernelImages& images) {
  try {
    auto special = load(images, whole_);
    BoundPhases& planned = general_->planned;
    for (const auto& [set, captured] : planned.graphs) {
      capture(special->planned, set, captured.phases);
    }
    special_ = std::move(special);
    if (in_use_ == &planned) in_use_ = &special_->planned;
  } catch (const std::exception& error) {
    specialisation_->fail(error.what());
  }
}

void DriverExecution::keep() {
  for (std::size_t i : kept_buffers_) {
    context_->run("copy", named("buffer", plan_.buffer(i).name), [&](Driver& driver) {
      return driver.copy(memory_.kept(i), memory_.buffer(i), plan_.bytes(i), stream_->get());
    });
  }
}

void DriverExecution::mark_stale() {
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    if (!is_the_hosts(plan_.buffer(i).role)) mirrors_[i].stale = true;
  }
}

void DriverExecution::synchronise() {
  context_->run("launch", in_flight_.empty() ? "the device" : in_flight_,
                [&](Driver& driver) { return driver.synchronise(stream_->get()); });
  runs_.all_done();
}

void DriverExecution::copy_out(std::span<std::byte> to, DeviceAddress from,
                               const std::string& what) {
  context_->run("read", named("buffer", what),
                [&](Driver& driver) { return driver.copy_out(to, from, stream_->get()); });
  synchronise();
}

const std::byte* DriverExecution::read(std::size_t index) {
  if (memory_.host(index)) {
    synchronise();
    return memory_.host(index);
  }
  Mirror& mirror = mirrors_[index];
  if (mirror.stale) {
    mirror.bytes.resize(static_cast<std::size_t>(plan_.bytes(index)));
    const auto bytes = static_cast<std::size_t>(plan_.bytes(index, in_use_->sizes));
    copy_out(std::span(mirror.bytes).first(bytes), memory_.buffer(index), plan_.buffer(index).name);
    mirror.stale = false;
  }
  return mirror.bytes.data();
}

std::span<const std::byte> DriverExecution::read_part(std::size_t index, std::int64_t at,
                                                      std::int64_t bytes) {
  const auto count = static_cast<std::size_t>(bytes);
  if (memory_.host(index)) return {read(index) + at, count};
  if (!mirrors_[index].stale) return std::span(mirrors_[index].bytes).subspan(at, count);
  part_.resize(count);
  copy_out(part_, memory_.buffer(index) + static_cast<DeviceAddress>(at), plan_.buffer(index).name);
  return part_;
}

void DriverExecution::write(std::size_t index, std::int64_t at, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (std::byte* const host = memory_.host(index)) {
    synchronise();
    std::memcpy(host + at, bytes.data(), bytes.size());
    return;
  }
  const DeviceAddress to = memory_.buffer(index) + static_cast<DeviceAddress>(at);
  context_->run("write", named("buffer", plan_.buffer(index).name),
                [&](Driver& driver) { return driver.copy_in(to, bytes, stream_->get()); });
  Mirror& mirror = mirrors_[index];
  if (!mirror.stale) std::memcpy(mirror.bytes.data() + at, bytes.data(), bytes.size());
}

void DriverExecution::copy(std::size_t buffer, std::int64_t to, std::int64_t from,
                           std::int64_t bytes) {
  if (std::byte* const host = memory_.host(buffer)) {
    synchronise();
    std::memcpy(host + to, host + from, static_cast<std::size_t>(bytes));
    return;
  }
  const DeviceAddress begin = memory_.buffer(buffer);
  context_->run("copy", named("buffer", plan_.buffer(buffer).name), [&](Driver& driver) {
    return driver.copy(begin + static_cast<DeviceAddress>(to),
                       begin + static_cast<DeviceAddress>(from), bytes, stream_->get());
  });
  mirrors_[buffer].stale = true;
}

void DriverExecution::clear(std::size_t buffer, std::int64_t at, std::int64_t bytes) {
  if (std::byte* const host = memory_.host(buffer)) {
    synchronise();
    std::memset(host + at, 0, static_cast<std::size_t>(bytes));
    return;
  }
  const DeviceAddress to = memory_.buffer(buffer) + static_cast<DeviceAddress>(at);
  context_->run("clear", named("buffer", plan_.buffer(buffer).name), [&](Driver& driver) {
    return driver.fill(to, std::byte{0}, bytes, stream_->get());
  });
  mirrors_[buffer].stale = true;
}

std::span<const std::byte> DriverExecution::kept(std::size_t buffer) {
  std::vector<std::byte>& bytes = kept_[buffer];
  bytes.resize(static_cast<std::size_t>(plan_.bytes(buffer)));
  copy_out(bytes, memory_.kept(buffer), plan_.buffer(buffer).name);
  return bytes;
}

}  // namespace halftone
