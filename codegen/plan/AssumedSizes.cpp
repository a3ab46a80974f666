// SPDX-License-Identifier: Apache-2.0
#include "codegen/plan/AssumedSizes.h"

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

std::optional<std::string> readAssumedSizes(llvm::ArrayRef<std::string> entries,
                                            AssumedSizes &sizes) {
  for (const std::string &entry : entries) {
    auto [symbol, number] = llvm::StringRef(entry).split('=');
    int64_t size = 0;
    if (!number.getAsInteger(10, size) && size > INT32_MAX)
      return "'" + entry + "' assumes a size above 2147483647: give the one that is used most";
    if (symbol.empty() || number.getAsInteger(10, size) || size <= 0)
      return "'" + entry + "' assumes no size: write NAME=NUMBER with a whole number above 0";
    if (!sizes.try_emplace(symbol, size).second)
      return "'" + entry + "' assumes a second size of " + symbol.str() + ": give it once";
  }
  return std::nullopt;
}

int64_t assumedSize(const AssumedSizes &assumed, llvm::StringRef symbol) {
  SymbolicExtent of = symbolicExtentOf(symbol);
  auto known = assumed.find(of.name);
  int64_t size = of.factor * llvm::divideCeil(known == assumed.end() ? kAssumedSize : known->second,
                                              of.divisor);
  return std::max<int64_t>(size + of.added, 1);
}

} // namespace halftone::ir
