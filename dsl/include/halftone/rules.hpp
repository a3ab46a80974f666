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
  constexpr bool if_any() const { return rule.if_any; }
  constexpr int exceptions() const { return rule.exceptions.size; }
  constexpr const SelectedParts& clause(int c) const {
    return c < clauses() ? rule.selector.clauses[c] : rule.exceptions.clauses[c - clauses()];
  }
  constexpr const description::Bounds& bounds(int c) const { return clause(c).bounds; }
  constexpr meaning::Parts parts(int c) const {
    const SelectedParts& of = clause(c);
    return {of.classes,           of.ops,
            of.roles,             of.passes,
            of.layer != nullptr,  of.target_count > 0,
            of.bounds.stated(),   of.stage_count > 0};
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
    if (parts.bounds || (rule.exceptions() > 0 && c < rule.clauses())) {
      select_one_by_one(selected, rule, c, fields);
    } else if (parts.layer) {
      select_named(selected, rule.clause(c).layer, parts, fields);
    } else {
      for (int i = 0; i < different_.size(); ++i) {
        meaning::select(selected, parts, different_[i], fields);
      }
    }
    return selected;
  }

  /// P61: whether an exception takes off anything that a clause selects.
  constexpr bool excepts(const RuleView& rule, int exception) {
    for (int c = rule.clauses() > 0 ? 0 : -1; c < rule.clauses(); ++c) {
      meaning::Parts parts = c < 0 ? meaning::Parts{} : rule.parts(c);
      if (!meaning::both(parts, rule.parts(exception))) continue;
      for (int i = 0; i < layers_.size() + parameters_.size(); ++i) {
        const int n = named(i);
        if ((c < 0 || is_meant(rule, c, n)) && is_meant(rule, exception, n) &&
            meaning::selects(parts, different_[subjects_[n]])) {
          return true;
        }
      }
    }
    return false;
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
    bool is_matrix = false;

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
      readers[n].is_matrix = node.shape.rank > 1;
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
        different_.push(meaning::parameter_subject(is.kinds, is.trained, is.is_matrix));
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

  constexpr int named(int i) const {
    return i < layers_.size() ? layers_[i] : parameters_[i - layers_.size()];
  }

  enum class Called { no, whole, internal };
  constexpr Called called(const RuleView& rule, int c, int n) const {
    const char* const glob = c < 0 ? nullptr : rule.clause(c).layer;
    if (glob == nullptr) return Called::whole;
    const description::GlobStates states(glob, static_cast<unsigned>(rule.glob_size(c)));
    if (is_called(states, n)) return Called::whole;
    const auto internal = meaning::bit(description::Role::internal);
    const bool of_internals = (rule.parts(c).roles & internal) != 0;
    return of_internals && has_internal(states, n) ? Called::internal : Called::no;
  }

  /// Whether the name and the bounds of a clause fit.
  constexpr bool is_meant(const RuleView& rule, int c, int n) {
    return called(rule, c, n) != Called::no && is_within(rule.bounds(c), n);
  }

  /// Where there are bounds or exceptions, which tell nodes of one subject apart.
  constexpr void select_one_by_one(meaning::Selected& selected, const RuleView& rule, int c,
                                   meaning::Mask fields) {
    const meaning::Parts parts = c < 0 ? meaning::Parts{} : rule.parts(c);
    for (int i = 0; i < layers_.size() + parameters_.size(); ++i) {
      const int n = named(i);
      const Called how = called(rule, c, n);
      if (how == Called::no) continue;
      const meaning::Subject subject = how == Called::whole
                                           ? different_[subjects_[n]]
                                           : meaning::internal_subject(graph_.nodes[n].kind);
      if (c >= 0 && !is_within(rule.bounds(c), n)) {
        selected.named = selected.bounded = true;
        selected.of_ops = selected.of_ops || (meaning::ops_of(parts) & subject.ops).any();
        continue;
      }
      meaning::Parts left = parts;
      bool any = true;
      const int end = c < rule.clauses() ? rule.clauses() + rule.exceptions() : 0;
      for (int e = rule.clauses(); any && e < end; ++e) {
        if (is_meant(rule, e, n) && !tells_copies_apart(rule.clause(e), n))
          any = meaning::leave(left, rule.parts(e), subject);
      }
      if (any) {
        meaning::select(selected, left, subject, fields);
      } else {
        selected.named = selected.of_ops = selected.excepted = true;
      }
    }
  }

  constexpr bool is_folded(int scope) const {
    return graph_.scopes[scope].count > 0 && graph_.scopes[scope].index < 0;
  }

  /// Whether a clause may fit one copy of a layer and another not; validate has each by itself.
  constexpr bool tells_copies_apart(const SelectedParts& clause, int n) const {
    bool folded = false;
    for (int s = graph_.nodes[n].scope; s >= 0; s = graph_.scopes[s].parent)
      folded = folded || is_folded(s);
    const description::Bounds& bounds = clause.bounds;
    return folded && (clause.layer != nullptr || bounds.first != 0 || bounds.last != 0 ||
                      bounds.depth_end != 0);
  }

  /// P60. A layer of a repeat fits when one of its copies does.
  constexpr bool is_within(const description::Bounds& bounds, int n) {
    if (!bounds.stated()) return true;
    if (places_.size() == 0) find_places();
    description::Place place = places_[n];
    for (int s = graph_.nodes[n].scope; s >= 0; s = graph_.scopes[s].parent) {
      const Scope& scope = graph_.scopes[s];
      if (!is_folded(s)) {
        if (scope.count > 0) place.depth = scope.index;
      } else {
        place.depth = bounds.depth_from < scope.count ? bounds.depth_from : -1;
      }
    }
    return fits(bounds, place);
  }

  constexpr bool holds(int scope, int n) const {
    int at = graph_.nodes[n].scope;
    while (at >= 0 && at != scope) at = graph_.scopes[at].parent;
    return at == scope;
  }

  /// How many copies of a layer stand on one side of a copy of another, at least.
  constexpr long long copies_beside(int layer, int other) const {
    long long copies = 1;
    for (int s = graph_.nodes[layer].scope; s >= 0; s = graph_.scopes[s].parent) {
      if (is_folded(s) && !holds(s, other)) copies *= graph_.scopes[s].count;
    }
    return copies;
  }

  constexpr void find_places() {
    places_.fill(graph_.nodes.size());
    List<int> contractions;
    for (int i = 0; i < graph_.order.size(); ++i) {
      const int n = graph_.order[i];
      if (meaning::ops_of(description::LayerClass::contraction).has(graph_.nodes[n].kind))
        contractions.push(n);
    }
    for (int i = 0; i < contractions.size(); ++i) {
      description::Place& place = places_[contractions[i]];
      place.before = place.behind = 0;
      for (int j = 0; j < contractions.size(); ++j) {
        if (j == i) continue;
        (j < i ? place.before : place.behind) += copies_beside(contractions[j], contractions[i]);
      }
    }
    for (int i = 0; i < parameters_.size(); ++i) {
      const Shape& shape = graph_.nodes[parameters_[i]].shape;
      std::int64_t& elements = places_[parameters_[i]].elements = 1;
      for (int d = 0; d < shape.rank; ++d) elements *= shape.dimensions[d].extent;
    }
    const auto smaller = [](std::int64_t a, std::int64_t b) {
      return a < 0 || (b >= 0 && b < a) ? b : a;
    };
    for (int i = 0; i < layers_.size(); ++i) {
      const Node& node = graph_.nodes[layers_[i]];
      description::Place& place = places_[layers_[i]];
      for (int o = 0; o < node.operand_count; ++o) {
        const int source = graph_.operands[node.operands + o].node;
        if (graph_.nodes[source].category != Category::trained) continue;
        description::Place& read = places_[source];
        if (read.elements > place.elements) place.elements = read.elements;
        if (place.before >= 0) read.before = smaller(read.before, place.before);
        if (place.behind >= 0) read.behind = smaller(read.behind, place.behind);
      }
    }
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
  List<description::Place> places_;  // of each node, once a rule has bounds
};

}  // namespace halftone::dsl::checking
