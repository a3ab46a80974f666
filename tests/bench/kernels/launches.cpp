// SPDX-License-Identifier: Apache-2.0
#include "launches.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "halftone/manifest/plan.hpp"
#include "halftone/manifest/spelling.hpp"
#include "halftone/manifest/texts.hpp"
#include "halftone/simulator/device.hpp"
#include "simulator/src/tensor_map.hpp"

namespace halftone::bench {

using manifest::Phase;

namespace {

constexpr Phase kStep[] = {Phase::forward,  Phase::loss,  Phase::loss_backward,
                           Phase::backward, Phase::check, Phase::update};

class Step {
 public:
  Step(const Artifact& artifact, const tests::NvrtcLibrary& nvrtc, const std::string& chip,
       std::int64_t size)
      : nvrtc_(nvrtc), chip_(chip), device_(chip) {
    manifest::DecodeError error;
    if (!manifest::unpack_texts({artifact.image().texts, artifact.image().text_bytes}, texts_,
                                error))
      throw std::runtime_error(error.message);
    for (const manifest::Manifest& manifest : artifact.manifests())
      if (const manifest::CudaTarget* target = manifest::find_cuda(manifest, chip)) {
        manifest_ = &manifest;
        target_ = target;
      }
    if (!target_) throw std::runtime_error("the artifact has no kernels for " + chip);
    symbols_.assign(manifest_->symbols.size(), size);
    program_ = &*std::ranges::find(manifest_->programs, "training", &manifest::Program::name);
    for (const manifest::Buffer& buffer : program_->buffers)
      buffers_.push_back(
          zeros(manifest::bytes_of(buffer.encoding, manifest::elements(buffer.shape, symbols_)),
                buffer.name));
  }

  std::vector<MeasuredLaunch> run() {
    std::vector<MeasuredLaunch> all;
    for (const Phase phase : kStep)
      for (const manifest::Launch& launch : program_->phases[static_cast<std::size_t>(phase)])
        all.push_back(run(phase, launch));
    return all;
  }

 private:
  std::uint64_t zeros(std::int64_t bytes, const std::string& name) {
    const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 1));
    const std::uint64_t address = device_.allocate(size, name);
    device_.fill(address, size, std::byte{0});
    return address;
  }

  const simulator::Module& module(const manifest::CudaKernel& cuda) {
    const auto known = modules_.find(cuda.text);
    if (known != modules_.end()) return known->second;
    const tests::Compilation made =
        nvrtc_.compile(texts_[static_cast<std::size_t>(cuda.text)], cuda.entry,
                       tests::options_for("compute_" + chip_.substr(3)));
    if (!made.accepted) throw std::runtime_error(cuda.entry + " is refused: " + made.log);
    return modules_.emplace(cuda.text, simulator::Module::parse(made.ptx, cuda.entry))
        .first->second;
  }

  MeasuredLaunch run(Phase phase, const manifest::Launch& launch) {
    const auto index = static_cast<std::size_t>(launch.kernel);
    const manifest::CudaKernel& cuda = target_->kernels[index];
    MeasuredLaunch measured{.kernel = &manifest_->kernels[index],
                            .cuda = &cuda,
                            .phase = std::string(manifest::spelled(phase)),
                            .text = texts_[static_cast<std::size_t>(cuda.text)]};
    std::vector<std::uint64_t> values;
    for (const manifest::Argument& argument : launch.arguments) {
      const auto buffer = static_cast<std::size_t>(argument.buffer);
      const std::int64_t size = manifest::bytes_of(program_->buffers[buffer].encoding, 1);
      measured.element_bytes.push_back(size);
      values.push_back(buffers_[buffer] + static_cast<std::uint64_t>(argument.offset * size));
    }
    const manifest::WorkspacePlan workspace = manifest::plan_workspace(cuda, symbols_);
    if (!cuda.workspace.empty()) values.push_back(zeros(workspace.bytes, "workspace"));
    const std::int64_t splits = manifest::split_count(cuda.split, symbols_);
    if (splits > 1)  // as the plan's cost counts them: whole tiles
      for (const manifest::Work& part : cuda.workspace)
        if (part.per_split)
          measured.partial_bytes +=
              static_cast<double>(part.bytes * splits) * static_cast<double>(tiles(part));
    for (const std::int64_t symbol : symbols_) values.push_back(static_cast<std::uint64_t>(symbol));
    measured.counters = count(cuda, values);
    return measured;
  }

  std::int64_t tiles(const manifest::Work& part) const {
    std::int64_t product = 1;
    for (const manifest::TaskAxis& axis : part.count)
      product *= (manifest::elements(axis.extent, symbols_) + axis.tile - 1) / axis.tile;
    return product;
  }

  simulator::EncodedTensorMap encoded(const manifest::TensorMap& map,
                                      const std::vector<std::uint64_t>& values) const {
    using simulator::TensorElement;
    const auto extent = [&](const std::vector<manifest::Dimension>& dimensions) {
      return static_cast<std::uint64_t>(manifest::elements(dimensions, symbols_));
    };
    simulator::TensorMap tiled;
    tiled.address = values[static_cast<std::size_t>(map.argument)];
    tiled.element =
        map.element == encoding::Element::f16 ? TensorElement::f16 : TensorElement::bf16;
    tiled.swizzle = simulator::Swizzle::span128;
    tiled.rank = static_cast<int>(map.dimensions.size());
    std::uint64_t bytes = 2;
    for (std::size_t d = 0; d < map.dimensions.size(); ++d) {
      const manifest::MapDimension& dimension = map.dimensions[map.dimensions.size() - 1 - d];
      tiled.stride_bytes[d] = bytes;
      tiled.extents[d] = extent(dimension.extent);
      tiled.box[d] = static_cast<std::uint32_t>(dimension.box);
      bytes *= tiled.extents[d];
    }
    return simulator::encode_tensor_map(tiled);
  }

  simulator::Counters count(const manifest::CudaKernel& cuda,
                            const std::vector<std::uint64_t>& values) {
    std::vector<simulator::EncodedTensorMap> maps;
    for (const manifest::TensorMap& map : cuda.maps) maps.push_back(encoded(map, values));
    std::vector<const void*> parameters;
    for (const simulator::EncodedTensorMap& map : maps) parameters.push_back(&map);
    for (const std::uint64_t& value : values) parameters.push_back(&value);
    const auto blocks = static_cast<std::uint32_t>(
        manifest::grid_size(cuda, symbols_, device_.chip().multiprocessors));
    const simulator::LaunchReport report = device_.launch(
        module(cuda), cuda.entry, {blocks, 1, 1}, {static_cast<std::uint32_t>(cuda.threads), 1, 1},
        static_cast<std::uint32_t>(cuda.shared_bytes), parameters, {.check = false, .threads = 2});
    if (!report.findings.empty()) throw std::runtime_error(report.findings.front().text());
    return report.counters;
  }

  const tests::NvrtcLibrary& nvrtc_;
  std::string chip_;
  simulator::Device device_;
  const manifest::Manifest* manifest_ = nullptr;
  const manifest::CudaTarget* target_ = nullptr;
  const manifest::Program* program_ = nullptr;
  std::vector<std::int64_t> symbols_;
  std::vector<std::string> texts_;
  std::vector<std::uint64_t> buffers_;
  std::map<std::int32_t, simulator::Module> modules_;
};

}  // namespace

std::vector<MeasuredLaunch> measure_step(const Artifact& artifact, const tests::NvrtcLibrary& nvrtc,
                                         const std::string& chip, std::int64_t size) {
  return Step(artifact, nvrtc, chip, size).run();
}

}  // namespace halftone::bench
