// SPDX-License-Identifier: Apache-2.0
// What holds for many blocks of a repeat, said once: h/0/fc to h/29/fc are h/*/fc.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace halftone::tools {

/// What is said of a name, and in which words.
struct Row {
  std::string name;
  std::vector<std::string> cells;
  bool operator==(const Row&) const = default;
};

/// A number between slashes is that of a block (D2).
class Blocks {
 public:
  /// `names`: all that a model has, since * means all of its blocks.
  explicit Blocks(const std::vector<std::string>& names);

  /// Rows with equal cells whose names differ in such numbers become one row: h/*/fc where it holds
  /// for every block that has a name like that, else h/{0..3,7}/fc. No row is lost, and the order
  /// is that of first rows.
  [[nodiscard]] std::vector<Row> grouped(const std::vector<Row>& rows) const;

 private:
  /// By a name with # for numbers, the numbers at each place.
  std::map<std::string, std::vector<std::set<int>>> numbers_;
};

}  // namespace halftone::tools
