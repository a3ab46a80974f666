// SPDX-License-Identifier: Apache-2.0
#include "profile_range.hpp"

#include <dlfcn.h>

#include <new>
#include <string>
#include <vector>

#include "nvtx_interface.hpp"
#include "settings.hpp"
#include "shared_library.hpp"

namespace halftone {
namespace {

/// What a profiler writes its functions into. Those that Halftone does not call go to `ignored`.
struct Tables {
  Tables() {
    for (std::size_t module = 0; module < nvtx::kModules; ++module) {
      const std::size_t size = nvtx::kTableSizes[module];
      entries[module].assign(size + 1, &ignored);
      entries[module].front() = entries[module].back() = nullptr;
    }
    entries[nvtx::kCore][nvtx::kRangePushA] = &push;
    entries[nvtx::kCore][nvtx::kRangePop] = &pop;
  }

  nvtx::Function push = nullptr, pop = nullptr, ignored = nullptr;
  std::vector<nvtx::Function*> entries[nvtx::kModules];
};

Tables& tables() {
  static Tables tables;
  return tables;
}

int table_of(int module, nvtx::Function*** table, unsigned* size) {
  if (module <= 0 || module >= nvtx::kModules) return 0;
  const auto at = static_cast<std::size_t>(module);
  if (table) *table = tables().entries[at].data();
  if (size) *size = nvtx::kTableSizes[at];
  return 1;
}

const void* export_table(std::uint32_t id) {
  static const nvtx::Callbacks callbacks = {sizeof(nvtx::Callbacks), table_of};
  static const nvtx::Version version = {sizeof(nvtx::Version), nvtx::kInterfaceVersion, 0,
                                        [](std::uint32_t) {}};
  if (id == nvtx::kCallbacks) return &callbacks;
  return id == nvtx::kVersion ? &version : nullptr;
}

/// Whether a profiler takes ranges. What cannot be opened is passed over, as NVTX's own loader
/// does: the variable is the profiler's, and no reason to end a program.
bool attach() {
  const std::string path = profiler_setting();
  if (path.empty()) return false;
  std::string refusal;
  void* library = open_library(path, RTLD_LAZY, refusal);
  if (!library) return false;
  const auto initialize = reinterpret_cast<nvtx::Initialize>(dlsym(library, nvtx::kInitialize));
  if (!initialize || initialize(export_table) == 0) {
    dlclose(library);
    return false;
  }
  return tables().push && tables().pop;
}

}  // namespace

ProfileRange::ProfileRange(const char* name) noexcept {
  try {
    static const bool is_attached = attach();
    if (!is_attached) return;
    const std::string message = std::string("halftone ") + name;
    reinterpret_cast<nvtx::RangePush>(tables().push)(message.c_str());
    is_open_ = true;
  } catch (const std::bad_alloc&) {  // a range that is not shown; the next one is
  }
}

ProfileRange::~ProfileRange() {
  if (is_open_) reinterpret_cast<nvtx::RangePop>(tables().pop)();
}

}  // namespace halftone
