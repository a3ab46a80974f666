// SPDX-License-Identifier: Apache-2.0
// A kernel's scalar body inside a loop nest: values that are the same for a whole kernel or row are
// computed once as scalars, all others on vectors of columns.
#ifndef HALFTONE_EMIT_CPU_BODY_H
#define HALFTONE_EMIT_CPU_BODY_H

#include "codegen/emit/cpu/Code.h"
#include "codegen/emit/cpu/Variants.h"
#include "codegen/ir/Dialect.h"

namespace halftone::cpu {

/// One function under construction: its kernel, where its operands lie, its extents.
struct Frame {
  ir::KernelOp kernel;
  const CpuVariant &variant;
  llvm::ArrayRef<std::string> symbolNames;
  Value symbols;                     // pointer to the bound values
  Value blocks;                      // pointer to manifest::CpuBlocks
  llvm::SmallVector<Value> pointers; // inputs, stored results, finished results, workspace
  Value symbolicColumns;             // null where their number is known

  Value input(unsigned i) const { return pointers[i]; }
  Value stored(unsigned i) { return pointers[kernel.getInputs().size() + i]; }
  Value finished(unsigned i) {
    return stored(static_cast<unsigned>(kernel.getStored().size()) + i);
  }
  Value workspace() { return pointers.back(); }
  Value product(Code &code, llvm::ArrayRef<mlir::Attribute> dims) const;
  Value rows(Code &code) { return product(code, kernel.getDomainType().getRowDims()); }
  Value columns(Code &code) {
    return symbolicColumns ? symbolicColumns : code.integer(*kernel.getColumns());
  }
  /// Whether vectors of so many lanes, more than one, are known to fill every row.
  bool fillsRows(int64_t lanes) { return kernel.getColumns().value_or(1) % lanes == 0; }
  Value elements(Code &code) { return product(code, kernel.getDomain().getValue()); }
  /// The field of manifest::CpuBlocks with this number.
  Value blockField(Code &code, int64_t index, Type type) const {
    return code.load(type, code.address(blocks, code.i64(), code.integer(index)));
  }
};

/// One operation of a region on `operands`, in storage types (Casts.h): scalars when `lanes` is 0,
/// else vectors.
Value buildOperation(Code &code, const Frame &frame, mlir::Operation *op, mlir::ValueRange operands,
                     unsigned lanes);

/// Whether the kernel stores a result that is addressed so.
bool hasResults(ir::KernelOp kernel, ir::AccessKind kind);

/// Evaluates the body. Values of a level are kept until the next element, row or kernel begins.
class Body {
public:
  enum Level { kKernel, kRow, kElement };

  Body(Code &code, Frame &frame);

  /// Computes what is the same for the whole kernel. Call once, at the function's start.
  void enterKernel();
  /// Lets Full results go past the caches where the runtime says so. Elements are entered from
  /// `stride`, and from multiples of it on. Call once, after enterKernel(), and endStreams() behind
  /// all stores.
  void beginStreams(int64_t stride);
  void endStreams();
  /// Begins row `row` (null in a flat kernel) and computes what is the same for all of it as far as
  /// it is known: call knowRow() when a reduction gives more.
  void enterRow(Value row);
  /// Sets a row's reduction or a value that stands for the whole row, and computes what follows
  /// from it.
  void knowRow(Value bodyValue, Value scalar);
  /// From here on the value is read from `memory`, where earlier passes over the row left it for
  /// every column.
  void readKept(Value bodyValue, Value memory) { kept[bodyValue] = memory; }
  /// Begins columns [column, column + lanes); `mask` is null for all lanes.
  void enterElement(Value column, Value mask, unsigned lanes);
  /// Sets the accumulator of a contraction for this element.
  void setAccumulator(Value vector);

  /// The value at the present element: a vector, or a scalar when it is the same for the row.
  Value get(Value bodyValue);
  /// The same as a vector in any case.
  Value getVector(Value bodyValue) { return code.splat(get(bodyValue), lanes); }
  /// Fetches line `line` of the present columns of every Full or Window input so many rows on, if
  /// their length is known, into the second-level cache.
  void fetchAhead(int64_t rows, unsigned line);
  /// Stores every Full result, or Window of a wider one, at the present element.
  void storeFull();
  /// The same for columns [begin, end) of the present row.
  void storeColumns(Value begin, Value end);
  /// Stores every Row result of the present row.
  void storeRow();

private:
  void classify();
  void advanceRow();
  void loadInputs(Level level);
  Value load(unsigned input);
  Value windowMask(int64_t offset, ir::TensorType type);
  Value columnsOf(ir::TensorType type);
  Value compute(mlir::Operation *op, Level level);
  Value computePlace(mlir::Operation *op);
  Value computeAxis(int64_t axis);
  bool hasWholeQuarters();
  Value getOfQuarters(Value bodyValue);
  Value addressOf(Value pointer, ir::TensorType type, ir::AccessAttr access);

  Code &code;
  Frame &frame;
  mlir::Block &block;
  llvm::DenseMap<Value, Level> levels;
  llvm::DenseMap<Value, unsigned> inputOf; // block argument to input
  llvm::DenseMap<Value, Value> known[3];
  llvm::DenseSet<Value> sameInQuarter;     // of elements that quarter_index alone tells apart
  llvm::DenseMap<Value, Value> ofQuarters; // these, a lane for each quarter of the element's lanes
  llvm::DenseMap<Value, Value> kept;       // where the row's values are
  llvm::DenseMap<unsigned, Value> streams; // of a stored result: whether it goes past the caches
  Value row, column, mask;
  unsigned lanes = 1;
};

} // namespace halftone::cpu

#endif
