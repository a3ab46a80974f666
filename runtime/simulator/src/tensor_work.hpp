// SPDX-License-Identifier: Apache-2.0
// What the instructions of tensor memory share.
#pragma once

#include <bit>

#include "async_work.hpp"
#include "decode.hpp"
#include "execute.hpp"

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
/// Checks what the work touches, and keeps it until the thread commits it.
void begin_tensor_work(Context& context, const Instruction& instruction, TensorWork work);

// tcgen05.cp and tcgen05.mma.
void decode_tensor_copy_in(Decoder& decoder);
void decode_tensor_product(Decoder& decoder);

}  // namespace halftone::simulator
