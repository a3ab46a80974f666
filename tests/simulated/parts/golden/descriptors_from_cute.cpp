// SPDX-License-Identifier: Apache-2.0
// Prints descriptors.txt from CuTe's shared-memory layouts for wgmma; not built here, since it
// needs CUTLASS 4:
//   c++ -std=c++17 -I CUTLASS/include -I CUDA/include descriptors_from_cute.cpp -o make && ./make |
//   grep -v ERROR > descriptors.txt
#include <cstdio>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
#include <cute/tensor.hpp>

using namespace cute;
using namespace cute::SM90::GMMA;

// One tile of 64 by 32 bytes of k (and its neighbour in k) inside a larger array laid out as wgmma
// wants it. A line: name, bytes of an element, 1 if K-major, the descriptor without its address,
// bytes from the array to the tile, then 24 triples: mn, k in the tile, byte in the array.
template <class Element, Major major, class Atom>
void table(const char* name, Atom) {
  constexpr int kStep = 32 / sizeof(Element);
  auto layout = tile_to_shape(Atom{}, Shape<_128, Int<8 * kStep>>{});
  alignas(4096) static Element storage[128 * 8 * kStep];
  auto tensor = make_tensor(make_smem_ptr(storage), layout);
  for (int block = 0; block < 8; block += 3) {
    auto part = local_tile(tensor, Shape<_64, Int<kStep>>{}, make_coord(1, block));
    auto descriptor = make_gmma_desc<major>(part);
    const unsigned long long bits = descriptor.desc_ & ~0x3fffull;
    const int start = layout.layout_b()(64, block * kStep) * int(sizeof(Element));
    std::printf("%s %d %d %llx %d", name, int(sizeof(Element)), major == Major::K, bits, start);
    for (int i = 0; i < 24; ++i) {
      const int mn = (i * 37 + 11) % 64, k = (i * 13 + i / 8) % kStep;
      const auto byte = reinterpret_cast<char*>(&tensor(64 + mn, block * kStep + k)) -
                        reinterpret_cast<char*>(storage);
      std::printf(" %d %d %d", mn, k, int(byte));
    }
    std::printf("\n");
  }
}

template <class Element>
void k_major(const char* type) {
  char name[64];
  const auto named = [&](const char* swizzle) {
    std::snprintf(name, sizeof name, "%s_k_%s", type, swizzle);
    return name;
  };
  table<Element, Major::K>(named("none"), Layout_K_INTER_Atom<Element>{});
  table<Element, Major::K>(named("32"), Layout_K_SW32_Atom<Element>{});
  table<Element, Major::K>(named("64"), Layout_K_SW64_Atom<Element>{});
  table<Element, Major::K>(named("128"), Layout_K_SW128_Atom<Element>{});
}

int main() {
  k_major<half_t>("f16");
  k_major<tfloat32_t>("tf32");
  k_major<int8_t>("s8");
  table<half_t, Major::MN>("f16_mn_none", Layout_MN_INTER_Atom<half_t>{});
  table<half_t, Major::MN>("f16_mn_32", Layout_MN_SW32_Atom<half_t>{});
  table<half_t, Major::MN>("f16_mn_64", Layout_MN_SW64_Atom<half_t>{});
  table<half_t, Major::MN>("f16_mn_128", Layout_MN_SW128_Atom<half_t>{});
}
