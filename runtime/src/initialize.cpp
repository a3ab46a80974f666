// SPDX-License-Identifier: Apache-2.0
#include "initialize.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "floating_point.hpp"
#include "halftone/manifest/checksum.hpp"
#include "philox.hpp"

namespace halftone {
namespace {

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

double unit_uniform(const PhiloxCounter& words) { return (words[0] >> 8) * 0x1p-24; }

double unit_normal(const PhiloxCounter& words) {
  const double u = words[0] * 0x1p-32 + (words[1] + 0.5) * 0x1p-64;  // never 0
  const double v = words[2] * 0x1p-32;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

/// The normal distribution's share below x.
double share_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// Where the normal distribution has this share below it, between `least` and `most`: by Newton's
/// method, or by halving where that leaves what encloses it.
double quantile(double share, double least, double most) {
  double x = 0.5 * (least + most);
  for (int i = 0; i < 100; ++i) {
    const double excess = share_below(x) - share;
    (excess < 0 ? least : most) = x;
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
    double next = x - excess / density;
    if (!(next > least && next < most)) next = 0.5 * (least + most);
    if (std::abs(next - x) <= 1e-15 * (1 + std::abs(x))) return next;
    x = next;
  }
  return x;
}

class TruncatedNormal {
 public:
  explicit TruncatedNormal(const manifest::Initializer& of)
      : of_(of), least_(places(of.low)), most_(places(of.high)) {
    // Far out shares above keep the digits that shares below lose.
    mirrored_ = least_ > 0;
    if (mirrored_) {
      const double ends[] = {least_, most_};
      least_ = -ends[1];
      most_ = -ends[0];
    }
  }

  [[nodiscard]] double draw(const PhiloxCounter& words) const {
    if (of_.second == 0) return std::clamp(of_.first, of_.low, of_.high);
    const double a = share_below(least_), b = share_below(most_);
    const double place = quantile(a + (b - a) * (unit_uniform(words) + 0x1p-25),
                                  std::max(least_, -40.0), std::min(most_, 40.0));
    return std::clamp(of_.first + of_.second * (mirrored_ ? -place : place), of_.low, of_.high);
  }

 private:
  [[nodiscard]] double places(double value) const { return (value - of_.first) / of_.second; }

  const manifest::Initializer& of_;
  double least_, most_;  // in deviations from the mean
  bool mirrored_;
};

/// Makes `count` vectors of `size` numbers, as many or more, orthogonal one after another, and of
/// unit length; twice, so that they are to the last digits.
void orthogonalize(std::vector<double>& vectors, std::size_t count, std::size_t size) {
  for (std::size_t i = 0; i < count; ++i) {
    double* const own = &vectors[i * size];
    const auto along = [&](const double* other) {
      double sum = 0;
      for (std::size_t e = 0; e < size; ++e) sum += own[e] * other[e];
      return sum;
    };
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < i; ++j) {
        const double* const earlier = &vectors[j * size];
        const double share = along(earlier);
        for (std::size_t e = 0; e < size; ++e) own[e] -= share * earlier[e];
      }
      const double length = std::sqrt(along(own));
      for (std::size_t e = 0; e < size; ++e) own[e] /= length;
    }
  }
}

/// `normals` has the matrix's elements in row-major order.
void write_orthogonal(std::span<float> values, const std::vector<double>& normals, double length,
                      std::size_t rows) {
  const std::size_t columns = values.size() / rows;
  const std::size_t count = std::min(rows, columns), size = std::max(rows, columns);
  const bool by_rows = rows <= columns;
  std::vector<double> vectors(values.size());
  const auto place = [&](std::size_t i, std::size_t e) {
    return by_rows ? i * columns + e : e * columns + i;
  };
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t e = 0; e < size; ++e) vectors[i * size + e] = normals[place(i, e)];
  orthogonalize(vectors, count, size);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t e = 0; e < size; ++e)
      values[place(i, e)] = static_cast<float>(length * vectors[i * size + e]);
}

}  // namespace

void initialize(std::span<float> values, const manifest::Initializer& initializer,
                std::uint64_t seed, std::string_view name, std::int64_t rows) {
  const StandardFloatingPoint mode;
  using Kind = manifest::Initializer::Kind;
  const double first = initializer.first, second = initializer.second;
  if (initializer.kind == Kind::constant) {
    std::ranges::fill(values, static_cast<float>(first));
    return;
  }
  const std::uint64_t stream = manifest::hash_of(name);
  const TruncatedNormal truncated(initializer);
  std::vector<double> normals;
  for (std::uint64_t e = 0; e < values.size(); ++e) {
    const PhiloxCounter words =
        philox4x32({low(e), high(e), low(stream), high(stream)}, {low(seed), high(seed)});
    if (initializer.kind == Kind::orthogonal) {
      normals.push_back(unit_normal(words));
      continue;
    }
    const double value = initializer.kind == Kind::uniform
                             ? first + (second - first) * unit_uniform(words)
                         : initializer.kind == Kind::normal ? first + second * unit_normal(words)
                                                            : truncated.draw(words);
    values[e] = static_cast<float>(value);
  }
  if (initializer.kind == Kind::orthogonal)
    write_orthogonal(values, normals, first, static_cast<std::size_t>(rows));
}

}  // namespace halftone
