// SPDX-License-Identifier: Apache-2.0
#include <halftone/calibration.hpp>
#include <halftone/loader.hpp>
#include <halftone/predictor.hpp>
#include <halftone/trainer.hpp>

inline void serve(halftone::Trainer& trainer, halftone::Loader& rows,
                  halftone::Predictor& predictor) {
  halftone::Calibration calibration;
  for (int batch = 0; batch < 16; ++batch) {
    trainer.forward(rows.next()->inputs);
    calibration.add(trainer);
  }
  predictor.calibrate(calibration);
  predictor.copy_parameters(trainer);
}
