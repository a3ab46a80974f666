// SPDX-License-Identifier: Apache-2.0
// The one type of the dialect.
#ifndef HALFTONE_TYPES_TD
#define HALFTONE_TYPES_TD

include "Dialect.td"
include "mlir/IR/AttrTypeBase.td"

def Halftone_TensorType : TypeDef<Halftone_Dialect, "Tensor"> {
  let mnemonic = "tensor";
  let summary = "A dense row-major tensor whose extents are numbers or symbols";
  let description = [{
    `!halftone.tensor<[batch, 64], f32>` is a matrix with one row per sample. `!halftone.tensor<[], f32>` is a scalar.
  }];
  // Each dimension is an IntegerAttr (a fixed extent) or a StringAttr: a symbol, so often a symbol, `4*side`, or parts of one, `batch ceildiv 32`
  // (SymbolicExtent).
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$dims, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    unsigned getRank() const { return getDims().size(); }
    /// The last extent, 1 for a scalar; nothing where it is a symbol.
    std::optional<int64_t> getColumns() const;
    /// All dimensions but the last: their product is the number of rows.
    ::llvm::ArrayRef<::mlir::Attribute> getRowDims() const;
    bool isScalar() const { return getDims().empty(); }
    bool hasSameDims(TensorType other) const { return getDims() == other.getDims(); }
    TensorType withElementType(::mlir::Type type) const;
    TensorType withDims(::llvm::ArrayRef<::mlir::Attribute> dims) const;
    /// The number of elements when no dimension is a symbol, otherwise nothing.
    std::optional<int64_t> getStaticElements() const;
  }];
}

def Halftone_AnyTensor : Type<CPred<"::mlir::isa<::halftone::ir::TensorType>($_self)">, "halftone tensor",
                              "::halftone::ir::TensorType">;
def Halftone_Scalar : Type<CPred<"::mlir::isa<::halftone::ir::TensorType>($_self) && "
                                 "::mlir::cast<::halftone::ir::TensorType>($_self).isScalar()">,
                           "halftone scalar tensor", "::halftone::ir::TensorType">;

#endif
