// SPDX-License-Identifier: Apache-2.0
// What the Bodies of masks.halftone say of blocks, against D61 of docs/spec/description.md asked of
// every element.
#include <functional>

#include "doctest/doctest.h"
#include "halftone/kernels/convert.cuh"
#include "halftone/kernels/general_access.cuh"
#include "halftone/kernels/intervals.cuh"
#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/reduce.cuh"

namespace causal {
#include "causal.inc"
}
namespace window {
#include "window.inc"
}
namespace both {
#include "both.inc"
}
namespace shorter {
#include "shorter.inc"
}
namespace shorter_columns {
#include "shorter_input_gradient_2.inc"
}
namespace holes {
#include "holes.inc"
}
namespace documents {
#include "documents.inc"
}
namespace whole {
#include "whole.inc"
}

namespace {

using halftone::kernels::Kept;

constexpr int kBatch = 3, kHeads = 4;

/// As D61 has them: m queries, n keys.
struct Sizes {
  int queries, keys;

  bool causal(int i, int j) const { return j <= i + (keys - queries); }
  bool within(int window, int i, int j) const { return j >= i + (keys - queries) - window; }
};

constexpr Sizes kSizes[] = {{1, 1}, {1, 6}, {6, 1}, {5, 5}, {4, 7}, {7, 4}};

const int kLength[kBatch] = {3, -1, 200};

/// Whether key j of a sequence is kept for query i.
using IsKept = std::function<bool(int sequence, int i, int j)>;

/// Every block of every head. Where it is `exact`, some means that neither none nor all is true.
template <class Body>
void check(Body body, const Sizes& sizes, bool exact, const IsKept& is_kept) {
  CAPTURE(sizes.queries);
  CAPTURE(sizes.keys);
  body.symbol_batch = kBatch;
  body.symbol_queries = sizes.queries;
  CHECK(body.queries() == sizes.queries);
  int none_seen = 0, all_seen = 0, wrong = 0;
  for (int head = 0; head < kBatch * kHeads; ++head)
    for (int first_row = 0; first_row < sizes.queries; ++first_row)
      for (int last_row = first_row; last_row < sizes.queries; ++last_row)
        for (int first = 0; first < sizes.keys; ++first)
          for (int last = first; last < sizes.keys; ++last) {
            bool any = false, every = true;
            for (int i = first_row; i <= last_row; ++i)
              for (int j = first; j <= last; ++j) {
                const bool kept = is_kept(head / kHeads, i, j);
                any |= kept;
                every &= kept;
              }
            const Kept said = body.kept(head, first_row, last_row, first, last);
            const Kept is = every ? Kept::all : any ? Kept::some : Kept::none;
            wrong += said != is && (exact || said != Kept::some);
            none_seen += said == Kept::none;
            all_seen += said == Kept::all;
          }
  CHECK(wrong == 0);
  if (Body::kMasks && sizes.queries > 1 && sizes.keys > 1) CHECK(none_seen > 0);
  if (exact && sizes.queries > 1 && sizes.keys > 1) CHECK(all_seen > 0);
}

/// Likewise of a mask that has symbols for both.
template <class Body>
void check_across(Body body, const Sizes& sizes, bool exact, const IsKept& is_kept) {
  body.symbol_keys = sizes.keys;
  CHECK(body.columns() == sizes.keys);
  CHECK(body.group() == 2);
  check(body, sizes, exact, is_kept);
}

}  // namespace

TEST_CASE("what a mask of places keeps of a block is known exactly") {
  for (const Sizes& sizes : kSizes) {
    check_across(causal::Body{}, sizes, true,
                 [&](int, int i, int j) { return sizes.causal(i, j); });
    check_across(window::Body{}, sizes, true,
                 [&](int, int i, int j) { return sizes.within(2, i, j); });
    check_across(both::Body{}, sizes, true,
                 [&](int, int i, int j) { return sizes.causal(i, j) && sizes.within(3, i, j); });
  }
}

TEST_CASE("a length counts for the sequence of the head") {
  const auto is_kept = [](const Sizes& sizes) {
    return [&sizes](int sequence, int i, int j) {
      return sizes.causal(i, j) && sizes.within(2, i, j) && j < kLength[sequence];
    };
  };
  for (const Sizes& sizes : kSizes) {
    shorter::Body by_rows{};
    by_rows.input2 = kLength;
    check_across(by_rows, sizes, false, is_kept(sizes));
    shorter_columns::Body by_columns{};
    by_columns.input4 = kLength;
    check_across(by_columns, sizes, false, is_kept(sizes));
  }
}

TEST_CASE("what keys or queries say one by one leaves a block some, unless places leave it none") {
  for (const Sizes& sizes : kSizes)
    check_across(holes::Body{}, sizes, false,
                 [&](int, int i, int j) { return sizes.causal(i, j) && j % 2 == 0; });
  const Sizes sizes{6, 6};
  CHECK(documents::Body{}.group() == 1);
  check(documents::Body{}, sizes, false,
        [&](int, int i, int j) { return sizes.causal(i, j) && i / 2 == j / 2; });
}

TEST_CASE("without a mask everything is kept") {
  CHECK(!whole::Body::kMasks);
  for (const Sizes& sizes : kSizes)
    check_across(whole::Body{}, sizes, true, [](int, int, int) { return true; });
}
