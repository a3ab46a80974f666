// SPDX-License-Identifier: Apache-2.0
#include "codegen/audit/Ranges.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <vector>

namespace halftone::audit {
namespace {

using Words = std::vector<std::string>;

Words wordsOf(const std::string &line) {
  std::istringstream stream(line);
  Words words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

std::optional<double> numberOf(const std::string &word) {
  double value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || std::isnan(value))
    return std::nullopt;
  return value;
}

std::string textOf(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

/// Infinities and what f32 does not reach.
bool isBeyondF32(double number) { return std::fabs(number) > std::numeric_limits<float>::max(); }

/// Reads one line after the other.
class Reader {
public:
  Ranges ranges;

  /// What is wrong with the line, else empty.
  std::string read(Words words, size_t line) {
    std::vector<double> numbers;
    bool hasWord = words[0] == "assume" || words[0] == "deviation";
    bool isScale = words[0] == "loss_scale";
    isWhole = !hasWord && !isScale && words.back() == "whole" && words.size() == 4;
    if (isWhole)
      words.pop_back();
    size_t first = hasWord ? 2 : 1;
    for (size_t i = first; i < words.size(); ++i) {
      std::optional<double> number = numberOf(words[i]);
      if (!number)
        return "'" + words[i] + "' behind '" + words[first - 1] +
               "' is no number; write one such as -0.5 or 1e-3, or mend what the line begins with";
      numbers.push_back(*number);
    }
    if (hasWord && words.size() < 2)
      return "'" + words[0] + "' names no layer; write its name behind it";
    ranges.lines.emplace(words[first - 1], line);
    if (words[0] == "deviation")
      return readDeviation(words[1], numbers);
    if (isScale)
      return readScale(numbers);
    return words[0] == "assume" ? readAssumption(words[1], numbers) : readTensor(words[0], numbers);
  }

private:
  bool isWhole = false; ///< whether the line says so

  std::string readDeviation(const std::string &layer, const std::vector<double> &numbers) {
    if (numbers.size() != 1 || !(numbers[0] > 0) || isBeyondF32(numbers[0]))
      return "a deviation is one positive number of f32, the least that " + layer +
             " divides by; write `deviation " + layer + " 0.1`";
    bool isNew = ranges.leastDeviations.emplace(layer, numbers[0]).second;
    return isNew ? "" : "the deviation of " + layer + " is given twice; give it once";
  }

  std::string readScale(const std::vector<double> &numbers) {
    if (numbers.size() != 1 || !(numbers[0] > 0) || isBeyondF32(numbers[0]))
      return "a loss scale is one positive number of f32; write `loss_scale 65536`";
    if (ranges.lossScale > 0)
      return "two loss scales are given; give one";
    ranges.lossScale = numbers[0];
    return "";
  }

  std::string readAssumption(const std::string &layer, const std::vector<double> &numbers) {
    if (numbers.size() != 2)
      return "what is assumed of " + layer +
             " is no range; write its least number and then its largest";
    if (numbers[0] > numbers[1])
      return "what is assumed of " + layer + " goes from " + textOf(numbers[0]) + " down to " +
             textOf(numbers[1]) + "; write its least number first";
    bool isNew = ranges.assumed.emplace(layer, Interval{numbers[0], numbers[1]}).second;
    return isNew ? "" : "two ranges are assumed of " + layer + "; give one";
  }

  std::string readTensor(const std::string &name, const std::vector<double> &numbers) {
    if ((numbers.size() != 2 && numbers.size() != 5) || isBeyondF32(numbers[0]) ||
        isBeyondF32(numbers[1]))
      return "'" + name +
             "' has no range; write its least number and then its largest, both of f32, and "
             "behind them all three sums or none";
    if (numbers[0] > numbers[1])
      return "the range of '" + name + "' goes from " + textOf(numbers[0]) + " down to " +
             textOf(numbers[1]) + "; write its least number first";
    if (isWhole && std::ceil(numbers[0]) > std::floor(numbers[1]))
      return "no whole number lies in the range of '" + name + "'; mend it, or leave whole out";
    TensorRange tensor;
    tensor.range = {numbers[0], numbers[1]};
    tensor.isWhole = isWhole;
    if (numbers.size() == 5) {
      if (!(std::min({numbers[2], numbers[3], numbers[4]}) >= 0))
        return "a sum of sizes of '" + name + "' is negative; write what halftone ranges prints";
      tensor.sumOfLast = numbers[2];
      tensor.sumBehindFirst = numbers[3];
      tensor.sumBeforeLast = numbers[4];
    }
    bool isNew = ranges.tensors.emplace(name, tensor).second;
    return isNew ? "" : "'" + name + "' has two ranges; give one";
  }
};

} // namespace

std::variant<Ranges, std::string> parseRanges(std::string_view text, const std::string &file) {
  Reader reader;
  std::istringstream stream{std::string(text)};
  size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    Words words = wordsOf(line);
    if (words.empty() || words[0][0] == '#')
      continue;
    std::string wrong = reader.read(words, number);
    if (!wrong.empty())
      return file + ":" + std::to_string(number) + ": " + wrong;
  }
  return reader.ranges;
}

} // namespace halftone::audit
