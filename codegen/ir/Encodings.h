// SPDX-License-Identifier: Apache-2.0
// The one map between MLIR's types and elements, and encodings as parameters of attributes.
#ifndef HALFTONE_IR_ENCODINGS_H
#define HALFTONE_IR_ENCODINGS_H

#include "halftone/encoding/encoding.hpp"
#include "halftone/encoding/traits.hpp"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"

namespace halftone::encoding {

llvm::hash_code hash_value(const Encoding &encoding);

} // namespace halftone::encoding

namespace halftone::ir {

using encoding::Element, encoding::Encoding;

mlir::Type typeOf(mlir::MLIRContext *context, Element element);

/// Nothing for a type of scalar code alone, such as i1 or index.
std::optional<Element> findElement(mlir::Type type);

/// Of a type that tensors may have.
Element elementOf(mlir::Type type);

/// The largest number of an element of floats.
double largestOf(Element element);

/// That an element of such a tensor takes.
int bitsOf(mlir::Type type);

/// Whether f32 is rounded on its way to the type.
bool isNarrow(mlir::Type type);

/// Whether tensors are held in the type as codes, shorter than the f32 that they stand for.
bool isShort(mlir::Type type);

/// Whether the type is of integers that inputs are delivered in and nothing computes with: any but
/// i32. They have a sign or none, as scalars of arith never do.
bool isDelivered(mlir::Type type);

/// The text form of an encoding without a fault.
mlir::FailureOr<Encoding> parseEncoding(mlir::AsmParser &parser);
void printEncoding(mlir::AsmPrinter &printer, const Encoding &encoding);

} // namespace halftone::ir

#endif
