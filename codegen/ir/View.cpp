// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult ViewOp::verify() {
  Type element = getType().getElementType();
  if (tensor(getX()).getElementType() != element && codeTypeOf(getX()) != element)
    return emitOpError() << tensor(getX()) << " and " << getType()
                         << " differ in their element: a view rounds and widens nothing";
  return verifyAsManyElements(*this, tensor(getX()), getType());
}

} // namespace halftone::ir
