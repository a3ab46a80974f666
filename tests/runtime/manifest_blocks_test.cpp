// SPDX-License-Identifier: Apache-2.0
// Manifests under a valid checksum whose kernels' blocks contradict themselves.
#include <doctest/doctest.h>

#include "line_artifact.hpp"
#include "manifest_failure.hpp"
#include "manifest_parts.hpp"

using namespace halftone::manifest;
using namespace manifest_parts;

TEST_CASE("blocks that break a law are refused with the kernel's name") {
  const BrokenManifest cases[] = {
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { m.kernels[1].blocking.stride = 16; }},  // of what is no contraction
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) {
         m.kernels[1].blocking.tiles = {{6, 16, 8}, {1, 4, 1}};
       }},  // one axis
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles.pop_back(); }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[0].rows = 0; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[1].columns = 1 << 20; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[0].lanes = 5; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[0].depth = 0; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[0].depth = 65; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.stride = -1; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.stride = 50; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.stride = 1 << 17; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[0].lanes = 13; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) {
         break_blocking(m, [](Blocking& b) { b.tiles[0].rows = b.tiles[0].lanes = 65; });
       }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.tiles[1].columns = 0; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [&](Blocking&) { m.kernels[1].tasks[1].tile = 2; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) {
                           b.depth = {{1, 7}};
                         }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.rhs = -2; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.lhs_neighbours = -1; }); }},
      {"kernel 'line_loss' has impossible blocks",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.rhs_neighbours = -1; }); }},
      {"kernel 'line_loss' packs no argument of its launch",
       [](Manifest& m) { break_blocking(m, [](Blocking& b) { b.rhs = 4; }); }},
  };
  check_refused(cases);
}
