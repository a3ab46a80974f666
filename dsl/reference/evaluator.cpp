// SPDX-License-Identifier: Apache-2.0
// What a step is made of: forward over the nodes in their order, backward, update.
#include "halftone/reference/evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>

#include "backward.hpp"
#include "halftone/description/validate.hpp"
#include "held_states.hpp"
#include "node_kinds.hpp"
#include "operation.hpp"
#include "scaling.hpp"
#include "update.hpp"

namespace halftone::reference {
namespace {

using description::Description;
using description::Node;
using description::NodeId;

[[noreturn]] void reject(const std::string& sentence) { throw std::invalid_argument(sentence); }

template <class Map>
const auto& find_in(const Map& map, const std::string& name, const char* what) {
  const auto found = map.find(name);
  if (found == map.end())
    reject(std::string(what) + " \"" + name + "\" is missing; give it a value");
  return found->second;
}

// Before the rules are read, which only a valid description has.
Description validated(Description model) {
  if (const auto violation = description::validate(model)) reject(violation->message);
  return model;
}

// D16
template <class Scalar>
Values<Scalar> values_of(const Node& input, const std::vector<std::int32_t>& numbers) {
  const description::InputAttributes how = description::input_attributes(input);
  const Scalar scale = static_cast<Scalar>(static_cast<float>(how.scale));
  const Scalar offset = static_cast<Scalar>(static_cast<float>(how.offset));
  Values<Scalar> values;
  for (const std::int32_t number : numbers) {
    const Scalar value = static_cast<Scalar>(static_cast<float>(number));
    const Scalar product = value * scale;
    values.push_back(how.converts() ? product + offset : value);
  }
  return values;
}

// D15
template <class Scalar>
void unscale_input(float scale, Values<Scalar>& gradient) {
  const Scalar inverse = Scalar(1) / static_cast<Scalar>(scale);
  for (Scalar& g : gradient) g = g * inverse;
}

}  // namespace

template <class Scalar>
Evaluator<Scalar>::Evaluator(Description model, Symbols symbols, std::string target,
                             std::string stage)
    : description_(validated(std::move(model))),
      symbols_(std::move(symbols)),
      rules_(description_, std::move(target), std::move(stage)) {
  for (const Node& node : description_.nodes) {
    for (const description::Dimension& dimension : node.shape) {
      if (dimension.symbol.empty()) continue;
      const auto bound = symbols_.find(dimension.symbol);
      if (bound == symbols_.end() || bound->second < 1) {
        reject("symbol \"" + dimension.symbol + "\" of node \"" + node.name +
               "\" is not bound; give it a positive size");
      }
    }
  }
}

template <class Scalar>
std::int64_t Evaluator<Scalar>::count(NodeId node) const {
  return reference::count(bound(description_.nodes[node].shape, symbols_));
}

template <class Scalar>
NodeId Evaluator<Scalar>::find(const std::string& name) const {
  for (std::size_t id = 0; id < description_.nodes.size(); ++id) {
    if (description_.nodes[id].name == name) return static_cast<NodeId>(id);
  }
  reject("\"" + description_.name + "\" has no node \"" + name +
         "\"; use a name of the description");
}

template <class Scalar>
void Evaluator<Scalar>::require_size(const std::string& what, NodeId node, std::size_t size) const {
  if (static_cast<std::int64_t>(size) == count(node)) return;
  reject(what + " \"" + description_.nodes[node].name + "\" has " + std::to_string(size) +
         " elements; give it " + std::to_string(count(node)));
}

template <class Scalar>
State<Scalar> Evaluator<Scalar>::initial_state(Tensors<Scalar> parameters) const {
  State<Scalar> state;
  state.scaling = initial_scaling(rules_.loss_scale());
  state.parameters = std::move(parameters);
  for (const auto& [name, values] : state.parameters) {
    if (!is_parameter(description_.nodes[find(name)])) {
      reject("\"" + name + "\" is not a parameter; give values to parameters only");
    }
  }
  for (std::size_t at = 0; at < description_.nodes.size(); ++at) {
    const NodeId id = static_cast<NodeId>(at);
    const Node& node = description_.nodes[at];
    if (is_parameter(node)) {
      require_size("parameter", id, find_in(state.parameters, node.name, "parameter").size());
    }
    if (is_state(node)) {
      const double initial = std::get<description::StateAttributes>(node.attributes).initial;
      state.states[node.name].assign(count(id), static_cast<Scalar>(initial));
    }
    if (!is_trained(node)) continue;
    if (keeps_first(description_.optimizer)) state.first_moments[node.name].assign(count(id), 0);
    if (keeps_second(description_.optimizer)) {
      const double start = starts_second(description_.optimizer);
      state.second_moments[node.name].assign(count(id), static_cast<Scalar>(start));
    }
    if (keeps_third(description_.optimizer)) state.third_moments[node.name].assign(count(id), 0);
    if (std::holds_alternative<description::Adafactor>(description_.optimizer)) {
      const Factored of(node.shape);
      state.first_moments[node.name].assign(of.row_means(), 0);
      state.second_moments[node.name].assign(of.column_means(), 0);
    }
    if (const auto* own = own_states(description_.optimizer)) {
      state.own_states.resize(own->size());
      for (Tensors<Scalar>& values : state.own_states) values[node.name].assign(count(id), 0);
    }
    if (description_.average) state.averages[node.name].assign(count(id), 0);
  }
  hold_states(description_, rules_, Draws{}, state);
  settle_masters(rules_, state);
  return state;
}

// D20
template <class Scalar>
void Evaluator<Scalar>::load_sources(const State<Scalar>& state, const Inputs<Scalar>& inputs,
                                     Forward<Scalar>& result) const {
  for (std::size_t at = 0; at < description_.nodes.size(); ++at) {
    const NodeId id = static_cast<NodeId>(at);
    const Node& node = description_.nodes[at];
    if (is_input(node) && holds_integers(node)) {
      result.integers[at] = find_in(inputs.integers, node.name, "integer input");
      require_size("integer input", id, result.integers[at].size());
      if (!is_counted(description_, id)) {
        result.values[at] = values_of<Scalar>(node, result.integers[at]);
        result.integers[at].clear();
      }
    } else if (is_input(node)) {
      result.values[at] = find_in(inputs.values, node.name, "input");
      require_size("input", id, result.values[at].size());
    } else if (is_parameter(node)) {
      result.values[at] = find_in(state.parameters, node.name, "parameter");
      require_size("parameter", id, result.values[at].size());
    } else if (is_state(node)) {
      result.values[at] = find_in(state.states, node.name, "state");
      require_size("state", id, result.values[at].size());
    }
  }
}

template <class Scalar>
Forward<Scalar> Evaluator<Scalar>::forward(const State<Scalar>& state,
                                           const Inputs<Scalar>& inputs) const {
  return forward(state, inputs, true);
}

template <class Scalar>
Forward<Scalar> Evaluator<Scalar>::predict(const State<Scalar>& state,
                                           const Inputs<Scalar>& inputs) const {
  return forward(state, inputs, false);
}

template <class Scalar>
Forward<Scalar> Evaluator<Scalar>::forward(const State<Scalar>& state, const Inputs<Scalar>& inputs,
                                           bool training) const {
  Forward<Scalar> result;
  result.draws = {.training = training,
                  .seed = state.seed,
                  .step = static_cast<std::uint32_t>(state.ended),
                  .micro_batch = static_cast<std::uint32_t>(state.micro_batches)};
  result.values.resize(description_.nodes.size());
  result.integers.resize(description_.nodes.size());
  result.scale = state.scaling.scale;
  result.delayed = state.delayed;
  result.amaxes = std::make_shared<Amaxes>();
  load_sources(state, inputs, result);
  std::map<NodeId, Values<Scalar>> moved;  // D17
  for (std::size_t at = 0; at < description_.nodes.size(); ++at) {
    const Node& node = description_.nodes[at];
    if (node.operands.empty()) continue;
    const Operation<Scalar> operation(description_, rules_, symbols_, result,
                                      static_cast<NodeId>(at));
    result.values[at] = operation.result();
    if (!training) continue;
    for (auto& [kept, values] : operation.moved()) moved[kept] = std::move(values);
  }
  std::optional<Scalar> objective;
  for (const description::Loss& loss : description_.losses) {
    const Scalar value = result.values[loss.node][0];
    result.losses.push_back(value);
    if (is_metric(loss)) continue;
    const Scalar term = static_cast<Scalar>(loss.weight) * value;
    objective = objective ? *objective + term : term;
  }
  result.objective = objective.value_or(Scalar(0));
  result.states = state.states;
  for (auto& [kept, values] : moved)
    result.states[description_.nodes[kept].name] = std::move(values);
  for (const description::Assignment& assignment : description_.assignments) {
    result.states[description_.nodes[assignment.state].name] = result.values[assignment.value];
  }
  return result;
}

template <class Scalar>
Gradients<Scalar> Evaluator<Scalar>::backward(const Forward<Scalar>& forward,
                                              const Tensors<Scalar>& external) const {
  Backward<Scalar> backward(description_, rules_, symbols_, forward);
  std::size_t used = 0;
  for (std::size_t at = description_.outputs.size(); at-- > 0;) {
    const description::Output& output = description_.outputs[at];
    const auto given = external.find(output.name);
    if (given == external.end()) continue;
    require_size("gradient of", output.node, given->second.size());
    backward.start_from_output(output.node, given->second);
    ++used;
  }
  if (used != external.size()) {
    reject("an external gradient names no output of \"" + description_.name +
           "\"; use output names");
  }
  for (const description::Loss& loss : description_.losses) backward.start_from_loss(loss);
  Gradients<Scalar> gradients = std::move(backward).finish();
  for (std::size_t at = 0; at < description_.nodes.size(); ++at) {
    const Node& node = description_.nodes[at];
    if (wants_gradient(node)) unscale_input(forward.scale, gradients[at]);
    if (!is_parameter(node)) continue;
    if (!is_trained(node))
      gradients[at].clear();  // D9
    else if (gradients[at].empty())
      gradients[at].assign(count(static_cast<NodeId>(at)), Scalar(0));
  }
  return gradients;
}

template <class Scalar>
Gradients<Scalar> Evaluator<Scalar>::accumulate(Gradients<Scalar> sum,
                                                const Gradients<Scalar>& next) const {
  for (std::size_t at = 0; at < description_.nodes.size(); ++at) {
    if (wants_gradient(description_.nodes[at])) sum.at(at) = next.at(at);  // D15
    if (!is_trained(description_.nodes[at])) continue;
    for (std::size_t e = 0; e < sum.at(at).size(); ++e) {
      sum[at][e] = sum[at][e] + next.at(at).at(e);
    }
  }
  return sum;
}

template <class Scalar>
Step<Scalar> Evaluator<Scalar>::update(const State<Scalar>& state,
                                       const Gradients<Scalar>& gradients,
                                       std::optional<double> learning_rate,
                                       std::int64_t micro_batches) const {
  if (micro_batches < 1) reject("an update of no micro-batch has no gradient; give it one or more");
  Step<Scalar> result;
  result.state = state;
  ++result.state.ended;
  result.state.micro_batches = 0;
  std::vector<Slot<Scalar>> slots;
  std::vector<int> clips;
  for (const NodeId at : flat_order(description_)) {
    const Node& node = description_.nodes[at];
    require_size("gradient of", at, gradients.at(at).size());
    Slot<Scalar>& slot = slots.emplace_back(attributes_of(node), gradients[at]);
    clips.push_back(clip_of(description_, at));
    slot.shape = &node.shape;
    slot.p = &result.state.parameters.at(node.name);
    if (keeps_first(description_.optimizer)) slot.first = &result.state.first_moments.at(node.name);
    if (keeps_second(description_.optimizer)) {
      slot.second = &result.state.second_moments.at(node.name);
    }
    if (keeps_third(description_.optimizer)) slot.third = &result.state.third_moments.at(node.name);
    for (Tensors<Scalar>& own : result.state.own_states) slot.own.push_back(&own.at(node.name));
    if (description_.average) slot.average = &result.state.averages.at(node.name);
  }
  unscale(state.scaling.scale, micro_batches, slots);
  const Scalar squares = sum_of_squares(flat_padding(description_, rules_), slots);  // U1
  result.norm = sqrt(squares);
  result.finite = std::isfinite(plain(squares));
  const description::LossScale rule = rules_.loss_scale();
  result.state.scaling = next_scaling(rule, state.scaling, result.finite);
  result.exhausted = is_exhausted(rule, result.state.scaling);
  if (!result.finite) return result;  // U7, L5
  if (description_.clip) clip(*description_.clip, result.norm, slots);
  if (!description_.clip_groups.empty()) clip_groups(description_, clips, slots);
  if (description_.clip_value) clip_value(*description_.clip_value, slots);
  update_parameters(description_, learning_rate, result.state, slots);
  const Draws draws{.training = true,
                    .seed = state.seed,
                    .step = static_cast<std::uint32_t>(state.ended),
                    .micro_batch = static_cast<std::uint32_t>(micro_batches - 1)};
  hold_states(description_, rules_, draws, result.state);
  settle_masters(rules_, result.state);
  return result;
}

template <class Scalar>
Step<Scalar> Evaluator<Scalar>::step(const State<Scalar>& state,
                                     std::span<const Inputs<Scalar>> micro_batches,
                                     std::optional<double> learning_rate) const {
  if (micro_batches.empty())
    reject("a step of no micro-batch has no gradient; give it one or more");
  State<Scalar> moving = state;
  Gradients<Scalar> sum;
  Forward<Scalar> forwarded;
  Amaxes amaxes;
  for (const Inputs<Scalar>& inputs : micro_batches) {
    forwarded = forward(moving, inputs);
    Gradients<Scalar> gradients = backward(forwarded);
    add_amaxes(amaxes, *forwarded.amaxes);
    sum = sum.empty() ? std::move(gradients) : accumulate(std::move(sum), gradients);
    moving.states = forwarded.states;  // S2
    ++moving.micro_batches;
  }
  Step<Scalar> result = update(state, sum, learning_rate, std::ssize(micro_batches));
  if (result.finite) result.state.states = std::move(moving.states);  // S4
  move_delayed(amaxes, state.ended, result.state.delayed);
  result.losses = std::move(forwarded.losses);
  result.objective = forwarded.objective;
  return result;
}

template <class Scalar>
Step<Scalar> Evaluator<Scalar>::step(const State<Scalar>& state, const Inputs<Scalar>& inputs,
                                     std::optional<double> learning_rate) const {
  return step(state, std::span(&inputs, 1), learning_rate);
}

template class Evaluator<float>;
template class Evaluator<double>;
template class Evaluator<Bounded>;

}  // namespace halftone::reference
