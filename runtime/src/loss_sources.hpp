// SPDX-License-Identifier: Apache-2.0
// What losses alone read of inputs. It spoils nothing where it has weight 0 (D73), so a search for
// what is not finite asks for it once a loss has something that is not.
#pragma once

#include <cstdint>
#include <optional>

#include "bind.hpp"

namespace halftone {

class LossSources {
 public:
  /// Of a diagnosis, whose buffers keep what was written.
  explicit LossSources(const BoundProgram& program) : program_(program) {}

  /// Whether the input is read by losses alone.
  [[nodiscard]] bool has(std::size_t input) const;
  /// Whether the probe is a cast of one of these inputs, which is judged with it.
  [[nodiscard]] bool has(const manifest::Probe& probe) const;

  /// An element of an input; or of labels, of which a loss has `classes`; or of what a cast made
  /// of a finite input.
  struct Element {
    std::size_t buffer = 0;
    std::int64_t index = 0, classes = 0;
    const manifest::Probe* cast = nullptr;
  };
  /// Where element `at` of a loss's result, or of its gradient's, is not finite: what of an input
  /// made it so; nothing where that was computed.
  [[nodiscard]] std::optional<Element> culprit(const manifest::Probe& probe, std::int64_t at) const;

 private:
  [[nodiscard]] const manifest::Launch& launch(const manifest::Probe& probe) const;
  [[nodiscard]] std::size_t operand_of(const manifest::Probe& probe) const;
  [[nodiscard]] const manifest::Probe* cast_to(std::size_t buffer) const;
  [[nodiscard]] std::int64_t classes_of(const manifest::Launch& launch, std::size_t label) const;
  [[nodiscard]] std::optional<Element> wrong_label(const manifest::Launch& launch,
                                                   std::size_t buffer, std::int64_t at) const;
  [[nodiscard]] std::optional<Element> not_finite(std::size_t buffer, std::int64_t begin,
                                                  std::int64_t end) const;

  const BoundProgram& program_;
};

}  // namespace halftone
