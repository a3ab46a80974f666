// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/contraction/CpuOperands.h"

#include "codegen/emit/cpu/Casts.h"
#include "codegen/skeletons/contraction/Contraction.h"
#include "halftone/manifest/blocks.hpp"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

int64_t getLhsStride(KernelOp kernel) {
  constexpr int64_t kMostDepth = 512, kTwoLines = 32, kLine = 16;
  if (kernel.getTransposeLhs())
    return 0;
  int64_t depth = getStaticProduct(kernel.getReduction().getValue()).value_or(kMostDepth);
  return static_cast<int64_t>(llvm::alignTo(std::min(depth, kMostDepth), kTwoLines)) + kLine;
}

CpuOperands::CpuOperands(Code &code, Frame &frame)
    : code(code), frame(frame), tile(frame.variant.tileOf(frame.kernel.getColumns())),
      width(tile.columns), stride(getLhsStride(frame.kernel)), lanes(tile.lhsLanes()) {}

void CpuOperands::place(Value lhsMemory, Value panel, Value blockDepth, Value packed,
                        Value packedAhead) {
  lhsBlock = lhsMemory;
  ownPanels = panel;
  depthOfBlock = blockDepth;
  packedRhs = packed;
  isPacked = packedAhead;
}

CpuOperands::Matrix CpuOperands::matrixOf(unsigned input) {
  auto type = cast<ir::TensorType>(frame.kernel.getInputs()[input].getType());
  return {frame.input(input), type.getElementType()};
}

void CpuOperands::enter(Value numberOfRows, Value numberOfColumns, Value reduced, Value ofBatch) {
  element = ofBatch;
  rows = numberOfRows;
  columns = numberOfColumns;
  depth = reduced;
  Matrices matrices = findMatrices(frame.kernel);
  auto of = [&](unsigned input, Value extent, std::optional<CpuLines> &lines) {
    Matrix whole = matrixOf(input);
    if (frame.kernel.getInputAccess(input).getMap())
      lines.emplace(code, frame, input, element, input == matrices.lhs ? phase : nullptr);
    else if (element)
      whole.pointer = addressIn(whole, code.multiply(element, code.multiply(extent, depth)));
    return whole;
  };
  lhs = of(matrices.lhs, rows, lhsLines);
  rhs = of(matrices.rhs, columns, rhsLines);
}

Value CpuOperands::addressIn(const Matrix &matrix, Value index) {
  return code.address(matrix.pointer, storageOf(matrix.format), index);
}

/// The f32 values of `lanes` neighbours, of one where it is 0.
Value CpuOperands::loadFrom(const Matrix &matrix, unsigned count, Value address, Value mask) {
  Type storage = storageOf(matrix.format);
  Type type = count ? Type(code.vector(storage, count)) : storage;
  Value stored = code.load(type, address, mask);
  if (ir::isDelivered(matrix.format)) // codes of a weight (P82)
    return integerOf(code, matrix.format, stored, code.f32());
  return widen(code, frame.variant, matrix.format, stored);
}

Value CpuOperands::lhsAt(Value row, Value k) {
  return addressIn(lhs, stride ? code.add(code.multiply(row, depth), k)
                               : code.add(code.multiply(k, rows), row));
}

Value CpuOperands::rhsAt(Value countedK, Value column) {
  Value k = kOfMap(countedK);
  return addressIn(rhs, frame.kernel.getTransposeRhs()
                            ? code.add(code.multiply(column, depth), k)
                            : code.add(code.multiply(k, columns), column));
}

Value CpuOperands::loadLhs(Value row, Value k, unsigned count, Value mask) {
  return loadFrom(lhs, count, lhsAt(row, k), mask);
}

//===--- The block of lhs ---===//

void CpuOperands::copyLhs(Value begin, Value count, Value block, Value length) {
  if (lhsLines)
    return copyGathered(begin, count, block, length);
  if (stride) {
    Value last = code.subtract(rows, code.integer(1));
    code.loop(code.integer(0), count, 1, [&](Value row) {
      Value destination =
          code.address(lhsBlock, code.f32(), code.multiply(row, code.integer(stride)));
      copyRow(code.minimum(code.add(begin, row), last), destination, block, length);
    });
    return;
  }
  // Of the last rows of all, lanes past them would be read.
  Value inside = code.maximum(
      code.integer(0),
      code.minimum(count, code.subtract(code.subtract(rows, begin), code.integer(lanes - 1))));
  int64_t height = tile.rows;
  Value edge = code.multiply(code.ceilDivide(inside, height), code.integer(height));
  copyLanes(begin, code.integer(0), edge, block, length, false);
  copyLanes(begin, edge, count, block, length, true);
}

void CpuOperands::copyRow(Value row, Value destination, Value block, Value length) {
  constexpr unsigned kMostLanes = 16;
  const unsigned wide = std::min(kMostLanes, static_cast<unsigned>(width));
  auto copy = [&](Value first, Value last, unsigned count) {
    code.loop(first, last, std::max(count, 1u), [&](Value k) {
      code.store(loadFrom(lhs, count, lhsAt(row, code.add(block, k))),
                 code.address(destination, code.f32(), k));
    });
  };
  Value main = code.roundDown(length, wide);
  copy(code.integer(0), main, wide);
  copy(main, length, 0);
}

/// Rows [first, last) behind `begin`, whole register tiles of them, whose k lie behind one another.
/// A few k of all rows go first: what of a line of lhs the next tile wants is then still at hand.
void CpuOperands::copyLanes(Value begin, Value first, Value last, Value block, Value length,
                            bool isEdge) {
  constexpr int64_t kDepthAtOnce = 16;
  unsigned count = lanes > 1 ? static_cast<unsigned>(lanes) : 0;
  code.loop(code.integer(0), length, kDepthAtOnce, [&](Value part) {
    Value behind = code.minimum(code.add(part, code.integer(kDepthAtOnce)), length);
    code.loop(first, last, tile.rows, [&](Value row) {
      Value from = code.add(begin, row), destination = copiedLhs(row);
      Value mask = isEdge && count ? code.firstLanes(code.subtract(rows, from), count) : Value();
      code.loop(part, behind, 1, [&](Value k) {
        code.store(loadFrom(lhs, count, lhsAt(from, code.add(block, k)), mask),
                   code.address(destination, code.f32(), code.multiply(k, code.integer(lanes))));
      });
    });
  });
}

Value CpuOperands::copiedLhs(Value row) {
  if (stride)
    return code.address(lhsBlock, code.f32(), code.multiply(row, code.integer(stride)));
  Value height = code.integer(tile.rows);
  Value index = code.divide(row, height), rowInTile = code.remainder(row, height);
  return code.address(
      lhsBlock, code.f32(),
      code.add(code.multiply(index, code.multiply(depthOfBlock, code.integer(lanes))), rowInTile));
}

//===--- Matrices that are gathered ---===//

/// Elements [0, count), in as few vectors as there are: the last of them ends with the last
/// element, whether or not the one before has some of its elements, too.
void CpuOperands::inVectors(Value count, unsigned lanes,
                            function_ref<void(Value k, unsigned lanes)> body) {
  constexpr unsigned kFewest = 4;
  if (lanes < kFewest)
    return code.loop(code.integer(0), count, 1, [&](Value k) { body(k, 0); });
  Value last = code.subtract(count, code.integer(lanes));
  code.when(
      code.less(last, code.integer(0)), [&] { inVectors(count, lanes / 2, body); },
      [&] {
        code.loop(code.integer(0), last, lanes, [&](Value k) { body(k, lanes); });
        body(last, lanes);
      });
}

/// What a part has of the line at `axes`, as f32.
void CpuOperands::copyPart(bool isLhs, ValueRange axes, const CpuLines::Part &part,
                           Value destination) {
  const CpuLines &lines = *linesOf(isLhs);
  CpuLines::Place place = lines.find(axes, part);
  auto at = [&](Value k) { return code.address(destination, code.f32(), k); };
  const unsigned wide = frame.variant.vectorLanes;
  Value first = code.integer(0), count = part.count;
  if (place.to) {
    first = place.from;
    count = code.subtract(place.to, place.from);
    code.when(code.less(count, part.count), [&] {
      inVectors(part.count, wide, [&](Value k, unsigned lanes) {
        code.store(lanes ? code.splat(0.0f, lanes) : code.real(0), at(k));
      });
    });
  }
  Matrix source{place.address, isLhs ? lhs.format : rhs.format};
  inVectors(count, wide, [&](Value k, unsigned lanes) {
    Value element = code.add(first, k);
    code.store(loadFrom(source, lanes, addressIn(source, element)), at(element));
  });
}

/// A few rows at a time, and of those part by part: what a part has in common stands outside of the
/// loop over rows, and what is copied is still in the first-level cache when the next part follows.
void CpuOperands::copyGathered(Value begin, Value count, Value block, Value length) {
  constexpr int64_t kRowsAtOnce = 16;
  Value behind = code.minimum(code.add(begin, count), rows), end = code.add(begin, count);
  auto rowAt = [&](Value row) {
    return code.address(lhsBlock, code.f32(),
                        code.multiply(code.subtract(row, begin), code.integer(stride)));
  };
  code.loop(begin, behind, kRowsAtOnce, [&](Value first) {
    Value last = code.minimum(code.add(first, code.integer(kRowsAtOnce)), behind);
    lhsLines->eachPart(block, code.add(block, length), [&](const CpuLines::Part &part) {
      lhsLines->eachLine(first, last, [&](Value row, ValueRange axes) {
        copyPart(true, axes, part,
                 code.address(rowAt(row), code.f32(), code.subtract(part.first, block)));
      });
    });
  });
  code.loop(code.maximum(begin, behind), end, 1, [&](Value row) {
    inVectors(length, frame.variant.vectorLanes, [&](Value k, unsigned lanes) {
      code.store(lanes ? code.splat(0.0f, lanes) : code.real(0),
                 code.address(rowAt(row), code.f32(), k));
    });
  });
}

void CpuOperands::packGathered(Value column, Value block, Value length) {
  Value last = code.minimum(code.add(column, code.integer(width)), columns);
  rhsLines->eachPart(column, last, [&](const CpuLines::Part &part) {
    Value inPanel = code.subtract(part.first, column);
    rhsLines->eachLine(block, code.add(block, length), [&](Value k, ValueRange axes) {
      copyPart(false, axes, part,
               code.address(panelAt(code.subtract(k, block)), code.f32(), inPanel));
    });
  });
}

//===--- The panel of rhs ---===//

Value CpuOperands::panelAt(Value k) {
  return code.address(rhsPanel, code.f32(), code.multiply(k, code.integer(width)));
}

int64_t CpuOperands::panelsAtOnce() const {
  bool isGathered(frame.kernel.getInputAccess(findMatrices(frame.kernel).rhs).getMap());
  return frame.kernel.getTransposeRhs() || isGathered ? 1 : manifest::kPanels;
}

void CpuOperands::enterPanels(Value column, Value block) {
  Value ofAll = code.add(code.multiply(column, depth), code.multiply(block, code.integer(width)));
  rhsPanels = rhsPanel =
      code.select(isPacked, code.address(packedRhs, code.f32(), ofAll), ownPanels);
  depthOfPanels = code.select(isPacked, depth, depthOfBlock);
}

void CpuOperands::choosePanel(Value columns) {
  rhsPanel = code.address(rhsPanels, code.f32(), code.multiply(columns, depthOfPanels));
}

void CpuOperands::packRhs(Value first, Value behind, function_ref<Values(Value column)> masks,
                          Value block, Value length) {
  if (rhsLines)
    return packGathered(first, block, length);
  if (frame.kernel.getTransposeRhs() && phase) // k that follow one another in a tap lie so
    return lhsLines->eachPart(block, code.add(block, length), [&](const CpuLines::Part &part) {
      packTransposed(first, kOfMap(part.first), part.count, code.subtract(part.first, block));
    });
  if (frame.kernel.getTransposeRhs())
    return packTransposed(first, block, length, {});
  auto pack = [&](Value k, Value column, ValueRange inside) {
    choosePanel(code.subtract(column, first));
    for (auto [part, line] : llvm::enumerate(loadRhs(column, inside, code.add(block, k))))
      code.store(line, code.address(panelAt(k), code.f32(),
                                    code.integer(static_cast<int64_t>(part) * lanesOfPart())));
  };
  const Values all(parts());
  Value whole = code.add(first, code.integer(width * panelsAtOnce()));
  code.when(
      code.less(whole, code.add(code.minimum(behind, columns), code.integer(1))),
      [&] {
        code.loop(code.integer(0), length, 1, [&](Value k) {
          for (int64_t panel = 0; panel < panelsAtOnce(); ++panel)
            pack(k, code.add(first, code.integer(panel * width)), all);
        });
      },
      [&] {
        code.loop(first, behind, width, [&](Value column) {
          Values inside = masks(column);
          code.loop(code.integer(0), length, 1, [&](Value k) { pack(k, column, inside); });
        });
      });
}

Values CpuOperands::loadRhs(Value column, ValueRange masks, Value k) {
  Value first = code.add(code.multiply(kOfMap(k), columns), column);
  Values line;
  for (auto [part, mask] : llvm::enumerate(masks)) {
    Value at = code.add(first, code.integer(static_cast<int64_t>(part) * lanesOfPart()));
    line.push_back(loadFrom(rhs, lanesOfPart(), addressIn(rhs, at), mask));
  }
  return line;
}

unsigned CpuOperands::lanesOfPart() const {
  return llvm::isPowerOf2_64(static_cast<uint64_t>(width)) ? static_cast<unsigned>(width)
                                                           : frame.variant.vectorLanes;
}

/// Rows [block, block + length) of rhs into a panel from `inPanel` on, or from its begin.
void CpuOperands::packTransposed(Value column, Value block, Value length, Value inPanel) {
  auto lineAt = [&](Value k) { return panelAt(inPanel ? code.add(inPanel, k) : k); };
  const int64_t square = std::min<int64_t>(frame.variant.vectorLanes, width);
  Value squaresEnd = code.roundDown(length, square);
  code.loop(code.integer(0), code.integer(width), square, [&](Value lane) {
    SmallVector<Matrix> lines;
    for (int64_t i = 0; i < square; ++i) {
      // Past the last column the last one is read again: those lanes are never stored.
      Value at = code.minimum(code.add(column, code.add(lane, code.integer(i))),
                              code.subtract(columns, code.integer(1)));
      lines.push_back({addressIn(rhs, code.add(code.multiply(at, depth), block)), rhs.format});
    }
    code.loop(code.integer(0), squaresEnd, square, [&](Value k) {
      Values vectors;
      for (const Matrix &line : lines)
        vectors.push_back(loadFrom(line, static_cast<unsigned>(square), addressIn(line, k)));
      code.transpose(vectors);
      for (auto [i, vector] : llvm::enumerate(vectors))
        code.store(vector, code.address(lineAt(code.add(k, code.integer(i))), code.f32(), lane));
    });
    code.loop(squaresEnd, length, 1, [&](Value k) {
      for (auto [i, line] : llvm::enumerate(lines))
        code.store(loadFrom(line, 0, addressIn(line, k)),
                   code.address(lineAt(k), code.f32(), code.add(lane, code.integer(i))));
    });
  });
}

} // namespace halftone::skeletons
