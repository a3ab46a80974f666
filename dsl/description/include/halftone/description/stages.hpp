// SPDX-License-Identifier: Apache-2.0
// The names of a run's stages (P66). Shared by validate and by the dsl's check.
#pragma once

namespace halftone::description {

/// Of a model, at most.
inline constexpr int kMostStages = 8;

/// Letters, digits, '_' and '-', at least one.
constexpr bool is_stage_name(const char* name) {
  if (name == nullptr || *name == 0) return false;
  for (; *name != 0; ++name) {
    const char c = *name;
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
          c == '-')) {
      return false;
    }
  }
  return true;
}

}  // namespace halftone::description
