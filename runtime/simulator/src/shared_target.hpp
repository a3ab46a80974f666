// SPDX-License-Identifier: Apache-2.0
// Operands that name shared memory of the block or of its cluster, in instructions with several
// addresses.
#pragma once

#include <array>

#include "access.hpp"
#include "decode.hpp"

namespace halftone::simulator {

/// Notes a memory operand in Instruction::more; returns where.
std::uint32_t place_address(Decoder& decoder, const syntax::Operand& operand);
/// The lanes' addresses of a noted operand.
std::array<std::uint64_t, 32> addresses_at(const Context& context, const Instruction& instruction,
                                           std::uint32_t where);

/// What asynchronous work will write holds ones, NaN of every format, until it is done.
void poison(const SharedTarget& target, std::uint32_t bytes);
/// Checks that [address, address + bytes) lies in the target's shared memory and is aligned; else a
/// finding.
bool check_shared(const Context& context, const Instruction& instruction, std::uint32_t lane,
                  const SharedTarget& target, std::uint32_t bytes, std::uint32_t alignment);
/// The bytes of a global range, or null and a finding.
std::byte* check_global(const Context& context, const Instruction& instruction, std::uint32_t lane,
                        std::uint64_t address, std::uint64_t bytes, std::uint32_t alignment,
                        bool write);
/// Marks shared bytes as written, or notes those that nothing wrote.
void check_set_shared(const Context& context, const Instruction& instruction, std::uint32_t lane,
                      const SharedTarget& target, std::uint32_t bytes, bool write);

}  // namespace halftone::simulator
