// SPDX-License-Identifier: Apache-2.0
// Prints fragments.txt from CuTe's layouts; not built here, since it needs the headers of CUTLASS
// 4:
//   c++ -std=c++17 -I CUTLASS/include -I CUDA/include fragments_from_cute.cpp -o make && ./make >
//   fragments.txt
#include <cstdio>
#include <cute/atom/copy_traits_sm100.hpp>
#include <cute/atom/copy_traits_sm75.hpp>
#include <cute/atom/copy_traits_sm90.hpp>
#include <cute/atom/mma_traits_sm75.hpp>
#include <cute/atom/mma_traits_sm80.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
#include <map>

using namespace cute;

// One line per thread: row * columns + column of each of its values. CuTe's index is column-major.
template <class Layout>
void fragment(const char* name, Layout layout, int rows, int columns) {
  const int threads = size<0>(layout), values = size<1>(layout);
  std::printf("%s %d %d %d %d\n", name, threads, values, rows, columns);
  for (int t = 0; t < threads; ++t)
    for (int v = 0; v < values; ++v) {
      const int index = layout(t, v);
      std::printf("%d%c", index % rows * columns + index / rows, v + 1 == values ? '\n' : ' ');
    }
}

// CuTe's B is (n, k); the table has rows of k.
template <class Layout>
void fragment_b(const char* name, Layout layout, int n, int k) {
  const int threads = size<0>(layout), values = size<1>(layout);
  std::printf("%s %d %d %d %d\n", name, threads, values, k, n);
  for (int t = 0; t < threads; ++t)
    for (int v = 0; v < values; ++v) {
      const int index = layout(t, v);
      std::printf("%d%c", index / n * n + index % n, v + 1 == values ? '\n' : ' ');
    }
}

template <class Operation>
void mma(const char* name, int k) {
  using Traits = MMA_Traits<Operation>;
  char text[64];
  std::snprintf(text, sizeof text, "%s_a", name);
  fragment(text, typename Traits::ALayout{}, 16, k);
  std::snprintf(text, sizeof text, "%s_b", name);
  fragment_b(text, typename Traits::BLayout{}, 8, k);
  std::snprintf(text, sizeof text, "%s_c", name);
  fragment(text, typename Traits::CLayout{}, 16, 8);
}

// One line per lane: address lane * 16 + byte of each register element of `bits` bits, found
// through the bit's name.
template <class Registers, class Memory>
void through_memory(const char* name, Registers registers, Memory memory, int bits, int rows) {
  std::map<int, int> byte_of;
  for (int t = rows - 1; t >= 0; --t)
    for (int v = 0; v < 128; ++v) byte_of[memory(t, v)] = t * 16 + v / 8;
  const int elements = size<1>(registers) / bits;
  std::printf("%s 32 %d %d 16\n", name, elements, rows);
  for (int t = 0; t < 32; ++t)
    for (int e = 0; e < elements; ++e)
      std::printf("%d%c", byte_of.at(registers(t, e * bits)), e + 1 == elements ? '\n' : ' ');
}

int main() {
  mma<SM75_16x8x8_F32F16F16F32_TN>("m16n8k8_f16", 8);
  mma<SM80_16x8x16_F32F16F16F32_TN>("m16n8k16_f16", 16);
  mma<SM80_16x8x4_F32TF32TF32F32_TN>("m16n8k4_tf32", 4);
  mma<SM80_16x8x8_F32TF32TF32F32_TN>("m16n8k8_tf32", 8);
  mma<SM80_16x8x16_S32S8S8S32_TN>("m16n8k16_s8", 16);
  mma<SM80_16x8x32_S32S8S8S32_TN>("m16n8k32_s8", 32);
  fragment("m64n32_d", SM90::GMMA::CLayout_64xN<32>{}, 64, 32);
  fragment("m64k8_a", SM90::GMMA::ALayout_64x8{}, 64, 8);
  fragment("m64k16_a", SM90::GMMA::ALayout_64x16{}, 64, 16);
  fragment("m64k32_a", SM90::GMMA::ALayout_64x32{}, 64, 32);
  using L1 = Copy_Traits<SM75_U32x1_LDSM_N>;
  through_memory("ldmatrix_m8n8", L1::DstLayout{}, L1::SrcLayout{}, 16, 8);
  using T2 = Copy_Traits<SM75_U16x2_LDSM_T>;
  through_memory("ldmatrix_m8n8_trans", T2::DstLayout{}, T2::SrcLayout{}, 16, 8);
  using S1 = Copy_Traits<SM90_U32x1_STSM_N>;
  through_memory("stmatrix_m8n8", S1::SrcLayout{}, S1::DstLayout{}, 16, 8);
  using S2 = Copy_Traits<SM90_U16x2_STSM_T>;
  through_memory("stmatrix_m8n8_trans", S2::SrcLayout{}, S2::DstLayout{}, 16, 8);
  using B8 = Copy_Traits<SM100_U8x8_LDSM_T>;
  through_memory("ldmatrix_m16n16_trans", B8::DstLayout{}, B8::SrcLayout{}, 8, 16);
  using B4 = Copy_Traits<SM100_U8x4_STSM_T>;
  through_memory("stmatrix_m16n8_trans", B4::SrcLayout{}, B4::DstLayout{}, 8, 8);
}
