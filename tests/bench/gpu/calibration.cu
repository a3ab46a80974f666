// SPDX-License-Identifier: Apache-2.0
// What the GPU itself can do, measured: the constants of codegen/plan/Chips.cpp and CostModel.cpp,
// and the ceilings that tables are read against. One figure a line: name, value, unit.
//   nvcc -std=c++17 -O3 -gencode=arch=compute_90a,code=sm_90a calibration.cu -o calibration
// Every time is the median of kRounds, by events around enough work that launches do not count.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

constexpr int kRounds = 9;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "calibration: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

void print(const char* name, double value, const char* unit) {
  std::printf("%-44s %12.4g  %s\n", name, value, unit);
  std::fflush(stdout);
}

/// Seconds of `work` on the stream.
double seconds_of(cudaStream_t stream, const std::function<void()>& work) {
  cudaEvent_t from, to;
  check(cudaEventCreate(&from), "an event");
  check(cudaEventCreate(&to), "an event");
  work();
  check(cudaStreamSynchronize(stream), "the first run");
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    check(cudaEventRecord(from, stream), "an event");
    work();
    check(cudaEventRecord(to, stream), "an event");
    check(cudaEventSynchronize(to), "a run");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, from, to), "an event");
    times.push_back(ms / 1e3);
  }
  check(cudaEventDestroy(from), "an event");
  check(cudaEventDestroy(to), "an event");
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

__global__ void copy(const uint4* from, uint4* to, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    to[i] = from[i];
}

/// One block a part, four loads in flight in each thread.
__global__ void copy_in_parts(const uint4* from, uint4* to) {
  const long long base = static_cast<long long>(blockIdx.x) * blockDim.x * 4 + threadIdx.x;
  uint4 words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = from[base + i * blockDim.x];
#pragma unroll
  for (int i = 0; i < 4; ++i) to[base + i * blockDim.x] = words[i];
}

__global__ void read_all(const uint4* from, long long count, int times, unsigned int* sink) {
  unsigned int sum = 0;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (int time = 0; time < times; ++time) {
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
      uint4 word;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                   : "l"(from + i));
      sum += word.x ^ word.y ^ word.z ^ word.w;
    }
  }
  if (sum == 1) *sink = sum;
}

__global__ void chase(const unsigned int* next, int count, long long* cycles, unsigned int* sink) {
  unsigned int at = 0;
  for (int i = 0; i < 64; ++i) at = __ldcg(next + at);
  const long long start = clock64();
  for (int i = 0; i < count; ++i) at = __ldcg(next + at);
  *cycles = clock64() - start;
  *sink = at;
}

__global__ void multiply_add(float* sink, int count, float a, float b) {
  float sums[8];
  for (int i = 0; i < 8; ++i) sums[i] = threadIdx.x + i;
  for (int n = 0; n < count; ++n) {
#pragma unroll
    for (int i = 0; i < 8; ++i) sums[i] = fmaf(sums[i], a, b);
  }
  float sum = 0;
  for (float each : sums) sum += each;
  if (sum == 1) *sink = sum;
}

template <bool kTf32>
__global__ void multiply_matrices(float* sink, int count) {
  float sums[8][4] = {};
  const unsigned int a = threadIdx.x, b = blockIdx.x;
#define HALFTONE_MMA(instruction)                                                       \
  asm volatile("mma.sync.aligned." instruction                                          \
               " {%0, %1, %2, %3}, {%4, %5, %4, %5}, {%4, %5}, {%0, %1, %2, %3};"       \
               : "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3]) \
               : "r"(a), "r"(b))
  for (int n = 0; n < count; ++n) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (kTf32)
        HALFTONE_MMA("m16n8k8.row.col.f32.tf32.tf32.f32");
      else
        HALFTONE_MMA("m16n8k16.row.col.f32.bf16.bf16.f32");
    }
  }
#undef HALFTONE_MMA
  float sum = 0;
  for (auto& each : sums) sum += each[0] + each[1] + each[2] + each[3];
  if (sum == 1) *sink = sum;
}

__global__ void nothing(float* buffer) {
  if (buffer == nullptr) __trap();
}

__global__ void released(float* buffer) {
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (buffer == nullptr) __trap();
}

__global__ void barriers(int count) {
  auto grid = cooperative_groups::this_grid();
  for (int i = 0; i < count; ++i) grid.sync();
}

/// Microseconds of a node in a chain of `count` that `add` puts on the stream.
double node_of_chain(cudaStream_t stream, int count, const std::function<void()>& add) {
  cudaGraph_t graph;
  cudaGraphExec_t chain;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "a capture");
  for (int i = 0; i < count; ++i) add();
  check(cudaStreamEndCapture(stream, &graph), "a capture");
  check(cudaGraphInstantiate(&chain, graph, 0), "a graph");
  const double seconds =
      seconds_of(stream, [&] { check(cudaGraphLaunch(chain, stream), "a graph"); });
  check(cudaGraphExecDestroy(chain), "a graph");
  check(cudaGraphDestroy(graph), "a graph");
  return 1e6 * seconds / count;
}

void memory(cudaStream_t stream, int sms) {
  constexpr long long kBytes = 1LL << 30;
  uint4 *from, *to;
  unsigned int* sink;
  check(cudaMalloc(&from, kBytes), "memory");
  check(cudaMalloc(&to, kBytes), "memory");
  check(cudaMalloc(&sink, 4096), "memory");
  check(cudaMemset(from, 1, kBytes), "memory");
  const long long words = kBytes / 16;
  double seconds = seconds_of(stream, [&] {
    check(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice, stream), "a copy");
  });
  print("copy by the driver, read and written", 2e-9 * kBytes / seconds, "GB/s");
  seconds = seconds_of(stream, [&] { copy<<<sms * 16, 256, 0, stream>>>(from, to, words); });
  print("copy by a kernel, loop of 16 bytes a thread", 2e-9 * kBytes / seconds, "GB/s");
  seconds = seconds_of(stream, [&] {
    copy_in_parts<<<static_cast<unsigned>(words / 1024), 256, 0, stream>>>(from, to);
  });
  print("copy by a kernel, four loads a thread", 2e-9 * kBytes / seconds, "GB/s");
  seconds =
      seconds_of(stream, [&] { read_all<<<sms * 8, 512, 0, stream>>>(from, words, 1, sink); });
  print("read of 1 GiB", 1e-9 * kBytes / seconds, "GB/s");
  for (const long long megabytes : {4, 16, 24, 32, 48}) {
    const long long part = megabytes << 16;
    seconds =
        seconds_of(stream, [&] { read_all<<<sms * 4, 512, 0, stream>>>(from, part, 40, sink); });
    char name[64];
    std::snprintf(name, sizeof name, "read of %lld MiB again and again", megabytes);
    print(name, 40e-9 * 16 * static_cast<double>(part) / seconds, "GB/s");
  }
  long long* cycles;
  check(cudaMalloc(&cycles, 64), "memory");
  for (const long long bytes : {1LL << 20, 1LL << 30}) {
    std::vector<unsigned int> next(static_cast<std::size_t>(bytes / 4));
    const unsigned int count = static_cast<unsigned int>(next.size()), stride = 32 * 1031;
    for (unsigned int i = 0; i < count; ++i) next[i] = (i + stride) % count;
    check(cudaMemcpy(from, next.data(), static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice),
          "a copy");
    chase<<<1, 1, 0, stream>>>(reinterpret_cast<unsigned int*>(from), 2000, cycles, sink);
    check(cudaStreamSynchronize(stream), "a chase");
    long long taken = 0;
    check(cudaMemcpy(&taken, cycles, sizeof taken, cudaMemcpyDeviceToHost), "a copy");
    print(bytes > (1LL << 20) ? "latency of memory" : "latency of L2",
          static_cast<double>(taken) / 2000, "cycles");
  }
  check(cudaFree(from), "memory");
  check(cudaFree(to), "memory");
}

void arithmetic(cudaStream_t stream, int sms) {
  float* sink;
  check(cudaMalloc(&sink, 4096), "memory");
  constexpr int kTimes = 20000;
  double seconds = seconds_of(
      stream, [&] { multiply_add<<<sms * 4, 512, 0, stream>>>(sink, kTimes, 1.0f, 0.5f); });
  print("f32 multiply-add", 2e-12 * 8 * kTimes * 512 * 4 * sms / seconds, "TF/s");
  seconds = seconds_of(
      stream, [&] { multiply_matrices<false><<<sms * 4, 256, 0, stream>>>(sink, kTimes); });
  print("mma.sync bf16", 1e-12 * 8 * kTimes * 8 * 4 * sms * 2 * 16 * 8 * 16 / seconds, "TF/s");
  seconds = seconds_of(stream,
                       [&] { multiply_matrices<true><<<sms * 4, 256, 0, stream>>>(sink, kTimes); });
  print("mma.sync tf32", 1e-12 * 8 * kTimes * 8 * 4 * sms * 2 * 16 * 8 * 8 / seconds, "TF/s");
}

void steps(cudaStream_t stream, int sms) {
  float *buffer, *host;
  check(cudaMalloc(&buffer, 1 << 20), "memory");
  check(cudaMallocHost(&host, 1 << 20), "memory");
  constexpr int kNodes = 1000;
  print("node of a chain: one block that does nothing",
        node_of_chain(stream, kNodes, [&] { nothing<<<1, 32, 0, stream>>>(buffer); }), "us");
  print("node of a chain: a block of 256 on each SM",
        node_of_chain(stream, kNodes, [&] { nothing<<<sms, 256, 0, stream>>>(buffer); }), "us");
  print("the same, launched early (PDL)",
        node_of_chain(stream, kNodes,
                      [&] {
                        cudaLaunchConfig_t config = {};
                        config.gridDim = dim3(static_cast<unsigned>(sms)),
                        config.blockDim = dim3(256), config.stream = stream;
                        cudaLaunchAttribute early = {};
                        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
                        early.val.programmaticStreamSerializationAllowed = 1;
                        config.attrs = &early, config.numAttrs = 1;
                        check(cudaLaunchKernelEx(&config, released, buffer), "a launch");
                      }),
        "us");
  print("node of a chain: copy of 4 KiB in the device",
        node_of_chain(stream, kNodes,
                      [&] {
                        check(cudaMemcpyAsync(buffer, buffer + 4096, 4096, cudaMemcpyDeviceToDevice,
                                              stream),
                              "a copy");
                      }),
        "us");
  print("node of a chain: copy of 4 KiB from the host",
        node_of_chain(stream, kNodes,
                      [&] {
                        check(cudaMemcpyAsync(buffer, host, 4096, cudaMemcpyHostToDevice, stream),
                              "a copy");
                      }),
        "us");
  print("node of a chain: copy of 4 bytes to the host",
        node_of_chain(stream, kNodes,
                      [&] {
                        check(cudaMemcpyAsync(host, buffer, 4, cudaMemcpyDeviceToHost, stream),
                              "a copy");
                      }),
        "us");
  int times = kNodes;
  void* arguments[] = {&times};
  const double seconds = seconds_of(stream, [&] {
    check(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(barriers),
                                      dim3(static_cast<unsigned>(sms)), dim3(256), arguments, 0,
                                      stream),
          "barriers");
  });
  print("barrier of the grid, a block of 256 on each SM", 1e6 * seconds / kNodes, "us");
  const auto host_time = [&](const char* name, const std::function<void()>& call) {
    call();
    check(cudaStreamSynchronize(stream), "calls");
    std::vector<double> each;
    for (int round = 0; round < kRounds; ++round) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < 200; ++i) call();
      each.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 200);
      check(cudaStreamSynchronize(stream), "calls");
    }
    std::nth_element(each.begin(), each.begin() + kRounds / 2, each.end());
    print(name, 1e6 * each[kRounds / 2], "us of the host");
  };
  host_time("a launch", [&] { nothing<<<1, 32, 0, stream>>>(buffer); });
  host_time("a launch and its end awaited", [&] {
    nothing<<<1, 32, 0, stream>>>(buffer);
    check(cudaStreamSynchronize(stream), "a launch");
  });
  host_time("a copy of 4 KiB from page-locked memory", [&] {
    check(cudaMemcpyAsync(buffer, host, 4096, cudaMemcpyHostToDevice, stream), "a copy");
  });
}

/// value / 2^count, to nearest even.
__device__ unsigned int shifted(unsigned int value, int count) {
  return (value + (1u << (count - 1)) - 1 + (value >> count & 1)) >> count;
}
/// What cvt.rn gives by IEEE 754, and 0x7fff for a NaN: of bf16, of f16.
__device__ unsigned int bf16_of(unsigned int bits) {
  return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : shifted(bits, 16);
}
__device__ unsigned int f16_of(unsigned int bits) {
  const unsigned int sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fff;
  if (magnitude >= 0x47800000) return sign | 0x7c00;
  if (magnitude >= 0x38800000) return sign | shifted(magnitude - 0x38000000, 13);
  if (magnitude < 0x33000000) return sign;
  return sign | shifted(0x800000 | (magnitude & 0x7fffff), 126 - static_cast<int>(magnitude >> 23));
}

__global__ void convert(unsigned long long* others) {
  const unsigned int step = gridDim.x * blockDim.x;
  unsigned int others_of_bf16 = 0, others_of_f16 = 0;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < 1ull << 32; i += step) {
    const auto bits = static_cast<unsigned int>(i);
    unsigned short bf16, f16;
    asm volatile("cvt.rn.bf16.f32 %0, %1;" : "=h"(bf16) : "f"(__uint_as_float(bits)));
    asm volatile("cvt.rn.f16.f32 %0, %1;" : "=h"(f16) : "f"(__uint_as_float(bits)));
    others_of_bf16 += bf16 != bf16_of(bits);
    others_of_f16 += f16 != f16_of(bits);
  }
  atomicAdd(others, others_of_bf16);
  atomicAdd(others + 1, others_of_f16);
}

/// Of all 2^32 floats.
void conversions(cudaStream_t stream, int sms) {
  unsigned long long *others, found[2];
  check(cudaMalloc(&others, sizeof found), "memory");
  check(cudaMemsetAsync(others, 0, sizeof found, stream), "memory");
  convert<<<8 * sms, 256, 0, stream>>>(others);
  check(cudaMemcpyAsync(found, others, sizeof found, cudaMemcpyDeviceToHost, stream), "a copy");
  check(cudaStreamSynchronize(stream), "conversions");
  print("cvt.rn.bf16.f32 unlike IEEE 754 and 0x7fff", static_cast<double>(found[0]), "of 2^32");
  print("cvt.rn.f16.f32 unlike IEEE 754 and 0x7fff", static_cast<double>(found[1]), "of 2^32");
}

}  // namespace

int main() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "the device");
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  const int sms = properties.multiProcessorCount;
  std::printf("%s, compute capability %d.%d\n", properties.name, properties.major,
              properties.minor);
  print("SMs", sms, "");
  print("L2", properties.l2CacheSize / 1048576.0, "MiB");
  print("memory", static_cast<double>(properties.totalGlobalMem) / 1e9, "GB");
  arithmetic(stream, sms);  // the clock rises meanwhile
  arithmetic(stream, sms);
  memory(stream, sms);
  steps(stream, sms);
  conversions(stream, sms);
}
