// SPDX-License-Identifier: Apache-2.0
#include "simulate.hpp"

#include <algorithm>
#include <utility>

#include "bind.hpp"
#include "halftone/artifact.hpp"
#include "halftone/device.hpp"
#include "halftone/manifest/plan.hpp"
#include "halftone/manifest/spelling.hpp"
#include "halftone/manifest/texts.hpp"
#include "halftone/simulator/device.hpp"
#include "simulated/simulated_device.hpp"
#include "table.hpp"

namespace halftone::tools {
namespace {

using manifest::Manifest;
using manifest::Phase;
using simulator::Counters;

/// What a first step runs.
bool is_simulated(const manifest::PhaseForm& form) {
  return form.run_by == manifest::RunBy::step || form.run_by == manifest::RunBy::given_parameters;
}

/// An image of manifests and texts alone, for a device that runs no code of the artifact.
class Image {
 public:
  Image(std::span<const Manifest> manifests, std::span<const std::string> texts)
      : texts_(manifest::pack_texts(texts)) {
    std::size_t entries = 0;
    for (const Manifest& each : manifests) {
      encoded_.push_back(manifest::encode(each));
      for (const manifest::Kernel& kernel : each.kernels)
        entries = std::max({entries, static_cast<std::size_t>(kernel.cpu_entry) + 1,
                            static_cast<std::size_t>(kernel.cpu_finish + 1)});
    }
    for (const auto& bytes : encoded_) images_.push_back({bytes.data(), bytes.size()});
    entries_.assign(entries, this);  // not null, and never called
    variants_.assign(manifests.front().variants.size(), entries_.data());
    image_ = {{'H', 'A', 'L', 'F', 'T', 'O', 'N', 'E'},
              manifest::kVersion,
              static_cast<std::uint32_t>(variants_.size()),
              images_.data(),
              images_.size(),
              variants_.data(),
              entries_.size(),
              texts_.data(),
              texts_.size()};
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  [[nodiscard]] const manifest::ArtifactImage& get() const { return image_; }

 private:
  std::vector<std::byte> texts_;
  std::vector<decltype(manifest::encode(std::declval<const Manifest&>()))> encoded_;
  std::vector<manifest::ManifestImage> images_;
  std::vector<const void*> entries_;
  std::vector<const void* const*> variants_;
  manifest::ArtifactImage image_{};
};

Device open(const std::string& chip, Counters& counted) {
  const auto observe = [&counted](const std::string&, const simulator::LaunchReport& report) {
    counted += report.counters;
  };
  return Device::driven(open_simulated_device(chip, {.checks_launches = true}, 1, observe),
                        "explain was asked for it");
}

Json json_of(const Counters& counted) {
  return {{"thread_instructions", counted.thread_instructions},
          {"warp_instructions", counted.warp_instructions},
          {"tensor_operations", counted.tensor_operations},
          {"global_bytes_read", counted.global_bytes_read},
          {"global_bytes_written", counted.global_bytes_written},
          {"global_sectors", counted.global_sectors},
          {"global_sectors_ideal", counted.global_sectors_ideal},
          {"shared_wavefronts", counted.shared_wavefronts},
          {"shared_wavefronts_ideal", counted.shared_wavefronts_ideal},
          {"barriers", counted.barriers},
          {"atomics", counted.atomics}};
}

Json predicted_of(const manifest::CudaKernel& kernel) {
  if (kernel.plans.empty()) return {};
  const manifest::Plan& plan = kernel.plans.front();
  return {{"plan", plan.name},
          {"operations", plan.cost.operations},
          {"bytes", plan.cost.bytes},
          {"waves", plan.cost.waves},
          {"microseconds", plan.cost.microseconds}};
}

/// What plans were chosen for, where nothing else is said, as far as limits allow it.
std::vector<halftone::Binding> sizes_of(const Manifest& manifest, const Binding& binding) {
  std::vector<std::int64_t> standard = manifest.assumed;
  for (const manifest::Limit& limit : manifest.limits) {
    std::int64_t& size = standard[static_cast<std::size_t>(limit.symbol)];
    size = std::clamp(size, limit.least, limit.most);
  }
  std::vector<halftone::Binding> sizes;
  for (std::size_t i = 0; i < manifest.symbols.size(); ++i) {
    sizes.push_back({manifest.symbols[i], binding[i].value_or(standard[i])});
  }
  return sizes;
}

std::string number(const Json& value) { return value.is_null() ? "-" : value.dump(); }

std::string number(double value) { return Json(static_cast<std::int64_t>(value + 0.5)).dump(); }

std::string ratio(const Json& counted, const std::string& of) {
  const auto ideal = counted[of + "_ideal"].get<double>();
  if (ideal == 0) return "-";
  const auto hundredths = static_cast<std::int64_t>(100 * counted[of].get<double>() / ideal + 0.5);
  const std::string rest = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + "." + (rest.size() < 2 ? "0" : "") + rest;
}

/// That a launch is bound to; of a section's the first chunk's.
std::vector<std::int64_t> symbols_of(const ProgramPlan& plan, Phase phase, std::size_t launch) {
  const manifest::Section* section = plan.section_of(phase, launch);
  if (!section) return plan.planned().symbols;
  return plan.chunks_of(*section, plan.planned()).front().sizes.symbols;
}

}  // namespace

Json simulation_of(std::span<const Manifest> manifests, std::span<const std::string> texts,
                   const Binding& binding, const std::string& chip, const std::string& stage) {
  const Image image(manifests, texts);
  const auto sizes = sizes_of(manifests.front(), binding);
  Counters counted;
  BoundProgram program("simulate", Artifact::linked(image.get()), open(chip, counted), "training",
                       {.model = "", .bindings = sizes, .stage = stage});
  program.refresh();
  const std::int64_t sms = program.plan().device().driver()->multiprocessors();
  Json launches = Json::array(), symbols = Json::object();
  for (const halftone::Binding& each : sizes) symbols[std::string(each.symbol)] = each.value;
  for (const manifest::PhaseForm& form : manifest::kPhaseForms) {
    if (!is_simulated(form)) continue;
    const Phase phase = form.phase;
    const auto all = program.plan().launches(phase);
    for (std::size_t i = 0; i < all.size(); ++i) {
      counted = {};
      program.run(phase, i);
      const auto& kernel =
          program.plan().target()->kernels[static_cast<std::size_t>(all[i].kernel)];
      launches.push_back(
          {{"phase", manifest::spelled(phase)},
           {"kernel", program.plan().kernel(all[i]).name},
           {"blocks", manifest::grid_size(kernel, symbols_of(program.plan(), phase, i), sms)},
           {"threads", kernel.threads},
           {"counted", json_of(counted)},
           {"predicted", predicted_of(kernel)}});
    }
  }
  return {{"chip", chip}, {"symbols", symbols}, {"launches", launches}};
}

std::string text_of_simulation(const Json& simulated) {
  std::string sizes;
  for (const auto& [symbol, size] : simulated["symbols"].items())
    sizes += (sizes.empty() ? " with " : ", ") + printable(symbol) + " = " + size.dump();
  Table table({"kernel", "blocks", "waves", "instructions", "tensor ops", "model ops", "bytes",
               "model bytes", "global", "shared"});
  for (const Json& launch : simulated["launches"]) {
    const Json &counted = launch["counted"], &model = launch["predicted"];
    table.add({plain(launch["kernel"]), number(launch["blocks"]),
               model.is_null() ? "-" : number(model["waves"]),
               number(counted["thread_instructions"]), number(counted["tensor_operations"]),
               model.is_null() ? "-" : number(model["operations"].get<double>()),
               number(32 * counted["global_sectors"].get<double>()),
               model.is_null() ? "-" : number(model["bytes"].get<double>()),
               ratio(counted, "global_sectors"), ratio(counted, "shared_wavefronts")});
  }
  return "\n== a step on simulated " + plain(simulated["chip"]) + sizes + " ==\n" + table.text() +
         wrapped(
             "sectors and wavefronts: global and shared memory's, over the least that their "
             "accesses need; the model's numbers hold for the sizes that plans were chosen for",
             2);
}

}  // namespace halftone::tools
