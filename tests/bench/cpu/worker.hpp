// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder answer on standard input, so that compare.py can take turns
// between them. An answer is one line: "ok" and numbers, or "error" and a sentence.
// - prepare NAME WORDS...: makes what NAME stands for from here on
// - probe NAME: numbers that other contenders must find too
// - run NAME COUNT: seconds of so many runs, one after another
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace halftone::tests {

class Contender {
 public:
  virtual ~Contender() = default;
  /// Numbers that do not depend on who computes them.
  virtual std::vector<double> probe() = 0;
  virtual void run(std::int64_t count) = 0;
};

using MakeContender = std::unique_ptr<Contender> (*)(std::istringstream& words);

/// A file of values without a header, as `bench_machine draw` writes it. Throws when it has another
/// size.
template <class Value>
std::vector<Value> read_values(const std::string& path, std::int64_t count) {
  std::vector<Value> values(static_cast<std::size_t>(count));
  const auto bytes = static_cast<std::streamsize>(values.size() * sizeof(Value));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()), bytes);
  if (file.gcount() != bytes || file.peek() != std::ifstream::traits_type::eof())
    throw std::runtime_error(path + " does not hold " + std::to_string(count) + " values");
  return values;
}

/// kProbes values, evenly spread, the first and the last among them.
template <class Value>
std::vector<double> sampled(const Value* values, std::size_t count) {
  constexpr std::size_t kProbes = 48;
  std::vector<double> found;
  for (std::size_t i = 0; i < kProbes; ++i)
    found.push_back(static_cast<double>(values[i * (count - 1) / (kProbes - 1)]));
  return found;
}

class Server {
 public:
  explicit Server(MakeContender make) : make_(make) {}

  std::vector<double> answer(const std::string& line) {
    std::istringstream words(line);
    std::string what, name;
    words >> what >> name;
    if (what == "prepare") {
      contenders_[name] = make_(words);
      return {};
    }
    const auto found = contenders_.find(name);
    if (found == contenders_.end()) throw std::runtime_error("'" + name + "' was not prepared");
    if (what == "probe") return found->second->probe();
    if (what != "run") throw std::runtime_error("'" + what + "' is not understood");
    std::int64_t count = 0;
    if (!(words >> count) || count < 1) throw std::runtime_error("run takes a name and a count");
    const auto start = std::chrono::steady_clock::now();
    found->second->run(count);
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  }

  void serve() {
    for (std::string line; std::getline(std::cin, line);) {
      std::ostringstream text;
      text.precision(9);
      try {
        for (const double number : answer(line)) text << " " << number;
        std::cout << "ok" << text.str() << std::endl;
      } catch (const std::exception& error) {
        std::cout << "error " << error.what() << std::endl;
      }
    }
  }

 private:
  MakeContender make_;
  std::map<std::string, std::unique_ptr<Contender>> contenders_;
};

}  // namespace halftone::tests
