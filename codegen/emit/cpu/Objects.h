// SPDX-License-Identifier: Apache-2.0
// From loop nests to one relocatable object that holds the code of all variants, the manifests and
// the CUDA texts.
#ifndef HALFTONE_EMIT_CPU_OBJECTS_H
#define HALFTONE_EMIT_CPU_OBJECTS_H

#include "mlir/IR/BuiltinOps.h"

namespace halftone::cpu {

struct ObjectParts {
  std::string architecture;                      ///< as in llvm::Triple
  std::vector<std::vector<std::string>> entries; ///< functions by variant and entry
  std::vector<std::vector<std::byte>> manifests; ///< the CPU's first
  llvm::ArrayRef<std::byte> texts;               ///< as manifest::pack_texts wrote them
  std::string modelName;                         ///< an identifier
  bool optimize = true;                          ///< otherwise code is made sooner
};

/// 16 hex digits that tell objects of one model's name apart: the XXH3-64 of manifests and texts.
/// A manifest holds the whole description, the targets and the version that made it.
std::string identityOf(const ObjectParts &parts);

/// Lowers `module`, which it consumes. The object exports manifest::ArtifactImage as
/// `halftone_artifact_<model>_<identity>`, which the typed header asks for, so that it never gets
/// another; as `halftone_artifact_<model>`, over which a linker stumbles when one program takes in
/// two of that name; and, weakly, as `halftone_artifact`. Everything else is internal.
mlir::FailureOr<llvm::SmallVector<char>> emitObject(mlir::ModuleOp module,
                                                    const ObjectParts &parts);

} // namespace halftone::cpu

#endif
