// SPDX-License-Identifier: Apache-2.0
// Row kernels: reductions over each row (N2), in stages where one needs the results of another,
// then the elements. A row of at most 1024 columns belongs to a team of eight lanes; a longer one
// to a block, chunk after chunk to each of its teams. Operands stay in registers between stages
// where they fit, otherwise every stage loads them again.
#pragma once

#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/reduce.cuh"

namespace halftone::kernels::row {

template <class Body, int kThreads>
class Worker {
  using Inputs = typename Body::template Inputs<4>;

 public:
  static constexpr int kTeams = kThreads / kTeam;
  static constexpr int kChunks = (Body::columns() + kChunk - 1) / kChunk;
  static constexpr bool kShort = kChunks == 1;
  static constexpr int kRowsPerBlock = kShort ? kTeams : 1;
  static_assert(kChunks <= kChunk, "a row has at most 2^20 columns");

  __device__ __forceinline__ Worker(const Body& body)
      : body_(body),
        team_(static_cast<int>(threadIdx.x) / kTeam),
        row_(static_cast<long long>(blockIdx.x) * kRowsPerBlock + (kShort ? team_ : 0)),
        active_(row_ < body.rows) {
    if (active_) body_.load(row_, uniforms_);
    if (active_) body_.template derive<0>(uniforms_, reduced_);
    if constexpr (kCached) {
#pragma unroll
      for (int group = 0; group < kGroups; ++group) {
        if (const int column = column_of(0, group); active_ && column < Body::columns())
          body_.load(row_, column, cache_[group]);
      }
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

  __device__ __forceinline__ void store() const {
    for (int chunk = first_chunk(); chunk < kChunks; chunk += kShort ? 1 : kTeams) {
      each_group(chunk, [&](int column, const Inputs& inputs) {
        typename Body::template Outputs<4> outputs;
#pragma unroll
        for (int i = 0; i < 4; ++i)
          body_.compute(uniforms_, reduced_, inputs, i, row_, column + i, outputs);
        body_.store(row_, column, outputs);
      });
    }
    if (active_ && first_chunk() == 0 && team::lane() == 0)
      body_.store_row(uniforms_, reduced_, row_);
  }

 private:
  static constexpr int kGroups = ((kShort ? Body::columns() : kChunk) + kPartials - 1) / kPartials;
  static constexpr bool kCached = kShort && kGroups * Body::kInputs <= 16;  // 64 registers
  static constexpr int kUnroll = kCached ? kGroups : 4;

  __device__ __forceinline__ static int column_of(int chunk, int group) {
    return chunk * kChunk + group * kPartials + kOwned * team::lane();
  }
  __device__ __forceinline__ int first_chunk() const { return kShort ? 0 : team_; }

  /// visit(first column, inputs of four elements) for every four elements of this lane in the
  /// chunk.
  template <class Visit>
  __device__ __forceinline__ void each_group(int chunk, Visit visit) const {
#pragma unroll kUnroll
    for (int group = 0; group < kGroups; ++group) {
      const int column = column_of(chunk, group);
      if (!active_ || column >= Body::columns()) continue;
      if constexpr (kCached) {
        const Inputs inputs = cache_[group];  // else NVVM keeps the cache in memory from sm_100 on
        visit(column, inputs);
      } else {
        Inputs inputs;
        body_.load(row_, column, inputs);
        visit(column, inputs);
      }
    }
  }

  template <int kStage>
  __device__ __forceinline__ void reduce_stage() {
    constexpr int kFirst = Body::stage_begin(kStage);
    constexpr int kCount = Body::stage_begin(kStage + 1) - kFirst;
    __shared__ float results[kShort ? 1 : kCount][kShort ? 1 : kChunks];
    for (int start = 0; start < kChunks; start += kShort ? 1 : kTeams) {
      const int chunk = start + first_chunk();
      float partial[kCount][kOwned];
      accumulate<kStage>(chunk, partial);
#pragma unroll
      for (int r = 0; r < kCount; ++r) {
        const float result = team::halve(Body::reduction(kFirst + r), partial[r]);
        if constexpr (kShort) {
          reduced_[kFirst + r] = result;
        } else if (chunk < kChunks && team::lane() == 0) {
          results[r][chunk] = result;
        }
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
  __device__ __forceinline__ void accumulate(int chunk, float (&partial)[kCount][kOwned]) const {
    constexpr int kFirst = Body::stage_begin(kStage);
#pragma unroll
    for (int r = 0; r < kCount; ++r) {
#pragma unroll
      for (int i = 0; i < kOwned; ++i) partial[r][i] = identity(Body::reduction(kFirst + r));
    }
    each_group(chunk, [&](int column, const Inputs& inputs) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (column + i >= Body::columns()) continue;
        float terms[kCount];
        body_.template contribute<kStage>(uniforms_, reduced_, inputs, i, row_, column + i, terms);
#pragma unroll
        for (int r = 0; r < kCount; ++r)
          partial[r][i] = combine(Body::reduction(kFirst + r), partial[r][i], terms[r]);
      }
    });
  }

  const Body& body_;
  const int team_;
  const long long row_;
  const bool active_;
  typename Body::Uniforms uniforms_;
  float reduced_[Body::kReductions + Body::kRowValues + 1];  // no array is empty
  Inputs cache_[kCached ? kGroups : 1];
};

template <class Body, int kThreads>
__device__ __forceinline__ void run(const Body& body) {
  Worker<Body, kThreads> worker(body);
  worker.reduce();
  worker.store();
  if constexpr (Body::kFinish) {  // store_row left one term per row in the workspace
    if (!block::is_last(body.blocks_done)) return;
    const float sum = block::tree_sum<kThreads>(body.workspace, body.rows);  // N4
    if (threadIdx.x == 0) body.finish(sum);
  }
}

}  // namespace halftone::kernels::row
