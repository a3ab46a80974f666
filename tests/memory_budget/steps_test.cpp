// SPDX-License-Identifier: Apache-2.0
// What is computed again for less memory, against every choice that there is: what a choice comes
// to is worked out here once more, moment by moment.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "codegen/passes/RecomputationSteps.h"

using namespace halftone::ir;
using Fate = SavedGraph::Fate;

namespace {

/// Runs the backward pass, moment by moment: makes what is read and not there.
class Played {
 public:
  Played(const SavedGraph& graph, const Choice& choice)
      : graph_(graph),
        choice_(choice),
        made_(graph.nodes.size(), -1),
        read_(graph.nodes.size(), -1) {
    for (int time = 0; time < static_cast<int>(graph.beside.size()); ++time) {
      for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const auto& readers = graph.nodes[n].readers;
        if (std::ranges::find(readers, time) != readers.end()) read(n, time);
      }
    }
    for (int time = 0; time < static_cast<int>(graph.beside.size()); ++time) {
      std::int64_t bytes = graph.beside[static_cast<std::size_t>(time)];
      for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const bool is_there = read_[n] >= time && (is_kept(n) || made_[n] <= time);
        if (is_there) bytes += graph.nodes[n].bytes;
      }
      outcome.bytes = std::max(outcome.bytes, bytes);
    }
  }

  Outcome outcome;

 private:
  bool is_kept(std::size_t node) const {
    const Fate fate = graph_.nodes[node].fate;
    return fate == Fate::kept || (fate == Fate::candidate && !choice_[node]);
  }

  void read(std::size_t node, int time) {
    read_[node] = time;
    const SavedGraph::Node& of = graph_.nodes[node];
    const bool makes = !is_kept(node) && made_[node] < 0;
    if (makes) {
      made_[node] = time;
      outcome.operations += of.operations;
    }
    if (!makes && of.fate != Fate::shown) return;
    for (const int operand : of.operands) read(static_cast<std::size_t>(operand), time);
  }

  const SavedGraph& graph_;
  const Choice& choice_;
  std::vector<int> made_, read_;  // when it was made, and read last
};

/// A chain with residual sums, read backwards as gradients are.
SavedGraph random_graph(std::mt19937& random, int candidates) {
  const auto below = [&](int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
  };
  SavedGraph graph;
  const int count = candidates + below(6), moments = count + 2;
  int left = candidates;
  for (int n = 0; n < count; ++n) {
    SavedGraph::Node node;
    node.bytes = 1 + below(64);
    node.operations = below(100);
    const bool must = count - n <= left;
    node.fate = must || below(3) > 0 ? Fate::candidate : static_cast<Fate>(2 * below(2));
    if (node.fate == Fate::candidate && left-- <= 0) node.fate = Fate::again;
    if (node.fate == Fate::again && below(4) == 0) node = {.fate = Fate::shown};
    if (n > 0) node.operands.push_back(n - 1);
    if (n > 2 && below(3) == 0) node.operands.push_back(below(n - 1));
    if (node.fate != Fate::again) {
      node.readers.push_back(moments - 1 - n);
      if (below(3) == 0) node.readers.push_back(below(moments));
    }
    graph.nodes.push_back(std::move(node));
  }
  for (int time = 0; time < moments; ++time) graph.beside.push_back(below(20));
  return graph;
}

std::vector<std::size_t> candidates_of(const SavedGraph& graph) {
  std::vector<std::size_t> candidates;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].fate == Fate::candidate) candidates.push_back(n);
  }
  return candidates;
}

/// What every choice comes to.
class AllChoices {
 public:
  explicit AllChoices(const SavedGraph& graph) {
    const std::vector<std::size_t> candidates = candidates_of(graph);
    for (std::size_t set = 0; set < std::size_t{1} << candidates.size(); ++set) {
      Choice choice(graph.nodes.size());
      for (std::size_t i = 0; i < candidates.size(); ++i)
        choice[candidates[i]] = (set >> i & 1) != 0;
      outcomes_.push_back(Played(graph, choice).outcome);
    }
  }

  /// The fewest operations of any choice that takes no more than so many bytes.
  [[nodiscard]] double cheapest(std::int64_t bytes) const {
    double operations = 1e300;
    for (const Outcome& outcome : outcomes_) {
      if (outcome.bytes <= bytes) operations = std::min(operations, outcome.operations);
    }
    return operations;
  }

  [[nodiscard]] std::int64_t fewest() const {
    return std::ranges::min_element(outcomes_, {}, &Outcome::bytes)->bytes;
  }

 private:
  std::vector<Outcome> outcomes_;
};

}  // namespace

TEST_CASE("what a choice comes to is what playing the backward pass through shows") {
  std::mt19937 random(1);
  for (int trial = 0; trial < 1000; ++trial) {
    const SavedGraph graph = random_graph(random, 1 + trial % 12);
    Choice choice(graph.nodes.size());
    for (std::size_t n : candidates_of(graph)) choice[n] = random() % 2 == 0;
    const Outcome outcome = outcomeOf(graph, choice), played = Played(graph, choice).outcome;
    CAPTURE(trial);
    CHECK(outcome.bytes == played.bytes);
    CHECK(outcome.operations == doctest::Approx(played.operations));
  }
}

TEST_CASE("steps begin with nothing, take fewer and fewer bytes and cost more and more") {
  std::mt19937 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const SavedGraph graph = random_graph(random, 1 + trial % 40);
    const std::vector<Choice> steps = stepsOf(graph);
    REQUIRE(!steps.empty());
    CHECK(steps.front() == Choice(graph.nodes.size()));
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      const Outcome before = outcomeOf(graph, steps[i]), after = outcomeOf(graph, steps[i + 1]);
      CHECK(after.bytes < before.bytes);
      CHECK(after.operations >= before.operations);
    }
    for (const Choice& choice : steps) {
      for (std::size_t n = 0; n < choice.size(); ++n) {
        if (choice[n]) CHECK(graph.nodes[n].fate == Fate::candidate);
      }
    }
  }
}

TEST_CASE("of few candidates no choice meets a budget with fewer operations than the steps") {
  std::mt19937 random(3);
  for (int trial = 0; trial < 60; ++trial) {
    const SavedGraph graph = random_graph(random, 1 + trial % static_cast<int>(kEnumerated));
    const AllChoices all(graph);
    const std::vector<Choice> steps = stepsOf(graph);
    CHECK(outcomeOf(graph, steps.back()).bytes == all.fewest());
    for (const Choice& choice : steps) {
      const Outcome outcome = outcomeOf(graph, choice);
      CHECK(outcome.operations == doctest::Approx(all.cheapest(outcome.bytes)));
    }
  }
}

TEST_CASE("of more candidates steps come near what every choice shows") {
  std::mt19937 random(4);
  double found = 0, best = 0, least_found = 0, least = 0;
  for (int trial = 0; trial < 30; ++trial) {
    const SavedGraph graph = random_graph(random, static_cast<int>(kEnumerated) + 1);
    const AllChoices all(graph);
    const std::vector<Choice> steps = stepsOf(graph);
    least_found += static_cast<double>(outcomeOf(graph, steps.back()).bytes);
    least += static_cast<double>(all.fewest());
    for (const Choice& choice : steps) {
      const Outcome outcome = outcomeOf(graph, choice);
      found += outcome.operations;
      best += all.cheapest(outcome.bytes);
      // Nothing is computed again that the bytes do not need.
      for (std::size_t n = 0; n < choice.size(); ++n) {
        if (!choice[n]) continue;
        Choice without = choice;
        without[n] = false;
        const Outcome less = outcomeOf(graph, without);
        CHECK((less.bytes > outcome.bytes || less.operations > outcome.operations));
      }
    }
  }
  MESSAGE("operations of steps over those of the best choices: ", found / best);
  MESSAGE("bytes of last steps over the fewest that there are: ", least_found / least);
  CHECK(found <= 1.05 * best);
  CHECK(least_found <= 1.1 * least);
}
