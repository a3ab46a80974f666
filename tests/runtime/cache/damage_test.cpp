// SPDX-License-Identifier: Apache-2.0
// Damage on disk, met by the whole cache: the kernel is compiled again, and stored sound.
#include <doctest/doctest.h>

#include "../files/faulty_calls.hpp"
#include "kernels.hpp"
#include "../files/scratch_folder.hpp"

namespace halftone::tests {
namespace {

struct Tally {
  int tried = 0, detected = 0, mended = 0;
};

/// The cache of a process that finds these bytes at the entry's place.
void meet(const ScratchFolder& scratch, const std::string& bytes, Tally& tally) {
  write_file(scratch / name_of(1), bytes);
  FaultyCalls calls;  // none fails, but nothing waits for a disk
  KernelCache cache(settings_for(scratch.path()), calls);
  int made = 0;
  const bool right = ask(cache, 1, made) == image_of(1);
  ++tally.tried;
  tally.detected += right && made == 1 && cache.statistics().missed() == 1;
  tally.mended += bytes_of_file(scratch / name_of(1)) == entry_of(1);
}

}  // namespace

TEST_CASE("every flip of a bit in a file is met by compiling again") {
  const ScratchFolder scratch;
  const std::string sound = entry_of(1);
  Tally tally;
  for (std::size_t bit = 0; bit < 8 * sound.size(); ++bit) {
    std::string bytes = sound;
    bytes[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    meet(scratch, bytes, tally);
  }
  CHECK(tally.tried == static_cast<int>(8 * sound.size()));
  CHECK(tally.detected == tally.tried);
  CHECK(tally.mended == tally.tried);
  MESSAGE("files: flips tried " << tally.tried << ", survived " << tally.detected);
}

TEST_CASE("every truncation of a file is met by compiling again") {
  const ScratchFolder scratch;
  const std::string sound = entry_of(1);
  Tally tally;
  for (std::size_t length = 0; length < sound.size(); ++length) {
    meet(scratch, sound.substr(0, length), tally);
  }
  meet(scratch, sound + '\0', tally);
  meet(scratch, sound + sound, tally);
  CHECK(tally.tried == static_cast<int>(sound.size() + 2));
  CHECK(tally.detected == tally.tried);
  CHECK(tally.mended == tally.tried);
  MESSAGE("files: truncations and extensions tried " << tally.tried << ", survived "
                                                     << tally.detected);
}

}  // namespace halftone::tests
