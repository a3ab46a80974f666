// SPDX-License-Identifier: Apache-2.0
// Arrays to and from NumPy's .npy files, such as a parameter:
//   save_npy("weight.npy", trainer.parameter("fc.weight"), trainer.parameter_shape("fc.weight"));
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <variant>
#include <vector>

#include "halftone/error.hpp"

namespace halftone {

struct NpyArray {
  std::vector<std::int64_t> shape;                                     ///< empty is a scalar
  std::variant<std::vector<float>, std::vector<std::int32_t>> values;  ///< row-major

  /// Valid while the array lives. Throws Error where values are of the other type.
  [[nodiscard]] std::span<const float> floats() const;
  [[nodiscard]] std::span<const std::int32_t> integers() const;
};

/// Writes values, row-major, as float32 or int32. The file is replaced as a whole, as by
/// Trainer::save(). Throws Error where the shape does not have as many elements, or the file cannot
/// be written.
void save_npy(const std::filesystem::path& file, std::span<const float> values,
              std::span<const std::int64_t> shape);
void save_npy(const std::filesystem::path& file, std::span<const std::int32_t> values,
              std::span<const std::int64_t> shape);

/// Reads float16, float32 and float64 as f32; bool, int8 to int64 and uint8 to uint64 as i32; in
/// either order of dimensions. Throws Error where the file cannot be read or is none, elements are
/// of another type, or one of them is no f32 or i32 exactly, as 0.1 in float64.
[[nodiscard]] NpyArray load_npy(const std::filesystem::path& file);

}  // namespace halftone
