// SPDX-License-Identifier: Apache-2.0
// Compares values with recorded ones: all three evaluations of a problem at once, with the
// tolerance that running error analysis derives from the format's epsilon and the lengths of the
// sums.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "problem.hpp"

namespace halftone::reference::tests {

/// One tensor by all evaluations; `error` bounds |declared - exact|.
struct Judged {
  std::vector<double> exact, declared, error;

  void append(const std::vector<double>& e, const std::vector<float>& d,
              const std::vector<Bounded>& b) {
    for (std::size_t i = 0; i < e.size(); ++i) {
      exact.push_back(e[i]);
      declared.push_back(d[i]);
      error.push_back(b[i].error);
    }
  }

  void append(const Judged& other) {
    exact.insert(exact.end(), other.exact.begin(), other.exact.end());
    declared.insert(declared.end(), other.declared.begin(), other.declared.end());
    error.insert(error.end(), other.error.begin(), other.error.end());
  }

  /// f over the values, for an f that does not magnify errors.
  template <class F>
  void map(F f) {
    for (double& value : exact) value = f(value);
    for (double& value : declared) value = f(value);
  }
};

/// `pick` takes a Run of any Scalar and returns a tensor of it.
template <class Pick>
Judged judge(const Problem& problem, Pick pick) {
  Judged judged;
  judged.append(pick(Run<double>(problem)), pick(Run<float>(problem)), pick(Run<Bounded>(problem)));
  return judged;
}

inline bool same_or_near(double a, double b, double tolerance) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= tolerance;
}

/// Declared is within the bound of exact.
inline void check_declared(const Judged& judged) {
  for (std::size_t i = 0; i < judged.exact.size(); ++i) {
    CAPTURE(i);
    CAPTURE(judged.exact[i]);
    CAPTURE(judged.declared[i]);
    CAPTURE(judged.error[i]);
    CHECK(same_or_near(judged.declared[i], judged.exact[i], judged.error[i]));
  }
}

/// Declared is within its bounds, and more than 20 elements are off by more than a `part`-th
/// of theirs, so that bounds are no wider than they need be.
inline void check_inside(const std::vector<float>& declared, const std::vector<Bounded>& bounded,
                         double part) {
  REQUIRE(declared.size() == bounded.size());
  int near = 0;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    CAPTURE(i);
    const double off = std::fabs(static_cast<double>(declared[i]) - bounded[i].value);
    CHECK(off <= bounded[i].error);
    near += off > bounded[i].error / part;
  }
  CHECK(near > 20);
}

/// `recorded` was computed in f32 by someone else, with as many operations: it is within the same
/// bound of exact.
inline void check_recorded(const Judged& judged, const std::vector<double>& recorded) {
  REQUIRE(judged.exact.size() == recorded.size());
  check_declared(judged);
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    CAPTURE(i);
    CAPTURE(judged.exact[i]);
    CAPTURE(recorded[i]);
    CAPTURE(judged.error[i]);
    CHECK(same_or_near(recorded[i], judged.exact[i], judged.error[i]));
  }
}

}  // namespace halftone::reference::tests
