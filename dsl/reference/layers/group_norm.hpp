// SPDX-License-Identifier: Apache-2.0
// group_norm: D83 and D84.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct GroupNorm : LayerKind {
  static constexpr std::string_view word = "group_norm";
  static constexpr std::array classes{description::LayerClass::normalization};
  static constexpr std::array internals{std::string_view("normalized")};

  // D83
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> x = layer["x"], weight = layer["weight"], bias = layer["bias"];
    const Groups groups(layer);
    Values<Scalar> y(x.size());
    for (std::int64_t image = 0; image < groups.images; ++image) {
      const Statistics<Scalar> s(groups, groups.image_of(x, image), layer);
      for (std::int64_t e = image * groups.elements; e < (image + 1) * groups.elements; ++e) {
        const std::int64_t c = e % groups.channels;
        const Scalar h = layer.internal("normalized", (x[e] - s.mean[c]) * s.rstd[c]);
        y[e] = fma(h, weight[c], bias[c]);
      }
    }
    return y;
  }

  // D84. The statistics are forward's, which stay f32 (P31); x is as this pass reads it.
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const View<Scalar> x = layer["x"], weight = layer["weight"];
    const View<Scalar> forward_x = layer.operand("x").forward_values;
    const Groups groups(layer);
    Values<Scalar> of_x(x.size()), h(x.size()), terms(x.size());
    for (std::int64_t image = 0; image < groups.images; ++image) {
      const std::int64_t first = image * groups.elements, last = first + groups.elements;
      const Statistics<Scalar> s(groups, groups.image_of(forward_x, image), layer);
      for (std::int64_t e = first; e < last; ++e) {
        const std::int64_t c = e % groups.channels;
        h[e] = layer.internal("normalized", (x[e] - s.mean[c]) * s.rstd[c]);
        terms[e] = g[e] * h[e];
      }
      const auto mean_of = [&](View<Scalar> values) {
        Values<Scalar> weighed = column_sums(groups.image_of(values, image), groups.channels);
        for (std::int64_t c = 0; c < groups.channels; ++c) weighed[c] = weighed[c] * weight[c];
        return groups.means(View<Scalar>(weighed));
      };
      const Values<Scalar> a = mean_of(g), b = mean_of(View<Scalar>(terms));
      for (std::int64_t e = first; e < last; ++e) {
        const std::int64_t c = e % groups.channels;
        of_x[e] = s.rstd[c] * ((g[e] * weight[c] - a[c]) - h[e] * b[c]);
      }
    }
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("x")] = std::move(of_x);
    gradients[layer.position("weight")] = column_sums(View<Scalar>(terms), groups.channels);
    gradients[layer.position("bias")] = column_sums(g, groups.channels);
    return gradients;
  }

 private:
  struct Groups {
    std::int64_t images, elements, channels, of_group;

    template <class Scalar>
    explicit Groups(const Layer<Scalar>& layer)
        : images(layer.extents.front()),
          elements(count(layer.extents) / images),
          channels(columns(layer.extents)),
          of_group(1) {
      const auto stated = layer.settings.numbers.find("groups");
      if (stated != layer.settings.numbers.end())
        of_group = channels / static_cast<std::int64_t>(stated->second);
    }

    template <class Scalar>
    View<Scalar> image_of(View<Scalar> values, std::int64_t image) const {
      return values.subspan(image * elements, elements);
    }

    /// Of sums over places, one a channel: for each channel the mean of its group.
    template <class Scalar>
    Values<Scalar> means(View<Scalar> sums) const {
      const Scalar n = static_cast<Scalar>(elements / channels * of_group);
      Values<Scalar> result(channels);
      for (std::int64_t c = 0; c < channels; ++c)
        result[c] = sum(sums.subspan(c / of_group * of_group, of_group)) / n;
      return result;
    }
  };

  /// Of one image, for each channel those of its group.
  template <class Scalar>
  struct Statistics {
    Values<Scalar> mean, rstd;

    Statistics(const Groups& groups, View<Scalar> x, const Layer<Scalar>& layer) {
      mean = groups.means(View<Scalar>(column_sums(x, groups.channels)));
      Values<Scalar> squares(x.size());
      for (std::int64_t e = 0; e < std::ssize(x); ++e) {
        const Scalar d = x[e] - mean[e % groups.channels];
        squares[e] = d * d;
      }
      const auto epsilon = static_cast<Scalar>(layer.settings.numbers.at("epsilon"));
      rstd = groups.means(View<Scalar>(column_sums(View<Scalar>(squares), groups.channels)));
      for (Scalar& each : rstd) each = 1 / sqrt(each + epsilon);
    }
  };
};

}  // namespace halftone::reference
