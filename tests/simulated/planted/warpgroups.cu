// SPDX-License-Identifier: Apache-2.0
// Faults of wgmma, setmaxnreg, clusters and distributed shared memory.
namespace {
__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
/// Of core matrices of 8 by 16 bytes, `leading` bytes apart along k, without a swizzle.
__device__ unsigned long long descriptor(const void* tile, unsigned leading) {
  return static_cast<unsigned long long>(shared_address(tile) >> 4) | static_cast<unsigned long long>(leading >> 4) << 16 | 8ull << 32;
}
__device__ void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kLeft>
__device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory"); }
__device__ void multiply(float (&d)[4], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 0, 1, 1, 0, 0;"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "l"(a), "l"(b) : "memory");
}
__device__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/// 576 words: A of 64 by 16 and B of 16 by 8 f16.
__device__ void fill(unsigned* tile) {
  for (int i = threadIdx.x; i < 576; i += 128) tile[i] = 0x3c003c00;
}
__device__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ unsigned neighbour(const void* pointer, unsigned rank) {
  unsigned address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(pointer)), "r"(rank));
  return address;
}
__device__ unsigned own_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ float remote_load(unsigned address) {
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
  return value;
}
__device__ void remote_store(unsigned address, float value) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}
__device__ void make_full(unsigned long long* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void expect(unsigned long long* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
__device__ void copy_to_neighbour(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "r"(shared_address(from)), "r"(bytes), "r"(barrier) : "memory");
}
__device__ void wait_for_phase(unsigned long long* barrier, unsigned parity) {
  unsigned done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
}
}  // namespace

//! in_flight; block 128; chip sm_90a
extern "C" __global__ void sums_used_without_the_wait(const float* in, float* out) {
  __shared__ alignas(128) unsigned tile[576];
  fill(tile);
  proxy_fence();
  __syncthreads();
  float d[4];
  begin();
  multiply(d, descriptor(tile, 1024), descriptor(tile + 512, 128));
  commit();
  wait<FAULT ? 1 : 0>();
  out[threadIdx.x] = d[0];  // HERE
  wait<0>();
}

//! in_flight; block 128; chip sm_90a
extern "C" __global__ void product_never_committed(const float* in, float* out) {
  __shared__ alignas(128) unsigned tile[576];
  fill(tile);
  proxy_fence();
  __syncthreads();
  float d[4];
  begin();
  multiply(d, descriptor(tile, 1024), descriptor(tile + 512, 128));
#if !FAULT
  commit();
#endif
  wait<0>();
  out[threadIdx.x] = d[0];  // HERE
}

//! missing_fence; block 128; chip sm_90a
extern "C" __global__ void product_without_its_fence(const float* in, float* out) {
  __shared__ alignas(128) unsigned tile[576];
  fill(tile);
  proxy_fence();
  __syncthreads();
  float d[4];
#if !FAULT
  begin();
#endif
  multiply(d, descriptor(tile, 1024), descriptor(tile + 512, 128));  // HERE
  commit();
  wait<0>();
  out[threadIdx.x] = d[0];
}

//! missing_fence; block 128; chip sm_90a
extern "C" __global__ void tile_stored_without_proxy_fence(const float* in, float* out) {
  __shared__ alignas(128) unsigned tile[576];
  fill(tile);
#if !FAULT
  proxy_fence();
#endif
  __syncthreads();
  float d[4];
  begin();
  multiply(d, descriptor(tile, 1024), descriptor(tile + 512, 128));  // HERE
  commit();
  wait<0>();
  out[threadIdx.x] = d[0];
}

//! race; block 128; chip sm_90a
extern "C" __global__ void tile_of_others_without_barrier(const float* in, float* out) {
  __shared__ alignas(128) unsigned tile[576];
  fill(tile);
  proxy_fence();
#if !FAULT
  __syncthreads();
#endif
  float d[4];
  begin();
  multiply(d, descriptor(tile, 1024), descriptor(tile + 512, 128));  // HERE
  commit();
  wait<0>();
  out[threadIdx.x] = d[0];
}

//! in_flight; block 128; chip sm_90a
extern "C" __global__ void tile_overwritten_while_multiplied(const float* in, float* out) {
  __shared__ alignas(128) unsigned tile[576];
  fill(tile);
  proxy_fence();
  __syncthreads();
  float d[4];
  begin();
  multiply(d, descriptor(tile, 1024), descriptor(tile + 512, 128));
  commit();
#if !FAULT
  wait<0>();
  __syncthreads();
#endif
  tile[threadIdx.x] = 0;  // HERE
  wait<0>();
  out[threadIdx.x] = d[0];
}

//! uninitialised; block 128; chip sm_90a
extern "C" __global__ void tile_with_a_hole(const float* in, float* out) {
  __shared__ alignas(128) unsigned tile[576];
  for (int i = threadIdx.x; i < (FAULT ? 575 : 576); i += 128) tile[i] = 0x3c003c00;
  proxy_fence();
  __syncthreads();
  float d[4];
  begin();
  multiply(d, descriptor(tile, 1024), descriptor(tile + 512, 128));  // HERE
  commit();
  wait<0>();
  out[threadIdx.x] = d[0];
}

//! out_of_bounds; block 128; chip sm_90a
extern "C" __global__ void descriptor_past_the_end(const float* in, float* out) {
  __shared__ alignas(128) unsigned tile[576];
  fill(tile);
  proxy_fence();
  __syncthreads();
  float d[4];
  begin();
  multiply(d, descriptor(tile, FAULT ? 2048 : 1024), descriptor(tile + 512, 128));  // HERE
  commit();
  wait<0>();
  out[threadIdx.x] = d[0];
}

//! launch_limit; block 384; chip sm_90a
extern "C" __global__ void __launch_bounds__(384) more_registers_than_the_chip(const float* in, float* out) {
  if (threadIdx.x < 128)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(FAULT ? 160 : 40));
  else
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(FAULT ? 240 : 232));  // HERE
  out[threadIdx.x] = in[threadIdx.x];
}

// The threads were launched with 168 each, 64512 in all.
//! launch_limit; block 384; chip sm_90a
extern "C" __global__ void __launch_bounds__(384) more_registers_than_the_launch(const float* in, float* out) {
  if (threadIdx.x < 128)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(FAULT ? 32 : 24));
  else
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(240));  // HERE
  out[threadIdx.x] = in[threadIdx.x];
}

//! invalid; block 128; chip sm_90a
extern "C" __global__ void registers_not_in_eights(const float* in, float* out) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(FAULT ? 44 : 40));  // HERE
  out[threadIdx.x] = in[threadIdx.x];
}

//! race; block 32; grid 2; chip sm_90a; cluster 2
extern "C" __global__ void neighbour_read_before_the_barrier(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[32 * blockIdx.x + threadIdx.x];
#if !FAULT
  cluster_arrive();
  cluster_wait();
#endif
  out[32 * blockIdx.x + threadIdx.x] = remote_load(neighbour(tile + 31 - threadIdx.x, own_rank() ^ 1));  // HERE
  cluster_arrive();
  cluster_wait();
}

//! out_of_bounds; block 32; grid 2; chip sm_90a; cluster 2
extern "C" __global__ void neighbour_that_has_left(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[32 * blockIdx.x + threadIdx.x];
  cluster_arrive();
  cluster_wait();
  if (FAULT && own_rank() == 1) return;
  out[64 + 32 * blockIdx.x + threadIdx.x] = remote_load(neighbour(tile + 31 - threadIdx.x, own_rank() ^ 1));  // HERE
#if !FAULT
  cluster_arrive();
  cluster_wait();
#endif
}

//! out_of_bounds; block 32; grid 2; chip sm_90a; cluster 2
extern "C" __global__ void leaves_while_it_may_be_read(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[32 * blockIdx.x + threadIdx.x];
  cluster_arrive();
  cluster_wait();
  out[32 * blockIdx.x + threadIdx.x] = remote_load(neighbour(tile + 31 - threadIdx.x, own_rank() ^ 1));  // HERE
#if !FAULT
  cluster_arrive();
  cluster_wait();
#endif
}

//! out_of_bounds; block 32; grid 2; chip sm_90a; cluster 2
extern "C" __global__ void leaves_while_its_copy_reads(const float* in, float* out) {
  __shared__ alignas(128) float from[32], to[32];
  __shared__ unsigned long long full;
  from[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x == 0) make_full(&full);
  proxy_fence();
  cluster_arrive();
  cluster_wait();
  if (own_rank() == 0) {
    if (threadIdx.x == 0) copy_to_neighbour(neighbour(to, 1), from, 128, neighbour(&full, 1));  // HERE
  } else {
    if (threadIdx.x == 0) expect(&full, 128);
    wait_for_phase(&full, 0);
    out[threadIdx.x] = to[31 - threadIdx.x];
  }
#if !FAULT
  cluster_arrive();
  cluster_wait();
#endif
}

//! in_flight; block 32; grid 2; chip sm_90a; cluster 2
extern "C" __global__ void source_overwritten_before_the_neighbour_waited(const float* in, float* out) {
  __shared__ alignas(128) float from[32], to[32];
  __shared__ unsigned long long full;
  from[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x == 0) make_full(&full);
  proxy_fence();
  cluster_arrive();
  cluster_wait();
  if (own_rank() == 0 && threadIdx.x == 0) copy_to_neighbour(neighbour(to, 1), from, 128, neighbour(&full, 1));
  if (own_rank() == 1 && threadIdx.x == 0) expect(&full, 128);
  if (!FAULT && own_rank() == 1) wait_for_phase(&full, 0);
  cluster_arrive();
  cluster_wait();
  from[threadIdx.x] = 5;  // HERE
  if (own_rank() == 1) wait_for_phase(&full, 0);
  out[32 * own_rank() + threadIdx.x] = own_rank() == 1 ? to[31 - threadIdx.x] : from[threadIdx.x];
  cluster_arrive();
  cluster_wait();
}

//! race; block 32; grid 2; chip sm_90a; cluster 2
extern "C" __global__ void arrival_that_releases_nothing(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[32 * blockIdx.x + threadIdx.x];
#if FAULT
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#else
  cluster_arrive();
#endif
  cluster_wait();
  out[32 * blockIdx.x + threadIdx.x] = remote_load(neighbour(tile + 31 - threadIdx.x, own_rank() ^ 1));  // HERE
  cluster_arrive();
  cluster_wait();
}

//! race; block 32; grid 2; chip sm_90a; cluster 2
extern "C" __global__ void neighbour_overwritten_while_it_reads(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[32 * blockIdx.x + threadIdx.x];
  cluster_arrive();
  cluster_wait();
  const float mine = tile[31 - threadIdx.x];
#if !FAULT
  cluster_arrive();
  cluster_wait();
#endif
  remote_store(neighbour(tile + threadIdx.x, own_rank() ^ 1), mine);  // HERE
  cluster_arrive();
  cluster_wait();
  out[32 * blockIdx.x + threadIdx.x] = tile[threadIdx.x];
}

//! invalid; block 32; grid 2; chip sm_90a; cluster 2
extern "C" __global__ void rank_outside_the_cluster(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  cluster_arrive();
  cluster_wait();
  const unsigned address = neighbour(tile + threadIdx.x, FAULT ? 2 : 1);  // HERE
  if (!FAULT) out[32 * blockIdx.x + threadIdx.x] = remote_load(address);
  cluster_arrive();
  cluster_wait();
  if (FAULT) out[32 * blockIdx.x + threadIdx.x] = static_cast<float>(address);
}

//! misused_barrier; block 32; grid 2; chip sm_90a; cluster 2
extern "C" __global__ void waits_without_having_arrived(const float* in, float* out) {
#if !FAULT
  cluster_arrive();
#endif
  cluster_wait();  // HERE
  out[32 * blockIdx.x + threadIdx.x] = in[threadIdx.x];
}

//! deadlock; block 64; grid 2; chip sm_90a; cluster 2
extern "C" __global__ void one_warp_misses_the_cluster_barrier(const float* in, float* out) {
  out[64 * blockIdx.x + threadIdx.x] = in[threadIdx.x];
  if (!FAULT || threadIdx.x < 32 || blockIdx.x == 0) {
    cluster_arrive();
    cluster_wait();  // HERE
  } else {
    __syncthreads();
  }
}

//! launch_limit; block 32; grid 3; fixed_grid 4; chip sm_90a; cluster 2
extern "C" __global__ void grid_that_clusters_do_not_divide(const float* in, float* out) {
  out[32 * blockIdx.x + threadIdx.x] = in[threadIdx.x];
}
