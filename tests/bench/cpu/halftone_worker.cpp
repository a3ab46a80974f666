// SPDX-License-Identifier: Apache-2.0
// Halftone as a contender (worker.hpp), on HALFTONE_THREADS threads. Contenders are prepared by
// - step ARTIFACT FOLDER BATCH LOSS STEPS: training steps with inputs from the host; probed are the
//   losses of the first steps
// - kernel ARTIFACT FOLDER BATCH PROGRAM KERNELS PROBE: launches, again and again, after all that
//   comes before them; probed is an output or, with a dot in PROBE, the gradient of a parameter.
//   KERNELS are names with commas between them, an asterisk at the end for whatever follows. Meant
//   is the launch of the last of them that comes first, with its neighbours of any of the names.
// FOLDER has every parameter and input by name. `halftone_worker about` says what it runs on.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "bind.hpp"
#include "halftone/device.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/trainer.hpp"
#include "worker.hpp"

using namespace halftone;
using namespace halftone::tests;
using manifest::Element, manifest::Phase, manifest::Role;

namespace {

Device device() { return Device::named_by_environment().value_or(Device::cpu()); }

/// One input of a model, as the host has it.
struct Input {
  std::string name;
  std::vector<float> floats;
  std::vector<std::int32_t> integers;

  [[nodiscard]] NamedValues values() const {
    if (integers.empty()) return {name, std::span<const float>(floats)};
    return {name, std::span<const std::int32_t>(integers)};
  }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return integers.empty() ? std::as_bytes(std::span(floats)) : std::as_bytes(std::span(integers));
  }
};

Input read_input(const manifest::Buffer& buffer, const std::string& folder, std::int64_t batch) {
  const std::int64_t count = manifest::elements(buffer.shape, std::span(&batch, 1));
  Input input{.name = buffer.name, .floats = {}, .integers = {}};
  if (buffer.encoding.element == Element::i32) {
    input.integers = read_values<std::int32_t>(folder + "/" + buffer.name + ".i32", count);
  } else {
    input.floats = read_values<float>(folder + "/" + buffer.name + ".f32", count);
  }
  return input;
}

/// Gives a trainer or a program the parameters of a folder.
template <class Model>
void set_parameters(Model& model, const std::vector<manifest::Parameter>& parameters,
                    const std::string& folder) {
  for (const manifest::Parameter& parameter : parameters) {
    std::int64_t count = 1;
    for (const std::int64_t extent : parameter.shape) count *= extent;
    model.set_parameter(parameter.name,
                        read_values<float>(folder + "/" + parameter.name + ".f32", count));
  }
}

/// What the description of every contender begins with.
struct Subject {
  explicit Subject(std::istringstream& words) : artifact(load(words)) {
    if (!(words >> folder >> batch)) throw std::runtime_error("prepare takes a folder and a batch");
    bindings = {{"batch", batch}};
  }

  static Artifact load(std::istringstream& words) {
    std::string path;
    words >> path;
    return Artifact::load(path);
  }

  [[nodiscard]] Setup setup() const { return {.model = "", .bindings = bindings, .seed = 1}; }

  Artifact artifact;
  std::string folder;
  std::int64_t batch = 0;
  std::vector<Binding> bindings;
};

class Steps : public Contender {
 public:
  explicit Steps(std::istringstream& words)
      : subject_(words), trainer_(subject_.artifact, device(), subject_.setup()) {
    words >> loss_ >> probed_steps_;
    const manifest::Manifest& manifest = subject_.artifact.manifest();
    for (const manifest::Buffer& buffer : manifest.programs[0].buffers)
      if (buffer.role == Role::input)
        inputs_.push_back(read_input(buffer, subject_.folder, subject_.batch));
    for (const Input& input : inputs_) values_.push_back(input.values());
    set_parameters(trainer_, manifest.parameters, subject_.folder);
  }

  std::vector<double> probe() override {
    std::vector<double> losses;
    for (int step = 0; step < probed_steps_; ++step) {
      trainer_.step(values_);
      losses.push_back(trainer_.loss(loss_));
    }
    return losses;
  }

  void run(std::int64_t count) override {
    for (std::int64_t i = 0; i < count; ++i) trainer_.step(values_);
    trainer_.wait();
  }

 private:
  Subject subject_;
  Trainer trainer_;
  std::string loss_;
  int probed_steps_ = 0;
  std::vector<Input> inputs_;
  std::vector<NamedValues> values_;
};

class Kernel : public Contender {
 public:
  explicit Kernel(std::istringstream& words)
      : subject_(words),
        program_("bench", subject_.artifact, device(), next(words), subject_.setup()),
        kernels_(next(words)),
        probed_(next(words)) {
    find_launches();
    for (std::size_t i = 0; i < program_.program().buffers.size(); ++i) {
      const manifest::Buffer& buffer = program_.plan().buffer(i);
      if (buffer.role != Role::input) continue;
      const Input input = read_input(buffer, subject_.folder, subject_.batch);
      program_.execution().write(i, 0, input.bytes());
    }
    set_parameters(program_, program_.manifest().parameters, subject_.folder);
    run_all(true);
  }

  std::vector<double> probe() override {
    run_all(false);
    const bool of_parameter = probed_.find('.') != std::string::npos;
    const auto values =
        of_parameter ? program_.gradient("probe", probed_) : program_.output(probed_);
    run_all(true);
    return sampled(values.data(), values.size());
  }

  void run(std::int64_t count) override {
    for (std::int64_t i = 0; i < count; ++i)
      for (std::size_t launch = first_; launch <= last_; ++launch) program_.run(phase_, launch);
  }

 private:
  static std::string next(std::istringstream& words) {
    std::string word;
    words >> word;
    return word;
  }

  static constexpr std::array kPhases = {Phase::forward,  Phase::loss,  Phase::loss_backward,
                                         Phase::backward, Phase::check, Phase::update};

  /// All launches in their order, or those up to the last of the kernels, whose operands then lie
  /// where they read them.
  void run_all(bool up_to_kernels) {
    const std::string& name = subject_.artifact.manifest().programs[0].name;
    const bool trains = program_.program().name == name;
    program_.refresh();
    for (const Phase phase : kPhases) {
      if (!trains && phase != Phase::forward) break;
      const std::size_t launches = program_.plan().launches(phase).size();
      for (std::size_t i = 0; i < launches; ++i) {
        if (phase == Phase::update && !up_to_kernels) return;
        program_.run(phase, i);
        if (up_to_kernels && phase == phase_ && i == last_) return;
      }
    }
  }

  void find_launches() {
    const std::string last = kernels_.substr(kernels_.rfind(',') + 1);
    for (const Phase phase : kPhases) {
      const auto launches = program_.plan().launches(phase);
      const auto name = [&](std::size_t i) { return program_.plan().kernel(launches[i]).name; };
      for (std::size_t i = 0; i < launches.size(); ++i) {
        if (!is_one_of(last, name(i))) continue;
        phase_ = phase;
        for (first_ = i; first_ > 0 && is_one_of(kernels_, name(first_ - 1));) --first_;
        for (last_ = i; last_ + 1 < launches.size() && is_one_of(kernels_, name(last_ + 1));)
          ++last_;
        return;
      }
    }
    throw std::runtime_error("the program has no kernel '" + last + "'; it has" + all_kernels());
  }

  /// Kernels of the inference program alone are called "inference_" and so on.
  static bool is_one_of(const std::string& names, std::string_view name) {
    constexpr std::string_view kPrefix = "inference_";
    const std::string_view bare = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
    std::istringstream parts(names);
    for (std::string part; std::getline(parts, part, ',');) {
      if (part == name || part == bare) return true;
      if (part.ends_with('*') && bare.starts_with(part.substr(0, part.size() - 1))) return true;
    }
    return false;
  }

  [[nodiscard]] std::string all_kernels() const {
    std::string text;
    for (const auto& phase : program_.program().phases)
      for (const manifest::Launch& launch : phase)
        text += " " + program_.plan().kernel(launch).name;
    return text;
  }

  Subject subject_;
  BoundProgram program_;
  std::string kernels_, probed_;
  Phase phase_ = Phase::forward;
  std::size_t first_ = 0, last_ = 0;  ///< launches of that phase
};

std::unique_ptr<Contender> make(std::istringstream& words) {
  std::string kind;
  words >> kind;
  if (kind == "step") return std::make_unique<Steps>(words);
  if (kind == "kernel") return std::make_unique<Kernel>(words);
  throw std::runtime_error("a contender is step or kernel, not '" + kind + "'");
}

}  // namespace

int main(int count, char** values) try {
  if (count == 2 && std::string(values[1]) == "about") {
    std::cout << device().description() << "\n";
    return 0;
  }
  if (count != 1) {
    std::cerr << "halftone_worker: takes no arguments, or: about\n";
    return 1;
  }
  Server(make).serve();
  return 0;
} catch (const std::exception& error) {
  std::cerr << "halftone_worker: " << error.what() << "\n";
  return 1;
}
