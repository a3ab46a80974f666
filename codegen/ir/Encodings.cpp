// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Encodings.h"

#include "halftone/encoding/text.hpp"
#include "llvm/ADT/Hashing.h"

#include <cmath>

using namespace mlir;

namespace halftone::encoding {

llvm::hash_code hash_value(const Encoding &encoding) {
  const Scaling &scaling = encoding.scaling;
  return llvm::hash_combine(encoding.element, scaling.kind, scaling.size, scaling.rows,
                            scaling.scale, scaling.history, scaling.margin, scaling.of_all,
                            scaling.rotated, encoding.rounding, encoding.saturate);
}

} // namespace halftone::encoding

namespace halftone::ir {

/// In the order of Element.
static Type (*const kTypes[])(MLIRContext *) = {
    [](MLIRContext *context) -> Type { return Float32Type::get(context); },
    [](MLIRContext *context) -> Type { return FloatTF32Type::get(context); },
    [](MLIRContext *context) -> Type { return Float16Type::get(context); },
    [](MLIRContext *context) -> Type { return BFloat16Type::get(context); },
    [](MLIRContext *context) -> Type { return IntegerType::get(context, 32); },
    [](MLIRContext *context) -> Type {
      return IntegerType::get(context, 8, IntegerType::Unsigned);
    },
    [](MLIRContext *context) -> Type { return IntegerType::get(context, 8, IntegerType::Signed); },
    [](MLIRContext *context) -> Type {
      return IntegerType::get(context, 16, IntegerType::Unsigned);
    },
    [](MLIRContext *context) -> Type { return IntegerType::get(context, 16, IntegerType::Signed); },
    [](MLIRContext *context) -> Type { return IntegerType::get(context, 64, IntegerType::Signed); },
    [](MLIRContext *context) -> Type { return Float8E4M3FNType::get(context); },
    [](MLIRContext *context) -> Type { return Float8E5M2Type::get(context); },
    [](MLIRContext *context) -> Type { return Float8E8M0FNUType::get(context); },
    [](MLIRContext *context) -> Type { return Float6E3M2FNType::get(context); },
    [](MLIRContext *context) -> Type { return Float6E2M3FNType::get(context); },
    [](MLIRContext *context) -> Type { return Float4E2M1FNType::get(context); },
};
static_assert(std::size(kTypes) == encoding::kElements);

Type typeOf(MLIRContext *context, Element element) {
  return kTypes[static_cast<size_t>(element)](context);
}

std::optional<Element> findElement(Type type) {
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (kTypes[i](type.getContext()) == type)
      return static_cast<Element>(i);
  return std::nullopt;
}

Element elementOf(Type type) {
  std::optional<Element> element = findElement(type);
  assert(element && "tensors have no such elements");
  return *element;
}

double largestOf(Element element) {
  const encoding::ElementTraits &of = encoding::traits(element);
  uint32_t code = encoding::code_of_largest(of) / encoding::last_place(of);
  double mantissa = code & ((1u << of.mantissa_bits) - 1);
  return std::ldexp(1 + std::ldexp(mantissa, -of.mantissa_bits), encoding::largest_exponent(of));
}

int bitsOf(Type type) { return encoding::traits(elementOf(type)).bits; }

bool isNarrow(Type type) {
  std::optional<Element> element = findElement(type);
  return element && encoding::is_narrow(*element);
}

bool isShort(Type type) {
  return isNarrow(type) && bitsOf(type) < encoding::traits(Element::f32).bits;
}

bool isDelivered(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSignless();
}

FailureOr<Encoding> parseEncoding(AsmParser &parser) {
  SMLoc at = parser.getCurrentLocation();
  std::string text;
  StringRef word;
  int64_t number = 0;
  while (true) {
    OptionalParseResult digits = parser.parseOptionalInteger(number);
    if (digits.has_value() && failed(*digits))
      return failure();
    if (!digits.has_value() && failed(parser.parseOptionalKeyword(&word)))
      break;
    text += (text.empty() ? "" : " ") + (digits.has_value() ? std::to_string(number) : word.str());
  }
  std::variant<Encoding, std::string> parsed = encoding::parse(text);
  if (const auto *wrong = std::get_if<std::string>(&parsed))
    return parser.emitError(at) << *wrong;
  const Encoding &encoding = std::get<Encoding>(parsed);
  if (const char *fault = encoding::fault(encoding))
    return parser.emitError(at) << "'" << text << "' " << fault;
  return encoding;
}

void printEncoding(AsmPrinter &printer, const Encoding &encoding) {
  printer << encoding::spelled(encoding);
}

} // namespace halftone::ir
