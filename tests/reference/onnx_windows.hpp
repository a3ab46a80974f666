// SPDX-License-Identifier: Apache-2.0
// ONNX operators that slide windows. They keep channels behind the image, the language last.
#pragma once

#include "onnx_graph.hpp"

namespace halftone::reference::tests {

/// Dimension d of the result is dimension axes[d] of `tensor`.
inline onnx::Tensor turned(const onnx::Tensor& tensor, const Shape& axes) {
  onnx::Tensor result{tensor.type, {}, {}};
  Shape steps;
  for (const std::int64_t axis : axes) {
    result.shape.push_back(tensor.shape[axis]);
    steps.push_back(product(tensor.shape, axis + 1, tensor.shape.size()));
  }
  for (std::int64_t e = 0; e < static_cast<std::int64_t>(tensor.values.size()); ++e) {
    std::int64_t rest = e, from = 0;
    for (std::size_t d = axes.size(); d-- > 0;) {
      from += rest % result.shape[d] * steps[d];
      rest /= result.shape[d];
    }
    result.values.push_back(tensor.values[from]);
  }
  return result;
}

/// Of [images, channels, spatial...]: channels last; of a weight [outputs, channels, kernel...],
/// too.
inline onnx::Tensor channels_last(const onnx::Tensor& tensor) {
  Shape axes(tensor.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return turned(tensor, axes);
}

inline Shape numbers_or(const onnx::Node& node, const std::string& name, std::size_t count,
                        std::int64_t otherwise) {
  const auto stated = node.attributes.find(name);
  return stated == node.attributes.end() ? Shape(count, otherwise) : stated->second.ints;
}

/// The settings of windows of `kernel` over `spatial` extents; where their number is stated, which
/// may be rounded up, zeros lie behind as far as they reach.
inline std::string window_settings(const onnx::Node& node, const Shape& spatial,
                                   const Shape& kernel, const Shape& windows = {}) {
  const std::size_t rank = kernel.size();
  const Shape strides = numbers_or(node, "strides", rank, 1);
  const Shape dilations = numbers_or(node, "dilations", rank, 1);
  Shape pads = numbers_or(node, "pads", 2 * rank, 0);
  const auto stated = node.attributes.find("auto_pad");
  const std::string automatic = stated == node.attributes.end() ? "NOTSET" : stated->second.s;
  for (std::size_t d = 0; d < rank && automatic.starts_with("SAME"); ++d) {
    const std::int64_t windows = (spatial[d] + strides[d] - 1) / strides[d];
    const std::int64_t zeros = std::max<std::int64_t>(
        0, (windows - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1 - spatial[d]);
    pads[d] = automatic == "SAME_LOWER" ? zeros - zeros / 2 : zeros / 2;
    pads[rank + d] = zeros - pads[d];
  }
  for (std::size_t d = 0; d < windows.size(); ++d) {
    const std::int64_t reach = (windows[d] - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1;
    pads[rank + d] = std::max(pads[rank + d], reach - spatial[d] - pads[d]);
  }
  return "kernel: " + text_of(kernel) + ", stride: " + text_of(strides) +
         ", dilation: " + text_of(dilations) + ", padding: " + text_of(pads);
}

/// The setting of groups, behind those of windows.
inline std::string group_setting(const onnx::Node& node) {
  const std::int64_t groups = attribute_or(node, "group", std::int64_t{1});
  return groups == 1 ? "" : ", groups: " + std::to_string(groups);
}

/// One layer of windows; weight is that of the language.
inline std::string run_windowed(const onnx::Vector& vector, const std::string& layer,
                                const onnx::Tensor& x, const onnx::Tensor& weight,
                                const std::string& settings) {
  const onnx::Tensor y = channels_last(vector.outputs[0]);
  const bool has_bias = vector.inputs.size() > 2;
  Problem problem;
  problem.model = parse_model(
      "input %x : f32" + text_of(x.shape) + "\nparameter %w : " + text_of(weight.shape) +
      " init constant(0)\n" +
      (has_bias ? "parameter %b : " + text_of(vector.inputs[2].shape) + " init constant(0)\n"
                : "") +
      "%y = " + layer + "(x: %x, weight: %w" + (has_bias ? ", bias: %b" : "") + ") {" + settings +
      "} : " + text_of(y.shape) + "\noutput \"y\" = %y\n");
  problem.inputs.values["x"] = x.values;
  problem.parameters["w"] = weight.values;
  if (has_bias) problem.parameters["b"] = vector.inputs[2].values;
  check_recorded(judge(problem, [](const auto& run) { return run.value("y"); }), y.values);
  return "";
}

inline std::string run_conv(const onnx::Vector& vector) {
  const onnx::Tensor x = channels_last(vector.inputs[0]), weight = channels_last(vector.inputs[1]);
  const Shape spatial(x.shape.begin() + 1, x.shape.end() - 1);
  const Shape kernel(weight.shape.begin() + 1, weight.shape.end() - 1);
  return run_windowed(
      vector, "convolution", x, weight,
      window_settings(vector.nodes[0], spatial, kernel) + group_setting(vector.nodes[0]));
}

/// The weight is [channels, outputs of a group, kernel...], channels of a group behind each other.
/// Where the result is smaller than the windows reach, the padding is; where it is larger, by the
/// output padding.
inline std::string run_conv_transpose(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  const onnx::Tensor x = channels_last(vector.inputs[0]), y = channels_last(vector.outputs[0]);
  const std::int64_t groups = attribute_or(node, "group", std::int64_t{1});
  onnx::Tensor cut = vector.inputs[1];
  cut.shape[0] /= groups;
  cut.shape.insert(cut.shape.begin(), groups);
  Shape axes(cut.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  onnx::Tensor weight = turned(cut, axes);  // [groups, outputs, kernel..., channels]
  weight.shape[1] *= groups;
  weight.shape.erase(weight.shape.begin());
  const std::size_t rank = x.shape.size() - 2;
  const Shape kernel(weight.shape.begin() + 1, weight.shape.end() - 1);
  const Shape strides = numbers_or(node, "strides", rank, 1);
  const Shape dilations = numbers_or(node, "dilations", rank, 1);
  Shape pads = numbers_or(node, "pads", 2 * rank, 0), more(rank, 0);
  const auto stated = node.attributes.find("auto_pad");
  const bool is_lower = stated != node.attributes.end() && stated->second.s == "SAME_LOWER";
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t reached =
        (x.shape[1 + d] - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1;
    const std::int64_t zeros = reached - y.shape[1 + d];
    if (node.attributes.count("pads") == 0 && zeros > 0) {
      pads[d] = is_lower ? zeros - zeros / 2 : zeros / 2;
      pads[rank + d] = zeros - pads[d];
    }
    more[d] = pads[d] + pads[rank + d] - zeros;
    if (more[d] < 0 || more[d] >= strides[d]) return "has an output padding beyond its stride";
  }
  return run_windowed(vector, "transposed_convolution", x, weight,
                      "kernel: " + text_of(kernel) + ", stride: " + text_of(strides) +
                          ", dilation: " + text_of(dilations) + ", padding: " + text_of(pads) +
                          group_setting(node) + ", output_padding: " + text_of(more));
}

}  // namespace halftone::reference::tests
