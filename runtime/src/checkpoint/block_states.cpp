// SPDX-License-Identifier: Apache-2.0
#include "block_states.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../formats.hpp"
#include "halftone/encoding/traits.hpp"

namespace halftone {

using encoding::Element;

std::string name_of_scales(std::string_view name_of_codes) {
  const std::size_t own = name_of_codes.find('/') + 1, end = name_of_codes.find('/', own);
  std::string name(name_of_codes.substr(0, end));
  name += kScales;
  return name.append(name_of_codes.substr(std::min(end, name_of_codes.size())));
}

std::optional<Element> code_called(std::string_view type) {
  if (type == "F8_E4M3") return Element::f8e4m3;
  if (type == "F8_E5M2") return Element::f8e5m2;
  return std::nullopt;
}

std::optional<std::int64_t> block_of(std::int64_t codes, std::int64_t scales) {
  constexpr std::int64_t kLeast = 32, kMost = 1024;
  for (std::int64_t block = kLeast; block <= kMost; block *= 2) {
    if ((codes + block - 1) / block == scales) return block;
  }
  return std::nullopt;
}

std::vector<float> values_of_blocks(std::span<const std::byte> codes, Element element,
                                    std::span<const std::byte> scales, std::int64_t block) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < std::ssize(codes); ++i) {
    values.push_back(element_of(codes.data(), element, i) *
                     element_of(scales.data(), Element::f32, i / block));
  }
  return values;
}

BlockState in_blocks(std::span<const float> values, Element element, std::int64_t block) {
  constexpr float kLeast = 1e-12F;
  const float largest = value_of(element, code_of_largest(encoding::traits(element)));
  BlockState state;
  for (std::size_t at = 0; at < values.size(); at += static_cast<std::size_t>(block)) {
    const auto part =
        values.subspan(at, std::min(values.size() - at, static_cast<std::size_t>(block)));
    float most = kLeast;
    for (const float value : part) {
      if (!(std::fabs(value) <= most)) most = std::fabs(value);  // of a NaN, too
      if (std::isnan(most)) break;
    }
    const float scale = most / largest;
    for (const float value : part)
      state.codes.push_back(static_cast<std::byte>(narrowed(element, value / scale, true)));
    const std::size_t end = state.scales.size();
    state.scales.resize(end + sizeof scale);
    std::memcpy(state.scales.data() + end, &scale, sizeof scale);
  }
  return state;
}

}  // namespace halftone
