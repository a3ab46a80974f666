// SPDX-License-Identifier: Apache-2.0
// Faults of mbarriers, bulk and tensor copies. `map` describes `in` (or `out`) as 32 by 32 f32, in
// boxes of 8 by 8.
namespace {
struct alignas(64) Map {
  unsigned long long words[16];
};
__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ void make(unsigned long long* barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}
__device__ void publish() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ void expect(unsigned long long* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
__device__ void arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ void wait(unsigned long long* barrier, unsigned parity) {
  unsigned done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
}
__device__ void load(void* to, const Map& map, unsigned long long* barrier, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
                   shared_address(to)), "l"(&map), "r"(shared_address(barrier)), "r"(x), "r"(y) : "memory");
}
__device__ void load_bytes(void* to, const void* from, unsigned bytes, unsigned long long* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}
__device__ void store(const Map& map, const void* from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(shared_address(from)),
               "r"(x), "r"(y) : "memory");
}
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ void wait_for_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ void wait_for_sources() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void start(unsigned long long* barrier, unsigned count) {
  if (threadIdx.x == 0) {
    make(barrier, count);
    publish();
  }
  __syncthreads();
}
}  // namespace

//! in_flight; block 64; chip sm_90a; map 1
extern "C" __global__ void used_without_the_full_wait(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long full;
  start(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, 256);
    load(tile, map, &full, 8, 8);
  }
#if !FAULT
  wait(&full, 0);
#endif
  out[threadIdx.x] = tile[63 - threadIdx.x];  // HERE
  wait(&full, 0);
}

//! in_flight; block 64; chip sm_90a; map 1
extern "C" __global__ void waits_for_the_phase_before(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long full;
  start(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, 256);
    load(tile, map, &full, 0, 8);
  }
  wait(&full, FAULT ? 1 : 0);
  out[threadIdx.x] = tile[63 - threadIdx.x];  // HERE
  wait(&full, 0);
}

//! in_flight; block 64; chip sm_90a; map 1
extern "C" __global__ void stage_reused_without_the_empty_wait(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float stages[2][64];
  __shared__ unsigned long long full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) make(full + s, 1), make(empty + s, 32);
    publish();
  }
  __syncthreads();
  if (threadIdx.x == 32)
    for (int step = 0; step < 4; ++step) {
      if (!FAULT && step >= 2) wait(empty + step % 2, step / 2 - 1);
      expect(full + step % 2, 256);
      load(stages[step % 2], map, full + step % 2, 8 * step, 0);  // HERE
    }
  if (threadIdx.x < 32)
    for (int step = 0; step < 4; ++step) {
      wait(full + step % 2, step / 2);
      out[32 * step + threadIdx.x] = stages[step % 2][63 - threadIdx.x];
      arrive(empty + step % 2);
    }
}

//! deadlock; block 32; chip sm_90a; map 1
extern "C" __global__ void expects_too_many_bytes(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long full;
  start(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, FAULT ? 512 : 256);
    load(tile, map, &full, 0, 0);
  }
  wait(&full, 0);  // HERE
  out[threadIdx.x] = tile[threadIdx.x];
}

//! deadlock; block 32; chip sm_90a; map 1
extern "C" __global__ void expects_too_few_bytes(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long full;
  start(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, FAULT ? 128 : 256);
    load(tile, map, &full, 0, 0);
  }
  wait(&full, 0);  // HERE
  out[threadIdx.x] = tile[threadIdx.x];
}

//! deadlock; block 64; chip sm_90a
extern "C" __global__ void one_warp_does_not_arrive(const float* in, float* out) {
  __shared__ unsigned long long done;
  start(&done, 64);
  out[threadIdx.x] = in[threadIdx.x];
  if (!FAULT || threadIdx.x < 32) arrive(&done);
  wait(&done, 0);  // HERE
  out[64 + threadIdx.x] = out[63 - threadIdx.x];
}

//! race; block 64; chip sm_90a
extern "C" __global__ void reads_before_the_arrivals(const float* in, float* out) {
  __shared__ float tile[64];
  __shared__ unsigned long long done;
  start(&done, 64);
  tile[threadIdx.x] = in[threadIdx.x];
  arrive(&done);
#if !FAULT
  wait(&done, 0);
#endif
  out[threadIdx.x] = tile[63 - threadIdx.x];  // HERE
}

//! misused_barrier; block 32; chip sm_90a; map 1
extern "C" __global__ void arrives_more_often_than_counted(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long full;
  start(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, 256);
    load(tile, map, &full, 0, 0);
    if (FAULT) arrive(&full);  // HERE
  }
  if (!FAULT) wait(&full, 0);
  out[threadIdx.x] = FAULT ? 0 : tile[threadIdx.x];
}

//! misused_barrier; block 32; chip sm_90a
extern "C" __global__ void barrier_never_made(const float* in, float* out) {
  __shared__ unsigned long long done;
#if FAULT
  if (threadIdx.x == 0) done = 0;
  __syncthreads();
#else
  start(&done, 32);
#endif
  arrive(&done);  // HERE
  out[threadIdx.x] = in[threadIdx.x];
}

//! race; block 64; chip sm_90a
extern "C" __global__ void barrier_used_before_it_is_seen(const float* in, float* out) {
  __shared__ unsigned long long done;
  if (threadIdx.x == 0) {
    make(&done, 64);
    publish();
  }
#if !FAULT
  __syncthreads();
#endif
  arrive(&done);  // HERE
  out[threadIdx.x] = in[threadIdx.x];
}

//! missing_fence; block 32; chip sm_90a; map 1
extern "C" __global__ void barrier_not_published(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long full;
  if (threadIdx.x == 0) {
    make(&full, 1);
    if (!FAULT) publish();
    expect(&full, 256);
    load(tile, map, &full, 0, 0);  // HERE
  }
  __syncthreads();
  wait(&full, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

//! missing_fence; block 64; chip sm_90a; map 1
extern "C" __global__ void loads_over_what_was_stored(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long full;
  tile[threadIdx.x] = in[threadIdx.x];
  start(&full, 1);
  const float before = tile[63 - threadIdx.x];
#if !FAULT
  proxy_fence();
#endif
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&full, 256);
    load(tile, map, &full, 8, 8);  // HERE
  }
  wait(&full, 0);
  out[threadIdx.x] = before + tile[threadIdx.x];
}

//! race; block 64; chip sm_90a
extern "C" __global__ void source_overwritten_without_the_full_wait(const float* in, float* out) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long full;
  start(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, 256);
    load_bytes(tile, in, 256, &full);  // HERE
  }
  if (!FAULT) wait(&full, 0);
  if (threadIdx.x >= 32) const_cast<float*>(in)[threadIdx.x] = 5;
  wait(&full, 0);
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

//! unfinished; block 32; chip sm_90a
extern "C" __global__ void ends_with_a_load_that_nobody_waited_for(const float* in, float* out) {
  __shared__ alignas(128) float tiles[2][64];
  __shared__ unsigned long long full[2];
  start(full, 1);
  start(full + 1, 1);
  if (threadIdx.x == 0) {
    expect(full, 256);
    load_bytes(tiles[0], in, 256, full);  // HERE
    expect(full + 1, 256);
    load_bytes(tiles[1], in + 64, 256, full + 1);
  }
  if (!FAULT) wait(full, 0);
  wait(full + 1, 0);
  out[threadIdx.x] = tiles[1][63 - threadIdx.x];
}

//! unfinished; block 32; chip sm_90a
extern "C" __global__ void waits_for_all_loads_but_the_last(const float* in, float* out) {
  __shared__ alignas(128) float tiles[2][64];
  __shared__ unsigned long long full, other;
  start(&full, 1);
  start(&other, 1);
  for (int step = 0; step < 2; ++step) {
    if (threadIdx.x == 0) {
      expect(&full, 256);
      load_bytes(tiles[step], in + 64 * step, 256, &full);  // HERE
    }
    if (!FAULT || step == 0) wait(&full, step);
  }
  if (threadIdx.x == 0) {
    expect(&other, 256);
    load_bytes(tiles[0], in, 256, &other);
  }
  wait(&other, 0);
  out[threadIdx.x] = tiles[0][63 - threadIdx.x];
}

//! misaligned; block 32; chip sm_90a
extern "C" __global__ void bulk_source_misaligned(const float* in, float* out) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long full;
  start(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, 256);
    load_bytes(tile, in + (FAULT ? 1 : 4), 256, &full);  // HERE
  }
  if (!FAULT) wait(&full, 0);
  if (!FAULT) out[threadIdx.x] = tile[threadIdx.x];
}

//! out_of_bounds; block 32; chip sm_90a
extern "C" __global__ void bulk_load_past_the_end(const float* in, float* out) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long full;
  start(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, 256);
    load_bytes(tile, in + (FAULT ? 1000 : 960), 256, &full);  // HERE
  }
  if (!FAULT) wait(&full, 0);
  if (!FAULT) out[threadIdx.x] = tile[threadIdx.x];
}

//! misaligned; block 32; chip sm_90a; map 1
extern "C" __global__ void box_misaligned_in_shared_memory(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[96];
  __shared__ unsigned long long full;
  start(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, 256);
    load(tile + (FAULT ? 16 : 32), map, &full, 0, 0);  // HERE
  }
  if (!FAULT) wait(&full, 0);
  if (!FAULT) out[threadIdx.x] = tile[32 + threadIdx.x];
}

//! misaligned; block 32; chip sm_90a; map 1
extern "C" __global__ void box_begins_between_sixteen_bytes(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long full;
  start(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, 256);
    load(tile, map, &full, FAULT ? 2 : 4, 0);  // HERE
  }
  if (!FAULT) wait(&full, 0);
  if (!FAULT) out[threadIdx.x] = tile[threadIdx.x];
}

//! missing_fence; block 64; chip sm_90a; map 2
extern "C" __global__ void stores_without_proxy_fence(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
#if !FAULT
  proxy_fence();
#endif
  __syncthreads();
  if (threadIdx.x == 0) {
    store(map, tile, 8, 8);  // HERE
    commit();
    wait_for_stores();
  }
}

//! in_flight; block 64; chip sm_90a; map 2
extern "C" __global__ void source_overwritten_before_it_was_read(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  proxy_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    store(map, tile, 8, 8);
    commit();
    if (!FAULT) wait_for_sources();
  }
  __syncthreads();
  tile[threadIdx.x] = in[64 + threadIdx.x];  // HERE
  if (threadIdx.x == 0) wait_for_stores();
}

//! unfinished; block 64; chip sm_90a; map 2
extern "C" __global__ void ends_with_a_store_under_way(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  proxy_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    store(map, tile, 8, 8);  // HERE
    if (!FAULT) commit();
    wait_for_stores();
  }
}

//! uninitialised; block 32; chip sm_90a; map 2
extern "C" __global__ void stores_what_nobody_wrote(const float* in, float* out, const __grid_constant__ Map map) {
  __shared__ alignas(128) float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  if (!FAULT) tile[32 + threadIdx.x] = in[32 + threadIdx.x];
  proxy_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    store(map, tile, 0, 0);  // HERE
    commit();
    wait_for_stores();
  }
}
