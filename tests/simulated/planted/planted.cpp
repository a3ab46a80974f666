// SPDX-License-Identifier: Apache-2.0
// planted FETCHED FILE.cu...: with NVRTC; planted --golden FOLDER FILE.cu...: with the PTX that it
// made of them. The simulator finds every planted fault, at its line, in one deterministic run, and
// nothing in the same kernels without it. Each kernel is introduced by
// `//! kind; block N; grid N; shared N; cluster N; map 1 (of in) or 2 (of out); chip sm_X`, and the
// line that is at fault ends in HERE. Exit status: 77 where no NVRTC is.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "halftone/simulator/device.hpp"
#include "nvrtc_library.hpp"
#include "tensor_map.hpp"

namespace {

using namespace halftone;
using simulator::Dim3;

constexpr std::size_t kBytes = 4096;  // of each of the two buffers

struct Plant {
  std::string kernel, kind, chip = "sm_80";
  std::uint32_t line = 0;  ///< 0: any
  std::map<std::string, std::uint32_t> numbers = {
      {"block", 32}, {"grid", 1}, {"shared", 0}, {"cluster", 1}, {"map", 0}};
};

std::string read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Plant directive(const std::string& text) {
  Plant plant;
  std::istringstream fields(text);
  std::string field;
  std::getline(fields, plant.kind, ';');
  while (std::getline(fields, field, ';')) {
    std::istringstream words(field);
    std::string name, value;
    words >> name >> value;
    if (name == "chip")
      plant.chip = value;
    else
      plant.numbers[name] = static_cast<std::uint32_t>(std::stoul(value));
  }
  return plant;
}

std::vector<Plant> plants_of(const std::string& text) {
  std::vector<Plant> plants;
  std::istringstream lines(text);
  std::string line;
  bool open = false;
  for (std::uint32_t number = 1; std::getline(lines, line); ++number) {
    if (line.starts_with("//! ")) {
      plants.push_back(directive(line.substr(4)));
      open = true;
    } else if (open) {
      // __launch_bounds__(n) comes before the name.
      const std::size_t name_end = line.find('(', line.find("const float* in") - 2);
      const std::size_t name = line.rfind(' ', name_end) + 1;
      plants.back().kernel = line.substr(name, name_end - name);
      open = false;
    } else if (!plants.empty() && line.ends_with("// HERE")) {
      plants.back().line = number;
    }
  }
  return plants;
}

std::uint32_t number_of(const Plant& plant, const char* name, bool fault) {
  const auto fixed = plant.numbers.find(std::string("fixed_") + name);
  return !fault && fixed != plant.numbers.end() ? fixed->second : plant.numbers.at(name);
}

/// 32 by 32 f32, in boxes of 8 by 8.
simulator::TensorMap map_of(std::uint64_t address) {
  simulator::TensorMap map;
  map.address = address;
  map.rank = 2;
  map.extents = {32, 32};
  map.stride_bytes = {0, 128};
  map.box = {8, 8};
  return map;
}

simulator::LaunchReport run(const simulator::Module& module, const Plant& plant, bool fault) {
  simulator::Device device(plant.chip);
  std::vector<float> values(kBytes / sizeof(float));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i == 0 ? 0.0f : static_cast<float>(i % 7) - 3;
  const std::uint64_t in = device.allocate(kBytes, "in"), out = device.allocate(kBytes, "out");
  device.copy_in(in, std::as_bytes(std::span(values)));
  // A flag that blocks wait for starts at 0.
  if (plant.kernel.find("flag") != std::string::npos) device.fill(out, kBytes, std::byte{0});
  std::vector<const void*> parameters = {&in, &out};
  simulator::EncodedTensorMap map{};
  if (const std::uint32_t which = plant.numbers.at("map"); which != 0) {
    map = simulator::encode_tensor_map(map_of(which == 1 ? in : out));
    parameters.push_back(&map);
  }
  simulator::LaunchOptions options;
  options.cluster = {plant.numbers.at("cluster"), 1, 1};
  return device.launch(module, plant.kernel, Dim3{number_of(plant, "grid", fault)},
                       Dim3{number_of(plant, "block", fault)}, number_of(plant, "shared", fault),
                       parameters, options);
}

bool is_expected(const simulator::Finding& finding, const Plant& plant) {
  if (simulator::spelling(finding.kind).empty() || finding.kernel != plant.kernel) return false;
  const bool here = plant.line == 0 || finding.line == plant.line ||
                    std::ranges::find(finding.callers, plant.line) != finding.callers.end();
  return here;
}

constexpr std::pair<const char*, simulator::Kind> kKinds[] = {
    {"out_of_bounds", simulator::Kind::out_of_bounds},
    {"misaligned", simulator::Kind::misaligned},
    {"uninitialised", simulator::Kind::uninitialised},
    {"read_only", simulator::Kind::read_only},
    {"race", simulator::Kind::race},
    {"in_flight", simulator::Kind::in_flight},
    {"missing_fence", simulator::Kind::missing_fence},
    {"divergent_barrier", simulator::Kind::divergent_barrier},
    {"divergent_warp", simulator::Kind::divergent_warp},
    {"inactive_lane", simulator::Kind::inactive_lane},
    {"mismatched_barrier", simulator::Kind::mismatched_barrier},
    {"misused_barrier", simulator::Kind::misused_barrier},
    {"unfinished", simulator::Kind::unfinished},
    {"deadlock", simulator::Kind::deadlock},
    {"no_progress", simulator::Kind::no_progress},
    {"launch_limit", simulator::Kind::launch_limit},
    {"trap", simulator::Kind::trap},
    {"invalid", simulator::Kind::invalid},
};

simulator::Kind kind_of(const std::string& word) {
  for (const auto& [name, kind] : kKinds)
    if (name == word) return kind;
  throw std::invalid_argument("no kind of finding is called " + word);
}

/// The PTX of FILE.cu for a chip, with its faults or without: made by NVRTC, or read.
class Texts {
 public:
  explicit Texts(std::string golden) : golden_(std::move(golden)) {}
  explicit Texts(std::unique_ptr<tests::NvrtcLibrary> nvrtc) : nvrtc_(std::move(nvrtc)) {}

  [[nodiscard]] std::string ptx(const std::string& path, const std::string& chip,
                                bool fault) const {
    if (!nvrtc_) {
      const std::string stem = std::filesystem::path(path).stem();
      return read(golden_ + "/" + stem + "." + chip.substr(3) + (fault ? ".1.ptx" : ".0.ptx"));
    }
    const std::vector<std::string> more = {"-lineinfo",
                                           std::string("-DFAULT=") + (fault ? "1" : "0")};
    const tests::Compilation made =
        nvrtc_->compile(read(path), path, tests::options_for("compute_" + chip.substr(3), more));
    if (!made.accepted) throw std::runtime_error(made.log);
    return made.ptx;
  }

 private:
  std::string golden_;
  std::unique_ptr<tests::NvrtcLibrary> nvrtc_;
};

struct Score {
  int planted = 0, caught = 0, false_alarms = 0;
};

void judge(const simulator::Module& module, const Plant& plant, bool fault, Score& score) {
  const simulator::LaunchReport report = run(module, plant, fault);
  if (!fault) {
    if (!report.findings.empty()) ++score.false_alarms;
    for (const auto& finding : report.findings)
      std::printf("false alarm: %s\n", finding.text().c_str());
    return;
  }
  ++score.planted;
  const bool caught = std::ranges::any_of(report.findings, [&](const auto& finding) {
    return finding.kind == kind_of(plant.kind) && is_expected(finding, plant);
  });
  score.caught += caught;
  if (caught) return;
  std::printf("missed: %s in %s, line %u\n", plant.kind.c_str(), plant.kernel.c_str(), plant.line);
  for (const auto& finding : report.findings)
    std::printf("  instead: %s\n", finding.text().c_str());
}

void judge(const Texts& texts, const std::string& path, Score& score) {
  const std::vector<Plant> plants = plants_of(read(path));
  for (const bool fault : {true, false}) {
    std::map<std::string, simulator::Module> modules;
    for (const Plant& plant : plants) {
      if (!modules.contains(plant.chip))
        modules.emplace(plant.chip,
                        simulator::Module::parse(texts.ptx(path, plant.chip, fault), path));
      judge(modules.at(plant.chip), plant, fault, score);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  const bool golden = count > 2 && std::string(arguments[1]) == "--golden";
  std::string reason;
  auto nvrtc = golden ? nullptr : tests::NvrtcLibrary::open(count > 1 ? arguments[1] : "", reason);
  if (!golden && !nvrtc) {
    std::printf("skipped: %s\n", reason.c_str());
    return 77;
  }
  const Texts texts = golden ? Texts(arguments[2]) : Texts(std::move(nvrtc));
  Score score;
  for (int i = golden ? 3 : 2; i < count; ++i) judge(texts, arguments[i], score);
  std::printf("caught %d of %d, false alarms %d\n", score.caught, score.planted,
              score.false_alarms);
  return score.planted > 0 && score.caught == score.planted && score.false_alarms == 0 ? 0 : 1;
}
