// SPDX-License-Identifier: Apache-2.0
#include "codegen/audit/TensorSums.h"

using namespace mlir;

namespace halftone::audit {

TensorSums TensorSums::rounded(double share, double least, ir::TensorType type,
                               const ScalarCode &code) const {
  auto dims = type.getDims();
  if (dims.empty())
    return *this;
  auto grown = [&](double sum, ArrayRef<Attribute> summed) {
    return sum * (1 + share) + code.count(summed) * least;
  };
  return {grown(ofLast, dims.take_back()), grown(behindFirst, dims.drop_front()),
          grown(beforeLast, dims.drop_back())};
}

TensorSums TensorSums::viewed(ir::TensorType shown, ir::TensorType as) const {
  if (shown.getRank() == 0 || as.getRank() == 0)
    return {};
  bool keepsFirst = shown.getDims().front() == as.getDims().front();
  bool keepsLast = shown.getDims().back() == as.getDims().back();
  TensorSums sums;
  if (keepsLast) {
    sums.ofLast = ofLast;
    sums.beforeLast = beforeLast;
  }
  if (keepsFirst)
    sums.behindFirst = behindFirst;
  if (keepsFirst && as.getRank() == 2) // a matrix of what stood behind the first dimension
    sums.ofLast = std::min(sums.ofLast, behindFirst);
  return sums;
}

static constexpr double kPartOfSum = 128;

/// Of so many products that are added as the instruction adds them.
static double shareOfKept(double count) {
  constexpr double kAtOnce = 16, kKept = 0x1p-13;
  return accumulated(count + std::ceil(count / kAtOnce), kKept);
}

/// Of parts, of each of which so many roundings to f32 come before the additions.
static double shareOfParts(double count, double roundings) {
  double share = shareOfKept(std::min(count, kPartOfSum));
  return share + product(accumulated(std::ceil(count / kPartOfSum) + roundings, kUnit), 1 + share);
}

double shareOfFloat8(double count, bool promotes) {
  return promotes ? shareOfParts(count, 0) : shareOfKept(count);
}

double shareOfFactored(double count) {
  constexpr double kRoundings = 4; // of both numbers, both factors' product, and the part's
  return shareOfParts(count, kRoundings);
}

Bound sumOfProducts(const Factor &a, const Factor &b, double count, double share) {
  double ofA = a.bound.magnitude(), ofB = b.bound.magnitude();
  double sizes = std::min({product(count, ofA * ofB), product(a.sum, ofB), product(b.sum, ofA)});
  // Σ|a'b' - ab| <= Σ|a'||b' - b| + Σ|a' - a||b|
  double error = product(std::min(product(count, ofA), a.sum), b.bound.error);
  double errors = std::min(product(count, a.bound.error), a.errors);
  error +=
      std::min(product(errors, ofB), product(a.bound.error, std::min(product(count, ofB), b.sum)));
  constexpr double kFlushed = 0x1p-125; // of each product, by AMX and AVX512-BF16: twice 2^-126
  double off = product(share, sizes) + count * kFlushed;
  Interval n = Interval::of(count), most = Interval::within(sizes * (1 + 0x1p-40));
  Bound sum{intersect(a.bound.exact * b.bound.exact * n, most),
            intersect(a.bound.declared * b.bound.declared * n, most), error + off};
  sum.declared = clamped(widened(sum.declared, off), kLargest);
  return tidied(sum);
}

/// Frequencies are at most 1 and off by an ulp or two.
Bound turnsOf(double position) {
  constexpr double kOfFrequency = 4 * 0x1p-23, kOfFunction = 2 * 0x1p-23;
  Bound turn = Bound::of(Interval{-1, 1});
  turn.error = position * kOfFrequency + kOfFunction;
  return tidied(turn);
}

/// With A at most |z|, a stage leaves |z_k +- v| <= 2 A, off by twice what they were and 10 u A: 4
/// u A of the two roundings of either part of the product v, 3 u A of those of the sums, and 2 sqrt
/// 2 u A of a turn that is off by 2^-23 in either part. After s stages A is 2^s times as much.
Bound spectrumOf(const Bound &x, double places, double spectrum) {
  constexpr double kOfStage = 5 * kUnit * 1.001; // of 2^s A
  double stages = std::log2(spectrum), size = x.magnitude();
  double error =
      product(places, x.error) + product(spectrum, size) * stages * kOfStage + spectrum * 0x1p-140;
  double most = product(places, size) * (1 + 0x1p-40);
  Bound part{Interval::within(most), Interval::within(std::min(most + error, kLargest)), error};
  return tidied(part);
}

/// Likewise backwards: a stage leaves |p + q| and |turn| |p - q| at most 2 A, off by 17 u A more
/// than twice as much, and all is divided by the spectrum's size, exactly. Parts at most c are of
/// numbers at most sqrt 2 c.
Bound sequenceOf(const Bound &part, double spectrum) {
  constexpr double kOfStage = 8.5 * kUnit * 1.001;
  double stages = std::log2(spectrum), size = std::sqrt(2) * part.magnitude();
  double error = std::sqrt(2) * part.error + size * stages * kOfStage + 0x1p-140;
  double most = size * (1 + 0x1p-40);
  Bound number{Interval::within(most), Interval::within(std::min(most + error, kLargest)), error};
  return tidied(number);
}

} // namespace halftone::audit
