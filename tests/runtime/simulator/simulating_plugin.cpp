// SPDX-License-Identifier: Apache-2.0
// A shared object with a runtime of its own. What its one function returns lives until the next
// call.
#include <string>

#include "halftone/error.hpp"
#include "halftone/simulator/chip.hpp"
#include "simulated/simulator_library.hpp"

extern "C" const char* simulated_chips() {
  static std::string said;
  said.clear();
  try {
    for (const auto& chip : halftone::process_simulator().chips()) {
      said += std::string(chip.name) + " ";
    }
  } catch (const halftone::Error& error) {
    said = error.what();
  }
  return said.c_str();
}
