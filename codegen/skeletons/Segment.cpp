// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/Segment.h"

#include <cmath>
#include <limits>

#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/plan/PlanList.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

// As in segment.cuh: rows of the domain whose segments a thread looks at before it waits.
constexpr int64_t kLooks = 4;
constexpr double kOperationsOfLook = 8;

Segment::Segment(ir::Skeleton word)
    : Skeleton({.word = word, .tilesColumns = true, .stores = {AccessKind::Segment}}) {}

static bool takesLargest(KernelOp kernel) {
  return kernel.getSkeleton() == ir::Skeleton::SegmentMax;
}

/// Whether the value is the same in a whole row.
static bool isOfRow(KernelOp kernel, Value value) {
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (kernel.getElement(i) == value)
      return isUniform(kernel, i);
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast<ir::AxisIndexOp>(op))
    return index.getAxis() + 1 < kernel.getDomain().size();
  return !isa<ColumnIndexOp, ElementIndexOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isOfRow(kernel, operand); });
}

LogicalResult Segment::verify(KernelOp kernel) const {
  if (failed(Skeleton::verify(kernel)))
    return failure();
  if (kernel.getStored().size() != 1)
    return kernel.emitOpError("sums into one result alone; split it into several kernels");
  if (!isOfRow(kernel, kernel.getYield().getInto()))
    return kernel.emitOpError("names the segments of single elements; name those of rows");
  return success();
}

/// [batch..., segments, columns]
static TensorType resultOf(KernelOp kernel) {
  return cast<TensorType>(kernel.getStored()[0].getType());
}

/// Of one element of the batch.
static int64_t countSegments(KernelOp kernel) {
  return *getStaticProduct(resultOf(kernel).getRowDims().take_back());
}

Tile Segment::getDefaultCpuTile(KernelOp) const { return {512, 256}; }

/// Elements of the batch, if there is one, tiles of the result's rows, and of its columns.
static SmallVector<Axis> axesOf(KernelOp kernel, int64_t rows, int64_t columns) {
  ArrayRef<Attribute> dims = resultOf(kernel).getDims();
  SmallVector<Axis> axes;
  if (ArrayRef<Attribute> batch = kernel.getBatchDims(); !batch.empty())
    axes.push_back({Dims(batch), 1});
  axes.push_back({Dims(dims.drop_back().take_back()), rows});
  axes.push_back({Dims(dims.take_back()), columns});
  return axes;
}

SmallVector<Axis> Segment::getTaskAxes(KernelOp kernel) const {
  ArrayRef<int64_t> tile = *kernel.getCpuTile();
  return axesOf(kernel, tile[0], tile[1]);
}

namespace {

/// Segments and columns of one element of the batch that one task owns.
struct Owned {
  Value element, firstRow, lastRow, firstColumn, lastColumn;
};

class OwnedSums {
public:
  OwnedSums(Code &code, Frame &frame)
      : code(code), frame(frame), body(code, frame), lanes(frame.variant.bodyLanes),
        isMax(takesLargest(frame.kernel)) {
    body.enterKernel();
  }

  void buildTask(Value task) {
    Owned owned = ownedBy(task);
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    eachChain(owned, [&](Value address, Value mask) {
      code.store(code.splat(isMax ? -kInfinity : 0.0f, lanes), address, mask);
    });
    ArrayRef<Attribute> batch = frame.kernel.getBatchDims();
    Value rows =
        frame.product(code, frame.kernel.getDomainType().getRowDims().drop_front(batch.size()));
    Value first = code.multiply(owned.element, rows);
    code.loop(first, code.add(first, rows), 1, [&](Value position) {
      body.enterRow(position);
      Value row = arith::ExtSIOp::create(code.builder, code.loc, code.i64(),
                                         body.get(frame.kernel.getYield().getInto()));
      code.when(isInside(row, owned), [&] { add(row, owned); });
    });
    if (!isMax)
      return;
    eachChain(owned, [&](Value address, Value mask) {
      Value largest = code.load(code.vector(code.f32(), lanes), address, mask);
      Value none = compare(arith::CmpFPredicate::OEQ, largest, code.splat(-kInfinity, lanes));
      code.store(select(none, code.splat(0.0f, lanes), largest), address, mask);
    });
  }

private:
  Owned ownedBy(Value task) {
    ArrayRef<int64_t> tile = *frame.kernel.getCpuTile();
    int64_t rows = countSegments(frame.kernel), columns = *resultOf(frame.kernel).getColumns();
    auto columnTiles = static_cast<int64_t>(llvm::divideCeil(columns, tile[1]));
    int64_t tiles = static_cast<int64_t>(llvm::divideCeil(rows, tile[0])) * columnTiles;
    auto range = [&](Value index, int64_t step, int64_t extent) {
      Value first = code.multiply(index, code.integer(step));
      return std::pair(first,
                       code.minimum(code.add(first, code.integer(step)), code.integer(extent)));
    };
    Value element = code.integer(0);
    if (!frame.kernel.getBatchDims().empty()) {
      element = code.divide(task, tiles);
      task = code.remainder(task, code.integer(tiles));
    }
    auto [firstRow, lastRow] = range(code.divide(task, columnTiles), tile[0], rows);
    auto [firstColumn, lastColumn] =
        range(code.remainder(task, code.integer(columnTiles)), tile[1], columns);
    return {element, firstRow, lastRow, firstColumn, lastColumn};
  }

  /// Without a sign, so that a row below the first one is beyond the last.
  Value isInside(Value row, const Owned &owned) {
    return arith::CmpIOp::create(code.builder, code.loc, arith::CmpIPredicate::ult,
                                 code.subtract(row, owned.firstRow),
                                 code.subtract(owned.lastRow, owned.firstRow));
  }

  void eachVector(const Owned &owned, function_ref<void(Value column, Value mask)> visit) {
    code.loop(owned.firstColumn, owned.lastColumn, lanes, [&](Value column) {
      bool whole = frame.fillsRows(lanes);
      visit(column,
            whole ? Value() : code.firstLanes(code.subtract(owned.lastColumn, column), lanes));
    });
  }

  /// Neighbouring columns of all rows that the task owns.
  void eachChain(const Owned &owned, function_ref<void(Value address, Value mask)> visit) {
    code.loop(owned.firstRow, owned.lastRow, 1, [&](Value row) {
      eachVector(owned,
                 [&](Value column, Value mask) { visit(addressOf(owned, row, column), mask); });
    });
  }

  /// The sum, or N5's maximum of the element and what was the largest before it.
  Value joined(Value before, Value element) {
    if (!isMax)
      return arith::AddFOp::create(code.builder, code.loc, before, element);
    Value isLarger = compare(arith::CmpFPredicate::OGT, element, before);
    Value isNan = compare(arith::CmpFPredicate::UNO, element, element);
    Value takes = arith::OrIOp::create(code.builder, code.loc, isLarger, isNan);
    return select(takes, element, before);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(code.builder, code.loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(code.builder, code.loc, condition, a, b);
  }

  void add(Value row, const Owned &owned) {
    eachVector(owned, [&](Value column, Value mask) {
      body.enterElement(column, mask, lanes);
      Value summand = body.getVector(frame.kernel.getYield().getStores()[0]);
      Value address = addressOf(owned, row, column);
      Value sum = code.load(code.vector(code.f32(), lanes), address, mask);
      code.store(joined(sum, summand), address, mask);
    });
  }

  Value addressOf(const Owned &owned, Value row, Value column) {
    Value segment =
        code.add(code.multiply(owned.element, code.integer(countSegments(frame.kernel))), row);
    Value index = code.add(code.multiply(segment, frame.columns(code)), column);
    return code.address(frame.stored(0), code.f32(), index);
  }

  Code &code;
  Frame &frame;
  Body body;
  unsigned lanes;
  bool isMax;
};

} // namespace

void Segment::buildTasks(Code &code, Frame &frame, Value first, Value last) const {
  OwnedSums sums(code, frame);
  code.loop(first, last, 1, [&](Value task) { sums.buildTask(task); });
}

/// {threads, rows}: a thread has a column of the block's rows.
Tile Segment::getDefaultCudaTile(KernelOp kernel) const {
  return {std::min<int64_t>(128, llvm::alignTo(*kernel.getColumns(), kWarp)), 32};
}

/// Of segment.cuh: sums, matches, and how many each warp has.
static int64_t sharedBytes(int64_t threads, int64_t rows) {
  return 4 * (threads * rows + threads * kLooks + 2 * threads / kWarp);
}

FailureOr<Launch> Segment::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  ArrayRef<int64_t> tile = plan.getTile();
  if (tile.size() != 2 || !isWarps(tile[0]) || tile[1] <= 0 ||
      sharedBytes(tile[0], tile[1]) > kStaticShared)
    return refuseTile(kernel);
  Launch launch;
  launch.threads = tile[0];
  launch.axes = axesOf(kernel, tile[1], tile[0]);
  return launch;
}

StringRef Segment::getDeviceName(KernelOp kernel, CudaPlanAttr) const {
  return kernel.getBatchDims().empty() ? "segment" : "batched_segment";
}

std::string Segment::getPlanArguments(KernelOp kernel, CudaPlanAttr plan) const {
  std::string arguments = Skeleton::getPlanArguments(kernel, plan);
  return takesLargest(kernel) ? arguments + ", halftone::kernels::segment::Largest" : arguments;
}

/// Every block looks at the segments of all rows of its element of the batch, so fewer and larger
/// ones look less; but there shall be enough of them for the chip.
void Segment::addPlans(PlanList &plans) const {
  CudaPlanAttr standard = getDefaultPlan(plans.kernel);
  SmallVector<Tile> tiles = {Tile(standard.getTile())};
  if (!plans.kernel.getCudaTile())
    for (int64_t rows : {4, 16})
      tiles.push_back({standard.getTile()[0], rows});
  for (const Tile &tile : tiles) {
    double blocks = 1;
    for (const Axis &axis : axesOf(plans.kernel, tile[1], tile[0]))
      blocks *= std::ceil(plans.extent(axis.extent) / static_cast<double>(axis.tile));
    Problem problem = plans.problem;
    problem.operations +=
        blocks * problem.rows / plans.extent(plans.kernel.getBatchDims()) * kOperationsOfLook;
    plans.add(standard.getKind(), tile, 1, 1,
              estimateElements(plans.chip, problem, blocks, static_cast<double>(tile[0])));
  }
}

BodyForm Segment::getBodyForm(KernelOp kernel, CudaPlanAttr) const {
  BodyForm form;
  form.constants = bodyConstant("kSegments", countSegments(kernel));
  form.after = ", float* terms";
  form.members = [](BodyPrinter &printer) {
    if (failed(printer.printUniforms(
            (kDevice + " void find(const Uniforms& uniforms, int& segment) const").str(),
            {printer.kernel.getYield().getInto()}, printer.uniformNames(), {"segment"})))
      return failure();
    printer.out << "  " << kDevice
                << " void store_segment(long long segment, int column, float sum) const {\n"
                << "    result0[segment * columns() + column] = sum;\n  }\n";
    return success();
  };
  return form;
}

} // namespace halftone::skeletons
