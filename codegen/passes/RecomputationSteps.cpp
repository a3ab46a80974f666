// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/RecomputationSteps.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace halftone::ir {
namespace {

using Fate = SavedGraph::Fate;

/// Beyond so many candidates a step takes several at once, so that steps take the time of so many.
constexpr size_t kMostSteps = 128;

/// When a node is read.
struct Span {
  int32_t first = std::numeric_limits<int32_t>::max(), last = -1;

  bool isEmpty() const { return last < 0; }
  void add(int32_t from, int32_t to) {
    first = std::min(first, from);
    last = std::max(last, to);
  }
};

struct Detailed : Outcome {
  double area = 0; ///< bytes times how long they are there
};

Detailed detailOf(const SavedGraph &graph, const Choice &choice) {
  std::vector<Span> spans(graph.nodes.size());
  std::vector<int64_t> change(graph.beside.size() + 1);
  Detailed detailed;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const SavedGraph::Node &node = graph.nodes[n];
    for (int32_t time : node.readers)
      spans[n].add(time, time);
    if (spans[n].isEmpty())
      continue;
    bool isKept = node.fate == Fate::kept || (node.fate == Fate::candidate && !choice[n]);
    int32_t first = isKept ? 0 : spans[n].first, last = spans[n].last;
    change[first] += node.bytes;
    change[last + 1] -= node.bytes;
    detailed.area += static_cast<double>(node.bytes) * (last + 1 - first);
    if (isKept)
      continue;
    detailed.operations += node.operations;
    for (int32_t operand : node.operands)
      spans[operand].add(first, node.fate == Fate::shown ? last : first);
  }
  int64_t live = 0;
  for (size_t time = 0; time < graph.beside.size(); ++time) {
    live += change[time];
    detailed.bytes = std::max(detailed.bytes, live + graph.beside[time]);
  }
  return detailed;
}

std::vector<size_t> candidatesOf(const SavedGraph &graph) {
  std::vector<size_t> candidates;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (graph.nodes[n].fate == Fate::candidate)
      candidates.push_back(n);
  return candidates;
}

struct Weighed {
  Choice choice;
  Outcome outcome;
};

/// The first, which is the choice of nothing, and those that none of fewer operations equals in
/// bytes, by operations.
std::vector<Choice> frontOf(std::vector<Weighed> tried) {
  int64_t fewest = tried.front().outcome.bytes;
  std::vector<Choice> front{tried.front().choice};
  std::sort(tried.begin(), tried.end(), [](const Weighed &a, const Weighed &b) {
    return std::tuple(a.outcome.operations, a.outcome.bytes, a.choice) <
           std::tuple(b.outcome.operations, b.outcome.bytes, b.choice);
  });
  for (Weighed &one : tried) {
    if (one.outcome.bytes >= fewest)
      continue;
    fewest = one.outcome.bytes;
    front.push_back(std::move(one.choice));
  }
  return front;
}

std::vector<Weighed> tryAll(const SavedGraph &graph, const std::vector<size_t> &candidates) {
  std::vector<Weighed> tried;
  for (size_t set = 0; set < size_t{1} << candidates.size(); ++set) {
    Choice choice(graph.nodes.size());
    for (size_t i = 0; i < candidates.size(); ++i)
      choice[candidates[i]] = (set >> i & 1) != 0;
    Outcome outcome = outcomeOf(graph, choice);
    tried.push_back({std::move(choice), outcome});
  }
  return tried;
}

/// Without what its bytes do not need, the costliest first.
Weighed pruned(const SavedGraph &graph, const std::vector<size_t> &candidates, Choice choice) {
  Outcome outcome = outcomeOf(graph, choice);
  std::vector<std::pair<double, size_t>> chosen;
  for (size_t n : candidates)
    if (choice[n])
      chosen.push_back({-graph.nodes[n].operations, n});
  std::sort(chosen.begin(), chosen.end());
  for (auto [cost, n] : chosen) {
    choice[n] = false;
    Outcome without = outcomeOf(graph, choice);
    choice[n] = without.bytes > outcome.bytes || without.operations > outcome.operations;
    if (!choice[n])
      outcome = without;
  }
  return {std::move(choice), outcome};
}

/// What one more that is computed again saves for its operations; of what lowers the most that is
/// there at once first, of what lowers only how long it is there behind.
struct Gain {
  bool lowers = false;
  double value = 0;

  size_t node = 0;

  /// Whether it comes before another: the one that saves more, of equal ones the first.
  bool operator<(const Gain &other) const {
    return std::tuple(!lowers, -value, node) < std::tuple(!other.lowers, -other.value, other.node);
  }
};

std::vector<Weighed> stepByStep(const SavedGraph &graph, const std::vector<size_t> &candidates) {
  Choice choice(graph.nodes.size());
  std::vector<Weighed> tried{{choice, outcomeOf(graph, choice)}};
  size_t atOnce = (candidates.size() + kMostSteps - 1) / kMostSteps;
  while (true) {
    Detailed before = detailOf(graph, choice);
    std::vector<Gain> gains;
    for (size_t n : candidates) {
      if (choice[n])
        continue;
      choice[n] = true;
      Detailed with = detailOf(graph, choice);
      choice[n] = false;
      double cost = std::max(with.operations - before.operations, 1.0);
      Gain gain{with.bytes < before.bytes, static_cast<double>(before.bytes - with.bytes) / cost,
                n};
      if (!gain.lowers)
        gain.value = with.bytes > before.bytes ? 0 : (before.area - with.area) / cost;
      if (gain.value > 0)
        gains.push_back(gain);
    }
    if (gains.empty())
      return tried;
    std::sort(gains.begin(), gains.end());
    for (size_t i = 0; i < std::min(atOnce, gains.size()); ++i)
      choice[gains[i].node] = true;
    tried.push_back(pruned(graph, candidates, choice));
  }
}

} // namespace

Outcome outcomeOf(const SavedGraph &graph, const Choice &choice) { return detailOf(graph, choice); }

std::vector<Choice> stepsOf(const SavedGraph &graph) {
  std::vector<size_t> candidates = candidatesOf(graph);
  return frontOf(candidates.size() <= kEnumerated ? tryAll(graph, candidates)
                                                  : stepByStep(graph, candidates));
}

} // namespace halftone::ir
