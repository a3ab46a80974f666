// SPDX-License-Identifier: Apache-2.0
// The steps of TensorFlow's auto_mixed_precision.cc, in their order, over layers and losses (P64).
#include "halftone/description/paint.hpp"

#include <algorithm>

#include "halftone/description/text.hpp"

namespace halftone::description {
namespace {

using Index = std::size_t;
using Origins = std::vector<std::optional<Index>>;  // of each node that was reached: from which one

class Painter {
 public:
  Painter(const Description& description, const rules::PaintLists& lists)
      : nodes_(description.nodes), lists_(lists), before_(nodes_.size()), behind_(nodes_.size()) {
    for (Index n = 0; n < nodes_.size(); ++n) {
      for (const Operand& operand : nodes_[n].operands) {
        const auto read = static_cast<Index>(operand.node);
        if (!is_computed(nodes_[read].kind)) continue;
        before_[n].push_back(read);
        behind_[read].push_back(n);
      }
    }
  }

  std::vector<Paint> run() {
    const Origins denied = deny();
    const Origins after_allowed = reach(behind_, among(lists_.allow), [&](Index n) {
      return !denied[n] && (is(n, lists_.clear) || is(n, lists_.infer));
    });
    const Origins before_allowed =
        reach(before_, among(lists_.allow), [&](Index n) { return after_allowed[n].has_value(); });
    const auto is_between = [&](Index n) { return before_allowed[n].has_value(); };
    std::vector<std::vector<Index>> both = before_;
    for (Index n = 0; n < nodes_.size(); ++n)
      both[n].insert(both[n].end(), behind_[n].begin(), behind_[n].end());
    std::vector<Index> allowed;
    for (Index n = 0; n < nodes_.size(); ++n) {
      if (is_between(n)) allowed.push_back(n);
    }
    const Origins beside =
        reach(both, allowed, [&](Index n) { return !denied[n] && is(n, lists_.clear); });
    std::vector<Paint> painted(nodes_.size());
    for (Index n = 0; n < nodes_.size(); ++n) {
      if (!is_computed(nodes_[n].kind)) continue;
      Paint& paint = painted[n];
      if (denied[n]) {
        paint.colour = Paint::Colour::deny;
        paint.because = *denied[n] == n
                            ? "on the deny list"
                            : "behind " + name(*denied[n]) + ", which is on the deny list";
      } else if (is(n, lists_.allow)) {
        paint = {Paint::Colour::allow, "on the allow list"};
      } else if (is_between(n)) {
        paint = {Paint::Colour::allow, "between " + name(*after_allowed[n]) + " and " +
                                           name(*before_allowed[n]) + ", which are allowed"};
      } else if (beside[n]) {
        paint = {Paint::Colour::allow,
                 "on the clear list, and " + name(*beside[n]) + " beside it is allowed"};
      } else {
        const bool listed = is(n, lists_.infer) || is(n, lists_.clear);
        paint.because = listed ? "not between allowed layers" : "on no list";
      }
    }
    return painted;
  }

 private:
  bool is(Index n, const KindSet& list) const { return list.has(nodes_[n].kind); }
  const std::string& name(Index n) const { return nodes_[n].name; }

  std::vector<Index> among(const KindSet& list) const {
    std::vector<Index> found;
    for (Index n = 0; n < nodes_.size(); ++n) {
      if (is(n, list)) found.push_back(n);
    }
    return found;
  }

  /// From each root along the edges into nodes that `enters` lets in.
  static Origins reach(const std::vector<std::vector<Index>>& edges,
                       const std::vector<Index>& roots, const auto& enters) {
    Origins reached(edges.size());
    for (const Index root : roots) reached[root] = root;
    for (const Index root : roots) {
      std::vector<Index> left{root};
      while (!left.empty()) {
        const Index at = left.back();
        left.pop_back();
        for (const Index next : edges[at]) {
          if (reached[next] || !enters(next)) continue;
          reached[next] = root;
          left.push_back(next);
        }
      }
    }
    return reached;
  }

  /// What is on the deny list, and what lies on a way from there to what is on the deny or infer
  /// list, through the clear and infer lists.
  Origins deny() const {
    std::vector<Index> ends = among(lists_.deny | lists_.infer);
    const Origins before_ends = reach(before_, ends, [&](Index n) { return is(n, lists_.clear); });
    return reach(behind_, among(lists_.deny), [&](Index n) { return before_ends[n].has_value(); });
  }

  const std::vector<Node>& nodes_;
  const rules::PaintLists& lists_;
  std::vector<std::vector<Index>> before_, behind_;
};

/// P10: whether it has an operand that is rounded.
bool reads_numbers(const Description& description, const Node& node) {
  return std::ranges::any_of(node.operands, [&](const Operand& operand) {
    const Node& read = description.nodes[static_cast<Index>(operand.node)];
    return is_parameter(read.kind) || !operand_form(form_of(node.kind), operand.role).integers;
  });
}

}  // namespace

std::vector<Paint> paint(const Description& description, const rules::PaintLists& lists) {
  return Painter(description, lists).run();
}

std::vector<Rule> paint_rules(const Description& description, const rules::PaintLists& lists,
                              Element half) {
  const std::vector<Paint> painted = paint(description, lists);
  std::vector<Rule> rules;
  for (Index n = 0; n < painted.size(); ++n) {
    const Node& node = description.nodes[n];
    if (!is_computed(node.kind)) continue;
    const Element element = painted[n].colour == Paint::Colour::allow ? half : Element::f32;
    Rule rule;
    rule.clauses.emplace_back().layer = node.name;
    if (!is_loss(node.kind)) rule.store = EncodingChoice{false, element};
    if (reads_numbers(description, node)) rule.compute = EncodingChoice{false, element};
    rule.because = painted[n].because;
    if (rule.store || rule.compute) rules.push_back(rule);
  }
  return rules;
}

}  // namespace halftone::description
