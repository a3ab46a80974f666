// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "halftone/artifact.hpp"
#include "halftone/error.hpp"
#include "halftone/manifest/blocks.hpp"
#include "halftone/manifest/plan.hpp"
#include "line_artifact.hpp"
#include "simulated/captured_streams.hpp"

namespace fake {
namespace {

using namespace halftone;
using Entry = void (*)(void* const*, const std::int64_t*, std::int64_t, std::int64_t,
                       const manifest::CpuBlocks*);
using Kind = DriverStatus::Kind;

struct Kernel {
  std::string name;
  Entry entry = nullptr, finish = nullptr;
  manifest::CudaKernel cuda = {};  ///< of its workspace, if it has one, the first part is zeroed
  DriverModule module{};
};

/// By the name of its CUDA entry.
Kernel kernel_of(const std::string& entry) {
  const manifest::Manifest manifest = hand_made::manifest();
  const auto at = [](std::int32_t index) {
    const void* address = index < 0 ? nullptr : halftone_artifact_line.cpu_entries[0][index];
    return reinterpret_cast<Entry>(const_cast<void*>(address));
  };
  for (std::size_t i = 0; i < manifest.kernels.size(); ++i) {
    const manifest::CudaKernel& cuda = manifest.cuda.at(0).kernels[i];
    if (cuda.entry != entry) continue;
    return {entry, at(manifest.kernels[i].cpu_entry), at(manifest.kernels[i].cpu_finish), cuda};
  }
  return {};
}

class FakeDriver final : public Driver {
 public:
  FakeDriver(std::shared_ptr<Log> log, const Options& options) : log_(std::move(log)) {
    properties_ = {.name = "a fake",
                   .chip = options.chip,
                   .version = "no driver",
                   .encodes_maps = options.encodes_maps,
                   .separate_buffers = options.separate_buffers};
    late_ = options.late;
    forgotten_wait_ = options.forgotten_wait;
    others_ = options.others_early ? CapturedStreams::Others::early : CapturedStreams::Others::late;
    idle_ = options.idle;
    free_bytes_ = options.free_bytes;
  }

  const DriverProperties& properties() const noexcept override { return properties_; }

  DriverStatus allocate(std::int64_t bytes, std::string_view name,
                        DeviceAddress& address) override {
    const std::lock_guard lock(mutex_);
    if (auto status = begin("allocate " + std::string(name) + " " + std::to_string(bytes), true);
        !status.ok()) {
      return status;
    }
    void* memory = std::aligned_alloc(256, static_cast<std::size_t>((bytes + 255) / 256 * 256));
    std::memset(memory, 0xff, static_cast<std::size_t>(bytes));
    address = reinterpret_cast<DeviceAddress>(memory);
    sizes_[address] = bytes;
    log_->held_bytes += bytes;
    return {};
  }

  DriverStatus free(DeviceAddress address) override {
    const std::lock_guard lock(mutex_);
    log_->held_bytes -= sizes_.at(address);
    sizes_.erase(address);
    std::free(reinterpret_cast<void*>(address));
    return begin("free");
  }

  DriverStatus free_memory(std::optional<std::int64_t>& bytes) override {
    const std::lock_guard lock(mutex_);
    bytes = free_bytes_;
    return begin("free_memory");
  }

  DriverStatus allocate_host(std::int64_t bytes, std::byte*& address) override {
    if (auto status = make("host memory", "allocate_host " + std::to_string(bytes), address);
        !status.ok()) {
      return status;
    }
    address = static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(bytes)));
    std::memset(address, 0xff, static_cast<std::size_t>(bytes));
    const std::lock_guard lock(mutex_);
    host_sizes_[address] = bytes;
    return {};
  }

  DriverStatus free_host(std::byte* address) override {
    {
      const std::lock_guard lock(mutex_);
      host_sizes_.erase(address);
    }
    std::free(address);
    return drop("host memory", "free_host");
  }

  DriverStatus copy_in(DeviceAddress to, std::span<const std::byte> from,
                       DriverStream stream) override {
    return put(
        stream, "copy_in " + std::to_string(from.size()),
        [to, bytes = std::vector(from.begin(), from.end())] {
          std::memcpy(reinterpret_cast<void*>(to), bytes.data(), bytes.size());
        },
        true);
  }

  DriverStatus copy_in_staged(DeviceAddress to, std::span<const std::byte> from,
                              DriverStream stream) override {
    return put(
        stream, "copy_in_staged " + std::to_string(from.size()),
        [=] { std::memcpy(reinterpret_cast<void*>(to), from.data(), from.size()); },
        !is_page_locked(from.data()));
  }

  DriverStatus copy_out(std::span<std::byte> to, DeviceAddress from, DriverStream stream) override {
    return put(
        stream, "copy_out " + std::to_string(to.size()),
        [=] { std::memcpy(to.data(), reinterpret_cast<const void*>(from), to.size()); },
        !is_page_locked(to.data()));
  }

  DriverStatus copy(DeviceAddress to, DeviceAddress from, std::int64_t bytes,
                    DriverStream stream) override {
    return put(stream, "copy " + std::to_string(bytes), [=] {
      std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from),
                  static_cast<std::size_t>(bytes));
    });
  }

  DriverStatus fill(DeviceAddress to, std::byte value, std::int64_t bytes,
                    DriverStream stream) override {
    return put(stream, "fill " + std::to_string(bytes), [=] {
      std::memset(reinterpret_cast<void*>(to), static_cast<int>(value),
                  static_cast<std::size_t>(bytes));
    });
  }

  DriverStatus load(const std::string& image, const std::string& name,
                    DriverModule& module) override {
    {
      const std::lock_guard lock(mutex_);
      log_->loaded.push_back(image);
    }
    return make("module", "load " + name, module);
  }
  DriverStatus unload(DriverModule module) override {
    {
      const std::lock_guard lock(mutex_);
      unloaded_.insert(module);
    }
    return drop("module", "unload");
  }

  DriverStatus find(DriverModule module, const std::string& entry, std::uint32_t,
                    DriverFunction& function) override {
    const std::lock_guard lock(mutex_);
    if (auto status = begin("find " + entry, true); !status.ok()) return status;
    kernels_.push_back(kernel_of(entry));
    kernels_.back().module = module;
    function = DriverFunction{kernels_.size()};
    return {};
  }

  DriverStatus launch(DriverFunction function, const DriverLaunch& launch,
                      DriverStream stream) override {
    Kernel kernel;
    {
      const std::lock_guard lock(mutex_);
      kernel = kernels_.at(static_cast<std::size_t>(function) - 1);
    }
    std::vector<std::uint64_t> values;
    for (const void* parameter : launch.parameters) {
      values.push_back(*static_cast<const std::uint64_t*>(parameter));
    }
    return put(stream,
               "launch " + kernel.name + " " + std::to_string(launch.blocks) + " x " +
                   std::to_string(launch.threads),
               [this, kernel, values, blocks = launch.blocks] {
                 if (unloaded_.contains(kernel.module)) std::abort();
                 run(kernel, values, blocks);
               });
  }

  DriverStatus encode(const MapSource& source, EncodedMap& map) override {
    const std::lock_guard lock(mutex_);
    map.bytes[0] = static_cast<std::byte>(source.dimensions.back().extent);
    std::string what;
    for (const MapSource::Dimension& dimension : source.dimensions)
      what = std::to_string(dimension.extent) + (what.empty() ? "" : " x ") + what;
    return begin("encode " + what);
  }

  DriverStatus create_stream(DriverStream& stream) override {
    return make("stream", "create_stream", stream);
  }
  DriverStatus destroy_stream(DriverStream) override { return drop("stream", "destroy_stream"); }
  DriverStatus synchronise(DriverStream stream) override {
    const std::lock_guard lock(mutex_);
    if (auto status = begin("synchronise", true); !status.ok()) return status;
    do_until(stream, waiting_[stream].size());
    return {};
  }
  DriverStatus create_event(DriverEvent& event) override {
    return make("event", "create_event", event);
  }
  DriverStatus destroy_event(DriverEvent) override { return drop("event", "destroy_event"); }
  DriverStatus record(DriverEvent event, DriverStream stream) override {
    {
      const std::lock_guard lock(mutex_);
      if (Capture* const capture = capture_of(stream)) {
        if (auto status = begin("record"); !status.ok()) return status;
        capture->streams.record(stream, event);
        log_->graph.emplace_back("record");
        return {};
      }
    }
    if (auto status = put(stream, "record", [] {}); !status.ok()) return status;
    const std::lock_guard lock(mutex_);
    records_[event] = {stream, done_[stream] + waiting_[stream].size()};
    return {};
  }
  DriverStatus synchronise(DriverEvent event) override {
    const std::lock_guard lock(mutex_);
    if (auto status = begin("synchronise_event", true); !status.ok()) return status;
    const auto [stream, count] = records_[event];
    if (count > done_[stream]) do_until(stream, count - done_[stream]);
    return {};
  }

  DriverStatus wait(DriverStream stream, DriverEvent event) override {
    {
      const std::lock_guard lock(mutex_);
      if (++waits_ == forgotten_wait_) return {};
      for (auto& [origin, capture] : captures_) {
        if (!capture.streams.has(event)) continue;
        if (auto status = begin("wait"); !status.ok()) return status;
        capture.streams.wait(stream, event);
        log_->graph.emplace_back("wait");
        return {};
      }
      if (capture_of(stream)) return {Kind::failed, "waits for what is not captured", ""};
    }
    return put(stream, "wait", [this, behind = records_[event]] {
      const auto [other, count] = behind;
      if (count > done_[other]) do_until(other, count - done_[other]);
    });
  }

  DriverStatus begin_capture(DriverStream stream) override {
    const std::lock_guard lock(mutex_);
    if (auto status = begin("begin_capture", true); !status.ok()) return status;
    captures_.insert_or_assign(stream,
                               Capture{std::this_thread::get_id(), CapturedStreams(stream)});
    log_->graph.clear();
    return {};
  }

  DriverStatus end_capture(DriverStream stream, DriverGraph& graph) override {
    std::optional<CapturedStreams> streams;
    {
      const std::lock_guard lock(mutex_);
      streams = std::move(captures_.at(stream).streams);
      captures_.erase(stream);
    }
    if (auto status = make("graph", "end_capture", graph); !status.ok()) return status;
    const std::lock_guard lock(mutex_);
    graphs_.insert_or_assign(graph, std::move(*streams));
    return {};
  }

  DriverStatus launch(DriverGraph graph, DriverStream stream) override {
    return put(
        stream, "launch_graph",
        [this, graph] {
          if (idle_) return;
          const DriverStatus done = graphs_.at(graph).run(others_);  // throws when it is gone
          if (!done.ok()) throw std::logic_error(done.text);
        },
        true);
  }
  DriverStatus destroy_graph(DriverGraph graph) override {
    {
      const std::lock_guard lock(mutex_);
      graphs_.erase(graph);
    }
    return drop("graph", "destroy_graph");
  }

 private:
  struct Capture {
    std::thread::id thread;
    CapturedStreams streams;
  };

  /// The capture that the stream is part of, or null.
  Capture* capture_of(DriverStream stream) {
    for (auto& [origin, capture] : captures_) {
      if (capture.streams.has(stream)) return &capture;
    }
    return nullptr;
  }

  bool is_page_locked(const std::byte* address) {
    const std::lock_guard lock(mutex_);
    const auto behind = host_sizes_.upper_bound(const_cast<std::byte*>(address));
    if (behind == host_sizes_.begin()) return false;
    const auto& [begin, bytes] = *std::prev(behind);
    return address < begin + bytes;
  }

  /// Writes the call down and says whether it fails. `not_captured`: it needs the device at once,
  /// which a thread must not ask for while it captures.
  DriverStatus begin(std::string call, bool not_captured = false) {
    if (idle_) return {};
    log_->calls.push_back(std::move(call));
    if (log_->calls.size() == log_->fail_at) return log_->failure;
    const bool captures = std::ranges::any_of(captures_, [](const auto& capture) {
      return capture.second.thread == std::this_thread::get_id();
    });
    if (not_captured && captures) {
      return {Kind::failed, "'" + log_->calls.back() + "' cannot be captured", ""};
    }
    return {};
  }

  DriverStatus put(DriverStream stream, std::string call, std::function<void()> work,
                   bool not_captured = false) {
    const std::lock_guard lock(mutex_);
    if (auto status = begin(call, not_captured); !status.ok()) return status;
    if (Capture* const capture = capture_of(stream)) {
      capture->streams.put(stream, [work = std::move(work)] { return work(), DriverStatus{}; });
      log_->graph.push_back(std::move(call));
    } else if (late_) {
      waiting_[stream].push_back(std::move(work));
    } else {
      work();
    }
    return {};
  }

  /// The oldest `count` pieces of what waits on the stream.
  void do_until(DriverStream stream, std::size_t count) {
    std::deque<std::function<void()>>& waiting = waiting_[stream];
    for (; count > 0; --count, ++done_[stream]) {
      waiting.front()();
      waiting.pop_front();
    }
  }

  template <class Handle>
  DriverStatus make(const char* kind, std::string call, Handle& handle) {
    const std::lock_guard lock(mutex_);
    if (auto status = begin(std::move(call), true); !status.ok()) return status;
    ++log_->live[kind];
    if constexpr (!std::is_pointer_v<Handle>) handle = Handle{++last_};
    return {};
  }

  DriverStatus drop(const char* kind, const char* call) {
    const std::lock_guard lock(mutex_);
    --log_->live[kind];
    return begin(call);
  }

  /// Parameters are pointers to arguments, to the workspace, and the one symbol.
  static void run(const Kernel& kernel, const std::vector<std::uint64_t>& values,
                  std::uint32_t blocks) {
    std::vector<void*> arguments;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      arguments.push_back(reinterpret_cast<void*>(values[i]));
    }
    const auto symbol = static_cast<std::int64_t>(values.back());
    if (!kernel.cuda.workspace.empty()) {
      const std::int64_t zeroed =
          manifest::plan_workspace(kernel.cuda, std::array{symbol}).offsets[1];
      auto* bytes = static_cast<unsigned char*>(arguments.back());
      if (std::any_of(bytes, bytes + zeroed, [](auto byte) { return byte != 0; })) {
        std::abort();  // nothing would report it in time
      }
      bytes[zeroed] = 0xff;  // what follows is free for all
      arguments.pop_back();
    }
    kernel.entry(arguments.data(), &symbol, 0, blocks, nullptr);
    if (kernel.finish) kernel.finish(arguments.data(), &symbol, 0, 1, nullptr);
  }

  std::shared_ptr<Log> log_;
  DriverProperties properties_;
  std::mutex mutex_;
  std::map<DeviceAddress, std::int64_t> sizes_;
  std::vector<Kernel> kernels_;
  std::set<DriverModule> unloaded_;
  std::map<DriverGraph, CapturedStreams> graphs_;
  std::map<std::byte*, std::int64_t> host_sizes_;
  std::map<DriverStream, Capture> captures_;
  std::uintptr_t last_ = 0;
  std::int64_t free_bytes_ = 0;
  bool late_ = false, idle_ = false;
  std::size_t waits_ = 0, forgotten_wait_ = 0;
  CapturedStreams::Others others_ = CapturedStreams::Others::late;
  std::map<DriverStream, std::deque<std::function<void()>>> waiting_;
  std::map<DriverStream, std::size_t> done_;  ///< pieces of work that waited
  std::map<DriverEvent, std::pair<DriverStream, std::size_t>> records_;
};

}  // namespace

Device device(const std::shared_ptr<Log>& log, const Options& options) {
  const auto mutex = std::make_shared<std::mutex>();
  const auto compile = [log, mutex](const std::string& text, const std::string& name,
                                    const std::string& architecture) {
    if (log->specialising && text.starts_with("#define")) log->specialising(text);
    const std::lock_guard lock(*mutex);
    log->compiled.push_back(name + " for " + architecture);
    if (text == log->refused_text) {
      throw Error({.operation = "compile", .object = name, .cause = "is refused", .hint = "no"});
    }
    return text;
  };
  std::unique_ptr<Driver> driver = std::make_unique<FakeDriver>(log, options);
  if (options.wrapped) driver = options.wrapped(std::move(driver));
  return Device::driven(
      std::make_shared<DriverContext>(options.name, std::move(driver), compile,
                                      DriverOptions{.checks_launches = options.checks_launches,
                                                    .steps_in_flight = options.steps_in_flight,
                                                    .jit = options.jit,
                                                    .toolchain = options.toolchain}),
      "the test asks for it");
}

}  // namespace fake
