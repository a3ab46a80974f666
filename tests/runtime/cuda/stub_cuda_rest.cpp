// SPDX-License-Identifier: Apache-2.0
// Every call of libcuda that stub_cuda.cpp leaves out succeeds and does nothing.
#include "cuda/cuda_library.hpp"

using namespace halftone;

#define HALFTONE_STUB(name, parameters) \
  extern "C" __attribute__((weak)) int name parameters { return 0; }
HALFTONE_CUDA_CALLS(HALFTONE_STUB)
