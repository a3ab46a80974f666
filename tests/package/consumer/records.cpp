// SPDX-License-Identifier: Apache-2.0
// A program whose batches are structs; exit status 0 when it has brought the error of target =
// 3 x0 - x1 below a hundredth.
#include <array>
#include <cstdio>
#include <halftone/device.hpp>
#include <halftone/records.hpp>
#include <line.hpp>

struct Batch {
  BOOST_HANA_DEFINE_STRUCT(Batch, (std::array<float, 8>, x), (std::array<float, 4>, target));
};

int main() {
  const Batch batch = {{0, 0, 0, 1, 1, 0, 1, 1}, {0, -1, 3, 2}};
  models::line::Trainer trainer(halftone::Device::cpu(), {.batch = 4, .seed = 1});
  trainer.step(batch);
  const float before = trainer.loss("error");
  for (int i = 0; i < 500; ++i) trainer.step(batch);
  std::printf("records: error times %g\n", trainer.loss("error") / before);
  return trainer.loss("error") < 0.01f * before ? 0 : 1;
}
