// SPDX-License-Identifier: Apache-2.0
// Row kernels as row.cuh's, of rows that are read from memory once: each team of eight lanes has
// one chunk of the row, or a row of its own that is no longer than one, and what a thread reads of
// it stays, as words, in registers or in slots of shared memory that no other thread uses. Where an
// operand or a result does not begin at a multiple of four elements, row.cuh does it.
#pragma once

#include "halftone/kernels/row.cuh"

namespace halftone::kernels::kept_row {

enum class Keep { registers = 1, shared = 2 };

/// The word, of which the compiler no longer knows what it computed: what stages share is cheaper
/// computed again than kept beside the words.
__device__ __forceinline__ unsigned int known_anew(unsigned int word) {
#if defined(__CUDA_ARCH__)
  asm volatile("mov.b32 %0, %0;" : "+r"(word));
#endif
  return word;
}

/// Four neighbours as words, at a multiple of their size.
template <class T>
__device__ __forceinline__ void keep_four(const T* pointer, unsigned int* words) {
  if constexpr (sizeof(T) == 4) {
    const uint4 vector = *reinterpret_cast<const uint4*>(pointer);
    words[0] = vector.x, words[1] = vector.y, words[2] = vector.z, words[3] = vector.w;
  } else {
    const unsigned long long vector = *reinterpret_cast<const unsigned long long*>(pointer);
    words[0] = static_cast<unsigned int>(vector);
    words[1] = static_cast<unsigned int>(vector >> 32);
  }
}

__device__ __forceinline__ void recall_four(const unsigned int* words, float (&values)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) values[i] = __int_as_float(static_cast<int>(words[i]));
}
__device__ __forceinline__ void recall_four(const unsigned int* words, int (&values)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) values[i] = static_cast<int>(words[i]);
}
/// f16 and bf16.
template <class T>
__device__ __forceinline__ void recall_four(const unsigned int* words, T (&values)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    values[i] = {static_cast<unsigned short>(words[i / 2] >> (i % 2 * 16))};
}

/// Two codes by one permutation of bytes: from a shift, ptxas takes a slow conversion to bf16.
template <class T>
__device__ __forceinline__ void store_four(T* pointer, const T (&values)[4]) {
  if constexpr (sizeof(T) == 4) {
    store_result(pointer, values);
  } else {
#if defined(__CUDA_ARCH__)
    const unsigned int words[2] = {__byte_perm(values[0].code, values[1].code, 0x5410),
                                   __byte_perm(values[2].code, values[3].code, 0x5410)};
    ptx::st_global(pointer, words);
#else
    store_vector(pointer, values);
#endif
  }
}

template <class Body, int kThreads, Keep kKeep>
class Worker {
  using Inputs = typename Body::template Inputs<4>;
  static constexpr int kWords = Body::kKeptWords;
  using Words = unsigned int[kWords];

 public:
  static constexpr int kTeams = kThreads / kTeam;
  static constexpr int kChunks = (Body::columns() + kChunk - 1) / kChunk;
  static constexpr bool kShort = kChunks == 1;
  static_assert(kChunks <= kTeams && Body::columns() % kOwned == 0,
                "a team has at most one chunk, and no row ends inside a group of four");

  __device__ __forceinline__ explicit Worker(const Body& body)
      : body_(body),
        row_(kShort ? static_cast<long long>(blockIdx.x) * kTeams + threadIdx.x / kTeam
                    : blockIdx.x),
        chunk_(kShort ? 0 : static_cast<int>(threadIdx.x) / kTeam),
        active_(!kShort || row_ < body.rows) {
    if (active_) body_.load(row_, uniforms_);
    if (active_) body_.template derive<0>(uniforms_, reduced_);
#pragma unroll kReadTogether
    for (int group = 0; group < kGroups; ++group) {
      if (!has(group)) continue;
      Words words;
      body_.keep(row_, column_of(group), words);
#pragma unroll
      for (int i = 0; i < kWords; ++i) word(group, i) = words[i];
    }
  }

  /// Stage after stage of reductions; every thread of the block must call.
  template <int kStage = 0>
  __device__ __forceinline__ void reduce() {
    if constexpr (kStage < Body::kStages) {
      reduce_stage<kStage>();
      if (active_) body_.template derive<kStage + 1>(uniforms_, reduced_);
      reduce<kStage + 1>();
    }
  }

  __device__ __forceinline__ void store() {
    each_group([&](int column, const Inputs& inputs) {
      typename Body::template Outputs<4> outputs;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        body_.compute(uniforms_, reduced_, inputs, i, row_, column + i, outputs);
      body_.store_whole(row_, column, outputs);
    });
    if (active_ && chunk_ == 0 && team::lane() == 0) body_.store_row(uniforms_, reduced_, row_);
  }

 private:
  static constexpr int kGroups = ((kShort ? Body::columns() : kChunk) + kPartials - 1) / kPartials;
  static constexpr bool kInRegisters = kKeep == Keep::registers;
  static constexpr int kUnroll = kInRegisters ? kGroups : 4;
  static constexpr int kReadTogether = kInRegisters ? kGroups : 8;

  __device__ __forceinline__ int column_of(int group) const {
    return chunk_ * kChunk + group * kPartials + kOwned * team::lane();
  }
  __device__ __forceinline__ bool has(int group) const {
    if constexpr (Body::columns() == kTeams * kChunk) return true;
    if constexpr (kShort && Body::columns() % kPartials == 0) return active_;
    return active_ && column_of(group) < Body::columns();
  }

  /// Slots of neighbouring threads lie side by side.
  __device__ __forceinline__ unsigned int& word(int group, int i) {
    if constexpr (kInRegisters) {
      return words_[group][i];
    } else {
#if defined(__CUDA_ARCH__)
      extern __shared__ uint4 slots[];
      const int slot = group * kThreads + static_cast<int>(threadIdx.x);
      return reinterpret_cast<unsigned int*>(slots)[slot * kWords + i];
#endif
    }
  }

  /// visit(first column, inputs of four elements) for every four elements of this lane.
  template <class Visit>
  __device__ __forceinline__ void each_group(Visit visit) {
#pragma unroll kUnroll
    for (int group = 0; group < kGroups; ++group) {
      if (!has(group)) continue;
      Words words;
#pragma unroll
      for (int i = 0; i < kWords; ++i)
        words[i] = kInRegisters ? known_anew(word(group, i)) : word(group, i);
      Inputs inputs;
      body_.recall(column_of(group), words, inputs);
      visit(column_of(group), inputs);
    }
  }

  template <int kStage>
  __device__ __forceinline__ void reduce_stage() {
    constexpr int kFirst = Body::stage_begin(kStage);
    constexpr int kCount = Body::stage_begin(kStage + 1) - kFirst;
    __shared__ float results[kShort ? 1 : kCount][kChunks];
    float partial[kCount][kOwned];
    accumulate<kStage>(partial);
#pragma unroll
    for (int r = 0; r < kCount; ++r) {
      const float result = team::halve(Body::reduction(kFirst + r), partial[r]);
      if constexpr (kShort) {
        reduced_[kFirst + r] = result;
      } else if (chunk_ < kChunks && team::lane() == 0) {
        results[r][chunk_] = result;
      }
    }
    if constexpr (!kShort) {
      __syncthreads();
#pragma unroll
      for (int r = 0; r < kCount; ++r)
        reduced_[kFirst + r] =
            team::tree(Body::reduction(kFirst + r), kChunks, [&](int i) { return results[r][i]; });
      __syncthreads();
    }
  }

  template <int kStage, int kCount>
  __device__ __forceinline__ void accumulate(float (&partial)[kCount][kOwned]) {
    constexpr int kFirst = Body::stage_begin(kStage);
#pragma unroll
    for (int r = 0; r < kCount; ++r) {
#pragma unroll
      for (int i = 0; i < kOwned; ++i) partial[r][i] = identity(Body::reduction(kFirst + r));
    }
    each_group([&](int column, const Inputs& inputs) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float terms[kCount];
        body_.template contribute<kStage>(uniforms_, reduced_, inputs, i, row_, column + i, terms);
#pragma unroll
        for (int r = 0; r < kCount; ++r)
          partial[r][i] = combine(Body::reduction(kFirst + r), partial[r][i], terms[r]);
      }
    });
  }

  const Body& body_;
  const long long row_;
  const int chunk_;
  const bool active_;
  typename Body::Uniforms uniforms_;
  float reduced_[Body::kReductions + Body::kRowValues + 1];  // no array is empty
  unsigned int words_[kInRegisters ? kGroups : 1][kWords];
};

template <class Body, int kThreads, int kKeep>
__device__ __forceinline__ void run(const Body& body) {
  if (body.can_keep()) {
    Worker<Body, kThreads, static_cast<Keep>(kKeep)> worker(body);
    worker.reduce();
    worker.store();
  } else {
    row::Worker<Body, kThreads> worker(body);
    worker.reduce();
    worker.store();
  }
  if constexpr (Body::kFinish) {  // store_row left one term per row in the workspace
    if (!block::is_last(body.blocks_done)) return;
    const float sum = block::tree_sum<kThreads>(body.workspace, body.rows);  // N4
    if (threadIdx.x == 0) body.finish(sum);
  }
}

}  // namespace halftone::kernels::kept_row
