// SPDX-License-Identifier: Apache-2.0
// What the runs came to: for people, and as JSON.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "training.hpp"

/// Over the runs of all seeds. Throughput is that of the fastest run; kernels and bytes are equal
/// in all.
struct Summary {
  std::string rules;
  std::string device;
  std::size_t runs = 0;
  double accuracy = 0.0;         ///< mean, in 0..1
  double accuracy_spread = 0.0;  ///< highest minus lowest
  double ms_per_step = 0.0;
  std::int64_t forward_kernels = 0;  ///< with the loss and its gradient
  std::int64_t backward_kernels = 0;
  std::int64_t update_kernels = 0;  ///< norm, finite check and optimizer
  std::int64_t casts_per_step = 0;  ///< tensors that are rounded to another format
  std::int64_t skipped_steps = 0;   ///< over all seeds
  float loss_scale = 1.0f;          ///< after the last step of the last seed
  std::int64_t peak_bytes_predicted = 0;
  std::int64_t peak_bytes_measured = 0;
};

[[nodiscard]] Summary summarize(const std::string& rules, const std::string& device,
                                const std::vector<Run>& runs);
/// A row a rule set.
void print(std::ostream& out, const std::vector<Summary>& summaries);
void write_json(std::ostream& out, const std::vector<Summary>& summaries);
