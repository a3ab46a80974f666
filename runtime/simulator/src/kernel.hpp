// SPDX-License-Identifier: Apache-2.0
// A kernel ready to be interpreted: instructions whose operands are places in a warp's registers.
// A register is a plane of 32 lanes: of 4 bytes each for types up to 32 bits, of 8 bytes for 64. A
// predicate is a mask of 32 bits. Literals and special registers that stay the same in a warp are
// planes too, written before it starts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "syntax.hpp"

namespace halftone::simulator {

struct Context;
struct Instruction;

using Execute = void (*)(Context&, const Instruction&);

inline constexpr std::uint32_t kNone = 0xffffffff;
inline constexpr std::uint32_t kAllLanes = 0xffffffff;

/// What the warp's scheduler must know of an instruction.
enum class Flow : std::uint8_t {
  straight,  // run() does everything, the next instruction follows
  branch,    // to `target`, for the lanes of the guard
  indexed,   // brx.idx: to targets[lane's value]
  call,      // to `target`, and back to the next
  leave,     // ret, exit
  together,  // .sync: lanes of the member mask must have arrived, then as straight
  barrier,   // bar.sync, bar.red, barrier.sync: waits for other warps
  wait,      // run() says whether the lanes must wait for something (Context::blocked)
};

enum class Space : std::uint8_t { generic, global, shared, local, constant, parameter, cluster };

struct Instruction {
  Execute run = nullptr;
  std::uint32_t guard = kNone;  ///< place of a predicate
  bool guard_negated = false;
  Flow flow = Flow::straight;
  Space space = Space::generic;
  std::uint8_t bytes = 0;    ///< of one element of a memory access
  std::uint8_t width = 1;    ///< elements of a vector access
  std::uint8_t variant = 0;  ///< the opcode's own
  std::uint32_t flags = 0;   ///< the opcode's own
  std::uint32_t target = kNone;
  std::int64_t offset = 0;             ///< of an address
  std::array<std::uint32_t, 20> at{};  ///< places of operands, results first
  std::vector<std::uint32_t> more;     ///< places past those, branch targets
  std::uint32_t source = 0;            ///< index of Program::syntax.lines
  std::uint32_t ptx_line = 0;
  std::string_view opcode;
};

/// A variable that shared or local memory or the parameters hold.
struct Range {
  std::string_view name;
  std::uint32_t offset = 0, bytes = 0;
};

/// A plane with the same bits in each lane.
struct Literal {
  std::uint32_t place = 0;
  std::uint8_t bytes = 4;
  std::uint64_t bits = 0;
};

enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem_size,
  total_smem_size,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
};

struct SpecialPlane {
  std::uint32_t place = 0;
  std::uint8_t bytes = 4;
  Special special = Special::laneid;
};

/// A literal whose value is known when the module's variables have addresses, or when the launch
/// says how much dynamic shared memory there is.
struct Address {
  std::uint32_t place = 0;
  std::uint8_t bytes = 8;
  std::string_view variable;  ///< of the module
  std::int64_t offset = 0;
};

/// Of a kernel.
struct Parameter {
  std::uint32_t offset = 0, bytes = 0;
};

struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  std::uint32_t register_bytes = 0;
  std::vector<Literal> literals;
  std::vector<SpecialPlane> specials;
  std::vector<Address> addresses;
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_alignment = 16;
  std::uint32_t local_bytes = 0;  ///< per thread: depot and parameters of calls
  std::uint32_t most_threads = 0;
  std::array<std::uint32_t, 3> cluster{};
  std::uint32_t smallest_access = 4;  ///< bytes of the narrowest access to memory, 1, 2 or 4
  bool uses_clusters = false;
  bool orders_blocks = false;  ///< has atomics on global memory or fences that others see
  std::vector<Range> shared, local;
  const std::vector<syntax::SourceLine>* lines = nullptr;  ///< of the program
};

/// Shared variables have 32-bit addresses from 0, dynamic shared memory behind them.
struct Program {
  std::string text;  ///< that views point into
  std::string name;
  syntax::Module syntax;
  std::map<std::string, Kernel, std::less<>> kernels;
};

/// Throws Error.
[[nodiscard]] Kernel build_kernel(const syntax::Module& module, const syntax::Function& entry);

}  // namespace halftone::simulator
