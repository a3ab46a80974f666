// SPDX-License-Identifier: Apache-2.0
// ARTIFACT.so SEED DATA: one line of JSON, for compare.py.
#include "worker.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

int main(int count, char** values) {
  if (count != 4) {
    std::fputs("ARTIFACT.so SEED DATA: what to train, from which seed, on what\n", stderr);
    return 2;
  }
  try {
    const auto [value, statistics] =
        train_under(halftone::Artifact::load(values[1]), halftone::Device::cpu(),
                    std::strtoull(values[2], nullptr, 10), values[3]);
    const std::string number = std::isfinite(value) ? std::to_string(value) : "null";
    std::printf("{\"value\": %s, \"steps\": %lld, \"skipped\": %lld, \"variant\": \"%s\"}\n",
                number.c_str(), static_cast<long long>(statistics.steps),
                static_cast<long long>(statistics.skipped_steps), statistics.variant.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
