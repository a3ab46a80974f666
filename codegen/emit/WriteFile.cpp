// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/WriteFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

namespace halftone::ir {

llvm::Error writeFile(llvm::StringRef path, llvm::StringRef content) {
  llvm::SmallString<128> target(path);
  if (path != "-" && llvm::sys::fs::is_symlink_file(path))
    if (std::error_code reason = llvm::sys::fs::real_path(path, target))
      return llvm::errorCodeToError(reason);
  llvm::Error error = llvm::writeToOutput(target, [&](llvm::raw_ostream &stream) {
    stream << content;
    stream.flush();
    auto &file = static_cast<llvm::raw_fd_ostream &>(stream);
    std::error_code reason = file.error();
    file.clear_error(); // an error that is left would end the process
    return llvm::errorCodeToError(reason);
  });
  return llvm::errorCodeToError(llvm::errorToErrorCode(std::move(error))); // without the path
}

} // namespace halftone::ir
