// SPDX-License-Identifier: Apache-2.0
// What nvtx_interface.hpp declares agrees with the Toolkit's NVTX.
#include <doctest/doctest.h>
#include <nvtx3/nvToolsExt.h>

#include <cstddef>

#include "nvtx_interface.hpp"

using namespace halftone::nvtx;

static_assert(kCore == NVTX_CB_MODULE_CORE && kModules == NVTX_CB_MODULE_SIZE);
static_assert(kRangePushA == NVTX_CBID_CORE_RangePushA && kRangePop == NVTX_CBID_CORE_RangePop);
static_assert(kCallbacks == NVTX_ETID_CALLBACKS && kVersion == NVTX_ETID_VERSIONINFO);
static_assert(kInterfaceVersion == NVTX_VERSION);
static_assert(sizeof(Callbacks) == sizeof(NvtxExportTableCallbacks) &&
              offsetof(Callbacks, get_module_function_table) ==
                  offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
static_assert(sizeof(Version) == sizeof(NvtxExportTableVersionInfo) &&
              offsetof(Version, version) == offsetof(NvtxExportTableVersionInfo, version) &&
              offsetof(Version, set_injection_version) ==
                  offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion));

TEST_CASE("tables are as long as the Toolkit's") {
  const unsigned expected[] = {0,
                               NVTX_CBID_CORE_SIZE,
                               NVTX_CBID_CUDA_SIZE,
                               NVTX_CBID_OPENCL_SIZE,
                               NVTX_CBID_CUDART_SIZE,
                               NVTX_CBID_CORE2_SIZE,
                               NVTX_CBID_SYNC_SIZE};
  for (std::size_t module = 0; module < kTableSizes.size(); ++module)
    CHECK(kTableSizes[module] == expected[module]);
}
