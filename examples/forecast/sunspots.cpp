// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <halftone/fit.hpp>
#include <sunspots_model.hpp>

int main() {
  namespace m = models::sunspots;
  const auto series = halftone::Dataset::csv(
      SUNSPOTS_CSV, {{.input = "s", .columns = {"SUNACTIVITY"}, .convert = {.scale = 0.01f}}});
  halftone::Loader loader(series.windows({"s", "past", "next", 22}), {.batch = 32, .seed = 1});
  m::Trainer trainer(halftone::Device::best(m::artifact()), {.batch = 32, .seed = 1});
  halftone::fit(trainer, loader, {.epochs = 200});
  std::printf("error %.4f, loss scale %g\n", trainer.loss("error"), trainer.stats().loss_scale);
}
