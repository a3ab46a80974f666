// SPDX-License-Identifier: Apache-2.0
// The optimizer's states that are held in blocks with a scale each (P86), as a checkpoint has them:
// a tensor of codes and one of scales for every parameter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/encoding/element.hpp"

namespace halftone {

/// What the buffer of a state's scales has behind the state's name.
inline constexpr std::string_view kScales = ".scale";

/// "halftone/adamw.first_moment.scale/fc.weight" of "halftone/adamw.first_moment/fc.weight".
[[nodiscard]] std::string name_of_scales(std::string_view name_of_codes);

/// The element of codes of such a type of safetensors: F8_E4M3 or F8_E5M2.
[[nodiscard]] std::optional<encoding::Element> code_called(std::string_view type);

/// How many codes share a scale, where so many have so many scales: the least power of two; nothing
/// where no block has room for them.
[[nodiscard]] std::optional<std::int64_t> block_of(std::int64_t codes, std::int64_t scales);

/// What codes and the f32 scales of blocks stand for.
[[nodiscard]] std::vector<float> values_of_blocks(std::span<const std::byte> codes,
                                                  encoding::Element element,
                                                  std::span<const std::byte> scales,
                                                  std::int64_t block);

struct BlockState {
  std::vector<std::byte> codes, scales;
};
/// P86, each code the nearest.
[[nodiscard]] BlockState in_blocks(std::span<const float> values, encoding::Element element,
                                   std::int64_t block);

}  // namespace halftone
