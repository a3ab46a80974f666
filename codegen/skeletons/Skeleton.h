// SPDX-License-Identifier: Apache-2.0
// A skeleton is the hand-kept loop of one kind of kernel. One object says all of it: which
// operations share its kernels, its tiles and launches, its loop nest on the CPU and what it asks
// of a CUDA text. Whoever groups, plans or emits asks the object; Skeletons.cpp lists them.
#ifndef HALFTONE_SKELETONS_SKELETON_H
#define HALFTONE_SKELETONS_SKELETON_H

#include <limits>

#include "codegen/ir/Dialect.h"

namespace halftone::cpu {
class Code;
struct Frame;
} // namespace halftone::cpu

namespace halftone::ir {
struct BodyForm;
struct KernelGroup;
class PlanList;
} // namespace halftone::ir

namespace halftone::skeletons {

using ir::AccessKind, ir::CudaPlanAttr, ir::KernelForm, ir::KernelGroup, ir::KernelOp,
    ir::TensorType;
using Tile = llvm::SmallVector<int64_t>;
using Dims = llvm::SmallVector<mlir::Attribute>;

/// ceil(product of `extent` / `tile`) tasks or blocks.
struct Axis {
  Dims extent;
  int64_t tile = 1;
};

/// blocks = the product over the axes, times the number of splits, in one grid dimension; where
/// `resident` is not 0, at most so many for each SM, which go on with the tiles that are left.
struct Launch {
  int64_t threads = 0;
  llvm::SmallVector<Axis> axes;
  int64_t sharedBytes = 0; ///< dynamic shared memory
  /// A part of the workspace: bytes * the product of the axes (* the number of splits).
  struct Work {
    int64_t bytes = 0;
    llvm::SmallVector<Axis> axes;
    bool perSplit = false, zeroed = false;
  };
  llvm::SmallVector<Work> workspace;
  int64_t resident = 0;
  /// An operand that the kernel is given a tensor map of, in front of all operands: dimensions as
  /// memory lies, the last one's elements neighbours, and what a copy takes of each.
  struct Map {
    unsigned input = 0;
    struct Dimension {
      Dims extent;
      int64_t box = 1;
    };
    llvm::SmallVector<Dimension, 0> dimensions;
  };
  llvm::SmallVector<Map, 0> maps;
};

/// What the runtime chooses the blocks of a contraction by (manifest::Blocking).
struct CpuBlocking {
  Dims depth;
  int64_t stride = 0;
  bool transposes = false;
  std::optional<unsigned> rhs = std::nullopt;   ///< input that may be packed before the tasks
  int64_t lhsNeighbours = 0, rhsNeighbours = 0; ///< of lines that are gathered; 0 of others
};

/// Whether a kernel ends in a scalar program over the sum of all that it computes.
enum class Finish { Never, Possible, Always };

struct Traits {
  ir::Skeleton word;
  bool elementwise = false;      ///< nothing else: any skeleton that takes elements holds this code
  bool takesElements = false;    ///< elementwise operations may follow inside its kernels
  bool sumsProducts = false;     ///< the body receives a sum over the reduced axes
  bool tilesColumns = false;     ///< on the CPU a task's last extent counts columns
  bool readsByAnyMap = false;    ///< general accesses
  bool readsAgain = false;       ///< operands several times: what others gather is stored first
  bool replacesOperands = false; ///< a result may take an operand's place
  Finish finish = Finish::Never;
  int mostScalars = 512; ///< of a body. Compilers take time with the square of it
  int64_t mostColumns = std::numeric_limits<int32_t>::max() - 1024;
  llvm::SmallVector<AccessKind, 2> stores = {AccessKind::Full};
};

class Skeleton {
public:
  explicit Skeleton(Traits traits) : facts(std::move(traits)) {}
  virtual ~Skeleton() = default;

  const Traits &traits() const { return facts; }
  llvm::StringRef name() const { return ir::stringifySkeleton(facts.word); }

  //===--- Grouping: which operations become one kernel ---===//

  /// Whether `op`, of this skeleton, joins a group that computes one of its operands.
  virtual bool joinsProducer(KernelForm, const KernelGroup &) const { return false; }
  /// Whether it joins a group from which it needs nothing.
  virtual bool joinsSibling(KernelForm, const KernelGroup &) const { return false; }
  /// Whether `op`, of another skeleton, is a by-product of the group's kernel, of this one.
  virtual bool carries(KernelForm, const KernelGroup &) const { return false; }
  /// What the body of a kernel of this skeleton has for a by-product; null for any other operation.
  virtual mlir::Value buildCarried(mlir::OpBuilder &, KernelForm, mlir::Value /*sum*/) const {
    return {};
  }
  /// How a kernel of this skeleton addresses a result of one of its operations.
  virtual ir::AccessAttr getResultAccess(mlir::OpResult result) const;

  //===--- Kernels of any target ---===//

  /// Refuses what no target runs.
  virtual mlir::LogicalResult verify(KernelOp kernel) const;
  /// Whether the elements know neither row nor column, so that the domain counts as one row.
  virtual bool isOneRow(KernelOp) const { return false; }
  /// Of a kernel with a finish: its summands, one f32 each.
  virtual Dims getSummands(KernelOp) const { return {}; }

  //===--- CPU ---===//

  virtual Tile getDefaultCpuTile(KernelOp) const = 0;
  /// Of its tasks, the last one fastest.
  virtual llvm::SmallVector<Axis> getTaskAxes(KernelOp) const = 0;
  /// Of a skeleton that works in blocks; its last two task axes are elements.
  virtual std::optional<CpuBlocking> getCpuBlocking(KernelOp) const { return std::nullopt; }
  /// Whether the kernel's sums may be those of pairs of bf16 (AMX, AVX512-BF16), which flush
  /// subnormals and may have an order of their own.
  virtual bool multipliesPairs(KernelOp) const { return false; }
  virtual mlir::LogicalResult verifyCpu(KernelOp) const { return mlir::success(); }
  /// Builds tasks [first, last) at the insertion point of `code`.
  virtual void buildTasks(cpu::Code &code, cpu::Frame &frame, mlir::Value first,
                          mlir::Value last) const = 0;
  /// After all tasks of a kernel with a finish: the sum of its summands.
  virtual mlir::Value buildSum(cpu::Code &, cpu::Frame &) const { return {}; }

  //===--- CUDA ---===//

  /// The simt plan with the kernel's `cuda_tile`, or with one that suits its shape: any chip can
  /// run it, and none of its numbers changes a bit of the results.
  CudaPlanAttr getDefaultPlan(KernelOp kernel) const;
  /// The launch under a plan; fails with a diagnostic where the plan fits none.
  virtual mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const = 0;
  /// Adds the plans that a chip can run, each with its cost.
  virtual void addPlans(ir::PlanList &plans) const;
  /// "256 threads", for people.
  virtual std::string describePlan(CudaPlanAttr plan, const Launch &launch) const;
  /// The file and namespace of kernels/ that the plan runs in.
  virtual llvm::StringRef getDeviceName(KernelOp, CudaPlanAttr) const { return name(); }
  /// Its template arguments behind Body.
  virtual std::string getPlanArguments(KernelOp kernel, CudaPlanAttr plan) const;
  /// What its run() is given behind the body.
  virtual std::string getRunArguments(KernelOp, CudaPlanAttr) const { return {}; }
  /// How many blocks of so many threads an SM shall hold at least; 0 leaves it to the compiler.
  virtual int64_t getResidentBlocks(int64_t threads) const;
  /// What its Body has beyond operands, loads and stores.
  virtual ir::BodyForm getBodyForm(KernelOp kernel, CudaPlanAttr plan) const = 0;

protected:
  virtual Tile getDefaultCudaTile(KernelOp kernel) const = 0;

private:
  Traits facts;
};

/// Tasks on the CPU that share rows hold a multiple of so many columns: of every variant's lanes.
inline constexpr int64_t kColumnStep = 32;

/// Of products of pairs of bf16: a tile's row of 64 bytes holds so many along k.
inline constexpr int64_t kMatrixDepth = 32;

/// As in reduce.cuh.
inline constexpr int64_t kTeam = 8, kChunk = 1024, kWarp = 32;

/// Products and columns are summed in chunks of so many (N3).
inline constexpr int64_t kSumChunk = 128;

/// Bytes that a block has without asking for more.
inline constexpr int64_t kStaticShared = 48 * 1024;

/// A number of threads that is one of whole warps, and of a block.
bool isWarps(int64_t threads);
mlir::LogicalResult refuseTile(KernelOp kernel);

/// Whether nothing in the kernel depends on where rows begin.
bool ignoresRows(KernelOp kernel);

/// How many rows hold about so many elements, a symbolic row as many as are assumed of any symbol.
int64_t getRowsPerTask(KernelOp kernel, int64_t elements);

} // namespace halftone::skeletons

#endif
