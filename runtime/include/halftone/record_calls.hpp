// SPDX-License-Identifier: Apache-2.0
// What every operation of signature.hpp looks for in a record, and what it does with it. Part of
// halftone/records.hpp.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "halftone/error.hpp"
#include "halftone/record_faults.hpp"
#include "halftone/signature.hpp"
#include "halftone/trainer.hpp"

namespace halftone::records {

/// Of an element in OfElements.
constexpr std::size_t place_of(Element element) {
  std::size_t place = 0;
  while (kElementsOfValues[place] != element) ++place;
  return place;
}

/// How a record's inputs are read. Derived classes say which of them they require.
struct Inputs {
  static constexpr const char* noun = "input";
  static constexpr bool writes = false;

  static constexpr const char* remedy_for(Element element) {
    constexpr const char* kRemedies[] = {
        // in the order of OfElements
        "contiguous floats, such as std::vector<float> or std::span<const float>",
        ("contiguous std::int32_t, such as std::vector<std::int32_t> or std::span<const "
         "std::int32_t>"),
        "contiguous std::uint8_t, such as std::vector<std::uint8_t>",
        "contiguous std::int8_t, such as std::vector<std::int8_t>",
        "contiguous std::uint16_t, such as std::vector<std::uint16_t>",
        "contiguous std::int16_t, such as std::vector<std::int16_t>",
        "contiguous std::int64_t, such as std::vector<std::int64_t>"};
    return kRemedies[place_of(element)];
  }
  template <class Signature>
  static consteval auto fields_where(const auto& is_required) {
    std::array<Field, Signature::inputs.size()> fields{};
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const InputField& input = Signature::inputs[i];
      fields[i] = {input.name, is_required(input), remedy_for(input.element)};
    }
    return fields;
  }

  /// What the typed call takes for an input.
  template <class Signature, std::size_t Index>
  using Values = std::variant_alternative_t<place_of(Signature::inputs[Index].element),
                                            decltype(NamedValues::values)>;
  template <class Signature, std::size_t Index, class Member>
  static constexpr bool takes = std::convertible_to<Member, Values<Signature, Index>>;
};

struct AllInputs : Inputs {
  template <class Signature>
  static consteval auto fields(const auto&) {
    return fields_where<Signature>([](const InputField&) { return true; });
  }
};
struct Step : AllInputs {
  static constexpr const char* name = "step";
};
struct Accumulate : AllInputs {
  static constexpr const char* name = "accumulate";
};

/// Those that the outputs need or, with one that the losses alone read, all.
struct Forward : Inputs {
  static constexpr const char* name = "forward";
  template <class Signature>
  static consteval auto fields(const auto& names) {
    bool with_losses = false;
    for (const InputField& input : Signature::inputs) {
      with_losses |= !input.forward && position(names, input.name) != kNowhere;
    }
    return fields_where<Signature>(
        [&](const InputField& input) { return with_losses || input.forward; });
  }
};

struct Predict : Inputs {
  static constexpr const char* name = "predict";
  template <class Signature>
  static consteval auto fields(const auto&) {
    return fields_where<Signature>([](const InputField& input) { return input.predict; });
  }
};

template <class Type>
inline constexpr bool kIsSpan = false;
template <class Element, std::size_t Extent>
inline constexpr bool kIsSpan<std::span<Element, Extent>> = true;

/// What an accessor gives of a member that shows an output, takes a copy of any size, or is memory.
template <class Member>
concept View = std::same_as<Member, std::span<const float>&>;
template <class Member>
concept Grows = std::is_lvalue_reference_v<Member> && requires(Member member, const float* at) {
  member.assign(at, at);
  { member.data() } -> std::same_as<float*>;
};
/// Likewise of one that lives on when the call has returned.
template <class Member>
concept Lasting = std::is_lvalue_reference_v<Member> || kIsSpan<Member>;
template <class Member>
concept Memory = Lasting<Member> && std::convertible_to<Member, std::span<float>>;

inline void copy_output(const char* operation, const char* member, std::span<const float> from,
                        std::span<float> to) {
  if (from.size() != to.size()) {
    throw Error({.operation = operation,
                 .object = std::string("member '") + member + "'",
                 .cause = "has " + std::to_string(to.size()) + " elements, but its output has " +
                          std::to_string(from.size()),
                 .hint = "give it as many, or make it a std::vector<float>"});
  }
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i];
}

/// How outputs come into a record.
struct ReadOutputs {
  static constexpr const char* name = "read_outputs";
  static constexpr const char* noun = "output";
  static constexpr bool writes = true;

  template <class Signature>
  static consteval auto fields(const auto&) {
    std::array<Field, Signature::outputs.size()> fields{};
    for (std::size_t i = 0; i < fields.size(); ++i) {
      fields[i] = {Signature::outputs[i].name, true,
                   "a std::span<const float>, which shows the output, or a std::vector<float>, a "
                   "std::array of floats or a std::span<float>, into which it is copied"};
    }
    return fields;
  }

  template <class Signature, std::size_t, class Member>
  static constexpr bool takes = View<Member> || Grows<Member> || Memory<Member>;

  template <class Signature, std::size_t Index, class Member>
  static void read(const char* operation, const auto& typed, Member&& member) {
    constexpr OutputField field = Signature::outputs[Index];
    const std::span<const float> values = typed.output(field.output);
    if constexpr (View<Member&&>) {
      member = values;
    } else if constexpr (Grows<Member&&>) {
      member.assign(values.data(), values.data() + values.size());
    } else {
      copy_output(operation, field.name, values, std::forward<Member>(member));
    }
  }
};
struct PredictInto : ReadOutputs {
  static constexpr const char* name = "predict";
};

struct Hyperparameter {
  const char* name;
  float (Trainer::*get)() const;
  void (Trainer::*set)(float);
};
inline constexpr std::array kHyperparameters = {
    Hyperparameter{"learning_rate", &Trainer::learning_rate, &Trainer::set_learning_rate},
    Hyperparameter{"weight_decay", &Trainer::weight_decay, &Trainer::set_weight_decay},
    Hyperparameter{"momentum", &Trainer::momentum, &Trainer::set_momentum}};

/// Those that the model has; the first one is required.
struct Hyperparameters {
  static constexpr const char* noun = "hyperparameter";
  template <class Signature>
  static consteval auto fields(const auto&) {
    std::array<Field, Signature::hyperparameters.size()> fields{};
    for (std::size_t i = 0; i < fields.size(); ++i) {
      fields[i] = {Signature::hyperparameters[i], i == 0, "a float"};
    }
    return fields;
  }
  template <class Signature, std::size_t Index>
  static consteval Hyperparameter at() {
    return kHyperparameters[position(kHyperparameters, Signature::hyperparameters[Index])];
  }
};
struct SetHyperparameters : Hyperparameters {
  static constexpr const char* name = "set_hyperparameters";
  static constexpr bool writes = false;
  template <class Signature, std::size_t, class Member>
  static constexpr bool takes = std::same_as<std::remove_cvref_t<Member>, float>;
};
struct ReadHyperparameters : Hyperparameters {
  static constexpr const char* name = "read_hyperparameters";
  static constexpr bool writes = true;
  template <class Signature, std::size_t, class Member>
  static constexpr bool takes = std::same_as<Member, float&>;
  template <class Signature, std::size_t Index>
  static void read(const char*, const auto& typed, float& member) {
    constexpr Hyperparameter which = at<Signature, Index>();
    member = (typed.*which.get)();
  }
};

template <class Operation, class Signature, class Type>
struct Call {
  using Access = RecordAccess<std::remove_cv_t<Type>>;
  using Given = std::conditional_t<Operation::writes, Type, const Type>;
  static constexpr auto fields = Operation::template fields<Signature>(Access::names);

  template <std::size_t Member>
  static consteval bool takes() {
    constexpr std::size_t field = position(fields, Access::names[Member]);
    if constexpr (field == kNowhere) {
      return false;
    } else {
      return Operation::template takes<
          Signature, field, decltype(Access::template get<Member>(std::declval<Given&>()))>;
    }
  }
  static constexpr Fault fault = []<std::size_t... Member>(std::index_sequence<Member...>) {
    return find_fault(fields, Access::names,
                      std::array<bool, sizeof...(Member)>{takes<Member>()...});
  }(std::make_index_sequence<Access::names.size()>{});
  static constexpr bool fits = fault.kind == Fault::Kind::none;

  static consteval Sentence sentence() {
    return records::sentence<Operation>(Signature::model, fields, Access::names, fault);
  }

  /// The member of a field's name.
  template <std::size_t Index>
  static decltype(auto) member(Given& record) {
    return Access::template get<position(Access::names, fields[Index].name)>(record);
  }

  static constexpr std::size_t required_count = [] {
    std::size_t count = 0;
    for (const Field& field : fields) count += field.required ? 1 : 0;
    return count;
  }();
  static constexpr auto required = [] {
    std::array<std::size_t, required_count> indices{};
    for (std::size_t i = 0, next = 0; i < fields.size(); ++i) {
      if (fields[i].required) indices[next++] = i;
    }
    return indices;
  }();

  /// The required inputs, in the model's order, as arguments of a function.
  static decltype(auto) pass(const Type& record, const auto& function) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
      return function(static_cast<typename Operation::template Values<Signature, required[I]>>(
          member<required[I]>(record))...);
    }(std::make_index_sequence<required_count>{});
  }

  static void read(const auto& typed, Type& record) {
    for_members([&]<std::size_t I>() {
      Operation::template read<Signature, I>(Operation::name, typed, member<I>(record));
    });
  }

  /// All or, where one is refused, none.
  static void set(auto& typed, const Type& record) {
    std::array<float, fields.size()> before{};
    for_members([&]<std::size_t I>() {
      constexpr Hyperparameter which = Operation::template at<Signature, I>();
      before[I] = (typed.*which.get)();
    });
    try {
      for_members([&]<std::size_t I>() {
        constexpr Hyperparameter which = Operation::template at<Signature, I>();
        (typed.*which.set)(member<I>(record));
      });
    } catch (...) {
      for_members([&]<std::size_t I>() {
        constexpr Hyperparameter which = Operation::template at<Signature, I>();
        (typed.*which.set)(before[I]);
      });
      throw;
    }
  }

  /// use.operator()<I>() for every field I that the record has a member for.
  static void for_members(const auto& use) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (
          [&] {
            if constexpr (position(Access::names, fields[I].name) != kNowhere) {
              use.template operator()<I>();
            }
          }(),
          ...);
    }(std::make_index_sequence<fields.size()>{});
  }
};

}  // namespace halftone::records
