// SPDX-License-Identifier: Apache-2.0
#include "halftone/simulator/counters.hpp"

namespace halftone::simulator {

Counters& Counters::operator+=(const Counters& other) {
  thread_instructions += other.thread_instructions;
  warp_instructions += other.warp_instructions;
  tensor_operations += other.tensor_operations;
  shared_wavefronts += other.shared_wavefronts;
  shared_wavefronts_ideal += other.shared_wavefronts_ideal;
  global_sectors += other.global_sectors;
  global_sectors_ideal += other.global_sectors_ideal;
  global_bytes_read += other.global_bytes_read;
  global_bytes_written += other.global_bytes_written;
  shared_bytes_read += other.shared_bytes_read;
  shared_bytes_written += other.shared_bytes_written;
  barriers += other.barriers;
  atomics += other.atomics;
  return *this;
}

}  // namespace halftone::simulator
