// SPDX-License-Identifier: Apache-2.0
// Preloaded where qemu emulates AVX2: its masked loads (7.2) read all lanes, so that those past the
// end of an arena may meet a page that is not there. What arenas are taken from gets room for them.
#include <cstddef>
#include <cstdlib>

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  constexpr std::size_t kBytesOfMaskedLanes = 128;  // of a body's 32 at most
  void* address = nullptr;
  return posix_memalign(&address, alignment, bytes + kBytesOfMaskedLanes) == 0 ? address : nullptr;
}
