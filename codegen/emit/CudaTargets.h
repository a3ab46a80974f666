// SPDX-License-Identifier: Apache-2.0
// How the kernels of a manifest run on chips, and the texts that they share.
#ifndef HALFTONE_EMIT_CUDATARGETS_H
#define HALFTONE_EMIT_CUDATARGETS_H

#include "codegen/emit/ManifestBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace halftone::ir {

struct CudaText {
  std::string name; ///< its first kernel's; behind "sm_80/" where another text has that name
  std::string text;
  std::vector<std::string> chips; ///< that run it
  std::string entry;
  int64_t threads = 0, sharedBytes = 0; ///< of every launch: a text states its threads
};

/// The texts of an artifact: what is equal is stored once.
class CudaTexts {
public:
  /// The index of kernel's text for a chip.
  int32_t insert(llvm::StringRef kernel, llvm::StringRef chip, CudaText text);

  std::vector<CudaText> take() { return std::move(texts); }

private:
  std::vector<CudaText> texts;
  llvm::StringMap<int32_t> indices;
  llvm::StringMap<int32_t> names;
};

/// Emits every kernel of `planned` for every chip among its targets, adds what differs to `texts`,
/// and fills the manifest's `cuda`.
mlir::LogicalResult describeCuda(ManifestAndKernels &planned, CudaTexts &texts);

} // namespace halftone::ir

#endif
