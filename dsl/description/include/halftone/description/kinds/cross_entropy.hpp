// SPDX-License-Identifier: Apache-2.0
// Softmax and cross-entropy in one, mean over the rows, weighted mean or sum.
#pragma once

#include "halftone/description/in_f32.hpp"
#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct CrossEntropy {
  static constexpr OperandForm operands[] = {
      {.role = "logits"},
      {.role = "label", .integers = true},
      {.role = "class_weight", .optional = true, .first = 1, .kept = true, .fixed = true},
      kSampleWeight};
  static constexpr SettingForm settings[] = {
      {.name = "ignore_index",
       .type = SettingType::integer,
       .optional = true,
       .accepts = [](double label) { return label >= -2147483648.0 && label <= 2147483647.0; },
       .title = "an ignore_index",
       .trouble = "is no i32",
       .example = "-100",
       .rule = "D70"},
      {.name = "label_smoothing",
       .optional = true,
       .accepts = [](double share) { return is_positive_in_f32(share) && share <= 1; },
       .title = "a label_smoothing",
       .trouble = "is not above 0 and at most 1",
       .example = "0.1",
       .rule = "D29"},
      {.name = "z_loss",
       .optional = true,
       .accepts =
           [](double weight) { return is_positive_in_f32(weight) && is_finite_in_f32(2 * weight); },
       .title = "a z_loss",
       .trouble = "is not positive or not finite in f32 when doubled",
       .example = "1e-4",
       .rule = "D29"},
      {.name = "soft_cap",
       .optional = true,
       .accepts = is_divisor_in_f32,
       .title = "a soft_cap",
       .trouble = "is not positive or not finite in f32, or its reciprocal is not",
       .example = "30",
       .rule = "D29"},
      {.name = "chunk_rows",
       .type = SettingType::integer,
       .optional = true,
       .accepts = [](double rows) { return rows >= 1 && rows <= 2147483647.0; },
       .title = "a chunk_rows",
       .trouble = "is not positive or no i32",
       .example = "1024",
       .rule = "D74"},
      kSummed};
  static constexpr int kLabelSmoothing = 1;  // of settings
  static constexpr const char* internals[] = {"probabilities"};
  static constexpr KindForm form{.word = "cross_entropy",
                                 .label = "D29",
                                 .category = Category::loss,
                                 .classes = in(LayerClass::softmax, LayerClass::loss),
                                 .operands = operands,
                                 .settings = settings,
                                 .internals = internals,
                                 .gradient = {.weights_for_weights = true}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!has_rows(node, 0)) return;
    const auto rows = node.rows(node.shape(0));
    if (!(node.shape(1) == rows)) {
      return node.refuse("reads logits ", node.shape(0), " and ", node.shape(1), " of ",
                         OperandName{1}, kRemedy, "make the label ", rows);
    }
    if (const int weight = node.position("class_weight"); weight >= 0) {
      if (node.states(kLabelSmoothing)) {
        return node.refuse("has class_weights and label_smoothing, which do not go together",
                           kRemedy, "leave one of them out");
      }
      if (!node.parameter(weight, node.last(node.shape(0)))) return;
    }
    if (weight_fits(node, false)) node.result({});
  }
};

}  // namespace halftone::description::kinds
