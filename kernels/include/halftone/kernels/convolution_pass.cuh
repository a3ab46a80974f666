// SPDX-License-Identifier: Apache-2.0
// The last stages of a transform, a product with another spectrum or its conjugate (Z4), and the
// same stages undone: what passes of transform_pass.cuh and inverse_transform_pass.cuh would read
// and write between them stays in shared memory. Without other stages it is the whole convolution.
#pragma once

#include "halftone/kernels/transform_pass.cuh"

namespace halftone::kernels::convolution_pass {

/// kConjugates: of the second.
template <bool kConjugates>
__device__ __forceinline__ spectra::Complex product(spectra::Complex z, spectra::Complex w) {
  const float real = z.imaginary * w.imaginary, imaginary = z.real * w.imaginary;
  return {__fmaf_rn(z.real, w.real, kConjugates ? real : -real),
          __fmaf_rn(z.imaginary, w.real, kConjugates ? -imaginary : imaginary)};
}

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
    each_of(four, places, [&](Complex& place, int number) {
      place = product<Body::kConjugates>(place, pass.factor(number));
    });
    gather_four(places, body, four.turn);
    each_of(four, places, [&](const Complex& place, int number) { pass.store(number, place); });
  });
  gather_from_last(body, pass);
}

}  // namespace halftone::kernels::convolution_pass
