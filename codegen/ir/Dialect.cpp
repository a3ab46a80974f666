// SPDX-License-Identifier: Apache-2.0
// Registration, the tensor type and the attributes that cut across operations.
#include "codegen/ir/Dialect.h"

#include <numeric>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "halftone/encoding/text.hpp"
#include "halftone/manifest/spelling.hpp"

using namespace mlir;

namespace halftone::ir {

void HalftoneDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "codegen/ir/Ops.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/ir/Attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "codegen/ir/Types.cpp.inc"
      >();
}

//===--- TensorType ---===//

/// Between a symbol and its divisor: no symbol of a model has blanks.
constexpr StringLiteral kCeilDiv = "ceildiv";

Type TensorType::parse(AsmParser &parser) {
  SmallVector<Attribute> dims;
  Type element;
  auto parseDim = [&]() -> ParseResult {
    int64_t extent;
    SymbolicExtent of;
    OptionalParseResult number = parser.parseOptionalInteger(extent);
    if (number.has_value() && (failed(*number) || failed(parser.parseOptionalStar()))) {
      dims.push_back(parser.getBuilder().getI64IntegerAttr(extent));
      return *number;
    }
    if (number.has_value())
      of.factor = extent;
    if (parser.parseKeyword(&of.name) ||
        (succeeded(parser.parseOptionalKeyword(kCeilDiv)) && parser.parseInteger(of.divisor)))
      return failure();
    if (OptionalParseResult less = parser.parseOptionalInteger(of.added); less.has_value()) {
      if (failed(*less) || of.added >= 0)
        return parser.emitError(parser.getNameLoc(), "two numbers in one dimension");
    } else if (succeeded(parser.parseOptionalPlus()) && parser.parseInteger(of.added)) {
      return failure();
    }
    if (of.divisor < 1)
      return parser.emitError(parser.getNameLoc()) << "a symbol is divided by " << of.divisor;
    if (of.factor < 1)
      return parser.emitError(parser.getNameLoc()) << "a symbol is taken " << of.factor << " times";
    dims.push_back(symbolOf(parser.getContext(), of));
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parser.parseComma() || parser.parseType(element) || parser.parseGreater())
    return {};
  return parser.getChecked<TensorType>(parser.getContext(), dims, element);
}

void TensorType::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer, [&](Attribute dim) {
    if (auto symbol = dyn_cast<StringAttr>(dim))
      printer << symbol.getValue();
    else
      printer << cast<IntegerAttr>(dim).getInt();
  });
  printer << "], " << getElementType() << ">";
}

LogicalResult TensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Attribute> dims, Type element) {
  for (Attribute dim : dims) {
    if (auto extent = dyn_cast<IntegerAttr>(dim); extent && extent.getInt() <= 0)
      return emitError() << "extent " << extent.getInt() << " is not positive";
    if (!isa<IntegerAttr, StringAttr>(dim))
      return emitError() << "a dimension is a number or a symbol, not " << dim;
  }
  if (!findElement(element))
    return emitError() << "element type " << element << " is none of the formats "
                       << encoding::element_list();
  if (const char *fault = encoding::fault(*findElement(element)))
    return emitError() << "element type " << element << " " << fault;
  return success();
}

std::optional<int64_t> TensorType::getColumns() const {
  return getStaticProduct(getDims().take_back());
}

ArrayRef<Attribute> TensorType::getRowDims() const {
  return getDims().empty() ? getDims() : getDims().drop_back();
}

TensorType TensorType::withElementType(Type type) const {
  return get(getContext(), getDims(), type);
}

TensorType TensorType::withDims(ArrayRef<Attribute> dims) const {
  return get(getContext(), dims, getElementType());
}

std::optional<int64_t> TensorType::getStaticElements() const { return getStaticProduct(getDims()); }

//===--- Attributes ---===//

std::string outputBuffer(StringRef output) { return ("=" + output).str(); }

std::string outputGradientBuffer(StringRef output) { return ("d=" + output).str(); }

std::string inputGradientBuffer(StringRef input) { return ("d%" + input).str(); }

std::string stateBeforeStepBuffer(StringRef state) {
  return (StringRef(manifest::kBeforeStep) + state).str();
}

bool isStateBeforeStep(StringRef buffer) { return buffer.starts_with(manifest::kBeforeStep); }

int64_t getParameterAlignment(ModuleOp module) {
  constexpr int64_t kStandard = 32;
  auto stated = module->getAttrOfType<IntegerAttr>(kParameterAlignmentAttr);
  return stated ? stated.getInt() : kStandard;
}

Phase getPhase(Operation *op) {
  auto phase = op->getAttrOfType<PhaseAttr>(kPhaseAttr);
  return phase ? phase.getValue() : Phase::Forward;
}

void setPhase(Operation *op, Phase phase) {
  op->setAttr(kPhaseAttr, PhaseAttr::get(op->getContext(), phase));
}

Type codeTypeOf(Value value) {
  Type element = cast<TensorType>(value.getType()).getElementType();
  auto input = value.getDefiningOp<InputOp>();
  if (!input || element.isSignlessInteger())
    return element;
  // Once InsertCasts has run, what reads an input of floats without a cast reads it as it lies.
  if (isa<FloatType>(element) && input->getParentOfType<GraphOp>()->hasAttr(kValuesAttr))
    return element;
  bool isValue = isa<FloatType>(element) ||
                 (encoding::is_exact_in_f32(elementOf(element)) && !input.getIntegers());
  return isValue ? Type(Float32Type::get(element.getContext()))
                 : Type(IntegerType::get(element.getContext(), 32));
}

bool isExactCast(Operation *op) {
  auto cast = dyn_cast_or_null<CastOp>(op);
  return cast && cast.isExact();
}

bool isView(Operation *op) {
  if (auto layer = dyn_cast_or_null<Layer>(op))
    return layer.isView();
  return isa_and_nonnull<ViewOp>(op);
}

Value getViewed(Value value) {
  while (isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

StringRef getLayer(Operation *op) {
  auto layer = op->getAttrOfType<StringAttr>(kLayerAttr);
  return layer ? layer.getValue() : StringRef();
}

bool haveAsManyElements(ArrayRef<Attribute> a, ArrayRef<Attribute> b) {
  auto partsOf = [](ArrayRef<Attribute> dims) {
    SmallVector<StringRef> symbols; // with what is no factor of all
    int64_t numbers = 1;
    for (Attribute dim : dims) {
      if (auto number = dyn_cast<IntegerAttr>(dim)) {
        numbers *= number.getInt();
        continue;
      }
      SymbolicExtent extent = symbolicExtentOf(cast<StringAttr>(dim).getValue());
      int64_t divisor = extent.knownDivisor();
      numbers *= divisor;
      extent.factor /= divisor;
      extent.added /= divisor;
      symbols.push_back(symbolOf(dim.getContext(), extent).getValue());
    }
    llvm::sort(symbols);
    return std::pair(symbols, numbers);
  };
  return partsOf(a) == partsOf(b);
}

SymbolicExtent symbolicExtentOf(StringRef symbol) {
  auto [taken, rest] = symbol.split(' ');
  SymbolicExtent extent{taken};
  if (auto [factor, name] = taken.split('*'); !name.empty()) {
    factor.getAsInteger(10, extent.factor);
    extent.name = name;
  }
  while (!rest.empty()) { // pairs of a word and a number
    auto [word, behind] = rest.split(' ');
    auto [number, others] = behind.split(' ');
    (void)number.getAsInteger(10, word == kCeilDiv ? extent.divisor : extent.added);
    if (word == "-")
      extent.added = -extent.added;
    rest = others;
  }
  return extent;
}

StringAttr symbolOf(MLIRContext *context, const SymbolicExtent &extent) {
  std::string text = extent.name.str();
  if (extent.factor != 1)
    text = std::to_string(extent.factor) + "*" + text;
  if (extent.divisor != 1)
    text += (" " + kCeilDiv + " " + Twine(extent.divisor)).str();
  if (extent.added != 0)
    text += (extent.added < 0 ? " - " : " + ") + std::to_string(std::abs(extent.added));
  return StringAttr::get(context, text);
}

Attribute countParts(Attribute dim, int64_t size) {
  if (auto extent = dyn_cast<IntegerAttr>(dim))
    return IntegerAttr::get(extent.getType(), llvm::divideCeil(extent.getInt(), size));
  SymbolicExtent extent = symbolicExtentOf(cast<StringAttr>(dim).getValue());
  int64_t common = std::gcd(extent.factor, size);
  extent.factor /= common;
  extent.divisor *= size / common; // of parts of parts, too
  extent.added = llvm::divideCeilSigned(extent.added, size);
  return symbolOf(dim.getContext(), extent);
}

Attribute repeatDim(Attribute dim, int64_t times) {
  if (auto extent = dyn_cast<IntegerAttr>(dim))
    return IntegerAttr::get(extent.getType(), extent.getInt() * times);
  SymbolicExtent extent = symbolicExtentOf(cast<StringAttr>(dim).getValue());
  extent.factor *= times;
  extent.added *= times;
  return symbolOf(dim.getContext(), extent);
}

Attribute lengthenDim(Attribute dim, int64_t number) {
  if (auto extent = dyn_cast<IntegerAttr>(dim))
    return IntegerAttr::get(extent.getType(), extent.getInt() + number);
  SymbolicExtent extent = symbolicExtentOf(cast<StringAttr>(dim).getValue());
  extent.added += number;
  return symbolOf(dim.getContext(), extent);
}

std::optional<int64_t> getStaticProduct(ArrayRef<Attribute> dims) {
  int64_t product = 1;
  for (Attribute dim : dims) {
    auto extent = dyn_cast<IntegerAttr>(dim);
    if (!extent)
      return std::nullopt;
    product *= extent.getInt();
  }
  return product;
}

std::string formatDims(ArrayRef<Attribute> dims) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      dims, stream,
      [&](Attribute dim) {
        if (auto symbol = dyn_cast<StringAttr>(dim))
          stream << symbol.getValue();
        else
          stream << cast<IntegerAttr>(dim).getInt();
      },
      " x ");
  return text.empty() ? "scalar" : text;
}

} // namespace halftone::ir

#include "codegen/ir/Dialect.cpp.inc"
#include "codegen/ir/Enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "codegen/ir/Attrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "codegen/ir/Interfaces.cpp.inc"
#include "codegen/ir/Types.cpp.inc"
