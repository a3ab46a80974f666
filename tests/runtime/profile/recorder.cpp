// SPDX-License-Identifier: Apache-2.0
// A profiler that attaches as NVTX's do and writes down the ranges that it is told of. It is built
// with the Toolkit's declarations where the Toolkit is, otherwise with ours.
#include <mutex>
#include <string>

#ifdef WITH_TOOLKIT
#include <nvtx3/nvToolsExt.h>
using GetExportTable = NvtxGetExportTableFunc_t;
using Callbacks = NvtxExportTableCallbacks;
#else
#include "nvtx_interface.hpp"
using GetExportTable = halftone::nvtx::GetExportTable;
using Callbacks = halftone::nvtx::Callbacks;
constexpr int NVTX_ETID_CALLBACKS = halftone::nvtx::kCallbacks;
constexpr int NVTX_CB_MODULE_CORE = halftone::nvtx::kCore;
constexpr int NVTX_CBID_CORE_RangePushA = halftone::nvtx::kRangePushA;
constexpr int NVTX_CBID_CORE_RangePop = halftone::nvtx::kRangePop;
#endif

namespace {

struct Ranges {
  std::mutex mutex;
  std::string text;  ///< "<halftone step>", "<" where a range begins, ">" where one ends
};

/// Never destroyed: ranges may end while the program does.
Ranges& ranges() {
  static auto* const ranges = new Ranges;
  return *ranges;
}

int push(const char* message) {
  const std::lock_guard lock(ranges().mutex);
  ranges().text += std::string("<") + message;
  return 0;
}

int pop() {
  const std::lock_guard lock(ranges().mutex);
  ranges().text += ">";
  return 0;
}

}  // namespace

/// What was recorded since the last call.
extern "C" const char* recorded_ranges() {
  static std::string taken;
  const std::lock_guard lock(ranges().mutex);
  taken = std::move(ranges().text);
  ranges().text.clear();
  return taken.c_str();
}

#ifdef __clang__  // the runtime's function takes an int where NVTX's header has an enumeration
__attribute__((no_sanitize("function")))
#endif
extern "C" int
InitializeInjectionNvtx2(GetExportTable export_table) {
  using Function = void (*)();
  const auto* callbacks = static_cast<const Callbacks*>(export_table(NVTX_ETID_CALLBACKS));
  Function** table = nullptr;
  unsigned size = 0;
#ifdef WITH_TOOLKIT
  const int known = callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size);
#else
  const int known = callbacks->get_module_function_table(NVTX_CB_MODULE_CORE, &table, &size);
#endif
  if (!known || size <= NVTX_CBID_CORE_RangePop) return 0;
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<Function>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<Function>(pop);
  return 1;
}
