// SPDX-License-Identifier: Apache-2.0
// The calls that fit no function of the dsl: a forgotten size, a std::string, a loss in a chain.
// Each becomes a token, so that HALFTONE_MODEL says one sentence at the user's line, where the
// compiler would list candidates.
#pragma once

#include "halftone/loss_scale.hpp"
#include "halftone/model.hpp"
#include "halftone/training.hpp"

namespace halftone::dsl {

namespace building {
constexpr Section<1> misused_section(const char* sentence) { return {misused(sentence)}; }

template <int N>
constexpr void take_chain(const Spec<N>&) {}
/// Also of what is derived from Spec, to which an overload for everything would be preferred.
template <class T>
concept Chain = requires(const T& layers) {
  take_chain(layers);
};
}  // namespace building

// ---- layers ----

constexpr auto linear(const auto&...) {
  return building::misused(
      "linear takes a name and a whole number of outputs: write linear(\"fc\", 64)");
}
constexpr auto layer_norm(const auto&...) {
  return building::misused(
      "layer_norm takes a name, epsilon() and options of parameters: write layer_norm(\"norm\")");
}
constexpr auto pointwise(const auto&...) {
  return building::misused(
      "pointwise takes a name, a lambda and names of values: write pointwise(\"gate\", "
      "[](auto x, auto y) { return x * y; }, \"other\")");
}
constexpr auto add(const auto&...) {
  return building::misused("add takes the name of a value: write add(\"x\")");
}
template <class... Parts>
requires(!(building::Chain<Parts> && ...)) constexpr auto concat(const Parts&...) {
  return building::misused(
      "concat takes names of values, or chains that each begin at the current value: write "
      "concat(\"a\", \"b\")");
}
constexpr auto tied(const auto&...) {
  return LinearOption{
      building::misused("tied takes the name of a linear layer: write "
                        "linear(\"head\", 64, tied(\"embed\"))")[0]};
}

// ---- sources and sections ----

constexpr auto tensor(const auto&...) {
  return building::misused_section(
      "tensor takes a name and dimensions that are whole numbers or symbols: write tensor(\"x\", "
      "batch, 64)");
}
constexpr auto labels(const auto&...) {
  return building::misused_section(
      "labels takes a name and dimensions that are whole numbers or symbols: write "
      "labels(\"digit\", batch)");
}
constexpr auto state(const auto&...) {
  return building::misused_section(
      "state takes a name, initial() and dimensions: write state(\"mean\", initial(0), batch, 8)");
}
constexpr auto assign(const auto&...) {
  return building::misused_section(
      "assign takes the names of a state and of a value: write assign(\"mean\", \"fc1\")");
}
constexpr auto inputs(const auto&...) {
  return building::misused_section(
      "inputs takes tensor() and labels(): write inputs(tensor(\"x\", batch, 64))");
}
constexpr auto states(const auto&...) {
  return building::misused_section("states takes state(): write states(state(\"mean\", batch, 8))");
}
constexpr auto assignments(const auto&...) {
  return building::misused_section(
      "assignments takes assign(): write assignments(assign(\"mean\", \"fc1\"))");
}
constexpr auto losses(const auto&...) {
  return building::misused_section(
      "losses takes one loss or more: write losses(mse(\"loss\", \"guess\", \"y\"))");
}
constexpr auto cross_entropy(const auto&...) {
  return building::misused_section(
      "cross_entropy takes the names of the loss, the logits and the label, and weight(): write "
      "cross_entropy(\"loss\", \"logits\", \"digit\")");
}
constexpr auto mse(const auto&...) {
  return building::misused_section(
      "mse takes the names of the loss, the value and the target, and weight(): write "
      "mse(\"loss\", \"guess\", \"y\")");
}
constexpr auto pointwise_loss(const auto&...) {
  return building::misused_section(
      "pointwise_loss takes a name, a lambda, weight() and names of values: write "
      "pointwise_loss(\"loss\", [](auto x, auto y) { return abs(x - y); }, \"guess\", \"y\")");
}

// ---- chains ----

constexpr auto from(const auto&...) {
  return building::misused("from takes the name of a value: write from(\"x\")");
}
constexpr auto as(const auto&...) {
  return building::misused("as takes a name: write as(\"sum\")");
}
constexpr auto output(const auto&...) {
  return building::misused("output takes a name: write output(\"logits\")");
}
template <class... Parts>
requires(sizeof...(Parts) != 1 ||
         !(building::Chain<Parts> && ...)) constexpr auto residual(const Parts&...) {
  return building::misused(
      "residual takes one chain of layers: write residual(linear(\"fc\", 64) | relu)");
}
constexpr auto repeat(const auto&...) {
  return building::misused(
      "repeat takes its number in <>, a name and a chain of layers: write repeat<3>(\"h\", "
      "linear(\"fc\", 64) | relu)");
}
template <long long Count>
constexpr auto repeat(const auto& name_or_body) {
  return repeat(name_or_body);
}
template <long long Count, class Body>
requires(!building::Chain<Body>) constexpr auto repeat(const auto& name, const Body& body,
                                                       const auto&... more) {
  return repeat(name, body, more...);
}
template <int A, int B>
constexpr auto operator|(const Spec<A>&, const Section<B>&) {
  return building::misused(
      "a loss, input, state or section stands in a chain: write it beside the chain, as in "
      "model(\"net\", inputs(...), from(\"x\") | linear(\"fc\", 64), losses(...))");
}
template <int A, int B>
constexpr auto operator|(const Section<A>&, const Spec<B>&) {
  return building::misused(
      "a chain begins with an input, state or section: begin it with from(\"x\")");
}
template <int B>
constexpr auto operator|(const char*, const Spec<B>&) {
  return building::misused("a chain begins with a text: begin it with from(\"x\")");
}

/// In the place of a model: it says the sentence, whatever the arguments are.
constexpr auto model(const auto&...) {
  return building::whole(building::misused(
      "model takes a name, sections and chains: write model(\"net\", inputs(...), from(\"x\") | "
      "linear(\"fc\", 64), losses(...)), and give rules and optimizer to HALFTONE_MODEL"));
}

// ---- rules ----

constexpr Selector layer(const auto&...) { return selecting::unnamed(); }
constexpr Selector op(const auto&...) { return selecting::unnamed(); }
constexpr Selector on(const auto&...) { return selecting::unnamed(); }
template <class T>
requires(!std::is_same_v<T, Selector>) constexpr Selector operator|(const Selector&, const T&) {
  return selecting::unnamed();
}
template <class T>
requires(!std::is_same_v<T, Selector>) constexpr Selector operator&(const Selector&, const T&) {
  return selecting::unnamed();
}
constexpr Selection where(const auto&, const auto&, const auto&...) { return where(0); }
constexpr FieldOfRule store(const auto&...) {
  return stating::stranger(description::rules::Field::store);
}
constexpr FieldOfRule compute(const auto&...) {
  return stating::stranger(description::rules::Field::compute);
}
constexpr FieldOfRule result(const auto&...) {
  return stating::stranger(description::rules::Field::result);
}
constexpr FieldOfRule accumulate(const auto&...) {
  return stating::stranger(description::rules::Field::accumulate);
}
constexpr FieldOfRule master(const auto&...) {
  return stating::stranger(description::rules::Field::master);
}
constexpr FieldOfRule rounding(const auto&...) {
  return stating::stranger(description::rules::Field::rounding);
}
constexpr FieldOfRule recompute(const auto&...) {
  return stating::stranger(description::rules::Field::recompute);
}

}  // namespace halftone::dsl
