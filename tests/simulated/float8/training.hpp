// SPDX-License-Identifier: Apache-2.0
// Whole steps of products in blocks on a simulated chip beside the CPU's, of an artifact with the
// inputs and weights of blocks.halftone, or others of their names, whose blocks differ in size.
#pragma once

#include <span>
#include <string_view>

#include "products.hpp"

namespace halftone::tests {

/// The chip, how many rows x has, and columns of x and one.weight, and of two.weight.
struct Trained {
  const char* chip = "sm_120a";
  long long batch = 36;
  std::size_t of_one = 112, of_two = 200;
};

/// That three steps, of which the second has an infinite input and is skipped, go as the CPU's: of
/// what parameters moved they are off by little where all digits of sums are kept, and by less than
/// `share` where they are cut. The texts of so many kernels hold `run`.
void check_training(const char* artifact, std::string_view run, int kernels, double share,
                    const Trained& trained = {});

/// That every fault of kernels whose texts hold `run` is seen in a step.
void check_faults(const char* artifact, std::string_view run, std::span<const Mutant> mutants,
                  const Trained& trained = {});

}  // namespace halftone::tests
