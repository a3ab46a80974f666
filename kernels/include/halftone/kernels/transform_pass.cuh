// SPDX-License-Identifier: Apache-2.0
// Some of the stages of a transform (Z2), those from Body::kFirst to Body::kLast: of a sequence the
// first ones, of the spectrum that they leave the others. Such stages join places of one piece of
// the spectrum alone, and a block works on its pieces in shared memory: each place is read from
// memory once and written once, by as many blocks as there are pieces and channels for.
#pragma once

#include "halftone/kernels/transform.cuh"

namespace halftone::kernels {

namespace spectra {

/// Places which one stage joins, two, or two stages, four: the first, and from one to the next; the
/// turn of the first of those stages.
struct Joined {
  int turn, first, distance;
};

/// kPieces neighbouring pieces of one sequence, of kLanes channels: a piece has kSize places,
/// kDistance from one to the next. Inside of the block places have numbers of their own, piece by
/// piece.
template <class Body, int kThreads, int kLanes, int kPieces>
class Pass {
 public:
  static constexpr int kStages = Body::kLast - Body::kFirst;
  static constexpr int kSize = 1 << kStages;
  static constexpr int kDistance = Body::kPlaces >> Body::kLast;
  static constexpr int kPart = Body::kPlaces >> Body::kFirst;  // has kDistance pieces
  static constexpr int kAll = kPieces * kSize;
  static constexpr int kGroups = kThreads / kLanes;
  static constexpr bool kIsOdd = kStages % 2 == 1;
  static_assert(kStages >= 5 && kThreads % kLanes == 0 && kChannels % kLanes == 0,
                "slots of shared memory are of different banks from 32 places on");

  __device__ __forceinline__ Pass(const Body& body, float* memory)
      : body_(body),
        group_(static_cast<int>(threadIdx.x) / kLanes),
        task_(static_cast<long long>(blockIdx.x / kBlocksOfTask)) {
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    const int block = static_cast<int>(blockIdx.x % kBlocksOfTask);
    memory_ = memory + lane;
    channel_ = block % kSplits * kLanes + lane;
    first_piece_ = block / kSplits * kPieces;
    first_row_ = task_ / kBlocksOfChannels * Body::kLength;
    column_ = static_cast<int>(task_ % kBlocksOfChannels) * kChannels + channel_;
  }

  /// For each two, or four, that the thread has. Stages count from the pass's first one.
  template <int kJoined, class Visit>
  __device__ __forceinline__ void each(int stage, const Visit& visit) const {
    constexpr int kLog = kJoined == 4 ? 2 : 1, kOfPiece = kSize / kJoined;
    const int log_distance = kStages - kLog - stage;
    for (int item = group_; item < kAll / kJoined; item += kGroups) {
      const int piece = item / kOfPiece, j = item % kOfPiece;
      const int part = j >> log_distance, distance = 1 << log_distance;
      const int of_whole = (1 << Body::kFirst) + (first_piece_ + piece) / kDistance;
      visit(Joined{(of_whole << stage) + part,
                   piece * kSize + (part << (log_distance + kLog)) + (j & (distance - 1)),
                   distance});
    }
  }

  /// What the body has for a place, +0 behind the sequence.
  __device__ __forceinline__ Complex read(int number) const {
    const int place = place_of(number);
    if constexpr (Body::kReadsSequence) {
      const bool is_inside = place < Body::kLength && column_ < Body::kChannels;
      return {is_inside ? element(body_, first_row_ + place, column_) : 0.0f, 0.0f};
    } else {
      const long long row = 2 * (task_ * Body::kPlaces + place);
      return {element(body_, row, channel_), element(body_, row + 1, channel_)};
    }
  }
  __device__ __forceinline__ void write(int number, Complex value) const {
    const int place = place_of(number);
    if constexpr (Body::kWritesSequence) {
      constexpr float kScale = 1.0f / static_cast<float>(Body::kPlaces);
      if (place < Body::kLength && column_ < Body::kChannels)
        body_.result0[(first_row_ + place) * Body::kChannels + column_] = value.real * kScale;
    } else {
      float* const at = body_.result0 + (task_ * Body::kPlaces + place) * (2 * kChannels);
      at[channel_] = value.real;
      at[kChannels + channel_] = value.imaginary;
    }
  }

  /// Of the other spectrum.
  __device__ __forceinline__ Complex factor(int number) const {
    const long long first = (task_ % kBlocksOfChannels * Body::kPlaces + place_of(number)) *
                            static_cast<long long>(2 * kChannels);
    return {body_.factor[first + channel_], body_.factor[first + kChannels + channel_]};
  }

  __device__ __forceinline__ Complex load(int number) const {
    const float* const at = memory_ + slot(number) * kLanes;
    return {at[0], at[kAll * kLanes]};
  }
  __device__ __forceinline__ void store(int number, Complex value) const {
    float* const at = memory_ + slot(number) * kLanes;
    at[0] = value.real;
    at[kAll * kLanes] = value.imaginary;
  }

 private:
  static constexpr int kSplits = kChannels / kLanes;
  static constexpr int kBlocksOfTask = Body::kPlaces / kAll * kSplits;
  static constexpr int kBlocksOfChannels = (Body::kChannels + kChannels - 1) / kChannels;

  /// In memory.
  __device__ __forceinline__ int place_of(int number) const {
    const int piece = first_piece_ + number / kSize;
    return piece / kDistance * kPart + number % kSize * kDistance + piece % kDistance;
  }
  /// Eight places, neighbours or four from one another, lie in slots of different banks.
  static __device__ __forceinline__ int slot(int number) { return number ^ (number >> 2 & 7); }

  const Body& body_;
  int group_;
  long long task_;
  float* memory_;
  int channel_, first_piece_;  // of the block of channels; of the spectrum
  long long first_row_;
  int column_;  // of the sequence
};

/// Turn 2 m + 1 is turn 2 m and a quarter, to the bit (Z1).
__device__ __forceinline__ Complex quarter_on(Complex turn) { return {-turn.imaginary, turn.real}; }

/// Two stages of four places which they join; of real numbers the first one is of such.
template <bool kReal, class Body>
__device__ __forceinline__ void spread_four(Complex (&places)[4], const Body& body, int number) {
  const Complex first = turn(body, number);
  if constexpr (kReal) {
    spread_real(places[0], places[2], first);
    spread_real(places[1], places[3], first);
  } else {
    spread(places[0], places[2], first);
    spread(places[1], places[3], first);
  }
  const Complex second = turn(body, 2 * number);
  spread(places[0], places[1], second);
  spread(places[2], places[3], quarter_on(second));
}
template <class Body>
__device__ __forceinline__ void gather_four(Complex (&places)[4], const Body& body, int number) {
  const Complex second = turn(body, 2 * number);
  gather(places[0], places[1], second);
  gather(places[2], places[3], quarter_on(second));
  const Complex first = turn(body, number);
  gather(places[0], places[2], first);
  gather(places[1], places[3], first);
}

/// `move(place, number)` for each of the four.
template <class Move>
__device__ __forceinline__ void each_of(const Joined& four, Complex (&places)[4],
                                        const Move& move) {
#pragma unroll
  for (int i = 0; i < 4; ++i) move(places[i], four.first + i * four.distance);
}

/// All stages but the last two, from memory to shared memory, where the next barrier shows them.
template <class Body, class Of>
__device__ __forceinline__ void spread_to_last(const Body& body, const Of& pass) {
  const auto read = [&](Complex& place, int number) { place = pass.read(number); };
  const auto load = [&](Complex& place, int number) { place = pass.load(number); };
  const auto store = [&](const Complex& place, int number) { pass.store(number, place); };
  if constexpr (Of::kIsOdd) {
    pass.template each<2>(0, [&](const Joined& two) {
      Complex lower = pass.read(two.first), upper = pass.read(two.first + two.distance);
      if constexpr (Body::kReadsSequence)
        spread_real(lower, upper, turn(body, two.turn));
      else
        spread(lower, upper, turn(body, two.turn));
      pass.store(two.first, lower);
      pass.store(two.first + two.distance, upper);
    });
  }
#pragma unroll
  for (int stage = Of::kIsOdd ? 1 : 0; stage < Of::kStages - 2; stage += 2) {
    if (stage > 0) __syncthreads();
    pass.template each<4>(stage, [&](const Joined& four) {
      Complex places[4];
      if (stage == 0) {
        each_of(four, places, read);
        spread_four<Body::kReadsSequence>(places, body, four.turn);
      } else {
        each_of(four, places, load);
        spread_four<false>(places, body, four.turn);
      }
      each_of(four, places, store);
    });
  }
}

/// All stages but the last two undone, from shared memory, behind a barrier, to memory.
template <class Body, class Of>
__device__ __forceinline__ void gather_from_last(const Body& body, const Of& pass) {
  const auto load = [&](Complex& place, int number) { place = pass.load(number); };
  const auto store = [&](const Complex& place, int number) { pass.store(number, place); };
  const auto write = [&](const Complex& place, int number) { pass.write(number, place); };
#pragma unroll
  for (int stage = Of::kStages - 4; stage >= 0; stage -= 2) {
    __syncthreads();
    pass.template each<4>(stage, [&](const Joined& four) {
      Complex places[4];
      each_of(four, places, load);
      gather_four(places, body, four.turn);
      if (stage == 0)
        each_of(four, places, write);
      else
        each_of(four, places, store);
    });
  }
  if constexpr (Of::kIsOdd) {
    __syncthreads();
    pass.template each<2>(0, [&](const Joined& two) {
      Complex lower = pass.load(two.first), upper = pass.load(two.first + two.distance);
      gather(lower, upper, turn(body, two.turn));
      pass.write(two.first, lower);
      pass.write(two.first + two.distance, upper);
    });
  }
}

}  // namespace spectra

namespace transform_pass {

template <class Body, int kThreads, int kLanes, int kPieces>
__device__ __forceinline__ void run(const Body& body) {
  using namespace spectra;
  using Of = Pass<Body, kThreads, kLanes, kPieces>;
  extern __shared__ __align__(16) unsigned char storage[];
  const Of pass(body, reinterpret_cast<float*>(storage));
  spread_to_last(body, pass);
  __syncthreads();
  pass.template each<4>(Of::kStages - 2, [&](const Joined& four) {
    Complex places[4];
    each_of(four, places, [&](Complex& place, int number) { place = pass.load(number); });
    spread_four<false>(places, body, four.turn);
    each_of(four, places, [&](const Complex& place, int number) { pass.write(number, place); });
  });
}

}  // namespace transform_pass

}  // namespace halftone::kernels
