// SPDX-License-Identifier: Apache-2.0
// Trains the f16 forecaster on the years up to 1941 and forecasts the others:
//   forecast [FILE.csv]
#include <cstdio>
#include <exception>
#include <forecast_f16_model.hpp>
#include <halftone/fit.hpp>

int main(int count, char** values) try {
  namespace m = models::forecast_f16;
  const auto series = halftone::Dataset::csv(
      count > 1 ? values[1] : SUNSPOTS_CSV,
      {{.input = "sunspots", .columns = {"SUNACTIVITY"}, .convert = {.scale = 0.01f}}});
  const auto years = series.windows({"sunspots", "past", "next", 22});
  halftone::Loader training(years.slice(0, 220), {.batch = 32, .seed = 1});
  halftone::Loader later(years.slice(220, years.rows() - 220), {.batch = 32, .shuffle = false});
  const auto device = halftone::Device::best(m::artifact());
  m::Trainer trainer(device, {.batch = 32, .seed = 1});
  m::Predictor predictor(device, {.batch = 32});
  const auto result = halftone::fit(
      trainer, training, {.epochs = 200, .validation = halftone::Validation{&predictor, &later}});
  std::printf("mean squared error of the years from 1942 on: %.4f\n", result.metrics[0].value);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
