// SPDX-License-Identifier: Apache-2.0
// Halftone's half of the comparison: measures what it is asked for on standard input, so that
// compare.py can take turns between it and its peers. An answer is one line: "ok" and numbers or
// words, or "error" and a sentence. SIZES are a batch, or "batch=8,time=1024".
// - device: its description
// - launches MODEL PROGRAM SIZES: phase/index, bytes of its buffers and kernel of every launch
// - launch MODEL PROGRAM SIZES SITE+... N: seconds of N times these launches ("forward/1"), one
//   after another, by events of the device around graphs of several times; on a simulated device
//   by the host's clock
// - copy BYTES N: likewise of N copies between two buffers of the device
// - step MODEL SIZES N: seconds of N training steps with new inputs from the host, by its clock
// - forget: gives all memory back
// With `bench first MODEL BATCH` it does one training step and says how long that took from the
// start of main(); with `bench once MODEL PROGRAM SIZES SITE+...` it launches these, and once more
// between cuProfilerStart and cuProfilerStop.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include "bench_artifacts.hpp"
#include "bind.hpp"
#include "device_clock.hpp"
#include "device_under_test.hpp"
#include "driver_context.hpp"
#include "driver_execution.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/manifest/spelling.hpp"
#include "halftone/reference/rounding.hpp"
#include "halftone/trainer.hpp"

using namespace halftone;
using namespace halftone::tests;
using manifest::Element, manifest::Phase, manifest::Role;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::int64_t kDrawn = 1 << 16;  // different elements; then they repeat
constexpr Phase kTimed[] = {Phase::forward,  Phase::loss,  Phase::loss_backward,
                            Phase::backward, Phase::check, Phase::update};
constexpr int kCopies = 20;  // of what is timed in one graph, at most

/// Labels and words are below it.
std::int32_t classes_of(const std::string& model) { return model == "gpt2" ? 50257 : 10; }

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Artifact artifact_of(const std::string& model) {
  for (const LinkedArtifact& linked : kArtifacts)
    if (linked.name == model) return Artifact::linked(*linked.image);
  throw std::runtime_error("there is no model '" + model + "' among those that were carried");
}

/// "4096" or "batch=8,time=1024". The names of the result lie in `text`.
std::vector<Binding> sizes_of(std::string_view text) {
  std::vector<Binding> sizes;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view each = text.substr(at, end - at);
    const std::size_t equals = each.find('=');
    const bool named = equals != std::string_view::npos;
    sizes.push_back({named ? each.substr(0, equals) : "batch",
                     std::stol(std::string(named ? each.substr(equals + 1) : each))});
    at = end + 1;
  }
  return sizes;
}

/// Random elements of a format: in [-1, 1), labels below `classes`.
std::vector<std::byte> random_bytes(Element format, std::int64_t elements, std::int32_t classes) {
  std::mt19937 random(7);
  const auto each = static_cast<std::size_t>(manifest::bytes_of(format, 1));
  std::vector<std::byte> bytes(static_cast<std::size_t>(elements) * each);
  const std::size_t drawn = std::min(bytes.size(), static_cast<std::size_t>(kDrawn) * each);
  for (std::size_t at = 0; at < drawn; at += each) {
    const float value = static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f;
    std::uint32_t bits = 0;
    if (format == Element::i32) {
      bits = random() % static_cast<std::uint32_t>(classes);
    } else if (each == 2) {
      bits = reference::encode({format}, value);
    } else {
      std::memcpy(&bits, &value, sizeof bits);
    }
    std::memcpy(&bytes[at], &bits, each);
  }
  for (std::size_t at = drawn; at < bytes.size(); at += drawn)
    std::memcpy(&bytes[at], bytes.data(), std::min(drawn, bytes.size() - at));
  return bytes;
}

/// What an execution keeps to itself: its stream, to put events on it and to capture it, and its
/// launches in the order of the program's graph, in which those of a section's chunks take turns.
/// An explicit instantiation may name private members.
OwnedStream& stream_of(DriverExecution& execution);
void put_on_stream(DriverExecution& execution, Phase phase,
                   const std::vector<std::size_t>& launches);
template <auto kStream, auto kInUse, auto kLaunch>
struct Reveal {
  friend OwnedStream& stream_of(DriverExecution& execution) { return execution.*kStream; }
  friend void put_on_stream(DriverExecution& execution, Phase phase,
                            const std::vector<std::size_t>& launches) {
    put(*(execution.*kInUse), execution, phase, launches);
  }
  template <class Bound>
  static void put(const Bound& bound, DriverExecution& execution, Phase phase,
                  const std::vector<std::size_t>& launches) {
    const auto of = static_cast<std::size_t>(phase);
    std::vector<std::size_t> places;
    for (const std::size_t each : launches)
      places.insert(places.end(), bound.places[of][each].begin(), bound.places[of][each].end());
    std::ranges::sort(places);
    for (const std::size_t place : places) (execution.*kLaunch)(bound.phases[of][place]);
  }
};
template struct Reveal<&DriverExecution::stream_, &DriverExecution::in_use_,
                       &DriverExecution::launch>;

/// What a body puts on a stream, timed.
class OnStream {
 public:
  OnStream(DriverContext& context, DriverStream stream) : context_(context), stream_(stream) {}

  /// A graph of `copies` times the body.
  template <class Body>
  OwnedGraph capture(int copies, Body body) {
    call([&](Driver& driver) { return driver.begin_capture(stream_); });
    DriverGraph graph{};
    try {
      for (int i = 0; i < copies; ++i) body();
    } catch (...) {  // the stream must not stay in capture
      if (context_.driver().end_capture(stream_, graph).ok())
        (void)context_.driver().destroy_graph(graph);
      throw;
    }
    call([&](Driver& driver) { return driver.end_capture(stream_, graph); });
    return {context_.driver(), graph};
  }

  /// Seconds of `count` launches of a graph.
  double time(const OwnedGraph& graph, int count) {
    const auto launch = [&] {
      call([&](Driver& driver) { return driver.launch(graph.get(), stream_); });
    };
    return time(count, launch);
  }

  /// Seconds of `count` bodies: the device's, or the host's where the device has no events.
  template <class Body>
  double time(int count, Body body) {
    const auto wait = [&] { call([&](Driver& driver) { return driver.synchronise(stream_); }); };
    std::optional<DeviceClock> clock;
    if (DeviceClock::is_there()) {
      body();
      wait();
      clock.emplace(static_cast<std::uintptr_t>(stream_));
    }
    const auto start = Clock::now();
    for (int i = 0; i < count; ++i) body();
    if (clock) return clock->stop();
    wait();
    return seconds_since(start);
  }

 private:
  template <class Call>
  void call(Call call) {
    context_.run("bench", "what is timed", call);
  }

  DriverContext& context_;
  DriverStream stream_;
};

/// A program whose launches are timed one by one; its buffers hold random elements.
class TimedProgram {
 public:
  TimedProgram(const std::string& model, const std::string& program, const std::string& sizes,
               const Device& device)
      : sizes_(sizes),
        bindings_(sizes_of(sizes_)),
        device_(device),
        program_("bench", artifact_of(model), device, program,
                 {.model = "", .bindings = bindings_, .seed = 1}) {
    std::set<std::size_t> used;
    for (const Phase phase : kTimed)
      for (const manifest::Launch& launch : program_.plan().launches(phase))
        for (const manifest::Argument& argument : launch.arguments)
          used.insert(static_cast<std::size_t>(argument.buffer));
    for (const std::size_t i : used) {
      const manifest::Buffer& buffer = program_.plan().buffer(i);
      if (buffer.role == Role::hyperparameter || program_.plan().elements(i) < 2) continue;
      fill(i, random_bytes(buffer.encoding.element, std::min(program_.plan().elements(i), kDrawn),
                           classes_of(model)));
    }
  }

  [[nodiscard]] std::string launches() const {
    std::string text;
    for (const Phase phase : kTimed) {
      const auto launches = program_.plan().launches(phase);
      for (std::size_t i = 0; i < launches.size(); ++i)
        text += " " + std::string(manifest::spelled(phase)) + "/" + std::to_string(i) + "," +
                std::to_string(bytes_of(launches[i])) + "," +
                program_.plan().kernel(launches[i]).name;
    }
    return text;
  }

  double time(const std::string& names, int count) {
    const Sites sites = sites_of(names);
    const auto body = [&] { run(sites); };
    OnStream stream(*device_.driver(), stream_of(execution()).get());
    program_.refresh();
    if (!DeviceClock::is_there()) return stream.time(count, body);
    const int copies = std::clamp(count, 1, kCopies);
    OwnedGraph& graph = graphs_[names + " " + std::to_string(copies)];
    if (!graph) graph = stream.capture(copies, body);
    const int replays = (count + copies - 1) / copies;
    return stream.time(graph, replays) / replays / copies * count;
  }

  /// For a profiler.
  void run_once(const std::string& names) {
    const Sites sites = sites_of(names);
    program_.refresh();
    run(sites);
    execution().wait();
    const ProfiledRange range;
    run(sites);
    execution().wait();
  }

 private:
  using Sites = std::map<Phase, std::vector<std::size_t>>;

  /// "forward/1+forward/2"
  [[nodiscard]] Sites sites_of(const std::string& names) const {
    Sites sites;
    std::istringstream text(names);
    for (std::string name; std::getline(text, name, '+');) {
      const std::size_t slash = name.find('/');
      const auto phase = std::ranges::find_if(
          kTimed, [&](Phase each) { return manifest::spelled(each) == name.substr(0, slash); });
      const bool found = phase != std::end(kTimed) && slash != std::string::npos;
      const std::size_t index = found ? std::stoul(name.substr(slash + 1)) : 0;
      if (!found || index >= program_.plan().launches(*phase).size())
        throw std::runtime_error("there is no launch '" + name + "'; 'launches' lists them");
      sites[*phase].push_back(index);
    }
    return sites;
  }

  void run(const Sites& sites) {
    for (const auto& [phase, launches] : sites) put_on_stream(execution(), phase, launches);
  }

  [[nodiscard]] DriverExecution& execution() {
    return dynamic_cast<DriverExecution&>(program_.execution());
  }

  /// The elements, and again, until the buffer is full.
  void fill(std::size_t buffer, const std::vector<std::byte>& first) {
    const std::int64_t all = program_.plan().bytes(buffer);
    auto filled = static_cast<std::int64_t>(first.size());
    program_.execution().write(buffer, 0, first);
    while (filled < all) {
      const std::int64_t bytes = std::min(filled, all - filled);
      program_.execution().copy(buffer, filled, 0, bytes);
      filled += bytes;
    }
  }

  /// Every element of its arguments once, whether it is read or written.
  [[nodiscard]] std::int64_t bytes_of(const manifest::Launch& launch) const {
    std::int64_t bytes = 0;
    for (const manifest::Argument& argument : launch.arguments) {
      const Element format =
          program_.plan().buffer(static_cast<std::size_t>(argument.buffer)).encoding.element;
      bytes += manifest::bytes_of(format, program_.plan().elements(argument, program_.sizes()));
    }
    return bytes;
  }

  std::string sizes_;
  std::vector<Binding> bindings_;
  Device device_;
  BoundProgram program_;
  std::map<std::string, OwnedGraph> graphs_;
};

/// Training steps with inputs from the host, as a user's loop has them.
class TimedTrainer {
 public:
  TimedTrainer(const std::string& model, const std::string& sizes, const Device& device)
      : sizes_(sizes),
        artifact_(artifact_of(model)),
        bindings_(sizes_of(sizes_)),
        trainer_(artifact_, device, {.model = "", .bindings = bindings_, .seed = 1}) {
    for (const manifest::Buffer& buffer : artifact_.manifest().programs[0].buffers) {
      if (buffer.role != Role::input) continue;
      const auto count = manifest::elements(buffer.shape, symbols());
      const std::vector<std::byte> bytes =
          random_bytes(buffer.encoding.element, count, classes_of(model));
      names_.push_back(buffer.name);
      floats_.emplace_back();
      labels_.emplace_back();
      if (buffer.encoding.element == Element::i32) {
        labels_.back().resize(static_cast<std::size_t>(count));
        std::memcpy(labels_.back().data(), bytes.data(), bytes.size());
      } else {
        floats_.back().resize(static_cast<std::size_t>(count));
        std::memcpy(floats_.back().data(), bytes.data(), bytes.size());
      }
    }
  }

  double time(int count) {
    std::vector<NamedValues> inputs;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (labels_[i].empty()) {
        inputs.push_back({names_[i], std::span<const float>(floats_[i])});
      } else {
        inputs.push_back({names_[i], std::span<const std::int32_t>(labels_[i])});
      }
    }
    const auto start = Clock::now();
    for (int i = 0; i < count; ++i) trainer_.step(inputs);
    (void)trainer_.stats();  // waits
    return seconds_since(start);
  }

 private:
  /// In the manifest's order.
  [[nodiscard]] std::vector<std::int64_t> symbols() const {
    std::vector<std::int64_t> values;
    for (const std::string& symbol : artifact_.manifest().symbols)
      values.push_back(std::ranges::find(bindings_, symbol, &Binding::symbol)->value);
    return values;
  }

  std::string sizes_;
  Artifact artifact_;
  std::vector<Binding> bindings_;
  Trainer trainer_;
  std::vector<std::string> names_;
  std::vector<std::vector<float>> floats_;
  std::vector<std::vector<std::int32_t>> labels_;
};

double time_copies(const Device& device, std::int64_t bytes, int count) {
  DriverContext& context = *device.driver();
  DeviceAddress from = 0, to = 0;
  DriverStream stream{};
  context.run("bench", "a stream", [&](Driver& driver) { return driver.create_stream(stream); });
  const OwnedStream owned(context.driver(), stream);
  const auto allocate = [&](DeviceAddress& address) {
    context.run("bench", "memory",
                [&](Driver& driver) { return driver.allocate(bytes, "copy", address); });
    return OwnedMemory(context.driver(), address);
  };
  const OwnedMemory first = allocate(from), second = allocate(to);
  const auto copy = [&] {
    context.run("bench", "a copy",
                [&](Driver& driver) { return driver.copy(to, from, bytes, stream); });
  };
  context.run("bench", "memory",
              [&](Driver& driver) { return driver.fill(from, std::byte{1}, bytes, stream); });
  return OnStream(context, stream).time(count, copy);
}

class Server {
 public:
  Server() : device_(device_under_test()) {}

  std::string answer(std::istringstream& request) {
    std::string what, model, program, sizes, site;
    std::int64_t bytes = 0;
    int count = 0;
    request >> what;
    if (what == "device") return device_.description();
    if (what == "forget") {
      programs_.clear();
      trainers_.clear();
      return "";
    }
    if (what == "copy") {
      request >> bytes >> count;
      return spelled(time_copies(device_, bytes, count));
    }
    if (what == "step") {
      request >> model >> sizes >> count;
      return spelled(trainer(model, sizes).time(count));
    }
    request >> model >> program >> sizes >> site >> count;
    if (what == "launches") return this->program(model, program, sizes).launches();
    if (what == "launch") return spelled(this->program(model, program, sizes).time(site, count));
    throw std::runtime_error("'" + what + "' is not understood");
  }

 private:
  static std::string spelled(double seconds) {
    std::ostringstream text;
    text.precision(9);
    text << seconds;
    return text.str();
  }

  TimedProgram& program(const std::string& model, const std::string& name,
                        const std::string& sizes) {
    auto& found = programs_[model + " " + name + " " + sizes];
    if (!found) found = std::make_unique<TimedProgram>(model, name, sizes, device_);
    return *found;
  }

  TimedTrainer& trainer(const std::string& model, const std::string& sizes) {
    auto& found = trainers_[model + " " + sizes];
    if (!found) found = std::make_unique<TimedTrainer>(model, sizes, device_);
    return *found;
  }

  Device device_;
  std::map<std::string, std::unique_ptr<TimedProgram>> programs_;
  std::map<std::string, std::unique_ptr<TimedTrainer>> trainers_;
};

int serve() {
  std::optional<Server> server;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      if (!server) server.emplace();
      std::istringstream request(line);
      const std::string answer = server->answer(request);
      std::cout << "ok " << answer << std::endl;
    } catch (const std::exception& error) {
      std::cout << "error " << error.what() << std::endl;
    }
  }
  return 0;
}

}  // namespace

int main(int count, char** values) {
  const auto start = Clock::now();
  const std::vector<std::string> words(values + 1, values + count);
  if (words.empty()) return serve();
  try {
    if (words.front() == "first" && words.size() == 3) {
      TimedTrainer trainer(words[1], words[2], device_under_test());
      (void)trainer.time(1);
      std::cout << seconds_since(start) << "\n";
    } else if (words.front() == "once" && words.size() == 5) {
      TimedProgram(words[1], words[2], words[3], device_under_test()).run_once(words[4]);
    } else {
      std::cerr << "bench: takes no arguments, or: first MODEL SIZES, or: once MODEL PROGRAM SIZES "
                   "SITE+...\n";
      return 1;
    }
  } catch (const std::exception& error) {
    std::cerr << "bench: " << error.what() << "\n";
    return 1;
  }
}
