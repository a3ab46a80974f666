// SPDX-License-Identifier: Apache-2.0
// How a profiler attaches to a program, as NVTX 3 has it (nvtx3/nvtxDetail/nvtxTypes.h of the CUDA
// Toolkit): the program opens the library that NVTX_INJECTION64_PATH names and calls its
// InitializeInjectionNvtx2 with get_export_table; the library writes its own functions into the
// program's tables. tests/runtime compares these declarations with the Toolkit's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halftone::nvtx {

inline constexpr const char* kInitialize = "InitializeInjectionNvtx2";

/// A table has an entry for each function of a module; 0 and the one behind the last are null.
inline constexpr int kCore = 1, kModules = 7;
inline constexpr std::array<unsigned, kModules> kTableSizes = {0, 16, 9, 15, 7, 16, 7};

/// Entries of kCore.
inline constexpr int kRangePushA = 9, kRangePop = 11;
using RangePush = int (*)(const char* message);
using RangePop = int (*)();

inline constexpr std::uint32_t kCallbacks = 1, kVersion = 3;  ///< tables for export
using Function = void (*)();
struct Callbacks {
  std::size_t struct_size;
  int (*get_module_function_table)(int module, Function*** table, unsigned* size);
};
struct Version {
  std::size_t struct_size;
  std::uint32_t version, reserved;
  void (*set_injection_version)(std::uint32_t version);
};
inline constexpr std::uint32_t kInterfaceVersion = 3;

using GetExportTable = const void* (*)(std::uint32_t id);
using Initialize = int (*)(GetExportTable get_export_table);

}  // namespace halftone::nvtx
