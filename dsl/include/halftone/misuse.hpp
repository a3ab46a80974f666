// SPDX-License-Identifier: Apache-2.0
// The calls that fit no function of the dsl: a forgotten size, a std::string, a loss in a chain.
// Each becomes a token, so that HALFTONE_MODEL says one sentence at the user's line, where the
// compiler would list candidates.
#pragma once

#include "halftone/misused.hpp"
#include "halftone/misused_layers.hpp"
#include "halftone/misused_sections.hpp"

namespace halftone::dsl {

// ---- chains ----

constexpr Spec<1> from(const auto&...) {
  return building::misused("from takes the name of a value: write from(\"x\")");
}
constexpr Spec<1> as(const auto&...) {
  return building::misused("as takes a name: write as(\"sum\")");
}
constexpr Spec<1> output(const auto&...) {
  return building::misused("output takes a name: write output(\"logits\")");
}
template <class... Parts>
  requires(sizeof...(Parts) != 1 || !(building::Chain<Parts> && ...))
constexpr Spec<1> residual(const Parts&...) {
  return building::misused(
      "residual takes one chain of layers: write residual(linear(\"fc\", 64) | relu)");
}
constexpr Spec<1> named(const auto&...) {
  return building::misused(
      "named takes a name and a chain of layers: write named(\"mlp\", linear(\"fc\", 64) | relu)");
}
constexpr Spec<1> repeat(const auto&...) {
  return building::misused(
      "repeat takes its number in <>, a name and a chain of layers: write repeat<3>(\"h\", "
      "linear(\"fc\", 64) | relu)");
}
template <long long Count>
constexpr Spec<1> repeat(const auto& name_or_body) {
  return repeat(name_or_body);
}
template <long long Count, class Body>
  requires(!building::Chain<Body>)
constexpr Spec<1> repeat(const auto& name, const Body& body, const auto&... more) {
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
constexpr Model<1> model(const auto&...) {
  return building::whole(building::misused(
      "model takes a name, sections and chains: write model(\"net\", inputs(...), from(\"x\") | "
      "linear(\"fc\", 64), losses(...)), and give rules and optimizer to HALFTONE_MODEL"));
}

// ---- functions without their parentheses, where one of any type fits no template ----

template <int A>
constexpr auto operator|(const Spec<A>&, building::Argument part) {
  return building::misused({part},
                           "a chain holds what is no layer: write it as in from(\"x\") | "
                           "linear(\"fc\", 64) | relu");
}
template <int B>
constexpr auto operator|(building::Argument part, const Spec<B>&) {
  return building::misused({part}, "a chain begins with no layer: begin it with from(\"x\")");
}
constexpr Spec<1> layer_norm(const char*, building::Argument a, building::Argument b = {},
                             building::Argument c = {}) {
  return building::misused({a, b, c}, layer_norm(0)[0].name);
}
constexpr Spec<1> rms_norm(const char*, building::Argument a, building::Argument b = {},
                           building::Argument c = {}) {
  return building::misused({a, b, c}, rms_norm(0)[0].name);
}
constexpr Spec<1> batch_norm(const char*, building::Argument a, building::Argument b = {},
                             building::Argument c = {}) {
  return building::misused({a, b, c}, batch_norm(0)[0].name);
}
constexpr Spec<1> residual(building::Argument body) {
  return building::misused({body}, residual(0)[0].name);
}
constexpr Spec<1> named(const char*, building::Argument body) {
  return building::misused({body}, named(0)[0].name);
}
template <long long Count>
constexpr Spec<1> repeat(const char*, building::Argument body) {
  return building::misused({body}, repeat(0)[0].name);
}
constexpr Spec<1> concat(building::Argument a, building::Argument b = {}, building::Argument c = {},
                         building::Argument d = {}) {
  return building::misused({a, b, c, d}, concat(0)[0].name);
}
constexpr Section<1> inputs(building::Argument a, building::Argument b = {},
                            building::Argument c = {}, building::Argument d = {}) {
  return {building::misused({a, b, c, d}, inputs(0).spec[0].name)};
}
constexpr Section<1> states(building::Argument a, building::Argument b = {},
                            building::Argument c = {}, building::Argument d = {}) {
  return {building::misused({a, b, c, d}, states(0).spec[0].name)};
}
constexpr Section<1> assignments(building::Argument a, building::Argument b = {},
                                 building::Argument c = {}, building::Argument d = {}) {
  return {building::misused({a, b, c, d}, assignments(0).spec[0].name)};
}
constexpr Section<1> losses(building::Argument a, building::Argument b = {},
                            building::Argument c = {}, building::Argument d = {}) {
  return {building::misused({a, b, c, d}, losses(0).spec[0].name)};
}
constexpr Model<1> model(const char*, building::Argument a, building::Argument b = {},
                         building::Argument c = {}, building::Argument d = {},
                         building::Argument e = {}, building::Argument f = {}) {
  return {building::misused({a, b, c, d, e, f}, model().spec[0].name)};
}

// ---- rules ----

constexpr Selector layer(const auto&...) { return selecting::unnamed(); }
constexpr Selector op(const auto&...) { return selecting::unnamed(); }
constexpr Selector on(const auto&...) { return selecting::unnamed(); }
template <class T>
  requires(!std::is_base_of_v<Selector, T> && !building::Chain<T>)
constexpr Selector operator|(const Selector&, const T&) {
  return selecting::unnamed();
}
template <class T>
  requires(!std::is_base_of_v<Selector, T> && !building::Chain<T>)
constexpr Selector operator&(const Selector&, const T&) {
  return selecting::unnamed();
}
constexpr Selection where(const auto&, const auto&, const auto&...) { return where(0); }
constexpr Scaled scaled(const auto&...) { return {f32, false}; }
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
