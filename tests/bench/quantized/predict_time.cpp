// SPDX-License-Identifier: Apache-2.0
// How long predictors of one model take under several rules, in turns, in seconds of the processor:
//   predict_time BATCH FIRST.so MORE.so...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <halftone/predictor.hpp>
#include <vector>

namespace {

constexpr std::size_t kColumns = 1024;
constexpr int kRounds = 21;

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void measure(std::int64_t batch, int count, char** files) {
  const halftone::Binding sizes[] = {{"batch", batch}};
  const std::vector<float> x(static_cast<std::size_t>(batch) * kColumns, 0.5f);
  const halftone::NamedValues inputs[] = {{"x", std::span<const float>(x)}};
  std::vector<halftone::Predictor> predictors;
  for (int i = 0; i < count; ++i)
    predictors.emplace_back(halftone::Artifact::load(files[i]), halftone::Device::cpu(),
                            halftone::Setup{"", sizes, 1});
  std::vector<std::vector<double>> taken(predictors.size());
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < predictors.size(); ++i) {
      const double start = seconds();
      predictors[i].predict(inputs);
      taken[i].push_back(seconds() - start);
    }
  double first = 0;
  for (std::size_t i = 0; i < predictors.size(); ++i) {
    std::ranges::sort(taken[i]);
    const double median = taken[i][kRounds / 2];
    if (i == 0) first = median;
    std::printf("| %s | %lld | %.2f | %.2f |\n",
                std::filesystem::path(files[i]).stem().string().c_str(),
                static_cast<long long>(batch), median / first,
                static_cast<double>(predictors[i].peak_bytes_predicted()) /
                    static_cast<double>(predictors[0].peak_bytes_predicted()));
  }
}

}  // namespace

int main(int count, char** values) {
  try {
    if (count < 3) return 2;
    measure(std::atoll(values[1]), count - 2, values + 2);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
