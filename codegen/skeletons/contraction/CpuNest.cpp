// SPDX-License-Identifier: Apache-2.0
// Contractions: along k block by block, lhs is widened where it holds codes, a panel of rhs is
// packed as f32, and a register tile runs over the rows. Sums wait in a scratch tile between
// blocks, so that every result stays one chain with k ascending (N1); then the body.
#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cpu/Casts.h"
#include "codegen/skeletons/contraction/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

namespace {

constexpr int64_t kBlock = 256;    // of k: a packed panel stays in the first-level cache
constexpr int64_t kRowChunk = 128; // N3

class Nest {
public:
  Nest(Code &code, Frame &frame)
      : code(code), frame(frame), body(code, frame), height(frame.variant.tileRows),
        width(frame.variant.tileColumns), tileRows((*frame.kernel.getCpuTile())[0]),
        tileColumns((*frame.kernel.getCpuTile())[1]) {
    Matrices matrices = findMatrices(frame.kernel);
    lhs = matrixOf(matrices.lhs);
    rhs = matrixOf(matrices.rhs);
    isBatch = !frame.kernel.getBatchDims().empty();
    rows = frame.product(code, frame.kernel.getDomainType().getRowDims().drop_front(
                                   frame.kernel.getBatchDims().size()));
    depth = frame.product(code, frame.kernel.getReduction().getValue());
    columns = frame.columns(code);
    panel = code.scratch(code.f32(), kBlock * width);
    if (isCode(lhs.format))
      widened = code.scratch(code.f32(), kBlock * tileRows);
    sums = code.scratch(code.f32(), sumRows() * llvm::alignTo(tileColumns, width));
    frame.kernel.getBody().walk([&](LhsSumOp op) { lhsSumOps.push_back(op); });
    if (!lhsSumOps.empty())
      lhsSums = code.scratch(code.f32(), tileRows + width);
  }

  void build(Value first, Value last) {
    body.enterKernel();
    Value columnTiles = code.ceilDivide(columns, tileColumns);
    code.loop(first, last, 1, [&](Value task) {
      Value rowTile = code.divide(task, columnTiles),
            columnTile = code.remainder(task, columnTiles);
      if (isBatch)
        rowTile = enterElement(rowTile);
      begin = code.multiply(rowTile, code.integer(tileRows));
      end = code.minimum(code.add(begin, code.integer(tileRows)), rows);
      left = code.multiply(columnTile, code.integer(tileColumns));
      Value right = code.minimum(code.add(left, code.integer(tileColumns)), columns);
      Value isLeft = code.equal(columnTile, code.integer(0));
      if (!lhsSumOps.empty())
        // Every task, or those of the first column tile.
        code.when(elementsUseLhsSum(frame.kernel) ? code.less(begin, end) : isLeft, [&] {
          code.loop(begin, end, frame.kernel.getTransposeLhs() ? width : 1,
                    [&](Value row) { sumLhs(row); });
        });
      code.loop(code.integer(0), depth, kBlock, [&](Value block) { addBlock(block, right); });
      code.loop(left, right, width, [&](Value column) { storePanel(column); });
      if (hasResults(frame.kernel, AccessKind::Row))
        code.when(isLeft, [&] { buildRowResults(); });
    });
  }

private:
  struct Matrix {
    Value pointer;
    Type format;
  };

  Matrix matrixOf(unsigned input) {
    auto type = cast<ir::TensorType>(frame.kernel.getInputs()[input].getType());
    return {frame.input(input), type.getElementType()};
  }

  /// Of a batch: sets the element that the row tile belongs to, and returns the tile's number in
  /// it.
  Value enterElement(Value rowTile) {
    Value tiles = code.ceilDivide(rows, tileRows);
    Value element = arith::DivSIOp::create(code.builder, code.loc, rowTile, tiles);
    Matrices matrices = findMatrices(frame.kernel);
    auto elementOf = [&](unsigned input, Value extent) -> Matrix {
      Matrix whole = matrixOf(input);
      Value size = code.multiply(extent, depth);
      return {addressIn(whole, code.multiply(element, size)), whole.format};
    };
    lhs = elementOf(matrices.lhs, rows);
    rhs = elementOf(matrices.rhs, columns);
    rowsBefore = code.multiply(element, rows);
    return code.subtract(rowTile, code.multiply(element, tiles));
  }

  Value addressIn(const Matrix &matrix, Value index) {
    return code.address(matrix.pointer, storageOf(matrix.format), index);
  }
  /// The f32 values of `lanes` neighbours, of one where it is 0.
  Value loadFrom(const Matrix &matrix, unsigned lanes, Value address, Value mask = {}) {
    Type storage = storageOf(matrix.format);
    Type type = lanes ? Type(code.vector(storage, lanes)) : storage;
    return widen(code, frame.variant, matrix.format, code.load(type, address, mask));
  }

  Value lhsAt(Value row, Value k) {
    return addressIn(lhs, frame.kernel.getTransposeLhs() ? code.add(code.multiply(k, rows), row)
                                                         : code.add(code.multiply(row, depth), k));
  }

  /// widened[row - begin][k - block], or transposed as lhs is.
  Value widenedAt(Value row, Value block, Value k) {
    Value r = code.subtract(row, begin), depthInBlock = code.subtract(k, block);
    return code.address(widened, code.f32(),
                        frame.kernel.getTransposeLhs()
                            ? code.add(code.multiply(depthInBlock, code.integer(tileRows)), r)
                            : code.add(code.multiply(r, code.integer(kBlock)), depthInBlock));
  }

  Value maskAt(Value column) {
    return frame.fillsRows(width) ? Value()
                                  : code.firstLanes(code.subtract(columns, column), width);
  }

  /// Adds the products of k in [block, block + kBlock) to the task's sums.
  void addBlock(Value block, Value right) {
    Value blockEnd = code.minimum(code.add(block, code.integer(kBlock)), depth);
    if (widened)
      widenLhs(block, blockEnd);
    Value isFirst = code.equal(block, code.integer(0));
    code.loop(left, right, width, [&](Value column) {
      pack(column, maskAt(column), block, blockEnd);
      code.loop(begin, end, height,
                [&](Value row) { multiply(row, column, block, blockEnd, isFirst); });
    });
  }

  void storePanel(Value column) {
    Value mask = maskAt(column);
    code.loop(begin, end, 1, [&](Value row) {
      enterRow(row);
      body.enterElement(column, mask, static_cast<unsigned>(width));
      body.setAccumulator(code.load(vector(), sumsAt(row, column)));
      body.storeFull();
    });
  }

  /// Once per block for all panels: widening would else cost a quarter of their products.
  void widenLhs(Value block, Value blockEnd) {
    if (frame.kernel.getTransposeLhs())
      code.loop(block, blockEnd, 1, [&](Value k) {
        widenLine(lhsAt(begin, k), widenedAt(begin, block, k), code.subtract(end, begin));
      });
    else
      code.loop(begin, end, 1, [&](Value row) {
        widenLine(lhsAt(row, block), widenedAt(row, block, block), code.subtract(blockEnd, block));
      });
  }

  void widenLine(Value source, Value destination, Value count) {
    const Matrix line{source, lhs.format};
    auto widenFrom = [&](Value first, Value last, unsigned lanes) {
      code.loop(first, last, std::max(lanes, 1u), [&](Value i) {
        code.store(loadFrom(line, lanes, addressIn(line, i)),
                   code.address(destination, code.f32(), i));
      });
    };
    Value main = code.roundDown(count, width);
    widenFrom(code.integer(0), main, static_cast<unsigned>(width));
    widenFrom(main, count, 0);
  }

  VectorType vector() { return code.vector(code.f32(), static_cast<unsigned>(width)); }
  /// Rows of the scratch tile of sums: the last register tile may reach past the task's rows.
  int64_t sumRows() const { return tileRows + height; }
  Value sumsAt(Value row, Value column) {
    return code.address(
        sums, code.f32(),
        code.add(code.multiply(code.subtract(column, left), code.integer(sumRows())),
                 code.multiply(code.subtract(row, begin), code.integer(width))));
  }
  Value panelAt(Value block, Value k) {
    return code.address(panel, code.f32(),
                        code.multiply(code.subtract(k, block), code.integer(width)));
  }

  /// panel[k - block][0 .. width) = rhs(k, column ...), zero past the last column.
  void pack(Value column, Value mask, Value block, Value blockEnd) {
    if (!frame.kernel.getTransposeRhs()) {
      code.loop(block, blockEnd, 1, [&](Value k) {
        Value source = addressIn(rhs, code.add(code.multiply(k, columns), column));
        code.store(loadFrom(rhs, static_cast<unsigned>(width), source, mask), panelAt(block, k));
      });
      return;
    }
    int64_t square = std::min<int64_t>(8, width); // one AVX2 register
    Value squaresEnd = code.add(block, code.roundDown(code.subtract(blockEnd, block), square));
    code.loop(code.integer(0), code.integer(width), square, [&](Value lane) {
      SmallVector<Matrix> lines;
      for (int64_t i = 0; i < square; ++i) {
        // Past the last column the last one is read again: those lanes are never stored.
        Value at = code.minimum(code.add(column, code.add(lane, code.integer(i))),
                                code.subtract(columns, code.integer(1)));
        lines.push_back({addressIn(rhs, code.multiply(at, depth)), rhs.format});
      }
      code.loop(block, squaresEnd, square, [&](Value k) {
        Values vectors;
        for (const Matrix &line : lines)
          vectors.push_back(loadFrom(line, static_cast<unsigned>(square), addressIn(line, k)));
        code.transpose(vectors);
        for (auto [i, vector] : llvm::enumerate(vectors))
          code.store(vector,
                     code.address(panelAt(block, code.add(k, code.integer(i))), code.f32(), lane));
      });
      code.loop(squaresEnd, blockEnd, 1, [&](Value k) {
        for (auto [i, line] : llvm::enumerate(lines))
          code.store(loadFrom(line, 0, addressIn(line, k)),
                     code.address(panelAt(block, k), code.f32(), code.add(lane, code.integer(i))));
      });
    });
  }

  /// One register tile: rows [row, row + height), clamped to the last row, times the panel.
  void multiply(Value row, Value column, Value block, Value blockEnd, Value isFirst) {
    Value lastRow = code.subtract(rows, code.integer(1));
    SmallVector<Value> rowsOfTile, sumsOfRow;
    Values initial;
    for (int64_t r = 0; r < height; ++r) {
      Value at = code.add(row, code.integer(r));
      rowsOfTile.push_back(code.minimum(at, lastRow));
      sumsOfRow.push_back(sumsAt(at, column));
      Value kept = code.load(vector(), sumsOfRow.back());
      initial.push_back(
          arith::SelectOp::create(code.builder, code.loc, isFirst, code.splat(0.0f, width), kept));
    }
    Values results = code.loop(block, blockEnd, 1, initial, [&](Value k, ValueRange carried) {
      Value line = code.load(vector(), panelAt(block, k));
      Values next;
      for (auto [at, sum] : llvm::zip(rowsOfTile, carried)) {
        Value factor =
            code.splat(code.load(code.f32(), widened ? widenedAt(at, block, k) : lhsAt(at, k)),
                       static_cast<unsigned>(width));
        next.push_back(math::FmaOp::create(code.builder, code.loc, factor, line, sum));
      }
      return next;
    });
    for (auto [address, result] : llvm::zip(sumsOfRow, results))
      code.store(result, address);
  }

  /// Values per row of the result: sums of lhs over k by N3, and what the body makes of them.
  void buildRowResults() {
    code.loop(begin, end, 1, [&](Value row) {
      enterRow(row);
      body.storeRow();
    });
  }

  void enterRow(Value row) {
    body.enterRow(isBatch ? code.add(rowsBefore, row) : row);
    for (LhsSumOp op : lhsSumOps)
      body.knowRow(
          op, code.load(code.f32(), code.address(lhsSums, code.f32(), code.subtract(row, begin))));
  }

  void sumLhs(Value row) {
    bool wide = frame.kernel.getTransposeLhs(); // neighbouring rows lie side by side
    unsigned lanes = wide ? static_cast<unsigned>(width) : 0;
    Value mask =
        wide ? code.firstLanes(code.subtract(rows, row), static_cast<unsigned>(width)) : Value();
    Value zero = wide ? code.splat(0.0f, static_cast<unsigned>(width)) : code.real(0);
    auto add = [&](Value a, Value b) {
      return Values{arith::AddFOp::create(code.builder, code.loc, a, b)};
    };
    Value total = code.loop(
        code.integer(0), depth, kRowChunk, {zero}, [&](Value chunk, ValueRange totalSoFar) {
          Value chunkEnd = code.minimum(code.add(chunk, code.integer(kRowChunk)), depth);
          Value sum = code.loop(chunk, chunkEnd, 1, {zero}, [&](Value k, ValueRange sumSoFar) {
            return add(sumSoFar[0], loadFrom(lhs, lanes, lhsAt(row, k), mask));
          })[0];
          return add(totalSoFar[0], sum);
        })[0];
    code.store(total, code.address(lhsSums, code.f32(), code.subtract(row, begin)));
  }

  Code &code;
  Frame &frame;
  cpu::Body body;
  int64_t height, width, tileRows, tileColumns;
  Matrix lhs, rhs;
  Value rows, depth, columns, panel, sums, lhsSums;
  Value widened; // a block of lhs as f32; null where lhs holds f32
  bool isBatch;
  Value rowsBefore;       // of a batch: the rows of the elements before this one
  Value begin, end, left; // of the task: its rows in the element, and its first column
  SmallVector<LhsSumOp> lhsSumOps;
};

} // namespace

void Contraction::buildTasks(Code &code, Frame &frame, Value first, Value last) const {
  Nest(code, frame).build(first, last);
}

} // namespace halftone::skeletons
