// SPDX-License-Identifier: Apache-2.0
// Products of floats of 8 bits as such, on chips whose tensor cores have them (N13, N14, N17).
// Everywhere else products of scaled operands read numbers or codes in 16 bits.
#include "codegen/passes/FactorScales.h"
#include "codegen/passes/PackCodes.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/ScaledRounding.h"
#include "codegen/passes/TransposedCodes.h"
#include "codegen/plan/Chips.h"
#include "codegen/skeletons/KernelGroup.h"
#include "codegen/skeletons/contraction/Contraction.h"
#include "mlir/IR/AffineMap.h"

#include <set>

namespace halftone::ir {
#define GEN_PASS_DEF_MULTIPLYCODES
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

bool isOfFloat8(Value value) { return skeletons::isFloat8(tensor(value).getElementType()); }

/// The codes that `operand` is a copy of in 16 bits; null for all else.
Value codesOfCopy(Value operand) {
  auto cast = operand.getDefiningOp<CastOp>();
  return cast && isExactCast(cast) && isOfFloat8(cast.getX()) ? cast.getX() : Value();
}

/// What makes numbers of codes and scales, of bf16, or of f32 where each block's scale is; null for
/// all else.
MapOp numbersOf(Value operand) {
  if (auto map = operand.getDefiningOp<MapOp>())
    return scalesBlocksByF32(map) ? map : MapOp();
  auto cast = operand.getDefiningOp<CastOp>();
  auto map = cast ? cast.getX().getDefiningOp<MapOp>() : MapOp();
  return map && leavesNumbers(map) ? map : MapOp();
}

bool standsForCodes(Value operand) {
  return isOfFloat8(operand) || codesOfCopy(operand) || numbersOf(operand);
}

/// What multiplies 8 bits: nothing; warp groups, that lie along the sum alone; one thread of a
/// block whose sums lie in tensor memory, also blocks by powers of two; warps; or warps that
/// multiply by powers of two of blocks, too.
enum class Instruction { None, OfGroups, OfTensorMemory, OfWarps, OfBlocks };

Instruction instructionOf(StringRef name) {
  const Chip *chip = findChip(name);
  if (!chip || chip->float8Operations == 0)
    return Instruction::None;
  if (chip->multipliesBlocks())
    return Instruction::OfBlocks;
  if (chip->multipliesFloat8())
    return Instruction::OfWarps;
  if (chip->tensorMemoryOperations > 0)
    return Instruction::OfTensorMemory;
  return chip->warpgroupOperations > 0 ? Instruction::OfGroups : Instruction::None;
}

/// Why an operand is not read as codes, whatever the chip; empty where it is.
std::string whyNot(ContractOp contract, unsigned index) {
  Value operand = contract->getOperand(index);
  if (!standsForCodes(operand))
    return (Twine("the other operand is ") +
            encoding::word(elementOf(tensor(operand).getElementType())))
        .str();
  if (MapOp numbers = numbersOf(operand); numbers && !areFactors(contract, index, numbers)) {
    if (contract.getStart())
      return "its sum goes on from chunk to chunk, which a scale would multiply each time";
    if (numbers.getOperandAccesses()[1].getKind() == AccessKind::General)
      return "an operand is scaled in blocks, so that its products share no scale";
    return "an operand's scales differ along the sum, so that its products share none";
  }
  std::optional<int64_t> bytes = tensor(operand).getColumns();
  if (!bytes || *bytes % skeletons::kLeastCodes != 0)
    return "rows of codes do not begin at multiples of 4 bytes, the least that is copied";
  return "";
}

/// The same of both together.
std::string whyNotTurned(ContractOp contract) {
  std::optional<int64_t> lhs = tensor(contract.getLhs()).getColumns(),
                         rhs = tensor(contract.getRhs()).getColumns();
  bool areAcross = contract.getTransposeLhs() && !contract.getTransposeRhs();
  return areAcross && lhs && rhs ? skeletons::whyNotBothAcross(*lhs, *rhs) : "";
}

/// Why tensor copies do not fetch both, whichever way they lie.
std::string whyNotCopied(ContractOp contract, std::array<Value, 2> codes) {
  if (contract.getBatchAxes() > 0)
    return "it is one of a batch: tensor copies, which tcgen05 wants, would read past the end of "
           "an element";
  for (Value operand : codes)
    if (*tensor(operand).getColumns() % skeletons::kCopiedBytes != 0)
      return "rows of codes do not begin at multiples of 16 bytes, as tensor copies want";
  return "";
}

/// How an operand is scaled whose scales a kernel reads: so many lines by so many places of the sum
/// have one.
struct Blocks {
  Value codes, scales;
  SmallVector<int64_t> size;
};

bool isScaledInBlocks(Value operand) {
  MapOp numbers = numbersOf(operand);
  return numbers && numbers.getOperandAccesses()[1].getKind() == AccessKind::General;
}

bool isOf4Bits(Value operand) {
  return isScaledInBlocks(operand) && makesNumbersOf4Bits(numbersOf(operand));
}

bool isInBlocksOfF32(Value operand) {
  MapOp numbers = numbersOf(operand);
  return numbers && scalesBlocksByF32(numbers);
}

/// Why blocks of so many places of the sum have no scale for each stretch of it that has one.
std::string whyNotOfPlaces(int64_t places, bool byFactors) {
  constexpr int64_t kOfInstruction = 32, kOfPart = 128; // N17
  if (places % (byFactors ? kOfPart : kOfInstruction) == 0)
    return "";
  return "blocks have " + std::to_string(places) + " places of the sum, of which " +
         (byFactors ? "128 are added up before a scale of f32 multiplies them"
                    : "an instruction multiplies 32 by one scale");
}

/// Fills `blocks`, or says why the operand's scales multiply nothing inside of the sum.
std::string findBlocks(ContractOp contract, unsigned index, bool byFactors, Blocks &blocks) {
  Value operand = contract->getOperand(index);
  MapOp numbers = numbersOf(operand);
  if (!isScaledInBlocks(operand))
    return "one operand alone is scaled in blocks";
  if (!byFactors && !scalesBlocksByPowers(numbers))
    return "the scales of an operand's blocks are no powers of two";
  if (byFactors && !scalesBlocksByF32(numbers))
    return "blocks of one operand alone have scales of f32";
  if (byFactors && accumulationOf(contract) != Accumulation::Promoted)
    return "blocks have scales of f32, which multiply sums of 128 products, as accumulate promoted "
           "alone has them";
  if (contract.getStart() || contract.getBatchAxes() > 0)
    return "its sum goes on from another, or is one of a batch, and operands have scales in blocks";
  blocks.codes = getBeforeWidening(numbers.getInputs()[0]);
  blocks.scales = numbers.getInputs()[1];
  ArrayRef<AffineExpr> at = numbers.getOperandAccesses()[1].getMap().getValue().getResults();
  auto size = [&](AffineExpr expr) {
    auto part = dyn_cast<AffineBinaryOpExpr>(expr);
    return part ? cast<AffineConstantExpr>(part.getRHS()).getValue() : 1;
  };
  bool alongSum = index == 0 ? !contract.getTransposeLhs() : contract.getTransposeRhs();
  int64_t ofRows = size(at[at.size() - 2]), ofColumns = size(at.back());
  blocks.size =
      alongSum ? SmallVector<int64_t>{ofRows, ofColumns} : SmallVector<int64_t>{ofColumns, ofRows};
  if (std::string reason = whyNotOfPlaces(blocks.size[1], byFactors); !reason.empty())
    return reason;
  ArrayRef<Attribute> dims = tensor(blocks.codes).getDims();
  auto rows = dyn_cast<IntegerAttr>(dims[dims.size() - 2]);
  if (dims.size() > 2 && ofRows > 1 && (!rows || rows.getInt() % ofRows != 0))
    return "blocks of rows end where a matrix of several does";
  std::optional<int64_t> bytes = tensor(blocks.codes).getColumns();
  if (!bytes || *bytes % skeletons::kLeastCodes != 0)
    return "rows of codes do not begin at multiples of 4 bytes, the least that is copied";
  return "";
}

/// The codes that an operand stands for.
Value codesBehind(Value operand) {
  if (Value codes = codesOfCopy(operand))
    return codes;
  MapOp numbers = numbersOf(operand);
  return numbers ? getBeforeWidening(numbers.getInputs()[0]) : operand;
}

class Multiplier {
public:
  /// `byGroups`: the chip whose warp groups multiply, if they do.
  Multiplier(GraphOp graph, const Chip *byGroups, const AssumedSizes &sizes)
      : graph(graph), builder(graph.getContext()), readers(builder), packer(builder),
        transposed(builder, byGroups, sizes) {}

  /// Whether some product became one of 8 bits. Of blocks none does where `alike`.
  bool run(Instruction instruction, bool alike) {
    bool changed = false, byGroups = instruction == Instruction::OfGroups;
    for (auto contract : llvm::to_vector(graph.getBody().front().getOps<ContractOp>())) {
      if (!asksForCodes(contract))
        continue;
      contract->removeAttr(kNoEightBitsAttr); // of another instruction
      if (!alike && readsBlocks(contract) && multipliesBlocks(contract, instruction)) {
        changed |= multiplyBlocks(contract, instruction);
        continue;
      }
      std::string reason = whyNot(contract, 0);
      if (reason.empty())
        reason = whyNot(contract, 1);
      if (reason.empty() && byGroups)
        reason = transposed.whyNot(
            contract, {codesBehind(contract.getLhs()), codesBehind(contract.getRhs())});
      else if (reason.empty())
        reason = whyNotRead(contract, instruction,
                            {codesBehind(contract.getLhs()), codesBehind(contract.getRhs())});
      if (instruction != Instruction::None && reason.empty() && readCodes(contract)) {
        changed = true;
        if (byGroups)
          transposed.turn(contract);
      } else
        contract->setAttr(kNoEightBitsAttr, builder.getStringAttr(reason));
    }
    eraseUnread();
    return changed;
  }

  /// That chips multiply by themselves.
  static bool hasBlocks(GraphOp graph) {
    return llvm::any_of(graph.getBody().front().getOps<ContractOp>(), [](ContractOp contract) {
      return asksForCodes(contract) && readsBlocks(contract) && !readsBlocksOfF32(contract);
    });
  }

private:
  static bool readsBlocks(ContractOp contract) {
    return isScaledInBlocks(contract.getLhs()) || isScaledInBlocks(contract.getRhs());
  }

  static bool readsBlocksOfF32(ContractOp contract) {
    return isInBlocksOfF32(contract.getLhs()) || isInBlocksOfF32(contract.getRhs());
  }

  /// Whether the instruction takes blocks as they are scaled.
  static bool multipliesBlocks(ContractOp contract, Instruction instruction) {
    if (readsBlocksOfF32(contract))
      return instruction != Instruction::None;
    return instruction == Instruction::OfTensorMemory || instruction == Instruction::OfBlocks;
  }

  /// Why a kernel reads no such codes as they lie in memory.
  static std::string whyNotRead(ContractOp contract, Instruction instruction,
                                std::array<Value, 2> codes) {
    return instruction == Instruction::OfTensorMemory ? whyNotCopied(contract, codes)
                                                      : whyNotTurned(contract);
  }

  /// Why no product of packed codes took the place of the contraction, whose operands have 4 bits,
  /// or nothing.
  std::string packCodes(ContractOp contract) {
    SmallVector<CodesInBlocks> operands;
    for (unsigned index : {0u, 1u}) {
      bool alongSum = index == 0 ? !contract.getTransposeLhs() : contract.getTransposeRhs();
      operands.push_back({numbersOf(contract->getOperand(index)), alongSum});
    }
    SmallVector<Operation *> before{contract.getLhs().getDefiningOp(),
                                    contract.getRhs().getDefiningOp()};
    std::string reason = packer.multiply(contract, operands[0], operands[1]);
    if (reason.empty())
      unlinked.insert(before.begin(), before.end());
    return reason;
  }

  /// Whether a product of codes and scales took the contraction's place.
  bool multiplyBlocks(ContractOp contract, Instruction instruction) {
    bool byGroups = instruction == Instruction::OfGroups; // whose operands lie along the sum
    bool byFactors = readsBlocksOfF32(contract);
    bool mayPack = instruction != Instruction::OfGroups && !byFactors &&
                   isOf4Bits(contract.getLhs()) && isOf4Bits(contract.getRhs());
    std::string unpacked = mayPack ? packCodes(contract) : "";
    if (mayPack && unpacked.empty())
      return true;
    Blocks lhs, rhs;
    std::string reason = findBlocks(contract, 0, byFactors, lhs);
    if (reason.empty())
      reason = findBlocks(contract, 1, byFactors, rhs);
    if (!unpacked.empty() && !scaledByPowers(contract))
      reason = unpacked;
    if (reason.empty())
      reason = byGroups ? transposed.whyNot(contract, {lhs.codes, rhs.codes}, /*areBesideF32=*/true)
                        : whyNotRead(contract, instruction, {lhs.codes, rhs.codes});
    if (!reason.empty()) {
      contract->setAttr(kNoEightBitsAttr, builder.getStringAttr(reason));
      return false;
    }
    if (byGroups && contract.getTransposeLhs())
      turn(contract, lhs);
    if (byGroups && !contract.getTransposeRhs())
      turn(contract, rhs);
    builder.setInsertionPoint(contract);
    auto scaled = ScaledContractOp::create(
        builder, contract.getLoc(), contract.getType(), lhs.codes, lhs.scales, rhs.codes,
        rhs.scales, contract.getTransposeLhs() && !byGroups, contract.getTransposeRhs() || byGroups,
        contract.getPass(), contract.getLabelAttr(), lhs.size, rhs.size, byFactors);
    for (NamedAttribute attribute : contract->getDiscardableAttrs())
      scaled->setAttr(attribute.getName(), attribute.getValue());
    for (Value operand : {contract.getLhs(), contract.getRhs()})
      unlinked.insert(operand.getDefiningOp());
    contract.getResult().replaceAllUsesWith(scaled.getResult());
    contract.erase();
    return true;
  }

  /// Lays codes and scales along the sum.
  void turn(ContractOp contract, Blocks &blocks) {
    blocks.codes = transposed.turned(contract, blocks.codes);
    Attribute parts = countParts(tensor(blocks.codes).getDims().back(), blocks.size[1]);
    blocks.scales = transposed.turned(contract, blocks.scales, parts);
  }

  static bool scaledByPowers(ContractOp contract) {
    return scalesBlocksByPowers(numbersOf(contract.getLhs())) &&
           scalesBlocksByPowers(numbersOf(contract.getRhs()));
  }

  /// Rules leave digits to the chip, and scale some operand to 8 bits.
  static bool asksForCodes(ContractOp contract) {
    Value lhs = contract.getLhs(), rhs = contract.getRhs();
    return skeletons::leavesDigits(accumulationOf(contract)) &&
           !(isOfFloat8(lhs) && isOfFloat8(rhs)) && (standsForCodes(lhs) || standsForCodes(rhs));
  }

  bool readCodes(ContractOp contract) {
    for (Value operand : {contract.getLhs(), contract.getRhs()})
      unlinked.insert(operand.getDefiningOp());
    if (failed(readers.readCodes(contract, FactoredScales::All)))
      return false;
    for (OpOperand &operand : contract->getOpOperands())
      if (Value codes = codesOfCopy(operand.get())) {
        unlinked.insert(operand.get().getDefiningOp());
        operand.set(codes);
      }
    return true;
  }

  /// Copies and numbers that nobody reads any more. What rules decided of them their codes say.
  void eraseUnread() {
    while (!unlinked.empty()) {
      Operation *op = unlinked.pop_back_val();
      if (!op || !op->use_empty() || !isa<CastOp, MapOp>(op))
        continue;
      Operation *before = op->getOperand(0).getDefiningOp();
      for (StringRef name : {StringRef(kCastAttr), StringRef(kValuesAttr)})
        if (Attribute noted = op->getAttr(name); noted && before && !before->hasAttr(name))
          before->setAttr(name, noted);
      for (Value operand : op->getOperands())
        unlinked.insert(operand.getDefiningOp());
      unlinked.remove(op);
      op->erase();
    }
  }

  GraphOp graph;
  OpBuilder builder;
  CodeReaders readers;
  CodePacker packer;
  TransposedCodes transposed;
  llvm::SetVector<Operation *> unlinked;
};

struct MultiplyCodesPass : halftone::ir::impl::MultiplyCodesBase<MultiplyCodesPass> {
  using MultiplyCodesBase::MultiplyCodesBase;

  bool hasBlocks() {
    return llvm::any_of(getOperation().getOps<GraphOp>(), [](GraphOp graph) {
      return graph.getName() != kDiagnosis && Multiplier::hasBlocks(graph);
    });
  }

  void runOnOperation() override {
    AssumedSizes sizes;
    if (failed(readAssumedSizes(getOperation(), assume, sizes)))
      return signalPassFailure();
    // CPUs, which run what is alike, multiply codes, too, but no blocks.
    Instruction most = !alike && hasBlocks() ? Instruction::OfBlocks : Instruction::OfWarps;
    auto taken = [&](StringRef chip) { return std::min(instructionOf(chip), most); };
    std::set<Instruction, std::greater<>> instructions;
    for (StringRef chip : chips)
      instructions.insert(taken(chip));
    if (instructions.empty() || (alike && instructions.size() > 1))
      instructions = {Instruction::None};
    for (Instruction instruction : instructions) {
      if (!multiply(instruction, sizes))
        continue;
      SmallVector<StringRef> others;
      llvm::copy_if(chips, std::back_inserter(others),
                    [&](StringRef chip) { return taken(chip) != instruction; });
      Builder builder(&getContext());
      getOperation()->setAttr(kCpuApartAttr, builder.getUnitAttr());
      if (!others.empty())
        getOperation()->setAttr(kChipsApartAttr, builder.getStrArrayAttr(others));
      return;
    }
    multiply(*instructions.begin(), sizes); // which says why no product is one of 8 bits
  }

private:
  /// Whether some product became one of 8 bits, or 4.
  bool multiply(Instruction instruction, const AssumedSizes &sizes) {
    auto one =
        llvm::find_if(chips, [&](StringRef chip) { return instructionOf(chip) == instruction; });
    const Chip *byGroups = instruction == Instruction::OfGroups ? findChip(*one) : nullptr;
    bool changed = false;
    for (auto graph : getOperation().getOps<GraphOp>())
      if (graph.getName() != kDiagnosis)
        changed |= Multiplier(graph, byGroups, sizes).run(instruction, alike);
    return changed;
  }
};

} // namespace
} // namespace halftone::ir
