// SPDX-License-Identifier: Apache-2.0
// Where parameters lie in the flat buffers, and what those that lie side by side have in common.
#ifndef HALFTONE_PASSES_PARAMETERLAYOUT_H
#define HALFTONE_PASSES_PARAMETERLAYOUT_H

#include "codegen/passes/PartNorms.h"

namespace halftone::ir {

/// Of a training graph.
class ParameterLayout {
public:
  static constexpr int kNoClip = -1;
  /// Trained parameters of equal clip, decay and learning-rate scale, in their order.
  struct Group {
    llvm::SmallVector<FlatPart> parameters = {};
    int clip = kNoClip; ///< of those of groups (kClipGroupsAttr), by number
    bool decay = true;
    double learningRateScale = 1;

    int64_t begin() const { return parameters.front().begin; }
    int64_t end() const { return parameters.back().end; }
  };

  /// Gives every parameter its offset, at whole blocks of so many elements, 0 standing for what
  /// kernels ask: group by group, those of a clip one behind another, then the frozen ones.
  ParameterLayout(GraphOp graph, int64_t block);

  llvm::ArrayRef<Group> getGroups() const { return groups; }
  int64_t getTrainedElements() const { return trainedElements; }
  bool decays() const;
  /// What each clip of a group speaks of.
  llvm::SmallVector<FlatPart> getClips() const;

  /// What `of` gives for the group of the element that scalar code is for, chosen by its place in
  /// the flat buffer or, where that is the domain's rows of `block` elements, by its row.
  mlir::Value select(mlir::OpBuilder &builder, mlir::Location loc, int64_t block,
                     llvm::function_ref<mlir::Value(const Group &)> of) const;

private:
  llvm::SmallVector<Group> groups;
  int64_t trainedElements = 0;
};

/// Graphs that do not train read the same flat buffers: their parameters take the training graph's
/// offsets. Those that hold some parameters as codes (P80) have masters of the others alone.
void copyOffsets(mlir::ModuleOp module);

/// Where the parameter's master lies in the flat buffers of its graph.
int64_t getMasterOffset(ParameterOp parameter);
/// How many elements these have.
int64_t countMasterElements(GraphOp graph);

} // namespace halftone::ir

#endif
