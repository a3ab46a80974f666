// SPDX-License-Identifier: Apache-2.0
// One printer per member function of Body; kernels/README.md says what each skeleton asks of a
// Body.
#include "codegen/emit/cuda/BodyText.h"

#include "codegen/emit/cuda/Regions.h"

using namespace mlir;

namespace halftone::ir {

bool isCollapsed(KernelOp kernel) {
  auto plain = [](Attribute access) {
    AccessKind kind = cast<AccessAttr>(access).getKind();
    return kind == AccessKind::Full || kind == AccessKind::Scalar;
  };
  Skeleton skeleton = kernel.getSkeleton();
  return (skeleton == Skeleton::Pointwise || skeleton == Skeleton::Flat) &&
         llvm::all_of(kernel.getInputAccesses(), plain) &&
         llvm::all_of(kernel.getResultAccesses(), plain) &&
         kernel.getBody().front().getOps<ColumnIndexOp>().empty();
}

namespace {

constexpr StringLiteral kNotUniform =
    "is not the same in the whole row, so it can be neither a Row result nor a row's sum";
constexpr StringLiteral kNotHere = "means nothing in this skeleton";
constexpr StringLiteral kDevice = "__device__ __forceinline__";

std::string number(StringRef name, unsigned i) { return (name + Twine(i)).str(); }

class BodyPrinter {
public:
  BodyPrinter(KernelOp kernel, raw_ostream &out)
      : kernel(kernel), block(kernel.getBody().front()), collapsed(isCollapsed(kernel)), out(out) {}

  LogicalResult print(ArrayRef<std::string> symbols);

private:
  void printMembers(ArrayRef<std::string> symbols);
  void printOperands();
  void printLoads();
  void printStore();
  LogicalResult printCompute();
  LogicalResult printStages();
  LogicalResult printStoreRow();
  void printStoreColumn();
  LogicalResult printFinish();

  bool isRow() { return kernel.getSkeleton() == Skeleton::Row; }
  Type elementType(Value tensor) { return cast<TensorType>(tensor.getType()).getElementType(); }
  bool isUniform(unsigned input) {
    AccessKind kind = kernel.getInputAccess(input).getKind();
    return kind == AccessKind::Row || kind == AccessKind::Scalar;
  }
  bool isMatrix(unsigned input) { return !kernel.getElement(input); }
  bool isVarying(unsigned input) { return !isMatrix(input) && !isUniform(input); }
  bool stores(unsigned result, AccessKind kind) {
    return kernel.getResultAccess(result).getKind() == kind;
  }

  CudaNames uniformNames();
  CudaNames elementNames();
  void findStages();
  LogicalResult printFunction(StringRef head, ValueRange values, CudaNames names, StringRef scope,
                              ArrayRef<std::string> targets, StringRef indent = "  ");

  KernelOp kernel;
  Block &block;
  bool collapsed;
  raw_ostream &out;
  /// Row reductions stage by stage: those of one stage need results of earlier stages alone.
  SmallVector<SmallVector<Operation *>> stages;
  SmallVector<Operation *> reductions; ///< flattened
};

//===--- Data ---===//

void BodyPrinter::printMembers(ArrayRef<std::string> symbols) {
  out << "struct Body {\n"
      << "  using Column = " << (collapsed ? "long long" : "int") << ";\n";
  if (kernel.getSkeleton() == Skeleton::Pointwise || kernel.getSkeleton() == Skeleton::Flat)
    out << "  static constexpr bool kCollapsed = " << (collapsed ? "true" : "false") << ";\n";
  if (isRow())
    out << "  static constexpr bool kFinish = " << (kernel.hasFinish() ? "true" : "false") << ";\n"
        << "  static constexpr int kInputs = "
        << llvm::count_if(llvm::seq(kernel.getInputs().size()),
                          [&](size_t i) { return isVarying(i); })
        << ";\n";
  if (kernel.getSkeleton() == Skeleton::Column)
    out << "  static constexpr int kSums = "
        << llvm::count_if(llvm::seq(kernel.getStored().size()),
                          [&](size_t i) { return stores(i, AccessKind::Column); })
        << ";\n";
  if (kernel.isContraction())
    out << "  static constexpr bool kTransposeLhs = "
        << (kernel.getTransposeLhs() ? "true" : "false") << ";\n"
        << "  static constexpr bool kTransposeRhs = "
        << (kernel.getTransposeRhs() ? "true" : "false") << ";\n"
        << "  static constexpr bool kUsesLhsSum = "
        << (block.getOps<LhsSumOp>().empty() ? "false" : "true") << ";\n";
  out << "\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    out << "  const " << cudaType(elementType(input)) << "* "
        << (kernel.getInputAccess(i).getKind() == AccessKind::Lhs   ? "lhs"
            : kernel.getInputAccess(i).getKind() == AccessKind::Rhs ? "rhs"
                                                                    : number("input", i))
        << ";\n";
  for (auto [i, result] : llvm::enumerate(kernel.getStored()))
    out << "  " << cudaType(elementType(result)) << "* result" << i << ";\n";
  for (auto [i, result] : llvm::enumerate(kernel.getFinished()))
    out << "  " << cudaType(elementType(result)) << "* finished" << i << ";\n";
  if (kernel.hasFinish())
    out << "  float* workspace;\n  unsigned int* blocks_done;\n";
  for (const std::string &symbol : symbols)
    out << "  long long symbol_" << symbol << ";\n";
  out << "  long long rows;\n";
  if (collapsed)
    out << "  long long elements;\n";
  if (kernel.isContraction())
    out << "  long long depth;\n";
  out << "\n";
  if (collapsed)
    out << "  " << kDevice << " Column columns() const { return elements; }\n\n";
  else
    out << "  __device__ static constexpr Column columns() { return " << kernel.getColumns()
        << "; }\n\n";
}

void BodyPrinter::printOperands() {
  out << "  struct Uniforms {\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (isUniform(i))
      out << "    " << cudaType(elementType(input)) << " input" << i << ";\n";
  out << "  };\n  template <int kWidth>\n  struct Inputs {\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (isVarying(i))
      out << "    " << cudaType(elementType(input)) << " input" << i << "[kWidth];\n";
  out << "  };\n  template <int kWidth>\n  struct Outputs {\n";
  for (auto [i, result] : llvm::enumerate(kernel.getStored()))
    if (stores(i, AccessKind::Full))
      out << "    " << cudaType(elementType(result)) << " result" << i << "[kWidth];\n";
  out << "  };\n\n";
}

void BodyPrinter::printLoads() {
  out << "  " << kDevice << " void load(long long row, Uniforms& uniforms) const {\n";
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (isUniform(i))
      out << "    uniforms.input" << i << " = input" << i
          << (kernel.getInputAccess(i).getKind() == AccessKind::Row ? "[row]" : "[0]") << ";\n";
  out << "  }\n  template <int kWidth>\n"
      << "  " << kDevice
      << " void load(long long row, Column column, Inputs<kWidth>& inputs) const {\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    if (!isVarying(i))
      continue;
    AccessAttr access = kernel.getInputAccess(i);
    out << "    halftone::kernels::load(input" << i;
    if (access.getKind() == AccessKind::Full)
      out << " + row * columns(), column, columns()";
    else if (access.getKind() == AccessKind::Column)
      out << ", column, columns()";
    else
      out << " + row * " << cast<TensorType>(input.getType()).getColumns() << ", column + ("
          << access.getOffset() << "), " << cast<TensorType>(input.getType()).getColumns();
    out << ", inputs.input" << i << ");\n";
  }
  out << "  }\n";
}

void BodyPrinter::printStore() {
  out << "  template <int kWidth>\n"
      << "  " << kDevice
      << " void store(long long row, Column column, const Outputs<kWidth>& outputs) const {\n";
  for (unsigned i = 0; i < kernel.getStored().size(); ++i)
    if (stores(i, AccessKind::Full))
      out << "    halftone::kernels::store(result" << i
          << " + row * columns(), column, columns(), outputs.result" << i << ");\n";
  out << "  }\n";
}

//===--- Code ---===//

CudaNames BodyPrinter::uniformNames() {
  CudaNames names;
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (isUniform(i))
      names[kernel.getElement(i)] = number("uniforms.input", i);
  for (auto [i, reduction] : llvm::enumerate(reductions))
    names[reduction->getResult(0)] = "reduced[" + std::to_string(i) + "]";
  if (kernel.isContraction())
    for (LhsSumOp op : block.getOps<LhsSumOp>())
      names[op.getResult()] = "lhs_sum";
  return names;
}

CudaNames BodyPrinter::elementNames() {
  CudaNames names = uniformNames();
  if (kernel.isContraction())
    names[block.getArgument(0)] = "sum";
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (isVarying(i))
      names[kernel.getElement(i)] = number("inputs.input", i) + "[i]";
  for (ColumnIndexOp op : block.getOps<ColumnIndexOp>())
    names[op.getResult()] = "column";
  for (ElementIndexOp op : block.getOps<ElementIndexOp>())
    names[op.getResult()] = "(row * columns() + column)";
  return names;
}

/// Prints `head {`, the statements of `values`, and `target = value;` for each; nothing else.
LogicalResult BodyPrinter::printFunction(StringRef head, ValueRange values, CudaNames names,
                                         StringRef scope, ArrayRef<std::string> targets,
                                         StringRef indent) {
  out << indent << head << " {\n";
  if (failed(printScalars(block, values, names, (indent + "  ").str(), scope, out)))
    return failure();
  for (auto [value, target] : llvm::zip_equal(values, targets))
    out << indent << "  " << target << " = " << names.at(value) << ";\n";
  out << indent << "}\n";
  return success();
}

LogicalResult BodyPrinter::printCompute() {
  SmallVector<Value> values;
  SmallVector<std::string> targets;
  unsigned terms = 0;
  for (auto [i, value] : llvm::enumerate(kernel.getYield().getStores())) {
    if (stores(i, AccessKind::Row))
      continue;
    values.push_back(value);
    targets.push_back(stores(i, AccessKind::Full) ? number("outputs.result", i) + "[i]"
                                                  : "terms[" + std::to_string(terms++) + "]");
  }
  std::string extra;
  if (kernel.getSkeleton() == Skeleton::Column)
    extra = ", float* terms";
  if (kernel.getSkeleton() == Skeleton::Flat) {
    extra = ", float& term";
    values.push_back(kernel.getYield().getSums().front());
    targets.push_back("term");
  }
  std::string head;
  llvm::raw_string_ostream(head) << "template <int kWidth>\n  " << kDevice
                                 << " void compute(const Uniforms& uniforms, "
                                 << (isRow()                  ? "const float* reduced, "
                                     : kernel.isContraction() ? "float sum, float lhs_sum, "
                                                              : "")
                                 << "const Inputs<kWidth>& inputs, int i,\n      long long row, "
                                    "Column column, Outputs<kWidth>& outputs"
                                 << extra << ") const";
  return printFunction(head, values, elementNames(), kNotHere, targets);
}

void BodyPrinter::findStages() {
  if (!isRow())
    return;
  llvm::DenseMap<Value, unsigned> depths; // reductions on the longest way to the value
  for (Operation &op : block.without_terminator()) {
    unsigned depth = 0;
    for (Value operand : op.getOperands())
      depth = std::max(depth, depths.lookup(operand));
    if (isa<RowSumOp, RowMaxOp>(op)) {
      if (stages.size() <= depth)
        stages.resize(depth + 1);
      stages[depth++].push_back(&op);
    }
    depths[op.getResult(0)] = depth;
  }
  for (ArrayRef<Operation *> stage : stages)
    llvm::append_range(reductions, stage);
}

LogicalResult BodyPrinter::printStages() {
  out << "\n  static constexpr int kStages = " << stages.size() << ";\n"
      << "  static constexpr int kReductions = " << reductions.size() << ";\n"
      << "  __device__ static constexpr int stage_begin(int stage) {\n    return ";
  unsigned begin = 0;
  for (auto [i, stage] : llvm::enumerate(stages)) {
    out << "stage == " << i << " ? " << begin << " : ";
    begin += stage.size();
  }
  out << begin << ";\n  }\n"
      << "  __device__ static constexpr halftone::kernels::Reduction reduction(int index) {\n    "
         "return ";
  for (auto [i, reduction] : llvm::enumerate(reductions))
    if (isa<RowMaxOp>(reduction))
      out << "index == " << i << " ? halftone::kernels::Reduction::maximum : ";
  out << "halftone::kernels::Reduction::sum;\n  }\n"
      << "  template <int kStage, int kWidth>\n  " << kDevice
      << " void contribute(const Uniforms& uniforms, const float* reduced, const Inputs<kWidth>& "
         "inputs,\n"
      << "      int i, long long row, Column column, float* terms) const";
  if (stages.empty()) {
    out << " {}\n";
    return success();
  }
  out << " {\n";
  for (auto [i, stage] : llvm::enumerate(stages)) {
    SmallVector<Value> values;
    SmallVector<std::string> targets;
    for (Operation *reduction : stage) {
      targets.push_back("terms[" + std::to_string(values.size()) + "]");
      values.push_back(reduction->getOperand(0));
    }
    if (failed(printFunction("if constexpr (kStage == " + std::to_string(i) + ")", values,
                             elementNames(), kNotHere, targets, "    ")))
      return failure();
  }
  out << "  }\n";
  return success();
}

/// Row results, and the row's term of the sum over rows, by one lane per row.
LogicalResult BodyPrinter::printStoreRow() {
  SmallVector<Value> values;
  SmallVector<std::string> targets;
  for (auto [i, value] : llvm::enumerate(kernel.getYield().getStores())) {
    if (!stores(i, AccessKind::Row))
      continue;
    values.push_back(value);
    targets.push_back(number("result", i) + "[row]");
  }
  if (kernel.hasFinish()) {
    values.push_back(kernel.getYield().getSums().front());
    targets.push_back("workspace[row]");
  }
  std::string head =
      (kDevice + " void store_row(const Uniforms& uniforms, " +
       (isRow() ? "const float* reduced" : "float lhs_sum") + ", long long row) const")
          .str();
  return printFunction(head, values, uniformNames(), kNotUniform, targets);
}

void BodyPrinter::printStoreColumn() {
  out << "  " << kDevice << " void store_column(int column, const float* totals) const {\n";
  unsigned total = 0;
  for (unsigned i = 0; i < kernel.getStored().size(); ++i)
    if (stores(i, AccessKind::Column))
      out << "    result" << i << "[column] = totals[" << total++ << "];\n";
  out << "  }\n";
}

LogicalResult BodyPrinter::printFinish() {
  Block &finish = kernel.getFinish().front();
  CudaNames names;
  names[finish.getArgument(0)] = "sum";
  unsigned argument = 1;
  out << "  __device__ void finish(float sum) const {\n";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    if (kernel.getInputAccess(i).getKind() != AccessKind::Scalar)
      continue;
    out << "    const " << cudaType(elementType(input)) << " scalar" << i << " = input" << i
        << "[0];\n";
    names[finish.getArgument(argument++)] = number("scalar", i);
  }
  ValueRange values = kernel.getFinishYield().getValues();
  if (failed(printScalars(finish, values, names, "    ", kNotHere, out)))
    return failure();
  for (auto [i, value] : llvm::enumerate(values))
    out << "    finished" << i << "[0] = " << names.at(value) << ";\n";
  out << "  }\n";
  return success();
}

LogicalResult BodyPrinter::print(ArrayRef<std::string> symbols) {
  findStages();
  printMembers(symbols);
  printOperands();
  printLoads();
  printStore();
  if (failed(printCompute()))
    return failure();
  if (isRow() && failed(printStages()))
    return failure();
  if ((isRow() || kernel.isContraction()) && failed(printStoreRow()))
    return failure();
  if (kernel.getSkeleton() == Skeleton::Column)
    printStoreColumn();
  if (kernel.hasFinish() && failed(printFinish()))
    return failure();
  out << "};\n";
  return success();
}

} // namespace

LogicalResult printBody(KernelOp kernel, ArrayRef<std::string> symbols, raw_ostream &out) {
  return BodyPrinter(kernel, out).print(symbols);
}

} // namespace halftone::ir
