// SPDX-License-Identifier: Apache-2.0
// Writing a file whole or not at all, with the reason where it cannot be.
#ifndef HALFTONE_EMIT_WRITEFILE_H
#define HALFTONE_EMIT_WRITEFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace halftone::ir {

/// What was at `path` before stays where this fails: a full disk, say. A link stays one: the file
/// that it leads to is written. "-" is standard output. The error is the reason alone.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef content);

} // namespace halftone::ir

#endif
