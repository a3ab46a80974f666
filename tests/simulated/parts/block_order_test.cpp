// SPDX-License-Identifier: Apache-2.0
// In which order the blocks of a launch begin: each draws a ticket.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "run_ptx.hpp"

using namespace halftone::tests;

namespace {

/// out[block] = how many blocks drew a ticket before it.
std::vector<std::uint32_t> tickets(std::uint32_t blocks, std::uint64_t seed,
                                   std::uint32_t cluster = 1) {
  PtxKernel kernel;
  kernel.body =
      "atom.global.add.u32 %r0, [%in], 1;\nmul.wide.u32 %rd0, %rank, 4;\nadd.u64 %rd0, %rd0, "
      "%out;\nst.global.u32 [%rd0], %r0;";
  kernel.threads = 1;
  kernel.blocks = blocks;
  kernel.cluster = cluster;
  kernel.seed = seed;
  kernel.out_words = blocks;
  kernel.in = bytes_of_values<std::uint32_t>({0});
  PtxRun run = run_ptx(kernel);
  CHECK(run.text() == "");
  return run.out;
}

std::vector<std::uint32_t> ascending(std::uint32_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

}  // namespace

TEST_CASE("without a seed blocks run in ascending order") {
  CHECK(tickets(40, 0) == ascending(40));
}

TEST_CASE("a seed gives another order, the same each time, in which every block runs once") {
  for (const std::uint32_t blocks : {2u, 3u, 40u, 97u}) {
    CAPTURE(blocks);
    std::set<std::vector<std::uint32_t>> orders;
    for (std::uint64_t seed = 1; seed <= 16; ++seed) {
      std::vector<std::uint32_t> drawn = tickets(blocks, seed);
      CHECK(drawn == tickets(blocks, seed));
      orders.insert(drawn);
      std::ranges::sort(drawn);
      CHECK(drawn == ascending(blocks));
    }
    CHECK(orders.size() >= (blocks == 2 ? 2u : 3u));
    CHECK((blocks < 40 || !orders.contains(ascending(blocks))));
  }
}

TEST_CASE("the blocks of a cluster stay together in every order") {
  const std::vector<std::uint32_t> drawn = tickets(32, 3, 4);
  CHECK(drawn != ascending(32));
  for (std::uint32_t first = 0; first < 32; first += 4) {
    std::vector<std::uint32_t> of_cluster(drawn.begin() + first, drawn.begin() + first + 4);
    std::ranges::sort(of_cluster);
    CHECK(of_cluster.back() - of_cluster.front() == 3);
    CHECK(of_cluster.front() % 4 == 0);
  }
}
