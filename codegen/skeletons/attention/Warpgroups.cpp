// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/attention/Warpgroups.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/ir/Accesses.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/attention/AttentionColumns.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

namespace {

/// As in warpgroup_attention_stages.cuh: a box has 64 columns of 16 bits, a warp group multiplies
/// 64 lines, an SM has registers for two blocks with one such group, or one with more.
constexpr int64_t kBoxColumns = 64, kGroupLines = 64, kGroupThreads = 128;
constexpr int64_t kSlotNotes = 20, kResidentNotes = 16;

/// A plan's numbers. A block has lines (rows, or by columns keys) for each of its warp groups, and
/// goes over others, `step` at a time, which come through so many slots.
struct GroupTile {
  int64_t step, groups, slots;

  int64_t lines() const { return kGroupLines * groups; }
  int64_t threads() const { return kGroupThreads * (groups + 1); }
  int64_t blocks() const { return groups == 1 ? 2 : 1; }
};

bool isByColumns(KernelOp kernel) { return kernel.getSkeleton() == ir::Skeleton::AttentionColumns; }

/// Heads are as wide in shared memory as one box or two.
int64_t paddedBytes(int64_t columns) { return 2 * llvm::alignTo(columns, kBoxColumns); }

int64_t bytesOfBlock(KernelOp kernel, const GroupTile &tile) {
  HeadColumns columns = columnsOf(kernel);
  int64_t first = paddedBytes(columns.first), second = paddedBytes(columns.second);
  int64_t kept = tile.lines() * (first + (hasTwoProducts(kernel) ? second : 0));
  int64_t slot = tile.step * (isByColumns(kernel) ? first + second : std::max(first, second));
  int64_t bytes = kept + tile.slots * (slot + kSlotNotes) + kResidentNotes;
  if (!isByColumns(kernel))
    return bytes;
  return static_cast<int64_t>(llvm::alignTo(bytes, 16)) +
         tile.slots * tile.step * bytesOfKnownRow(kernel);
}

SmallVector<GroupTile> tilesFor(KernelOp kernel) {
  HeadColumns columns = columnsOf(kernel);
  bool isWide = std::max(columns.first, columns.second) > kBoxColumns;
  if (isByColumns(kernel))
    return {{64, 1, isWide ? 2 : 3}};
  if (hasTwoProducts(kernel))
    return {isWide ? GroupTile{64, 2, 6} : GroupTile{64, 1, 8}};
  return {{64, 2, 8}};
}

std::optional<GroupTile> tileOf(CudaPlanAttr plan) {
  ArrayRef<int64_t> n = plan.getTile();
  bool fits = n.size() == 3 && n[0] % 16 == 0 && n[0] >= 16 && n[0] <= 256 && n[1] >= 1 &&
              n[1] <= 3 && n[2] >= 2;
  return fits ? std::optional(GroupTile{n[0], n[1], n[2]}) : std::nullopt;
}

/// Operands of products in the order of their maps.
SmallVector<AccessKind> operandsOf(KernelOp kernel) {
  if (hasTwoProducts(kernel))
    return {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Lhs2, AccessKind::Rhs2};
  return {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Values};
}

/// Queries, or what arrives for them: all else has a line for each key.
bool isOfRows(AccessKind kind) { return kind == AccessKind::Lhs || kind == AccessKind::Lhs2; }

/// A tensor of heads: [sequences, times, heads, columns] in place, or [sequences and heads, times,
/// columns].
struct HeadsType {
  bool inPlace = false;
  Dims sequences, heads, times, columns;

  HeadsType(TensorType lies, AccessAttr access) : inPlace(isInPlace(access)) {
    ArrayRef<Attribute> dims = lies.getDims();
    size_t rank = dims.size(), front = rank - 2;
    if (inPlace) {
      AffineMap map = access.getMap().getValue();
      while (map.getDimPosition(front) + 2 != rank) // to the times
        --front;
    }
    sequences = Dims(dims.take_front(front));
    times = {dims[front]};
    heads = Dims(dims.drop_back().drop_front(front + 1));
    columns = {dims.back()};
  }
};

HeadsType heldHeads(KernelOp kernel, AccessKind kind) {
  unsigned input = inputOf(kernel, kind);
  return {cast<TensorType>(kernel.getInputs()[input].getType()), kernel.getInputAccess(input)};
}

Launch::Map tensorMapOf(KernelOp kernel, AccessKind kind, int64_t lines) {
  HeadsType held = heldHeads(kernel, kind);
  Dims one{Builder(kernel.getContext()).getI64IntegerAttr(1)};
  Dims sequences = held.sequences.empty() ? one : held.sequences;
  Launch::Map map{inputOf(kernel, kind), {}};
  if (held.inPlace)
    map.dimensions = {{sequences, 1}, {held.times, lines}, {held.heads, 1}};
  else
    map.dimensions = {{one, 1}, {sequences, 1}, {held.times, lines}};
  map.dimensions.push_back({held.columns, kBoxColumns});
  return map;
}

Tiling tilingOf(KernelOp kernel, const GroupTile &tile, const Problem &problem) {
  Tiling tiling;
  tiling.tensor = tiling.warpgroup = tiling.alternates = true;
  tiling.rows = static_cast<double>(tile.lines());
  tiling.columns = problem.columns;
  tiling.depth = static_cast<double>(tile.step);
  tiling.stages = static_cast<double>(tile.slots);
  tiling.threads = static_cast<double>(tile.threads());
  tiling.registers =
      std::floor(static_cast<double>(kRegistersPerSm / tile.blocks()) / tiling.threads / 8) * 8;
  tiling.sharedBytes = static_cast<double>(bytesOfBlock(kernel, tile));
  // Copies write what all groups read.
  tiling.sharedTraffic = 2 * problem.columns * static_cast<double>(1 + tile.groups);
  return tiling;
}

} // namespace

void addWarpgroupPlans(PlanList &plans, const Problem &problem) {
  for (const GroupTile &tile : tilesFor(plans.kernel)) {
    Tiling tiling = tilingOf(plans.kernel, tile, problem);
    if (residentBlocks(plans.chip, tiling) == 0)
      continue;
    Problem products = problem;
    products.operations = 0; // one group computes elements while others multiply
    Estimate estimate = estimateContraction(plans.chip, products, tiling);
    estimate.operations += problem.operations;
    estimate.microseconds =
        std::max(estimate.microseconds, elementMicroseconds(plans.chip, problem, tiling.rows));
    plans.add(CudaPlanKind::Warpgroup, {tile.step, tile.groups, tile.slots}, 1, 1, estimate);
  }
}

FailureOr<Launch> getWarpgroupLaunch(KernelOp kernel, CudaPlanAttr plan) {
  std::optional<GroupTile> tile = tileOf(plan);
  if (!tile)
    return kernel.emitOpError("has a warpgroup plan that attention's kernels cannot run; leave it "
                              "to halftone-plan-tiles");
  ArrayRef<Attribute> domain = kernel.getDomain().getValue();
  Launch launch;
  launch.threads = tile->threads();
  launch.sharedBytes = bytesOfBlock(kernel, *tile);
  if (isByColumns(kernel))
    launch.axes = {{Dims(kernel.getBatchDims()), 1}, {Dims(domain.take_back()), tile->lines()}};
  else
    launch.axes = {{Dims(domain.drop_back(2)), 1},
                   {Dims(domain.drop_back().take_back()), tile->lines()}};
  if (launch.axes.front().extent.empty())
    launch.axes.erase(launch.axes.begin());
  for (AccessKind kind : operandsOf(kernel)) {
    bool stays = isOfRows(kind) != isByColumns(kernel);
    launch.maps.push_back(tensorMapOf(kernel, kind, stays ? tile->lines() : tile->step));
  }
  return launch;
}

std::string describeWarpgroups(CudaPlanAttr plan, StringRef lines, StringRef others) {
  GroupTile tile = *tileOf(plan);
  return ("tensor " + Twine(tile.lines()) + " " + lines + ", " + Twine(tile.step) + " " + others +
          " at a time, warp groups, " + Twine(tile.slots) + " slots")
      .str();
}

std::string getWarpgroupTile(KernelOp kernel, CudaPlanAttr plan) {
  GroupTile tile = *tileOf(plan);
  HeadColumns columns = columnsOf(kernel);
  std::string heads = std::to_string(columns.first) + ", " + std::to_string(columns.second);
  if (!isByColumns(kernel))
    return (Twine(tile.step) + ", " + heads + ", " + Twine(tile.groups) + ", " + Twine(tile.slots))
        .str();
  return (Twine(tile.lines()) + ", " + heads + ", " + Twine(tile.slots)).str();
}

std::string getWarpgroupArguments(KernelOp kernel) {
  return hasTwoProducts(kernel) ? ", map0, map1, map2, map3" : ", map0, map1, map2";
}

//===--- The Body's members ---===//

/// Coordinates of a line, behind that of its first column.
static void printPlace(BodyPrinter &printer, StringRef name, AccessKind kind) {
  HeadsType held = heldHeads(printer.kernel, kind);
  StringRef head = isOfRows(kind) ? "head" : "element", line = isOfRows(kind) ? "row" : "column";
  raw_ostream &out = printer.out;
  out << "  " << kDevice << " void " << name << "(long long " << head << ", int " << line
      << ", int (&at)[3]) const {\n";
  if (held.inPlace)
    out << "    constexpr int kHeads = static_cast<int>(" << cudaProduct(held.heads) << ");\n"
        << "    at[0] = static_cast<int>(" << head << ") % kHeads;\n    at[1] = " << line
        << ";\n    at[2] = static_cast<int>(" << head << ") / kHeads;\n  }\n";
  else
    out << "    at[0] = " << line << ";\n    at[1] = static_cast<int>(" << head
        << ");\n    at[2] = 0;\n  }\n";
}

/// Where the sums of row `row` of all begin: the heads' rows one after another, or in place.
static std::string lineText(const HeadsType &held) {
  std::string columns = cudaProduct(held.columns);
  if (!held.inPlace)
    return "row * " + columns;
  std::string times = cudaProduct(held.times), heads = "(" + cudaProduct(held.heads) + ")";
  return "((row / (" + times + " * " + heads + ") * " + times + " + row % " + times + ") * " +
         heads + " + row / " + times + " % " + heads + ") * " + columns;
}

static void printStorePair(BodyPrinter &printer, StringRef name, AccessKind kind) {
  KernelOp kernel = printer.kernel;
  for (auto [i, result] : llvm::enumerate(kernel.getStored())) {
    if (!isStoredAs(kernel, i, kind))
      continue;
    auto type = cast<TensorType>(result.getType());
    HeadsType held(type, kernel.getResultAccess(i));
    std::string place = numbered("result", i) + " + " + lineText(held) + " + column";
    printer.out << "  " << kDevice << " void " << name
                << "(long long row, int column, float a, float b) const {\n";
    if (type.getElementType().isF32()) {
      printer.out << "    halftone::kernels::ptx::st_global(" << place
                  << ",\n        {__float_as_uint(a), __float_as_uint(b)});\n  }\n";
      continue;
    }
    StringRef word = encoding::word(elementOf(type.getElementType()));
    std::string round = ("halftone::kernels::to_" + word).str();
    printer.out << "    const " << cudaType(type.getElementType()) << " pair[2] = {" << round
                << "(a), " << round << "(b)};\n"
                << "    *reinterpret_cast<unsigned int*>(" << place
                << ") = halftone::kernels::word_of(pair);\n  }\n";
  }
}

void printWarpgroupMembers(BodyPrinter &printer) {
  KernelOp kernel = printer.kernel;
  bool two = hasTwoProducts(kernel);
  printPlace(printer, "lhs_at", AccessKind::Lhs);
  printPlace(printer, "rhs_at", AccessKind::Rhs);
  if (two) {
    printPlace(printer, "second_lhs_at", AccessKind::Lhs2);
    printPlace(printer, "second_rhs_at", AccessKind::Rhs2);
  } else {
    printPlace(printer, "values_at", AccessKind::Values);
  }
  if (isByColumns(kernel)) {
    printStorePair(printer, "store_pair", AccessKind::Lhs);
    printStorePair(printer, "store_second_pair", AccessKind::Lhs2);
  } else {
    printStorePair(printer, "store_pair", two ? AccessKind::Rhs : AccessKind::Values);
  }
}

} // namespace halftone::skeletons
