// SPDX-License-Identifier: Apache-2.0
// What is thrown when the simulator cannot do what it is asked: a text that it does not understand,
// a call with wrong arguments. Faults of a kernel that runs are findings, never exceptions.
#pragma once

#include <stdexcept>

namespace halftone::simulator {

/// One sentence naming culprit and remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace halftone::simulator
