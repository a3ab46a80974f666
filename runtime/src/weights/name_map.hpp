// SPDX-License-Identifier: Apache-2.0
// Which parameter a tensor of a file is for, by LoadOptions::names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "halftone/weights.hpp"

namespace halftone {

struct Destination {
  std::string parameter;  ///< empty: the tensor is left out
  bool transposed = false;
  bool is_exact = false;  ///< an entry without `*` names both
};

class NameMap {
 public:
  /// Throws Error for an entry that means nothing. The entries must live longer.
  explicit NameMap(const std::vector<WeightName>& entries);

  [[nodiscard]] Destination of(std::string_view tensor) const;

 private:
  const std::vector<WeightName>& entries_;
};

/// Whether `pattern`, in which every `*` is any text, is `name`; then `texts` is what each of them
/// is, as short as it can be, the first ones first.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name,
                           std::vector<std::string_view>& texts);

}  // namespace halftone
