// SPDX-License-Identifier: Apache-2.0
// The table of elements against LLVM's formats, and exactness against every value of each.
#include "codegen/ir/Encodings.h"

#include <doctest/doctest.h>

#include <string>

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace halftone::encoding;
using halftone::ir::elementOf;
using halftone::ir::findElement;
using halftone::ir::typeOf;

namespace {

constexpr Element kAll[] = {Element::f32,    Element::tf32,   Element::f16,    Element::bf16,
                            Element::i32,    Element::u8,     Element::i8,     Element::u16,
                            Element::i16,    Element::i64,    Element::f8e4m3, Element::f8e5m2,
                            Element::f8e8m0, Element::f6e3m2, Element::f6e2m3, Element::f4e2m1};

/// LLVM's names say beside it whether there are infinities and NaN, and no sign.
const char* name_of(Element element) {
  switch (element) {
    case Element::f8e4m3:
      return "f8E4M3FN";
    case Element::f8e5m2:
      return "f8E5M2";
    case Element::f8e8m0:
      return "f8E8M0FNU";
    case Element::f6e3m2:
      return "f6E3M2FN";
    case Element::f6e2m3:
      return "f6E2M3FN";
    case Element::f4e2m1:
      return "f4E2M1FN";
    default:
      return word(element);
  }
}

const llvm::fltSemantics& semantics_of(MLIRContext& context, Element element) {
  return cast<FloatType>(typeOf(&context, element)).getFloatSemantics();
}

bool changes(llvm::APFloat value, const llvm::fltSemantics& to) {
  bool loses = false;
  value.convert(to, llvm::APFloat::rmNearestTiesToEven, &loses);
  return loses;
}

/// Whether some value that is no NaN changes; of f32 every 4099th code, and codes beside powers of
/// two.
bool rounds(const llvm::fltSemantics& from, const llvm::fltSemantics& to) {
  const unsigned bits = llvm::APFloat::getSizeInBits(from);
  const std::uint64_t codes = std::uint64_t{1} << bits, step = bits == 32 ? 4099 : 1;
  for (std::uint64_t code = 0; code < codes; code += step) {
    const llvm::APFloat value(from, llvm::APInt(bits, code));
    if (!value.isNaN() && changes(value, to)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("every element has a type of its name, and that type is no other's") {
  MLIRContext context;
  for (const Element element : kAll) {
    std::string name;
    llvm::raw_string_ostream(name) << typeOf(&context, element);
    const ElementTraits& t = traits(element);
    const bool is_delivered = t.integer && element != Element::i32;
    const std::string sign = t.has_sign ? "si" : "ui";
    CHECK(name == (is_delivered ? sign + std::to_string(t.bits) : name_of(element)));
    CHECK(halftone::ir::isDelivered(typeOf(&context, element)) == is_delivered);
    CHECK(elementOf(typeOf(&context, element)) == element);
  }
  CHECK(!findElement(IntegerType::get(&context, 1)));
  CHECK(!findElement(IntegerType::get(&context, 64)));
  CHECK(!findElement(Float64Type::get(&context)));
  CHECK(!findElement(IndexType::get(&context)));
}

TEST_CASE("the table says of floats what LLVM says") {
  MLIRContext context;
  for (const Element element : kAll) {
    const ElementTraits& t = traits(element);
    if (t.integer) continue;
    CAPTURE(t.word);
    const llvm::fltSemantics& llvm_says = semantics_of(context, element);
    CHECK(llvm::APFloat::semanticsPrecision(llvm_says) == unsigned(t.mantissa_bits) + 1);
    CHECK(llvm::APFloat::getSizeInBits(llvm_says) ==
          unsigned(t.has_sign + t.exponent_bits + t.mantissa_bits));
    CHECK(llvm::APFloat::semanticsHasSignedRepr(llvm_says) == t.has_sign);
    CHECK(llvm::APFloat::semanticsHasNaN(llvm_says) == (t.nan != 0));
    CHECK(llvm::APFloat::semanticsMinExponent(llvm_says) == least_normal(t));
    CHECK(llvm::APFloat::semanticsMaxExponent(llvm_says) == largest_exponent(t));
    CHECK(llvm::APFloat::semanticsHasInf(llvm_says) == t.has_infinity);
    CHECK(ilogb(llvm::APFloat::getSmallest(llvm_says)) == least_subnormal(t));
    const unsigned padding = unsigned(t.bits) - llvm::APFloat::getSizeInBits(llvm_says);
    const auto magnitude = llvm::APFloat::getLargest(llvm_says).bitcastToAPInt().getZExtValue();
    CHECK(code_of_largest(t) == magnitude << padding);
    CHECK(halftone::ir::largestOf(element) ==
          llvm::APFloat::getLargest(llvm_says).convertToDouble());
    if (t.nan == 0) continue;
    const llvm::APInt nan = llvm::APInt(unsigned(t.bits), t.nan)
                                .lshr(padding)
                                .trunc(llvm::APFloat::getSizeInBits(llvm_says));
    CHECK(llvm::APFloat(llvm_says, nan).isNaN());
  }
}

TEST_CASE("a conversion that is called exact changes no value, any other changes one") {
  MLIRContext context;
  for (const Element from : kAll) {
    for (const Element to : kAll) {
      if (traits(from).integer || traits(to).integer) continue;
      CAPTURE(word(from));
      CAPTURE(word(to));
      CHECK(holds(to, from) == !rounds(semantics_of(context, from), semantics_of(context, to)));
    }
  }
}
