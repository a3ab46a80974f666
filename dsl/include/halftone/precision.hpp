// SPDX-License-Identifier: Apache-2.0
// Precision rules: which layers, and the formats their values are stored, computed, accumulated and
// mastered in. The last rule that matches wins, role by role.
#pragma once

#include <type_traits>

#include "halftone/formats.hpp"

namespace halftone::dsl {

struct Rule {
  const char* layer =
      "**";  ///< a glob over layer names: * stays inside a path component, ** crosses them
  bool everywhere = false;
  Format store = Format::unset, compute = Format::unset, accumulate = Format::unset,
         master = Format::unset;
};

struct RoleFormat {
  Format Rule::*role;
  Format format;
};
constexpr RoleFormat store(Format format) { return {&Rule::store, format}; }
constexpr RoleFormat compute(Format format) { return {&Rule::compute, format}; }
constexpr RoleFormat accumulate(Format format) { return {&Rule::accumulate, format}; }
constexpr RoleFormat master(Format format) { return {&Rule::master, format}; }

/// store(), compute(), accumulate(), master().
template <class T>
concept RoleOfRule = std::is_same_v<T, RoleFormat>;

struct Layers {
  const char* glob;
};
/// The layers whose names match: layer("fc1"), layer("h/*/fc"), layer("**").
constexpr Layers layer(const char* glob) { return {glob}; }

/// A selection that takes formats: where(layer("fc*"))(compute(f32)).
struct Selection {
  Rule rule;
  template <RoleOfRule... Formats>
  constexpr Rule operator()(const Formats&... formats) const {
    Rule result = rule;
    ((void)(result.*(formats.role) = formats.format), ...);
    return result;
  }
};
constexpr Selection where(const Layers& layers) { return {{.layer = layers.glob}}; }
inline constexpr Selection everywhere{{.everywhere = true}};

/// everywhere(...) or where(...)(...).
template <class T>
concept RuleOfPrecision = std::is_same_v<T, Rule>;

template <int N>
struct Precision {
  Rule rules[N];
};
template <RuleOfPrecision... Rules>
constexpr auto precision(const Rules&... rules) {
  return Precision<sizeof...(Rules)>{{rules...}};
}

}  // namespace halftone::dsl
