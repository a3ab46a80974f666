// SPDX-License-Identifier: Apache-2.0
// The rows of a generator's caches: bound to as many as its sequences need, so that a pass costs
// what they have, not what they may have. docs/decisions/0028-caches-grow.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../execution.hpp"
#include "../program_plan.hpp"

namespace halftone {

class Caches {
 public:
  /// `symbol` is what the plan calls their rows. The plan must live longer.
  Caches(const ProgramPlan& plan, std::size_t symbol);

  /// For how many rows the caches are laid out: the capacity, or a half of it, a quarter, ...
  [[nodiscard]] std::int64_t rows() const { return rows_; }

  /// From here on so many sequences, which have no token, and room for `rows` of each.
  void begin(Execution& execution, std::int64_t sequences, std::int64_t rows);

  /// Room for `rows` of each, at most the capacity.
  void make_room(Execution& execution, std::int64_t rows);

 private:
  struct Cache {
    std::size_t buffer;
    std::int64_t row_bytes;
  };
  [[nodiscard]] std::int64_t enough_for(std::int64_t rows) const;

  std::vector<Cache> caches_;
  std::int64_t capacity_, rows_, sequences_ = 0;
};

}  // namespace halftone
