// SPDX-License-Identifier: Apache-2.0
// Bounds and exceptions of rules (P60, P61, P65): where nodes stand, and rules that cannot be
// meant.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "halftone/description/text.hpp"
#include "halftone/description/validate.hpp"

using namespace halftone::description;

namespace {

/// Four contractions: in, two copies of fc, head; the table is read by two of them.
constexpr const char* kModel = R"(halftone description 1
model "m"
input %x : f32[batch, 4]
parameter %in.weight : [4, 4] init constant(1)
parameter %h/0/fc.weight : [6, 4] init constant(1)
parameter %h/0/fc.bias : [6] init constant(1)
parameter %h/1/fc.weight : [4, 6] init constant(1)
parameter %norm.scale : [4] init constant(1)
%in = linear(x: %x, weight: %in.weight) : [batch, 4]
%h/0/fc = linear(x: %in, weight: %h/0/fc.weight, bias: %h/0/fc.bias) : [batch, 6]
%h/0/act = relu(x: %h/0/fc) : [batch, 6]
%h/1/fc = linear(x: %h/0/act, weight: %h/1/fc.weight) : [batch, 4]
%norm = rms_norm(x: %h/1/fc, weight: %norm.scale) {epsilon: 0.5} : [batch, 4]
%head = linear(x: %norm, weight: %in.weight) : [batch, 4]
%error = mse(x: %head, target: %x) : []
loss %error weight 1
)";

/// What is wrong with the rule, behind its text; empty when nothing is.
std::string fault(const std::string& rule) {
  const auto result = parse(std::string(kModel) + "rule " + rule +
                            "\noptimizer sgd learning_rate 1 momentum 0 weight_decay 0\n");
  const auto* error = std::get_if<ParseError>(&result);
  if (!error) return "";
  const std::size_t end = error->message.find("\" ", error->message.find(" : "));
  return end == std::string::npos ? error->message : error->message.substr(end + 2);
}

TEST_CASE("layers and parameters stand by contractions, copies and elements") {
  const auto parsed = parse(std::string(kModel) +
                            "rule everywhere : store f32\noptimizer sgd learning_rate 1 momentum 0 "
                            "weight_decay 0\n");
  REQUIRE(std::holds_alternative<Description>(parsed));
  const Description& description = std::get<Description>(parsed);
  struct Expected {
    const char* name;
    int before, behind, depth, elements;
  };
  const Expected all[] = {
      {"x", -1, -1, -1, -1},       {"in.weight", 0, 0, -1, 16},    {"h/0/fc.weight", 1, 2, 0, 24},
      {"h/0/fc.bias", 1, 2, 0, 6}, {"h/1/fc.weight", 2, 1, 1, 24}, {"norm.scale", -1, -1, -1, 4},
      {"in", 0, 3, -1, 16},        {"h/0/fc", 1, 2, 0, 24},        {"h/0/act", -1, -1, 0, -1},
      {"h/1/fc", 2, 1, 1, 24},     {"norm", -1, -1, -1, 4},        {"head", 3, 0, -1, 16},
      {"error", -1, -1, -1, -1}};
  const std::vector<Place> places = places_of(description);
  REQUIRE(places.size() == std::size(all));
  for (std::size_t i = 0; i < places.size(); ++i) {
    CAPTURE(all[i].name);
    CHECK(description.nodes[i].name == all[i].name);
    CHECK(places[i].before == all[i].before);
    CHECK(places[i].behind == all[i].behind);
    CHECK(places[i].depth == all[i].depth);
    CHECK(places[i].elements == all[i].elements);
  }
}

TEST_CASE("bounds and exceptions that can be meant are accepted") {
  for (const char* rule : {
           "where first 1 : compute bf16",
           "where last 9 : compute bf16",
           "where layer \"h/1/*\" first 3 : compute bf16",
           "where layer \"in.weight\" role weight last 1 : store bf16",
           "where depth 1 2 : store bf16",
           "where op relu depth 0 1 : store bf16",
           "where role weight at_least 17 : store bf16",
           "where class normalization smaller_than 5 : compute bf16",
           "everywhere except class loss : compute bf16",
           "everywhere except target cpu : loss_scale dynamic initial 1 growth 2 backoff 0.5 "
           "interval 1 floor 1 ceiling 2 hysteresis 1 patience 1",
           "where class contraction except layer \"head\" or first 1 : compute bf16",
           "where role weight|gradient except role weight : store bf16",
           "where layer \"**\" pass forward except role weight : compute bf16",
           "where class softmax if_any : compute bf16",
           "where layer \"nothing\" if_any : compute bf16",
       }) {
    CAPTURE(rule);
    CHECK(fault(rule) == "");
  }
}

TEST_CASE("bounds and exceptions that cannot be meant are refused") {
  const char* out_of_bounds =
      "selects by first, last, depth, at_least or smaller_than, and nothing that its clause names "
      "lies in these bounds; correct them or remove the rule (P60)";
  const char* idle =
      "makes an exception of what it does not speak of; correct the exception or leave it out "
      "(P61)";
  const char* nothing_left =
      "has exceptions that leave nothing of what a clause names; correct them or remove the clause "
      "(P61)";
  const struct {
    const char *rule, *trouble;
  } cases[] = {
      {"where layer \"head\" first 3 : compute bf16", out_of_bounds},
      {"where op relu first 4 : store bf16", out_of_bounds},
      {"where depth 2 9 : store bf16", out_of_bounds},
      {"where at_least 25 : store bf16", out_of_bounds},
      {"where op relu smaller_than 99 : store bf16", out_of_bounds},
      {"where at_least 8 smaller_than 8 : store bf16",
       "states at_least what smaller_than excludes; correct the number or leave it out (P60)"},
      {"where first 1 : loss_scale none",
       "states loss_scale and selects by more than target; the model has one loss scale, so write "
       "a rule for it (P42)"},
      {"everywhere except class loss : loss_scale none",
       "states loss_scale and selects by more than target; the model has one loss scale, so write "
       "a rule for it (P42)"},
      {"where op relu except layer \"head\" : store bf16", idle},
      {"where role weight except role gradient : store bf16", idle},
      {"where op relu except layer \"h/0/*\" : store bf16", nothing_left},
      {"where role weight except role weight : store bf16", nothing_left},
      {"where layer \"head\" except last 1 : compute bf16", nothing_left},
      {"everywhere except class softmax : store bf16",
       "names a class or op that this model does not have; correct it or remove the rule (P40)"},
      {"everywhere except layer \"nothing\" : store bf16",
       "names \"nothing\", but no layer and no parameter is called that; correct the name or "
       "remove the rule (P40)"},
      {"where class softmax if_any : accumulate ordered rounding toward_zero",
       "states a rounding beside neither store nor compute; add the one that it is for (P42)"},
  };
  for (const auto& is : cases) {
    CAPTURE(is.rule);
    CHECK(fault(is.rule) == is.trouble);
  }
}

}  // namespace
