// SPDX-License-Identifier: Apache-2.0
// Precision rules met with a model while it compiles: which layers, values and operands a rule
// selects, and the words for rules that cannot be meant (P40 to P43).
#pragma once

#include "halftone/description/glob_states.hpp"
#include "halftone/description/rule_sentences.hpp"
#include "halftone/names.hpp"

namespace halftone::dsl::checking {

namespace meaning = description::rules;

/// Reads a name into a glob. Where the name says "any of so many copies" it follows every copy's
/// number at once.
class NameReader {
 public:
  constexpr explicit NameReader(const description::GlobStates& glob)
      : glob_(glob), at_(glob.start()) {}

  constexpr bool matches() const { return glob_.accepts(at_); }

  constexpr void put(char c) {
    if (at_ != 0) at_ = glob_.after(at_, c);
  }
  constexpr void put(const char* words) {
    for (; *words != 0 && at_ != 0; ++words) put(*words);
  }
  constexpr void put(long long number) {
    char digits[20]{};
    int count = 0;
    for (; number > 0 || count == 0; number /= 10) {
      digits[count++] = static_cast<char>('0' + number % 10);
    }
    while (count > 0) put(digits[--count]);
  }
  constexpr void put_copies(long long count) {
    Set after = 0;
    follow(at_, 0, count, after);
    at_ = after;
  }

 private:
  using Set = description::GlobStates::Set;

  /// Adds to `reached` where the numbers below `count` lead that continue the digits of `number`.
  constexpr void follow(Set from, long long number, long long count, Set& reached) const {
    const bool apart = glob_.tells_digits_apart(from);
    for (int digit = 0; digit < 10 && from != 0 && 10 * number + digit < count; ++digit) {
      const Set next = glob_.after(from, static_cast<char>('0' + digit));
      reached |= next;
      const long long longer = 10 * number + digit;
      if (next == 0 || longer == 0) continue;
      // All digits lead to `next`: the smallest leaves the most to follow.
      if (apart || next != from) follow(next, longer, count, reached);
      if (!apart) break;
    }
  }

  const description::GlobStates& glob_;
  Set at_;
};

/// A rule as description/rule_faults.hpp sees it.
struct RuleView {
  const Rule& rule;

  constexpr const meaning::Fields& fields() const { return rule.fields; }
  constexpr int clauses() const { return rule.selector.size; }
  constexpr const SelectedParts& clause(int c) const { return rule.selector.clauses[c]; }
  constexpr meaning::Parts parts(int c) const {
    const SelectedParts& of = clause(c);
    return {of.classes, of.ops, of.roles, of.passes, of.layer != nullptr, of.target_count > 0};
  }
  constexpr unsigned long glob_size(int c) const {
    unsigned long size = 0;
    while (clause(c).layer[size] != 0) ++size;
    return size;
  }
  constexpr int chips(int c) const { return clause(c).target_count; }
  constexpr meaning::Chip chip(int c, int i) const { return clause(c).targets[i]; }
};

/// A model likewise. A layer of a repeat stands for that of every copy.
class ModelView {
 public:
  constexpr explicit ModelView(const Graph& graph) : graph_(graph) {}

  constexpr bool trains() const { return graph_.losses.size() > 0; }

  constexpr meaning::Selected select(const RuleView& rule, int c, meaning::Mask fields) {
    if (subjects_.size() == 0) gather();
    meaning::Selected selected;
    const meaning::Parts parts = c < 0 ? meaning::Parts{} : rule.parts(c);
    if (parts.layer) {
      select_named(selected, rule.clause(c).layer, parts, fields);
    } else {
      for (int i = 0; i < different_.size(); ++i) {
        meaning::select(selected, parts, different_[i], fields);
      }
    }
    return selected;
  }

  /// For the sentence about a glob that fits no name.
  constexpr meaning::Internal meant(const RuleView& rule, int c) const {
    const char* const glob = rule.clause(c).layer;
    int size = 0, dot = 0;
    for (; glob[size] != 0; ++size) {
      if (glob[size] == '.') dot = size;
      if (glob[size] == '/') dot = 0;
    }
    const description::GlobStates whole(glob, static_cast<unsigned>(size));
    const description::GlobStates layer(glob, static_cast<unsigned>(dot));
    meaning::Internal meant;
    for (int i = 0; i < layers_.size(); ++i) {
      const description::Kind kind = graph_.nodes[layers_[i]].kind;
      if (has_internal(whole, layers_[i])) return {.exact = true, .of_layer = true, .kind = kind};
      if (dot > 0 && is_called(layer, layers_[i])) meant.prefer(kind);
    }
    return meant;
  }

 private:
  /// Of a parameter.
  struct Readers {
    description::KindSet kinds;
    bool trained = false;

    bool operator==(const Readers&) const = default;
  };

  /// Nodes differ in few ways, and a constant evaluation has a limited number of steps: each way is
  /// worked out once.
  constexpr void gather() {
    const int size = graph_.nodes.size();
    subjects_.fill(size);
    List<Readers> readers;  // of parameters
    readers.fill(size);
    for (int n = 0; n < size; ++n) {
      const Node& node = graph_.nodes[n];
      if (node.category != Category::trained) continue;
      parameters_.push(n);
      readers[n].trained = trains() && !is_frozen(graph_.program, node);
    }
    List<bool> trained;  // values that have a gradient
    if (trains()) find_trained(readers, trained);
    List<int> known;  // by kind and reads: 1 + the index in different_
    known.fill(description::kKinds * 16);
    for (int n = 0; n < size; ++n) {
      const Node& node = graph_.nodes[n];
      if (is_source(node.category)) continue;
      layers_.push(n);
      unsigned reads = 0;  // 1 values, 2 parameters, 4 trained ones, 8 trained values
      for (int i = 0; i < node.operand_count; ++i) {
        const int source = graph_.operands[node.operands + i].node;
        const Node& read = graph_.nodes[source];
        if (read.category == Category::trained) {
          reads |= readers[source].trained ? 6 : 2;
          readers[source].kinds |= description::KindSet(node.kind);
        } else if (!read.integers) {
          reads |= trains() && is_trained(trained, n, source) ? 9 : 1;
        }
      }
      int& index = known[static_cast<int>(node.kind) * 16 + static_cast<int>(reads)];
      if (index == 0) {
        different_.push(meaning::layer_subject(
            node.kind, {(reads & 1) != 0, (reads & 8) != 0, (reads & 2) != 0, (reads & 4) != 0},
            trains()));
        index = different_.size();
      }
      subjects_[n] = index - 1;
    }
    List<Readers> met;
    const int first = different_.size();
    for (int i = 0; i < parameters_.size(); ++i) {
      const Readers& is = readers[parameters_[i]];
      int at = 0;
      while (at < met.size() && !(met[at] == is)) ++at;
      if (at == met.size()) {
        met.push(is);
        different_.push(meaning::parameter_subject(is.kinds, is.trained));
      }
      subjects_[parameters_[i]] = first + at;
    }
  }

  /// What depends on a trained parameter or on an input that wants a gradient; once more where a
  /// later copy of a repeat reads what depends on one and the first copy does not.
  constexpr void find_trained(const List<Readers>& readers, List<bool>& trained) const {
    trained.fill(graph_.nodes.size());
    for (int before = -1, found = 0; before != found;) {
      before = found;
      for (int at = 0; at < graph_.order.size(); ++at) {
        const int n = graph_.order[at];
        const Node& node = graph_.nodes[n];
        if (node.gradient && !trained[n]) {
          trained[n] = true;
          ++found;
        }
        for (int i = 0; i < node.operand_count && !trained[n]; ++i) {
          const int source = graph_.operands[node.operands + i].node;
          if (!readers[source].trained && !is_trained(trained, n, source)) continue;
          trained[n] = true;
          ++found;
        }
      }
      if (graph_.seams.size() == 0) return;
    }
  }

  /// Whether what `user` reads of `source` has a gradient: in the first copy of a repeat or in
  /// later ones, which read their predecessor's result.
  constexpr bool is_trained(const List<bool>& trained, int user, int source) const {
    if (trained[source]) return true;
    for (int i = 0; i < graph_.seams.size(); ++i) {
      const Seam& seam = graph_.seams[i];
      if (seam.enters.node != source || !trained[seam.leaves.node]) continue;
      int scope = graph_.nodes[user].scope;
      while (scope >= 0 && scope != seam.scope) scope = graph_.scopes[scope].parent;
      if (scope >= 0 && graph_.scopes[scope].count > 1) return true;
    }
    return false;
  }

  /// Stops when nothing more can be found.
  constexpr void select_named(meaning::Selected& selected, const char* glob,
                              const meaning::Parts& parts, meaning::Mask fields) {
    int size = 0, plain = -1;
    for (; glob[size] != 0; ++size) {
      const bool special = glob[size] == '*' || glob[size] == '?' || glob[size] == '{';
      if (special && plain < 0) plain = size;
    }
    const description::GlobStates states(glob, static_cast<unsigned>(size));
    const bool of_internals = (parts.roles & meaning::bit(description::Role::internal)) != 0;
    const auto take = [&](int n) {
      if (is_called(states, n)) {
        meaning::select(selected, parts, different_[subjects_[n]], fields);
      } else if (of_internals && has_internal(states, n)) {
        meaning::select(selected, parts, meaning::internal_subject(graph_.nodes[n].kind), fields);
      }
      return selected.any && (fields & ~selected.fields) == 0;
    };
    if (plain < 0) {
      const int found = look_up(graph_, glob, -1);
      const int n = found < 0 ? -1 : graph_.entries[found].value.node;
      if (n >= 0 && take(n)) return;
      plain = size;
    }
    for (int i = 0; i < layers_.size(); ++i) {
      if (begins(graph_.nodes[layers_[i]], glob, plain) && take(layers_[i])) return;
    }
    for (int i = 0; i < parameters_.size(); ++i) {
      if (begins(graph_.nodes[parameters_[i]], glob, plain) && take(parameters_[i])) return;
    }
  }

  /// Sorts out most names by the glob's first `plain` characters, since a constant evaluation has a
  /// limited number of steps.
  static constexpr bool begins(const Node& node, const char* glob, int plain) {
    if (node.scope >= 0 || node.name == nullptr) return true;
    int i = 0;
    while (i < plain && node.name[i] == glob[i]) ++i;
    return i == plain || node.name[i] == 0;
  }

  /// P5: a parameter is called like its layer, too.
  constexpr bool is_called(const description::GlobStates& glob, int n) const {
    const Node& node = graph_.nodes[n];
    if (is_given(node)) return false;
    NameReader name(glob);
    if (node.category != Category::trained) {
      write_name(name, graph_, n);
      return name.matches();
    }
    write_scope(name, graph_, node.scope);
    name.put(node.name);
    if (name.matches()) return true;
    name.put('.');
    name.put(own_form(graph_.program, node).role);
    return name.matches();
  }

  /// P5: whether an internal value of a layer is called so.
  constexpr bool has_internal(const description::GlobStates& glob, int n) const {
    const Node& node = graph_.nodes[n];
    if (is_source(node.category) || is_given(node)) return false;
    for (const char* const value : form_of(node.kind).internals) {
      NameReader name(glob);
      write_name(name, graph_, n);
      name.put('.');
      name.put(value);
      if (name.matches()) return true;
    }
    return false;
  }

  const Graph& graph_;
  List<int> subjects_;  // of each node, as an index of different_
  List<meaning::Subject> different_;
  List<int> layers_, parameters_;
};

}  // namespace halftone::dsl::checking
