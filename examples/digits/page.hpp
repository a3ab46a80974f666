// SPDX-License-Identifier: Apache-2.0
// report.html: one self-contained page about the runs of all rule sets.
#pragma once

#include <halftone/artifact.hpp>
#include <iosfwd>
#include <string>
#include <vector>

#include "report.hpp"

/// One rule set on the page: its figures, its first run's curves and its artifact.
struct Section {
  Summary summary;
  Run run;
  halftone::Artifact artifact;
};

/// Loss and loss-scale curves, the table of all rule sets, and for each its kernels with every
/// value's format in colour, and its casts.
void write_page(std::ostream& out, const std::vector<Section>& sections);
