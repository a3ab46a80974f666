// SPDX-License-Identifier: Apache-2.0
#include "halftone/diagnosis.hpp"

#include <cmath>

#include "text.hpp"

namespace halftone {
namespace {

/// Without the sign of a NaN.
std::string number(float value) { return std::isnan(value) ? "nan" : number_text(value); }

}  // namespace

std::string NonFinite::text() const {
  const bool given = pass == "none";
  std::string what = micro_batches == 0 ? ""
                                        : "micro-batch " + std::to_string(micro_batch) + " of " +
                                              std::to_string(micro_batches) + ", ";
  what += op + " '" + layer + "'" + (given ? "" : " in " + pass) + ": element " +
          std::to_string(element) + (given ? "" : " of its " + role);
  if (!reader.empty()) {
    const bool is_label = op == "label";
    return what + " is " + std::to_string(integer) + ", but the " +
           (is_label ? "loss '" : "embedding '") + reader + "' has " + std::to_string(bound) +
           (is_label ? " classes" : " rows");
  }
  if (given && format.empty()) return what + " is " + number(value);
  what += format.empty()
              ? " is " + number(value)
              : " was " + number(before) + " and became " + number(value) + " in " + format;
  return what + " (format by " + rule + ")";
}

}  // namespace halftone
