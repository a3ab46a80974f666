// SPDX-License-Identifier: Apache-2.0
// What a generated header says of its model's names, and the calls of its classes that take a
// record, a value whose members are named like inputs, outputs or hyperparameters, or a loader's
// batch. A type is a record where halftone/records.hpp, which is not included here, says so.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "halftone/encoding/element.hpp"
#include "halftone/values.hpp"

namespace halftone {

using encoding::Element;

/// An input as the typed API spells it, and who reads it: forward() alone, predict(), evaluate().
struct InputField {
  const char* name;
  Element element;  ///< what the typed calls take: f32, or integers
  bool forward, predict, evaluate;
  const char* input;  ///< its name in the model
};

/// An output as the typed API spells it, and as output() takes it.
struct OutputField {
  const char* name;
  const char* output;
};

/// Has the names of a record's members and gives their values.
template <class Type>
struct RecordAccess {};

template <class Type>
concept Record = requires { RecordAccess<std::remove_cv_t<Type>>::names; };

/// What a Loader gives: values by the names of inputs, and how many rows they are.
template <class Type>
concept LoadedBatch = !Record<Type> && requires(const Type& batch) {
  std::span<const NamedValues>(batch.inputs);
  batch.rows;
};

class Trainer;
class Predictor;

namespace records {

struct Step;
struct Accumulate;
struct Forward;
struct Predict;
struct PredictInto;
struct ReadOutputs;
struct SetHyperparameters;
struct ReadHyperparameters;

/// An operation's use of a record.
template <class Operation, class Signature, class Type>
struct Call;

template <class Type, class Operation, class Signature>
concept FitsFor = Record<Type> && Call<Operation, Signature, Type>::fits;

/// What a call returns that does not fit: a type that cannot be completed, so that the caller's
/// line is at fault. Its name is the sentence that says why.
template <class Call, class Next = Call>
struct Refusal;

/// What a loader's batch has for an operation: all of it but the model's inputs that the operation
/// does not read. Of what the model does not know at least one stays, for the sentence that says
/// so.
template <class Signature>
class BatchInputs {
 public:
  BatchInputs(std::span<const NamedValues> given, bool InputField::* read_by) {
    for (const NamedValues& values : given) {
      bool passed_over = false;
      for (const InputField& input : Signature::inputs)
        passed_over |= !(input.*read_by) && values.name == input.input;
      if (!passed_over && count_ < values_.size()) values_[count_++] = values;
    }
  }
  operator std::span<const NamedValues>() const {  // NOLINT: implicit, as of an array
    return std::span(values_).first(count_);
  }

 private:
  std::array<NamedValues, Signature::inputs.size() + 1> values_{};
  std::size_t count_ = 0;
};

}  // namespace records

/// A typed Trainer's calls with a record in place of arguments, or with a loader's batch. Records
/// have a member for every input, of what the typed call takes.
template <class Typed, class Signature>
class TrainerRecords {
 public:
  template <records::FitsFor<records::Step, Signature> Batch>
  void step(const Batch& batch) {
    records::Call<records::Step, Signature, Batch>::pass(
        batch, [this](auto... inputs) { typed().step(inputs...); });
  }
  template <Record Batch>
  decltype(records::Refusal<records::Call<records::Step, Signature, Batch>>::of()) step(
      const Batch& batch);
  template <LoadedBatch Batch, class Erased = Trainer>
  void step(const Batch& batch) {
    static_cast<Erased&>(typed()).step(batch.inputs);
  }

  template <records::FitsFor<records::Accumulate, Signature> Batch>
  void accumulate(const Batch& batch) {
    records::Call<records::Accumulate, Signature, Batch>::pass(
        batch, [this](auto... inputs) { typed().accumulate(inputs...); });
  }
  template <Record Batch>
  decltype(records::Refusal<records::Call<records::Accumulate, Signature, Batch>>::of()) accumulate(
      const Batch& batch);
  template <LoadedBatch Batch, class Erased = Trainer>
  void accumulate(const Batch& batch) {
    static_cast<Erased&>(typed()).accumulate(batch.inputs);
  }

  /// The losses follow where the batch has a member for an input that they alone read.
  template <records::FitsFor<records::Forward, Signature> Batch>
  void forward(const Batch& batch) {
    records::Call<records::Forward, Signature, Batch>::pass(
        batch, [this](auto... inputs) { typed().forward(inputs...); });
  }
  template <Record Batch>
  decltype(records::Refusal<records::Call<records::Forward, Signature, Batch>>::of()) forward(
      const Batch& batch);
  template <LoadedBatch Batch, class Erased = Trainer>
  void forward(const Batch& batch) {
    static_cast<Erased&>(typed()).forward(batch.inputs);
  }

  /// Into a member for every output: a std::span<const float> shows it while the trainer lives, a
  /// std::vector<float> or memory of its size takes a copy.
  template <records::FitsFor<records::ReadOutputs, Signature> Results>
  void read_outputs(Results& results) const {
    records::Call<records::ReadOutputs, Signature, Results>::read(typed(), results);
  }
  template <Record Results>
  decltype(records::Refusal<records::Call<records::ReadOutputs, Signature, Results>>::of())
  read_outputs(Results& results) const;

  /// Of the updates that follow: the float learning_rate and, where the record has them and the
  /// model too, weight_decay and momentum. All or, where one is refused, none.
  template <records::FitsFor<records::SetHyperparameters, Signature> Settings>
  void set_hyperparameters(const Settings& settings) {
    records::Call<records::SetHyperparameters, Signature, Settings>::set(typed(), settings);
  }
  template <Record Settings>
  decltype(records::Refusal<records::Call<records::SetHyperparameters, Signature, Settings>>::of())
  set_hyperparameters(const Settings& settings);

  template <records::FitsFor<records::ReadHyperparameters, Signature> Settings>
  void read_hyperparameters(Settings& settings) const {
    records::Call<records::ReadHyperparameters, Signature, Settings>::read(typed(), settings);
  }
  template <Record Settings>
  decltype(records::Refusal<records::Call<records::ReadHyperparameters, Signature, Settings>>::of())
  read_hyperparameters(Settings& settings) const;

 private:
  Typed& typed() { return static_cast<Typed&>(*this); }
  const Typed& typed() const { return static_cast<const Typed&>(*this); }
};

/// Likewise of a typed Predictor. A batch may have members for inputs that predict() does not read.
template <class Typed, class Signature>
class PredictorRecords {
 public:
  template <records::FitsFor<records::Predict, Signature> Batch>
  auto predict(const Batch& batch) {
    return records::Call<records::Predict, Signature, Batch>::pass(
        batch, [this](auto... inputs) { return typed().predict(inputs...); });
  }
  template <Record Batch>
  decltype(records::Refusal<records::Call<records::Predict, Signature, Batch>>::of()) predict(
      const Batch& batch);

  /// Of a batch that also holds what predict() does not read, such as labels. Returns the typed
  /// Outputs.
  template <LoadedBatch Batch, class Erased = Predictor, class Type = Typed>
  typename Type::Outputs predict(const Batch& batch) {
    static_cast<Erased&>(typed()).predict(
        records::BatchInputs<Signature>(batch.inputs, &InputField::predict));
    return outputs<Type>(std::make_index_sequence<Signature::outputs.size()>{});
  }
  /// The losses, too, as loss() tells them.
  template <LoadedBatch Batch, class Erased = Predictor, class Type = Typed>
  typename Type::Outputs evaluate(const Batch& batch) {
    static_cast<Erased&>(typed()).evaluate(
        records::BatchInputs<Signature>(batch.inputs, &InputField::evaluate));
    return outputs<Type>(std::make_index_sequence<Signature::outputs.size()>{});
  }

  /// Then as TrainerRecords::read_outputs().
  template <records::FitsFor<records::Predict, Signature> Batch,
            records::FitsFor<records::PredictInto, Signature> Results>
  void predict(const Batch& batch, Results& results) {
    predict(batch);
    records::Call<records::PredictInto, Signature, Results>::read(typed(), results);
  }
  template <Record Batch, Record Results>
  decltype(records::Refusal<records::Call<records::Predict, Signature, Batch>,
                            records::Call<records::PredictInto, Signature, Results>>::of())
  predict(const Batch& batch, Results& results);

  template <records::FitsFor<records::ReadOutputs, Signature> Results>
  void read_outputs(Results& results) const {
    records::Call<records::ReadOutputs, Signature, Results>::read(typed(), results);
  }
  template <Record Results>
  decltype(records::Refusal<records::Call<records::ReadOutputs, Signature, Results>>::of())
  read_outputs(Results& results) const;

 private:
  template <class Type, std::size_t... Index>
  typename Type::Outputs outputs(std::index_sequence<Index...>) {
    return {typed().output(Signature::outputs[Index].output)...};
  }
  Typed& typed() { return static_cast<Typed&>(*this); }
  const Typed& typed() const { return static_cast<const Typed&>(*this); }
};

}  // namespace halftone
