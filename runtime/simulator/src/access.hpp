// SPDX-License-Identifier: Apache-2.0
// A warp's access to memory: its lanes' addresses, checked, and where their bytes lie.
#pragma once

#include "execute.hpp"

namespace halftone::simulator {

enum class Use : std::uint8_t { read, write, atomic };

struct Access {
  Space space = Space::global;  ///< never generic once resolved
  Use use = Use::read;
  std::uint32_t mask = 0;   ///< lanes whose access is possible
  std::uint32_t bytes = 0;  ///< per lane
  std::array<std::uint64_t, 32> address{};
  std::array<std::byte*, 32> data{};
  bool counted = true;     ///< whether sectors and wavefronts count
  Block* owner = nullptr;  ///< whose shared memory it is, once resolved
};

/// The addresses that the lanes of c.mask give: register plus offset.
void gather_addresses(const Context& c, const Instruction& i, std::uint32_t place, Access& access);

/// Checks bounds and alignment, notes what the launch's options ask for, and finds the bytes. Lanes
/// that cannot be served leave the mask. Visits every space that generic addresses lead to. Tells
/// the race detector; `same` compares what two lanes store.
using SameValue = bool (*)(const void* context, std::uint32_t lane, std::uint32_t other);
template <class Visit>
void resolve(Context& c, const Instruction& i, Access& access, Visit visit,
             SameValue same = nullptr);

void resolve_in_space(Context& c, const Instruction& i, Access& access);

/// A block of the cluster and an address of its shared memory. block = null: no block has that
/// rank.
struct SharedTarget {
  Block* block = nullptr;
  std::uint32_t address = 0;
};
/// `address` is of .shared::cta, .shared::cluster, or generic.
[[nodiscard]] SharedTarget shared_target(const Context& c, std::uint64_t address);
/// An address of .shared::cluster (PTX ISA 9.0, 9.7.9.22): 1 + the block's rank above 24 bits;
/// without, one's own.
inline constexpr int kRankShift = 24;
void report_no_block(Context& c, const Instruction& i, const Access& access);

inline void told(Context& c, const Instruction& i, const Access& access, SameValue same = nullptr) {
  if (c.launch.races) c.launch.races->access(c, i, access, same);
}
[[nodiscard]] Space space_of(std::uint64_t generic);

/// Addresses of .shared::cluster: for each block that they lead to.
template <class Visit>
void resolve_cluster(Context& c, const Instruction& i, const Access& access, Visit visit,
                     SameValue same) {
  for (std::uint32_t left = access.mask; left != 0;) {
    const SharedTarget first = shared_target(c, access.address[std::countr_zero(left)]);
    Access part = access;
    part.space = Space::shared;
    part.mask = 0;
    each_lane(left, [&](std::uint32_t l) {
      const SharedTarget at = shared_target(c, access.address[l]);
      if (at.block != first.block) return;
      part.mask |= 1u << l;
      part.address[l] = at.address;
    });
    left &= ~part.mask;
    if (!first.block || (first.block != &c.block && first.block->done())) {
      report_no_block(c, i, part);
      continue;
    }
    part.owner = first.block;
    resolve_in_space(c, i, part);
    told(c, i, part, same);
    visit(part);
  }
}

template <class Visit>
void resolve(Context& c, const Instruction& i, Access& access, Visit visit, SameValue same) {
  if (access.space == Space::cluster) return resolve_cluster(c, i, access, visit, same);
  if (access.space != Space::generic) {
    resolve_in_space(c, i, access);
    told(c, i, access, same);
    visit(access);
    return;
  }
  for (const Space space : {Space::global, Space::shared, Space::local, Space::parameter}) {
    Access part = access;
    part.space = space;
    part.mask = 0;
    each_lane(access.mask, [&](std::uint32_t l) {
      if (space_of(access.address[l]) == space) part.mask |= 1u << l;
    });
    if (part.mask == 0) continue;
    const std::uint64_t window = space == Space::shared      ? kSharedWindow
                                 : space == Space::local     ? kLocalWindow
                                 : space == Space::parameter ? kParameterWindow
                                                             : 0;
    each_lane(part.mask, [&](std::uint32_t l) { part.address[l] -= window; });
    if (space == Space::shared && !c.block.cluster.empty()) {
      resolve_cluster(c, i, part, visit, same);
      continue;
    }
    resolve_in_space(c, i, part);
    told(c, i, part, same);
    visit(part);
  }
}

/// Where a shared address lies, for findings.
[[nodiscard]] Place shared_place(const Execution& launch, std::uint64_t address);

}  // namespace halftone::simulator
