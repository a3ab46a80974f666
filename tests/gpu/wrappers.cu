// SPDX-License-Identifier: Apache-2.0
// A kernel for each function of ptx.cuh, from sm_89 on of ptx_sm89.cuh and on sm_90a of ptx_sm90.cuh,
// ptx_sm90_attention.cuh and ptx_sm90_float8.cuh too, which stand before this text. Thread i of the
// launch reads its words of `in` and writes its words of `out`; warps are whole. conformance.cpp has
// the table of how many words each kernel wants.
using namespace halftone::kernels::ptx;

#define KERNEL(name) extern "C" __global__ void name(const unsigned* in, unsigned* out, unsigned n)

namespace {

constexpr int kThreads = 128;  // of every block

__device__ __forceinline__ unsigned thread() { return blockIdx.x * kThreads + threadIdx.x; }
__device__ __forceinline__ unsigned lane() { return threadIdx.x % 32; }
__device__ __forceinline__ unsigned window(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

template <int kWords>
__device__ __forceinline__ void read(const unsigned* in, unsigned (&words)[kWords]) {
  for (int w = 0; w < kWords; ++w) words[w] = in[thread() * kWords + w];
}

template <int kWords>
__device__ __forceinline__ void write(unsigned* out, const unsigned (&words)[kWords]) {
  for (int w = 0; w < kWords; ++w) out[thread() * kWords + w] = words[w];
}

}  // namespace

KERNEL(cvt_rn_f16_f32_kernel) { out[thread()] = cvt_rn_f16_f32(__uint_as_float(in[thread()])); }
KERNEL(cvt_rz_f16_f32_kernel) { out[thread()] = cvt_rz_f16_f32(__uint_as_float(in[thread()])); }
KERNEL(cvt_f32_f16_kernel) {
  out[thread()] = __float_as_uint(cvt_f32_f16(static_cast<unsigned short>(in[thread()])));
}

#if __CUDA_ARCH__ >= 800
KERNEL(max_nan_kernel) {
  unsigned words[2];
  read(in, words);
  out[thread()] = __float_as_uint(max_nan(__uint_as_float(words[0]), __uint_as_float(words[1])));
}
KERNEL(min_nan_kernel) {
  unsigned words[2];
  read(in, words);
  out[thread()] = __float_as_uint(min_nan(__uint_as_float(words[0]), __uint_as_float(words[1])));
}
#endif

KERNEL(st_global_2_kernel) {
  unsigned words[2];
  read(in, words);
  st_global(out + 2 * thread(), words);
}

KERNEL(st_global_4_kernel) {
  unsigned words[4];
  read(in, words);
  st_global(out + 4 * thread(), words);
}

KERNEL(st_global_in_order_kernel) {
  unsigned words[4];
  read(in, words);
  const float values[4] = {__uint_as_float(words[0]), __uint_as_float(words[1]),
                           __uint_as_float(words[2]), __uint_as_float(words[3])};
  st_global_in_order(reinterpret_cast<float*>(out) + 4 * thread(), values);
}

// A neighbour's words, by every width of store and an offset in the load.
KERNEL(shared_2_kernel) {
  __shared__ __align__(16) unsigned buffer[4 + 2 * kThreads];
  unsigned words[2];
  read(in, words);
  st_shared(window(buffer) + 16 + 8 * (threadIdx.x ^ 1), words);
  __syncthreads();
  ld_shared<16>(window(buffer) + 8 * threadIdx.x, words);
  write(out, words);
}

KERNEL(shared_4_kernel) {
  __shared__ __align__(16) unsigned buffer[4 + 4 * kThreads];
  unsigned words[4];
  read(in, words);
  st_shared(window(buffer) + 16 + 16 * (threadIdx.x ^ 1), words);
  __syncthreads();
  ld_shared<16>(window(buffer) + 16 * threadIdx.x, words);
  write(out, words);
}

KERNEL(shared_1_kernel) {
  __shared__ __align__(16) unsigned buffer[4 * kThreads];
  unsigned words[4];
  read(in, words);
  for (int w = 0; w < 4; ++w) {
    const unsigned one[1] = {words[w]};
    st_shared(window(buffer) + 16 * (threadIdx.x ^ 1) + 4 * w, one);
  }
  __syncthreads();
  ld_shared<0>(window(buffer) + 16 * threadIdx.x, words);
  write(out, words);
}

// Lane l stores row l of its warp's 32; the lanes name them in another order.
template <bool kTranspose>
__device__ __forceinline__ void exchange_rows(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned buffer[kThreads * 4 + 32];
  unsigned words[4];
  read(in, words);
  st_shared(window(buffer) + 128 + 16 * threadIdx.x, words);
  __syncwarp();
  const unsigned row = threadIdx.x - lane() + (5 * lane() + 3) % 32;
  if (kTranspose) {
    ldmatrix_x4_trans<128>(window(buffer) + 16 * row, words);
  } else {
    ldmatrix_x4<128>(window(buffer) + 16 * row, words);
  }
  write(out, words);
}

KERNEL(ldmatrix_x4_kernel) { exchange_rows<false>(in, out); }
KERNEL(ldmatrix_x4_trans_kernel) { exchange_rows<true>(in, out); }

// in: a's words, b's, the four sums; out: the sums.
KERNEL(mma_m16n8k8_f16_kernel) {
  unsigned words[7];
  read(in, words);
  float sums[4];
  for (int i = 0; i < 4; ++i) sums[i] = __uint_as_float(words[3 + i]);
  mma_m16n8k8_f16(sums, words[0], words[1], words[2]);
  for (int i = 0; i < 4; ++i) out[4 * thread() + i] = __float_as_uint(sums[i]);
}

// Every thread counts once; the last one leaves the counter, out[n], at zero.
KERNEL(atom_inc_acq_rel_kernel) {
  const unsigned before = atom_inc_acq_rel(out + n, n - 1);
  out[before] = in[before] + before;
}

#if __CUDA_ARCH__ >= 800
KERNEL(cvt_rn_bf16_f32_kernel) { out[thread()] = cvt_rn_bf16_f32(__uint_as_float(in[thread()])); }

#define MMA_KERNEL(name)                                                          \
  KERNEL(name##_kernel) {                                                         \
    unsigned words[10];                                                           \
    read(in, words);                                                              \
    const unsigned a[4] = {words[0], words[1], words[2], words[3]};               \
    float sums[4];                                                                \
    for (int i = 0; i < 4; ++i) sums[i] = __uint_as_float(words[6 + i]);          \
    name(sums, a, words[4], words[5]);                                            \
    for (int i = 0; i < 4; ++i) out[4 * thread() + i] = __float_as_uint(sums[i]); \
  }
MMA_KERNEL(mma_m16n8k16_f16)
MMA_KERNEL(mma_m16n8k16_bf16)
MMA_KERNEL(mma_m16n8k8_tf32)
#if __CUDA_ARCH__ >= 890
MMA_KERNEL(mma_m16n8k32_e4m3)
MMA_KERNEL(mma_m16n8k32_e4m3_e5m2)
MMA_KERNEL(mma_m16n8k32_e5m2_e4m3)
MMA_KERNEL(mma_m16n8k32_e5m2)

KERNEL(ld_shared_kernel) {
  __shared__ unsigned buffer[kThreads + 1];
  buffer[threadIdx.x + 1] = in[thread()];
  __syncwarp();
  out[thread()] = ld_shared<4>(window(buffer + (threadIdx.x ^ 1)));
}
#endif

template <int kBytes, bool kZeroFill, bool kCached>
__device__ __forceinline__ void copy_async(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned buffer[4 + 4 * kThreads];
  for (int w = 0; w < 4; ++w) buffer[4 + 4 * threadIdx.x + w] = 0xdeadbeef;
  const unsigned to = window(buffer) + 16 * threadIdx.x;
  const auto from = static_cast<unsigned long long>(__cvta_generic_to_global(in + 8 * thread()));
  const unsigned valid = in[8 * thread() + 4] % (kBytes + 1);
  if constexpr (kZeroFill && kCached) {
    cp_async_ca_zero_fill<kBytes, 16>(to, from, valid);
  } else if constexpr (kZeroFill) {
    cp_async_cg_zero_fill<16>(to, from, valid);
  } else if constexpr (kCached) {
    cp_async_ca<kBytes, 16>(to, from);
  } else {
    cp_async_cg<16>(to, from);
  }
  cp_async_commit_group();
  cp_async_wait_group<0>();
  for (int w = 0; w < 4; ++w) out[4 * thread() + w] = buffer[4 + 4 * threadIdx.x + w];
}

KERNEL(cp_async_ca_4_kernel) { copy_async<4, false, true>(in, out); }
KERNEL(cp_async_ca_8_kernel) { copy_async<8, false, true>(in, out); }
KERNEL(cp_async_ca_16_kernel) { copy_async<16, false, true>(in, out); }
KERNEL(cp_async_cg_kernel) { copy_async<16, false, false>(in, out); }
KERNEL(cp_async_ca_zero_fill_4_kernel) { copy_async<4, true, true>(in, out); }
KERNEL(cp_async_ca_zero_fill_8_kernel) { copy_async<8, true, true>(in, out); }
KERNEL(cp_async_ca_zero_fill_16_kernel) { copy_async<16, true, true>(in, out); }
KERNEL(cp_async_cg_zero_fill_kernel) { copy_async<16, true, false>(in, out); }

// Two groups under way; the first is read while the second may still be.
KERNEL(cp_async_groups_kernel) {
  __shared__ __align__(16) unsigned first[4 * kThreads], second[4 * kThreads];
  const auto from = static_cast<unsigned long long>(__cvta_generic_to_global(in + 8 * thread()));
  cp_async_ca<16, 0>(window(first) + 16 * threadIdx.x, from);
  cp_async_commit_group();
  cp_async_ca<16, 0>(window(second) + 16 * threadIdx.x, from + 16);
  cp_async_commit_group();
  cp_async_wait_group<1>();
  for (int w = 0; w < 4; ++w) out[8 * thread() + w] = first[4 * threadIdx.x + w];
  cp_async_wait_group<0>();
  for (int w = 0; w < 4; ++w) out[8 * thread() + 4 + w] = second[4 * threadIdx.x + w];
}
#endif

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
// Four warps meet at a barrier that one thread expects no bytes at, and read each other's words.
KERNEL(mbarrier_kernel) {
  __shared__ __align__(8) unsigned long long barrier;
  __shared__ unsigned buffer[kThreads];
  if (threadIdx.x == 0) {
    mbarrier_init(window(&barrier), 4);
    fence_mbarrier_init();
  }
  __syncthreads();
  for (unsigned phase = 0; phase < 3; ++phase) {
    buffer[threadIdx.x] = in[thread()] + phase;
    __syncwarp();
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(window(&barrier), 0);
    } else if (lane() == 0) {
      mbarrier_arrive(window(&barrier));
    }
    while (!mbarrier_try_wait(window(&barrier), phase % 2)) {
    }
    out[3 * thread() + phase] = buffer[(threadIdx.x + 32) % kThreads];
    __syncthreads();
  }
}

// Every thread arrives when its copy is done, and reads a word that another one copied.
KERNEL(cp_async_arrive_kernel) {
  __shared__ __align__(8) unsigned long long barrier;
  __shared__ __align__(16) unsigned buffer[4 * kThreads];
  if (threadIdx.x == 0) {
    mbarrier_init(window(&barrier), kThreads);
    fence_mbarrier_init();
  }
  __syncthreads();
  const auto from = static_cast<unsigned long long>(__cvta_generic_to_global(in + 4 * thread()));
  cp_async_ca<16, 0>(window(buffer) + 16 * threadIdx.x, from);
  cp_async_arrive(window(&barrier));
  while (!mbarrier_try_wait(window(&barrier), 0)) {
  }
  for (int w = 0; w < 4; ++w)
    out[4 * thread() + w] = buffer[4 * ((threadIdx.x + 33) % kThreads) + w];
}

// Half of the block hands words to the other, which says whether any of its own was odd.
KERNEL(named_barriers_kernel) {
  __shared__ unsigned buffer[kThreads];
  const unsigned word = in[thread()];
  buffer[threadIdx.x] = word;
  if (threadIdx.x < 64) {
    bar_arrive(2, 128);
    out[thread()] = word;
  } else {
    bar_sync(2, 128);
    const bool any = bar_red_or(3, 64, (word & 0xff) == 0xff);
    out[thread()] = buffer[threadIdx.x - 64] + any;
  }
}

extern "C" __global__ void __maxnreg__(96)
    setmaxnreg_kernel(const unsigned* in, unsigned* out, unsigned n) {
  setmaxnreg_dec<40>();
  const unsigned word = in[thread()];
  setmaxnreg_inc<96>();
  out[thread()] = ~word;
}

// Any bytes are a swizzled tile of something. Elements are 0, 1 and -1 as f16, 2^-7 as bf16: sums
// are exact in any order.
constexpr unsigned kGroupLhs = 8192;  // bytes, 64 rows by 64 of k
template <int kSums>
struct GroupOperands {
  static constexpr unsigned kBytes = kGroupLhs + 2 * kSums * 128;
  template <bool kAlongDepth>
  __device__ static unsigned long long descriptor(unsigned address) {
    return 1ull << 62 | (1024ull >> 4) << 32 | (kAlongDepth ? 1ull : 8192ull >> 4) << 16 |
           address >> 4;
  }
};

__device__ __forceinline__ void fill_operands(const unsigned* in, unsigned* words, unsigned count) {
  constexpr unsigned kCodes[] = {0x0000, 0x3c00, 0xbc00, 0x0000};
  prefetch_l2(in + 4 * thread());
  for (unsigned i = threadIdx.x; i < count; i += kThreads) {
    const unsigned word = in[4 * thread() + i / kThreads % 4] >> i / kThreads / 4 % 28;
    words[i] = kCodes[word & 3] | kCodes[word >> 2 & 3] << 16;
  }
  fence_proxy_async();
  __syncthreads();
}

#define WGMMA_KERNEL(name, n)                                                                  \
  KERNEL(name##_kernel) {                                                                      \
    using Operands = GroupOperands<n / 2>;                                                     \
    __shared__ __align__(1024) unsigned words[Operands::kBytes / 4];                           \
    fill_operands(in, words, Operands::kBytes / 4);                                            \
    const unsigned a = window(words), b = a + kGroupLhs;                                       \
    float sums[n / 2];                                                                         \
    wgmma_fence();                                                                             \
    name<false, false>(sums, Operands::descriptor<true>(a), Operands::descriptor<true>(b), 0); \
    name<true, false>(sums, Operands::descriptor<false>(a), Operands::descriptor<true>(b), 1); \
    wgmma_commit_group();                                                                      \
    wgmma_wait_group<0>();                                                                     \
    wgmma_fence();                                                                             \
    name<false, true>(sums, Operands::descriptor<true>(a), Operands::descriptor<false>(b), 1); \
    name<true, true>(sums, Operands::descriptor<false>(a), Operands::descriptor<false>(b), 1); \
    wgmma_commit_group();                                                                      \
    wgmma_wait_group<0>();                                                                     \
    for (int i = 0; i < n / 2; ++i) out[n / 2 * thread() + i] = __float_as_uint(sums[i]);      \
  }
#define WGMMA_KERNEL_64(name) WGMMA_KERNEL(name, 64)
#define WGMMA_KERNEL_128(name) WGMMA_KERNEL(name, 128)
#define WGMMA_KERNEL_192(name) WGMMA_KERNEL(name, 192)
#define WGMMA_KERNEL_256(name) WGMMA_KERNEL(name, 256)
WGMMA_KERNEL_64(wgmma_m64n64k16_f16)
WGMMA_KERNEL_64(wgmma_m64n64k16_bf16)
WGMMA_KERNEL_128(wgmma_m64n128k16_f16)
WGMMA_KERNEL_128(wgmma_m64n128k16_bf16)
WGMMA_KERNEL_192(wgmma_m64n192k16_f16)
WGMMA_KERNEL_192(wgmma_m64n192k16_bf16)
WGMMA_KERNEL_256(wgmma_m64n256k16_f16)
WGMMA_KERNEL_256(wgmma_m64n256k16_bf16)

// Of 8 bits, both along k: of the operands' halves one byte is a number, and the other zero.
#define WGMMA_CODES_KERNEL(name, n)                                                         \
  KERNEL(name##_kernel) {                                                                   \
    using Operands = GroupOperands<n / 2>;                                                  \
    __shared__ __align__(1024) unsigned words[Operands::kBytes / 4];                        \
    fill_operands(in, words, Operands::kBytes / 4);                                         \
    const unsigned a = window(words), b = a + kGroupLhs;                                    \
    float sums[n / 2];                                                                      \
    wgmma_fence();                                                                          \
    name(sums, Operands::descriptor<true>(a), Operands::descriptor<true>(b), 0);            \
    name(sums, Operands::descriptor<true>(a) + 2, Operands::descriptor<true>(b) + 2, 1);    \
    wgmma_commit_group();                                                                   \
    wgmma_wait_group<0>();                                                                  \
    for (int i = 0; i < n / 2; ++i) out[n / 2 * thread() + i] = __float_as_uint(sums[i]);   \
  }
#define WGMMA_CODES_KERNELS(formats)                   \
  WGMMA_CODES_KERNEL(wgmma_m64n64k32_##formats, 64)    \
  WGMMA_CODES_KERNEL(wgmma_m64n128k32_##formats, 128)  \
  WGMMA_CODES_KERNEL(wgmma_m64n192k32_##formats, 192)  \
  WGMMA_CODES_KERNEL(wgmma_m64n256k32_##formats, 256)
WGMMA_CODES_KERNELS(e4m3)
WGMMA_CODES_KERNELS(e4m3_e5m2)
WGMMA_CODES_KERNELS(e5m2_e4m3)
WGMMA_CODES_KERNELS(e5m2)

// a from registers: any four words of the operands.
#define WGMMA_REGISTERS_KERNEL(name, n)                                                   \
  KERNEL(name##_registers_kernel) {                                                       \
    using Operands = GroupOperands<n / 2>;                                                \
    __shared__ __align__(1024) unsigned words[Operands::kBytes / 4];                      \
    fill_operands(in, words, Operands::kBytes / 4);                                       \
    const unsigned b = window(words) + kGroupLhs;                                         \
    unsigned a[2][4];                                                                     \
    for (int i = 0; i < 8; ++i) a[i / 4][i % 4] = words[kThreads * i + threadIdx.x];      \
    float sums[n / 2];                                                                    \
    wgmma_fence();                                                                        \
    name<false>(sums, a[0], Operands::descriptor<true>(b), 0);                            \
    name<true>(sums, a[1], Operands::descriptor<false>(b), 1);                            \
    wgmma_commit_group();                                                                 \
    wgmma_wait_group<0>();                                                                \
    wgmma_arrived(sums);                                                                  \
    for (int i = 0; i < n / 2; ++i) out[n / 2 * thread() + i] = __float_as_uint(sums[i]); \
  }
WGMMA_REGISTERS_KERNEL(wgmma_m64n64k16_f16, 64)
WGMMA_REGISTERS_KERNEL(wgmma_m64n64k16_bf16, 64)
WGMMA_REGISTERS_KERNEL(wgmma_m64n128k16_f16, 128)
WGMMA_REGISTERS_KERNEL(wgmma_m64n128k16_bf16, 128)
#endif
