// SPDX-License-Identifier: Apache-2.0
#include "parts.hpp"

#include <algorithm>
#include <utility>

#include "faults.hpp"

namespace halftone::description::detail {

bool read_setting(Scanner& scan, std::string_view name, double& value) {
  return scan.expect_word(name) && scan.read_number(value, "a number");
}

namespace {

/// "batch", "batch + 2" or "batch - 2"
bool read_symbol(Scanner& scan, Dimension& dimension) {
  const Position start = scan.position();
  std::string_view symbol;
  if (!scan.read_word(symbol, "an extent or a symbol")) return false;
  if (!is_symbol(symbol)) {
    return scan.fail(start, "a symbol is made of letters, digits and _, but this is " +
                                quoted(symbol.substr(0, 32)));
  }
  dimension.symbol = symbol;
  const bool is_less = scan.take('-');
  if (!is_less && !scan.take('+')) return true;
  if (!scan.read_integer(dimension.extent, "a number that is added")) return false;
  if (dimension.extent < 1) return scan.fail(start, "a number that is added is 1 or more");
  if (is_less) dimension.extent = -dimension.extent;
  return true;
}

/// "batch", "64", "4*side" or "4*side + 2"
bool read_dimension(Scanner& scan, Dimension& dimension) {
  const char first = scan.peek();
  if (!(first >= '0' && first <= '9') && first != '-') return read_symbol(scan, dimension);
  std::int64_t number = 0;
  if (!scan.read_integer(number, "an extent")) return false;
  if (!scan.take('*')) {
    dimension.extent = number;
    return true;
  }
  dimension.factor = number;
  return read_symbol(scan, dimension);
}

}  // namespace

bool read_shape(Scanner& scan, Shape& shape) {
  if (!scan.expect('[')) return false;
  if (scan.take(']')) return true;
  do {
    if (!read_dimension(scan, shape.emplace_back())) return false;
  } while (scan.take(','));
  return scan.expect(']');
}

bool read_initializer(Scanner& scan, Initializer& initializer) {
  if (!scan.read_enum(initializer.kind, "an initializer") || !scan.expect('(') ||
      !scan.read_number(initializer.first, "a number")) {
    return false;
  }
  using Kind = Initializer::Kind;
  const auto read_next = [&](double& number) {
    return scan.expect(',') && scan.read_number(number, "a number");
  };
  const bool has_one = initializer.kind == Kind::constant || initializer.kind == Kind::orthogonal;
  if (!has_one && !read_next(initializer.second)) return false;
  if (initializer.kind == Kind::truncated_normal &&
      !(read_next(initializer.low) && read_next(initializer.high))) {
    return false;
  }
  return scan.expect(')');
}

namespace {

bool read_instruction(Scanner& scan, ScalarInstruction& instruction) {
  if (!scan.read_enum(instruction.op, "an operation")) return false;
  if (instruction.op == ScalarOp::constant) {
    return scan.read_number(instruction.constant, "a number");
  }
  if (instruction.op == ScalarOp::operand) {
    const Position start = scan.position();
    std::int64_t operand = 0;
    if (!scan.read_integer(operand, "an operand's number")) return false;
    instruction.a = static_cast<std::int32_t>(operand);
    return instruction.a == operand || scan.fail(start, "an operand's number must fit 32 bits");
  }
  const int reads = arity(instruction.op);
  return (reads < 1 || scan.read_reference(instruction.a)) &&
         (reads < 2 || scan.read_reference(instruction.b)) &&
         (reads < 3 || scan.read_reference(instruction.c));
}

bool read_choice(Scanner& scan, const SettingForm& form, std::string& word) {
  const Position start = scan.position();
  std::string_view read;
  if (!scan.read_word(read, form.title)) return false;
  std::string choices;
  for (const char* const choice : form.words) {
    if (read == choice) {
      word = read;
      return true;
    }
    choices.append(choices.empty() ? "" : ", ").append(choice);
  }
  return scan.fail(start, "expected " + std::string(form.title) + ", one of " + choices +
                              ", but met " + quoted(read.substr(0, 32)));
}

bool read_flag(Scanner& scan, bool& value) {
  value = scan.take_word("true");
  return value || scan.take_word("false") || scan.unexpected("'true' or 'false'");
}

/// "[0, 2, 1]"
bool read_integers(Scanner& scan, std::vector<std::int64_t>& integers) {
  if (!scan.expect('[')) return false;
  if (scan.take(']')) return true;
  do {
    if (!scan.read_integer(integers.emplace_back(), "an integer")) return false;
  } while (scan.take(','));
  return scan.expect(']');
}

bool read_value(Scanner& scan, const SettingForm& form, Setting& setting) {
  setting.name = form.name;
  switch (form.type) {
    case SettingType::number:
      return scan.read_number(setting.value.emplace<double>(), "a number");
    case SettingType::flag:
      return read_flag(scan, setting.value.emplace<bool>());
    case SettingType::choice:
      return read_choice(scan, form, setting.value.emplace<std::string>());
    case SettingType::integer:
      return scan.read_integer(setting.value.emplace<std::int64_t>(), "an integer");
    case SettingType::integers:
      return read_integers(scan, setting.value.emplace<std::vector<std::int64_t>>());
    case SettingType::dimensions:
      return read_shape(scan, setting.value.emplace<Shape>());
  }
  return false;
}

bool any_required(const Table<SettingForm>& forms, int first) {
  return std::any_of(forms.begin() + first, forms.end(),
                     [](const SettingForm& form) { return !form.optional; });
}

/// "{epsilon: 1e-05}": the form's settings in its order; where none is stated there are no braces.
bool read_settings(Scanner& scan, const Table<SettingForm>& forms, std::vector<Setting>& settings) {
  if (forms.size == 0 || (!any_required(forms, 0) && scan.peek() != '{')) return true;
  int next = 0;
  do {
    if (!scan.expect(settings.empty() ? '{' : ',')) return false;
    bool met = false;
    while (next + 1 < forms.size && forms[next].optional && !met) {
      met = scan.take_word(forms[next].name);
      if (!met) ++next;
    }
    if (!(met || scan.expect_word(forms[next].name)) || !scan.expect(':') ||
        !read_value(scan, forms[next], settings.emplace_back())) {
      return false;
    }
    ++next;
  } while (next < forms.size && (any_required(forms, next) || scan.peek() == ','));
  return scan.expect('}');
}

}  // namespace

bool read_expression(Scanner& scan, std::int32_t arity, Expression& expression) {
  expression.arity = arity;
  if (!scan.expect('{')) return false;
  if (scan.take('}')) return true;
  do {
    const Position start = scan.position();
    std::int32_t number = 0;
    if (!scan.read_reference(number)) return false;
    if (static_cast<std::size_t>(number) != expression.instructions.size()) {
      return scan.fail(start, "instructions count up from %0, so this one must be %" +
                                  std::to_string(expression.instructions.size()));
    }
    ScalarInstruction instruction;
    if (!scan.expect('=') || !read_instruction(scan, instruction)) return false;
    expression.instructions.push_back(instruction);
  } while (scan.take(';'));
  return scan.expect('}');
}

bool read_attributes(Scanner& scan, Node& node) {
  const KindForm& form = form_of(node.kind);
  if (form.settings.size == 0 && !form.function) return true;
  LayerAttributes& attributes = node.attributes.emplace<LayerAttributes>();
  if (!read_settings(scan, form.settings, attributes.settings)) return false;
  if (!form.function) return true;
  Function& function = attributes.function.emplace();
  return scan.read_string(function.name, "the function's name in quotes") &&
         read_expression(scan, static_cast<std::int32_t>(count_values(node)), function.expression);
}

}  // namespace halftone::description::detail
