// SPDX-License-Identifier: Apache-2.0
// The class B bound (N8) holds for sums in other orders, and faults exceed it.
#include "class_b.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "halftone/reference/rounding.hpp"

namespace halftone::tests {
namespace {

using description::Format;
using description::Rounding;

/// One result element: its rounded operands.
struct Element {
  std::vector<float> a, b;
  [[nodiscard]] std::size_t k() const { return a.size(); }
};

using Sum = std::function<float(const Element&)>;

float chain(const Element& e, std::size_t first, std::size_t last) {
  float sum = 0;
  for (std::size_t i = first; i < last; ++i) sum = std::fma(e.a[i], e.b[i], sum);
  return sum;
}

float pairwise(const Element& e, std::size_t first, std::size_t last) {
  if (last - first <= 2) return chain(e, first, last);
  const std::size_t middle = first + (last - first) / 2;
  return pairwise(e, first, middle) + pairwise(e, middle, last);
}

struct Named {
  const char* name;
  Adder adder;
  Sum sum;
};

const Named kOrders[] = {
    {"ordered", Adder::rounded, [](const Element& e) { return chain(e, 0, e.k()); }},
    {"reverse", Adder::rounded,
     [](const Element& e) {
       float sum = 0;
       for (std::size_t i = e.k(); i-- > 0;) sum = std::fma(e.a[i], e.b[i], sum);
       return sum;
     }},
    {"pairwise", Adder::rounded, [](const Element& e) { return pairwise(e, 0, e.k()); }},
    {"split in four", Adder::rounded,
     [](const Element& e) {
       float sum = 0;
       for (std::size_t part = 0; part < 4; ++part)
         sum += chain(e, e.k() * part / 4, e.k() * (part + 1) / 4);
       return sum;
     }},
    {"tensor core of 16", Adder::tensor_core,
     [](const Element& e) {
       float sum = 0;
       for (std::size_t i = 0; i < e.k(); i += 16) {
         double block = sum;  // exact products, one rounding toward zero
         for (std::size_t j = i; j < std::min(i + 16, e.k()); ++j)
           block += static_cast<double>(e.a[j]) * e.b[j];
         const float nearest = static_cast<float>(block);
         sum = std::fabs(nearest) > std::fabs(block) ? std::nextafter(nearest, 0.0f) : nearest;
       }
       return sum;
     }},
};

float rounded(Format format, float value) {
  return reference::round({format, Rounding::nearest_even}, value);
}

const Named kFaults[] = {
    {"one product dropped", Adder::rounded,
     [](const Element& e) { return chain(e, 0, e.k()) - e.a[e.k() / 3] * e.b[e.k() / 3]; }},
    {"one sign flipped", Adder::rounded,
     [](const Element& e) { return chain(e, 0, e.k()) - 2 * e.a[e.k() / 2] * e.b[e.k() / 2]; }},
    {"the tail missed", Adder::rounded, [](const Element& e) { return chain(e, 0, e.k() - 1); }},
    {"accumulated in bf16", Adder::rounded,
     [](const Element& e) {
       float sum = 0;
       for (std::size_t i = 0; i < e.k(); ++i)
         sum = rounded(Format::bf16, std::fma(e.a[i], e.b[i], sum));
       return sum;
     }},
    {"accumulated in f16", Adder::rounded,
     [](const Element& e) {
       float sum = 0;
       for (std::size_t i = 0; i < e.k(); ++i)
         sum = rounded(Format::f16, std::fma(e.a[i], e.b[i], sum));
       return sum;
     }},
    {"partial sums kept in tf32", Adder::rounded,
     [](const Element& e) {
       float sum = 0;
       for (std::size_t i = 0; i < e.k(); ++i)
         sum = rounded(Format::tf32, std::fma(e.a[i], e.b[i], sum));
       return sum;
     }},
    {"all zero", Adder::rounded, [](const Element&) { return 0.0f; }},
    {"another row's operand", Adder::rounded,
     [](const Element& e) {
       Element swapped = e;
       std::ranges::reverse(swapped.b);
       return chain(swapped, 0, e.k());
     }},
};

/// Operands of one sign or of both.
std::vector<Element> elements(std::size_t k, Format operands, bool one_sign) {
  std::mt19937 engine(static_cast<unsigned>(k));
  std::uniform_real_distribution<float> uniform(one_sign ? 0.25f : -1.0f, 1.0f);
  std::vector<Element> list(64);
  for (Element& e : list)
    for (std::size_t i = 0; i < k; ++i) {
      e.a.push_back(rounded(operands, uniform(engine)));
      e.b.push_back(rounded(operands, uniform(engine)));
    }
  return list;
}

/// How many of the elements a sum leaves outside of the bound.
std::size_t outside(const Named& sum, const std::vector<Element>& list, Format stored) {
  return static_cast<std::size_t>(std::ranges::count_if(list, [&](const Element& e) {
    double exact = 0, magnitude = 0;
    for (std::size_t i = 0; i < e.k(); ++i) {
      exact += static_cast<double>(e.a[i]) * e.b[i];
      magnitude += std::fabs(static_cast<double>(e.a[i]) * e.b[i]);
    }
    const double result = rounded(stored, sum.sum(e));
    return std::fabs(result - exact) >
           class_b_bound(static_cast<std::int64_t>(e.k()), exact, magnitude, sum.adder, stored);
  }));
}

constexpr Format kFormats[] = {Format::f32, Format::tf32, Format::f16, Format::bf16};
constexpr std::size_t kDepths[] = {1, 7, 64, 1000};

}  // namespace

TEST_CASE("sums in any order lie inside the class B bound (N8)") {
  for (const Format operands : kFormats)
    for (const Format stored : {Format::f32, Format::f16, Format::bf16})
      for (const std::size_t k : kDepths)
        for (const bool one_sign : {false, true}) {
          const auto list = elements(k, operands, one_sign);
          for (const Named& order : kOrders) {
            CAPTURE(std::string(order.name));
            CAPTURE(k);
            CHECK(outside(order, list, stored) == 0);
          }
        }
}

TEST_CASE("faults of a contraction exceed the class B bound (N8)") {
  std::size_t killed = 0, all = 0;
  for (const Named& fault : kFaults)
    for (const std::size_t k : {std::size_t{64}, std::size_t{1000}}) {
      CAPTURE(std::string(fault.name));
      CAPTURE(k);
      const std::size_t caught = outside(fault, elements(k, Format::bf16, false), Format::f32);
      CHECK(caught > 0);
      killed += caught > 0;
      ++all;
    }
  MESSAGE("killed " << killed << " of " << all);
}

}  // namespace halftone::tests
