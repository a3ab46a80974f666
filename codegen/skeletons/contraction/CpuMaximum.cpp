// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/contraction/CpuMaximum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace halftone::cpu;

namespace halftone::skeletons {

CpuMaximum::CpuMaximum(Code &code, Frame &frame, unsigned lanes)
    : code(code), frame(frame), lanes(lanes),
      lanesSoFar(code.scratch(code.builder.getI32Type(), lanes)) {}

VectorType CpuMaximum::vector() { return code.vector(code.builder.getI32Type(), lanes); }

static Value zeros(Code &code, VectorType type) {
  return arith::ConstantOp::create(code.builder, code.loc, code.builder.getZeroAttr(type));
}

void CpuMaximum::beginTask() { code.store(zeros(code, vector()), lanesSoFar); }

void CpuMaximum::add(cpu::Body &body, Value mask) {
  Value magnitude = body.getVector(frame.kernel.getYield().getSums()[0]);
  Value bits = arith::BitcastOp::create(code.builder, code.loc, vector(), magnitude);
  if (mask)
    bits = arith::SelectOp::create(code.builder, code.loc, mask, bits, zeros(code, vector()));
  Value before = code.load(vector(), lanesSoFar);
  code.store(arith::MaxUIOp::create(code.builder, code.loc, before, bits), lanesSoFar);
}

void CpuMaximum::endTask() {
  Type i32 = code.builder.getI32Type();
  Value zero = arith::ConstantOp::create(code.builder, code.loc, code.builder.getI32IntegerAttr(0));
  Value largest =
      code.loop(code.integer(0), code.integer(lanes), 1, {zero}, [&](Value lane, ValueRange soFar) {
        Value own = code.load(i32, code.address(lanesSoFar, i32, lane));
        return Values{arith::MaxUIOp::create(code.builder, code.loc, soFar[0], own)};
      })[0];
  LLVM::AtomicRMWOp::create(code.builder, code.loc, LLVM::AtomicBinOp::umax, frame.workspace(),
                            largest, LLVM::AtomicOrdering::monotonic);
}

} // namespace halftone::skeletons
