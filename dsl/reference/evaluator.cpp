// SPDX-License-Identifier: Apache-2.0
// Walks a description's nodes: which formula belongs to which kind, how gradients meet, what a step
// is made of.
#include "halftone/reference/evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "halftone/description/validate.hpp"
#include "kinds.hpp"
#include "layer.hpp"
#include "update.hpp"

namespace halftone::reference {
namespace {

using description::Description;
using description::Kind;
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

const description::ParameterAttributes& attributes_of(const Node& node) {
  return std::get<description::ParameterAttributes>(node.attributes);
}

bool is_trained(const Node& node) {
  return node.kind == Kind::parameter && !attributes_of(node).frozen;
}

bool is_loss(const Node& node) {
  return node.kind == Kind::cross_entropy || node.kind == Kind::mse ||
         node.kind == Kind::pointwise_loss;
}

// The trained parameters in the order of the flat buffers: a group has one decay and one
// learning-rate scale, and groups stand in the order of their first members.
std::vector<NodeId> flat_order(const description::Description& description) {
  std::vector<std::vector<NodeId>> groups;
  for (NodeId at = 0; at < static_cast<NodeId>(description.nodes.size()); ++at) {
    if (!is_trained(description.nodes[at])) continue;
    const auto& mine = attributes_of(description.nodes[at]);
    const auto group = std::ranges::find_if(groups, [&](const std::vector<NodeId>& members) {
      const auto& theirs = attributes_of(description.nodes[members.front()]);
      return mine.decay == theirs.decay && mine.learning_rate_scale == theirs.learning_rate_scale;
    });
    (group == groups.end() ? groups.emplace_back() : *group).push_back(at);
  }
  std::vector<NodeId> order;
  for (const auto& members : groups) order.insert(order.end(), members.begin(), members.end());
  return order;
}

// Whether the optimizer keeps a first moment or buffer, and a second moment.
bool keeps_first(const description::Optimizer& optimizer) {
  const auto* sgd = std::get_if<description::Sgd>(&optimizer);
  return sgd == nullptr || sgd->momentum != 0;
}

bool keeps_second(const description::Optimizer& optimizer) {
  return std::holds_alternative<description::AdamW>(optimizer);
}

template <class Scalar>
Layer<Scalar> layer_of(const Node& node, const Description& model, const Forward<Scalar>& forward,
                       const Symbols& symbols) {
  Layer<Scalar> layer{node, {}, {}, {}};
  for (const description::Operand& operand : node.operands) {
    const Node& source = model.nodes[operand.node];
    layer.operands.emplace_back(forward.values[operand.node]);
    std::int64_t columns = 1;
    if (!source.shape.empty()) {
      const description::Dimension& last = source.shape.back();
      columns = last.symbol.empty() ? last.extent : symbols.at(last.symbol);
    }
    layer.columns.push_back(columns);
    if (source.format == description::Format::i32) layer.labels = forward.labels[operand.node];
  }
  return layer;
}

// The first gradient to arrive is taken as it is, later ones are added to what is there.
template <class Scalar>
void arrive(Values<Scalar>& gradient, const Values<Scalar>& addend) {
  if (gradient.empty()) {
    gradient = addend;
    return;
  }
  for (std::size_t e = 0; e < addend.size(); ++e) gradient[e] = gradient[e] + addend[e];
}

}  // namespace

template <class Scalar>
Evaluator<Scalar>::Evaluator(Description model, Symbols symbols)
    : description_(std::move(model)), symbols_(std::move(symbols)) {
  if (const auto violation = description::validate(description_)) reject(violation->message);
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
  if constexpr (!std::is_same_v<Scalar, double>) require_f32();
}

template <class Scalar>
void Evaluator<Scalar>::require_f32() const {
  using description::Format;
  for (const description::Rule& rule : description_.rules) {
    if (rule.store.value_or(Format::f32) != Format::f32 ||
        rule.compute.value_or(Format::f32) != Format::f32) {
      reject("rule \"" + rule.layer +
             "\" asks for another format than f32, which declared "
             "evaluation does not have; store and compute it in f32 or evaluate exactly");
    }
  }
  for (const Node& node : description_.nodes) {
    if (node.format != Format::f32 && node.format != Format::i32) {
      reject("\"" + node.name +
             "\" has another format than f32 or i32, which declared evaluation "
             "does not have; deliver it in f32 or evaluate exactly");
    }
  }
}

template <class Scalar>
std::int64_t Evaluator<Scalar>::count(NodeId node) const {
  std::int64_t product = 1;
  for (const description::Dimension& dimension : description_.nodes[node].shape) {
    product *= dimension.symbol.empty() ? dimension.extent : symbols_.at(dimension.symbol);
  }
  return product;
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
  state.parameters = std::move(parameters);
  for (const auto& [name, values] : state.parameters) {
    if (description_.nodes[find(name)].kind != Kind::parameter) {
      reject("\"" + name + "\" is not a parameter; give values to parameters only");
    }
  }
  for (std::size_t at = 0; at < description_.nodes.size(); ++at) {
    const NodeId id = static_cast<NodeId>(at);
    const Node& node = description_.nodes[at];
    if (node.kind == Kind::parameter) {
      require_size("parameter", id, find_in(state.parameters, node.name, "parameter").size());
    }
    if (node.kind == Kind::state) {
      const double initial = std::get<description::StateAttributes>(node.attributes).initial;
      state.states[node.name].assign(count(id), static_cast<Scalar>(initial));
    }
    if (!is_trained(node)) continue;
    if (keeps_first(description_.optimizer)) state.first_moments[node.name].assign(count(id), 0);
    if (keeps_second(description_.optimizer)) state.second_moments[node.name].assign(count(id), 0);
  }
  return state;
}

// D20
template <class Scalar>
void Evaluator<Scalar>::load_sources(const State<Scalar>& state, const Inputs<Scalar>& inputs,
                                     Forward<Scalar>& result) const {
  for (std::size_t at = 0; at < description_.nodes.size(); ++at) {
    const NodeId id = static_cast<NodeId>(at);
    const Node& node = description_.nodes[at];
    if (node.kind == Kind::input && node.format == description::Format::i32) {
      result.labels[at] = find_in(inputs.labels, node.name, "label input");
      require_size("label input", id, result.labels[at].size());
    } else if (node.kind == Kind::input) {
      result.values[at] = find_in(inputs.values, node.name, "input");
      require_size("input", id, result.values[at].size());
    } else if (node.kind == Kind::parameter) {
      result.values[at] = find_in(state.parameters, node.name, "parameter");
      require_size("parameter", id, result.values[at].size());
    } else if (node.kind == Kind::state) {
      result.values[at] = find_in(state.states, node.name, "state");
      require_size("state", id, result.values[at].size());
    }
  }
}

template <class Scalar>
Forward<Scalar> Evaluator<Scalar>::forward(const State<Scalar>& state,
                                           const Inputs<Scalar>& inputs) const {
  Forward<Scalar> result;
  result.values.resize(description_.nodes.size());
  result.labels.resize(description_.nodes.size());
  load_sources(state, inputs, result);
  for (std::size_t at = 0; at < description_.nodes.size(); ++at) {
    const Node& node = description_.nodes[at];
    if (node.operands.empty()) continue;
    result.values[at] = apply(layer_of(node, description_, result, symbols_));
  }
  for (const description::Loss& loss : description_.losses) {
    const Scalar value = result.values[loss.node][0];
    const Scalar term = static_cast<Scalar>(loss.weight) * value;
    result.objective = result.losses.empty() ? term : result.objective + term;
    result.losses.push_back(value);
  }
  result.states = state.states;
  for (const description::Assignment& assignment : description_.assignments) {
    result.states[description_.nodes[assignment.state].name] = result.values[assignment.value];
  }
  return result;
}

template <class Scalar>
Gradients<Scalar> Evaluator<Scalar>::backward(const Forward<Scalar>& forward,
                                              const Tensors<Scalar>& external) const {
  Gradients<Scalar> gradients(description_.nodes.size());
  std::size_t used = 0;
  for (std::size_t at = description_.outputs.size(); at-- > 0;) {
    const description::Output& output = description_.outputs[at];
    const auto given = external.find(output.name);
    if (given == external.end()) continue;
    require_size("gradient of", output.node, given->second.size());
    arrive(gradients[output.node], given->second);
    ++used;
  }
  if (used != external.size()) {
    reject("an external gradient names no output of \"" + description_.name +
           "\"; use output names");
  }
  for (const description::Loss& loss : description_.losses) {
    arrive(gradients[loss.node], {static_cast<Scalar>(loss.weight)});
  }
  const auto visit = [&](bool losses) {
    for (std::size_t at = description_.nodes.size(); at-- > 0;) {
      const Node& node = description_.nodes[at];
      if (is_loss(node) != losses || node.operands.empty() || gradients[at].empty()) continue;
      const OperandGradients<Scalar> contributions = apply_gradient(
          layer_of(node, description_, forward, symbols_), View<Scalar>(gradients[at]));
      for (std::size_t i = 0; i < contributions.size(); ++i) {
        if (!contributions[i].empty()) {
          arrive(gradients[node.operands[i].node], contributions[i]);
        }
      }
    }
  };
  visit(true);
  visit(false);
  for (std::size_t at = 0; at < description_.nodes.size(); ++at) {
    const Node& node = description_.nodes[at];
    if (node.kind != Kind::parameter) continue;
    if (!is_trained(node))
      gradients[at].clear();  // D9
    else if (gradients[at].empty())
      gradients[at].assign(count(static_cast<NodeId>(at)), Scalar(0));
  }
  return gradients;
}

template <class Scalar>
Step<Scalar> Evaluator<Scalar>::update(const State<Scalar>& state,
                                       const Gradients<Scalar>& gradients,
                                       std::optional<double> learning_rate) const {
  Step<Scalar> result;
  result.state = state;
  std::vector<Slot<Scalar>> slots;
  for (const NodeId at : flat_order(description_)) {
    const Node& node = description_.nodes[at];
    require_size("gradient of", at, gradients.at(at).size());
    Slot<Scalar>& slot = slots.emplace_back(attributes_of(node), gradients[at]);
    slot.p = &result.state.parameters.at(node.name);
    if (keeps_first(description_.optimizer)) slot.first = &result.state.first_moments.at(node.name);
    if (keeps_second(description_.optimizer)) {
      slot.second = &result.state.second_moments.at(node.name);
    }
  }
  const Scalar squares = sum_of_squares(slots);  // U1
  result.norm = sqrt(squares);
  result.finite = std::isfinite(plain(squares));
  if (!result.finite) return result;  // U7
  if (description_.clip) clip(*description_.clip, result.norm, slots);
  update_parameters(description_.optimizer, learning_rate, result.state, slots);
  return result;
}

template <class Scalar>
Step<Scalar> Evaluator<Scalar>::step(const State<Scalar>& state, const Inputs<Scalar>& inputs,
                                     std::optional<double> learning_rate) const {
  Forward<Scalar> forwarded = forward(state, inputs);
  Step<Scalar> result = update(state, backward(forwarded), learning_rate);
  result.state.states = std::move(forwarded.states);
  result.losses = std::move(forwarded.losses);
  result.objective = forwarded.objective;
  return result;
}

template class Evaluator<float>;
template class Evaluator<double>;
template class Evaluator<Bounded>;

}  // namespace halftone::reference
