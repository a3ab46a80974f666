// SPDX-License-Identifier: Apache-2.0
// The device of tests that run twice: on the CPU, and where LINE_ON_DRIVER is defined on the fake
// driver, whose kernels are the same functions.
#pragma once

#include "halftone/device.hpp"
#ifdef LINE_ON_DRIVER
#include "fake_driver.hpp"
#endif

inline halftone::Device test_device(int threads = 2) {
#ifdef LINE_ON_DRIVER
  return fake::device().with_threads(threads);
#else
  return halftone::Device::cpu().with_threads(threads);
#endif
}
