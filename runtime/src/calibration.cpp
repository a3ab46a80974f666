// SPDX-License-Identifier: Apache-2.0
// What the trainer ran is run forward once more, unfused; behind each product of a parameter its
// other operand is read: as it lies or, where the product gathers it, by the product itself.
#include "halftone/calibration.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "formats.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/error.hpp"
#include "replay.hpp"
#include "text.hpp"
#include "trainer_state.hpp"

namespace halftone {

using manifest::Phase, manifest::Role;

class CalibrationRun {
 public:
  CalibrationRun(const BoundProgram& training, Calibration& sums)
      : replayed_("calibrate", training), program_(replayed_.program()), sums_(sums) {}

  void run(const Replay& replay) {
    replayed_.take_over(replay);
    program_.refresh();
    for (const Phase phase : ReplayedProgram::phases(replay))
      if (phase == Phase::forward || phase == Phase::loss) run(phase);
  }

 private:
  static constexpr std::size_t kLhs = 0, kRhs = 1;  // what is added and the result follow

  /// What a launch multiplies a parameter by.
  struct Product {
    Phase phase;
    std::size_t number;
    const manifest::Launch& launch;
    const manifest::Parameter& parameter;
    std::size_t depth;    ///< elements of a sum
    std::size_t columns;  ///< sums of a row
    bool sums_rows;       ///< whether a line of the parameter is summed

    [[nodiscard]] const manifest::Argument& lhs() const { return launch.arguments[kLhs]; }
    [[nodiscard]] const manifest::Argument& rhs() const { return launch.arguments[kRhs]; }
    [[nodiscard]] const manifest::Argument& result() const { return launch.arguments.back(); }
  };

  [[nodiscard]] const std::vector<manifest::Launch>& launches(Phase phase) const {
    return program_.program().phases[static_cast<std::size_t>(phase)];
  }

  void run(Phase phase) {
    for (std::size_t launch = 0; launch < launches(phase).size(); ++launch) {
      program_.run(phase, launch);
      add(phase, launch);
    }
  }

  void add(Phase phase, std::size_t number) {
    const manifest::Launch& launch = launches(phase)[number];
    const manifest::Kernel& kernel = program_.plan().kernel(launch);
    const manifest::Blocking& blocking = kernel.blocking;
    const bool multiplies = kernel.skeleton == "contraction" &&
                            blocking.rhs == static_cast<std::int32_t>(kRhs) &&
                            blocking.stride != 0;  // lines of lhs lie along the sum
    if (!multiplies) return;
    const manifest::Parameter* const parameter = parameter_of(launch.arguments[kRhs]);
    if (parameter == nullptr) return;
    const auto depth =
        static_cast<std::size_t>(manifest::elements(blocking.depth, program_.sizes().symbols));
    const Product product = {phase,
                             number,
                             launch,
                             *parameter,
                             depth,
                             elements_of(parameter->shape) / depth,
                             blocking.transposes};
    read(unscaled(product.lhs()), values_);
    require_finite(product);
    std::vector<double>& squares = reading_of(product).squares;
    const bool lies = blocking.lhs_neighbours == 0 &&
                      values_.size() * product.columns == count_of(product.result()) * depth;
    if (lies)
      for (std::size_t i = 0; i < values_.size(); ++i) add_square(values_[i], squares[i % depth]);
    else
      add_gathered(product, squares);
  }

  static void add_square(float x, double& sum) {
    sum += static_cast<double>(x) * static_cast<double>(x);
  }

  /// What a product gathers lies nowhere, but is what it gives, exactly, where in place of the
  /// parameter there is one in each column, along the sum at another place each, and 0 elsewhere.
  void add_gathered(const Product& product, std::vector<double>& squares) {
    std::vector<Kept> kept;
    for (std::size_t i = kRhs; i + 1 < product.launch.arguments.size(); ++i)
      kept.push_back(keep(product.launch.arguments[i]));
    for (const Kept& each : kept) write(each.argument, std::vector<std::byte>(each.bytes.size()));
    for (std::size_t first = 0; first < product.depth; first += product.columns) {
      const std::size_t count = std::min(product.columns, product.depth - first);
      write(product.rhs(), ones(product, first, count));
      program_.run(product.phase, product.number);
      read(product.result(), values_);
      for (std::size_t i = 0; i < values_.size(); ++i)
        if (const std::size_t column = i % product.columns; column < count)
          add_square(values_[i], squares[first + column]);
    }
    for (const Kept& each : kept) write(each.argument, each.bytes);
    program_.run(product.phase, product.number);
  }

  /// Column c has its one at `first` + c, of the first `count`.
  [[nodiscard]] std::vector<std::byte> ones(const Product& product, std::size_t first,
                                            std::size_t count) const {
    const encoding::Element element = buffer_of(product.rhs()).encoding.element;
    const auto size = static_cast<std::size_t>(encoding::storage_bytes(element, 1));
    const std::uint32_t one =
        size == sizeof(float) ? std::bit_cast<std::uint32_t>(1.0f) : narrowed(element, 1.0f);
    std::vector<std::byte> bytes(product.depth * product.columns * size);
    for (std::size_t column = 0; column < count; ++column) {
      const std::size_t k = first + column, at = product.sums_rows ? column * product.depth + k
                                                                   : k * product.columns + column;
      std::memcpy(bytes.data() + at * size, &one, size);  // the lower bytes come first
    }
    return bytes;
  }

  struct Kept {
    manifest::Argument argument;
    std::vector<std::byte> bytes;
  };

  [[nodiscard]] Kept keep(const manifest::Argument& argument) const {
    const auto part = bytes_of(argument);
    return {argument, {part.begin(), part.end()}};
  }

  [[nodiscard]] const manifest::Buffer& buffer_of(const manifest::Argument& argument) const {
    return program_.plan().buffer(static_cast<std::size_t>(argument.buffer));
  }

  static bool is_flat(Role role) {
    return role == Role::parameters || role == Role::remainders || role == Role::working_copies;
  }

  [[nodiscard]] std::size_t count_of(const manifest::Argument& argument) const {
    if (is_flat(buffer_of(argument).role))
      if (const manifest::Parameter* const parameter = parameter_at(argument.offset))
        return elements_of(parameter->shape);
    return static_cast<std::size_t>(program_.plan().elements(argument, program_.sizes()));
  }

  [[nodiscard]] std::span<const std::byte> bytes_of(const manifest::Argument& argument) const {
    const encoding::Element element = buffer_of(argument).encoding.element;
    const auto count = static_cast<std::int64_t>(count_of(argument));
    return program_.execution().read_part(static_cast<std::size_t>(argument.buffer),
                                          encoding::storage_bytes(element, argument.offset),
                                          encoding::storage_bytes(element, count));
  }

  void write(const manifest::Argument& argument, std::span<const std::byte> bytes) {
    const encoding::Element element = buffer_of(argument).encoding.element;
    program_.execution().write(static_cast<std::size_t>(argument.buffer),
                               encoding::storage_bytes(element, argument.offset), bytes);
  }

  void read(const manifest::Argument& argument, std::vector<float>& values) const {
    values.resize(count_of(argument));
    read_elements(bytes_of(argument).data(), buffer_of(argument).encoding.element, 0, values);
  }

  [[nodiscard]] const manifest::Parameter* parameter_at(std::int64_t offset) const {
    const auto& parameters = program_.manifest().parameters;
    const auto found = std::ranges::find(parameters, offset, &manifest::Parameter::offset);
    return found == parameters.end() ? nullptr : &*found;
  }

  /// The parameter that lies there, itself, as a working copy, as casts have rounded it or put
  /// together of its halves; or null.
  [[nodiscard]] const manifest::Parameter* parameter_of(manifest::Argument argument) const {
    while (!is_flat(buffer_of(argument).role)) {
      if (const manifest::Probe* const cast = cast_to(argument))
        argument = rounded_by(*cast);
      else if (const manifest::Launch* const join = join_to(argument))
        argument = join->arguments.front();
      else
        return nullptr;
    }
    return parameter_at(argument.offset);
  }

  /// Of a scaled or drawn operand what it was rounded of (P104).
  [[nodiscard]] manifest::Argument unscaled(const manifest::Argument& operand) const {
    manifest::Argument argument = operand;
    while (const manifest::Probe* const cast = cast_to(argument)) {
      argument = rounded_by(*cast);
      const manifest::Buffer& buffer = buffer_of(argument);
      const bool is_converted =
          buffer.role == Role::input && buffer.encoding.element != encoding::Element::f32;
      if (cast->first_launch >= 0 && !is_converted && count_of(argument) == count_of(operand))
        return argument;
    }
    return operand;
  }

  [[nodiscard]] const manifest::Probe* cast_to(const manifest::Argument& argument) const {
    for (const manifest::Probe& probe : program_.program().probes) {
      const manifest::Launch& last = launches(probe.phase)[static_cast<std::size_t>(probe.launch)];
      const bool is_cast = probe.before >= 0 || probe.first_launch >= 0;
      if (is_cast && last.arguments[static_cast<std::size_t>(probe.argument)] == argument)
        return &probe;
    }
    return nullptr;
  }

  [[nodiscard]] const manifest::Argument& rounded_by(const manifest::Probe& cast) const {
    const auto& phase = launches(cast.phase);
    if (cast.first_launch >= 0)
      return phase[static_cast<std::size_t>(cast.first_launch)].arguments.front();
    return phase[static_cast<std::size_t>(cast.launch)]
        .arguments[static_cast<std::size_t>(cast.before)];
  }

  /// What puts a master together of its halves (P69), or null.
  [[nodiscard]] const manifest::Launch* join_to(const manifest::Argument& argument) const {
    for (const Phase phase : {Phase::forward, Phase::loss})
      for (const manifest::Launch& launch : launches(phase)) {
        const auto& arguments = launch.arguments;
        if (arguments.size() == 3 && arguments.back() == argument &&
            buffer_of(arguments[0]).role == Role::parameters &&
            buffer_of(arguments[1]).role == Role::remainders)
          return &launch;
      }
    return nullptr;
  }

  static std::size_t elements_of(std::span<const std::int64_t> shape) {
    return static_cast<std::size_t>(
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
  }

  Calibration::Reading& reading_of(const Product& product) {
    const manifest::Parameter& parameter = product.parameter;
    Calibration::Weight& weight = sums_.weights_[parameter.name];
    if (weight.shape.empty()) weight.shape = parameter.shape;
    if (weight.shape != parameter.shape) refuse_other(parameter, weight.shape);
    for (Calibration::Reading& reading : weight.readings)
      if (reading.sums_rows == product.sums_rows && reading.squares.size() == product.depth)
        return reading;
    return weight.readings.emplace_back(
        Calibration::Reading{product.sums_rows, std::vector<double>(product.depth)});
  }

  [[noreturn]] static void refuse_other(const manifest::Parameter& parameter,
                                        const std::vector<std::int64_t>& theirs) {
    throw Error({.operation = "calibrate",
                 .object = named("parameter", parameter.name),
                 .cause = "is " + extents_text(parameter.shape) + " in the trainer, but " +
                          extents_text(theirs) + " in the calibration",
                 .hint = "add runs of one model"});
  }

  void require_finite(const Product& product) const {
    const auto found =
        std::ranges::find_if(values_, [](float value) { return !std::isfinite(value); });
    if (found == values_.end()) return;
    throw Error({.operation = "calibrate",
                 .object = named("parameter", product.parameter.name),
                 .cause = "is multiplied by " +
                          number_text(std::isnan(*found) ? std::fabs(*found) : *found) +
                          ", which is not finite",
                 .hint = "call the trainer's diagnose(), which says where it comes from"});
  }

  ReplayedProgram replayed_;
  BoundProgram& program_;
  Calibration& sums_;
  std::vector<float> values_;  ///< of the operand at hand
};

void Calibration::add(const Trainer& trainer) {
  const auto state = trainer.use("calibrate");
  const Replay replay = state->step.last_run();
  require_run("calibrate", replay);
  Calibration sums = *this;
  CalibrationRun(state->program, sums).run(replay);
  *this = std::move(sums);
}

std::vector<std::string> Calibration::parameter_names() const {
  std::vector<std::string> names;
  for (const auto& [name, weight] : weights_) names.push_back(name);
  return names;
}

std::span<const std::int64_t> Calibration::parameter_shape(std::string_view parameter) const {
  const auto found = weights_.find(parameter);
  if (found == weights_.end()) return {};
  return found->second.shape;
}

std::vector<double> Calibration::squares(std::string_view parameter) const {
  const auto found = weights_.find(parameter);
  if (found == weights_.end()) return {};
  const Weight& weight = found->second;
  const auto elements = static_cast<std::size_t>(std::accumulate(
      weight.shape.begin(), weight.shape.end(), std::int64_t{1}, std::multiplies<>()));
  std::vector<double> squares(elements);
  for (const Reading& reading : weight.readings) {
    const std::size_t depth = reading.squares.size(), columns = elements / depth;
    for (std::size_t e = 0; e < squares.size(); ++e)
      squares[e] += reading.squares[reading.sums_rows ? e % depth : e / columns];
  }
  return squares;
}

}  // namespace halftone
