// SPDX-License-Identifier: Apache-2.0
// Inverse transform kernels: the first places of the sequence that has a spectrum (Z3), as the
// kernels of transform.cuh the other way round. The body gives the elements of the spectrum; they
// are worked on in the second result.
#pragma once

#include "halftone/kernels/transform.cuh"

namespace halftone::kernels::inverse_transform {

template <class Body, int kThreads>
__device__ __forceinline__ void run(const Body& body) {
  using namespace spectra;
  using Of = Task<Body>;
  constexpr int kGroups = kThreads / kChannels;
  constexpr bool kIsShort = Of::kPart == 1;
  constexpr float kScale = 1.0f / static_cast<float>(Body::kPlaces);
  const Of task;
  const Channel channel(task.memory(body.result1), task.channel);
  const auto read = [&](int place) -> Complex {
    const long long row = 2 * (task.task * Body::kPlaces + place);
    return {element(body, row, task.channel), element(body, row + 1, task.channel)};
  };
  for (int stage = Body::kStages - 2; stage >= Of::kDone; stage -= 2) {
    const bool is_first = stage == Body::kStages - 2;
    for (int j = task.group; j < Body::kPlaces / 4; j += kGroups) {
      const Four<Body::kStages> four(stage, j);
      Complex places[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int place = four.first + i * four.distance;
        places[i] = is_first ? read(place) : channel.load(place);
      }
      gather(places[0], places[1], turn(body, 2 * four.turn));
      gather(places[2], places[3], turn(body, 2 * four.turn + 1));
      const Complex first = turn(body, four.turn);
      gather(places[0], places[2], first);
      gather(places[1], places[3], first);
#pragma unroll
      for (int i = 0; i < 4; ++i) channel.store(four.first + i * four.distance, places[i]);
    }
    __syncthreads();
  }
  for (int j = task.group; j < Of::kPart; j += kGroups) {
    Complex parts[Of::kParts];
#pragma unroll
    for (int i = 0; i < Of::kParts; ++i) {
      const int place = i * Of::kPart + j;
      parts[i] = kIsShort ? read(place) : channel.load(place);
    }
    if constexpr (!Of::kIsOdd) {
      gather(parts[0], parts[1], turn(body, 2));
      gather(parts[2], parts[3], turn(body, 3));
    }
#pragma unroll
    for (int i = 0; i < Of::kParts / 2; ++i)
      gather(parts[i], parts[i + Of::kParts / 2], turn(body, 1));
    if (task.column >= Body::kChannels) continue;
#pragma unroll
    for (int i = 0; i < Of::kParts; ++i) {
      const int place = i * Of::kPart + j;
      if (place < Body::kLength)
        body.result0[(task.first_row + place) * Body::kChannels + task.column] =
            parts[i].real * kScale;
    }
  }
}

}  // namespace halftone::kernels::inverse_transform
