// SPDX-License-Identifier: Apache-2.0
// What losses share: each is a mean, whose gradient is divided by the count of that mean first.
#pragma once

#include "layer.hpp"

namespace halftone::reference {

// N4(terms) / count
template <class Scalar>
Values<Scalar> mean(const Values<Scalar>& terms) {
  return {sum(View<Scalar>(terms)) / static_cast<Scalar>(terms.size())};
}

}  // namespace halftone::reference
