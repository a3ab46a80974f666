// SPDX-License-Identifier: Apache-2.0
// The check of a model while it compiles, in the forms in which each compiler prints its sentence.
#pragma once

#include "halftone/check.hpp"

namespace halftone::dsl::checking {

/// Of what `Of{}()` returns. Empty, too, where the compiler has refused the model or its settings
/// before.
template <class Of>
consteval Sentence judge() {
  if constexpr (requires { typename KnownWhileCompiling<(Of{}()[0].part == Part::model)>; }) {
    return check(Of{}());
  } else if constexpr (requires { typename KnownWhileCompiling<(Of{}().size > 0)>; }) {
    return check(Program{});
  } else {
    return {};
  }
}

template <class Of>
inline constexpr Sentence verdict = judge<Of>();

/// A sentence as a template argument: g++ prints it whole in the name of the type it cannot
/// complete.
template <int N>
struct Text {
  char characters[N]{};
  friend bool operator==(const Text&, const Text&) = default;
};
template <class Of>
consteval auto verdict_text() {
  Text<verdict<Of>.size + 1> result;
  for (int i = 0; i < verdict<Of>.size; ++i) result.characters[i] = verdict<Of>.text[i];
  return result;
}
template <Text Sentence>
struct model_error;  // defined for the empty sentence alone
template <>
struct model_error<Text<1>{}> {};

/// A sentence as clang prints it: the message object of a static_assert.
template <class Of>
struct VerdictMessage {
  static constexpr unsigned long size() { return static_cast<unsigned long>(verdict<Of>.size); }
  static constexpr const char* data() { return verdict<Of>.text; }
};
template <class Of>
inline constexpr bool sound = verdict<Of>.size == 0;

}  // namespace halftone::dsl::checking
