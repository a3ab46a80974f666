// SPDX-License-Identifier: Apache-2.0
// One example's model trained under an artifact's rules: its loop is train_under(), in the file of
// the model; main() is worker.cpp's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <halftone/artifact.hpp>
#include <halftone/device.hpp>
#include <halftone/trainer.hpp>

struct Outcome {
  double value = 0;  ///< held out: a share that is right, or a loss
  halftone::Statistics statistics;
};

/// Trains as the example does, from the first weights and in the order of `seed`. `data` is a file
/// or a folder of the example's.
Outcome train_under(const halftone::Artifact& artifact, const halftone::Device& device,
                    std::uint64_t seed, const std::filesystem::path& data);
