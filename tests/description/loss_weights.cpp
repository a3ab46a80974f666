// SPDX-License-Identifier: Apache-2.0
// What a sample_weight and the settings of cross_entropy may be: D8, D12, D29 and D70.
#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "halftone/description/text.hpp"

using namespace halftone::description;

namespace {

/// Behind it stand statements about %y, a value of [batch, time, 4], and %v of [4].
constexpr const char* kHead = R"(halftone description 1
model "m"
input %x : f32[batch, time, 4]
input %vector : f32[4]
input %label : i32[batch, time]
input %rows : f32[batch, time]
input %elements : bf16[batch, time, 4]
input %columns : f32[4]
input %one : f32[]
parameter %w : [4, 4] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, time, 4]
%v = linear(x: %vector, weight: %w) : [4]
%none = relu(x: %rows) : [batch, time]
output "y" = %y
output "v" = %v
output "none" = %none
output "elements" = %elements
output "columns" = %columns
output "one" = %one
loss %use weight 0
)";

/// The message of a model with this loss, or nothing.
std::string message_of(const std::string& loss) {
  std::string text = kHead;
  text.replace(text.find("output \"y\""), 0,
               "%use = cross_entropy(logits: %y, label: %label) : []\n%loss = " + loss + " : []\n");
  text += "loss %loss weight 1\noptimizer sgd learning_rate 0.1 momentum 0 weight_decay 0\n";
  const auto result = parse(text);
  const auto* error = std::get_if<ParseError>(&result);
  return error == nullptr ? "" : error->message;
}

}  // namespace

TEST_CASE("a loss takes a weight for each of its rows, an elementwise one for its elements, too") {
  for (const char* loss :
       {"cross_entropy(logits: %y, label: %label, sample_weight: %rows)",
        "cross_entropy(logits: %y, label: %label) {ignore_index: -2147483648}",
        "cross_entropy(logits: %y, label: %label, sample_weight: %rows) {ignore_index: 2}",
        "cross_entropy(logits: %y, label: %label) {label_smoothing: 1}",
        "cross_entropy(logits: %y, label: %label) {ignore_index: 2, soft_cap: 1e-38}",
        "cross_entropy(logits: %y, label: %label) {z_loss: 1.7e38, soft_cap: 3e38}",
        "mse(x: %y, target: %x, sample_weight: %rows)",
        "mse(x: %y, target: %x, sample_weight: %elements)",
        "mse(x: %v, target: %v, sample_weight: %columns)",
        "pointwise_loss(x0: %y, x1: %x, sample_weight: %rows) \"f\" { %0 = operand 1 }",
        "pointwise_loss(x0: %y, sample_weight: %elements) \"f\" { %0 = operand 0 }"}) {
    CAPTURE(std::string(loss));
    CHECK(message_of(loss) == "");
  }
}

TEST_CASE("other weights and labels are refused, each in one sentence") {
  struct Case {
    const char *loss, *message;
  };
  const Case cases[] = {
      {"mse(x: %y, target: %x, sample_weight: %none)",
       "mse '%loss' has the sample_weight '%none', which is no input; use an input for it (D8)"},
      {"mse(x: %y, target: %x, sample_weight: %label)",
       "mse '%loss' computes with the i32 input '%label'; only labels and tokens are so, and "
       "values "
       "f32, f16, bf16, u8, i8, u16 or i16 (D8)"},
      {"cross_entropy(logits: %y, label: %label, sample_weight: %elements)",
       "cross_entropy '%loss' weighs rows of [batch, time, 4] by [batch, time, 4] of '%elements'; "
       "make the sample_weight [batch, time] (D29)"},
      {"mse(x: %y, target: %x, sample_weight: %columns)",
       "mse '%loss' weighs [batch, time, 4] by [4] of '%columns'; make the sample_weight [batch, "
       "time], a weight for every row, or [batch, time, 4], one for every element (D30)"},
      {"mse(x: %v, target: %v, sample_weight: %one)",
       "mse '%loss' weighs [4] by [] of '%one'; make the sample_weight [4] (D30)"},
      {"pointwise_loss(x0: %y, sample_weight: %one) \"f\" { %0 = operand 0 }",
       "pointwise_loss '%loss' weighs [batch, time, 4] by [] of '%one'; make the sample_weight "
       "[batch, time], a weight for every row, or [batch, time, 4], one for every element (D31)"},
      {"pointwise_loss(x0: %y, sample_weight: %rows) \"f\" { %0 = operand 1 }",
       "pointwise_loss '%loss': instruction %0 (operand) reads operand 1 of 1; count operands from "
       "0 (D31)"},
      {"cross_entropy(logits: %y, label: %label, sample_weight: %rows, sample_weight: %rows)",
       "cross_entropy '%loss' does not have the operands of its kind; give it logits, label, "
       "class_weight (may be absent), sample_weight (may be absent), in this order (D3)"},
      {"pointwise_loss(sample_weight: %rows) \"f\" { %0 = operand 0 }",
       "pointwise_loss '%loss' does not have the operands of its kind; give it x0, x1, ..., "
       "sample_weight (may be absent), in this order (D3)"},
      {"mse(x: %y, sample_weight: %rows, target: %x)",
       "mse '%loss' does not have the operands of its kind; give it x, target, sample_weight (may "
       "be absent), in this order (D3)"},
      {"cross_entropy(logits: %y, label: %label) {ignore_index: 2147483648}",
       "cross_entropy '%loss' has an ignore_index of 2147483648, which is no i32; write -100 "
       "(D70)"},
      {"cross_entropy(logits: %y, label: %label) {label_smoothing: 0}",
       "cross_entropy '%loss' has a label_smoothing of 0, which is not above 0 and at most 1; "
       "write "
       "0.1 (D29)"},
      {"cross_entropy(logits: %y, label: %label) {label_smoothing: 1.0000001}",
       "cross_entropy '%loss' has a label_smoothing of 1.0000001, which is not above 0 and at most "
       "1; write 0.1 (D29)"},
      {"cross_entropy(logits: %y, label: %label) {label_smoothing: 1e-46}",
       "cross_entropy '%loss' has a label_smoothing of 1e-46, which is not above 0 and at most 1; "
       "write 0.1 (D29)"},
      {"cross_entropy(logits: %y, label: %label) {z_loss: -0.5}",
       "cross_entropy '%loss' has a z_loss of -0.5, which is not positive or not finite in f32 "
       "when "
       "doubled; write 1e-4 (D29)"},
      {"cross_entropy(logits: %y, label: %label) {z_loss: 2e38}",
       "cross_entropy '%loss' has a z_loss of 2e+38, which is not positive or not finite in f32 "
       "when doubled; write 1e-4 (D29)"},
      {"cross_entropy(logits: %y, label: %label) {chunk_rows: 0}",
       "cross_entropy '%loss' has a chunk_rows of 0, which is not positive or no i32; write 1024 "
       "(D74)"},
      {"cross_entropy(logits: %y, label: %label) {soft_cap: 0}",
       "cross_entropy '%loss' has a soft_cap of 0, which is not positive or not finite in f32, or "
       "its reciprocal is not; write 30 (D29)"},
      {"cross_entropy(logits: %y, label: %label) {soft_cap: 1e-39}",
       "cross_entropy '%loss' has a soft_cap of 1e-39, which is not positive or not finite in f32, "
       "or its reciprocal is not; write 30 (D29)"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.loss));
    CHECK(message_of(c.loss) == c.message);
  }
}
