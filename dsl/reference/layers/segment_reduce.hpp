// SPDX-License-Identifier: Apache-2.0
// segment_reduce: D93 and D94.
#pragma once

#include "../segments.hpp"

namespace halftone::reference {

struct SegmentReduce : LayerKind {
  static constexpr std::string_view word = "segment_reduce";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D93
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const Segments segments(layer.operand("segment"), layer.extents);
    if (function(layer) == "max") return segments.largest(layer["x"]).values;
    Values<Scalar> y = segments.sum(layer["x"]);
    return function(layer) == "mean" ? shared_out(segments, y) : y;
  }

  // D94. The times of a maximum are forward's.
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const Segments segments(layer.operand("segment"), layer.extents);
    Values<Scalar> rows(g.begin(), g.end());
    if (function(layer) == "mean") rows = shared_out(segments, rows);
    OperandGradients<Scalar> gradients(layer.operands.size());
    Values<Scalar>& of_x = gradients[layer.position("x")];
    of_x = segments.read(View<Scalar>(rows));
    if (function(layer) != "max") return gradients;
    const auto found = segments.largest(View<Scalar>(layer.operand("x").forward_values));
    for (std::int64_t e = 0; e < std::ssize(of_x); ++e)
      if (!segments.is_found(found, e)) of_x[e] = Scalar(0);
    return gradients;
  }

 private:
  template <class Scalar>
  static std::string_view function(const Layer<Scalar>& layer) {
    return layer.settings.words.at("function");
  }

  template <class Scalar>
  static Values<Scalar> shared_out(const Segments& segments, const Values<Scalar>& rows) {
    const std::vector<std::int64_t> counts = segments.counts();
    Values<Scalar> shares;
    for (std::int64_t e = 0; e < std::ssize(rows); ++e) {
      const std::int64_t count = counts[e / segments.columns()];
      shares.push_back(count == 0 ? Scalar(0)
                                  : rows[e] / static_cast<Scalar>(static_cast<double>(count)));
    }
    return shares;
  }
};

}  // namespace halftone::reference
