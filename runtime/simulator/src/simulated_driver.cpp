// SPDX-License-Identifier: Apache-2.0
#include "simulated_driver.hpp"

#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "tensor_map.hpp"

namespace halftone {
namespace {

using Kind = DriverStatus::Kind;

constexpr std::size_t kHostAlignment = 64;

DriverStatus failure(std::string text) { return {Kind::failed, std::move(text), ""}; }

}  // namespace

SimulatedDriver::SimulatedDriver(std::string_view chip, const simulator::LaunchOptions& options,
                                 Observe observe)
    : options_(options), observe_(std::move(observe)), device_(chip) {
  properties_ = {.name = "the simulator",
                 .chip = std::string(device_.chip().name),
                 .version = "as in " + std::string(device_.chip().product),
                 .memory_bytes = 0,
                 .multiprocessors = device_.chip().multiprocessors,
                 .takes_ptx = true,
                 .encodes_maps = device_.chip().tensor_maps(),
                 .separate_buffers = true};
}

template <class Call>
DriverStatus SimulatedDriver::guarded(Call call, Kind on_error) {
  try {
    call();
    return {};
  } catch (const simulator::Error& error) {
    return {on_error, error.what(), ""};
  } catch (const std::bad_alloc&) {
    return {Kind::out_of_memory, "the host has no memory left", ""};
  }
}

DriverStatus SimulatedDriver::put(DriverStream stream, Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (CapturedStreams* const capture = capture_of(stream)) {
      capture->put(stream, std::move(work));
      return {};
    }
  }
  return work();
}

CapturedStreams* SimulatedDriver::capture_of(DriverStream stream) {
  for (auto& [origin, capture] : captures_) {
    if (capture.has(stream)) return &capture;
  }
  return nullptr;
}

DriverStatus SimulatedDriver::allocate(std::int64_t bytes, std::string_view name,
                                       DeviceAddress& address) {
  return guarded([&] { address = device_.allocate(static_cast<std::uint64_t>(bytes), name); },
                 Kind::out_of_memory);
}

DriverStatus SimulatedDriver::free(DeviceAddress address) {
  return guarded([&] { device_.free(address); });
}

DriverStatus SimulatedDriver::free_memory(std::optional<std::int64_t>& bytes) {
  bytes.reset();
  return {};
}

DriverStatus SimulatedDriver::copy_in(DeviceAddress to, std::span<const std::byte> from,
                                      DriverStream) {
  return guarded([&] { device_.copy_in(to, from); });
}

DriverStatus SimulatedDriver::allocate_host(std::int64_t bytes, std::byte*& address) {
  const auto rounded = (static_cast<std::size_t>(bytes) + kHostAlignment - 1) / kHostAlignment;
  address = static_cast<std::byte*>(std::aligned_alloc(kHostAlignment, rounded * kHostAlignment));
  if (address) return {};
  return {Kind::out_of_memory, "the host has no memory left", ""};
}

DriverStatus SimulatedDriver::free_host(std::byte* address) {
  std::free(address);
  return {};
}

DriverStatus SimulatedDriver::copy_in_staged(DeviceAddress to, std::span<const std::byte> from,
                                             DriverStream stream) {
  return put(stream, [this, to, from] { return guarded([&] { device_.copy_in(to, from); }); });
}

DriverStatus SimulatedDriver::copy_out(std::span<std::byte> to, DeviceAddress from,
                                       DriverStream stream) {
  return put(stream, [this, to, from] { return guarded([&] { device_.copy_out(to, from); }); });
}

DriverStatus SimulatedDriver::copy(DeviceAddress to, DeviceAddress from, std::int64_t bytes,
                                   DriverStream stream) {
  return put(stream, [this, to, from, bytes] {
    return guarded([&] { device_.copy(to, from, static_cast<std::uint64_t>(bytes)); });
  });
}

DriverStatus SimulatedDriver::fill(DeviceAddress to, std::byte value, std::int64_t bytes,
                                   DriverStream stream) {
  return put(stream, [this, to, value, bytes] {
    return guarded([&] { device_.fill(to, static_cast<std::uint64_t>(bytes), value); });
  });
}

DriverStatus SimulatedDriver::load(const std::string& image, const std::string& name,
                                   DriverModule& module) {
  return guarded([&] {
    auto parsed = std::make_shared<const simulator::Module>(simulator::Module::parse(image, name));
    device_.load(*parsed);
    const std::lock_guard lock(mutex_);
    module = DriverModule{next()};
    modules_[module] = std::move(parsed);
  });
}

DriverStatus SimulatedDriver::unload(DriverModule module) {
  return guarded([&] {
    const std::lock_guard lock(mutex_);
    const auto found = modules_.find(module);
    if (found == modules_.end()) return;
    device_.unload(*found->second);
    std::erase_if(functions_,
                  [&](const auto& each) { return each.second->module == found->second; });
    modules_.erase(found);
  });
}

DriverStatus SimulatedDriver::find(DriverModule module, const std::string& entry, std::uint32_t,
                                   DriverFunction& function) {
  return guarded([&] {
    const std::lock_guard lock(mutex_);
    const auto& owner = modules_[module];
    if (!owner) throw simulator::Error("the module is not loaded");
    const auto made = std::make_shared<const Function>(Function{owner, owner->entry(entry)});
    function = DriverFunction{next()};
    functions_[function] = made;
  });
}

DriverStatus SimulatedDriver::launch(DriverFunction function, const DriverLaunch& launch,
                                     DriverStream stream) {
  std::shared_ptr<const Function> entry;
  {
    const std::lock_guard lock(mutex_);
    entry = functions_[function];
  }
  if (!entry) return failure("the function's module is not loaded");
  const auto& sizes = entry->entry.parameter_bytes;
  if (sizes.size() != launch.parameters.size()) {
    return failure(entry->entry.name + " takes " + std::to_string(sizes.size()) +
                   " parameters, but was given " + std::to_string(launch.parameters.size()));
  }
  std::vector<std::vector<std::byte>> values;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto* value = static_cast<const std::byte*>(launch.parameters[i]);
    values.emplace_back(value, value + sizes[i]);
  }
  return put(stream, [this, entry, shape = launch, values = std::move(values)] {
    return run(*entry, shape, values);
  });
}

DriverStatus SimulatedDriver::run(const Function& function, const DriverLaunch& launch,
                                  std::span<const std::vector<std::byte>> values) {
  std::vector<const void*> parameters;
  for (const auto& value : values) parameters.push_back(value.data());
  simulator::LaunchReport report;
  DriverStatus status = guarded([&] {
    report = device_.launch(*function.module, function.entry.name, {launch.blocks, 1, 1},
                            {launch.threads, 1, 1}, launch.shared_bytes, parameters, options_);
  });
  if (status.ok() && observe_) observe_(function.entry.name, report);
  if (status.ok() && !report.findings.empty()) {
    const std::size_t more = report.findings.size() - 1;
    status = {Kind::sticky, report.findings.front().text(), ""};
    if (more > 0) status.text += " (and " + std::to_string(more) + " more)";
  }
  if (!status.ok()) status.kernel = function.entry.name;
  return status;
}

DriverStatus SimulatedDriver::encode(const MapSource& source, EncodedMap& map) {
  using simulator::TensorElement;
  simulator::TensorMap tiled;
  tiled.address = source.address;
  tiled.element = source.element == MapSource::Element::f16    ? TensorElement::f16
                  : source.element == MapSource::Element::bf16 ? TensorElement::bf16
                  : source.element == MapSource::Element::u32  ? TensorElement::u32
                                                               : TensorElement::u8;
  tiled.swizzle = simulator::Swizzle::span128;
  tiled.rank = static_cast<int>(source.dimensions.size());
  auto bytes = static_cast<std::uint64_t>(tiled.element_bytes());
  for (std::size_t d = 0; d < source.dimensions.size(); ++d) {
    tiled.stride_bytes[d] = bytes;
    tiled.extents[d] = source.dimensions[d].extent;
    tiled.box[d] = source.dimensions[d].box;
    bytes *= tiled.extents[d];
  }
  if (std::string problem = simulator::problem_of(tiled); !problem.empty()) {
    return failure(std::move(problem));
  }
  map.bytes = simulator::encode_tensor_map(tiled);
  return {};
}

DriverStatus SimulatedDriver::create_stream(DriverStream& stream) {
  const std::lock_guard lock(mutex_);
  stream = DriverStream{next()};
  return {};
}

DriverStatus SimulatedDriver::destroy_stream(DriverStream stream) {
  const std::lock_guard lock(mutex_);
  captures_.erase(stream);
  return {};
}

// All work is done by the time that a call which asks for it returns.
DriverStatus SimulatedDriver::synchronise(DriverStream) { return {}; }
DriverStatus SimulatedDriver::create_event(DriverEvent& event) {
  const std::lock_guard lock(mutex_);
  event = DriverEvent{next()};
  return {};
}
DriverStatus SimulatedDriver::destroy_event(DriverEvent) { return {}; }
DriverStatus SimulatedDriver::synchronise(DriverEvent) { return {}; }
DriverStatus SimulatedDriver::record(DriverEvent event, DriverStream stream) {
  const std::lock_guard lock(mutex_);
  if (CapturedStreams* const capture = capture_of(stream)) capture->record(stream, event);
  return {};
}
DriverStatus SimulatedDriver::wait(DriverStream stream, DriverEvent event) {
  const std::lock_guard lock(mutex_);
  for (auto& [origin, capture] : captures_) {
    if (capture.has(event)) return capture.wait(stream, event), DriverStatus{};
  }
  if (!capture_of(stream)) return {};
  return failure("a stream that is being captured waits for an event that is none of the capture");
}

DriverStatus SimulatedDriver::begin_capture(DriverStream stream) {
  const std::lock_guard lock(mutex_);
  if (capture_of(stream)) return failure("the stream is being captured already");
  captures_.emplace(stream, CapturedStreams(stream));
  return {};
}

DriverStatus SimulatedDriver::end_capture(DriverStream stream, DriverGraph& graph) {
  const std::lock_guard lock(mutex_);
  const auto capture = captures_.find(stream);
  if (capture == captures_.end()) return failure("the stream is not being captured");
  graph = DriverGraph{next()};
  graphs_.emplace(graph, Graph{std::move(capture->second)});
  captures_.erase(capture);
  return {};
}

DriverStatus SimulatedDriver::launch(DriverGraph graph, DriverStream) {
  const Graph* known = nullptr;
  bool is_early = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = graphs_.find(graph);
    if (found == graphs_.end()) return failure("the graph is not there");
    is_early = found->second.runs++ % 2 == 1;
    known = &found->second;
  }
  using Others = CapturedStreams::Others;
  return known->streams.run(is_early ? Others::early : Others::late);
}

DriverStatus SimulatedDriver::destroy_graph(DriverGraph graph) {
  const std::lock_guard lock(mutex_);
  graphs_.erase(graph);
  return {};
}

}  // namespace halftone
