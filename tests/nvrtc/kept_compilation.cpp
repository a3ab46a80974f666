// SPDX-License-Identifier: Apache-2.0
#include "kept_compilation.hpp"

#include <stdexcept>
#include <utility>

namespace halftone::tests {
namespace {

struct Refused {
  Compilation compilation;
};

/// "LOG_BYTES\n", the log, the PTX.
std::string encode(const Compilation& compilation) {
  return std::to_string(compilation.log.size()) + "\n" + compilation.log + compilation.ptx;
}

Compilation decode(const std::string& image) {
  const std::size_t head = image.find('\n') + 1, log = std::stoul(image);
  if (head == 0 || log > image.size() - head)
    throw std::runtime_error("a kept compilation is none");
  return {.accepted = true,
          .log = image.substr(head, log),
          .ptx = image.substr(head + log),
          .was_kept = true};
}

}  // namespace

Compilation kept_compilation(KernelCache& cache, const CompilationRequest& request,
                             const std::function<Compilation()>& compile) {
  const KernelIdentity identity{
      .halftone_version = "",
      .text = request.source,
      .name = request.name,
      .architecture = "",
      .compiler = {.compiler = request.compiler,
                   .options = {request.options.begin(), request.options.end()},
                   .output = "log and PTX",
                   .driver = ""}};
  bool was_kept = true;
  try {
    const std::string image = cache.image(identity, [&] {
      was_kept = false;
      Compilation made = compile();
      if (!made.accepted) throw Refused{std::move(made)};
      return encode(made);
    });
    Compilation found = decode(image);
    found.was_kept = was_kept;
    return found;
  } catch (Refused& refused) {
    return std::move(refused.compilation);
  }
}

}  // namespace halftone::tests
