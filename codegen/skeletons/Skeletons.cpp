// SPDX-License-Identifier: Apache-2.0
// The list of skeletons.
#include "codegen/skeletons/Skeletons.h"

#include "codegen/skeletons/Column.h"
#include "codegen/skeletons/Flat.h"
#include "codegen/skeletons/Pointwise.h"
#include "codegen/skeletons/Row.h"
#include "codegen/skeletons/Segment.h"
#include "codegen/skeletons/Transform.h"
#include "codegen/skeletons/TransformPass.h"
#include "codegen/skeletons/attention/AttentionColumns.h"
#include "codegen/skeletons/contraction/Contraction.h"

namespace halftone::skeletons {

template <class... All> static const Skeleton &findAmong(ir::Skeleton word) {
  static const std::tuple<All...> all;
  const Skeleton *found = nullptr;
  std::apply(
      [&](const auto &...skeleton) {
        ((skeleton.traits().word == word ? void(found = &skeleton) : void()), ...);
      },
      all);
  assert(found && "Attrs.td names a skeleton that is not listed here");
  return *found;
}

const Skeleton &find(ir::Skeleton word) {
  return findAmong<Pointwise, Row, Column, Flat, Contraction, Segment, Attention, AttentionColumns,
                   Transform, InverseTransform, TransformPass, InverseTransformPass,
                   ConvolutionPass, CorrelationPass, SegmentMax>(word);
}

} // namespace halftone::skeletons
