// SPDX-License-Identifier: Apache-2.0
#include "halftone/value_statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <variant>

#include "formats.hpp"
#include "halftone/encoding/text.hpp"
#include "halftone/encoding/traits.hpp"

namespace halftone {
namespace {

using encoding::Encoding;

constexpr const encoding::ElementTraits& kF32 = encoding::traits(encoding::Element::f32);
constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr std::uint32_t kInfinity = 0x7f800000;

std::optional<Encoding> encoding_of(std::string_view format) {
  const auto parsed = encoding::parse(format);
  const auto* const found = std::get_if<Encoding>(&parsed);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

/// How many magnitudes have which exponent of f32.
class Exponents {
 public:
  void add(std::span<const float> values) {
    for (const float value : values) {
      const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & kMagnitude;
      if (magnitude >= kInfinity) {
        ++(magnitude > kInfinity ? not_a_number_ : infinite_);
        continue;
      }
      if (magnitude == 0) {
        ++zeros_;
        continue;
      }
      const std::uint32_t field = magnitude >> kF32.mantissa_bits;
      // A subnormal number's exponent is where its leading one is.
      ++counts_[field > 0 ? kSubnormal + field - 1
                          : static_cast<std::uint32_t>(std::bit_width(magnitude)) - 1];
      least_ = std::min(least_, magnitude);
      greatest_ = std::max(greatest_, magnitude);
    }
  }

  void tell(std::int64_t& first, std::vector<std::int64_t>& exponents) const {
    const auto is_there = [](std::int64_t count) { return count > 0; };
    const auto begin = std::ranges::find_if(counts_, is_there);
    if (begin == counts_.end()) return;
    const auto end = std::find_if(counts_.rbegin(), counts_.rend(), is_there).base();
    first = begin - counts_.begin() + encoding::least_subnormal(kF32);
    exponents.assign(begin, end);
  }

  [[nodiscard]] std::int64_t zeros() const { return zeros_; }
  [[nodiscard]] std::int64_t infinite() const { return infinite_; }
  [[nodiscard]] std::int64_t not_a_number() const { return not_a_number_; }
  [[nodiscard]] double least() const { return greatest_ == 0 ? 0.0 : value_of(least_); }
  [[nodiscard]] double greatest() const { return value_of(greatest_); }

 private:
  static double value_of(std::uint32_t magnitude) { return std::bit_cast<float>(magnitude); }

  static constexpr std::uint32_t kSubnormal = kF32.mantissa_bits;  ///< exponents below the normal
  std::array<std::int64_t, kSubnormal + 254> counts_{};
  std::int64_t zeros_ = 0, infinite_ = 0, not_a_number_ = 0;
  std::uint32_t least_ = kInfinity, greatest_ = 0;
};

/// What a rounding cannot exceed, and the magnitudes above which it had to be cut to that.
struct Limit {
  double largest = std::numeric_limits<double>::infinity();
  double beyond = std::numeric_limits<double>::infinity();
};

double significand_of(double value) { return std::ldexp(value, -std::ilogb(value)); }

/// Under one scale, a power of two or of codes, the greatest number stands for the largest if it
/// has its digits; what is further above than numbers are apart was cut.
Limit limit_of(const Encoding& encoding, double greatest) {
  if (!encoding::is_narrow(encoding.element)) return {};
  const encoding::ElementTraits& traits = encoding::traits(encoding.element);
  const double largest = value_of(encoding.element, encoding::code_of_largest(traits));
  if (!encoding::is_scaled(encoding)) return {largest, largest};
  using Kind = encoding::Scaling::Kind;
  if (encoding.scaling.kind != Kind::tensor && encoding.scaling.kind != Kind::delayed) return {};
  if (greatest == 0 || significand_of(greatest) != significand_of(largest)) return {};
  return {greatest, greatest * (1 + std::ldexp(1.0, -traits.mantissa_bits))};
}

void count_rounding(const InspectedValue& value, ValueStatistics& statistics) {
  const auto encoding = encoding_of(value.format);
  const Limit limit = encoding ? limit_of(*encoding, statistics.greatest) : Limit();
  double of_differences = 0.0, of_values = 0.0;
  for (std::size_t i = 0; i < value.values.size(); ++i) {
    const double before = value.before[i], after = value.values[i];
    if (!std::isfinite(before)) continue;
    if (!std::isfinite(after)) {
      ++statistics.overflowed;
      continue;
    }
    statistics.flushed += before != 0 && after == 0;
    statistics.saturated += std::abs(after) == limit.largest && std::abs(before) > limit.beyond;
    of_differences += (after - before) * (after - before);
    of_values += before * before;
  }
  if (of_values > 0) statistics.error = std::sqrt(of_differences / of_values);
}

}  // namespace

ValueStatistics statistics_of(const InspectedValue& value) {
  ValueStatistics statistics{.layer = std::string(value.layer),
                             .op = std::string(value.op),
                             .pass = std::string(value.pass),
                             .role = std::string(value.role)};
  statistics.elements = static_cast<std::int64_t>(value.values.size());
  Exponents exponents;
  exponents.add(value.values);
  statistics.not_a_number = exponents.not_a_number();
  statistics.infinite = exponents.infinite();
  statistics.zeros = exponents.zeros();
  statistics.least = exponents.least();
  statistics.greatest = exponents.greatest();
  exponents.tell(statistics.first_exponent, statistics.exponents);
  if (value.before.size() == value.values.size() && !value.before.empty()) {
    statistics.format = value.format;
    statistics.rule = value.rule;
    count_rounding(value, statistics);
    Exponents before;
    before.add(value.before);
    before.tell(statistics.first_exponent_before, statistics.exponents_before);
  }
  return statistics;
}

std::vector<ValueStatistics> value_statistics(const Trainer& trainer) {
  std::vector<ValueStatistics> all;
  trainer.inspect([&](const InspectedValue& value) { all.push_back(statistics_of(value)); });
  return all;
}

}  // namespace halftone
