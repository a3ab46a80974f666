// SPDX-License-Identifier: Apache-2.0
// How values are rounded at a point of a pass: drawn, scaled in groups, or as codes and factors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "drawing.hpp"
#include "halftone/reference/rounding.hpp"
#include "layer.hpp"
#include "xxh3.hpp"

namespace halftone::reference {

/// P49: without draws what is stochastic goes to the nearest, as does f32, to which nothing is
/// rounded.
inline RoundTo in_pass(RoundTo to, const Draws& draws) {
  const bool draws_none = !draws.training || to.format == description::Element::f32;
  const bool is_stochastic = to.rounding == description::Rounding::stochastic;
  if (is_stochastic && draws_none) to.rounding = description::Rounding::nearest_even;
  return to;
}

/// What is rounded to in words, as the names of points that draw end (P48, P53).
inline std::string drawn_format(const RoundTo& to) {
  using enum description::Element;
  const char* const element = to.format == f16      ? "f16"
                              : to.format == bf16   ? "bf16"
                              : to.format == tf32   ? "tf32"
                              : to.format == f8e4m3 ? "f8e4m3"
                              : to.format == f6e3m2 ? "f6e3m2"
                              : to.format == f6e2m3 ? "f6e2m3"
                              : to.format == f4e2m1 ? "f4e2m1"
                                                    : "f8e5m2";
  return std::string(element) + " stochastic" + (to.saturate ? " saturate" : "");
}

/// All values of a tensor at the rounding point of that name (P48), or those from `first` on.
template <class Scalar>
Values<Scalar> rounded(RoundTo to, Values<Scalar> values, Draws draws, const std::string& name,
                       std::uint64_t first = 0) {
  to = in_pass(to, draws);
  if (to.rounding != description::Rounding::stochastic) {
    for (Scalar& value : values) value = round(to, value);
    return values;
  }
  draws.layer = xxh3(name + " " + drawn_format(to));
  for (std::size_t e = 0; e < values.size(); ++e) {
    values[e] = round_by(draw(draws, first + e), to, values[e]);
  }
  return values;
}

/// The last two dimensions of a tensor, whose matrices lie one behind the other.
struct Matrices {
  std::size_t rows = 1, columns = 1;
};

/// The places of each group of values that share a scale (P51, P89): all, block by block, or those
/// of one row, or of one place in all rows.
inline std::vector<std::vector<std::size_t>> groups_of(const encoding::Scaling& scaling,
                                                       const Matrices& of, std::size_t count) {
  using Kind = encoding::Scaling::Kind;
  std::vector<std::vector<std::size_t>> groups;
  if (scaling.kind == Kind::row || scaling.kind == Kind::column) {
    const bool are_rows = scaling.kind == Kind::row;
    groups.resize(are_rows ? count / of.columns : of.columns);
    for (std::size_t e = 0; e < count; ++e)
      groups[are_rows ? e / of.columns : e % of.columns].push_back(e);
    return groups;
  }
  if (scaling.kind != Kind::block) {
    std::vector<std::size_t>& all = groups.emplace_back(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return groups;
  }
  const auto rows = static_cast<std::size_t>(scaling.rows);
  const auto columns = static_cast<std::size_t>(scaling.size);
  const std::size_t blocks_in_row = (of.columns + columns - 1) / columns;
  const std::size_t blocks_in_column = (of.rows + rows - 1) / rows;
  const std::size_t matrix = of.rows * of.columns;
  groups.resize(count / matrix * blocks_in_row * blocks_in_column);
  for (std::size_t e = 0; e < count; ++e) {
    const std::size_t row = e % matrix / of.columns, column = e % of.columns;
    const std::size_t block = (e / matrix * blocks_in_column + row / rows) * blocks_in_row;
    groups[block + column / columns].push_back(e);
  }
  return groups;
}

/// P51, P77: for every value the scale of its group.
template <class Scalar>
Values<Scalar> scales_of(const RoundTo& to, const Values<Scalar>& values, const Matrices& of) {
  Values<Scalar> scales(values.size());
  const bool has_two = has_two_levels(to.scaling);
  const auto of_all = has_two ? scale_of_all(to, std::span<const Scalar>(values)) : 1;
  for (const std::vector<std::size_t>& group : groups_of(to.scaling, of, values.size())) {
    Values<Scalar> members;
    for (const std::size_t e : group) members.push_back(values[e]);
    const std::span<const Scalar> of_group(members);
    const auto scale = has_two ? scale_of_block(to, of_all, of_group) : scale_of(to, of_group);
    for (const std::size_t e : group) scales[e] = Scalar(scale);
  }
  return scales;
}

/// What numbers are multiplied by before they are rounded: finite where a block's scale is 0 (P77).
inline float inverse_of(float scale) {
  return std::min(1 / scale, std::numeric_limits<float>::max());
}
inline double inverse_of(double scale) { return 1 / scale; }
inline Bounded inverse_of(Bounded scale) { return Bounded(1) / scale; }

/// An operand as an operation reads it: its numbers, and where scales are f32 what each is the
/// product of (P88).
template <class Scalar>
struct Read {
  Values<Scalar> numbers, codes, factors;
  bool rotated = false;  ///< P105
};

/// P87: the values times `multipliers`, one for each of them, as `rounded` rounds them to the
/// element then.
template <class Round>
Values<float> codes_of(const Values<float>& values, const Values<float>& multipliers,
                       Round rounded) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  Values<float> codes;
  for (std::size_t e = 0; e < values.size(); ++e)
    codes.push_back(std::isfinite(values[e]) ? values[e] * multipliers[e] : kNaN);
  codes = rounded(std::move(codes));
  for (std::size_t e = 0; e < values.size(); ++e)
    if (!std::isfinite(values[e])) codes[e] = kNaN;  // which some formats do not have (P52)
  return codes;
}

/// P87: the values under scales of f32, one for each of them in `multipliers`.
template <class Round>
Read<float> read_codes(const Values<float>& values, const Values<float>& multipliers,
                       Round rounded) {
  Read<float> read;
  read.codes = codes_of(values, multipliers, rounded);
  for (std::size_t e = 0; e < values.size(); ++e) {
    read.factors.push_back(1 / multipliers[e]);
    read.numbers.push_back(read.codes[e] * read.factors[e]);
  }
  return read;
}

/// P97: the values under two levels, the upper one of f32; codes are numbers of the element times
/// their block's scale.
template <class Round>
Read<float> read_under_two_levels(const RoundTo& to, const Values<float>& values,
                                  const Matrices& of, Round rounded) {
  const float of_all = multiplier_of(to, values), factor = 1 / of_all;
  Values<float> scales(values.size()), multipliers(values.size());
  for (const std::vector<std::size_t>& group : groups_of(to.scaling, of, values.size())) {
    Values<float> members;
    for (const std::size_t e : group) members.push_back(values[e]);
    const float scale = code_scale_of_block(to, of_all, members);
    for (const std::size_t e : group) {
      scales[e] = scale;
      multipliers[e] = inverse_of(scale * factor);
    }
  }
  Read<float> read;
  read.codes = codes_of(values, multipliers, rounded);
  read.factors.assign(values.size(), factor);
  for (std::size_t e = 0; e < values.size(); ++e) {
    read.codes[e] *= scales[e];
    read.numbers.push_back(read.codes[e] * factor);
  }
  return read;
}

/// An operand at the rounding point of that name (P10, P51).
template <class Scalar>
Values<Scalar> rounded_operand(const RoundTo& to, Values<Scalar> values, const Matrices& of,
                               const Draws& draws, const std::string& name) {
  if (to.scaling.kind == encoding::Scaling::Kind::none) {
    return rounded(to, std::move(values), draws, name);
  }
  const Values<Scalar> given = values, scales = scales_of(to, values, of);
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = values[e] * inverse_of(scales[e]);
  values = rounded(to, std::move(values), draws, name);
  for (std::size_t e = 0; e < values.size(); ++e) {
    const bool is_nan = std::isnan(plain(given[e]));  // which some formats do not have (P52)
    values[e] = is_nan ? round({description::Element::bf16}, given[e]) : values[e] * scales[e];
  }
  return values;
}

/// P87, P89, P101: for every value what its group is multiplied by.
inline Values<float> multipliers_of(const RoundTo& to, const Values<float>& values,
                                    const Matrices& of) {
  Values<float> multipliers(values.size());
  for (const std::vector<std::size_t>& group : groups_of(to.scaling, of, values.size())) {
    Values<float> members;
    for (const std::size_t e : group) members.push_back(values[e]);
    const float multiplier = multiplier_of(to, members);
    for (const std::size_t e : group) multipliers[e] = multiplier;
  }
  return multipliers;
}

inline Read<float> read_under_f32(const RoundTo& to, const Values<float>& values,
                                  const Matrices& of, const Draws& draws, const std::string& name) {
  const auto to_element = [&](Values<float> multiplied) {
    return rounded(to, std::move(multiplied), draws, name);
  };
  if (has_two_levels(to.scaling)) return read_under_two_levels(to, values, of, to_element);
  Read<float> read = read_codes(values, multipliers_of(to, values, of), to_element);
  if (!encoding::factors_sums(to.scaling)) {  // P101: numbers alone
    read.codes.clear();
    read.factors.clear();
  }
  return read;
}
/// Exact evaluation knows no formats.
inline Read<double> read_under_f32(const RoundTo&, const Values<double>& values, const Matrices&,
                                   const Draws&, const std::string&) {
  return {.numbers = values, .codes = {}, .factors = {}};
}
/// Numbers stand for codes and factors: what a sum of codes rounds otherwise is far less.
inline Read<Bounded> read_under_f32(const RoundTo& to, const Values<Bounded>& values,
                                    const Matrices& of, const Draws& draws,
                                    const std::string& name) {
  Read<Bounded> read{.numbers = values, .codes = {}, .factors = {}};
  if (has_two_levels(to.scaling)) {  // P77's bound, whose scale of all is no less
    read.numbers = rounded_operand(to, std::move(read.numbers), of, draws, name);
    for (Bounded& number : read.numbers) number.error += 0x1p-20 * std::fabs(number.value);
    return read;
  }
  for (const std::vector<std::size_t>& group : groups_of(to.scaling, of, values.size())) {
    Values<Bounded> members;
    for (const std::size_t e : group) members.push_back(values[e]);
    for (const std::size_t e : group)
      read.numbers[e] = number_under_f32(to, std::span<const Bounded>(members), values[e]);
  }
  return read;
}

}  // namespace halftone::reference
