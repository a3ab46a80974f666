// SPDX-License-Identifier: Apache-2.0
// Faults of cp.async, ldmatrix and mma.
namespace {
__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
/// `bytes` of 16, and zeros behind them.
__device__ void copy_ragged(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
__device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory"); }
__device__ void load_matrices(unsigned (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(row)) : "memory");
}
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
}  // namespace

//! in_flight; block 32
extern "C" __global__ void copy_without_wait(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  copy16(tile + 4 * threadIdx.x, in + 4 * threadIdx.x);
  commit();
#if !FAULT
  wait<0>();
  __syncthreads();
#endif
  out[threadIdx.x] = tile[127 - threadIdx.x];  // HERE
  wait<0>();
}

//! in_flight; block 32
extern "C" __global__ void waits_for_one_group_too_few(const float* in, float* out) {
  __shared__ alignas(16) float tile[2][128];
  copy16(tile[0] + 4 * threadIdx.x, in + 4 * threadIdx.x);
  commit();
  copy16(tile[1] + 4 * threadIdx.x, in + 128 + 4 * threadIdx.x);
  commit();
  wait<FAULT ? 2 : 1>();
  __syncthreads();
  out[threadIdx.x] = tile[0][127 - threadIdx.x];  // HERE
  wait<0>();
}

//! in_flight; block 32
extern "C" __global__ void copy_never_committed(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  copy16(tile + 4 * threadIdx.x, in + 4 * threadIdx.x);
#if !FAULT
  commit();
#endif
  wait<0>();
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];  // HERE
  asm volatile("cp.async.wait_all;" ::: "memory");
}

//! race; block 64
extern "C" __global__ void copies_of_others_without_barrier(const float* in, float* out) {
  __shared__ alignas(16) float tile[256];
  copy16(tile + 4 * threadIdx.x, in + 4 * threadIdx.x);
  commit();
  wait<0>();
#if !FAULT
  __syncthreads();
#endif
  out[threadIdx.x] = tile[255 - threadIdx.x];  // HERE
}

//! race; block 64
extern "C" __global__ void copy_into_a_stage_that_is_read(const float* in, float* out) {
  __shared__ alignas(16) float tile[256];
  float sum = 0;
  for (int step = 0; step < 3; ++step) {
    copy16(tile + 4 * threadIdx.x, in + 256 * step + 4 * threadIdx.x);  // HERE
    commit();
    wait<0>();
    __syncthreads();
    sum += tile[255 - threadIdx.x];
#if !FAULT
    __syncthreads();
#endif
  }
  out[threadIdx.x] = sum;
}

//! unfinished; block 32
extern "C" __global__ void ends_with_a_copy_under_way(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  copy16(tile + 4 * threadIdx.x, in + 4 * threadIdx.x);  // HERE
  commit();
#if !FAULT
  wait<0>();
#endif
  out[threadIdx.x] = in[threadIdx.x];
}

//! misaligned; block 32
extern "C" __global__ void copy_misaligned(const float* in, float* out) {
  __shared__ alignas(16) float tile[132];
  copy16(tile + 4 * threadIdx.x, in + 4 * threadIdx.x + (FAULT ? 1 : 0));  // HERE
  commit();
  wait<0>();
  __syncthreads();
  out[threadIdx.x] = FAULT ? 0 : tile[127 - threadIdx.x];
}

//! out_of_bounds; block 32
extern "C" __global__ void copy_past_the_end(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  copy16(tile + 4 * threadIdx.x, in + 4 * threadIdx.x + (FAULT ? 900 : 896));  // HERE
  commit();
  wait<0>();
  __syncthreads();
  out[threadIdx.x] = FAULT ? 0 : tile[127 - threadIdx.x];
}

//! out_of_bounds; block 32
extern "C" __global__ void ragged_copy_past_the_end(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  copy_ragged(tile + 4 * threadIdx.x, in + 4 * threadIdx.x + (FAULT ? 898 : 896), 12);  // HERE
  commit();
  wait<0>();
  __syncthreads();
  out[threadIdx.x] = FAULT ? 0 : tile[127 - threadIdx.x];
}

//! uninitialised; block 32
extern "C" __global__ void ragged_copy_of_what_nobody_wrote(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  for (int i = 0; i < (FAULT ? 2 : 3); ++i) out[4 * threadIdx.x + i] = in[threadIdx.x];
  copy_ragged(tile + 4 * threadIdx.x, out + 4 * threadIdx.x, 12);  // HERE
  commit();
  wait<0>();
  __syncthreads();
  out[512 + threadIdx.x] = tile[127 - threadIdx.x];
}

//! in_flight; block 64
extern "C" __global__ void source_overwritten_before_the_wait(const float* in, float* out) {
  __shared__ alignas(16) float tile[256];
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = in[threadIdx.x];
  copy16(tile + 4 * threadIdx.x, out + 4 * threadIdx.x);
  commit();
#if !FAULT
  wait<0>();
#endif
  __syncthreads();
  out[4 * (63 - threadIdx.x)] = 0;  // HERE
  wait<0>();
  __syncthreads();
  out[512 + threadIdx.x] = tile[255 - threadIdx.x];
}

//! race; block 64
extern "C" __global__ void ragged_copy_of_what_others_write(const float* in, float* out) {
  __shared__ alignas(16) float tile[256];
  for (int i = 0; i < 3; ++i) out[4 * threadIdx.x + i] = in[threadIdx.x];
#if !FAULT
  __syncthreads();
#endif
  copy_ragged(tile + 4 * threadIdx.x, out + 4 * (63 - threadIdx.x), 12);  // HERE
  commit();
  wait<0>();
  __syncthreads();
  out[512 + threadIdx.x] = tile[255 - threadIdx.x];
}

//! race; block 64
extern "C" __global__ void matrix_loaded_before_the_barrier(const float* in, float* out) {
  __shared__ alignas(16) unsigned tile[256];
  for (int i = threadIdx.x; i < 256; i += 64) tile[i] = __float_as_uint(in[i]);
#if !FAULT
  __syncthreads();
#endif
  unsigned rows[4];
  load_matrices(rows, tile + 4 * (threadIdx.x ^ 33));  // HERE
  out[threadIdx.x] = __uint_as_float(rows[0] ^ rows[1] ^ rows[2] ^ rows[3]);
}

//! misaligned; block 32
extern "C" __global__ void matrix_row_misaligned(const float* in, float* out) {
  __shared__ alignas(16) unsigned tile[136];
  for (int i = threadIdx.x; i < 136; i += 32) tile[i] = __float_as_uint(in[i]);
  __syncthreads();
  unsigned rows[4];
  load_matrices(rows, tile + 4 * threadIdx.x + (FAULT ? 2 : 0));  // HERE
  out[threadIdx.x] = __uint_as_float(rows[0] ^ rows[3]);
}

//! deadlock; block 32
extern "C" __global__ void multiply_without_all_lanes(const float* in, float* out) {
  const unsigned a[4] = {1, 2, 3, 4};
  float d[4] = {in[threadIdx.x], 0, 0, 0};
  if (FAULT && threadIdx.x >= 16) return;
  if (!FAULT || in[0] < 1000) multiply(d, a, 5, 6);  // HERE
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
