// SPDX-License-Identifier: Apache-2.0
// A user's code for a model whose every name the generated header uses too; compilers are asked for
// all their warnings about it.
#include "hostile.hpp"

#include <halftone/device.hpp>
#include <vector>

#include "hostile_run.hpp"

std::vector<float> run_hostile(const std::vector<float>& rows, const std::vector<int>& labels) {
  const halftone::Device device = halftone::Device::cpu();
  const models::artifact::Options options = {.batch = rows.size() / 4,
                                             .state_0 = 2,
                                             .Predictor_ = 2u,
                                             .Options = short{2},
                                             .size = 2L,
                                             .options = 2UL,
                                             .artifact = static_cast<signed char>(2),
                                             .device = 2,
                                             .std = 2,
                                             .halftone = 2,
                                             .seed = 1};
  models::artifact::Trainer trainer(device, options);
  trainer.step(rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, labels, rows,
               rows, rows, rows, rows);
  models::artifact::Predictor predictor(models::artifact::artifact(), device, options);
  try {
    predictor.copy_parameters(trainer);
  } catch (const halftone::Error&) {  // which the generated header declares
    return {};
  }
  const auto outputs = predictor.predict(rows, rows, rows, rows, rows, rows, rows, rows, rows, rows,
                                         rows, rows, rows, rows, rows, rows, rows);
  std::vector<float> all(outputs.output.begin(), outputs.output.end());
  for (const auto part :
       {outputs.outputs, outputs.Outputs_, outputs.Predictor_, outputs.result, outputs.Options,
        outputs.state_0, outputs.self, outputs.template_, outputs.std, outputs.halftone}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}
