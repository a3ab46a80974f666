// SPDX-License-Identifier: Apache-2.0
// Compiled against a copy of the dsl with 70 kinds (check): a layer of the 67th, rules for kinds
// that more than 64 others stand before, the text form and what is wrong in it.
#include <cstdio>
#include <halftone/describe.hpp>
#include <halftone/description/text.hpp>
#include <halftone/description/validate.hpp>
#include <halftone/dsl.hpp>

using namespace halftone::dsl;
namespace hd = halftone::description;

static_assert(hd::kKinds == 70);
static_assert(static_cast<int>(hd::kind_called("row_scale")) >= 64);

/// `options`: of parameters, or settings. A list is an option for each of its numbers.
template <long long Shift = 3, class... Options>
constexpr auto row_scale(const char* name, double power, const Options&... options) {
  using hd::kinds::RowScale;
  return join(one(building::node_with<RowScale>(name, power)),
              one(building::setting<RowScale>("centred", 1)),
              one(building::setting<RowScale>("side", 1)), options.tokens...,
              one(building::setting<RowScale>("shifts", 0)),
              one(building::setting<RowScale>("shifts", Shift)));
}
struct First {
  Spec<1> tokens;
};

template <class... D>
constexpr auto grid(const char* name, const D&... extents) {
  return join(one(building::node<hd::kinds::Grid>(name)), building::dimension_token(extents)...);
}

constexpr auto net(double power, Dimension columns) {
  return model("net", inputs(tensor("x", batch, columns), tensor("y", batch, 4)),
               from("x") | row_scale("scaled", power, no_decay) | grid("grid", batch, 1) |
                   linear("fc", 4) | output("guess"),
               losses(mse("loss", "guess", "y")));
}
constexpr auto rules =
    precision(everywhere(store(f32), compute(f32)), where(op("row_scale"))(compute(bf16)),
              where(op("mse") | op("row_scale"))(compute(f16)), where(normalization)(store(f32)));
constexpr auto sound = net(0.5, 8);
HALFTONE_PROGRAM(sound_program, sound, rules, adamw())

constexpr auto first = model(
    "net", inputs(tensor("x", batch, 8)),
    from("x") |
        row_scale("scaled", 2, First{one(building::setting<hd::kinds::RowScale>("first", 3))}) |
        output("guess"));
HALFTONE_PROGRAM(first_program, first, rules)

constexpr auto broken = net(-1, 8);
constexpr auto symbolic = net(0.5, symbol("time"));
constexpr auto biased =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | row_scale("scaled", 2, on_bias(no_decay)) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
constexpr auto shifted =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | row_scale<-1>("scaled", 2) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
template <class... D>
constexpr auto on_grid(const D&... extents) {
  return model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 8)),
               from("x") | grid("grid", extents...) | linear("fc", 8) | output("guess"),
               losses(mse("loss", "guess", "y")));
}
constexpr auto idle =
    precision(everywhere(store(f32), compute(f32)), where(op("dummy7"))(compute(bf16)));
constexpr auto unknown =
    precision(everywhere(store(f32), compute(f32)), where(op("conv"))(compute(bf16)));

static int failures = 0;
static void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s\n", what);
  ++failures;
}

template <class... Parts>
static bool says(const char* sentence, const Parts&... parts) {
  try {
    describe(parts...);
  } catch (const std::invalid_argument& error) {
    if (std::string(error.what()).find(sentence) != std::string::npos) return true;
    std::printf("%s\n", error.what());
  }
  return false;
}

static std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

static bool refuses(const std::string& text, const char* sentence) {
  const auto read = hd::parse(text);
  const auto* error = std::get_if<hd::ParseError>(&read);
  if (error && error->message == sentence) return true;
  std::printf("%s\n", error ? error->message.c_str() : "no error");
  return false;
}

int main() {
  const hd::Description description = describe(sound_program());
  expect(!hd::validate(description), "the description is valid");
  const std::string text = hd::print(description);
  expect(text.find("%scaled = row_scale(x: %x, gain: %scaled.gain) {power: 0.5, centred: true, "
                   "side: right, shifts: [0, 3]} : [batch, 8]\n") != std::string::npos,
         text.c_str());
  expect(text.find("parameter %scaled.gain : [8] init constant(1) no_decay\n") != std::string::npos,
         text.c_str());
  expect(text.find("rule where op row_scale|mse : compute f16\n") != std::string::npos,
         text.c_str());
  const auto read = hd::parse(text);
  const auto* again = std::get_if<hd::Description>(&read);
  expect(again && *again == description, "the text reads back to an equal description");

  const std::string optional = hd::print(describe(first_program()));
  expect(optional.find("{power: 2, centred: true, first: 3, side: right, shifts: [0, 3]}") !=
             std::string::npos,
         optional.c_str());
  const auto parsed = hd::parse(optional);
  const auto* stated = std::get_if<hd::Description>(&parsed);
  expect(stated && hd::print(*stated) == optional, "an optional setting reads back");
  expect(refuses(replaced(optional, "first: 3", "first: -3"),
                 "row_scale '%scaled' has a first of -3, which is negative; write 0 (D99)"),
         "an optional setting is checked in the text");

  expect(says("layer 'scaled' has a power that is not positive and finite in f32: write power(2)",
              broken, rules, adamw()),
         "a setting is checked by the dsl");
  expect(refuses(replaced(text, "power: 0.5", "power: -1"),
                 "row_scale '%scaled' has a power of -1, which is not positive and finite in f32; "
                 "write 2 (D11)"),
         "a setting is checked in the text");
  expect(refuses(replaced(text, "side: right", "side: up"),
                 "expected a side, one of left, right, but met \"up\""),
         "a choice is checked in the text");
  expect(refuses(replaced(text, "centred: true", "centred: 1"),
                 "expected 'true' or 'false', but met \"1\""),
         "a flag is checked in the text");
  expect(text.find("%grid = grid(x: %scaled) {extents: [batch, 1]} : [batch, 8]\n") !=
             std::string::npos,
         text.c_str());
  expect(refuses(replaced(text, "[0, 3]", "[0, x]"), "expected an integer, but met \"x\""),
         "a list of integers holds integers");
  expect(refuses(replaced(text, "[0, 3]", "[0, -3]"),
                 "row_scale '%scaled' shifts by -3; shift by 0 or more (D99)"),
         "a list of integers is checked in the text");
  expect(says("layer 'scaled' shifts by -1: shift by 0 or more", shifted, rules, adamw()),
         "a list of integers is checked by the dsl");
  expect(refuses(replaced(text, "{extents: [batch, 1]}", "{extents: []}"),
                 "grid '%grid' has no extents; state some (D98)"),
         "a list of dimensions is checked in the text");
  const auto& plain = precision(everywhere(store(f32), compute(f32)));
  expect(says("layer 'grid' has no extents: state some", on_grid(), plain, adamw()),
         "a list of dimensions is checked by the dsl");
  expect(says("layer 'grid' has a dimension of 0: write a positive number or a symbol",
              on_grid(batch, 0), plain, adamw()),
         "dimensions of a list are those of a shape");
  expect(says("the symbol '2nd' of layer 'grid' is not a C++ identifier", on_grid(symbol("2nd"), 8),
              plain, adamw()),
         "symbols of a list are those of a shape");
  expect(
      says("layer 'grid' has more than 6 dimensions", on_grid(1, 2, 3, 4, 5, 6, 7), plain, adamw()),
      "a list of dimensions is as long as a shape");
  expect(says("layer 'scaled' has weights and reads rows whose length is the symbol 'time'",
              symbolic, rules, adamw()),
         "a parameter's shape is checked by the dsl");
  expect(says("layer 'scaled' has options for a bias but no bias: remove them or no_bias", biased,
              rules, adamw()),
         "an option is only given for a parameter that the kind has");
  expect(refuses(replaced(text, "scaled.gain : [8]", "scaled.gain : [7]"),
                 "row_scale '%scaled' needs the gain [8] but reads [7] of '%scaled.gain'; make it "
                 "[8] (D99)"),
         "a parameter's shape is checked in the text");
  expect(says("names a class or op that this model does not have", sound, idle, adamw()),
         "a kind is not taken for the one 64 places further");
  expect(says("names the op \"conv\", which no layer or loss is; write linear, ", sound, unknown,
              adamw()),
         "the sentence that lists kinds is cut");
  return failures == 0 ? 0 : 1;
}
