// SPDX-License-Identifier: Apache-2.0
// Where the first value that is not finite came from.
#pragma once

#include <cstdint>
#include <string>

namespace halftone {

/// One element of one tensor: infinite or NaN, and no value that was computed before it is. Or a
/// label that its loss has no class for, which makes that loss NaN (D29), or a token that its
/// embedding has no row for, which makes its result NaN (D34). What losses alone read is looked at
/// when they have read it: where it has weight 0 within them it spoils nothing (D73).
struct NonFinite {
  std::string layer;  ///< name of the layer, loss, parameter, state, input or output
  std::string op;     ///< "linear", "gelu", ...; "parameter", "state", "input", "label",
                      ///< "token" or "output_gradient"
  /// "forward", "input_gradient" or "weight_gradient"; "none" for what was given: a parameter and
  /// its working copies, a state, an input, a caller's gradient of an output.
  std::string pass;
  std::string role;  ///< "activation", "saved", "gradient", "weight", "weight_gradient", ...
  std::int64_t element = 0;  ///< row-major, in the tensor
  float value = 0.0f;
  float before =
      0.0f;            ///< the same element before it was rounded; `value` where nothing is rounded
  std::string format;  ///< that it was rounded to: "f16"; empty where nothing is rounded
  std::string rule;    ///< the precision rule that decided the format: "the rule '...'" or "the
                       ///< language's default"

  std::string reader = {};  ///< the loss or embedding of a label or token; empty of all else
  std::int64_t integer = 0, bound = 0;  ///< what the element is; how many classes or rows there are

  /// Which of a step's micro-batches it is in, from 1, and how many the step has; 0 for a
  /// parameter, and where the step has one alone, or was not skipped.
  std::int64_t micro_batch = 0, micro_batches = 0;

  /// One sentence with all of it, without a full stop.
  [[nodiscard]] std::string text() const;
};

}  // namespace halftone
