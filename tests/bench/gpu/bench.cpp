// SPDX-License-Identifier: Apache-2.0
// Halftone's half of the comparison: measures what it is asked for on standard input, so that
// compare.py can take turns between it and its peers. An answer is one line: "ok" and numbers or
// words, or "error" and a sentence.
// - device: its description
// - launches MODEL PROGRAM BATCH: phase/index, bytes of its buffers and kernel of every launch
// - launch MODEL PROGRAM BATCH SITE N: seconds of N launches of "forward/1", one after another
// - copy BYTES N: seconds of N copies between two buffers of the device
// - step MODEL BATCH N: seconds of N training steps with new inputs from the host
// - forget: gives all memory back
// With `bench first MODEL BATCH` it does one training step and says how long that took from the
// start of main().
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
#include "device_under_test.hpp"
#include "driver_context.hpp"
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
constexpr std::int32_t kClasses = 10;  // the fewest of a model

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Artifact artifact_of(const std::string& model) {
  for (const LinkedArtifact& linked : kArtifacts)
    if (linked.name == model) return Artifact::linked(*linked.image);
  throw std::runtime_error("there is no model '" + model + "' among those that were carried");
}

/// Random elements of a format: in [-1, 1), labels below kClasses.
std::vector<std::byte> random_bytes(Element format, std::int64_t elements) {
  std::mt19937 random(7);
  const auto each = static_cast<std::size_t>(manifest::bytes_of(format, 1));
  std::vector<std::byte> bytes(static_cast<std::size_t>(elements) * each);
  const std::size_t drawn = std::min(bytes.size(), static_cast<std::size_t>(kDrawn) * each);
  for (std::size_t at = 0; at < drawn; at += each) {
    const float value = static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f;
    std::uint32_t bits = 0;
    if (format == Element::i32) {
      bits = random() % kClasses;
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

/// A program whose launches are timed one by one; its buffers hold random elements.
class TimedProgram {
 public:
  TimedProgram(const std::string& model, const std::string& program, std::int64_t batch,
               const Device& device)
      : bindings_{{"batch", batch}},
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
      program_.execution().write(
          i, 0, random_bytes(buffer.encoding.element, program_.plan().elements(i)));
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

  double time(const std::string& site, int count) {
    const std::size_t slash = site.find('/');
    for (const Phase phase : kTimed) {
      if (manifest::spelled(phase) != site.substr(0, slash)) continue;
      const std::size_t index = std::stoul(site.substr(slash + 1));
      program_.run(phase, index);
      wait();
      const auto start = Clock::now();
      for (int i = 0; i < count; ++i) program_.run(phase, index);
      wait();
      return seconds_since(start);
    }
    throw std::runtime_error("there is no launch '" + site + "'; 'launches' lists them");
  }

 private:
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

  /// Reads the smallest buffer that kernels write: it waits for all that was launched.
  void wait() {
    std::optional<std::size_t> smallest;
    const auto& buffers = program_.program().buffers;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].role == Role::input || buffers[i].role == Role::hyperparameter) continue;
      if (!smallest || program_.plan().bytes(i) < program_.plan().bytes(*smallest)) smallest = i;
    }
    (void)program_.execution().read(smallest.value());
  }

  std::vector<Binding> bindings_;
  BoundProgram program_;
};

/// Training steps with inputs from the host, as a user's loop has them.
class TimedTrainer {
 public:
  TimedTrainer(const std::string& model, std::int64_t batch, const Device& device)
      : artifact_(artifact_of(model)),
        bindings_{{"batch", batch}},
        trainer_(artifact_, device, {.model = "", .bindings = bindings_, .seed = 1}) {
    for (const manifest::Buffer& buffer : artifact_.manifest().programs[0].buffers) {
      if (buffer.role != Role::input) continue;
      const auto count = manifest::elements(buffer.shape, std::span(&batch, 1));
      const std::vector<std::byte> bytes = random_bytes(buffer.encoding.element, count);
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
  const auto wait = [&] {
    context.run("bench", "a copy", [&](Driver& driver) { return driver.synchronise(stream); });
  };
  context.run("bench", "memory",
              [&](Driver& driver) { return driver.fill(from, std::byte{1}, bytes, stream); });
  copy();
  wait();
  const auto start = Clock::now();
  for (int i = 0; i < count; ++i) copy();
  wait();
  return seconds_since(start);
}

class Server {
 public:
  Server() : device_(device_under_test()) {}

  std::string answer(std::istringstream& request) {
    std::string what, model, program, site;
    std::int64_t batch = 0;
    int count = 0;
    request >> what;
    if (what == "device") return device_.description();
    if (what == "forget") {
      programs_.clear();
      trainers_.clear();
      return "";
    }
    if (what == "copy") {
      request >> batch >> count;
      return spelled(time_copies(device_, batch, count));
    }
    if (what == "step") {
      request >> model >> batch >> count;
      return spelled(trainer(model, batch).time(count));
    }
    request >> model >> program >> batch >> site >> count;
    if (what == "launches") return this->program(model, program, batch).launches();
    if (what == "launch") return spelled(this->program(model, program, batch).time(site, count));
    throw std::runtime_error("'" + what + "' is not understood");
  }

 private:
  static std::string spelled(double seconds) {
    std::ostringstream text;
    text.precision(9);
    text << seconds;
    return text.str();
  }

  TimedProgram& program(const std::string& model, const std::string& name, std::int64_t batch) {
    auto& found = programs_[model + " " + name + " " + std::to_string(batch)];
    if (!found) found = std::make_unique<TimedProgram>(model, name, batch, device_);
    return *found;
  }

  TimedTrainer& trainer(const std::string& model, std::int64_t batch) {
    auto& found = trainers_[model + " " + std::to_string(batch)];
    if (!found) found = std::make_unique<TimedTrainer>(model, batch, device_);
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
  if (count == 1) return serve();
  if (count != 4 || std::string(values[1]) != "first") {
    std::cerr << "bench: takes no arguments, or: first MODEL BATCH\n";
    return 1;
  }
  try {
    TimedTrainer trainer(values[2], std::stol(values[3]), device_under_test());
    (void)trainer.time(1);
    std::cout << seconds_since(start) << "\n";
  } catch (const std::exception& error) {
    std::cerr << "bench: " << error.what() << "\n";
    return 1;
  }
}
