// SPDX-License-Identifier: Apache-2.0
#include "bound_launch.hpp"

#include <algorithm>
#include <limits>

#include "halftone/manifest/plan.hpp"

namespace halftone {
namespace {

static_assert(sizeof(EncodedMap) == manifest::kMapBytes);

/// Kernels count along each dimension of what they copy in 32 bits, and add two such numbers. Along
/// memory they count words in bytes.
constexpr std::int64_t kMostCoordinate = std::int64_t{1} << 30;

EncodedMap encode(const LaunchTarget& to, const manifest::TensorMap& map, const BoundLaunch& bound,
                  std::span<const std::int64_t> symbols) {
  const int bits = encoding::traits(map.element).bits;
  MapSource source{.address = bound.values[static_cast<std::size_t>(map.argument)],
                   .element = bits == 8                               ? MapSource::Element::u8
                              : bits == 32                            ? MapSource::Element::u32
                              : map.element == encoding::Element::f16 ? MapSource::Element::f16
                                                                      : MapSource::Element::bf16,
                   .dimensions = {}};
  for (auto dimension = map.dimensions.rbegin(); dimension != map.dimensions.rend(); ++dimension) {
    const std::int64_t extent = manifest::elements(dimension->extent, symbols);
    const bool counts_bytes = bits == 32 && source.dimensions.empty();
    if (extent > kMostCoordinate / (counts_bytes ? 4 : 1)) {
      to.plan.refuse_launch("has an operand of more than 2^30 rows or columns, of kernel '" +
                            bound.kernel + "'");
    }
    source.dimensions.push_back(
        {static_cast<std::uint64_t>(extent), static_cast<std::uint32_t>(dimension->box)});
  }
  EncodedMap encoded;
  to.context.run("encode a tensor map", to.context.kernel_text(bound.entry),
                 [&](Driver& driver) { return driver.encode(source, encoded); });
  return encoded;
}

}  // namespace

BoundLaunch bind_launch(const LaunchTarget& to, const manifest::Launch& launch,
                        const LaunchPlace& place) {
  const auto index = static_cast<std::size_t>(launch.kernel);
  const manifest::Kernel& kernel = to.plan.kernel(launch);
  const manifest::CudaKernel& cuda = to.plan.target()->kernels[index];
  const std::vector<std::int64_t>& symbols = place.sizes.symbols;
  const std::int64_t blocks = manifest::grid_size(cuda, symbols, to.context.multiprocessors());
  if (blocks > std::numeric_limits<std::int32_t>::max()) {
    to.plan.refuse_launch("has a kernel with more than 2^31 - 1 blocks, '" + kernel.name + "'");
  }
  BoundLaunch bound{.function = to.modules.function(index),
                    .shape = {.blocks = static_cast<std::uint32_t>(blocks),
                              .threads = static_cast<std::uint32_t>(cuda.threads),
                              .shared_bytes = static_cast<std::uint32_t>(cuda.shared_bytes),
                              .parameters = {}},
                    .maps = {},
                    .values = {},
                    .parts = {},
                    .buffers = {},
                    .kernel = kernel.name,
                    .entry = cuda.entry};
  to.context.explain_kernel(cuda.entry, launch.fused);
  for (const manifest::Argument& argument : launch.arguments) {
    std::int64_t at = to.plan.first_byte(argument);
    if (place.section)
      at += to.plan.bytes_before(argument, *place.section, place.sizes, place.begin);
    bound.buffers.push_back(static_cast<std::size_t>(argument.buffer));
    if (to.plan.lies_in_host(static_cast<std::size_t>(argument.buffer))) {
      HostPart part = to.memory.part(argument, place.of_parts);
      bound.values.push_back(part.device);
      if (std::ranges::find(bound.parts, part.host, &HostPart::host) == bound.parts.end()) {
        bound.parts.push_back(std::move(part));
      }
      continue;
    }
    bound.values.push_back(to.memory.buffer(static_cast<std::size_t>(argument.buffer)) +
                           static_cast<DeviceAddress>(at));
  }
  for (const manifest::TensorMap& map : cuda.maps) {
    bound.maps.push_back(encode(to, map, bound, symbols));
  }
  if (!cuda.workspace.empty()) bound.values.push_back(to.memory.workspace(index, symbols));
  for (std::int64_t symbol : symbols) {
    bound.values.push_back(static_cast<std::uint64_t>(symbol));
  }
  return bound;
}

}  // namespace halftone
