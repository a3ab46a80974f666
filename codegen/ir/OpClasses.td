// SPDX-License-Identifier: Apache-2.0
// What operations derive from.
#ifndef HALFTONE_OPCLASSES_TD
#define HALFTONE_OPCLASSES_TD

include "Attrs.td"
include "Types.td"
include "Interfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Halftone_Op<string mnemonic, list<Trait> traits = []> : Op<Halftone_Dialect, mnemonic, traits>;

// A tensor operation that FormKernels turns into (a part of) a kernel.
class Halftone_TensorOp<string mnemonic, list<Trait> traits = []>
    : Halftone_Op<mnemonic, traits # [Pure, DeclareOpInterfaceMethods<Halftone_KernelForm>]>;
// `own`: the methods of Layer that it does not leave as they are.
class Halftone_LayerOp<string mnemonic, list<string> own = [], list<Trait> traits = []>
    : Halftone_Op<mnemonic, traits # [Pure, DeclareOpInterfaceMethods<Halftone_Layer, own>]>;

class Halftone_UnaryLayerOp<string mnemonic, dag extra = (ins), list<string> own = [], list<Trait> traits = []>
    : Halftone_LayerOp<mnemonic, own, traits> {
  let arguments = !con((ins Halftone_AnyTensor:$x), extra);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
