// SPDX-License-Identifier: Apache-2.0
// What the instructions of tensor memory share.
#pragma once

#include <bit>
#include <optional>
#include <vector>

#include "async_work.hpp"
#include "decode.hpp"
#include "execute.hpp"
#include "shared_target.hpp"

namespace halftone::simulator {

[[nodiscard]] inline std::uint32_t lane_of(const Context& c) {
  return static_cast<std::uint32_t>(std::countr_zero(c.mask));
}
[[nodiscard]] inline std::uint32_t thread_of(const Context& c) { return c.thread(lane_of(c)); }

/// Whether one thread asks; else a finding.
[[nodiscard]] bool is_alone(Context& context, const Instruction& instruction);
/// Whether the columns are allocated; else a finding.
[[nodiscard]] bool check_region(Context& context, const Instruction& instruction,
                                const TensorRegion& region);
template <class Visit>
void each_column(TensorMemory& memory, const TensorRegion& region, Visit visit) {
  for (std::uint32_t q = 0; q < kTensorQuarters; ++q)
    for (std::uint32_t k = 0; (region.quarters >> q & 1) != 0 && k < region.columns; ++k)
      visit(memory.at(q, region.column + k));
}

/// Whether the region may be touched: other threads' work is done, and the rest is ordered; else a
/// finding.
void check_touch(Context& context, const Instruction& instruction, const TensorRegion& region,
                 bool writes, bool by_tensor_cores);
void stamp_read(TensorColumn& column, const TensorStamp& stamp);
/// Checks what the work touches, and keeps it until the thread commits it.
void begin_tensor_work(Context& context, const Instruction& instruction, TensorWork work);
/// Does the work of a commit, whose mbarrier's waiters will know of it, and of all that the thread
/// asked for before.
void finish_tensor_work(Execution& launch, Block& block, const std::vector<TensorWork>& all,
                        const SharedTarget& at, const std::optional<Lanes>& who,
                        std::uint32_t thread);

// tcgen05.cp and tcgen05.mma.
void decode_tensor_copy_in(Decoder& decoder);
void decode_tensor_product(Decoder& decoder);

}  // namespace halftone::simulator
