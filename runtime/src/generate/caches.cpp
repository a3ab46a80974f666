// SPDX-License-Identifier: Apache-2.0
#include "caches.hpp"

namespace halftone {
namespace {

/// Fewer are not worth a layout of their own.
constexpr std::int64_t kLeastRows = 64;

}  // namespace

Caches::Caches(const ProgramPlan& plan, std::size_t symbol)
    : capacity_(plan.symbols()[symbol]), rows_(capacity_) {
  for (std::size_t i = 0; i < plan.program().buffers.size(); ++i) {
    if (plan.buffer(i).role != manifest::Role::cache) continue;
    caches_.push_back({i, plan.bytes(i) / (plan.extents(i).front() * capacity_)});
  }
}

/// Halves are rounded down, so that what is laid out anew has at least twice the rows and no
/// sequence comes to lie on another that is still to be moved, nor on itself.
std::int64_t Caches::enough_for(std::int64_t rows) const {
  std::int64_t enough = capacity_;
  while (enough / 2 >= rows && enough / 2 >= kLeastRows) enough /= 2;
  return enough;
}

void Caches::begin(Execution& execution, std::int64_t sequences, std::int64_t rows) {
  rows_ = enough_for(rows);
  sequences_ = sequences;
  for (const Cache& cache : caches_) {
    execution.clear(cache.buffer, 0, sequences * rows_ * cache.row_bytes);
  }
}

void Caches::make_room(Execution& execution, std::int64_t rows) {
  if (rows <= rows_) return;
  const std::int64_t before = rows_;
  rows_ = enough_for(rows);
  for (const auto& [buffer, row_bytes] : caches_) {
    const std::int64_t kept = before * row_bytes, all = rows_ * row_bytes;
    for (std::int64_t s = sequences_ - 1; s >= 0; --s) {
      if (s > 0) execution.copy(buffer, s * all, s * kept, kept);
      execution.clear(buffer, s * all + kept, all - kept);
    }
  }
}

}  // namespace halftone
