// SPDX-License-Identifier: Apache-2.0
// Functions of docs/spec/math.md of bounds: ranges, how much they enlarge an error, and what the
// page promises of their recipes.
#ifndef HALFTONE_AUDIT_FUNCTIONS_H
#define HALFTONE_AUDIT_FUNCTIONS_H

#include "codegen/audit/Bound.h"

namespace halftone::audit {

enum class Known {
  exp,
  expm1,
  log,
  log1p,
  sin,
  cos,
  tanh,
  erf,
  sigmoid,
  rsqrt,
  geluErf,
  geluTanh,
  silu,
  geluErfDerivative,
  geluTanhDerivative,
  siluDerivative
};

/// `narrow`: by the recipe for results that are rounded to 16 bits or fewer (N10).
Bound applied(Known function, const Bound &x, bool narrow = false);

Bound power(const Bound &base, const Bound &exponent);
Bound floored(const Bound &x);

} // namespace halftone::audit

#endif
