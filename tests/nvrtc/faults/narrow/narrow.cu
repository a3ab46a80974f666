// SPDX-License-Identifier: Apache-2.0
// Four elements of each thread, read one by one.
namespace halftone::kernels::pointwise {
template <class Body, int kThreads>
__device__ void run(const Body& body) {
  typename Body::template Inputs<4> inputs;
  for (int i = 0; i < 4; ++i) inputs.input0[i] = body.input0[8 * threadIdx.x + 2 * i];
  for (int i = 0; i < 4; ++i) body.result0[4 * threadIdx.x + i] = Body::compute(inputs, i);
}
}  // namespace halftone::kernels::pointwise

struct Body {
  const float* input0;
  float* result0;

  __device__ static constexpr int columns() { return 64; }

  template <int kWidth>
  struct Inputs {
    float input0[kWidth];
  };
  template <int kWidth>
  __device__ static float compute(const Inputs<kWidth>& inputs, int i) {
    return inputs.input0[i];
  }
};

extern "C" __global__ void halftone_narrow(const float* input0, float* result0) {
  Body body;
  body.input0 = input0;
  body.result0 = result0;
  halftone::kernels::pointwise::run<Body, 256>(body);
}
