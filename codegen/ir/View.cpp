// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult ViewOp::verify() {
  Type element = getType().getElementType();
  if (tensor(getX()).getElementType() != element && codeTypeOf(getX()) != element)
    return emitOpError() << tensor(getX()) << " and " << getType()
                         << " differ in their element: a view rounds and widens nothing";
  if (isOfFlat()) {
    std::optional<int64_t> all = tensor(getX()).getStaticElements();
    std::optional<int64_t> some = getType().getStaticElements();
    if (getParts() == 0 && tensor(getX()).getRank() == 1 && all && some &&
        static_cast<int64_t>(getAt()) + *some <= *all)
      return success();
    return emitOpError() << getType() << " are no elements of " << tensor(getX()) << " from "
                         << static_cast<int64_t>(getAt()) << " on";
  }
  if (getParts() == 0)
    return verifyAsManyElements(*this, tensor(getX()), getType());
  ArrayRef<Attribute> all = tensor(getX()).getDims(), part = getType().getDims();
  if (all.size() < part.size())
    std::swap(all, part);
  if (all.size() != part.size() + getParts() || all.drop_front(getParts()) != part)
    return emitOpError() << tensor(getX()) << " and " << getType() << " are not " << getParts()
                         << " dimensions of parts and one of them";
  return success();
}

bool ViewOp::leavesPart() { return tensor(getX()).getRank() < getType().getRank(); }

} // namespace halftone::ir
