// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "builder.hpp"
#include "halftone/description/text.hpp"

using namespace halftone::tests;

namespace {

struct Case {
  const char* text;
  int line, column;
  std::string message;
};

void check(const std::string& text, const Case& expected) {
  CAPTURE(text.substr(0, 1000));
  const auto result = parse(text);
  REQUIRE(std::holds_alternative<ParseError>(result));
  const auto& error = std::get<ParseError>(result);
  CHECK(error.message == expected.message);
  CHECK(error.line == expected.line);
  CHECK(error.column == expected.column);
}

constexpr const char* kNoHeader =
    "this is no description; its first line must be 'halftone description 1'";

/// Three lines, so that a case's own text starts on line 4.
const std::string kHead = "halftone description 1\nmodel \"m\"\ninput %x : f32[batch, 4]\n";

}  // namespace

TEST_CASE("a text that does not start with its version is refused") {
  const Case cases[] = {
      {"", 1, 1, kNoHeader},
      {"\nhalftone description 1\n", 1, 1, kNoHeader},
      {"# halftone\nhalftone description 1\n", 1, 1, kNoHeader},
      {"halftone descriptions 1\n", 1, 1, kNoHeader},
      {"description 1\n", 1, 1, kNoHeader},
      {"\xef\xbb\xbfhalftone description 1\n", 1, 1, kNoHeader},
      {"halftone description", 1, 21, "expected the version '1', but met the end of the text"},
      {"halftone description 2\n", 1, 22,
       "this text has version \"2\" of the form, but version 1 is read; print it again"},
      {"halftone description 1 x\n", 1, 24, "expected the end of the line, but met \"x\""},
  };
  for (const Case& c : cases) check(c.text, c);
}

TEST_CASE("a text without a model or an optimizer is refused at its end") {
  check("halftone description 1\n",
        {"", 2, 1, "the text ends without a model; add the statement 'model \"name\"'"});
  check(kHead, {"", 4, 1,
                "the text ends without an optimizer; add one, sgd, adamw, adam, nadam, adagrad, "
                "rmsprop, lion, lamb, adafactor or custom"});
}

TEST_CASE("a statement that breaks the grammar is refused where it does") {
  const Case cases[] = {
      {"inputs %y : f32[4]", 4, 1,
       "expected a statement (model, input, parameter, state, '%name = ...', output, loss, assign, "
       "rule, optimizer, clip, clip_group, clip_value, schedule, average or stages), but met "
       "\"inputs\""},
      {"  ?", 4, 3,
       "expected a statement (model, input, parameter, state, '%name = ...', output, loss, assign, "
       "rule, optimizer, clip, clip_group, clip_value, schedule, average or stages), but met "
       "\"?\""},
      {"\n\nmodel \"n\"", 6, 1, "this statement stands on line 2 already; remove one"},
      {"input y : f32[4]", 4, 7, "expected the new node's name, such as %fc1, but met \"y\""},
      {"input % : f32[4]", 4, 7, "a name of letters, digits and _ . / - must follow '%' at once"},
      {"input %x : f32[4]", 4, 7, "the node '%x' stands on line 3 already; rename one (D2)"},
      {"input %y f32[4]", 4, 10, "expected ':', but met \"f32\""},
      {"input %y : f64[4]", 4, 12,
       "expected a format, one of f32, f16, bf16, i32, u8, i8, u16, i16, i64, but met \"f64\""},
      {"rule everywhere : store saturate", 4, 25,
       "expected a format or follow, one of f32, f16, bf16, f8e4m3, f8e5m2, but met "
       "\"saturate\""},
      {"input %y : f32", 4, 15, "expected '[', but met the end of the line"},
      {"input %y : f32[4", 4, 17, "expected ']', but met the end of the line"},
      {"input %y : f32[4,]", 4, 18, "expected an extent or a symbol, but met \"]\""},
      {"input %y : f32[4x]", 4, 16, "expected an extent, but met \"4x\""},
      {"input %y : f32[99999999999999999999]", 4, 16,
       "\"99999999999999999999\" does not fit 64 bits; write a smaller integer"},
      {"input %y : f32[a.b]", 4, 16,
       "a symbol is made of letters, digits and _, but this is \"a.b\""},
      {"input %y : f32[4*]", 4, 18, "expected an extent or a symbol, but met \"]\""},
      {"input %y : f32[4*5]", 4, 18,
       "a symbol is made of letters, digits and _, but this is \"5\""},
      {"input %y : f32[side*4]", 4, 20, "expected ']', but met \"*\""},
      {"input %y : f32[4] 5", 4, 19, "expected the end of the line, but met \"5\""},
      {"parameter %w : [4]", 4, 19, "expected 'init', but met the end of the line"},
      {"parameter %w : [4] init zero(0)", 4, 25,
       "expected an initializer, one of constant, uniform, normal, "
       "truncated_normal, orthogonal, but met \"zero\""},
      {"parameter %w : [4] init uniform(0)", 4, 34, "expected ',', but met \")\""},
      {"parameter %w : [4] init constant(nan)", 4, 34, "expected a number, but met \"nan\""},
      {"parameter %w : [4] init constant(1e999)", 4, 34,
       "\"1e999\" does not fit a double; write a number nearer to 1"},
      {"parameter %w : [4] init constant(0) learning_rate_scale", 4, 56,
       "expected a number, but met the end of the line"},
      {"state %s : [4]", 4, 15, "expected 'initial', but met the end of the line"},
      {"%y relu(x: %x)", 4, 4, "expected '=', but met \"relu\""},
      {"%y = sharpen(x: %x)", 4, 6,
       "expected a layer or a loss, one of " + words_of(is_computed) + ", but met \"sharpen\""},
      {"%y = state(x: %x)", 4, 6, "a source is not computed; write 'state %name : ...'"},
      {"%y = relu x: %x", 4, 11, "expected '(', but met \"x\""},
      {"%y = relu(: %x)", 4, 11, "expected an operand's role, such as x, but met \":\""},
      {"%y = relu(x %x)", 4, 13, "expected ':', but met \"%x\""},
      {"%y = relu(x: x)", 4, 14, "expected a node, such as %fc1, but met \"x\""},
      {"%y = relu(x: %z) : [4]", 4, 14,
       "no node '%z' stands above; nodes come before their users (D1)"},
      {"%y = relu(x: %y) : [4]", 4, 14,
       "no node '%y' stands above; nodes come before their users (D1)"},
      {"%y = relu(x: %x", 4, 16, "expected ')', but met the end of the line"},
      {"%y = gelu(x: %x) : [4]", 4, 18, "expected '{', but met \":\""},
      {"%y = gelu(x: %x) {approximation: none} : [4]", 4, 34,
       "expected an approximation, one of erf, tanh, but met \"none\""},
      {"%y = layer_norm(x: %x) {eps: 1}", 4, 25, "expected 'epsilon', but met \"eps\""},
      {"%y = embedding(token: %x, weight: %x) {}", 4, 40,
       "expected 'padding_index', but met \"}\""},
      {"%y = embedding(token: %x, weight: %x) {padding_index: 1.5}", 4, 55,
       "expected an integer, but met \"1.5\""},
      {"%y = embedding(token: %x, weight: %x) {padding_index: 1, epsilon: 1}", 4, 56,
       "expected '}', but met \",\""},
      {"%y = cross_entropy(logits: %x, label: %x) {soft_cap: x}", 4, 54,
       "expected a number, but met \"x\""},
      {"%y = cross_entropy(logits: %x, label: %x) {z_loss: 1, label_smoothing: 1}", 4, 55,
       "expected 'summed', but met \"label_smoothing\""},
      {"%y = cross_entropy(logits: %x, label: %x) {softcap: 1}", 4, 44,
       "expected 'summed', but met \"softcap\""},
      {"%y = pointwise(x0: %x) { }", 4, 24,
       "expected the function's name in quotes, but met \"{\""},
      {"%y = pointwise(x0: %x) \"f", 4, 24, "this string has no closing '\"' on its line"},
      {"%y = pointwise(x0: %x) \"\\q\"", 4, 25,
       "unknown escape in a string; write \\\", \\\\, \\n, \\r, \\t or \\xHH"},
      {"%y = pointwise(x0: %x) \"\\x1g\"", 4, 25,
       "unknown escape in a string; write \\\", \\\\, \\n, \\r, \\t or \\xHH"},
      {"%y = pointwise(x0: %x) \"f\" { 0 = operand 0 }", 4, 30,
       "expected an instruction such as %0, but met \"0\""},
      {"%y = pointwise(x0: %x) \"f\" { %a = operand 0 }", 4, 30,
       "expected the number of an instruction after '%', but met \"a\""},
      {"%y = pointwise(x0: %x) \"f\" { %1 = operand 0 }", 4, 30,
       "instructions count up from %0, so this one must be %0"},
      {"%y = pointwise(x0: %x) \"f\" { %0 = operand }", 4, 43,
       "expected an operand's number, but met \"}\""},
      {"%y = pointwise(x0: %x) \"f\" { %0 = operand 4294967296 }", 4, 43,
       "an operand's number must fit 32 bits"},
      {"%y = pointwise(x0: %x) \"f\" { %0 = operand 0; }", 4, 46,
       "expected an instruction such as %0, but met \"}\""},
      {"%y = pointwise(x0: %x) \"f\" { %0 = constant %1 }", 4, 44,
       "expected a number, but met \"%1\""},
      {"output y = %x", 4, 8, "expected the output's name in quotes, but met \"y\""},
      {"output \"y\" : %x", 4, 12, "expected '=', but met \":\""},
      {"loss %x", 4, 8, "expected 'weight', but met the end of the line"},
      {"loss %x weight x", 4, 16, "expected a number, but met \"x\""},
      {"assign %x %x", 4, 11, "expected '=', but met \"%x\""},
      {"rule \"**\" : store f32", 4, 6, "expected 'everywhere', but met \"\\\"\""},
      {"rule everywhere store f32", 4, 17, "expected ':', but met \"store\""},
      {"rule everywhere : store f64", 4, 25,
       "expected a format or follow, one of f32, f16, bf16, f8e4m3, f8e5m2, but met \"f64\""},
      {"rule everywhere : result follow", 4, 26,
       "expected a format, one of f32, tf32, f16, bf16, f8e4m3, f8e5m2, but met \"follow\""},
      {"rule everywhere : accumulate f16", 4, 30,
       "expected an accumulation, one of f32, ordered, hardware, promoted, but met \"f16\""},
      {"rule everywhere : rounding up", 4, 28,
       "expected a rounding, one of nearest_even, toward_zero, stochastic, but "
       "met \"up\""},
      {"rule everywhere : compute e8", 4, 27,
       "expected a format or follow, one of f32, tf32, f16, bf16, f8e4m3, f8e5m2, but met \"e8\""},
      {"rule everywhere : master bf8", 4, 26,
       "expected a format, one of f32, bf16, but met \"bf8\""},
      {"rule everywhere : compute f8e4m3 scaled rows f8e8m0 saturate", 4, 41,
       "expected 'tensor', 'row', 'column', 'block' or 'delayed', but met \"rows\""},
      {"rule everywhere : compute f8e4m3 scaled delayed f8e8m0 saturate", 4, 49,
       "expected a number of steps, but met \"f8e8m0\""},
      {"rule everywhere : compute f8e4m3 scaled delayed 8 margin f8e8m0 saturate", 4, 58,
       "expected a margin, but met \"f8e8m0\""},
      {"rule everywhere : compute f8e4m3 scaled delayed 99999999999 f8e8m0 saturate", 4, 49,
       "\"99999999999\" does not fit 32 bits; write an integer nearer to 0"},
      {"rule everywhere : compute f8e4m3 scaled delayed 8 margin 4294967297 f8e8m0 saturate", 4, 58,
       "\"4294967297\" does not fit 32 bits; write an integer nearer to 0"},
      {"rule everywhere : compute f8e4m3 scaled block -4294967264 f8e8m0 saturate", 4, 47,
       "\"-4294967264\" does not fit 32 bits; write an integer nearer to 0"},
      {"rule everywhere : compute f8e4m3 scaled block f8e8m0 saturate", 4, 47,
       "expected the size of a block, but met \"f8e8m0\""},
      {"rule everywhere : compute f4e2m1 scaled block 16 f8e4m3 under f8e8m0 saturate", 4, 63,
       "expected 'f32'; a tensor's scale is a power of two where no under is said, but met "
       "\"f8e8m0\""},
      {"rule everywhere : compute f8e4m3 scaled tensor saturate", 4, 48,
       "expected a format of scales, one of f32, f8e4m3, f8e8m0, but met \"saturate\""},
      {"rule everywhere : compute f8e4m3 scaled block 32 by f8e8m0 saturate", 4, 53,
       "expected the size of a block, but met \"f8e8m0\""},
      {"rule everywhere : recompute often", 4, 29,
       "expected 'always' or 'never', but met \"often\""},
      {"rule everywhere : compute f32 store f32", 4, 31,
       "expected store, compute, result, accumulate, master, rounding, recompute, loss_scale, "
       "memory_budget, quantize, place or because, at most once each and in this order, but met "
       "\"store\""},
      {"rule everywhere : store f32 store f32", 4, 29,
       "expected store, compute, result, accumulate, master, rounding, recompute, loss_scale, "
       "memory_budget, quantize, place or because, at most once each and in this order, but met "
       "\"store\""},
      {"rule where : store f32", 4, 12,
       "expected layer, class, op, role, pass, target, during, first, last, depth, at_least or "
       "smaller_than, in this order, but met \":\""},
      {"rule where first 0 : store f32", 4, 18, "expected a number above 0 behind first"},
      {"rule where last -1 : store f32", 4, 17, "expected a number above 0 behind last"},
      {"rule where at_least 0 : store f32", 4, 21, "expected a number above 0 behind at_least"},
      {"rule where depth 3 3 : store f32", 4, 18,
       "expected two numbers behind depth, from 0 on and the second larger"},
      {"rule where depth 3 : store f32", 4, 20,
       "expected the number of the copy behind the last, but met \":\""},
      {"rule where smaller_than 4 first 2 : store f32", 4, 27, "expected ':', but met \"first\""},
      {"rule everywhere except : store f32", 4, 24,
       "expected layer, class, op, role, pass, target, during, first, last, depth, at_least or "
       "smaller_than, in this order, but met \":\""},
      {"rule everywhere : store f32 because none", 4, 37,
       "expected a reason in quotes, but met \"none\""},
      {"rule where role saved class loss : store f32", 4, 23, "expected ':', but met \"class\""},
      {"rule where layer fc : store f32", 4, 18,
       "expected a glob of layer names in quotes, but met \"fc\""},
      {"rule where class losses : store f32", 4, 18,
       "expected class, one of contraction, normalization, softmax, activation_function, "
       "elementwise, loss, but met \"losses\""},
      {"rule where role weights : store f32", 4, 17,
       "expected role, one of activation, saved, gradient, weight, weight_gradient, master, "
       "optimizer_state, internal, but met \"weights\""},
      {"rule where pass backward : store f32", 4, 17,
       "expected pass, one of forward, input_gradient, weight_gradient, but met \"backward\""},
      {"rule where op conv : store f32", 4, 15,
       "expected op, one of " + words_of(is_computed) + ", but met \"conv\""},
      {"rule where class loss| : store f32", 4, 24, "expected class, but met \":\""},
      {"rule where target : store f32", 4, 19,
       "expected a chip, before(chip) or from(chip), but met \":\""},
      {"rule where target before(sm_80 : store f32", 4, 32, "expected ')', but met \":\""},
      {"rule everywhere : memory_budget 0.5", 4, 33,
       "expected share or bytes, one of share, bytes, but met \"0.5\""},
      {"rule everywhere : memory_budget bytes 0.5", 4, 39,
       "expected a number of bytes, but met \"0.5\""},
      {"rule where role weight : quantize i4", 4, 35,
       "expected a format of codes, one of f32, i8, f8e4m3, but met \"i4\""},
      {"rule where role weight : quantize i8 maximum", 4, 38,
       "expected store, compute, result, accumulate, master, rounding, recompute, loss_scale, "
       "memory_budget, quantize, place or because, at most once each and in this order, but met "
       "\"maximum\""},
      {"rule where role optimizer_state : place disk", 4, 41,
       "expected device or host, one of device, host, but met \"disk\""},
      {"rule everywhere : loss_scale", 4, 29, "expected a loss scale, but met the end of the line"},
      {"rule everywhere : loss_scale fixed", 4, 35,
       "expected the scale, but met the end of the line"},
      {"rule everywhere : loss_scale dynamic initial 1 backoff 1", 4, 48,
       "expected 'growth', but met \"backoff\""},
      {"rule everywhere : loss_scale dynamic initial 1 growth 2 backoff 0.5 interval 0.5", 4, 78,
       "expected a whole number, but met \"0.5\""},
      {"optimizer tiger", 4, 11,
       "expected an optimizer, sgd, adamw, adam, nadam, adagrad, rmsprop, lion, lamb, adafactor or "
       "custom, but met \"tiger\""},
      {"optimizer custom learning_rate 1 weight_decay 0 momentum { %0 = operand 1 }", 4, 49,
       "expected 'parameter', but met \"momentum\""},
      {"optimizer custom learning_rate 1 weight_decay 0 parameter { %0 = operand 1 } { %0 = "
       "operand "
       "1 }",
       4, 78, "expected the name of a state, but met \"{\""},
      {"parameter %w : [4] init truncated_normal(0, 1, 2)", 4, 49, "expected ',', but met \")\""},
      {"optimizer lion learning_rate 1 epsilon 0", 4, 32, "expected 'beta1', but met \"epsilon\""},
      {"optimizer sgd learning_rate 1 momentum 0.5 nesterov dampening 0.5", 4, 53,
       "expected 'weight_decay', but met \"dampening\""},
      {"optimizer rmsprop learning_rate 1 alpha 0.5 epsilon 0 centered", 4, 55,
       "expected 'momentum', but met \"centered\""},
      {"optimizer sgd momentum 0", 4, 15, "expected 'learning_rate', but met \"momentum\""},
      {"optimizer adamw learning_rate 1 beta1 0", 4, 40,
       "expected 'beta2', but met the end of the line"},
      {"optimizer adam learning_rate 1 momentum 0", 4, 32,
       "expected 'beta1', but met \"momentum\""},
      {"clip 1\nclip 2", 5, 1, "this statement stands on line 4 already; remove one"},
      {"average half", 4, 9, "expected the share that averages keep, but met \"half\""},
      {"schedule %0 = operand 0", 4, 10, "expected '{', but met \"%0\""},
      {"schedule { %0 = operand 0 }\nschedule { %0 = operand 0 }", 5, 1,
       "this statement stands on line 4 already; remove one"},
      {"clip_value 1\nclip_value 2", 5, 1, "this statement stands on line 4 already; remove one"},
      {"clip_value all", 4, 12,
       "expected the largest size of a gradient's element, but met \"all\""},
      {"parameter %w : [4] init constant(0)\nclip_group 1", 5, 13,
       "expected a node, such as %fc1, but met the end of the line"},
      {"clip_group 1 %w", 4, 14, "no node '%w' stands above; nodes come before their users (D1)"},
      {"clip_group %x", 4, 12,
       "expected the largest norm of the group's gradients, but met \"%x\""},
      {"clip one", 4, 6, "expected the largest gradient norm, but met \"one\""},
      {"clip \x01", 4, 6, "expected the largest gradient norm, but met the byte 0x01"},
      {"clip \xff", 4, 6, "expected the largest gradient norm, but met the byte 0xff"},
  };
  for (const Case& c : cases) check(kHead + c.text + "\n", c);
}

TEST_CASE("a broken rule is reported at the statement that breaks it") {
  const std::string end = "optimizer sgd learning_rate 0.1 momentum 0 weight_decay 0\n";
  const Case cases[] = {
      {"  %y = relu(x: %x) : [batch, 5]\n", 4, 3,
       "relu '%y' states the shape [batch, 5] but its operands give [batch, 4]; state that (D23)"},
      {"output \"x\" = %x\noutput \"x\" = %x\n", 5, 1,
       "the output \"x\" needs a name that no other output has; rename it (D6)"},
      {"output \"x\" = %x\n loss %x weight 1\n", 5, 2,
       "input '%x' is no loss; name a " + words_of(is_loss, " or ") + " (D6)"},
      {"output \"x\" = %x\n\nassign %x = %x\n", 6, 1,
       "input '%x' cannot be assigned to; name a state (D7)"},
      {"output \"x\" = %x\nrule everywhere : store f32\nrule everywhere :\n", 6, 1,
       "the rule \"everywhere :\" states no field; state store, compute, result, accumulate, "
       "master, rounding, recompute, loss_scale, memory_budget, quantize or place (P41)"},
      {"output \"x\" = %x\nclip_value 0\n", 5, 1,
       "the clip value is 0; make it finite and positive in f32 (D11)"},
      {"output \"x\" = %x\nclip_group 1 %x\n", 5, 1,
       "the clip of a group names '%x', which is no parameter that is trained; leave it out (D11)"},
      {"output \"x\" = %x\nclip -1\n", 5, 1,
       "the clip norm is -1; make it finite and positive in f32 (D11)"},
      {"output \"x\" = %x\nschedule { %0 = operand 1 }\n", 5, 1,
       "the schedule: instruction %0 (operand) reads operand 1 of 1; count operands from 0 (D11)"},
      {"output \"x\" = %x\naverage 1.5\n", 5, 1,
       "the averages keep a share of 1.5; make it 0 or more and below 1 in f32 (D11)"},
      {"", 3, 1, "input '%x' is never used; give it a user or remove it (D5)"},
  };
  for (const Case& c : cases) check(kHead + c.text + end, c);
  check("halftone description 1\n# no input\n model \"m\"\n" + end,
        {"", 3, 2, "the model \"m\" has no input; give it one (D4)"});
}

TEST_CASE("a text larger than 64 MiB is refused unread") {
  const std::string text(std::size_t{1} << 26, '\n');
  check(text, {"", 1, 1, kNoHeader});
  const auto result = parse(text + "\n");
  REQUIRE(std::holds_alternative<ParseError>(result));
  CHECK(std::get<ParseError>(result).message ==
        "this text is larger than 64 MiB; a description is far smaller");
}

TEST_CASE("an error names its place as file, line and column") {
  CHECK(ParseError{3, 14, "expected a node"}.str("a/b.halftone") ==
        "a/b.halftone:3:14: expected a node");
}
