// SPDX-License-Identifier: Apache-2.0
#include "codegen/audit/Records.h"

using namespace mlir;

namespace halftone::audit {

Audited recordOf(DictionaryAttr entry) {
  Audited record;
  record.name = entry.getAs<StringAttr>("name").getValue().str();
  record.layer = entry.getAs<StringAttr>("layer").getValue().str();
  record.role = static_cast<ir::ValueRole>(entry.getAs<IntegerAttr>("role").getInt());
  record.rule = entry.getAs<IntegerAttr>("rule").getInt();
  auto type = cast<ir::TensorType>(entry.getAs<TypeAttr>("type").getValue());
  record.encoding = ir::elementOf(type.getElementType());
  return record;
}

/// What rounding to `to` adds to an error at most.
static double roundingOf(const encoding::Encoding &to, const Bound &x) {
  Bound alone = Bound::of(x.declared);
  Bound left = encoding::is_scaled(to) ? scaledTo(to, alone) : roundedTo(to, alone).bound;
  return left.error;
}

void recordRounding(Operation *op, const Bound &before, Audited &record) {
  auto point = op->getAttrOfType<DictionaryAttr>(ir::kCastAttr);
  if (!point)
    return;
  record.encoding = point.getAs<ir::EncodingAttr>("to").getValue();
  record.before = before;
  record.rounding = roundingOf(record.encoding, before);
  if (encoding::is_scaled(record.encoding))
    return;
  Rounded left = roundedTo(record.encoding, before);
  record.mayOverflow = left.mayOverflow;
  record.maySaturate = left.maySaturate;
}

} // namespace halftone::audit
