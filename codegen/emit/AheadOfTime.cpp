// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/AheadOfTime.h"

#include "codegen/emit/WriteFile.h"
#include "codegen/plan/Chips.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace mlir;
namespace hm = halftone::manifest;

namespace halftone::ir {

/// "sm_90a" of "sm_90a" and of "compute_90a"
static std::string chipOf(StringRef architecture) {
  return ("sm_" + architecture.rsplit('_').second).str();
}

std::optional<std::string> findBadArchitecture(const AheadOfTime &ahead,
                                               ArrayRef<std::string> targets) {
  for (const std::string &architecture : ahead.architectures) {
    StringRef kind = StringRef(architecture).rsplit('_').first;
    if (kind != "sm" && kind != "compute")
      return "'" + architecture + "' is nothing to compile for: write sm_90a for cubins, or " +
             "compute_90 for PTX";
    if (llvm::is_contained(targets, chipOf(architecture)))
      continue;
    std::string chip = chipOf(architecture);
    std::string nearest = findChip(chip) ? "" : nearestName(chip, targets);
    return "kernels are to be compiled for " + architecture + ", but " + chip +
           " is not among the targets " + llvm::join(targets, ", ") +
           (nearest.empty()
                ? ": add it"
                : ": write " + (kind + "_" + StringRef(nearest).rsplit('_').second).str());
  }
  return std::nullopt;
}

/// Runs the compiler on a file of jobs; its errors end in `fault`.
static LogicalResult runCompiler(StringRef compiler, StringRef jobs, StringRef images,
                                 StringRef errors, std::string &fault) {
  StringRef arguments[] = {compiler, "compile-texts", jobs, images};
  std::optional<StringRef> redirects[] = {std::nullopt, std::nullopt, errors};
  std::string reason;
  int status =
      llvm::sys::ExecuteAndWait(compiler, arguments, std::nullopt, redirects, 0, 0, &reason);
  if (status == 0)
    return success();
  auto file = llvm::MemoryBuffer::getFile(errors);
  std::string said = file ? (*file)->getBuffer().trim().str() : "";
  fault = "kernels were not compiled ahead of time: ";
  if (!reason.empty())
    fault += "'" + compiler.str() + "' cannot be run: " + reason +
             "; name the program halftone with --kernel-compiler";
  else if (!said.empty())
    fault += said;
  else
    fault += "'" + compiler.str() + "' ended with status " + std::to_string(status) +
             " and said nothing; name the program halftone with --kernel-compiler";
  return failure();
}

/// Whether these are the compiler's version and, for each job, an image that is not empty.
static bool isAnswer(ArrayRef<std::string> strings, size_t jobs) {
  return strings.size() == jobs + 1 && hm::is_version(strings.front()) &&
         !llvm::is_contained(strings, "");
}

/// One image for each job, behind the compiler's version; see compile_texts.hpp.
static FailureOr<std::vector<std::string>> compile(const std::vector<std::string> &jobs,
                                                   StringRef compiler, std::string &fault) {
  SmallString<128> paths[3];
  llvm::scope_exit remove([&] {
    for (const SmallString<128> &path : paths)
      if (!path.empty())
        llvm::sys::fs::remove(path);
  });
  for (SmallString<128> &path : paths)
    if (std::error_code error = llvm::sys::fs::createTemporaryFile("halftonec", "jobs", path)) {
      fault = "cannot make a temporary file: " + error.message();
      return failure();
    }
  std::vector<std::byte> packed = hm::pack_texts(jobs);
  StringRef content(reinterpret_cast<const char *>(packed.data()), packed.size());
  if (llvm::Error error = writeFile(paths[0], content)) {
    fault = "cannot write a temporary file: " + llvm::toString(std::move(error));
    return failure();
  }
  if (failed(runCompiler(compiler, paths[0], paths[1], paths[2], fault)))
    return failure();
  auto made = llvm::MemoryBuffer::getFile(paths[1]);
  std::vector<std::string> strings;
  hm::DecodeError error;
  if (made)
    content = (*made)->getBuffer();
  if (!made ||
      !hm::unpack_texts({reinterpret_cast<const std::byte *>(content.data()), content.size()},
                        strings, error) ||
      !isAnswer(strings, jobs.size() / 3)) {
    fault = "'" + compiler.str() +
            "' is not the program halftone of this release; name it with --kernel-compiler";
    return failure();
  }
  return strings;
}

FailureOr<std::vector<hm::AheadImage>> compileAhead(ArrayRef<CudaText> texts,
                                                    const AheadOfTime &ahead, std::string &fault) {
  std::vector<hm::AheadImage> images;
  std::vector<std::string> jobs;
  for (const std::string &architecture : ahead.architectures)
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!llvm::is_contained(texts[i].chips, chipOf(architecture)))
        continue;
      jobs.insert(jobs.end(), {architecture, texts[i].name, texts[i].text});
      images.push_back({static_cast<int32_t>(i), architecture, {}, {}});
    }
  if (jobs.empty())
    return images;
  auto strings = compile(jobs, ahead.compiler, fault);
  if (failed(strings))
    return failure();
  for (size_t i = 0; i < images.size(); ++i) {
    images[i].compiler = strings->front();
    images[i].bytes = std::move((*strings)[i + 1]);
  }
  return images;
}

} // namespace halftone::ir
