// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/TaskAxes.h"

#include "codegen/emit/cpu/LoopNests.h"
#include "codegen/skeletons/Skeletons.h"

using namespace mlir;
namespace hm = halftone::manifest;

namespace halftone::ir {

hm::Dimension dimensionOf(Attribute dim, ArrayRef<std::string> symbols) {
  if (auto extent = dyn_cast<IntegerAttr>(dim))
    return {extent.getInt(), -1};
  SymbolicExtent of = symbolicExtentOf(cast<StringAttr>(dim).getValue());
  const std::string *symbol = llvm::find(symbols, of.name);
  return {of.factor, static_cast<int32_t>(symbol - symbols.begin()),
          static_cast<int32_t>(of.divisor), of.added};
}

std::vector<hm::Dimension> dimensionsOf(ArrayRef<Attribute> dims, ArrayRef<std::string> symbols) {
  std::vector<hm::Dimension> result;
  for (Attribute dim : dims)
    result.push_back(dimensionOf(dim, symbols));
  return result;
}

std::vector<hm::TaskAxis> taskAxesOf(ArrayRef<skeletons::Axis> axes,
                                     ArrayRef<std::string> symbols) {
  std::vector<hm::TaskAxis> result;
  for (const skeletons::Axis &axis : axes)
    result.push_back({dimensionsOf(axis.extent, symbols), axis.tile});
  return result;
}

/// That a tile of lhs has in memory whose bf16 are multiplied in pairs.
static constexpr int32_t kRowsOfPacked = 16;

hm::Blocking blockingOf(KernelOp kernel, ArrayRef<std::string> symbols,
                        ArrayRef<cpu::CpuVariant> variants) {
  std::optional<skeletons::CpuBlocking> blocking = skeletons::of(kernel).getCpuBlocking(kernel);
  if (!blocking)
    return {};
  hm::Blocking result{
      {}, dimensionsOf(blocking->depth, symbols), blocking->stride, blocking->transposes};
  if (blocking->rhs)
    result.rhs = static_cast<int32_t>(*blocking->rhs);
  result.lhs_neighbours = static_cast<int32_t>(blocking->lhsNeighbours);
  result.rhs_neighbours = static_cast<int32_t>(blocking->rhsNeighbours);
  for (const cpu::CpuVariant &named : variants) {
    const cpu::CpuVariant &variant = cpu::codeVariant(kernel, named);
    const cpu::SumsTile sums = variant.tileOf(kernel.getColumns());
    hm::RegisterTile tile{static_cast<int32_t>(sums.rows), static_cast<int32_t>(sums.columns),
                          static_cast<int32_t>(sums.lhsLanes())};
    if (variant.products == cpu::Bf16Products::Tiles)
      tile.depth = skeletons::kMatrixDepth;
    if (variant.products == cpu::Bf16Products::Pairs) {
      tile.depth = 2;
      tile.lanes = kRowsOfPacked;
    }
    result.tiles.push_back(tile);
  }
  return result;
}

} // namespace halftone::ir
