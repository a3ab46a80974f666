// SPDX-License-Identifier: Apache-2.0
// A simulator of another release, or of another build of this one; nothing but its first two
// members can be used.
#include "halftone/manifest/version.hpp"
#include "simulated/simulator_library.hpp"

#ifndef STUB_VERSION
#define STUB_VERSION halftone::kVersionOfHalftone
#endif

extern "C" const halftone::SimulatorLibrary* halftone_simulator() {
  static const halftone::SimulatorLibrary library{STUB_VERSION, "another digest", nullptr, nullptr};
  return &library;
}
