// SPDX-License-Identifier: Apache-2.0
// Headers of safetensors files: 8 bytes of length, little-endian, that much JSON, then the tensors'
// bytes. The format and its rules: huggingface/safetensors, README.md and safetensors/src/tensor.rs
// (0.8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::safetensors {

/// Tensors begin behind the header; `begin` and `end` count from there.
struct Tensor {
  std::string name;
  std::string type;                 ///< "F32", "I64", ...
  std::vector<std::int64_t> shape;  ///< row-major; empty is a scalar
  std::uint64_t begin = 0, end = 0;
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

struct Header {
  Metadata metadata;
  std::vector<Tensor> tensors;  ///< in the order of their bytes
};

/// Null where there is none.
[[nodiscard]] const std::string* find(const Metadata& metadata, std::string_view key);

/// "F32[2, 3]"
[[nodiscard]] std::string form_text(std::string_view type, std::span<const std::int64_t> shape);

inline constexpr std::uint64_t kLengthBytes = 8, kMostHeaderBytes = 100'000'000;

/// Of an element; 0 for a type that the format does not know.
[[nodiscard]] int bits_of(std::string_view type);

/// A whole file's header. False where a rule of the format is broken: `why` says which, as the
/// rest of a sentence that the file begins. `tensors_at` is where the tensors' bytes begin.
[[nodiscard]] bool parse(std::span<const std::byte> file, Header& header, std::uint64_t& tensors_at,
                         std::string& why);

/// What a file begins with: length and JSON, padded so that tensors begin at a multiple of 8.
/// Tensors must lie one behind another and have different names; text must be UTF-8.
[[nodiscard]] std::string print(const Header& header);

}  // namespace halftone::safetensors
