// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder print: a line per check, which tests/gpu/run counts.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace halftone::tests {

/// What cannot be asked on this machine: from inside a check that check, from elsewhere everything.
class Skipped : public std::exception {
 public:
  explicit Skipped(std::string why) : why_(std::move(why)) {}
  [[nodiscard]] const char* what() const noexcept override { return why_.c_str(); }

 private:
  std::string why_;
};

inline constexpr int kSkippedExit = 77;
/// A GPU does not survive some faults; another process may go on behind the check that met one.
inline constexpr int kLostExit = 75;

/// Thrown by the first check after such a fault.
struct Lost {
  std::string last;  ///< the check that was done before
};

class Report {
 public:
  /// Checks up to and with `after` count as done; none when it is empty.
  Report(std::string program, std::string after)
      : program_(std::move(program)), after_(std::move(after)) {}

  void pass(const std::string& check, const std::string& figures = "");
  void fail(const std::string& check, const std::string& why);
  void skip(const std::string& check, const std::string& why);

  /// Runs `check`, which gives the sentences of what was wrong; an exception is one more.
  void run(const std::string& name, const std::function<std::vector<std::string>()>& check);

  /// The exit status: 1 when a check failed, kSkippedExit when none passed either.
  [[nodiscard]] int finish() const;

 private:
  void print(const char* word, const std::string& check, const std::string& rest) const;

  std::string program_, after_, last_;
  int passed_ = 0, failed_ = 0, skipped_ = 0;
};

/// What a program of this folder is called with: "--name value" pairs.
struct Arguments {
  int count;
  char** values;
};

/// Calls `body(report)`; says why where a device is not there. Where the device was lost, the last
/// line is "resume after CHECK", which is what --after takes.
[[nodiscard]] int report_of(const std::string& program, const Arguments& arguments,
                            const std::function<void(Report&)>& body);

/// "--only a,b" of a command line as {"a", "b"}; empty when it is not there.
[[nodiscard]] std::vector<std::string> list_option(const Arguments& arguments,
                                                   const std::string& name, char between = ',');
/// The same of names that must be among `known`. Throws std::runtime_error, which lists them, for
/// another.
[[nodiscard]] std::vector<std::string> names_option(const Arguments& arguments,
                                                    const std::string& name,
                                                    const std::vector<std::string>& known);
/// The same; with "--share 3/8" the third of eight processes' share of these names, or of all that
/// are known where none are given. Throws Skipped where nothing is left for this process.
[[nodiscard]] std::vector<std::string> share_of_names(const Arguments& arguments,
                                                      const std::string& name,
                                                      const std::vector<std::string>& known);
/// "--steps 20" as 20. Throws std::runtime_error for what is no number.
[[nodiscard]] long number_option(const Arguments& arguments, const std::string& name,
                                 long otherwise);

/// Whether a name is in the list, or the list is empty.
[[nodiscard]] bool chosen(const std::vector<std::string>& list, const std::string& name);

}  // namespace halftone::tests
