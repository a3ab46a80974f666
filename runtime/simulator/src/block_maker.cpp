// SPDX-License-Identifier: Apache-2.0
#include "block_maker.hpp"

#include <algorithm>

namespace halftone::simulator {

namespace {

constexpr std::size_t kPlaneAlignment = 64;

std::uint32_t rank_of(const Execution& launch, Dim3 block) {
  const Dim3 size = launch.cluster;
  return block.x % size.x + size.x * (block.y % size.y + size.y * (block.z % size.z));
}

void fill(std::byte* registers, std::uint32_t place, std::uint8_t bytes, std::uint64_t bits) {
  if (bytes == 0)
    *reinterpret_cast<std::uint32_t*>(registers + place) = static_cast<std::uint32_t>(bits);
  else if (bytes == 4)
    std::fill_n(reinterpret_cast<std::uint32_t*>(registers + place), 32,
                static_cast<std::uint32_t>(bits));
  else
    std::fill_n(reinterpret_cast<std::uint64_t*>(registers + place), 32, bits);
}

void write(std::byte* registers, const SpecialPlane& s, std::uint32_t lane, std::uint64_t value) {
  if (s.bytes == 4)
    reinterpret_cast<std::uint32_t*>(registers + s.place)[lane] = static_cast<std::uint32_t>(value);
  else
    reinterpret_cast<std::uint64_t*>(registers + s.place)[lane] = value;
}

std::size_t aligned_up(std::size_t bytes) {
  return (bytes + kPlaneAlignment - 1) / kPlaneAlignment * kPlaneAlignment;
}

}  // namespace

std::unique_ptr<Block> BlockMaker::make(std::uint64_t number) {
  std::unique_ptr<Block> block;
  const bool is_new = spare_.empty();
  if (is_new) {
    block = std::make_unique<Block>();
  } else {
    block = std::move(spare_.back());
    spare_.pop_back();
  }
  block->number = number;
  block->index = position_in(number, launch_.grid);
  block->threads = static_cast<std::uint32_t>(count(launch_.block));
  block->barriers = {};
  block->async = {};
  block->cluster.clear();
  block->cluster_barrier = nullptr;
  block->rank = rank_of(launch_, block->index);
  block->shared.assign(launch_.dynamic_offset + launch_.dynamic_shared_bytes, std::byte{0xff});
  block->shared_set.assign(block->shared.size() / 8 + 1, 0);
  const std::uint32_t warps = (block->threads + 31) / 32;
  const std::size_t stride = aligned_up(launch_.kernel.register_bytes);
  if (is_new)
    block->register_memory =
        std::make_unique_for_overwrite<std::byte[]>(stride * warps + kPlaneAlignment);
  auto* const base = reinterpret_cast<std::byte*>(
      aligned_up(reinterpret_cast<std::uintptr_t>(block->register_memory.get())));
  block->warps.resize(warps);
  for (std::uint32_t w = 0; w < warps; ++w) {
    if (is_new) fill_constants(base + w * stride);  // nothing overwrites them
    prepare(*block, block->warps[w], w, base + w * stride);
  }
  if (launch_.races) launch_.races->block_begins(*block);
  return block;
}

void BlockMaker::prepare(const Block& block, Warp& warp, std::uint32_t index,
                         std::byte* registers) const {
  const Kernel& kernel = launch_.kernel;
  const std::uint32_t left = block.threads - index * 32;
  warp = Warp{};
  warp.index = index;
  warp.members = left >= 32 ? kAllLanes : (1u << left) - 1;
  warp.registers = registers;
  for (const SpecialPlane& special : kernel.specials)
    for (std::uint32_t l = 0; l < 32; ++l)
      write(registers, special, l, value_of(special.special, block, index, l));
  if (kernel.local_bytes > 0) {
    warp.local.assign(std::size_t{32} * kernel.local_bytes, std::byte{0xff});
    warp.local_set.assign(warp.local.size() / 8 + 1, 0);
  }
  Group all;
  all.mask = warp.members;
  warp.groups.push_back(all);
}

void BlockMaker::fill_constants(std::byte* registers) const {
  const Kernel& kernel = launch_.kernel;
  std::memset(registers, 0, kernel.register_bytes);
  for (const Literal& literal : kernel.literals)
    fill(registers, literal.place, literal.bytes, literal.bits);
  for (const Address& address : kernel.addresses) {
    const auto known = variables_.find(address.variable);
    const std::uint64_t at = known == variables_.end() ? launch_.dynamic_offset : known->second;
    fill(registers, address.place, address.bytes, at + static_cast<std::uint64_t>(address.offset));
  }
}

std::uint64_t BlockMaker::value_of(Special special, const Block& block, std::uint32_t warp,
                                   std::uint32_t lane) const {
  const Dim3 thread = position_in(warp * 32 + lane, launch_.block);
  switch (special) {
    case Special::tid_x:
      return thread.x;
    case Special::tid_y:
      return thread.y;
    case Special::tid_z:
      return thread.z;
    case Special::ntid_x:
      return launch_.block.x;
    case Special::ntid_y:
      return launch_.block.y;
    case Special::ntid_z:
      return launch_.block.z;
    case Special::ctaid_x:
      return block.index.x;
    case Special::ctaid_y:
      return block.index.y;
    case Special::ctaid_z:
      return block.index.z;
    case Special::nctaid_x:
      return launch_.grid.x;
    case Special::nctaid_y:
      return launch_.grid.y;
    case Special::nctaid_z:
      return launch_.grid.z;
    case Special::laneid:
      return lane;
    case Special::warpid:
      return warp;
    case Special::nwarpid:
      return (block.threads + 31) / 32;
    case Special::smid:
      return block.number % static_cast<std::uint64_t>(launch_.chip.multiprocessors);
    case Special::nsmid:
      return static_cast<std::uint64_t>(launch_.chip.multiprocessors);
    case Special::lanemask_eq:
      return 1u << lane;
    case Special::lanemask_le:
      return (2ull << lane) - 1;
    case Special::lanemask_lt:
      return (1ull << lane) - 1;
    case Special::lanemask_ge:
      return kAllLanes & ~((1ull << lane) - 1);
    case Special::lanemask_gt:
      return kAllLanes & ~((2ull << lane) - 1);
    case Special::dynamic_smem_size:
      return launch_.dynamic_shared_bytes;
    case Special::total_smem_size:
      return block.shared.size();
    case Special::clusterid_x:
      return block.index.x / launch_.cluster.x;
    case Special::clusterid_y:
      return block.index.y / launch_.cluster.y;
    case Special::clusterid_z:
      return block.index.z / launch_.cluster.z;
    case Special::nclusterid_x:
      return launch_.grid.x / launch_.cluster.x;
    case Special::nclusterid_y:
      return launch_.grid.y / launch_.cluster.y;
    case Special::nclusterid_z:
      return launch_.grid.z / launch_.cluster.z;
    case Special::cluster_ctaid_x:
      return block.index.x % launch_.cluster.x;
    case Special::cluster_ctaid_y:
      return block.index.y % launch_.cluster.y;
    case Special::cluster_ctaid_z:
      return block.index.z % launch_.cluster.z;
    case Special::cluster_nctaid_x:
      return launch_.cluster.x;
    case Special::cluster_nctaid_y:
      return launch_.cluster.y;
    case Special::cluster_nctaid_z:
      return launch_.cluster.z;
    case Special::cluster_ctarank:
      return block.rank;
    case Special::cluster_nctarank:
      return count(launch_.cluster);
    default:
      return 0;
  }
}

}  // namespace halftone::simulator
