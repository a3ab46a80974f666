// SPDX-License-Identifier: Apache-2.0
// Row kernels over rows whose length is known when they run, by the same trees as row.cuh. A block
// has a row for each of its teams of eight lanes. Rows of at most 1024 columns are computed side by
// side, each by its team; longer ones one after another, chunk after chunk to each of the teams.
// Every stage loads its operands.
#pragma once

#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/reduce.cuh"

namespace halftone::kernels::dynamic_row {

/// Which row a thread works on and which of its chunks: first, first + step, ... below `end`.
struct Share {
  long long row;
  int first, step, end;
  bool active;     ///< whether there is such a row
  bool is_shared;  ///< whether all teams of the block work on it
};

template <class Body, int kThreads>
class Worker {
  using Inputs = typename Body::template Inputs<4>;

 public:
  static constexpr int kTeams = kThreads / kTeam;
  static_assert(kPartials % kTeams == 0,
                "a block has 1, 2, 4, ... 32 teams, so that each partial of a long row has one");

  __device__ __forceinline__ Worker(const Body& body, const Share& share)
      : body_(body), share_(share) {
    if (share_.active) body_.load(share_.row, uniforms_);
    if (share_.active) body_.template derive<0>(uniforms_, reduced_);
  }

  /// Stage after stage of reductions; every thread of the block must call.
  template <int kStage = 0>
  __device__ __forceinline__ void reduce() {
    if constexpr (kStage < Body::kStages) {
      reduce_stage<kStage>();
      if (share_.active) body_.template derive<kStage + 1>(uniforms_, reduced_);
      reduce<kStage + 1>();
    }
  }

  __device__ __forceinline__ void store() const {
    for (int chunk = share_.first; chunk < share_.end; chunk += share_.step) {
      each_group(chunk, [&](int column, const Inputs& inputs) {
        typename Body::template Outputs<4> outputs;
#pragma unroll
        for (int i = 0; i < 4; ++i)
          body_.compute(uniforms_, reduced_, inputs, i, share_.row, column + i, outputs);
        body_.store(share_.row, column, outputs);
      });
    }
    if (share_.active && share_.first == 0 && team::lane() == 0)
      body_.store_row(uniforms_, reduced_, share_.row);
  }

 private:
  /// visit(first column, inputs of four elements) for every four elements of this lane in the
  /// chunk; for none where the row has no such chunk.
  template <class Visit>
  __device__ __forceinline__ void each_group(int chunk, Visit visit) const {
    const int first = chunk * kChunk + kOwned * team::lane();
    const int end = share_.active ? min(body_.columns(), (chunk + 1) * kChunk) : 0;
#pragma unroll 4
    for (int column = first; column < end; column += kPartials) {
      Inputs inputs;
      body_.load(share_.row, column, inputs);
      visit(column, inputs);
    }
  }

  /// Batches of 1024 chunks: a row of up to 2^20 columns has one.
  template <int kStage>
  __device__ __forceinline__ void reduce_stage() {
    constexpr int kFirst = Body::stage_begin(kStage);
    constexpr int kCount = Body::stage_begin(kStage + 1) - kFirst;
    __shared__ float partials[kCount][kPartials];  // of the batch's chunks, each one team's
    float top[kCount][kOwned];                     // of the batches
    clear<kStage>(top);
    for (int batch = 0; batch < share_.end; batch += kChunk) {
      if (share_.is_shared) {
        clear<kStage>(partials);
        __syncthreads();
      }
      // All lanes of a warp take as many turns, since they fold together.
      for (int start = batch; start < min(share_.end, batch + kChunk); start += share_.step) {
        const int chunk = start + share_.first;
        float partial[kCount][kOwned];
        accumulate<kStage>(chunk, partial);
#pragma unroll
        for (int r = 0; r < kCount; ++r) {
          const float result = team::halve(Body::reduction(kFirst + r), partial[r]);
          if (!share_.is_shared) {
            reduced_[kFirst + r] = result;
          } else if (chunk < share_.end && team::lane() == 0) {
            float& taken = partials[r][chunk % kPartials];
            taken = combine(Body::reduction(kFirst + r), taken, result);
          }
        }
      }
      if (share_.is_shared) take_batch<kStage>(batch / kChunk, partials, top);
    }
    if (share_.is_shared) {
#pragma unroll
      for (int r = 0; r < kCount; ++r)
        reduced_[kFirst + r] = team::halve(Body::reduction(kFirst + r), top[r]);
    }
  }

  template <int kStage, int kCount>
  __device__ __forceinline__ static void clear(float (&values)[kCount][kOwned]) {
#pragma unroll
    for (int r = 0; r < kCount; ++r) {
#pragma unroll
      for (int i = 0; i < kOwned; ++i)
        values[r][i] = identity(Body::reduction(Body::stage_begin(kStage) + r));
    }
  }
  template <int kStage, int kCount>
  __device__ __forceinline__ static void clear(float (&shared)[kCount][kPartials]) {
#pragma unroll
    for (int r = 0; r < kCount; ++r) {
      if (threadIdx.x < kPartials)
        shared[r][threadIdx.x] = identity(Body::reduction(Body::stage_begin(kStage) + r));
    }
  }

  /// Folds the partials of a batch of chunks and adds what they give to those of the batches.
  template <int kStage, int kCount>
  __device__ __forceinline__ static void take_batch(int batch,
                                                    const float (&partials)[kCount][kPartials],
                                                    float (&top)[kCount][kOwned]) {
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kCount; ++r) {
      const Reduction reduction = Body::reduction(Body::stage_begin(kStage) + r);
      float partial[kOwned];
#pragma unroll
      for (int i = 0; i < kOwned; ++i) partial[i] = partials[r][kOwned * team::lane() + i];
      const float result = team::halve(reduction, partial);
#pragma unroll
      for (int i = 0; i < kOwned; ++i) {
        if (batch % kPartials == kOwned * team::lane() + i)
          top[r][i] = combine(reduction, top[r][i], result);
      }
    }
    __syncthreads();
  }

  template <int kStage, int kCount>
  __device__ __forceinline__ void accumulate(int chunk, float (&partial)[kCount][kOwned]) const {
    constexpr int kFirst = Body::stage_begin(kStage);
    clear<kStage>(partial);
    each_group(chunk, [&](int column, const Inputs& inputs) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (column + i >= body_.columns()) continue;
        float terms[kCount];
        body_.template contribute<kStage>(uniforms_, reduced_, inputs, i, share_.row, column + i,
                                          terms);
#pragma unroll
        for (int r = 0; r < kCount; ++r)
          partial[r][i] = combine(Body::reduction(kFirst + r), partial[r][i], terms[r]);
      }
    });
  }

  const Body& body_;
  const Share share_;
  typename Body::Uniforms uniforms_;
  float reduced_[Body::kReductions + Body::kRowValues + 1];  // no array is empty
};

template <class Body, int kThreads>
__device__ __forceinline__ void run(const Body& body) {
  constexpr int kRows = kThreads / kTeam;
  const int team = static_cast<int>(threadIdx.x) / kTeam;
  const int chunks = (body.columns() + kChunk - 1) / kChunk;
  const bool is_shared = chunks > 1;
  const long long first = static_cast<long long>(blockIdx.x) * kRows;
#pragma unroll 1
  for (int i = 0; i < (is_shared ? kRows : 1); ++i) {
    const long long row = first + (is_shared ? i : team);
    if (is_shared && row >= body.rows) break;
    Worker<Body, kThreads> worker(body, {row, is_shared ? team : 0, is_shared ? kRows : 1, chunks,
                                         row < body.rows, is_shared});
    worker.reduce();
    worker.store();
  }
  if constexpr (Body::kFinish) {  // store_row left one term per row in the workspace
    if (!block::is_last(body.blocks_done)) return;
    const float sum = block::tree_sum<kThreads>(body.workspace, body.rows);  // N4
    if (threadIdx.x == 0) body.finish(sum);
  }
}

}  // namespace halftone::kernels::dynamic_row
