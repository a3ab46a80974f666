// SPDX-License-Identifier: Apache-2.0
// The executable meaning of a Description: forward, backward, update and whole steps, written for
// clarity from docs/spec/description.md and precision.md. Exact computes everything in double with
// plain sums, knows no formats and judges error; Declared computes in f32 with every operation,
// order, tree and rounding that the specification states and judges bits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halftone/description/description.hpp"
#include "halftone/reference/bounded.hpp"
#include "halftone/reference/draws.hpp"
#include "halftone/reference/resolution.hpp"
#include "halftone/reference/rounding.hpp"

namespace halftone::reference {

/// The size of every symbol of a description, such as {"batch", 64}.
using Symbols = std::map<std::string, std::int64_t>;

/// Tensors by node name, each flat and row-major.
template <class Scalar>
using Tensors = std::map<std::string, std::vector<Scalar>>;

/// What every step receives: one tensor for each input, those of integers in `integers` and all
/// others in `values`. What i32 does not hold of i64 is -1, as out of range as it is (D16). Values
/// of an input of format f16 or bf16 are values of that format.
template <class Scalar>
struct Inputs {
  Tensors<Scalar> values;
  std::map<std::string, std::vector<std::int32_t>> integers;
};

/// beta^t as the unevaluated sum high + low (U6); low stays 0 in Exact.
template <class Scalar>
struct Power {
  Scalar high = 1, low = 0;

  bool operator==(const Power&) const = default;
};

/// L1, L3, L4: the scale of this step's gradients and what decides the next one's.
struct Scaling {
  float scale = 1;           ///< 1 without a loss scale
  std::int64_t clean = 0;    ///< finite steps since the scale last changed or a step was skipped
  std::int64_t wait = 0;     ///< skipped steps until the scale backs off
  std::int64_t floored = 0;  ///< consecutive steps that were skipped with the scale at its floor

  bool operator==(const Scaling&) const = default;
};

/// P72: a scale of earlier steps, and the largest magnitudes of those, each in its turn.
struct Delayed {
  float scale = 1;
  std::vector<float> amaxes;

  bool operator==(const Delayed&) const = default;
};

/// The largest magnitude that passes rounded to a delayed format, by what P72 tells scales apart
/// by.
struct Amax {
  RoundTo to;
  float largest = 0;
};
using Amaxes = std::map<std::string, Amax>;

/// M4, P73: those of one more micro-batch.
void add_amaxes(Amaxes& of_step, const Amaxes& of_pass);
/// P73: the scales of `ended` steps once one more has ended.
void move_delayed(const Amaxes& of_step, std::int64_t ended,
                  std::map<std::string, Delayed>& scales);

/// What a step carries to the next one. Moments have one tensor for each parameter that is not
/// frozen.
template <class Scalar>
struct State {
  Tensors<Scalar> parameters;
  Tensors<Scalar> states;
  Tensors<Scalar> first_moments;   ///< m; of sgd and rmsprop with momentum: the buffer
  Tensors<Scalar> second_moments;  ///< v; of adagrad: the sum; otherwise empty. Of adafactor these
                                   ///< two are means over rows and over columns, or () and v
  Tensors<Scalar> third_moments;   ///< with amsgrad the largest v; of a centered rmsprop the mean
  std::vector<Tensors<Scalar>> own_states;  ///< of a user's optimizer (U14), in its order
  Tensors<Scalar> averages;                 ///< U8; empty where the description asks for none
  Power<Scalar> power1, power2;  ///< adam, adamw: beta1^steps; these and nadam: beta2^steps
  Power<Scalar> growth;          ///< nadam: 0.96^(momentum_decay * steps)
  Scalar momentum_product = 1;   ///< nadam
  std::int64_t steps = 0;        ///< updates that were applied; skipped ones do not count
  Scaling scaling;
  std::map<std::string, Delayed> delayed;  ///< a scale that is not there is 1
  std::uint64_t seed = 0;                  ///< of what layers draw (D35)
  std::int64_t ended = 0;                  ///< steps, skipped ones among them
  std::int64_t micro_batches = 0;          ///< that joined this step before

  bool operator==(const State&) const = default;
};

/// Results of a forward pass.
template <class Scalar>
struct Forward {
  std::vector<std::vector<Scalar>>
      values;  ///< by NodeId, as stored (P32); empty for labels, tokens
  std::vector<std::vector<std::int32_t>> integers;  ///< by NodeId; empty but for labels and tokens
  std::vector<Scalar> losses;  ///< in the order of Description::losses, not weighted
  Scalar objective = 0;        ///< the sum of weight * loss, 0 without losses; no metrics (D6)
  Tensors<Scalar> states;      ///< all states after the assignments
  float scale = 1;             ///< of the state, for backward (L1)
  std::map<std::string, Delayed> delayed;  ///< of the state
  std::shared_ptr<Amaxes> amaxes;          ///< of this pass; backward adds to them
  Draws draws;                             ///< but for the layer
};

/// Gradients by NodeId, times the loss scale but for inputs that want one (D15): of the objective
/// plus, for external gradients e, of the sum over outputs of e * output. Empty where no gradient
/// arrives and for frozen parameters; other parameters always have one, of zeros if need be.
template <class Scalar>
using Gradients = std::vector<std::vector<Scalar>>;

template <class Scalar>
struct Step {
  State<Scalar> state;  ///< after the step; as before it, but for `scaling`, `delayed` and `ended`,
                        ///< when the step was skipped (U7, L5)
  std::vector<Scalar> losses;
  Scalar objective = 0;
  Scalar norm = 0;         ///< of the unscaled gradient before clipping (U1)
  bool finite = true;      ///< whether the update was applied
  bool exhausted = false;  ///< whether skipped steps at the scale's floor reached the patience (L4)
};

/// Evaluates one description for one size of its symbols. Scalar is double (exact) or float
/// (declared). Members throw std::invalid_argument with one sentence when what they are given does
/// not fit the description.
template <class Scalar>
class Evaluator {
 public:
  /// Throws when the description is not valid or a symbol is not bound to a positive size. Rules
  /// are those for `target`, "cpu" or a chip, and for a stage of the description's (P66), its first
  /// when empty.
  Evaluator(description::Description description, Symbols symbols, std::string target = "cpu",
            std::string stage = "");

  /// The state before the first step: `parameters` as given, states at their initial value, moments
  /// zero, the loss scale at its initial value.
  [[nodiscard]] State<Scalar> initial_state(Tensors<Scalar> parameters) const;

  /// D20 to D59 with the roundings P30 to P32, objective and assignments: of a trainer, or of a
  /// predictor, whose layers draw nothing.
  [[nodiscard]] Forward<Scalar> forward(const State<Scalar>& state,
                                        const Inputs<Scalar>& inputs) const;
  [[nodiscard]] Forward<Scalar> predict(const State<Scalar>& state,
                                        const Inputs<Scalar>& inputs) const;

  /// D40 to D60 with the roundings P33 to P37. `external` holds gradients that arrive at outputs,
  /// by output name and not scaled; they come before those of any user, the last output's first.
  [[nodiscard]] Gradients<Scalar> backward(const Forward<Scalar>& forward,
                                           const Tensors<Scalar>& external = {}) const;

  /// M4: the parameters' gradients of several micro-batches, `sum` those of the earlier ones;
  /// inputs have those of `next`.
  [[nodiscard]] Gradients<Scalar> accumulate(Gradients<Scalar> sum,
                                             const Gradients<Scalar>& next) const;

  /// U0 to U14 and L3 to L5 with the gradients of backward, or their sum over `micro_batches`;
  /// losses and objective of the result stay empty, its user's states and delayed scales as they
  /// are. `learning_rate`
  /// is this step's, the optimizer's when absent.
  [[nodiscard]] Step<Scalar> update(const State<Scalar>& state, const Gradients<Scalar>& gradients,
                                    std::optional<double> learning_rate = {},
                                    std::int64_t micro_batches = 1) const;

  /// Forward, backward and assignments of every micro-batch in turn (M4, S1 to S4), then the
  /// update. Losses and objective are the last one's.
  [[nodiscard]] Step<Scalar> step(const State<Scalar>& state,
                                  std::span<const Inputs<Scalar>> micro_batches,
                                  std::optional<double> learning_rate = {}) const;

  /// A step of one micro-batch.
  [[nodiscard]] Step<Scalar> step(const State<Scalar>& state, const Inputs<Scalar>& inputs,
                                  std::optional<double> learning_rate = {}) const;

  /// The number of elements of a node's tensor.
  [[nodiscard]] std::int64_t count(description::NodeId node) const;

  /// The node of this name.
  [[nodiscard]] description::NodeId find(const std::string& name) const;

  [[nodiscard]] const description::Description& description() const { return description_; }

  /// What the rules decide.
  [[nodiscard]] const Resolution& rules() const { return rules_; }

 private:
  void require_size(const std::string& what, description::NodeId node, std::size_t size) const;
  [[nodiscard]] Forward<Scalar> forward(const State<Scalar>& state, const Inputs<Scalar>& inputs,
                                        bool training) const;
  void load_sources(const State<Scalar>& state, const Inputs<Scalar>& inputs,
                    Forward<Scalar>& result) const;

  description::Description description_;
  Symbols symbols_;
  Resolution rules_;
};

using Exact = Evaluator<double>;
using Declared = Evaluator<float>;

}  // namespace halftone::reference
