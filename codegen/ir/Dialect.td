// SPDX-License-Identifier: Apache-2.0
// The halftone dialect: a training step as tensor-level operations with symbolic dimensions, lowered inside the dialect
// to kernels whose bodies are scalar arith/math code.
#ifndef HALFTONE_DIALECT_TD
#define HALFTONE_DIALECT_TD

include "mlir/IR/OpBase.td"

def Halftone_Dialect : Dialect {
  let name = "halftone";
  let cppNamespace = "::halftone::ir";
  let summary = "Training steps with declared precision";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

#endif
