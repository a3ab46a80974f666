// SPDX-License-Identifier: Apache-2.0
// attention: D61 and D62.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "../drawing.hpp"

namespace halftone::reference {

struct Attention : LayerKind {
  static constexpr std::string_view word = "attention";
  static constexpr std::array classes{description::LayerClass::contraction};
  static constexpr std::array internals{std::string_view("scores"), std::string_view("weights"),
                                        std::string_view("score_gradients")};

  // D61
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const Heads<Scalar> heads(layer);
    Values<Scalar> y(count(layer.extents));
    heads.each_query([&](const Place& at) {
      const Row<Scalar> row = weights(heads, at);
      for (std::int64_t c = 0; c < heads.e; ++c) {
        y[heads.of_result(at, c)] = contraction<Scalar>(
            heads.n, [&](std::int64_t j) { return row.weights[j]; },
            [&](std::int64_t j) { return heads.value[heads.of_value(at, j, c)]; });
      }
    });
    return y;
  }

  // D62
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const Heads<Scalar> heads(layer);
    OperandGradients<Scalar> gradients(layer.operands.size());
    Values<Scalar>&of_query = gradients[layer.position("query")],
    &of_key = gradients[layer.position("key")], &of_value = gradients[layer.position("value")];
    of_query.assign(heads.query.size(), Scalar(0));
    of_key.assign(heads.key.size(), Scalar(0));
    of_value.assign(heads.value.size(), Scalar(0));
    // Queries come in the order of the chains that sum over them: by sequence, head, time.
    heads.each_query([&](const Place& at) {
      const Row<Scalar> row = weights(heads, at);
      const Values<Scalar> b = score_gradients(heads, at, row, g);
      for (std::int64_t c = 0; c < heads.d; ++c) {
        of_query[heads.of_query(at, c)] = contraction<Scalar>(
            heads.n, [&](std::int64_t j) { return b[j]; },
            [&](std::int64_t j) { return heads.key[heads.of_key(at, j, c)]; });
      }
      for (std::int64_t j = 0; j < heads.n; ++j) {
        for (std::int64_t c = 0; c < heads.d; ++c) {
          Scalar& chain = of_key[heads.of_key(at, j, c)];
          chain = fma(b[j], heads.query[heads.of_query(at, c)], chain);
        }
        for (std::int64_t c = 0; c < heads.e; ++c) {
          Scalar& chain = of_value[heads.of_value(at, j, c)];
          chain = fma(row.weights[j], g[heads.of_result(at, c)], chain);
        }
      }
    });
    return gradients;
  }

 private:
  // A query of one head.
  struct Place {
    std::int64_t sequence, head, i;
  };

  // The operands, cut into heads.
  template <class Scalar>
  struct Heads {
    const Layer<Scalar>& layer;
    View<Scalar> query, key, value;
    std::int64_t sequences, heads, key_heads, m, n, d, e;
    Dropping<Scalar> drop;

    explicit Heads(const Layer<Scalar>& of)
        : layer(of), query(of["query"]), key(of["key"]), value(of["value"]) {
      const auto& numbers = of.settings.numbers;
      heads = static_cast<std::int64_t>(numbers.at("heads"));
      key_heads = numbers.contains("key_heads") ? static_cast<std::int64_t>(numbers.at("key_heads"))
                                                : heads;
      const Extents &of_query = of.operand("query").extents, &of_key = of.operand("key").extents;
      m = of_query[of_query.size() - 2];
      n = of_key[of_key.size() - 2];
      d = of_query.back() / heads;
      e = of.operand("value").extents.back() / key_heads;
      sequences = count(of_query) / (m * heads * d);
      if (numbers.contains("dropout_rate")) drop = Dropping<Scalar>(of, numbers.at("dropout_rate"));
    }

    template <class Visit>
    void each_query(Visit visit) const {
      for (std::int64_t sequence = 0; sequence < sequences; ++sequence) {
        for (std::int64_t head = 0; head < heads; ++head) {
          for (std::int64_t i = 0; i < m; ++i) visit(Place{sequence, head, i});
        }
      }
    }

    [[nodiscard]] std::size_t of_query(const Place& at, std::int64_t c) const {
      return ((at.sequence * m + at.i) * heads + at.head) * d + c;
    }
    [[nodiscard]] std::size_t of_result(const Place& at, std::int64_t c) const {
      return ((at.sequence * m + at.i) * heads + at.head) * e + c;
    }
    [[nodiscard]] std::size_t of_key(const Place& at, std::int64_t j, std::int64_t c) const {
      return ((at.sequence * n + j) * key_heads + key_head(at)) * d + c;
    }
    [[nodiscard]] std::size_t of_value(const Place& at, std::int64_t j, std::int64_t c) const {
      return ((at.sequence * n + j) * key_heads + key_head(at)) * e + c;
    }
    // Among all weights, for draws.
    [[nodiscard]] std::uint64_t of_weight(const Place& at, std::int64_t j) const {
      return ((at.sequence * heads + at.head) * m + at.i) * n + j;
    }
    [[nodiscard]] std::int64_t key_head(const Place& at) const {
      return at.head / (heads / key_heads);
    }

    // How far key j lies before the query.
    [[nodiscard]] std::int64_t distance(const Place& at, std::int64_t j) const {
      return at.i + (n - m) - j;
    }

    [[nodiscard]] bool keeps(const Place& at, std::int64_t j) const {
      const auto integer = [&](const char* role, std::int64_t index) {
        return layer.operand(role).integers[index];
      };
      const auto& settings = layer.settings;
      if (settings.flags.contains("causal") && distance(at, j) < 0) return false;
      const auto window = settings.numbers.find("window");
      if (window != settings.numbers.end() && distance(at, j) > window->second) return false;
      if (layer.has("length") && j >= integer("length", at.sequence)) return false;
      if (layer.has("key_mask") && integer("key_mask", at.sequence * n + j) == 0) return false;
      return !layer.has("segment") ||
             integer("segment", at.sequence * n + at.i) == integer("segment", at.sequence * n + j);
    }

    // A number that is rounded once.
    [[nodiscard]] Scalar number(const char* name, double otherwise) const {
      const auto found = layer.settings.numbers.find(name);
      return static_cast<Scalar>(found == layer.settings.numbers.end() ? otherwise : found->second);
    }
    [[nodiscard]] Scalar scale() const {
      return number("score_scale", 1 / std::sqrt(static_cast<double>(d)));
    }
    [[nodiscard]] bool has_cap() const { return layer.settings.numbers.contains("soft_cap"); }
    // tanh(s * f32(1/c))
    [[nodiscard]] Scalar bent(Scalar score) const {
      return tanh(score * static_cast<Scalar>(1 / layer.settings.numbers.at("soft_cap")));
    }
  };

  // What alibi lowers a head's scores by for every time.
  static double slope(std::int64_t head, std::int64_t heads) {
    const auto t = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
    const double of = static_cast<double>(t);
    return head < t ? std::exp2(-8.0 * static_cast<double>(head + 1) / of)
                    : std::exp2(-4.0 * static_cast<double>(2 * (head - t) + 1) / of);
  }

  // One query's, by key.
  template <class Scalar>
  struct Row {
    Values<Scalar> scores;   // the internal value
    Values<Scalar> shares;   // w
    Values<Scalar> weights;  // p, as products read it
  };

  template <class Scalar>
  static Scalar score(const Heads<Scalar>& heads, const Place& at, std::int64_t j) {
    const Scalar product = contraction<Scalar>(
        heads.d, [&](std::int64_t c) { return heads.query[heads.of_query(at, c)]; },
        [&](std::int64_t c) { return heads.key[heads.of_key(at, j, c)]; });
    return heads.layer.internal("scores", product * heads.scale());
  }

  // Behind soft_cap and alibi.
  template <class Scalar>
  static Scalar shaped(const Heads<Scalar>& heads, const Place& at, std::int64_t j, Scalar score) {
    if (heads.has_cap()) score = heads.bent(score) * heads.number("soft_cap", 0);
    if (!heads.layer.settings.flags.contains("alibi")) return score;
    const auto distance = static_cast<Scalar>(std::abs(heads.distance(at, j)));
    return fma(static_cast<Scalar>(slope(at.head, heads.heads)), -distance, score);
  }

  template <class Scalar>
  static Row<Scalar> weights(const Heads<Scalar>& heads, const Place& at) {
    Row<Scalar> row;
    Values<Scalar> z(heads.n), exponentials(heads.n, Scalar(0));
    for (std::int64_t j = 0; j < heads.n; ++j) {
      row.scores.push_back(score(heads, at, j));
      z[j] = heads.keeps(at, j) ? shaped(heads, at, j, row.scores[j])
                                : static_cast<Scalar>(-std::numeric_limits<double>::infinity());
    }
    const Scalar maximum = row_maximum(View<Scalar>(z));
    for (std::int64_t j = 0; j < heads.n; ++j) {
      if (heads.keeps(at, j)) exponentials[j] = exp(z[j] - maximum);
    }
    const Scalar sum = reference::sum(View<Scalar>(exponentials));
    const Scalar reciprocal = plain(sum) == 0 ? Scalar(0) : 1 / sum;
    for (std::int64_t j = 0; j < heads.n; ++j) {
      const Scalar w = exponentials[j] * reciprocal;
      row.shares.push_back(w);
      row.weights.push_back(heads.layer.internal("weights", heads.drop(heads.of_weight(at, j), w)));
    }
    return row;
  }

  // b of D62.
  template <class Scalar>
  static Values<Scalar> score_gradients(const Heads<Scalar>& heads, const Place& at,
                                        const Row<Scalar>& row, View<Scalar> g) {
    Values<Scalar> arriving(heads.n), products(heads.n), result(heads.n);
    for (std::int64_t j = 0; j < heads.n; ++j) {
      const Scalar o = contraction<Scalar>(
          heads.e, [&](std::int64_t c) { return g[heads.of_result(at, c)]; },
          [&](std::int64_t c) { return heads.value[heads.of_value(at, j, c)]; });
      arriving[j] = heads.drop(heads.of_weight(at, j), o);
      products[j] = row.shares[j] * arriving[j];
    }
    const Scalar center = sum(View<Scalar>(products));
    for (std::int64_t j = 0; j < heads.n; ++j) {
      Scalar b = row.shares[j] * (arriving[j] - center);
      if (heads.has_cap()) {
        const Scalar u = heads.bent(row.scores[j]);
        b = b * (1 - u * u);
      }
      result[j] = heads.layer.internal("score_gradients", b * heads.scale());
    }
    return result;
  }
};

}  // namespace halftone::reference
