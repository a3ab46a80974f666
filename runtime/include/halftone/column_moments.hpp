// SPDX-License-Identifier: Apache-2.0
// What a model's `standardize` (D109) is fitted to data by.
#pragma once

#include <string_view>
#include <vector>

#include "halftone/dataset.hpp"

namespace halftone {

/// Of every column, the last dimension of an input's rows; of single numbers there is one.
struct ColumnMoments {
  std::vector<float> mean;
  std::vector<float> deviation;  ///< the root of the mean square around it; 1 where that is 0
};

/// Goes over all rows of the dataset twice, in double: sklearn's StandardScaler. Throws Error where
/// the dataset has no such input, where that has f16 or bf16, or a value that is not finite.
///   trainer.set_state("scale.mean", column_moments(data, "features").mean);
[[nodiscard]] ColumnMoments column_moments(const Dataset& dataset, std::string_view input);

}  // namespace halftone
