// SPDX-License-Identifier: Apache-2.0
// Training, type-erased: the class that a model's generated Trainer derives from. One step is
// forward, backward, check and update; the parts can be called alone, in that order, by those with
// a loop of their own. A step may be made of several micro-batches.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/checkpoint.hpp"
#include "halftone/device.hpp"
#include "halftone/diagnosis.hpp"
#include "halftone/error.hpp"
#include "halftone/inspection.hpp"
#include "halftone/values.hpp"
#include "halftone/weights.hpp"

namespace halftone {

template <class State>
class InUse;
class Trainer;
struct RunFacts;
[[nodiscard]] RunFacts facts_of(const Trainer& trainer);

/// What a trainer has done and what it uses.
struct Statistics {
  struct Loss {
    std::string name;
    float value = 0.0f;  ///< of the last forward pass that computed it
  };

  std::int64_t steps = 0;          ///< updates asked for, skipped ones included
  std::int64_t skipped_steps = 0;  ///< updates that changed nothing since a gradient was not finite
  float grad_norm = 0.0f;          ///< of the last check, before clipping
  float learning_rate = 0.0f;      ///< of the last check, the schedule's factor in it
  float weight_decay = 0.0f;       ///< of the updates that follow; 0 where no parameter decays
  float momentum = 0.0f;           ///< likewise; 0 where the optimizer has none
  std::vector<Loss> losses;
  float loss_scale = 1.0f;   ///< of the next step; 1 without one
  std::int64_t floored = 0;  ///< steps in a row that were skipped with the scale at its floor
  std::int64_t casts_per_step = 0;  ///< tensors rounded to another format
  /// Of the arena, planned before anything was allocated, of what kernels work in (on the CPU a
  /// part for each thread), and of the sum of gradients once there were micro-batches; on a GPU
  /// also of the states and the loss scale as a diagnosis wants them. What diagnose() needs it
  /// gives back.
  std::int64_t peak_bytes_predicted = 0;
  std::int64_t peak_bytes_measured = 0;  ///< really obtained from the device's memory
  /// Of the host's, page-locked, for states of the optimizer and activations that rules place there
  /// (P91, P98); 0 on a CPU, whose memory is the host's.
  std::int64_t host_bytes = 0;
  /// Kernel launches of forward, loss, loss_backward, backward, accumulate, check, update, refresh,
  /// external.
  std::array<std::int64_t, 9> kernels_per_phase{};
  /// Of the code that runs: "x86-64-v3", "sm_80", "sm_80 on sm_86". Where HALFTONE_JIT is
  /// "background", with what came of it: "sm_90a, specialised for batch 32", or why it did not.
  std::string variant;
  std::string stage;  ///< Trainer::stage()
  /// What the program of each stage takes of the arena, in the order of Trainer::stages(); the
  /// arena is as large as the largest. Empty where the model declares none.
  std::vector<std::int64_t> arena_bytes_of_stages;
};

/// Every method throws Error on misuse, naming culprit and remedy; so does every method of a
/// trainer that was moved from. One thread at a time may use a trainer: a call that comes while
/// another thread's lasts throws Error and changes nothing; parameter_names(), parameter_shape()
/// and state_names() may be called at any time. Spans stay valid while the trainer lives. On the
/// CPU they show the values of the latest call; a GPU's values are copied when a method is asked
/// for them, so ask again after what changed them.
///
/// Layers that draw do so by the seed, the number of steps, skipped ones among them, and that of
/// the step's micro-batches (D35): the same on every device, and a forward() alone draws what the
/// next step will.
///
/// Inputs may have fewer rows than the trainer was made for, as the last batch of an epoch does:
/// any from 1 on of the symbol that they begin with (D14), the same in all of them. A run then
/// computes what a trainer made for so many would, means over its own rows, and output() has as
/// many. Memory is what was planned. Where inputs begin with different symbols, or a state has rows
/// (S6), all runs have the planned ones.
///
/// On a GPU step() and the parts launch one graph each, which is captured when it is first needed,
/// for every number of rows of the last few; the host decides nothing in between and waits for
/// nothing that it does not ask for. Where HALFTONE_JIT is "background" the planned rows alone get
/// kernels of their own.
class Trainer {
 public:
  Trainer(const Artifact& artifact, const Device& device, const Setup& setup);
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  ~Trainer();

  /// forward, backward, check, update. After calls of accumulate() the inputs are the last
  /// micro-batch. They are copied before it returns; on a GPU the step itself goes on, and the host
  /// waits only where four steps (HALFTONE_STEPS_IN_FLIGHT) are on their way. Throws Error when a
  /// dynamic loss scale stayed at its floor for as many skipped steps as its patience, and says
  /// what was not finite. On a GPU, errors of a step may be thrown by a later call.
  void step(std::span<const NamedValues> inputs);

  /// True when the last step() or update() changed the parameters, false when it was skipped: some
  /// gradient was not finite, as after a label that is no class. Waits for it.
  [[nodiscard]] bool updated() const;

  /// Waits until all that was asked for is done; throws what went wrong. Whatever reads a value
  /// (loss, stats, parameter, ...) waits too.
  void wait() const;

  /// forward and backward of a micro-batch; the step that follows adds its gradients to those of
  /// this one and moves the parameters by their mean. Each counts the same, whatever rows it has: a
  /// gradient is the mean over micro-batches of means over rows (U0). The first call allocates a
  /// buffer for the sum (as large as all gradients). For diagnose() the host keeps the inputs until
  /// the next step, of one step at most 256 MiB.
  void accumulate(std::span<const NamedValues> inputs);

  /// Computes the outputs. The losses follow when the inputs that they need are given too; with a
  /// cross-entropy comes its gradient, since one kernel makes both.
  void forward(std::span<const NamedValues> inputs);

  /// The gradients of the objective. Needs a forward() that was given the inputs of the losses.
  void backward();

  /// The gradients of an objective of the caller's, from d objective / d output for every output
  /// that a loss of a weight other than 0 reads, under its first name (P36), with the rows of the
  /// last forward(). The model's own losses are left out.
  void backward(std::span<const NamedValues> output_gradients);

  /// For loops of a caller's own: adds the gradients of the last backward() to the sum over
  /// micro-batches. Call it after every backward() but the last one of a step, whose gradients
  /// check() adds.
  void accumulate_gradients();

  /// The norm of the mean gradient, without the loss scale, and whether it is finite. True when it
  /// is; waits for the answer. Decides the next step's loss scale; update() must follow. Asked
  /// again before that, it says the same.
  bool check();

  /// Applies the gradients, unless check() found them not finite; then no bit of parameters,
  /// optimizer state or the model's states changes. Throws Error at the floor of the loss scale as
  /// step() does; updated() says what it came to.
  void update();

  /// Runs what the trainer ran last once more, one operation after the other, and says where the
  /// first value that is not finite came from: a parameter, state or input that was given, or the
  /// result of an operation. Nothing when all are finite. After a skipped step, and between check()
  /// and update() of one, all of its micro-batches run again, and the replay is exact, save that
  /// earlier ones read the model's states as the step found them; otherwise the last micro-batch
  /// does, after an applied step with the parameters that it left. Costs a step and more memory
  /// while it runs, and changes nothing. Throws Error when nothing ran yet, the artifact was made
  /// without diagnosis, or inputs of earlier micro-batches are not kept.
  [[nodiscard]] std::optional<NonFinite> diagnose() const;

  /// Runs what the trainer ran last once more, as diagnose() does, and shows what every operation
  /// leaves, in the order of execution: a hook on any activation or gradient by its layer's name.
  /// After an applied step that is with the parameters that it left; call it after forward() or
  /// backward() for those of the run itself. `look` must not use the trainer. Throws Error as
  /// diagnose() does, and what `look` throws.
  ///   trainer.inspect([&](const halftone::InspectedValue& value) {
  ///     if (value.layer == "fc1" && value.pass == "forward") ...
  ///   });
  void inspect(const std::function<void(const InspectedValue&)>& look) const;

  /// Losses, outputs and gradients are those of the last run that computed them, and 0 before there
  /// was one.
  [[nodiscard]] std::vector<std::string> loss_names() const;
  [[nodiscard]] float loss(std::string_view name) const;
  [[nodiscard]] std::span<const float> output(std::string_view name) const;
  [[nodiscard]] std::span<const float> parameter(std::string_view name) const;

  /// Times the loss scale of the run that computed it, and from check() on the sum over
  /// micro-batches: the update reads it as gradient / (loss scale * micro-batches).
  [[nodiscard]] std::span<const float> gradient(std::string_view name) const;

  /// d objective / d input of an input that is declared with_gradient (D15), row-major, with the
  /// rows of the last backward pass, a caller's objective in place of the model's where that began
  /// with gradients of outputs. Of its micro-batch alone, and without the loss scale, so that it
  /// may be given to another model's backward(). Throws Error for any other input, and after a
  /// forward pass of other rows.
  [[nodiscard]] std::span<const float> input_gradient(std::string_view name) const;

  [[nodiscard]] std::vector<std::string> parameter_names() const;

  /// Values are row-major; empty for a scalar.
  [[nodiscard]] std::span<const std::int64_t> parameter_shape(std::string_view name) const;
  void set_parameter(std::string_view name, std::span<const float> values);

  /// The average of a trained parameter (U8), 0 before the first update. Throws Error where the
  /// model states no average(), or for a frozen parameter, which has none.
  [[nodiscard]] std::span<const float> average(std::string_view name) const;

  /// Takes every parameter, by name, as the other trainer has it at this moment; all or, where one
  /// does not fit, none. The other one may have another batch, other precision rules, another
  /// optimizer or another device. What batch_norm keeps of batches goes with them. The
  /// optimizer's state, the loss scale and the model's states stay.
  void copy_parameters(const Trainer& other);

  /// The model's states, row-major; reset_states() gives all of them their first values but those
  /// that layers keep, as the mean of a batch_norm: "norm.mean", "norm.variance". What one
  /// was given between the micro-batches of a step is gone if the step is skipped (S4).
  [[nodiscard]] std::vector<std::string> state_names() const;
  [[nodiscard]] std::span<const float> state(std::string_view name) const;
  void set_state(std::string_view name, std::span<const float> values);
  void reset_states();

  /// Of the updates that follow; a schedule multiplies it (U3).
  void set_learning_rate(float learning_rate);
  [[nodiscard]] float learning_rate() const;

  /// Likewise the weight decay of the parameters that decay, which is the model's first, finite and
  /// not negative. Throws Error where no parameter decays.
  void set_weight_decay(float weight_decay);
  [[nodiscard]] float weight_decay() const;

  /// And the momentum of sgd and rmsprop, from 0 to below 1. Throws Error where the model states
  /// none, or 0: then there is no buffer for it, and momentum() is 0.
  void set_momentum(float momentum);
  [[nodiscard]] float momentum() const;

  /// Goes on under the rules of another of the model's stages (P66), from the next run on: masters,
  /// the optimizer's state, the model's states, averages and counters stay as they are, working
  /// copies are rounded anew from the masters, and no memory is taken. Stages whose rules state one
  /// loss scale share it; one that states another goes on from its own (P70). Waits for the steps
  /// on their way, and forgets a forward or backward pass that no update followed; diagnose() has
  /// nothing to run again until the next run. Throws Error for a stage that the model does not
  /// have, and between the micro-batches of a step, or check() and update(). Does nothing where the
  /// trainer is in that stage.
  void enter(std::string_view stage);
  /// The stage that it is in; empty where the model declares none.
  [[nodiscard]] std::string stage() const;
  /// The model's, in their order.
  [[nodiscard]] std::vector<std::string> stages() const;

  [[nodiscard]] Statistics stats() const;

  /// Writes a checkpoint: parameters, the optimizer's state, the loss scale and its counters, the
  /// model's states, the learning rate, weight decay and momentum, the numbers of steps and the
  /// seed. It takes the place of the file as a whole: whatever happens meanwhile, the file of
  /// before or the new one is there. Throws Error inside a step, as after accumulate(), and where
  /// the file cannot be written.
  void save(const std::filesystem::path& file, const SaveOptions& options = {});

  /// Waits until save() in the background is done, and throws what went wrong. A trainer that goes
  /// waits, too, and throws nothing.
  void finish_saving();

  /// Goes on from a checkpoint of this model: the steps that follow compute what those after save()
  /// did, to the bit, on every CPU variant, with any number of threads and, of the same sizes, on
  /// any device that computes the same bits. Losses, outputs and gradients are those of before.
  /// Throws Error, and changes nothing, where the file cannot be read, is damaged, or is of another
  /// model or of other rules.
  Resumed resume(const std::filesystem::path& file, const ResumeOptions& options = {});

  /// Writes the parameters alone, a tensor of its own name and shape each. The file is replaced as
  /// by save(), for whose end in the background both of these wait. Throws Error where it cannot be
  /// written, or `as` makes a finite value infinite.
  void save_weights(const std::filesystem::path& file,
                    const SaveWeightsOptions& options = {}) const;

  /// Takes parameters from a safetensors file: one of weights, a checkpoint, or another project's,
  /// with tensors of F32, F16, BF16, or F64, which is rounded. Extents of 1 do not count. All else,
  /// such as the optimizer's state, stays. Throws Error, and changes nothing, where the file cannot
  /// be read, is damaged, or does not fit.
  LoadedWeights load_weights(const std::filesystem::path& file, const LoadOptions& options = {});

 private:
  friend class Calibration;
  friend class Generator;
  friend class Predictor;
  friend RunFacts facts_of(const Trainer& trainer);
  struct State;
  [[nodiscard]] InUse<State> use(const char* operation) const;
  [[nodiscard]] const State& held(const char* operation) const;
  std::unique_ptr<State> state_;
};

}  // namespace halftone
