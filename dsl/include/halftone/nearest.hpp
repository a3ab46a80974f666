// SPDX-License-Identifier: Apache-2.0
// What somebody who wrote an unknown name may have meant: the nearest of the names that there are,
// or all of them when they are few.
#pragma once

#include "halftone/names.hpp"

namespace halftone::dsl::checking {

/// A name that a constant evaluation writes, as write_name does.
struct NameText {
  static constexpr int kCapacity = 48;
  char text[kCapacity]{};
  int size = 0;
  bool cut = false;

  constexpr void put(char c) {
    cut = cut || size == kCapacity - 1;
    if (!cut) text[size++] = c;
  }
  constexpr void put(const char* words) {
    for (; *words != 0 && !cut; ++words) put(*words);
  }
  constexpr void put(long long number) {
    if (number >= 10) put(number / 10);
    put(static_cast<char>('0' + number % 10));
  }
  constexpr void put_copies(long long) { put('*'); }
};

class Nearest {
 public:
  constexpr explicit Nearest(const char* wanted) {
    if (wanted != nullptr) wanted_.put(wanted);
    best_distance_ = wanted_.cut ? 0 : (wanted_.size + 2) / 3 + 1;
    if (best_distance_ > wanted_.size) best_distance_ = wanted_.size;
  }

  constexpr void offer(const NameText& name) {
    if (name.cut) return;
    if (count_ < kFew) few_[count_] = name;
    ++count_;
    const int distance = distance_to(name);
    if (distance >= best_distance_) return;
    best_distance_ = distance;
    best_ = name;
  }
  constexpr void offer(const char* name) {
    NameText text;
    text.put(name);
    offer(text);
  }

  constexpr void write(auto& out) const {
    if (best_.size > 0) {
      out.put(" (did you mean '");
      out.put(best_.text);
      return out.put("'?)");
    }
    if (count_ == 0 || count_ > kFew) return;
    out.put(" (known here: ");
    for (int i = 0; i < count_; ++i) {
      if (i > 0) out.put(i + 1 < count_ ? ", " : " and ");
      out.put('\'');
      out.put(few_[i].text);
      out.put('\'');
    }
    out.put(')');
  }

 private:
  static constexpr int kFew = 5;

  /// Characters to add, remove or change; what is no use where it cannot be the best.
  constexpr int distance_to(const NameText& name) {
    const int difference = name.size - wanted_.size;
    const int least = difference < 0 ? -difference : difference;
    // A constant evaluation has a limited number of steps.
    if (least >= best_distance_ || cells_ > kMostCells) return best_distance_;
    cells_ += name.size * wanted_.size;
    int row[NameText::kCapacity]{};
    for (int j = 0; j <= name.size; ++j) row[j] = j;
    for (int i = 1; i <= wanted_.size; ++i) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= name.size; ++j) {
        int change = diagonal + (wanted_.text[i - 1] == name.text[j - 1] ? 0 : 1);
        diagonal = row[j];
        if (row[j] + 1 < change) change = row[j] + 1;
        if (row[j - 1] + 1 < change) change = row[j - 1] + 1;
        row[j] = change;
      }
    }
    return row[name.size];
  }

  static constexpr int kMostCells = 10000;
  NameText wanted_, best_, few_[kFew];
  int best_distance_ = 0, count_ = 0, cells_ = 0;
};

/// Of the values that a name written in `scope` can mean.
constexpr Nearest nearest_value(const Graph& graph, const char* wanted, int scope) {
  Nearest nearest(wanted);
  for (int i = 0; i < graph.entries.size(); ++i) {
    const char* name = graph.entries[i].name;
    if (name != nullptr && look_up(graph, name, scope) == i) nearest.offer(name);
  }
  return nearest;
}

/// Of the layers and losses, by their full names.
constexpr Nearest nearest_layer(const Graph& graph, const char* wanted) {
  Nearest nearest(wanted);
  for (int i = 0; i < graph.order.size(); ++i) {
    const int n = graph.order[i];
    if (is_source(graph.nodes[n].category)) continue;
    NameText name;
    write_name(name, graph, n);
    nearest.offer(name);
  }
  return nearest;
}

}  // namespace halftone::dsl::checking
