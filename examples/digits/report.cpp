// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>

Summary summarize(const std::string& device, const std::vector<Run>& runs) {
  Summary summary{.device = device, .runs = runs.size(), .ms_per_step = runs.front().ms_per_step};
  double lowest = 1.0, highest = 0.0;
  for (const Run& run : runs) {
    summary.accuracy += run.accuracy / static_cast<double>(runs.size());
    lowest = std::min(lowest, run.accuracy);
    highest = std::max(highest, run.accuracy);
    summary.ms_per_step = std::min(summary.ms_per_step, run.ms_per_step);
  }
  summary.accuracy_spread = highest - lowest;
  const halftone::Statistics& statistics = runs.front().statistics;
  const auto& [forward, loss, loss_backward, backward, check, update] =
      statistics.kernels_per_phase;
  summary.forward_kernels = forward + loss;
  summary.backward_kernels = loss_backward + backward;
  summary.update_kernels = check + update;
  summary.peak_bytes_predicted = statistics.peak_bytes_predicted;
  summary.peak_bytes_measured = statistics.peak_bytes_measured;
  return summary;
}

void print(std::ostream& out, const Summary& summary) {
  out << std::fixed << std::setprecision(2) << "held-out accuracy  " << 100 * summary.accuracy
      << " % (mean of " << summary.runs << " seeds, spread " << 100 * summary.accuracy_spread
      << ")\n"
      << "time               " << std::setprecision(3) << summary.ms_per_step << " ms per step\n"
      << "kernels            " << summary.forward_kernels << " forward, "
      << summary.backward_kernels << " backward, " << summary.update_kernels
      << " check and update\n"
      << "peak memory        " << summary.peak_bytes_predicted << " bytes predicted, "
      << summary.peak_bytes_measured << " measured\n";
}

void write_json(std::ostream& out, const Summary& summary) {
  out << std::setprecision(6) << "{\"device\": " << std::quoted(summary.device)
      << ", \"runs\": [{\"rules\": \"f32\", \"accuracy\": " << summary.accuracy
      << ", \"accuracy_spread\": " << summary.accuracy_spread
      << ", \"ms_per_step\": " << summary.ms_per_step
      << ", \"kernels\": {\"forward\": " << summary.forward_kernels
      << ", \"backward\": " << summary.backward_kernels
      << ", \"update\": " << summary.update_kernels
      << "}, \"peak_bytes_predicted\": " << summary.peak_bytes_predicted
      << ", \"peak_bytes_measured\": " << summary.peak_bytes_measured << "}]}\n";
}
