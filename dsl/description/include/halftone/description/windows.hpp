// SPDX-License-Identifier: Apache-2.0
// What kinds share that slide windows over the spatial dimensions of x, [..., spatial..., channels]
// (D77): the settings, and what they make of the shape.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::windows {

/// Of sizes, steps and zeros: so that no sum of them leaves an i64.
inline constexpr double kMost = 65536;
constexpr bool is_step(double value) { return value >= 1 && value <= kMost; }
constexpr bool is_padding(double value) { return value >= 0 && value <= kMost; }

/// Where a kind has its settings, the first four in this order; the last two are of convolutions.
inline constexpr int kKernel = 0, kStride = 1, kDilation = 2, kPadding = 3, kGroups = 4,
                     kOutputPadding = 5;

inline constexpr SettingForm kernel{.name = "kernel",
                                    .type = SettingType::integers,
                                    .accepts = is_step,
                                    .title = "a kernel",
                                    .trouble = "is not from 1 to 65536",
                                    .example = "3",
                                    .plain = true,
                                    .rule = "D77"};
inline constexpr SettingForm stride{.name = "stride",
                                    .type = SettingType::integers,
                                    .optional = true,
                                    .accepts = is_step,
                                    .title = "a stride",
                                    .trouble = "is not from 1 to 65536",
                                    .example = "2",
                                    .rule = "D77"};
inline constexpr SettingForm dilation{.name = "dilation",
                                      .type = SettingType::integers,
                                      .optional = true,
                                      .accepts = is_step,
                                      .title = "a dilation",
                                      .trouble = "is not from 1 to 65536",
                                      .example = "2",
                                      .rule = "D77"};
inline constexpr SettingForm padding{.name = "padding",
                                     .type = SettingType::integers,
                                     .optional = true,
                                     .accepts = is_padding,
                                     .title = "a padding",
                                     .trouble = "is not from 0 to 65536",
                                     .example = "1",
                                     .rule = "D77"};
inline constexpr SettingForm groups{.name = "groups",
                                    .type = SettingType::integer,
                                    .optional = true,
                                    .accepts = is_step,
                                    .title = "a number of groups",
                                    .trouble = "is not from 1 to 65536",
                                    .example = "4",
                                    .rule = "D77"};

inline constexpr SettingForm output_padding{.name = "output_padding",
                                            .type = SettingType::integers,
                                            .optional = true,
                                            .accepts = is_padding,
                                            .title = "an output_padding",
                                            .trouble = "is not from 0 to 65536",
                                            .example = "1",
                                            .rule = "D79"};

/// The windows along one spatial dimension.
struct Along {
  std::int64_t kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;

  constexpr std::int64_t reach() const { return dilation * (kernel - 1) + 1; }
};

template <class Node>
constexpr int count_dimensions(Node& node) {
  return static_cast<int>(node.integers(kKernel).size());
}

/// Number `i` of a list, `otherwise` where that is absent or was not judged yet and is none.
template <class Node>
constexpr std::int64_t number_of(Node& node, int setting, int i, std::int64_t otherwise) {
  const auto list = node.integers(setting);
  if (i >= static_cast<int>(list.size())) return otherwise;
  const bool accepted = setting == kPadding || setting == kOutputPadding
                            ? is_padding(static_cast<double>(list[i]))
                            : is_step(static_cast<double>(list[i]));
  return accepted ? list[i] : otherwise;
}

template <class Node>
constexpr Along along(Node& node, int dimension) {
  return {.kernel = number_of(node, kKernel, dimension, 1),
          .stride = number_of(node, kStride, dimension, 1),
          .dilation = number_of(node, kDilation, dimension, 1),
          .before = number_of(node, kPadding, dimension, 0),
          .after = number_of(node, kPadding, count_dimensions(node) + dimension, 0)};
}

template <class Node>
constexpr bool has_numbers(Node& node, int setting, const char* what, int wanted) {
  const int stated = static_cast<int>(node.integers(setting).size());
  if (!node.states(setting) || stated == wanted) return true;
  node.refuse("states ", node.fixed(stated), " numbers of its ", what, " for a kernel of ",
              node.fixed(count_dimensions(node)), " dimensions", kRemedy, "state ",
              node.fixed(wanted));
  return false;
}

/// Whether a list of as many numbers, `what`, is of one to three spatial dimensions.
template <class Node>
constexpr bool states_dimensions(Node& node, int dimensions, const char* what) {
  if (dimensions >= 1 && dimensions <= 3) return true;
  node.refuse("states ", node.fixed(dimensions), " numbers of its ", what, kRemedy,
              "state one for every spatial dimension, 1 to 3");
  return false;
}

/// Whether x has so many dimensions before its channels, and a number of these; `does` is what the
/// kind does to them.
template <class Node>
constexpr bool has_spatial(Node& node, int dimensions, const char* does) {
  const auto& x = node.shape(0);
  if (node.rank(x) <= dimensions) {
    node.refuse("reads ", x, " but ", does, node.fixed(dimensions),
                " dimensions before the channels", kRemedy, "give its input ",
                node.fixed(dimensions + 1), " dimensions or more");
    return false;
  }
  for (int i = 0; node.rank(x) == dimensions + 1 && i < dimensions; ++i) {
    if (!node.is_batch(node.at(x, i))) continue;
    node.refuse("reads ", x, " but ", does, "the batch", kRemedy, "give its input ",
                node.fixed(dimensions + 2), " dimensions or more, of which that is the first");
    return false;
  }
  if (node.is_fixed(node.last(x))) return true;
  node.refuse("reads ", x, ", whose channels are the symbol '", node.last(x), "'", kRemedy,
              "give it a number");
  return false;
}

/// Whether the lists are of one to three spatial dimensions, all of the same, and x has them.
template <class Node>
constexpr bool fit(Node& node) {
  const int dimensions = count_dimensions(node);
  if (!states_dimensions(node, dimensions, "kernel") ||
      !has_numbers(node, kStride, "stride", dimensions) ||
      !has_numbers(node, kDilation, "dilation", dimensions) ||
      !has_numbers(node, kPadding, "padding", 2 * dimensions))
    return false;
  return has_spatial(node, dimensions, "slides over ");
}

/// The spatial dimension at `at`, a number or so often a symbol, `times` as long; false where that
/// is refused.
template <class Node, class Shape>
constexpr bool lengthen(Node& node, int at, std::int64_t times, Shape& result) {
  const auto length = node.at(node.shape(0), at);
  if (node.is_fixed(length)) {
    node.at(result, at) = node.fixed(product_of_extents(node.extent(length), times));
    return true;
  }
  if (node.factor(length) > kMostFactor / times) {
    node.refuse("makes ", node.fixed(times), " places of each of ", length, kRemedy,
                "let a symbol be taken ", node.fixed(kMostFactor), " times or less");
    return false;
  }
  node.at(result, at) = node.with_extent(node.with_factor(length, node.factor(length) * times),
                                         node.extent(length) * times);
  return true;
}

/// Whether the spatial dimension at `at` is a multiple of `parts`, whatever its symbol is bound to.
template <class Node>
constexpr bool divides_length(Node& node, int at, std::int64_t parts) {
  const auto length = node.at(node.shape(0), at);
  return node.extent(length) % parts == 0 &&
         (node.is_fixed(length) || node.factor(length) % parts == 0);
}

/// One of `parts`, where they divide it.
template <class Node>
constexpr auto part_of_length(Node& node, int at, std::int64_t parts) {
  const auto length = node.at(node.shape(0), at);
  return node.is_fixed(length)
             ? node.fixed(node.extent(length) / parts)
             : node.with_extent(node.with_factor(length, node.factor(length) / parts),
                                node.extent(length) / parts);
}

/// How many windows there are along a dimension that is a symbol: where its length, but for what is
/// added, is a multiple of the stride exactly that part of it, whatever it is bound to, or it is
/// refused. D113
template <class Node, class Shape>
constexpr bool count_windows_of_symbol(Node& node, const Along& is, int at, Shape& result) {
  const auto& x = node.shape(0);
  const auto length = node.at(x, at);
  if (node.factor(length) % is.stride != 0) {
    node.refuse("reads ", x, ", whose spatial dimension '", length,
                "' is no multiple of the stride ", node.fixed(is.stride), kRemedy,
                "give it a number, or a symbol taken so often that it is one");
    return false;
  }
  const std::int64_t added = node.extent(length), zeros = is.before + is.after + added,
                     least = is.reach() - is.stride, most = is.reach() - 1;
  const auto wanted =
      node.with_extent(node.with_factor(length, node.factor(length) / is.stride), 0);
  if (zeros >= least && zeros <= most) {
    node.at(result, at) = wanted;
    return true;
  }
  if (added > most) {
    node.refuse("reads ", x, ", whose spatial dimension '", length, "' would not have '", wanted,
                "' windows", kRemedy, "pad it by ", node.fixed(most), " or less");
  } else if (least == most || most == added) {
    node.refuse("reads ", x, ", whose spatial dimension '", length, "' would not have '", wanted,
                "' windows", kRemedy, "give it a number, or a padding of ",
                node.fixed(most - added), " for both sides together, as same has");
  } else {
    node.refuse("reads ", x, ", whose spatial dimension '", length, "' would not have '", wanted,
                "' windows", kRemedy, "give it a number, or a padding of ",
                node.fixed(least > added ? least - added : 0), " to ", node.fixed(most - added),
                " for both sides together, as same has");
  }
  return false;
}

/// How many windows there are along spatial dimension `i`; false where that is refused.
template <class Node, class Shape>
constexpr bool count_windows(Node& node, int i, Shape& result) {
  const auto& x = node.shape(0);
  const int at = node.rank(x) - 1 - count_dimensions(node) + i;
  const Along is = along(node, i);
  const auto length = node.at(x, at);
  const std::int64_t zeros = is.before + is.after;
  if (!node.is_fixed(length)) return count_windows_of_symbol(node, is, at, result);
  const std::int64_t padded = bounded_extent(node.extent(length)) + zeros;
  const std::int64_t windows = (padded - is.reach()) / is.stride + 1;
  if (padded < is.reach()) {
    node.refuse("has a window of ", node.fixed(is.reach()), " over ", node.fixed(padded),
                " elements of ", x, kRemedy, "make it smaller, or the padding larger");
    return false;
  }
  node.at(result, at) = node.fixed(windows);
  return true;
}

/// 1 where it was not judged yet and is none.
template <class Node>
constexpr std::int64_t count_groups(Node& node) {
  const std::int64_t stated = node.states(kGroups) ? node.integer(kGroups) : 1;
  return stated >= 1 ? stated : 1;
}

/// Whether `count` channels, or what `which` calls them, are whole groups.
template <class Node>
constexpr bool divides(Node& node, std::int64_t count, const char* which) {
  const std::int64_t groups = count_groups(node);
  if (count % groups == 0) return true;
  node.refuse("cuts ", node.fixed(count), which, node.fixed(groups), " groups", kRemedy,
              "make them a multiple of the groups");
  return false;
}

/// Whether there are outputs, and they and the channels are whole groups.
template <class Node, class Dimension>
constexpr bool has_groups(Node& node, const Dimension& outputs) {
  if (node.is_fixed(outputs) && node.extent(outputs) <= 0) {
    node.refuse("has ", outputs, " outputs", kRemedy, "write a number of 1 or more");
    return false;
  }
  return divides(node, node.extent(node.last(node.shape(0))), " channels into ") &&
         (!node.is_fixed(outputs) || divides(node, node.extent(outputs), " outputs into "));
}

/// [outputs, kernel..., channels of a group]
template <class Node, class Dimension>
constexpr auto weight_of(Node& node, const Dimension& outputs) {
  auto weight = node.extended({}, outputs);
  for (int i = 0; i < count_dimensions(node); ++i)
    weight = node.extended(weight, node.fixed(along(node, i).kernel));
  const std::int64_t channels = node.extent(node.last(node.shape(0)));
  return node.extended(weight, node.fixed(channels / count_groups(node)));
}

}  // namespace halftone::description::windows
