// SPDX-License-Identifier: Apache-2.0
// What a launch did, counted exactly. Nothing here is an estimate of time.
#pragma once

#include <cstdint>

namespace halftone::simulator {

/// Sums over all blocks of a launch. Wavefronts and sectors are counted when
/// LaunchOptions::traffic.
struct Counters {
  std::uint64_t thread_instructions = 0;  ///< guard predicates respected
  std::uint64_t warp_instructions = 0;
  std::uint64_t tensor_operations = 0;  ///< multiplications and additions of mma and wgmma

  /// Passes through shared memory: 32 banks of 4 bytes, accesses of 8 and 16 bytes in phases of 16
  /// and 8 lanes; in each phase the largest number of different words that one bank is asked for.
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t shared_wavefronts_ideal = 0;  ///< one for each phase

  /// Different 32-byte sectors of global memory, for each warp instruction.
  std::uint64_t global_sectors = 0;
  std::uint64_t global_sectors_ideal = 0;  ///< the different bytes asked for, over 32, rounded up

  std::uint64_t global_bytes_read = 0;     ///< as asked for by the lanes, repeats included
  std::uint64_t global_bytes_written = 0;  ///< atomics count as read and written
  std::uint64_t shared_bytes_read = 0;
  std::uint64_t shared_bytes_written = 0;
  std::uint64_t barriers = 0;  ///< completed barriers of a block
  std::uint64_t atomics = 0;   ///< lanes that executed one

  Counters& operator+=(const Counters& other) {
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
};

}  // namespace halftone::simulator
