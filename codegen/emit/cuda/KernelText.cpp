// SPDX-License-Identifier: Apache-2.0
// Assembles a kernel's text: one comment, the device vocabulary that its skeleton includes, the
// Body, the entry.
#include "codegen/emit/cuda/KernelText.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/emit/cuda/Casts.h"
#include "codegen/emit/cuda/GeneralAccess.h"
#include "codegen/ir/GatheredLines.h"
#include "codegen/skeletons/Skeletons.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace halftone::ir {

using skeletons::Finish, skeletons::Launch;

/// The files of kernels/include, taken in when this was built.
static constexpr std::pair<StringLiteral, StringLiteral> kDeviceTexts[] = {
#include "codegen/emit/cuda/DeviceText.inc"
};

/// Appends a file after those that it includes, each once, without what only separate files need.
static void appendDeviceText(StringRef path, llvm::StringSet<> &done, raw_ostream &out) {
  if (!done.insert(path).second)
    return;
  const auto *entry = llvm::find_if(kDeviceTexts, [&](auto &text) { return text.first == path; });
  assert(entry != std::end(kDeviceTexts) &&
         "a skeleton includes a file that codegen/CMakeLists.txt does not embed");
  SmallVector<StringRef> lines;
  StringRef(entry->second).split(lines, '\n');
  bool wasEmpty = true;
  for (StringRef line : lines) {
    if (line.consume_front("#include \"")) {
      appendDeviceText(line.take_until([](char c) { return c == '"'; }), done, out);
      continue;
    }
    if (line == "#pragma once" || line.starts_with("// SPDX") || (line.empty() && wasEmpty))
      continue;
    out << line << "\n";
    wasEmpty = line.empty();
  }
}

std::string cudaEntryName(KernelOp kernel) { return ("halftone_" + kernel.getName()).str(); }

static bool isIdentifier(StringRef name) {
  return !name.empty() && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// Elements enter and leave the body as they are stored, and sums are f32.
static LogicalResult verifyElements(KernelOp kernel) {
  auto element = [](Value tensor) { return cast<TensorType>(tensor.getType()).getElementType(); };
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (AccessAttr access = kernel.getInputAccess(i);
        isMatrix(kernel, i) && access.getMap() && !isScales(access.getKind()) &&
        kernel.getSkeleton() == Skeleton::Contraction &&
        (findGatheredInput(kernel) != i ||
         !findGatheredLines(access, axesOf(kernel), kernel.getBatchDims().size(),
                            cast<TensorType>(input.getType()))))
      return kernel.emitOpError()
             << "reads matrix " << i
             << " by a map that no chip gathers by: let a pointwise kernel read it first";
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (Value argument = kernel.getElement(i); argument && argument.getType() != element(input))
      return kernel.emitOpError() << "operand " << i << " holds " << element(input)
                                  << " but enters the body as " << argument.getType();
  for (auto [i, pair] :
       llvm::enumerate(llvm::zip(kernel.getStored(), kernel.getYield().getStores())))
    if (auto [result, value] = pair; isSumOfProducts(kernel.getResultAccess(i).getKind())) {
      if (!element(result).isF32() && !isInPlace(kernel.getResultAccess(i)))
        return kernel.emitOpError()
               << "result " << i << " holds " << element(result) << "; sums of products are f32";
    } else if (value.getType() != element(result))
      return kernel.emitOpError() << "result " << i << " holds " << element(result)
                                  << " but the body yields " << value.getType();
    else if (kernel.getResultAccess(i).getKind() == AccessKind::Column && !value.getType().isF32())
      return kernel.emitOpError() << "result " << i << " sums " << value.getType()
                                  << "; sums are f32 and are rounded by the kernel that reads them";
  return success();
}

/// What no skeleton can run.
static LogicalResult verify(KernelOp kernel, ArrayRef<std::string> symbols) {
  if (!isIdentifier(kernel.getName()))
    return kernel.emitOpError() << "name '" << kernel.getName()
                                << "' is not made of letters, digits and underscores";
  if (kernel.getYield().getSums().size() > 1)
    return kernel.emitOpError("has more than one sum; split it into several kernels");
  const skeletons::Skeleton &skeleton = skeletons::of(kernel);
  const skeletons::Traits &traits = skeleton.traits();
  if (traits.finish != Finish::Possible && kernel.hasFinish() != (traits.finish == Finish::Always))
    return kernel.emitOpError() << "a " << skeleton.name() << " kernel "
                                << (kernel.hasFinish() ? "cannot have" : "wants") << " a finish";
  if (failed(skeleton.verify(kernel)))
    return failure();
  std::optional<int64_t> columns = kernel.getColumns();
  if (columns && *columns > traits.mostColumns && !skeleton.isOneRow(kernel))
    return kernel.emitOpError() << "has rows of " << *columns << " columns, more than a "
                                << skeleton.name() << " kernel can hold";
  for (auto [i, access] : llvm::enumerate(kernel.getResultAccesses())) {
    if (!llvm::is_contained(traits.stores, cast<AccessAttr>(access).getKind()))
      return kernel.emitOpError() << "result " << i << " has an access that a " << skeleton.name()
                                  << " kernel cannot store";
  }
  auto check = [&](Type type) {
    return !cudaType(cast<TensorType>(type).getElementType()).empty();
  };
  if (!llvm::all_of(kernel->getOperandTypes(), check) ||
      !llvm::all_of(kernel->getResultTypes(), check))
    return kernel.emitOpError(
        "CUDA kernels hold tensors of f32, tf32, f16, bf16, f8e4m3, f8e5m2 and i32 alone");
  if (failed(verifyElements(kernel)))
    return failure();
  for (Attribute dim : llvm::concat<const Attribute>(kernel.getDomain().getValue(),
                                                     kernel.getReduction().getValue()))
    if (auto symbol = dyn_cast<StringAttr>(dim);
        symbol && !llvm::is_contained(symbols, symbolicExtentOf(symbol.getValue()).name))
      return kernel.emitOpError() << "symbol '" << symbol.getValue() << "' is none of the model's";
  return success();
}

static std::string formats(TypeRange types) {
  SmallVector<std::string> names;
  for (Type type : types) {
    std::string name;
    llvm::raw_string_ostream(name) << cast<TensorType>(type).getElementType();
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  return llvm::join(names, ", ");
}

static void printHeader(KernelOp kernel, CudaPlanAttr plan, StringRef model, StringRef version,
                        raw_ostream &out) {
  out << "// " << model << ": " << kernel.getName() << ", "
      << skeletons::of(kernel).getDeviceName(kernel, plan) << " kernel, "
      << formats(kernel->getOperandTypes()) << " -> " << formats(kernel->getResultTypes())
      << ", Halftone " << version << "\n\n";
}

/// Whether it stores a row in the place of one that it reads, as updates with scaled states do.
static bool storesInPlace(KernelOp kernel) {
  return llvm::any_of(kernel.getStored(), [&](Value result) {
    return llvm::any_of(result.getUsers(), [&](Operation *user) {
      auto assign = dyn_cast<AssignOp>(user);
      return assign && llvm::any_of(kernel.getInputs(), [&](Value input) {
               return getViewed(input) == getViewed(assign.getDestination());
             });
    });
  });
}

/// Every parameter as (type, name, Body's member), in the order of the contract.
static SmallVector<std::array<std::string, 3>> parameters(KernelOp kernel, const Launch &launch,
                                                          bool findsMaximum,
                                                          ArrayRef<std::string> symbols) {
  bool isInPlace = skeletons::of(kernel).traits().replacesOperands || storesInPlace(kernel);
  StringRef star = isInPlace ? "* " : "* __restrict__ ";
  auto pointer = [&](Type type) {
    return (cudaType(cast<TensorType>(type).getElementType()) + star).str();
  };
  SmallVector<std::array<std::string, 3>> list;
  for (auto [i, type] : llvm::enumerate(kernel.getInputs().getTypes())) {
    std::string name = "input" + std::to_string(i);
    list.push_back({"const " + pointer(type), name, memberName(kernel, i)});
  }
  for (auto [i, type] : llvm::enumerate(kernel.getStored().getTypes()))
    list.push_back({pointer(type), "result" + std::to_string(i), "result" + std::to_string(i)});
  for (auto [i, type] : llvm::enumerate(kernel.getFinished().getTypes()))
    list.push_back({pointer(type), "finished" + std::to_string(i), "finished" + std::to_string(i)});
  if (findsMaximum)
    list.push_back({"float* ", "largest", "largest"});
  if ((kernel.hasFinish() && !findsMaximum) || !launch.workspace.empty())
    list.push_back({"float* ", "workspace", "workspace"});
  for (const std::string &symbol : symbols)
    list.push_back({"long long ", "symbol_" + symbol, "symbol_" + symbol});
  return list;
}

static void printEntry(KernelOp kernel, CudaPlanAttr plan, const Launch &launch,
                       const BodyForm &form, ArrayRef<std::string> symbols, raw_ostream &out) {
  const skeletons::Skeleton &skeleton = skeletons::of(kernel);
  bool findsMaximum = !form.maximum.empty();
  auto list = parameters(kernel, launch, findsMaximum, symbols);
  out << "extern \"C\" __global__ void __launch_bounds__(" << launch.threads;
  int64_t resident = launch.resident;
  if (int64_t blocks = resident ? resident : skeleton.getResidentBlocks(launch.threads))
    out << ", " << blocks;
  out << ")\n" << cudaEntryName(kernel) << "(";
  for (size_t i = 0; i < launch.maps.size(); ++i)
    out << "const __grid_constant__ halftone::kernels::TensorMap map" << i << ",\n    ";
  llvm::interleave(
      list, out, [&](auto &parameter) { out << parameter[0] << parameter[1]; }, ",\n    ");
  out << ") {\n";
  for (const std::string &symbol : symbols) // which the runtime may know when it compiles
    out << "#ifdef HALFTONE_SYMBOL_" << symbol << "\n  symbol_" << symbol << " = HALFTONE_SYMBOL_"
        << symbol << ";\n#endif\n";
  out << "  Body body;\n";
  for (auto &parameter : list)
    out << "  body." << parameter[2] << " = " << parameter[1] << ";\n";
  if (findsMaximum)
    out << "  body.so_far = &so_far;\n  body.warps_done = &warps_done;\n"
           "  halftone::kernels::Maximum maximum;\n  body.maximum = &maximum;\n";
  else if (kernel.hasFinish())
    out << "  body.blocks_done = &blocks_done;\n";
  if (skeleton.isOneRow(kernel))
    out << "  body.rows = 1;\n  body.elements = " << cudaProduct(kernel.getDomain().getValue())
        << ";\n";
  else
    out << "  body.rows = " << cudaProduct(kernel.getDomainType().getRowDims()) << ";\n";
  if (kernel.hasSum())
    out << "  body.depth = " << cudaProduct(kernel.getReduction().getValue()) << ";\n";
  if (size_t batch = kernel.getBatchDims().size())
    out << "  body.element_rows = "
        << cudaProduct(kernel.getDomainType().getRowDims().drop_front(batch)) << ";\n";
  out << "  halftone::kernels::" << skeleton.getDeviceName(kernel, plan) << "::run<Body, "
      << skeleton.getPlanArguments(kernel, plan) << ">(body"
      << skeleton.getRunArguments(kernel, plan) << ");\n"
      << form.last << "}\n";
}

FailureOr<std::string> emitCudaText(KernelOp kernel, CudaPlanAttr plan, StringRef model,
                                    StringRef version, ArrayRef<std::string> symbols) {
  if (failed(verify(kernel, symbols)))
    return failure();
  const skeletons::Skeleton &skeleton = skeletons::of(kernel);
  FailureOr<Launch> launch = skeleton.getLaunch(kernel, plan);
  if (failed(launch))
    return failure();
  std::string text;
  llvm::raw_string_ostream out(text);
  printHeader(kernel, plan, model, version, out);
  llvm::StringSet<> done;
  if (readsDelivered(kernel))
    appendDeviceText("halftone/kernels/integers.cuh", done, out);
  if (usesCasts(kernel))
    appendDeviceText("halftone/kernels/convert.cuh", done, out);
  if (usesFloat8(kernel))
    appendDeviceText("halftone/kernels/float8.cuh", done, out);
  if (usesGeneralAccess(kernel))
    appendDeviceText("halftone/kernels/general_access.cuh", done, out);
  if (multipliesCodes(kernel)) {
    bool byTensorCores = plan.getKind() == CudaPlanKind::Tensor;
    appendDeviceText(byTensorCores ? "halftone/kernels/coded_staging.cuh"
                                   : "halftone/kernels/codes.cuh",
                     done, out);
  }
  BodyForm form = skeleton.getBodyForm(kernel, plan);
  if (!form.maximum.empty())
    appendDeviceText("halftone/kernels/maximum.cuh", done, out);
  appendDeviceText(("halftone/kernels/" + skeleton.getDeviceName(kernel, plan) + ".cuh").str(),
                   done, out);
  out << "namespace {\n\n";
  if (!form.maximum.empty())
    out << "__device__ unsigned int so_far = 0, warps_done = 0;\n\n";
  else if (kernel.hasFinish())
    out << "__device__ unsigned int blocks_done = 0;\n\n";
  if (failed(BodyPrinter(kernel, form, out).print(symbols)))
    return failure();
  out << "\n}  // namespace\n\n";
  printEntry(kernel, plan, *launch, form, symbols, out);
  return text;
}

} // namespace halftone::ir
