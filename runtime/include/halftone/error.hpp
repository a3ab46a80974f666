// SPDX-License-Identifier: Apache-2.0
// The one exception of the runtime: the machine, an artifact or a call is at fault, never the
// model.
#pragma once

#include <stdexcept>
#include <string>

namespace halftone {

/// what() is one sentence: "<operation>: <object> <cause>; <hint>". docs/errors.md lists them.
/// Where the host lacks memory for something small, such as a sentence, std::bad_alloc comes in its
/// place.
class Error : public std::runtime_error {
 public:
  struct Parts {
    std::string operation;  ///< what was being done: "step", "load"
    std::string object;     ///< the thing at fault: "input 'pixels'"
    std::string cause;      ///< what is wrong with it
    std::string hint;       ///< what to do about it; may be empty
  };

  explicit Error(Parts parts);

  [[nodiscard]] const std::string& operation() const noexcept { return parts_.operation; }
  [[nodiscard]] const std::string& object() const noexcept { return parts_.object; }
  [[nodiscard]] const std::string& cause() const noexcept { return parts_.cause; }
  [[nodiscard]] const std::string& hint() const noexcept { return parts_.hint; }

 private:
  Parts parts_;
};

}  // namespace halftone
