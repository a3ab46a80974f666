// SPDX-License-Identifier: Apache-2.0
// Some of the stages of an inverse transform (Z3), as transform_pass.cuh's the other way round: the
// body gives the elements of a spectrum, and what is left is a spectrum or, behind the first stage,
// the sequence.
#pragma once

#include "halftone/kernels/transform_pass.cuh"

namespace halftone::kernels::inverse_transform_pass {

template <class Body, int kThreads, int kLanes, int kPieces>
__device__ __forceinline__ void run(const Body& body) {
  using namespace spectra;
  using Of = Pass<Body, kThreads, kLanes, kPieces>;
  extern __shared__ __align__(16) unsigned char storage[];
  const Of pass(body, reinterpret_cast<float*>(storage));
  pass.template each<4>(Of::kStages - 2, [&](const Joined& four) {
    Complex places[4];
    each_of(four, places, [&](Complex& place, int number) { place = pass.read(number); });
    gather_four(places, body, four.turn);
    each_of(four, places, [&](const Complex& place, int number) { pass.store(number, place); });
  });
  gather_from_last(body, pass);
}

}  // namespace halftone::kernels::inverse_transform_pass
