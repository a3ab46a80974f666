// SPDX-License-Identifier: Apache-2.0
// The class B bounds N8, N13 and N14 hold every legitimate f32 sum of a contraction, and no mutant.
#include "class_b.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>

#include "amx/tile_sum.hpp"
#include "contraction_sums.hpp"
#include "pairs/pair_sum.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;
using halftone::tests::class_b;
using halftone::tests::ClassB;
using halftone::tests::gamma_bound;
using halftone::tests::Sums;

namespace {

constexpr Element kFormats[] = {Element::f32, Element::tf32, Element::f16, Element::bf16};
constexpr std::size_t kSizes[] = {1, 7, 64, 1000, 4096};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float tiles(Row a, Row b) { return halftone::tests::amx::tile_sum(a, b); }
float pairs(Row a, Row b) { return halftone::tests::pairs::pair_sum(a, b); }

struct Order {
  const char* name;
  float (*sum)(Row, Row);
  Sums sums;
};

constexpr Order kOrders[] = {
    {"N1", chain, Sums::nearest},
    {"reversed", reversed, Sums::nearest},
    {"pairwise", pairwise, Sums::nearest},
    {"split by 4", split<4>, Sums::nearest},
    {"split by 8", split<8>, Sums::nearest},
    {"blocks of 8", blocks<8>, Sums::toward_zero},
    {"blocks of 16", blocks<16>, Sums::toward_zero},
    {"truncated chain", truncated_chain, Sums::toward_zero},
    {"tiles of AMX", tiles, Sums::flushed},
    {"pairs of AVX512-BF16", pairs, Sums::flushed},
};

/// Sixteen products and the sum before them at a time, each cut to so many digits below the largest
/// of them.
template <int kDigits>
float kept(Row a, Row b) {
  float sum = 0;
  for (std::size_t first = 0; first < a.size(); first += 16) {
    std::vector<double> terms = {sum};
    for (std::size_t i = first; i < std::min(first + 16, a.size()); ++i)
      terms.push_back(static_cast<double>(a[i]) * b[i]);
    double largest = 0, all = 0;
    for (const double term : terms) largest = std::max(largest, std::fabs(term));
    if (largest == 0) continue;
    const int last = std::ilogb(largest) - kDigits + 1;
    for (const double term : terms) all += std::ldexp(std::trunc(std::ldexp(term, -last)), last);
    sum = static_cast<float>(all);
  }
  return sum;
}

template <int kDigits>
float promoted(Row a, Row b) {
  float sum = 0;
  for (std::size_t first = 0; first < a.size(); first += 128) {
    const std::size_t count = std::min<std::size_t>(128, a.size() - first);
    sum += kept<kDigits>(a.subspan(first, count), b.subspan(first, count));
  }
  return sum;
}

// Results in row-major order, (kRows, kColumns), before they are stored.
std::vector<float> results(const Contraction& x, float (*sum)(Row, Row)) {
  std::vector<float> result;
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kColumns; ++j) result.push_back(sum(x.row(i), x.column(j)));
  }
  return result;
}

std::vector<ClassB> bounds(const Contraction& x, RoundTo store, Sums sums) {
  std::vector<ClassB> result;
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kColumns; ++j) {
      result.push_back(class_b(x.row(i), x.column(j), store, sums));
    }
  }
  return result;
}

bool holds(const std::vector<ClassB>& bounds, const std::vector<float>& stored) {
  for (std::size_t e = 0; e < bounds.size(); ++e) {
    if (!bounds[e].holds(stored[e])) return false;
  }
  return true;
}

template <class Body>
void for_each_contraction(std::size_t k, const Body& body) {
  for (const Element compute : kFormats) {
    for (const Operands operands : kOperands) body(contraction(operands, k, compute), operands);
  }
}

// F1, spelled out once more: half the relative place, and half the smallest subnormal.
struct Units {
  Element format;
  double roundoff, flush;
};

constexpr Units kUnits[] = {{Element::f32, 0x1p-24, 0x1p-150},
                            {Element::tf32, 0x1p-11, 0x1p-137},
                            {Element::f16, 0x1p-11, 0x1p-25},
                            {Element::bf16, 0x1p-8, 0x1p-134}};

struct Mutant {
  const char* name;
  std::vector<float> (*results)(const Contraction&);
  Rounding store = Rounding::nearest_even;
};

template <float (*kSum)(Row, Row)>
std::vector<float> by(const Contraction& x) {
  return results(x, kSum);
}

std::vector<float> with_truncated_operands(const Contraction& x) {
  Contraction mutant = x;
  mutant.a = rounded(x.exact_a, {x.compute, Rounding::toward_zero});
  mutant.b = rounded(x.exact_b, {x.compute, Rounding::toward_zero});
  return results(mutant, chain);
}

std::vector<float> with_swapped_rows(const Contraction& x) {
  std::vector<float> result = results(x, chain);
  std::swap_ranges(result.begin(), result.begin() + kColumns, result.begin() + kColumns);
  return result;
}

const Mutant kMutants[] = {
    {"one product dropped", by<drops_one>},
    {"one sign flipped", by<flips_one>},
    {"last element of k missed", by<misses_last>},
    {"accumulation in bf16", by<narrow_accumulator<Element::bf16, 1>>},
    {"accumulation in f16", by<narrow_accumulator<Element::f16, 1>>},
    {"partial sums of 16 kept in tf32", by<narrow_accumulator<Element::tf32, 16>>},
    {"operands truncated", with_truncated_operands},
    {"result stored toward zero", by<chain>, Rounding::toward_zero},
    {"all zero", by<zero>},
    {"two rows swapped", with_swapped_rows},
};

// Those that change nothing: f32 has nothing to round to f32.
bool is_equivalent(const Mutant& mutant, Element compute, Element store) {
  return (mutant.results == with_truncated_operands && compute == Element::f32) ||
         (mutant.store == Rounding::toward_zero && store == Element::f32);
}

// How many mutants some element of some contraction shows, one for each compute and store format.
struct Score {
  int killed = 0, killed_inexact = 0, all = 0, equivalent = 0;  // inexact: without the integers
  std::string survivors;
};

void judge(const Mutant& mutant, std::size_t k, Element compute, Score& score) {
  bool killed[4] = {}, killed_inexact[4] = {};
  for (const Operands operands : kOperands) {
    const Contraction x = contraction(operands, k, compute);
    const std::vector<float> sums = mutant.results(x), chains = results(x, chain);
    for (int s = 0; s < 4; ++s) {
      const RoundTo store = {kFormats[s], Rounding::nearest_even};
      const std::vector<float> stored = rounded(sums, {kFormats[s], mutant.store});
      if (is_equivalent(mutant, compute, kFormats[s])) CHECK(stored == rounded(chains, store));
      if (holds(bounds(x, store, Sums::toward_zero), stored)) continue;
      killed[s] = true;
      killed_inexact[s] |= operands != Operands::integers;
    }
  }
  for (int s = 0; s < 4; ++s) {
    const bool equivalent = is_equivalent(mutant, compute, kFormats[s]);
    score.equivalent += equivalent;
    score.all += !equivalent;
    score.killed += killed[s];
    score.killed_inexact += killed_inexact[s];
    if (equivalent || killed[s]) continue;
    std::ostringstream survivor;
    survivor << "\n  " << mutant.name << ", k " << k << ", compute " << static_cast<int>(compute)
             << ", store " << s;
    score.survivors += survivor.str();
  }
}

}  // namespace

TEST_CASE("sums in other orders and by tensor cores stay inside the bound of N8") {
  double largest_share = 0;
  for (const std::size_t k : kSizes) {
    for_each_contraction(k, [&](const Contraction& x, Operands operands) {
      for (const Order& order : kOrders) {
        CAPTURE(std::string(order.name));
        CAPTURE(k);
        CAPTURE(static_cast<int>(x.compute));
        CAPTURE(static_cast<int>(operands));
        const std::vector<float> sums = results(x, order.sum);
        for (const Element format : kFormats) {
          for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero}) {
            CHECK(holds(bounds(x, {format, rounding}, order.sums),
                        rounded(sums, {format, rounding})));
          }
        }
        const auto bound = bounds(x, {}, order.sums);
        for (std::size_t e = 0; e < sums.size(); ++e) {
          if (bound[e].error == 0) continue;
          const double share = std::fabs(sums[e] - bound[e].sum) / bound[e].error;
          largest_share = std::max(largest_share, share);
        }
      }
    });
  }
  MESSAGE("the largest share of the bound that a legitimate sum took: " << largest_share);
}

TEST_CASE("8-bit products of which 14 digits are kept stay inside N13 and N14, fewer do not") {
  double share_of_kept = 0, share_of_promoted = 0;
  for (const std::size_t k : kSizes) {
    CAPTURE(k);
    for (const Element format : {Element::f8e4m3, Element::f8e5m2}) {
      const Contraction x = contraction(Operands::same_sign, k, format);
      for (std::size_t i = 0; i < kRows; ++i) {
        for (std::size_t j = 0; j < kColumns; ++j) {
          const Row a = x.row(i), b = x.column(j);
          const ClassB of_kept = class_b(a, b, {}, Sums::kept),
                       of_promoted = class_b(a, b, {}, Sums::promoted);
          const float sum = kept<14>(a, b), in_parts = promoted<14>(a, b);
          CHECK(of_kept.holds(sum));
          CHECK(of_promoted.holds(in_parts));
          if (of_kept.error > 0) {
            share_of_kept = std::max(share_of_kept, std::fabs(sum - of_kept.sum) / of_kept.error);
            share_of_promoted = std::max(share_of_promoted,
                                         std::fabs(in_parts - of_promoted.sum) / of_promoted.error);
          }
        }
      }
    }
  }
  MESSAGE("the largest shares of the bounds: " << share_of_kept << ", " << share_of_promoted);
  // One large product, and small ones of which fewer digits keep nothing.
  std::vector<float> a(128, 0x1p-9f), b(128, 1.0f);
  a[0] = 1.0f;
  CHECK(class_b(a, b, {}, Sums::kept).holds(kept<14>(a, b)));
  CHECK_FALSE(class_b(a, b, {}, Sums::kept).holds(kept<9>(a, b)));
  CHECK_FALSE(class_b(a, b, {}, Sums::promoted).holds(promoted<9>(a, b)));
  // Sums that are not promoted lose what N14 keeps.
  a.assign(4096, 1.75f), b.assign(4096, 2.0f);
  std::fill_n(a.begin(), 128, 16.0f), std::fill_n(b.begin(), 128, 16.0f);
  CHECK(class_b(a, b, {}, Sums::promoted).holds(promoted<14>(a, b)));
  CHECK_FALSE(class_b(a, b, {}, Sums::promoted).holds(kept<14>(a, b)));
}

TEST_CASE("the bound is what N8 says: gamma, the unit roundoff of the store, half a subnormal") {
  for (const std::size_t k : kSizes) {
    for_each_contraction(k, [&](const Contraction& x, Operands operands) {
      for (const Units& units : kUnits) {
        const RoundTo to = {units.format, Rounding::nearest_even};
        for (const ClassB& bound : bounds(x, to, Sums::toward_zero)) {
          if (std::isinf(bound.low) || std::isinf(bound.high)) continue;
          const double ku = static_cast<double>(k) * 0x1p-23;
          const double error = 1.000001 * ku / (1 - ku) * bound.magnitudes + 0x1p-137;
          const double store =
              std::max(units.roundoff * (std::fabs(bound.sum) + error), units.flush);
          CHECK(bound.high - bound.sum <= error + store);
          CHECK(bound.sum - bound.low <= error + store);
          if (operands == Operands::integers) CHECK(bound.low == bound.high);
        }
      }
    });
  }
}

TEST_CASE("mutants leave the bound of N8") {
  int killed = 0, inexact = 0, all = 0;
  for (const Mutant& mutant : kMutants) {
    std::ostringstream line;
    line << mutant.name << ":";
    for (const std::size_t k : {64, 1000, 4096}) {
      Score score;
      for (const Element compute : kFormats) judge(mutant, k, compute, score);
      line << "  k " << k << " killed " << score.killed << " of " << score.all << " ("
           << score.killed_inexact << " by inexact sums), equivalent " << score.equivalent;
      CAPTURE(score.survivors);
      CHECK(score.killed == score.all);
      killed += score.killed, inexact += score.killed_inexact, all += score.all;
    }
    MESSAGE(line.str());
  }
  MESSAGE("killed " << killed << " of " << all << ", " << inexact
                    << " of them by inexact sums too");
}

TEST_CASE("where results below 2^-126 are zeros, the bound is as much wider, and no wider") {
  const auto error = [](std::vector<float> a, std::vector<float> b) {
    return class_b(a, b, {}, Sums::flushed).error;
  };
  // Of two products of about 2^-100 both keep 2 * 2^-24 * 2 * 2^-100; beside it 2 * 2 * 2^-126.
  const std::vector<float> a(2, 0x1.000002p-50f), b(2, 0x1.000002p-50f);
  CHECK(class_b(a, b, {}, Sums::nearest).error < 0x1.001p-122f);
  CHECK(error(a, b) > 0x1.4p-122f);
  CHECK(error(a, b) < 0x1.401p-122f);
  // Exact, as long as no sum can be subnormal.
  CHECK(error({0x1p-60f, -0x1p-60f}, {0x1p-60f, 0x1p-66f}) == 0);
  CHECK(error({0x1p-60f, -0x1p-60f}, {0x1p-60f, 0x1p-67f}) > 0);
  // A subnormal operand is a zero, beside an infinity, too.
  const auto bound =
      class_b(std::vector{0x1p-130f, 3.0f}, std::vector{0x1p+120f, 1.0f}, {}, Sums::flushed);
  CHECK(bound.low == 3.0f);
  CHECK(bound.high == 3.0f);
  CHECK(class_b(std::vector{0x1p-130f}, std::vector{kInfinity}, {}, Sums::flushed)
            .holds(std::nanf("")));
}

TEST_CASE("results below the smallest normal are held, and their flush to zero is not") {
  struct Case {
    Element store;
    float a, b;  // about which the operands lie; the sum is subnormal in the store format
  };
  const Case cases[] = {{Element::f16, 0x1p-12f, 0x1p-10f},
                        {Element::bf16, 0x1p-69f, 0x1p-65f},
                        {Element::tf32, 0x1p-69f, 0x1p-65f},
                        {Element::f32, 0x1p-69f, 0x1p-65f}};
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.store));
    std::vector<float> a, b;
    for (int i = 0; i < 64; ++i) {
      a.push_back(c.a * (1 + static_cast<float>(i * 37 % 64) * 0x1.0102p-6f));
      b.push_back(i % 4 == 3 ? -c.b : c.b * 0x1.010102p+0f);
    }
    for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero}) {
      const RoundTo store = {c.store, rounding};
      for (const Order& order : kOrders) {
        CAPTURE(std::string(order.name));
        const ClassB bound = class_b(a, b, store, order.sums);
        const float stored = round(store, order.sum(a, b));
        CHECK(std::fabs(stored) < (c.store == Element::f16 ? 0x1p-14f : 0x1p-126f));
        CHECK(bound.holds(stored));
        CHECK(bound.holds(0) == (order.sums == Sums::flushed && c.store != Element::f16));
      }
    }
  }
}

TEST_CASE("products below every f32 are held however they are rounded") {
  for (const std::size_t k : kSizes) {
    CAPTURE(k);
    const std::vector<float> a(k, 0x1.8p-75f), b(k, 0x1p-75f);  // products of 0.75 * 2^-149
    for (const Order& order : kOrders) {
      CAPTURE(std::string(order.name));
      CHECK(class_b(a, b, {}, order.sums).holds(order.sum(a, b)));
    }
    CHECK_FALSE(class_b(a, b, {}, Sums::nearest).holds(-0x1p-149f));
  }
}

TEST_CASE("results that are not finite are allowed where they are due") {
  const auto bound = [](std::vector<float> a, std::vector<float> b, Element store) {
    return class_b(a, b, {store, Rounding::nearest_even}, Sums::nearest);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(bound({1, nan}, {1, 1}, Element::f32).holds(nan));
  CHECK_FALSE(bound({1, nan}, {1, 1}, Element::f32).holds(1));
  CHECK(bound({1, kInfinity}, {1, 0}, Element::f16).holds(nan));
  CHECK(bound({1, kInfinity}, {1, 2}, Element::f16).holds(kInfinity));
  CHECK_FALSE(bound({1, kInfinity}, {1, 2}, Element::f16).holds(65504));
  CHECK_FALSE(bound({1, 2}, {1, 2}, Element::f16).holds(nan));
  CHECK(bound({256, 256}, {256, 256}, Element::f16).holds(kInfinity));
  CHECK_FALSE(bound({256, 256}, {256, 256}, Element::f16).holds(65504));
  // 65520 is where f16 ends: a sum that may fall on either side.
  const std::vector<float> edge_a = {65520, 0x1.000002p-10f}, edge_b = {1, 0x1.000002p-10f};
  CHECK(bound(edge_a, edge_b, Element::f16).holds(kInfinity));
  CHECK(bound(edge_a, edge_b, Element::f16).holds(65504));
  CHECK_FALSE(bound(edge_a, edge_b, Element::f16).holds(65472));
}

TEST_CASE("what has no bound is refused") {
  const std::vector<float> one = {1}, two = {1, 2}, huge = {0x1p+100f};
  CHECK_THROWS_WITH_AS((void)class_b(huge, huge, {}, Sums::nearest),
                       "a partial sum may overflow f32; use smaller operands", std::domain_error);
  CHECK_THROWS_WITH_AS((void)class_b(one, two, {}, Sums::nearest),
                       "operands differ in length; pass equal k", std::invalid_argument);
  CHECK_THROWS_AS((void)gamma_bound(1 << 23, 0x1p-23), std::domain_error);
  CHECK(gamma_bound(4096, 0x1p-23) == 0x1p-11 / (1 - 0x1p-11));
}
