// SPDX-License-Identifier: Apache-2.0
// Contractions: a task goes along k block by block. Its part of lhs is copied as f32 once per
// block, a panel of rhs at a time is packed as f32, and register tiles run over the rows. Sums wait
// in memory between blocks, so that every result stays one chain with k ascending (N1); behind the
// last block the body takes them, a register tile at a time. How long blocks are, the runtime says
// (manifest::CpuBlocks), and whether tasks without rows pack rhs for those that follow. Where bf16
// is not widened, copies are CpuPacking's and products CpuTiles' or CpuPairs'.
#include "codegen/emit/cpu/Body.h"
#include "codegen/skeletons/contraction/Contraction.h"
#include "codegen/skeletons/contraction/CpuMaximum.h"
#include "codegen/skeletons/contraction/CpuOperands.h"
#include "codegen/skeletons/contraction/CpuPairs.h"
#include "codegen/skeletons/contraction/CpuPhase.h"
#include "codegen/skeletons/contraction/CpuTiles.h"
#include "halftone/manifest/blocks.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

namespace {

constexpr int64_t kUnroll = 2; // steps of k, of a packed panel
constexpr int64_t kLineBytes = 64;

class Nest {
public:
  Nest(Code &code, Frame &frame)
      : code(code), frame(frame), body(code, frame), operands(code, frame),
        registers(frame.variant.tileOf(frame.kernel.getColumns())), height(registers.rows),
        width(registers.columns) {
    isBatch = !frame.kernel.getBatchDims().empty();
    rows = frame.product(code, rowDims());
    if (std::optional<Phases> phases = findCpuPhases(frame.kernel)) {
      phase.emplace(code, frame, std::move(*phases));
      operands.follow(*phase);
    }
    depth = frame.product(code, frame.kernel.getReduction().getValue());
    columns = frame.columns(code);
    rowsOfTask = blockField(0, code.i64());
    columnsOfTask = blockField(1, code.i64());
    depthOfBlock = blockField(2, code.i64());
    Value lhsBlock = blockField(3, code.pointer()), panel = blockField(4, code.pointer());
    placePanels(lhsBlock, panel);
    sums = blockField(5, code.pointer());
    lhsSums = blockField(6, code.pointer());
    frame.kernel.getBody().walk([&](LhsSumOp op) { lhsSumOps.push_back(op); });
    start = findMatrices(frame.kernel).start;
    if (frame.kernel.hasFinish())
      maximum.emplace(code, frame, lanes());
  }

  void build(Value first, Value last) {
    body.enterKernel();
    if (tiles)
      tiles->configure();
    Value columnTasks = code.ceilDivide(columns, columnsOfTask);
    code.loop(first, last, 1, [&](Value task) {
      Value rowTask = code.divide(task, columnTasks),
            columnTask = code.remainder(task, columnTasks);
      rowTask = enterElement(rowTask);
      begin = code.multiply(rowTask, rowsOfTask);
      Value behind = code.minimum(code.add(begin, rowsOfTask), phase ? phase->rows() : rows);
      end = code.select(isPacking, begin, behind);
      firstK = code.integer(0);
      lastK = depth;
      Value blocksEnd = phase ? limitToPhase() : depth;
      left = code.multiply(columnTask, columnsOfTask);
      Value right = code.minimum(code.add(left, columnsOfTask), columns);
      paddedRows =
          code.multiply(code.ceilDivide(code.subtract(end, begin), height), code.integer(height));
      Value isLeft = code.equal(columnTask, code.integer(0));
      if (maximum)
        maximum->beginTask();
      if (!lhsSumOps.empty())
        // Every task, or those of the first columns.
        code.when(elementsUseLhsSum(frame.kernel) ? code.less(begin, end) : isLeft, [&] {
          code.loop(begin, end, frame.kernel.getTransposeLhs() ? operands.lanesOfPart() : 1,
                    [&](Value row) { sumLhs(row); });
        });
      code.loop(firstK, blocksEnd, depthOfBlock, [&](Value block) { addBlock(block, right); });
      if (hasResults(frame.kernel, AccessKind::Row))
        code.when(isLeft, [&] { buildRowResults(); });
      if (maximum)
        maximum->endTask();
    });
    if (tiles)
      tiles->release();
  }

private:
  /// Of an element of the batch.
  ArrayRef<Attribute> rowDims() const {
    KernelOp kernel = frame.kernel;
    return kernel.getDomainType().getRowDims().drop_front(kernel.getBatchDims().size());
  }

  /// A block along k: where it begins, its length, and whether its sums go on from others, and are
  /// whole behind it.
  struct Step {
    Value begin, length, isLater, isLast;
  };

  /// A register tile's columns of rhs: packed, or where they lie.
  struct Panel {
    Value column;
    Values masks; // of its parts
    bool isPacked;
  };

  /// Of manifest::CpuBlocks.
  Value blockField(int64_t index, Type type) {
    return code.load(type, code.address(frame.blocks, code.i64(), code.integer(index)));
  }

  /// Where rhs is packed, and by whom (manifest::Panels).
  void placePanels(Value lhsBlock, Value ownPanel) {
    auto mode = [](manifest::Panels panels) { return static_cast<int64_t>(panels); };
    Value rhs = blockField(8, code.pointer()), panels = blockField(9, code.i64());
    isPacking = code.equal(panels, code.integer(mode(manifest::Panels::packing)));
    packs = code.less(panels, code.integer(mode(manifest::Panels::packed)));
    Value isApart = code.less(code.integer(mode(manifest::Panels::own)), panels);
    operands.place(lhsBlock, ownPanel, depthOfBlock, rhs, isApart);
    if (frame.variant.widensBf16())
      return;
    packing.emplace(code, frame, operands)
        .place(lhsBlock, ownPanel, depthOfBlock, rhs, isApart, depth);
    if (CpuTiles::run(frame))
      tiles.emplace(code, frame, *packing);
    else
      pairs.emplace(code, *packing);
  }

  /// Sets the element of the batch that the task of rows belongs to, and the phase, and returns its
  /// number in these.
  Value enterElement(Value rowTask) {
    if (!isBatch && !phase) {
      operands.enter(rows, columns, depth, {});
      return rowTask;
    }
    Value most = phase ? frame.product(code, phase->longestRows()) : rows;
    Value tasks = code.ceilDivide(most, rowsOfTask), element = code.divide(rowTask, tasks);
    if (phase) {
      Value phases = code.integer(phase->count());
      phase->enter(code.remainder(element, phases));
      element = isBatch ? code.divide(element, phases) : Value();
    }
    operands.enter(phase ? phase->rows() : rows, columns, depth, element);
    if (isBatch)
      rowsBefore = code.multiply(element, rows);
    return code.remainder(rowTask, tasks);
  }

  /// Rows and k of the task to those of the phase at hand, where it does not pack for all. Returns
  /// where blocks end: of no k there is an empty one, whose sums are zeros, and of no rows none.
  Value limitToPhase() {
    end = code.maximum(begin, end);
    firstK = code.select(isPacking, firstK, phase->begin());
    lastK = code.select(isPacking, lastK, phase->end());
    Value some = code.maximum(lastK, code.add(firstK, code.integer(1)));
    return code.select(isPacking, lastK, code.select(code.less(begin, end), some, firstK));
  }

  /// Adds the products of a block to the task's sums; those that are whole then go to the body.
  void addBlock(Value block, Value right) {
    Value blockEnd = code.minimum(code.add(block, depthOfBlock), lastK);
    Value isLater = code.less(start ? code.integer(-1) : firstK, block);
    Step step{block, code.subtract(blockEnd, block), isLater, code.equal(blockEnd, lastK)};
    if (packing)
      packing->packLhs(begin, end, block, step.length);
    else
      operands.copyLhs(begin, paddedRows, block, step.length);
    auto addPanels = [&](bool inPlace) {
      const int64_t group = inPlace || packing ? width : width * operands.panelsAtOnce();
      code.loop(left, right, group, [&](Value first) {
        Value behind = code.minimum(code.add(first, code.integer(group)), right);
        if (!inPlace)
          makePanels(first, behind, step);
        code.loop(first, behind, width, [&](Value column) {
          if (!inPlace && !packing)
            operands.choosePanel(code.subtract(column, first));
          addPanel({column, masksAt(column), !inPlace}, step);
        });
      });
    };
    if (!mayHaveFewRows())
      return addPanels(false);
    Value few = code.integer(manifest::kFewRows), many = code.add(few, code.integer(1));
    Value count = code.select(isPacking, many, code.subtract(end, begin));
    code.when(code.less(few, count), [&] { addPanels(false); });
    code.when(code.less(count, many), [&] { addPanels(true); });
  }

  /// Where the block's panels of columns [first, behind) are: packed here, unless they were before.
  void makePanels(Value first, Value behind, const Step &step) {
    if (packing)
      packing->enterPanel(first, step.begin);
    else
      operands.enterPanels(first, step.begin);
    code.when(packs, [&] {
      if (packing)
        packing->packRhs(first, columns, step.begin, step.length);
      else
        operands.packRhs(
            first, behind, [&](Value column) { return masksAt(column); }, step.begin, step.length);
    });
  }

  /// The lanes of a part from `column` on that are before the last column.
  Value maskAt(Value column) {
    return frame.fillsRows(width) ? Value()
                                  : code.firstLanes(code.subtract(columns, column), lanes());
  }
  /// Of each part of a register tile.
  Values masksAt(Value column) {
    Values masks;
    for (int64_t part = 0; part < operands.parts(); ++part)
      masks.push_back(maskAt(code.add(column, code.integer(part * lanes()))));
    return masks;
  }

  /// Whether there are tasks that use each element of rhs too few times for a copy to be worth it.
  /// Pairs of bf16 want one, and so does what is gathered.
  bool mayHaveFewRows() const {
    std::optional<int64_t> all = getStaticProduct(phase ? phase->longestRows() : rowDims());
    bool isGathered(frame.kernel.getInputAccess(findMatrices(frame.kernel).rhs).getMap());
    return !packing && !isGathered && !frame.kernel.getTransposeRhs() &&
           all.value_or(1) <= manifest::kFewRows;
  }

  /// Register tiles of the full height, then lower ones where they waste less.
  void addPanel(const Panel &panel, const Step &step) {
    Value count = code.subtract(end, begin), full = code.divide(count, height),
          rest = code.remainder(count, code.integer(height));
    Value tall = code.integer(height), shortHeight = tall;
    if (int64_t low = registers.lowRows)
      shortHeight = code.select(code.less(rest, code.integer(height - low + 1)), code.integer(low),
                                shortHeight);
    if (!tiles)
      shortHeight = code.select(code.equal(rest, code.integer(1)), code.integer(1), shortHeight);
    Value tiles = code.add(full, code.ceilDivide(rest, shortHeight));
    code.loop(code.integer(0), tiles, 1, [&](Value index) {
      Value isFull = code.less(index, full);
      Value behind = code.multiply(code.subtract(index, full), shortHeight);
      Value row = code.add(begin, code.select(isFull, code.multiply(index, tall),
                                              code.add(code.multiply(full, tall), behind)));
      Value rowsOfTile = code.select(isFull, tall, shortHeight);
      Value tile = sumsAt(row, panel.column);
      if (start)
        code.when(code.equal(step.begin, code.integer(0)), [&] {
          code.loop(row, code.minimum(code.add(row, rowsOfTile), end), 1,
                    [&](Value inTile) { loadStart(tile, inTile, row, panel); });
        });
      multiplyBy(rowsOfTile, tile, row, panel, step);
      code.when(step.isLast, [&] {
        code.loop(row, code.minimum(code.add(row, rowsOfTile), end), 1,
                  [&](Value inTile) { storeRow(tile, inTile, row, panel); });
      });
    });
  }

  /// By the code for so many rows.
  void multiplyBy(Value rowsOfTile, Value tile, Value row, const Panel &panel, const Step &step) {
    llvm::SmallSetVector<int64_t, 3> heights;
    heights.insert_range(SmallVector<int64_t>{height, registers.lowRows, tiles ? height : 1});
    for (int64_t some : heights)
      if (some > 0)
        code.when(code.equal(rowsOfTile, code.integer(some)), [&] {
          if (tiles)
            tiles->multiply(tile, code.subtract(row, begin), some, step.isLater, step.length);
          else
            multiply(tile, row, some, panel, step);
        });
  }

  unsigned lanes() const { return operands.lanesOfPart(); }
  VectorType vector() { return code.vector(code.f32(), lanes()); }
  Value sumOf(Value tile, Value row) {
    return code.address(tile, code.f32(), code.multiply(row, code.integer(width)));
  }

  /// The sums of a register tile, row by row: its own place in the task, or where one block is all
  /// of k the only one.
  Value sumsAt(Value row, Value column) {
    Value place = code.add(code.multiply(code.subtract(column, left), paddedRows),
                           code.multiply(code.subtract(row, begin), code.integer(width)));
    Value isPart = code.less(depthOfBlock, depth);
    return code.address(sums, code.f32(), code.select(isPart, place, code.integer(0)));
  }

  /// What of the next register tile's sums, which lie behind those of `tile`, a step of k has
  /// fetched, so that they are there when it begins. A variant whose vectors are shorter than a
  /// line is at its limit of instructions, and loses more by them (decisions/0020).
  struct NextSums {
    Value begin, bytesOfStep;
  };

  std::optional<NextSums> findNextSums(Value tile, int64_t tileRows, Value stepsOfBlock) {
    const auto vectorBytes = static_cast<int64_t>(frame.variant.vectorLanes * sizeof(float));
    if (vectorBytes < kLineBytes)
      return std::nullopt;
    const int64_t bytes = tileRows * width * static_cast<int64_t>(sizeof(float));
    Value steps = phase ? code.maximum(stepsOfBlock, code.integer(1)) : stepsOfBlock;
    return NextSums{sumOf(tile, code.integer(tileRows)), code.divide(code.integer(bytes), steps)};
  }

  /// Rows of the copied lhs from `row` on times the panel, added to the sums of `tile`.
  void multiply(Value tile, Value row, int64_t tileRows, const Panel &panel, const Step &step) {
    SmallVector<Value> places;
    Values zeros;
    for (int64_t i = 0; i < tileRows * operands.parts(); ++i) {
      places.push_back(code.address(tile, code.f32(), code.integer(i * lanes())));
      zeros.push_back(code.splat(0.0f, lanes()));
    }
    Values sum = code.when(step.isLater, zeros, [&] {
      Values kept;
      for (Value place : places)
        kept.push_back(code.load(vector(), place));
      return kept;
    });
    Value inBlock = code.subtract(row, begin);
    Value lhs = pairs ? pairs->lhsAt(inBlock) : operands.copiedLhs(inBlock);
    Value steps = pairs ? pairs->pairsOf(step.length) : step.length;
    std::optional<NextSums> ahead = findNextSums(tile, tileRows, steps);
    auto addOf = [&](Value k, int64_t behind, ValueRange sums) {
      if (pairs)
        return pairs->addProducts(lhs, k, pairs->lineOf(k, lanes()), sums);
      return addProducts(lhs, k, behind, lineOf(panel, step, k, behind), sums);
    };
    const int64_t unroll = pairs ? 1 : panel.isPacked ? kUnroll : manifest::kDepthInPlace;
    Value main = code.roundDown(steps, unroll);
    sum = code.loop(code.integer(0), main, unroll, sum, [&](Value k, ValueRange carried) {
      Values next(carried);
      if (ahead)
        code.prefetch(code.address(ahead->begin, code.builder.getI8Type(),
                                   code.multiply(k, ahead->bytesOfStep)));
      for (int64_t i = 0; i < unroll; ++i)
        next = addOf(k, i, next);
      return next;
    });
    if (unroll > 1)
      sum = code.loop(main, steps, 1, sum,
                      [&](Value k, ValueRange carried) { return addOf(k, 0, carried); });
    for (auto [place, value] : llvm::zip(places, sum))
      code.store(value, place);
  }

  /// Of rhs, at k + ahead of the block.
  Values lineOf(const Panel &panel, const Step &step, Value k, int64_t ahead) {
    if (!panel.isPacked)
      return operands.loadRhs(panel.column, panel.masks,
                              code.add(step.begin, code.add(k, code.integer(ahead))));
    Values line;
    for (int64_t part = 0; part < operands.parts(); ++part)
      line.push_back(
          code.load(vector(), code.address(operands.panelAt(k), code.f32(),
                                           code.integer(ahead * width + part * lanes()))));
    return line;
  }

  /// Those of k + ahead.
  Values addProducts(Value lhs, Value k, int64_t ahead, ValueRange line, ValueRange sum) {
    Value factors =
        code.address(lhs, code.f32(), code.multiply(k, code.integer(operands.depthStride())));
    Values next;
    for (int64_t r = 0; !sum.empty(); ++r) {
      int64_t at = r * operands.rowStride() + ahead * operands.depthStride();
      Value factor = code.load(code.f32(), code.address(factors, code.f32(), code.integer(at)));
      Value inAllLanes = code.splat(factor, lanes());
      for (Value part : line) {
        next.push_back(math::FmaOp::create(code.builder, code.loc, inAllLanes, part, sum.front()));
        sum = sum.drop_front();
      }
    }
    return next;
  }

  /// What the chains of a row of the tile begin with.
  void loadStart(Value tile, Value row, Value firstRow, const Panel &panel) {
    eachPart(panel, sumOf(tile, code.subtract(row, firstRow)),
             [&](Value column, Value mask, Value place) {
               Value index = code.add(code.multiply(row, columns), column);
               Value from = code.address(frame.input(*start), code.f32(), index);
               code.store(code.load(vector(), from, mask), place);
             });
  }

  void storeRow(Value tile, Value row, Value firstRow, const Panel &panel) {
    enterRow(row);
    eachPart(panel, sumOf(tile, code.subtract(row, firstRow)),
             [&](Value column, Value mask, Value place) {
               body.enterElement(column, mask, lanes());
               body.setAccumulator(code.load(vector(), place));
               body.storeFull();
               if (maximum)
                 maximum->add(body, mask);
             });
  }

  /// The parts of a register tile's row whose sums are at `row`. Each has a column, since the
  /// tile's width leaves fewer lanes without one than another.
  void eachPart(const Panel &panel, Value row,
                function_ref<void(Value column, Value mask, Value place)> part) {
    for (auto [i, mask] : llvm::enumerate(panel.masks)) {
      Value before = code.integer(static_cast<int64_t>(i) * lanes());
      part(code.add(panel.column, before), mask, code.address(row, code.f32(), before));
    }
  }

  /// Values per row of the result: sums of lhs over k by N3, and what the body makes of them.
  void buildRowResults() {
    code.loop(begin, end, 1, [&](Value row) {
      enterRow(row);
      body.storeRow();
    });
  }

  void enterRow(Value row) {
    Value ofResult = phase ? phase->rowOfResult(row) : row;
    body.enterRow(isBatch ? code.add(rowsBefore, ofResult) : ofResult);
    for (LhsSumOp op : lhsSumOps)
      body.knowRow(
          op, code.load(code.f32(), code.address(lhsSums, code.f32(), code.subtract(row, begin))));
  }

  void sumLhs(Value row) {
    bool wide = frame.kernel.getTransposeLhs(); // neighbouring rows lie side by side
    Value mask = wide ? code.firstLanes(code.subtract(rows, row), lanes()) : Value();
    Value zero = wide ? code.splat(0.0f, lanes()) : code.real(0);
    auto add = [&](Value a, Value b) {
      return Values{arith::AddFOp::create(code.builder, code.loc, a, b)};
    };
    Value total = code.loop(
        code.integer(0), depth, kSumChunk, {zero}, [&](Value chunk, ValueRange totalSoFar) {
          Value chunkEnd = code.minimum(code.add(chunk, code.integer(kSumChunk)), depth);
          Value sum = code.loop(chunk, chunkEnd, 1, {zero}, [&](Value k, ValueRange sumSoFar) {
            return add(sumSoFar[0], operands.loadLhs(row, k, wide ? lanes() : 0, mask));
          })[0];
          return add(totalSoFar[0], sum);
        })[0];
    code.store(total, code.address(lhsSums, code.f32(), code.subtract(row, begin)));
  }

  Code &code;
  Frame &frame;
  cpu::Body body;
  CpuOperands operands;
  std::optional<CpuPhase> phase;     // of a kernel whose tasks have each one
  std::optional<CpuPacking> packing; // where bf16 is not widened, and one of its products:
  std::optional<CpuTiles> tiles;
  std::optional<CpuPairs> pairs;
  std::optional<CpuMaximum> maximum; // of a kernel with a finish
  SumsTile registers;
  int64_t height, width; // of the register tile
  bool isBatch;
  Value rows, depth, columns;
  Value rowsOfTask, columnsOfTask, depthOfBlock, sums, lhsSums;
  Value isPacking, packs;             // whether tasks pack rhs for others, or at all
  Value rowsBefore;                   // of a batch: the rows of the elements before this one
  Value begin, end, paddedRows, left; // of the task: its rows in the element, its first column
  Value firstK, lastK;                // likewise what it sums over
  SmallVector<LhsSumOp> lhsSumOps;
  std::optional<unsigned> start; // the input that chains begin with
};

} // namespace

void Contraction::buildTasks(Code &code, Frame &frame, Value first, Value last) const {
  Nest(code, frame).build(first, last);
}

} // namespace halftone::skeletons
