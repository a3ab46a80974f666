// SPDX-License-Identifier: Apache-2.0
// ONNX operators that make images smaller or larger without weights.
#pragma once

#include <cmath>
#include <map>

#include "onnx_moving.hpp"
#include "onnx_windows.hpp"

namespace halftone::reference::tests {

/// One layer of an operand alone, channels last. What was recorded may have added as many as
/// `summands` in another order.
inline std::string run_resampled(const onnx::Tensor& x, const onnx::Tensor& y,
                                 const std::string& layer, const std::string& settings,
                                 std::int64_t summands = 1) {
  Problem problem;
  problem.model =
      parse_model("input %x : f32" + text_of(x.shape) + "\n%y = " + layer + "(x: %x) {" + settings +
                  "} : " + text_of(y.shape) + "\noutput \"y\" = %y\n");
  problem.inputs.values["x"] = x.values;
  const auto value = [](const auto& run) { return run.value("y"); };
  Judged judged = judge(problem, value);
  check_declared(judged);
  for (double& size : problem.inputs.values["x"]) size = std::fabs(size);
  const Judged sizes = judge(problem, value);
  for (std::size_t i = 0; summands > 1 && i < judged.error.size(); ++i)
    judged.error[i] = static_cast<double>(summands) * 0x1p-24 * sizes.exact[i];
  check_recorded(judged, y.values);
  return "";
}

inline std::string run_pool(const onnx::Vector& vector, const std::string& function) {
  if (!all_f32(vector.inputs)) return "not f32";
  if (vector.outputs.size() > 1) return "gives indices, too";
  if (vector.name == "test_averagepool_2d_ceil_last_window_starts_on_pad")
    return "is recorded in four digits";
  const onnx::Node& node = vector.nodes[0];
  const onnx::Tensor x = channels_last(vector.inputs[0]), y = channels_last(vector.outputs[0]);
  const Shape spatial(x.shape.begin() + 1, x.shape.end() - 1);
  const Shape windows(y.shape.begin() + 1, y.shape.end() - 1);
  const Shape kernel = numbers_or(node, "kernel_shape", 0, 0);
  const bool counts_zeros = attribute_or(node, "count_include_pad", std::int64_t{0}) != 0;
  // The language counts all that windows reach, ONNX no more than `pads` says.
  if (counts_zeros &&
      window_settings(node, spatial, kernel, windows) != window_settings(node, spatial, kernel))
    return "counts zeros that are stated, not those of a last window";
  return run_resampled(x, y, "pool",
                       window_settings(node, spatial, kernel, windows) + ", function: " + function +
                           (counts_zeros ? ", count_include_pad: true" : ""),
                       function == "max" ? 1 : product(kernel, 0, kernel.size()));
}

/// One window for all of an image.
inline std::string run_global_pool(const onnx::Vector& vector, const std::string& function) {
  const onnx::Tensor x = channels_last(vector.inputs[0]), y = channels_last(vector.outputs[0]);
  const Shape spatial(x.shape.begin() + 1, x.shape.end() - 1);
  const std::int64_t elements = product(spatial, 0, spatial.size());
  if (elements > 256) return "has windows of more than 256 elements";
  return run_resampled(x, y, "pool", "kernel: " + text_of(spatial) + ", function: " + function,
                       function == "max" ? 1 : elements);
}

/// Resize, and Upsample, which it has replaced. The nearest element is the one that is repeated,
/// whether it is found from middles, rounded, or from firsts.
inline std::string run_resize(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  const onnx::Tensor x = channels_last(vector.inputs[0]), y = channels_last(vector.outputs[0]);
  const std::string mode = word_or(node, "mode", "nearest");
  if (mode == "cubic") return "is cubic";
  Shape factors;
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    const bool is_spatial = d > 0 && d + 1 < x.shape.size();
    const std::int64_t factor = y.shape[d] / x.shape[d];
    if (y.shape[d] != x.shape[d] * factor || (!is_spatial && factor != 1))
      return "has a scale that is no whole number";
    if (is_spatial) factors.push_back(factor);
  }
  // Coordinates of Upsample are those of an element's first.
  if ((node.op == "Upsample" && mode != "nearest") ||
      word_or(node, "coordinate_transformation_mode", "half_pixel") != "half_pixel")
    return "has other coordinates than half_pixel";
  if (mode == "nearest" &&
      word_or(node, "nearest_mode", "round_prefer_floor") != "round_prefer_floor")
    return "rounds otherwise";
  return run_resampled(x, y, "upsample", "factor: " + text_of(factors) + ", mode: " + mode);
}

inline std::string run_pad(const onnx::Vector& vector) {
  static const std::map<std::string, std::string> kModes = {{"constant", "constant"},
                                                            {"reflect", "reflect"},
                                                            {"edge", "replicate"},
                                                            {"wrap", "circular"}};
  const onnx::Tensor x = channels_last(vector.inputs[0]), y = channels_last(vector.outputs[0]);
  const std::vector<double>& pads = vector.inputs[1].values;
  const std::size_t rank = x.shape.size(), spatial = rank - 2;
  Shape padding(2 * spatial);
  for (std::size_t d = 0; d < rank; ++d) {
    if (d < 2 && (pads[d] != 0 || pads[rank + d] != 0)) return "pads images or channels";
    if (d < 2) continue;
    padding[d - 2] = static_cast<std::int64_t>(pads[d]);
    padding[spatial + d - 2] = static_cast<std::int64_t>(pads[rank + d]);
  }
  const std::string mode = kModes.at(word_or(vector.nodes[0], "mode", "constant"));
  std::string settings = "padding: " + text_of(padding) + ", mode: " + mode;
  if (vector.inputs.size() > 2)
    settings += ", pad_value: " + std::to_string(vector.inputs[2].values[0]);
  return run_resampled(x, y, "pad", settings);
}

/// DepthToSpace and SpaceToDepth. Where channels are counted as torch counts them, pixel_shuffle.
inline std::string run_shuffle(const onnx::Vector& vector, bool inverse) {
  const onnx::Node& node = vector.nodes[0];
  const onnx::Tensor x = channels_last(vector.inputs[0]), y = channels_last(vector.outputs[0]);
  const bool counts_alike = inverse ? x.shape.back() == 1 : word_or(node, "mode", "DCR") == "CRD";
  if (!counts_alike) return inverse ? run_space_first(vector) : run_depth_first(vector);
  const Shape factors(x.shape.size() - 2, attribute_or(node, "blocksize", std::int64_t{0}));
  return run_resampled(x, y, "pixel_shuffle",
                       "factor: " + text_of(factors) + (inverse ? ", inverse: true" : ""));
}

}  // namespace halftone::reference::tests
