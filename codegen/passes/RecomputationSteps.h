// SPDX-License-Identifier: Apache-2.0
// Which forward values the backward pass computes again so that it keeps less (P67,
// decisions/0043): a graph in numbers alone, what a choice comes to, and a row of choices that keep
// less and less.
#ifndef HALFTONE_PASSES_RECOMPUTATIONSTEPS_H
#define HALFTONE_PASSES_RECOMPUTATIONSTEPS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halftone::ir {

/// The forward pass as far as the backward pass reads it. Times are places of operations in the
/// backward pass, from 0.
struct SavedGraph {
  /// What becomes of a value that is read.
  enum class Fate : uint8_t {
    kept,      ///< from the forward pass to where it is read last
    candidate, ///< that, or computed again
    again,     ///< computed again: no backward operation reads it by itself
    shown,     ///< lies where its operand does, and costs nothing
  };
  struct Node {
    Fate fate = Fate::kept;
    int64_t bytes = 0;
    double operations = 0;           ///< of computing it
    std::vector<int32_t> operands{}; ///< nodes before it
    std::vector<int32_t> readers{};  ///< times
  };
  std::vector<Node> nodes;     ///< in order of the forward pass
  std::vector<int64_t> beside; ///< at every time, the bytes of what the backward pass makes
};

/// Of every node whether it is computed again; of one that is no candidate nothing.
using Choice = std::vector<bool>;

struct Outcome {
  int64_t bytes = 0;     ///< the most that is there at once during the backward pass
  double operations = 0; ///< of what is computed again
};

/// A value is computed again once, where it is read first, and is there to where it is read last.
Outcome outcomeOf(const SavedGraph &graph, const Choice &choice);

/// From the choice of nothing on, each of fewer bytes than the one before it and of no fewer
/// operations. Of as few as `kEnumerated` candidates every choice is tried: none that is left out
/// takes as few bytes for as few operations as one of these. Of more, each step computes again what
/// saves the most bytes for its operations, and nothing that its bytes do not need.
std::vector<Choice> stepsOf(const SavedGraph &graph);
inline constexpr std::size_t kEnumerated = 10;

} // namespace halftone::ir

#endif
