// SPDX-License-Identifier: Apache-2.0
// A fault of a kernel that the simulator saw while it ran: what, where in the text, who, which
// byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::simulator {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

enum class Kind : std::uint8_t {
  out_of_bounds,       ///< an access outside every buffer, or across the end of one
  misaligned,          ///< an address that is no multiple of the access's size
  uninitialised,       ///< a byte read that nothing has written
  read_only,           ///< a write to constant memory or to parameters
  race,                ///< two accesses that nothing orders, one of them a write
  in_flight,           ///< a byte used while an asynchronous operation may still read or write it
  missing_fence,       ///< a proxy fence is missing between generic and asynchronous accesses
  divergent_barrier,   ///< a barrier that not all lanes of a warp reach together
  divergent_warp,      ///< a shuffle, vote or matrix operation without all the lanes it names
  inactive_lane,       ///< a shuffle reading from a lane that does not take part
  mismatched_barrier,  ///< a barrier asked for with different numbers of threads
  misused_barrier,     ///< an mbarrier that was not initialised, or overflows
  unfinished,          ///< a block that ends with asynchronous work neither committed nor awaited
  deadlock,            ///< nobody can run any more
  no_progress,         ///< everybody spins and nothing changes
  launch_limit,        ///< the launch asks for more than the chip has
  trap,                ///< the kernel executed trap or a failed assertion
  invalid,             ///< an operand that the instruction does not allow
};

/// The kind in words: "out of bounds".
std::string_view spelling(Kind kind);

struct Finding {
  Kind kind{};
  std::string kernel;
  std::string space;   ///< global, shared, local, constant, parameter, or empty
  std::string buffer;  ///< the name it was allocated or declared with, or empty
  std::string opcode;  ///< as in the PTX text
  std::string detail;  ///< what no other field says: the waiting groups of a deadlock, a limit
  std::uint64_t offset = 0;            ///< bytes from the start of the buffer
  std::uint32_t line = 0;              ///< of the kernel's text; 0 when it has no line information
  std::uint32_t other_line = 0;        ///< of the access it conflicts with
  std::vector<std::uint32_t> callers;  ///< lines `line` was inlined at, innermost first
  std::uint32_t ptx_line = 0;
  Dim3 block{0, 0, 0};
  std::uint32_t thread = 0;  ///< x + y * width + z * width * height
  std::uint32_t other_thread = 0;
  std::uint64_t count = 1;  ///< how often the same instruction did the same

  /// One sentence, such as "halftone_fc1: out of bounds: ld.global.nc.v4.f32 at line 211 (inlined
  /// at 391, 510) by thread 3 of block (1, 0, 0), byte 4096 of global buffer x".
  [[nodiscard]] std::string text() const;
};

}  // namespace halftone::simulator
