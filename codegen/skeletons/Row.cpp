// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/Row.h"

#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cpu/Trees.h"
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/KernelGroup.h"
#include "codegen/skeletons/RowReductions.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

Row::Row()
    : Skeleton({.word = ir::Skeleton::Row,
                .takesElements = true,
                .readsByAnyMap = true,
                .readsAgain = true,
                .finish = Finish::Possible,
                .mostColumns = 1 << 20,
                .stores = {AccessKind::Full, AccessKind::Row, AccessKind::Window}}) {}

bool Row::joinsProducer(KernelForm op, const KernelGroup &group) const {
  return hasSameDomain(op, group) && accessesAgree(op, group) &&
         (group.skeleton == this || group.skeleton->traits().elementwise);
}

static Dims rowsOf(KernelOp kernel) { return Dims(kernel.getDomainType().getRowDims()); }

Dims Row::getSummands(KernelOp kernel) const { return rowsOf(kernel); }

//===--- CPU: a pass over the row for every stage, then one that stores ---===//

Tile Row::getDefaultCpuTile(KernelOp kernel) const {
  constexpr int64_t kElementsPerTask = 4096;
  return {getRowsPerTask(kernel, kElementsPerTask)};
}

SmallVector<Axis> Row::getTaskAxes(KernelOp kernel) const {
  return {{rowsOf(kernel), (*kernel.getCpuTile())[0]}};
}

/// Whether a few vectors as long as a row fit on the stack and in the second-level cache.
static bool isShort(KernelOp kernel) {
  constexpr int64_t kMostColumns = 1 << 14;
  return kernel.getColumns().value_or(kMostColumns + 1) <= kMostColumns;
}

/// In the last pass that reduces: memory would rest while a row that is in the caches is passed
/// over again. The pass that stores has memory enough to do.
static void fetchNextRow(Frame &frame, cpu::Body &body) {
  constexpr unsigned kLines = 2; // of the kPartials elements of a step
  for (unsigned line = 0; isShort(frame.kernel) && line < kLines; ++line)
    body.fetchAhead(1, line);
}

/// Whether a value is worth being kept for later passes over the row: a function of math.
static bool isWorthKeeping(KernelOp kernel, Value value) {
  constexpr size_t kOperations = 12; // take longer than a store and a load
  if (!value.getType().isF32() || !isShort(kernel))
    return false;
  llvm::SetVector<Operation *> operations;
  SmallVector<Value> open{value};
  while (!open.empty() && operations.size() < kOperations) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && !isReduction(op) && operations.insert(op))
      llvm::append_range(open, op->getOperands());
  }
  return operations.size() >= kOperations;
}

/// Of each reduced value that later passes read, too: memory for a row.
using Kept = llvm::MapVector<Value, Value>;

static Kept makeKept(Code &code, Frame &frame, const Stages &stages) {
  Kept kept;
  for (ArrayRef<Operation *> stage : stages)
    for (Operation *op : stage)
      if (Value value = op->getOperand(0);
          !value.hasOneUse() && isWorthKeeping(frame.kernel, value))
        kept[value] = code.scratch(code.f32(), static_cast<int64_t>(llvm::alignTo(
                                                   *frame.kernel.getColumns(), cpu::kPartials)));
  return kept;
}

static void reduceStage(Code &code, Frame &frame, cpu::Body &body, const Kept &kept, bool isLast,
                        ArrayRef<Operation *> reductions) {
  SmallVector<Combine> combines;
  for (Operation *op : reductions)
    combines.push_back(isa<RowSumOp>(op) ? Combine::Sum : Combine::Maximum);
  auto elements = [&](Value column, Value mask, unsigned lanes) {
    body.enterElement(column, mask, lanes);
    if (isLast && !mask)
      fetchNextRow(frame, body);
    Values values;
    for (Operation *op : reductions) {
      values.push_back(body.getVector(op->getOperand(0)));
      if (Value memory = kept.lookup(op->getOperand(0)))
        code.store(values.back(), code.address(memory, code.f32(), column));
    }
    return values;
  };
  std::optional<int64_t> columns = frame.kernel.getColumns();
  Values results = columns
                       ? reduceRow(code, frame.variant, combines, *columns, elements)
                       : reduceRow(code, frame.variant, combines, frame.columns(code), elements);
  for (auto [op, result] : llvm::zip(reductions, results)) {
    body.knowRow(op->getResult(0), result);
    if (Value memory = kept.lookup(op->getOperand(0)))
      body.readKept(op->getOperand(0), memory);
  }
}

static void storeRowElements(Code &code, Frame &frame, cpu::Body &body) {
  if (!hasResults(frame.kernel, AccessKind::Full) && !hasResults(frame.kernel, AccessKind::Window))
    return;
  std::optional<int64_t> columns = frame.kernel.getColumns();
  if (!columns)
    return body.storeColumns(code.integer(0), frame.columns(code));
  unsigned lanes = frame.variant.bodyLanes;
  int64_t main = *columns / lanes * lanes;
  if (main > 0)
    code.loop(code.integer(0), code.integer(main), lanes, [&](Value column) {
      body.enterElement(column, {}, lanes);
      body.storeFull();
    });
  if (*columns > main) {
    body.enterElement(code.integer(main), code.firstLanes(*columns - main, lanes), lanes);
    body.storeFull();
  }
}

void Row::buildTasks(Code &code, Frame &frame, Value first, Value last) const {
  int64_t tile = (*frame.kernel.getCpuTile())[0];
  Stages stages = findStages(frame.kernel.getBody().front());
  Kept kept = makeKept(code, frame, stages);
  cpu::Body body(code, frame);
  body.enterKernel();
  if (std::optional<int64_t> columns = frame.kernel.getColumns())
    body.beginStreams(*columns);
  Value end = code.minimum(code.multiply(last, code.integer(tile)), frame.rows(code));
  code.loop(code.multiply(first, code.integer(tile)), end, 1, [&](Value row) {
    body.enterRow(row);
    for (auto [i, stage] : llvm::enumerate(stages))
      reduceStage(code, frame, body, kept, i + 1 == stages.size(), stage);
    storeRowElements(code, frame, body);
    body.storeRow();
    if (frame.kernel.hasFinish())
      code.store(body.get(frame.kernel.getYield().getSums()[0]),
                 code.address(frame.workspace(), code.f32(), row));
  });
  body.endStreams();
}

Value Row::buildSum(Code &code, Frame &frame) const {
  return reduceMemory(code, frame.variant, Combine::Sum, frame.workspace(), frame.rows(code));
}

//===--- CUDA ---===//

/// Where a thread keeps what it read of a row (kept_row.cuh); the second number of a tile.
enum Keep : int64_t { Nowhere = 0, InRegisters = 1, InShared = 2 };

/// Of an element's bytes; nothing for what kept_row.cuh does not move four at a time.
static std::optional<int64_t> getBytes(Type type) {
  const encoding::ElementTraits &element = encoding::traits(elementOf(type));
  if (element.bits == 32 || (element.bits == 16 && !element.integer))
    return element.bits / 8;
  return std::nullopt;
}

static bool isOneChunk(KernelOp kernel) {
  return kernel.getColumns() && *kernel.getColumns() <= kChunk;
}

/// Of a row, four at a time.
static int64_t countElementsOfThread(KernelOp kernel) {
  return llvm::divideCeil(std::min(*kernel.getColumns(), kChunk), kPartials) * 4;
}

/// Whether every row of the result begins at a multiple of four elements, if the result does.
static bool beginsAtFours(KernelOp kernel, unsigned result) {
  AccessAttr access = kernel.getResultAccess(result);
  return access.getKind() != AccessKind::Window ||
         (access.getOffset() % 4 == 0 &&
          *cast<TensorType>(kernel.getStored()[result].getType()).getColumns() % 4 == 0);
}

static int64_t countVarying(KernelOp kernel) {
  return llvm::count_if(llvm::seq(kernel.getInputs().size()),
                        [&](size_t i) { return isVarying(kernel, i); });
}

/// Whether row.cuh itself keeps what it reads.
static bool isCached(KernelOp kernel) {
  constexpr int64_t kMostInputs = 16;
  return isOneChunk(kernel) &&
         countElementsOfThread(kernel) / 4 * countVarying(kernel) <= kMostInputs;
}

/// The bytes that a row keeps of each element, 0 of rows that kept_row.cuh does not compute.
static int64_t countKeptBytes(KernelOp kernel) {
  std::optional<int64_t> columns = kernel.getColumns();
  if (!columns || isCached(kernel) || *columns % 4 != 0 ||
      findStages(kernel.getBody().front()).empty())
    return 0;
  int64_t kept = 0;
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    AccessKind kind = kernel.getInputAccess(i).getKind();
    if (isUniform(kernel, i))
      continue;
    std::optional<int64_t> bytes = getBytes(elementType(input));
    if (!bytes || (kind != AccessKind::Full && kind != AccessKind::Column))
      return 0;
    kept += kind == AccessKind::Full ? *bytes : 0;
  }
  for (auto [i, result] : llvm::enumerate(kernel.getStored()))
    if (isStoredByElement(kernel, i) &&
        (!getBytes(elementType(result)) || !beginsAtFours(kernel, i)))
      return 0;
  return kept;
}

/// A long row: one team per chunk, in whole warps.
static int64_t countThreads(int64_t columns) {
  int64_t teams = llvm::divideCeil(columns, kChunk);
  return std::min<int64_t>(256, llvm::alignTo(teams * kTeam, kWarp));
}

static int64_t getSlotBytes(KernelOp kernel, int64_t threads) {
  return threads * countElementsOfThread(kernel) * countKeptBytes(kernel);
}

/// Few blocks that read whole rows at once leave memory idle while they compute.
constexpr int64_t kLeastResident = 3;

/// Registers are addressed by number, so that all elements of a thread are spelled out: few
/// operations for each.
static bool fitsRegisters(KernelOp kernel, int64_t threads) {
  constexpr int64_t kMostOperations = 40, kOtherRegisters = 48;
  int64_t kept = countKeptBytes(kernel);
  return kept > 0 && kept <= 4 &&
         static_cast<int64_t>(kernel.getBody().front().getOperations().size()) <= kMostOperations &&
         threads * (kept * countElementsOfThread(kernel) / 4 + kOtherRegisters) * kLeastResident <=
             kRegistersPerSm;
}

/// Of blocks that keep their rows, where every chunk has a team.
static std::optional<int64_t> countKeepingThreads(KernelOp kernel) {
  constexpr int64_t kOfShort = 64;
  if (isOneChunk(kernel))
    return kOfShort;
  int64_t threads = countThreads(*kernel.getColumns());
  return threads / kTeam * kChunk >= *kernel.getColumns() ? std::optional(threads) : std::nullopt;
}

/// A row whose length is a symbol may be short or long: as many teams as keep a block of short rows
/// busy and let few long ones run side by side.
Tile Row::getDefaultCudaTile(KernelOp kernel) const {
  std::optional<int64_t> columns = kernel.getColumns();
  if (!columns)
    return {64};
  std::optional<int64_t> threads = countKeepingThreads(kernel);
  if (threads && fitsRegisters(kernel, *threads))
    return {*threads, InRegisters};
  return {isOneChunk(kernel) ? 128 : countThreads(*columns)};
}

void Row::addPlans(PlanList &plans) const {
  KernelOp kernel = plans.kernel;
  CudaPlanAttr standard = getDefaultPlan(kernel);
  std::optional<int64_t> threads;
  if (kernel.getColumns())
    threads = countKeepingThreads(kernel);
  int64_t bytes = threads && standard.getTile().size() == 1 ? getSlotBytes(kernel, *threads) : 0;
  if (kernel.getCudaTile() || bytes == 0 || bytes > plans.chip.sharedPerBlock - kStaticShared / 4 ||
      bytes * kLeastResident > plans.chip.sharedPerSm - kStaticShared / 2)
    return Skeleton::addPlans(plans);
  double blocks = plans.extent(rowsOf(kernel));
  if (isOneChunk(kernel))
    blocks /= static_cast<double>(*threads / kTeam);
  plans.add(standard.getKind(), {*threads, InShared}, 1, 1,
            estimateElements(plans.chip, plans.problem, blocks, static_cast<double>(*threads)));
}

FailureOr<Launch> Row::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  ArrayRef<int64_t> tile = plan.getTile();
  std::optional<int64_t> columns = kernel.getColumns();
  if (tile.empty() || tile.size() > 2 || !isWarps(tile[0]) ||
      (!columns && kPartials * kTeam % tile[0] != 0))
    return refuseTile(kernel);
  Launch launch;
  launch.threads = tile[0];
  launch.axes = {{rowsOf(kernel), columns.value_or(1) <= kChunk ? tile[0] / kTeam : 1}};
  if (tile.size() == 2) {
    if ((tile[1] != InRegisters && tile[1] != InShared) || countKeptBytes(kernel) == 0 ||
        (!isOneChunk(kernel) && tile[0] / kTeam * kChunk < *columns))
      return refuseTile(kernel);
    launch.sharedBytes = tile[1] == InShared ? getSlotBytes(kernel, tile[0]) : 0;
  }
  return launch;
}

std::string Row::describePlan(CudaPlanAttr plan, const Launch &launch) const {
  ArrayRef<int64_t> tile = plan.getTile();
  return Skeleton::describePlan(plan, launch) + (tile.size() == 1 ? ""
                                                 : tile[1] == InRegisters
                                                     ? ", rows in registers"
                                                     : ", rows in shared memory");
}

/// What kept_row.cuh asks of a Body beyond row.cuh.
static void printKept(BodyPrinter &printer) {
  KernelOp kernel = printer.kernel;
  raw_ostream &out = printer.out;
  constexpr StringLiteral kPrefix = "halftone::kernels::";
  std::string aligned, keep, recall, store;
  auto align = [&](const std::string &pointer) {
    aligned += (aligned.empty() ? "" : " &&\n        ") +
               (kPrefix + "is_vector_aligned<4>(" + pointer + ")").str();
  };
  int64_t words = 0;
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    if (isUniform(kernel, i))
      continue;
    std::string name = numbered("input", i);
    align(name);
    if (kernel.getInputAccess(i).getKind() == AccessKind::Column) {
      recall +=
          ("    " + kPrefix + "load_vector(" + name + " + column, inputs." + name + ");\n").str();
      continue;
    }
    std::string place = "words + " + std::to_string(words);
    keep += ("    " + kPrefix + "kept_row::keep_four(" + name + " + row * columns() + column, " +
             place + ");\n")
                .str();
    recall +=
        ("    " + kPrefix + "kept_row::recall_four(" + place + ", inputs." + name + ");\n").str();
    words += *getBytes(elementType(input));
  }
  for (unsigned i = 0; i < kernel.getStored().size(); ++i)
    if (std::string name = numbered("result", i); isStoredByElement(kernel, i)) {
      align(name);
      store += ("    " + kPrefix + "kept_row::store_four(" + name + rowOfResult(kernel, i) +
                " + column, outputs." + name + ");\n")
                   .str();
    }
  out << bodyConstant("kKeptWords", words) << "  " << kDevice
      << " bool can_keep() const {\n    return " << aligned << ";\n  }\n  " << kDevice
      << " void keep(long long row, Column column, unsigned int* words) const {\n"
      << keep << "  }\n  " << kDevice
      << " void recall(Column column, const unsigned int* words, Inputs<4>& inputs) const {\n"
      << recall << "  }\n  " << kDevice
      << " void store_whole(long long row, Column column, const Outputs<4>& outputs) const {\n"
      << store << "  }\n";
}

StringRef Row::getDeviceName(KernelOp kernel, CudaPlanAttr plan) const {
  if (plan.getTile().size() == 2)
    return "kept_row";
  return kernel.getColumns() ? name() : "dynamic_row";
}

BodyForm Row::getBodyForm(KernelOp kernel, CudaPlanAttr plan) const {
  BodyForm form;
  form.constants =
      bodyConstant("kFinish", kernel.hasFinish()) + bodyConstant("kInputs", countVarying(kernel));
  form.before = "const float* reduced, ";
  auto printReductions = addReductions(form, kernel);
  bool keeps = plan.getTile().size() == 2;
  form.members = [printReductions, keeps](BodyPrinter &printer) {
    if (failed(printReductions(printer)))
      return failure();
    if (keeps)
      printKept(printer);
    return printer.printStoreRow("const float* reduced");
  };
  return form;
}

} // namespace halftone::skeletons
