// SPDX-License-Identifier: Apache-2.0
// The emitted conversions of conversions.mlir.in, called on whole arrays.
#pragma once

#include "formats.hpp"
#include "native.hpp"

namespace conversions {

inline const formats::Format* const kFormats[] = {
    &formats::f16(), &formats::bf16(), &formats::tf32(), &formats::f8e4m3(), &formats::f8e5m2()};

/// How a format's codes lie in memory.
inline std::size_t bytes_of(const formats::Format& format) {
  return format.sign_code() == 0x80 ? 1 : format.sign_code() == 0x8000 ? 2 : 4;
}
inline std::uint32_t stored_code(const formats::Format& format, const char* memory, std::size_t i) {
  std::uint32_t code = 0;
  std::memcpy(&code, memory + i * bytes_of(format), bytes_of(format));
  return code;
}
/// What is stored for a code: tf32's lie in the upper bits of an f32, whose NaN is 7fffffff.
inline std::uint32_t stored_of(const formats::Format& format, std::uint32_t code) {
  if (bytes_of(format) < 4) return code;
  return code == format.nan_code() ? 0x7fffffffu : code << 13;
}

/// The codes of `inputs` as the emitted kernel "round..." of `variant` stores them.
struct Rounded {
  std::vector<char> nearest, toward_zero;
};
inline void round(std::size_t variant, const std::string& kernel, const formats::Format& format,
                  const std::vector<float>& inputs, Rounded& result) {
  result.nearest.resize(inputs.size() * bytes_of(format));
  result.toward_zero.resize(inputs.size() * bytes_of(format));
  native::run(variant, kernel + "_" + format.name,
              {inputs.data(), result.nearest.data(), result.toward_zero.data()},
              static_cast<std::int64_t>(inputs.size()));
}

}  // namespace conversions
