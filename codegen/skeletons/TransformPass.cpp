// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/TransformPass.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/ir/Transforms.h"
#include "codegen/skeletons/Transform.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

using ir::TensorType;

namespace {

/// What a pass goes over: its stages, and where it has spectra alone all places and channels that
/// these have room for.
struct PassShapes {
  ir::Skeleton word;
  TensorType spectrum, sequence; ///< the latter null where there is none
  int64_t length, channels, places;
  unsigned first, last;

  explicit PassShapes(KernelOp kernel) : word(kernel.getSkeleton()) {
    auto stored = cast<TensorType>(kernel.getStored()[0].getType());
    TensorType domain = kernel.getDomainType();
    if (isProduct()) {
      spectrum = getFactor(kernel);
      if (domain.getDims().take_back(4) != spectrum.getDims())
        sequence = domain;
    } else {
      spectrum = isInverse() ? domain : stored;
      if (stored.getRank() != domain.getRank())
        sequence = isInverse() ? stored : domain;
    }
    auto extent = [](TensorType type, size_t fromLast) {
      return cast<IntegerAttr>(type.getDims()[type.getRank() - fromLast]).getInt();
    };
    places = extent(spectrum, 3);
    length = sequence ? extent(sequence, 2) : places;
    channels = sequence ? extent(sequence, 1) : extent(spectrum, 4) * kBlockChannels;
    unsigned stages = llvm::Log2_64(static_cast<uint64_t>(places));
    first = sequence ? 0 : countStagesOfFirstPass(places);
    last = sequence ? countStagesOfFirstPass(places) : stages;
    tasks.assign(domain.getDims().begin(), domain.getDims().end());
    tasks.truncate(tasks.size() - (isInverse() || !sequence ? kSpectrumDims : kSequenceDims));
    tasks.push_back(spectrum.getDims()[spectrum.getRank() - 4]);
  }

  bool isInverse() const { return word == ir::Skeleton::InverseTransformPass; }
  bool isProduct() const {
    return word == ir::Skeleton::ConvolutionPass || word == ir::Skeleton::CorrelationPass;
  }
  int64_t placesOfPiece() const { return int64_t{1} << (last - first); }
  int64_t pieces() const { return places / placesOfPiece(); }

  Dims tasks; ///< a sequence's block of channels each

private:
  static TensorType getFactor(KernelOp kernel) {
    for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
      if (kernel.getInputAccess(i).getKind() == AccessKind::Factor)
        return cast<TensorType>(input.getType());
    llvm_unreachable("its verifier asks for one");
  }
};

/// Of one sequence's channels: real and imaginary parts, places, channels and pieces.
constexpr int64_t kFloatsOfBlock = 8192;

} // namespace

//===--- CPU: Transform and InverseTransform do all stages in one task ---===//

SmallVector<Axis> PassOfStages::getTaskAxes(KernelOp kernel) const {
  return {{PassShapes(kernel).tasks, 1}};
}

LogicalResult PassOfStages::verifyCpu(KernelOp kernel) const {
  return kernel.emitOpError("is for chips; plan the CPU by itself");
}

void PassOfStages::buildTasks(cpu::Code &, cpu::Frame &, Value, Value) const {
  llvm_unreachable("verifyCpu refuses");
}

//===--- CUDA ---===//

TransformPass::TransformPass()
    : PassOfStages({.word = ir::Skeleton::TransformPass, .stores = {AccessKind::Transformed}}) {}

InverseTransformPass::InverseTransformPass()
    : PassOfStages({.word = ir::Skeleton::InverseTransformPass,
                    .readsByAnyMap = true,
                    .stores = {AccessKind::Transformed}}) {}

bool InverseTransformPass::joinsProducer(KernelForm op, const KernelGroup &group) const {
  return joinsProductOfSpectra(op, group);
}

LogicalResult ProductPass::verify(KernelOp kernel) const {
  auto isFactor = [](Attribute access) {
    return cast<AccessAttr>(access).getKind() == AccessKind::Factor;
  };
  if (llvm::count_if(kernel.getInputAccesses(), isFactor) != 1)
    return kernel.emitOpError("multiplies by no factor, or several; give it one other spectrum");
  return Skeleton::verify(kernel);
}

static Traits traitsOfProduct(ir::Skeleton word) {
  return {.word = word, .stores = {AccessKind::Transformed}};
}

ConvolutionPass::ConvolutionPass() : ProductPass(traitsOfProduct(ir::Skeleton::ConvolutionPass)) {}

CorrelationPass::CorrelationPass() : ProductPass(traitsOfProduct(ir::Skeleton::CorrelationPass)) {}

/// 32 KB of shared memory, or 64 for 1024 places of the eight channels that fill a sector of
/// memory.
Tile PassOfStages::getDefaultCudaTile(KernelOp kernel) const {
  PassShapes shapes(kernel);
  int64_t floats = 2 * shapes.placesOfPiece();
  int64_t channels = floats * kBlockChannels <= kFloatsOfBlock ? kBlockChannels : 8;
  int64_t pieces = std::clamp<int64_t>(kFloatsOfBlock / (floats * channels), 1, shapes.pieces());
  return {floats * channels * pieces > kFloatsOfBlock ? 512 : 256, channels, pieces};
}

FailureOr<Launch> PassOfStages::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  PassShapes shapes(kernel);
  ArrayRef<int64_t> tile = plan.getTile();
  auto divides = [](int64_t part, int64_t whole) { return part > 0 && whole % part == 0; };
  if (tile.size() != 3 || !isWarps(tile[0]) || !divides(tile[1], kBlockChannels) ||
      !divides(tile[1], tile[0]) || !divides(tile[2], shapes.pieces()))
    return refuseTile(kernel);
  Launch launch;
  launch.threads = tile[0];
  int64_t blocks = shapes.pieces() / tile[2] * (kBlockChannels / tile[1]);
  launch.axes = {{shapes.tasks, 1}, {{Builder(kernel.getContext()).getI64IntegerAttr(blocks)}, 1}};
  launch.sharedBytes = 2 * 4 * shapes.placesOfPiece() * tile[1] * tile[2];
  return launch;
}

std::string PassOfStages::describePlan(CudaPlanAttr plan, const Launch &launch) const {
  ArrayRef<int64_t> tile = plan.getTile();
  return (Twine(launch.threads) + " threads, " + Twine(tile[1]) + " channels of " +
          Twine(launch.sharedBytes / (8 * tile[1])) + " places")
      .str();
}

BodyForm PassOfStages::getBodyForm(KernelOp kernel, CudaPlanAttr) const {
  PassShapes shapes(kernel);
  BodyForm form;
  form.constants =
      bodyConstant("kLength", shapes.length) + bodyConstant("kChannels", shapes.channels) +
      bodyConstant("kPlaces", shapes.places) + bodyConstant("kFirst", int64_t{shapes.first}) +
      bodyConstant("kLast", int64_t{shapes.last}) +
      bodyConstant("kReadsSequence", shapes.sequence && !shapes.isInverse()) +
      bodyConstant("kWritesSequence",
                   shapes.sequence && (shapes.isInverse() || shapes.isProduct()));
  if (shapes.isProduct())
    form.constants += bodyConstant("kConjugates", shapes.word == ir::Skeleton::CorrelationPass);
  form.after = ", float* terms";
  return form;
}

} // namespace halftone::skeletons
