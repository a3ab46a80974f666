// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>

Summary summarize(const std::string& rules, const std::string& device,
                  const std::vector<Run>& runs) {
  Summary summary{.rules = rules,
                  .device = device,
                  .runs = runs.size(),
                  .ms_per_step = runs.front().ms_per_step};
  double lowest = 1.0, highest = 0.0;
  for (const Run& run : runs) {
    summary.accuracy += run.accuracy / static_cast<double>(runs.size());
    lowest = std::min(lowest, run.accuracy);
    highest = std::max(highest, run.accuracy);
    summary.ms_per_step = std::min(summary.ms_per_step, run.ms_per_step);
    summary.skipped_steps += run.statistics.skipped_steps;
  }
  summary.accuracy_spread = highest - lowest;
  const halftone::Statistics& statistics = runs.back().statistics;
  const auto& [forward, loss, loss_backward, backward, accumulate, check, update, refresh,
               external] = statistics.kernels_per_phase;
  summary.forward_kernels = forward + loss;
  summary.backward_kernels = loss_backward + backward;
  summary.update_kernels = check + update;
  summary.casts_per_step = statistics.casts_per_step;
  summary.loss_scale = statistics.loss_scale;
  summary.peak_bytes_predicted = statistics.peak_bytes_predicted;
  summary.peak_bytes_measured = statistics.peak_bytes_measured;
  return summary;
}

void print(std::ostream& out, const std::vector<Summary>& summaries) {
  out << "rules  accuracy  spread  ms/step  kernels (forward, backward, update)  casts  skipped  "
         "loss scale  peak bytes\n"
      << std::fixed;
  for (const Summary& s : summaries) {
    out << std::left << std::setw(5) << s.rules << std::right << std::setprecision(2)
        << std::setw(8) << 100 * s.accuracy << " %" << std::setw(8) << 100 * s.accuracy_spread
        << std::setprecision(3) << std::setw(9) << s.ms_per_step << std::setw(22)
        << s.forward_kernels << ", " << s.backward_kernels << ", " << s.update_kernels
        << std::setw(15) << s.casts_per_step << std::setw(9) << s.skipped_steps
        << std::setprecision(0) << std::setw(12) << s.loss_scale << std::setw(12)
        << s.peak_bytes_measured << "\n";
  }
}

void write_json(std::ostream& out, const std::vector<Summary>& summaries) {
  out << std::setprecision(6) << "{\"device\": " << std::quoted(summaries.front().device)
      << ", \"runs\": [";
  for (const Summary& s : summaries) {
    out << (&s == &summaries.front() ? "" : ", ") << "{\"rules\": " << std::quoted(s.rules)
        << ", \"accuracy\": " << s.accuracy << ", \"accuracy_spread\": " << s.accuracy_spread
        << ", \"ms_per_step\": " << s.ms_per_step
        << ", \"kernels\": {\"forward\": " << s.forward_kernels
        << ", \"backward\": " << s.backward_kernels << ", \"update\": " << s.update_kernels
        << "}, \"casts_per_step\": " << s.casts_per_step
        << ", \"skipped_steps\": " << s.skipped_steps << ", \"loss_scale\": " << s.loss_scale
        << ", \"peak_bytes_predicted\": " << s.peak_bytes_predicted
        << ", \"peak_bytes_measured\": " << s.peak_bytes_measured << "}";
  }
  out << "]}\n";
}
