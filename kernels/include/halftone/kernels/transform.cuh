// SPDX-License-Identifier: Apache-2.0
// Transform kernels: the spectrum of every channel of a sequence (Z2). A block has 16 channels of
// one sequence. Two stages of butterflies are one pass over the spectrum where it lies in memory,
// and a barrier stands between two passes; no two threads write one place of one channel.
#pragma once

#include "halftone/kernels/load_store.cuh"

namespace halftone::kernels {

namespace spectra {

inline constexpr int kChannels = 16;  // of a block, as they are neighbours in memory

struct Complex {
  float real, imaginary;
};

/// Of one channel, 16 floats apart in parts and 32 in places.
class Channel {
 public:
  __device__ __forceinline__ Channel(float* memory, int channel) : memory_(memory + channel) {}

  __device__ __forceinline__ Complex load(int place) const {
    const float* const at = memory_ + static_cast<long long>(place) * (2 * kChannels);
    return {at[0], at[kChannels]};
  }
  __device__ __forceinline__ void store(int place, Complex value) const {
    float* const at = memory_ + static_cast<long long>(place) * (2 * kChannels);
    at[0] = value.real;
    at[kChannels] = value.imaginary;
  }

 private:
  float* memory_;
};

/// Row 0 has cosines, row 1 sines.
template <class Body>
__device__ __forceinline__ Complex turn(const Body& body, int number) {
  return {body.turns[number], body.turns[Body::kPlaces + number]};
}

__device__ __forceinline__ void spread(Complex& lower, Complex& upper, Complex turn) {
  const Complex t = {__fmaf_rn(-turn.imaginary, upper.imaginary, turn.real * upper.real),
                     __fmaf_rn(turn.real, upper.imaginary, turn.imaginary * upper.real)};
  upper = {lower.real - t.real, lower.imaginary - t.imaginary};
  lower = {lower.real + t.real, lower.imaginary + t.imaginary};
}

/// Of the first stage, where imaginary parts are zero.
__device__ __forceinline__ void spread_real(Complex& lower, Complex& upper, Complex turn) {
  const Complex t = {turn.real * upper.real, turn.imaginary * upper.real};
  upper = {lower.real - t.real, -t.imaginary};
  lower = {lower.real + t.real, t.imaginary};
}

__device__ __forceinline__ void gather(Complex& lower, Complex& upper, Complex turn) {
  const Complex d = {lower.real - upper.real, lower.imaginary - upper.imaginary};
  lower = {lower.real + upper.real, lower.imaginary + upper.imaginary};
  upper = {__fmaf_rn(turn.imaginary, d.imaginary, turn.real * d.real),
           __fmaf_rn(-turn.imaginary, d.real, turn.real * d.imaginary)};
}

/// Four places that two stages from `stage` of 2^kStages places join, the j-th such four.
template <int kStages>
struct Four {
  int turn, first, distance;  // the first stage's turn; the first place, and from one to the next

  __device__ __forceinline__ Four(int stage, int j) {
    const int log_distance = kStages - 2 - stage;
    const int part = j >> log_distance;
    distance = 1 << log_distance;
    turn = (1 << stage) + part;
    first = (part << (log_distance + 2)) + (j & (distance - 1));
  }
};

/// The body's value for one element.
template <class Body>
__device__ __forceinline__ float element(const Body& body, long long row, int column) {
  typename Body::Uniforms uniforms;
  typename Body::template Inputs<1> inputs;
  typename Body::template Outputs<1> outputs;
  float terms[1];
  body.load(row, uniforms);
  body.load(row, column, inputs);
  body.compute(uniforms, inputs, 0, row, column, outputs, terms);
  return terms[0];
}

/// A block's sequence and channels, and a thread's among them.
template <class Body>
struct Task {
  static constexpr int kBlocks = (Body::kChannels + kChannels - 1) / kChannels;
  static constexpr bool kIsOdd = Body::kStages % 2 == 1;
  // The first stages of a transform, or the last ones of its inverse, go over the whole spectrum in
  // two parts, or four, which leaves pairs of stages.
  static constexpr int kParts = kIsOdd ? 2 : 4;
  static constexpr int kPart = Body::kPlaces / kParts;  // places
  static constexpr int kDone = kIsOdd ? 1 : 2;          // stages

  int channel, group;  // of the thread
  long long task, first_row;
  int column;

  __device__ __forceinline__ Task()
      : channel(static_cast<int>(threadIdx.x) % kChannels),
        group(static_cast<int>(threadIdx.x) / kChannels),
        task(static_cast<long long>(blockIdx.x)),
        first_row(task / kBlocks * Body::kLength),
        column(static_cast<int>(task % kBlocks) * kChannels + channel) {}

  __device__ __forceinline__ float* memory(float* spectra) const {
    return spectra + task * (2LL * kChannels * Body::kPlaces);
  }
};

}  // namespace spectra

namespace transform {

template <class Body, int kThreads>
__device__ __forceinline__ void run(const Body& body) {
  using namespace spectra;
  using Of = Task<Body>;
  constexpr int kGroups = kThreads / kChannels;
  const Of task;
  const Channel channel(task.memory(body.result0), task.channel);
  const auto read = [&](int place) -> Complex {
    const bool is_inside = place < Body::kLength && task.column < Body::kChannels;
    return {is_inside ? element(body, task.first_row + place, task.column) : 0.0f, 0.0f};
  };
  for (int j = task.group; j < Of::kPart; j += kGroups) {
    Complex parts[Of::kParts];
#pragma unroll
    for (int i = 0; i < Of::kParts; ++i) parts[i] = read(i * Of::kPart + j);
#pragma unroll
    for (int i = 0; i < Of::kParts / 2; ++i)
      spread_real(parts[i], parts[i + Of::kParts / 2], turn(body, 1));
    if constexpr (!Of::kIsOdd) {
      spread(parts[0], parts[1], turn(body, 2));
      spread(parts[2], parts[3], turn(body, 3));
    }
#pragma unroll
    for (int i = 0; i < Of::kParts; ++i) channel.store(i * Of::kPart + j, parts[i]);
  }
  for (int stage = Of::kDone; stage < Body::kStages; stage += 2) {
    __syncthreads();
    for (int j = task.group; j < Body::kPlaces / 4; j += kGroups) {
      const Four<Body::kStages> four(stage, j);
      Complex places[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) places[i] = channel.load(four.first + i * four.distance);
      const Complex first = turn(body, four.turn);
      spread(places[0], places[2], first);
      spread(places[1], places[3], first);
      spread(places[0], places[1], turn(body, 2 * four.turn));
      spread(places[2], places[3], turn(body, 2 * four.turn + 1));
#pragma unroll
      for (int i = 0; i < 4; ++i) channel.store(four.first + i * four.distance, places[i]);
    }
  }
}

}  // namespace transform

}  // namespace halftone::kernels
