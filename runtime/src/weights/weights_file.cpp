// SPDX-License-Identifier: Apache-2.0
#include "weights_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "../checkpoint/file_checksum.hpp"
#include "../checkpoint/training_state.hpp"
#include "../floating_point.hpp"
#include "../formats.hpp"
#include "../nearest.hpp"
#include "../text.hpp"
#include "halftone/error.hpp"
#include "name_map.hpp"

namespace halftone {
namespace {

using encoding::Element, safetensors::Tensor;

struct TypeForm {
  std::string_view word;  ///< as safetensors spells it
  Element element;
};

/// In the order of WeightType.
constexpr TypeForm kWritten[] = {
    {"F32", Element::f32}, {"F16", Element::f16}, {"BF16", Element::bf16}};
constexpr std::string_view kDouble = "F64";

std::vector<std::byte> narrowed_all(std::span<const float> values, const TypeForm& as,
                                    const std::string& name) {
  std::vector<std::byte> bytes(values.size() * sizeof(std::uint16_t));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t wide = narrowed(as.element, values[i]);
    const auto code = static_cast<std::uint16_t>(wide);
    std::memcpy(bytes.data() + i * sizeof code, &code, sizeof code);
    if (!std::isfinite(values[i])) continue;
    if (std::isfinite(element_of(bytes.data(), as.element, static_cast<std::int64_t>(i)))) continue;
    throw Error({.operation = "save_weights",
                 .object = named("parameter", name),
                 .cause = "has " + number_text(values[i]) + " at element " + std::to_string(i) +
                          ", which is infinite in " + std::string(as.word),
                 .hint = "save it as F32"});
  }
  return bytes;
}

template <class Float>
std::vector<Float> copied(std::span<const std::byte> bytes) {
  std::vector<Float> values(bytes.size() / sizeof(Float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// What files of weights hold: a parameter, or a state that a layer keeps.
struct Weight {
  std::string name;
  std::vector<std::int64_t> shape;
  bool is_state = false;

  [[nodiscard]] std::string described() const {
    return named(is_state ? "state" : "parameter", name);
  }
};

std::vector<Weight> weights_in(const BoundProgram& program) {
  std::vector<Weight> weights;
  for (const manifest::Parameter& parameter : program.manifest().parameters)
    weights.push_back({parameter.name, parameter.shape, false});
  for (const std::string& name : program.kept_states())
    weights.push_back({name, program.plan().extents(*program.plan().find(name)), true});
  return weights;
}

/// A weight and the tensor that it takes.
struct Pairing {
  const Weight* weight;
  const Tensor* tensor;
  bool transposed;
};

/// Extents of 1 do not count.
std::vector<std::int64_t> without_ones(std::vector<std::int64_t> shape) {
  std::erase(shape, 1);
  return shape;
}

class Reader {
 public:
  Reader(const BoundProgram& program, std::span<const std::byte> file, const std::string& name,
         const LoadOptions& options)
      : program_(program),
        weights_(weights_in(program)),
        file_(file),
        name_(name),
        options_(options) {
    std::string why;
    if (!safetensors::parse(file, header_, tensors_at_, why))
      refuse("is no sound safetensors file: it " + why,
             "give one that save_weights(), save() or another program wrote");
    is_checkpoint_ = safetensors::find(header_.metadata, kVersionKey) != nullptr;
    const std::string* sum = safetensors::find(header_.metadata, kChecksumKey);
    if (is_checkpoint_ && !is_intact(file, tensors_at_, sum ? *sum : ""))
      refuse(kDamaged, kDamagedHint);
    pair();
  }

  [[nodiscard]] const std::vector<Pairing>& pairings() const { return pairings_; }
  [[nodiscard]] const LoadedWeights& result() const { return result_; }

  /// As the parameter has them.
  [[nodiscard]] std::vector<float> values_of(const Pairing& pairing) const {
    const Tensor& tensor = *pairing.tensor;
    check_shape(pairing);
    std::vector<float> values = widened(tensor);
    if (!pairing.transposed) return values;
    const auto rows = static_cast<std::size_t>(tensor.shape[0]);
    const auto columns = static_cast<std::size_t>(tensor.shape[1]);
    std::vector<float> turned(values.size());
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column)
        turned[column * rows + row] = values[row * columns + column];
    return turned;
  }

 private:
  [[noreturn]] void refuse(std::string cause, std::string hint) const {
    throw Error({.operation = "load_weights",
                 .object = named("file", name_),
                 .cause = std::move(cause),
                 .hint = std::move(hint)});
  }

  [[nodiscard]] std::string parameters_text() const {
    return std::string("the ") + program_.plan().who() + "'s parameters";
  }

  /// "the nearest is 'fc.weight': " or nothing.
  static std::string nearest_text(const std::string& name, std::span<const std::string> names) {
    const std::string near = nearest(name, names);
    return near.empty() ? "" : "the nearest is '" + near + "': ";
  }

  void pair() {
    const NameMap map(options_.names);
    Takers takers;
    std::vector<std::string> strangers;
    for (const Tensor& tensor : header_.tensors) {
      if (is_checkpoint_ && tensor.name.starts_with(kOwnTensors)) {
        take_kept(tensor, takers);
        continue;
      }
      const Destination destination = map.of(tensor.name);
      const Weight* weight = find(destination.parameter);
      if (!weight) {
        result_.left_out.push_back(tensor.name);
        if (destination.parameter.empty()) continue;
        if (destination.is_exact) refuse_target(tensor, destination.parameter);
        strangers.push_back(tensor.name);
        continue;
      }
      take(*weight, tensor, destination.transposed, takers);
    }
    for (const Weight& weight : weights_)
      if (!takers.contains(weight.name)) result_.kept.push_back(weight.name);
    check_whole(strangers);
  }

  using Takers = std::map<std::string, const Tensor*>;
  void take(const Weight& weight, const Tensor& tensor, bool transposed, Takers& takers) {
    const auto [taker, is_first] = takers.emplace(weight.name, &tensor);
    if (!is_first)
      refuse("has tensors " + shown(taker->second->name) + " and " + shown(tensor.name) + " for " +
                 weight.described(),
             R"(leave one out with LoadOptions::names, as {"NAME", ""})");
    pairings_.push_back({&weight, &tensor, transposed});
  }

  /// A checkpoint has states behind a prefix.
  void take_kept(const Tensor& tensor, Takers& takers) {
    const Weight* weight = find(tensor.name.substr(std::string_view(kOwnTensors).size()));
    if (weight && weight->is_state) take(*weight, tensor, false, takers);
  }

  [[nodiscard]] const Weight* find(const std::string& name) const {
    const auto found = std::ranges::find(weights_, name, &Weight::name);
    return found == weights_.end() ? nullptr : &*found;
  }

  [[noreturn]] void refuse_target(const Tensor& tensor, const std::string& target) const {
    const std::vector<std::string> names = program_.parameter_names();
    const std::string near = nearest(target, names);
    refuse("has tensor " + shown(tensor.name) + " for " + named("parameter", target) +
               ", which is none of " + parameters_text(),
           near.empty() ? "they are " + listed(names) : "the nearest is '" + near + "'");
  }

  void check_whole(const std::vector<std::string>& strangers) const {
    if (options_.partial) {
      if (!pairings_.empty() || result_.kept.empty()) return;
      refuse("has no tensor for any of " + parameters_text(),
             "give LoadOptions::names; they are " + listed(result_.kept));
    }
    const auto others = [](const std::vector<std::string>& names) {
      const std::size_t count = names.size() - 1;
      return count == 0 ? "" : " and " + std::to_string(count) + " more";
    };
    if (!result_.kept.empty())
      refuse("lacks " + named("parameter", result_.kept[0]) + others(result_.kept),
             nearest_text(result_.kept[0], strangers) +
                 "give LoadOptions::names, or say .partial = true to keep its values");
    if (!strangers.empty())
      refuse("has tensor " + shown(strangers[0]) + others(strangers) + ", which none of " +
                 parameters_text() + " takes",
             "leave it out with LoadOptions::names, or say .partial = true");
  }

  void check_shape(const Pairing& pairing) const {
    const Tensor& tensor = *pairing.tensor;
    std::vector<std::int64_t> shape = tensor.shape;
    const std::vector<std::int64_t> wanted = without_ones(pairing.weight->shape);
    const std::string is = "has tensor " + shown(tensor.name) + " as " +
                           safetensors::form_text(tensor.type, tensor.shape);
    if (pairing.transposed) {
      if (shape.size() != 2) refuse(is + ", which cannot be transposed", "transpose matrices");
      std::ranges::reverse(shape);
    }
    if (without_ones(shape) == wanted) return;
    std::ranges::reverse(shape);
    const bool fits_turned = shape.size() == 2 && without_ones(shape) == wanted;
    refuse(is + (pairing.transposed ? " to be transposed" : "") + ", but " +
               pairing.weight->described() + " is " +
               safetensors::form_text("F32", pairing.weight->shape),
           fits_turned ? std::string("say .transposed = ") +
                             (pairing.transposed ? "false" : "true") + " in LoadOptions::names"
                       : "give weights of this model");
  }

  [[nodiscard]] std::vector<float> widened(const Tensor& tensor) const {
    const std::span<const std::byte> bytes =
        file_.subspan(tensors_at_ + tensor.begin, tensor.end - tensor.begin);
    if (tensor.type == kDouble) return rounded(tensor, copied<double>(bytes));
    const auto* const form = std::ranges::find(kWritten, tensor.type, &TypeForm::word);
    if (form == std::end(kWritten))
      refuse("has tensor " + shown(tensor.name) + " as " +
                 safetensors::form_text(tensor.type, tensor.shape) +
                 ", whose elements are not read",
             "write it as F32, F16, BF16 or F64");
    if (form->element == Element::f32) return copied<float>(bytes);
    std::vector<float> values(bytes.size() / sizeof(std::uint16_t));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = element_of(bytes.data(), form->element, static_cast<std::int64_t>(i));
    return values;
  }

  [[nodiscard]] std::vector<float> rounded(const Tensor& tensor,
                                           const std::vector<double>& given) const {
    const StandardFloatingPoint mode;
    std::vector<float> values;
    values.reserve(given.size());
    for (const double value : given) {
      values.push_back(static_cast<float>(value));
      if (std::isfinite(value) && !std::isfinite(values.back()))
        refuse("has " + number_text(value) + " in tensor " + shown(tensor.name) +
                   ", which is infinite in F32",
               "give weights that F32 holds");
    }
    return values;
  }

  const BoundProgram& program_;
  const std::vector<Weight> weights_;
  std::span<const std::byte> file_;
  const std::string& name_;
  const LoadOptions& options_;
  safetensors::Header header_;
  std::uint64_t tensors_at_ = 0;
  bool is_checkpoint_ = false;
  std::vector<Pairing> pairings_;
  LoadedWeights result_;
};

}  // namespace

Snapshot weights_of(const BoundProgram& program, const SaveWeightsOptions& options) {
  const StandardFloatingPoint mode;
  const TypeForm& as = kWritten[static_cast<int>(options.as)];
  safetensors::Header header{{{kModelKey, program.manifest().model}}, {}};
  Snapshot snapshot;
  for (const Weight& weight : weights_in(program)) {
    const std::string& name = weight.name;
    const std::span<const float> values = weight.is_state ? program.state("save_weights", name)
                                                          : program.parameter("save_weights", name);
    const auto add = [&](std::span<const std::byte> bytes) {
      snapshot.add(header, name, std::string(as.word), weight.shape, bytes);
    };
    if (as.element == Element::f32) {
      add(std::as_bytes(values));
    } else {
      add(narrowed_all(values, as, name));
    }
  }
  snapshot.header = safetensors::print(header);
  return snapshot;
}

LoadedWeights take_weights(BoundProgram& program, std::span<const std::byte> file,
                           const std::string& name, const LoadOptions& options) {
  const Reader reader(program, file, name, options);
  std::vector<std::vector<float>> values;
  for (const Pairing& pairing : reader.pairings()) values.push_back(reader.values_of(pairing));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Weight& weight = *reader.pairings()[i].weight;
    if (weight.is_state)
      program.set_state(weight.name, values[i]);
    else
      program.set_parameter(weight.name, values[i]);
  }
  return reader.result();
}

}  // namespace halftone
