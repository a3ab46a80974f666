// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include "inferred_shape.hpp"

using namespace halftone::tests;

TEST_CASE("shapes follow from the operands' shapes") {
  const Shape rows = {kBatch, kTime}, wide = {kBatch, kTime, fixed(6)};
  struct Case {
    Kind kind;
    std::vector<std::pair<std::string, Shape>> operands;
    Shape expected;
    Attributes attributes{};
  };
  const Kind reshape = kind_called("reshape"), expand = kind_called("expand"),
             transpose = kind_called("transpose"), rotary = kind_called("rotary"),
             slice = kind_called("slice");
  const auto columns = [](std::int64_t begin, std::int64_t end) {
    return LayerAttributes{{{"begin", begin}, {"end", end}}, {}};
  };
  const Shape image = {kBatch, fixed(7), fixed(6), fixed(4)};
  const Kind convolution = kind_called("convolution");
  const Case cases[] = {
      {kind_called("linear"),
       {{"x", wide}, {"weight", {fixed(9), fixed(6)}}},
       {kBatch, kTime, fixed(9)}},
      {kind_called("linear"),
       {{"x", {fixed(6)}}, {"weight", {fixed(9), fixed(6)}}, {"bias", {fixed(9)}}},
       {fixed(9)}},
      {kind_called("matmul"),
       {{"a", wide}, {"b", {kBatch, fixed(6), fixed(4)}}},
       {kBatch, kTime, fixed(4)}},
      {kind_called("matmul"),
       {{"a", {fixed(2), kBatch}}, {"b", {kBatch, kTime}}},
       {fixed(2), kTime}},
      {kind_called("attention"),
       {{"query", wide}, {"key", wide}, {"value", {kBatch, kTime, fixed(4)}}},
       {kBatch, kTime, fixed(4)},
       LayerAttributes{{{"heads", std::int64_t{2}}}, {}}},
      {kind_called("layer_norm"),
       {{"x", wide}, {"weight", {fixed(6)}}, {"bias", {fixed(6)}}},
       wide},
      {kind_called("embedding"),
       {{"token", rows}, {"weight", {fixed(9), fixed(4)}}},
       {kBatch, kTime, fixed(4)}},
      {kind_called("embedding"), {{"token", {}}, {"weight", {fixed(9), fixed(4)}}}, {fixed(4)}},
      {kind_called("rms_norm"), {{"x", wide}, {"weight", {fixed(6)}}}, wide},
      {kind_called("batch_norm"),
       {{"x", wide},
        {"weight", {fixed(6)}},
        {"bias", {fixed(6)}},
        {"mean", {fixed(6)}},
        {"variance", {fixed(6)}}},
       wide},
      {kind_called("global_average_pool"), {{"x", image}}, {kBatch, fixed(4)}},
      {kind_called("group_norm"),
       {{"x", wide}, {"weight", {fixed(6)}}, {"bias", {fixed(6)}}},
       wide,
       LayerAttributes{{{"epsilon", 1e-5}, {"groups", std::int64_t{3}}}, {}}},
      {kind_called("causal_conv1d"), {{"x", wide}, {"weight", {fixed(6), fixed(16)}}}, wide},
      {kind_called("causal_conv1d"),
       {{"x", {kTime, fixed(6)}}, {"weight", {fixed(6), fixed(1)}}, {"bias", {fixed(6)}}},
       {kTime, fixed(6)}},
      {convolution,
       {{"x", image}, {"weight", {fixed(8), fixed(3), fixed(2), fixed(4)}}},
       {kBatch, fixed(5), fixed(5), fixed(8)},
       window_settings({{"kernel", {3, 2}}})},
      {convolution,
       {{"x", image}, {"weight", {fixed(8), fixed(3), fixed(2), fixed(2)}}, {"bias", {fixed(8)}}},
       {kBatch, fixed(4), fixed(3), fixed(8)},
       window_settings({{"kernel", {3, 2}},
                        {"stride", {2, 1}},
                        {"dilation", {1, 4}},
                        {"padding", {1, 0, 1, 1}}},
                       2)},
      {convolution,  // of no image but one, along a symbol that keeps its length
       {{"x", {kTime, fixed(6)}}, {"weight", {fixed(6), fixed(4), fixed(1)}}},
       {kTime, fixed(6)},
       window_settings({{"kernel", {4}}, {"dilation", {2}}, {"padding", {6, 0}}}, 6)},
      {kind_called("transposed_convolution"),
       {{"x", image}, {"weight", {fixed(8), fixed(3), fixed(2), fixed(2)}}, {"bias", {fixed(8)}}},
       {kBatch, fixed(14), fixed(9), fixed(8)},
       window_settings({{"kernel", {3, 2}},
                        {"stride", {2, 1}},
                        {"dilation", {1, 4}},
                        {"padding", {1, 0, 1, 1}}},
                       2, {1, 0})},
      {kind_called("transposed_convolution"),
       {{"x", {kTime, fixed(6)}}, {"weight", {fixed(5), fixed(3), fixed(6)}}},
       {kTime, fixed(5)},
       window_settings({{"kernel", {3}}, {"padding", {1, 1}}})},
      {kind_called("long_convolution"), {{"x", image}, {"filter", {fixed(6), fixed(4)}}}, image},
      {kind_called("long_convolution"),  // of one sequence alone
       {{"x", {fixed(1 << 20), fixed(512)}}, {"filter", {fixed(1 << 20), fixed(512)}}},
       {fixed(1 << 20), fixed(512)}},
      {kind_called("pool"),
       {{"x", image}},
       {kBatch, fixed(4), fixed(5), fixed(4)},
       pool_settings({{"kernel", {3, 2}}, {"stride", {2, 1}}, {"padding", {1, 0, 1, 0}}})},
      {kind_called("pool"),  // along a symbol that keeps its length
       {{"x", {kTime, fixed(6)}}},
       {kTime, fixed(6)},
       pool_settings({{"kernel", {4}}, {"dilation", {2}}, {"padding", {6, 0}}}, "average", true)},
      {kind_called("upsample"),
       {{"x", image}},
       {kBatch, fixed(14), fixed(18), fixed(4)},
       upsample_settings({2, 3})},
      {kind_called("upsample"),
       {{"x", {kTime, kBatch, fixed(6), fixed(1)}}},
       {kTime, kBatch, fixed(48), fixed(1)},
       upsample_settings({8})},
      {kind_called("adaptive_pool"),
       {{"x", image}},
       {kBatch, fixed(3), fixed(9), fixed(4)},
       adaptive_settings({3, 9})},
      {kind_called("adaptive_pool"),
       {{"x", {kTime, kBatch, fixed(64), fixed(4)}}},
       {kTime, kBatch, fixed(1), fixed(4)},
       adaptive_settings({1})},
      {kind_called("pad"),
       {{"x", image}},
       {kBatch, fixed(7 + 6 + 1), fixed(6 - 2), fixed(4)},
       pad_settings({6, -2, 1, 0}, "reflect")},
      {kind_called("pad"),  // a symbol without padding
       {{"x", {kTime, fixed(3), fixed(6)}}},
       {kTime, fixed(9), fixed(6)},
       pad_settings({0, 3, 0, 3}, "circular")},
      {kind_called("pad"),
       {{"x", {fixed(1), fixed(6)}}},
       {fixed(65537), fixed(6)},
       pad_settings({65536, 0}, "constant", 3)},
      {kind_called("pixel_shuffle"),
       {{"x", image}},
       {kBatch, fixed(14), fixed(12), fixed(1)},
       shuffle_settings({2, 2})},
      {kind_called("pixel_shuffle"),
       {{"x", image}},
       {kBatch, fixed(7), fixed(2), fixed(12)},
       shuffle_settings({3}, true)},
      {kind_called("segment_reduce"),
       {{"x", wide}, {"segment", rows}},
       {kBatch, fixed(4), fixed(6)},
       segment_settings(4, "mean")},
      {kind_called("segment_reduce"),
       {{"x", {kTime, fixed(6)}}, {"segment", {kTime}}},
       {fixed(1), fixed(6)},
       segment_settings(1)},
      {kind_called("segment_broadcast"),
       {{"x", {kBatch, fixed(4), fixed(6)}}, {"segment", rows}},
       wide},
      {kind_called("segment_broadcast"),
       {{"x", {fixed(4), fixed(6)}}, {"segment", {kTime}}},
       {kTime, fixed(6)}},
      {kind_called("relu"), {{"x", wide}}, wide},
      {kind_called("gelu"), {{"x", {}}}, {}},
      {kind_called("silu"), {{"x", wide}}, wide},
      {kind_called("softmax"), {{"x", wide}}, wide, standard_attributes(kind_called("softmax"))},
      {kind_called("dropout"), {{"x", {}}}, {}},
      {rotary, {{"x", wide}}, wide, standard_attributes(rotary)},
      {rotary, {{"x", wide}, {"position", rows}}, wide, standard_attributes(rotary)},
      {kind_called("position_embedding"), {{"x", wide}, {"weight", {fixed(9), fixed(6)}}}, wide},
      {kind_called("sinusoidal_embedding"), {{"x", wide}, {"position", rows}}, wide},
      {kind_called("add"), {{"a", wide}, {"b", wide}}, wide},
      {kind_called("concat"),
       {{"part0", wide}, {"part1", {kBatch, kTime, fixed(1)}}, {"part2", wide}},
       {kBatch, kTime, fixed(13)}},
      {slice, {{"x", wide}}, {kBatch, kTime, fixed(3)}, columns(2, 5)},
      {slice, {{"x", {fixed(6)}}}, {fixed(6)}, columns(0, 6)},
      {kind_called("pointwise"), {{"x0", rows}, {"x1", rows}}, rows},
      {reshape,
       {{"x", wide}},
       {fixed(3), kTime, fixed(1), kBatch, fixed(2)},
       set(reshape, Shape{fixed(3), kTime, fixed(1), kBatch, fixed(2)})},
      {reshape, {{"x", {fixed(1), fixed(1)}}}, {}, set(reshape, Shape{})},
      {expand, {{"x", {kBatch, fixed(6)}}}, wide, set(expand, wide)},
      {expand, {{"x", {fixed(6)}}}, wide, set(expand, wide)},
      {expand, {{"x", wide}}, wide, set(expand, wide)},
      {transpose,
       {{"x", wide}},
       {fixed(6), kBatch, kTime},
       set(transpose, std::vector<std::int64_t>{2, 0, 1})},
      {kind_called("cross_entropy"), {{"logits", wide}, {"label", rows}}, {}},
      {kind_called("soft_cross_entropy"), {{"logits", wide}, {"target", wide}}, {}},
      {kind_called("mse"), {{"x", wide}, {"target", wide}}, {}},
      {kind_called("cosine_embedding"),
       {{"x", wide}, {"y", wide}, {"target", rows}},
       {},
       standard_attributes(kind_called("cosine_embedding"))},
      {kind_called("standardize"),
       {{"x", wide}, {"mean", {fixed(6)}}, {"deviation", {fixed(6)}}},
       wide},
      {kind_called("pointwise_loss"), {{"x0", wide}}, {}},
  };
  std::set<Kind> tried;
  for (const Case& c : cases) {
    tried.insert(c.kind);
    CAPTURE(form_of(c.kind).word);
    const auto shape = inferred(c.kind, c.operands, c.attributes);
    REQUIRE(shape);
    CHECK(*shape == c.expected);
  }
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    CAPTURE(form_of(kind).word);
    CHECK(tried.contains(kind) == is_computed(kind));
  }
}

TEST_CASE("sources and operands that do not fit have no inferred shape") {
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    if (is_source(kind)) CHECK(!inferred(kind, {}));
  }
  CHECK(!inferred(kind_called("relu"), {}));
  CHECK(!inferred(kind_called("add"), {{"a", {fixed(3)}}, {"b", {fixed(4)}}}));
  CHECK(!inferred(kind_called("add"), {{"b", {fixed(3)}}, {"a", {fixed(3)}}}));
  CHECK(!inferred(kind_called("batch_norm"), {{"x", {fixed(9), fixed(6)}},
                                              {"weight", {fixed(6)}},
                                              {"bias", {fixed(6)}},
                                              {"mean", {fixed(6)}},
                                              {"variance", {fixed(5)}}}));
  CHECK(!inferred(kind_called("batch_norm"), {{"x", {fixed(6)}},
                                              {"weight", {fixed(6)}},
                                              {"bias", {fixed(6)}},
                                              {"mean", {fixed(6)}},
                                              {"variance", {fixed(6)}}}));
  CHECK(!inferred(kind_called("rms_norm"), {{"x", {}}, {"weight", {fixed(1)}}}));
  CHECK(!inferred(kind_called("rms_norm"), {{"x", {fixed(3)}}, {"weight", {fixed(4)}}}));
  const Shape sequence = {kTime, fixed(6)};
  for (const Shape& weight :
       {Shape{fixed(6), fixed(17)}, {fixed(6), fixed(0)}, {fixed(5), fixed(4)}, {fixed(6)}}) {
    CHECK(!inferred(kind_called("causal_conv1d"), {{"x", sequence}, {"weight", weight}}));
  }
  CHECK(!inferred(kind_called("causal_conv1d"),
                  {{"x", {fixed(6)}}, {"weight", {fixed(6), fixed(4)}}}));
  CHECK(!inferred(
      kind_called("causal_conv1d"),
      {{"x", sequence}, {"weight", {fixed(6), fixed(4)}}, {"bias", {fixed(6), fixed(4)}}}));
  CHECK(!inferred(kind_called("cross_entropy"), {{"logits", {}}, {"label", {}}}));
  const Shape matrix = {fixed(2), fixed(2)}, batched = {kBatch, fixed(2), fixed(2)};
  CHECK(!inferred(kind_called("matmul"), {{"a", {fixed(2)}}, {"b", matrix}}));
  CHECK(!inferred(kind_called("matmul"), {{"a", matrix}, {"b", {fixed(2)}}}));
  CHECK(!inferred(kind_called("matmul"), {{"a", batched}, {"b", matrix}}));
  CHECK(!inferred(kind_called("matmul"), {{"a", batched}, {"b", {kTime, fixed(2), fixed(2)}}}));
  CHECK(!inferred(kind_called("embedding"), {{"token", {}}, {"weight", {fixed(9)}}}));
  const Kind long_convolution = kind_called("long_convolution");
  const Shape too_long = {fixed((1 << 20) + 1), fixed(1)}, too_large = {fixed(1 << 20), fixed(513)};
  CHECK(!inferred(long_convolution, {{"x", {fixed(2)}}, {"filter", matrix}}));
  CHECK(!inferred(long_convolution, {{"x", sequence}, {"filter", sequence}}));
  CHECK(!inferred(long_convolution, {{"x", batched}, {"filter", batched}}));
  CHECK(!inferred(long_convolution, {{"x", batched}, {"filter", {fixed(3), fixed(2)}}}));
  CHECK(!inferred(long_convolution, {{"x", batched}, {"filter", {fixed(2), fixed(3)}}}));
  CHECK(!inferred(long_convolution, {{"x", too_long}, {"filter", too_long}}));
  CHECK(!inferred(long_convolution, {{"x", too_large}, {"filter", too_large}}));
  // An activation may take a weight's place in the text form, but not where its size has to be
  // known.
  CHECK(!inferred(kind_called("embedding"), {{"token", {}}, {"weight", {kBatch, fixed(4)}}}));
  CHECK(!inferred(kind_called("embedding"),
                  {{"token", {}}, {"weight", {fixed(std::int64_t{1} << 31), fixed(4)}}}));
  CHECK(!inferred(kind_called("embedding"), {{"token", {}}, {"weight", {fixed(9), kTime}}}));
  CHECK(!inferred(kind_called("causal_conv1d"),
                  {{"x", {kBatch, kTime, fixed(6)}}, {"weight", {fixed(6), kTime}}}));
  Node node;
  node.kind = kind_called("relu");
  node.operands = {{"x", 3}};
  CHECK(!infer_shape(Description{}, node));
}

TEST_CASE("a matmul sums over the dimension that its settings say") {
  struct Case {
    bool transpose_a, transpose_b;
    std::int64_t rows_a, columns_a, rows_b, columns_b;
  };
  // Each is [2, 3] by [3, 5] where nothing is transposed.
  const Case cases[] = {
      {false, false, 2, 3, 3, 5},
      {false, true, 2, 3, 5, 3},
      {true, false, 3, 2, 3, 5},
      {true, true, 3, 2, 5, 3},
  };
  for (const Case& given : cases) {
    for (const Case& stated : cases) {
      CAPTURE(given.transpose_a);
      CAPTURE(given.transpose_b);
      CAPTURE(stated.transpose_a);
      CAPTURE(stated.transpose_b);
      Builder b;
      Node node;
      node.kind = kind_called("matmul");
      const Shape left = {kBatch, fixed(given.rows_a), fixed(given.columns_a)};
      const Shape right = {kBatch, fixed(given.rows_b), fixed(given.columns_b)};
      node.operands = {{"a", b.input("a", left)}, {"b", b.input("b", right)}};
      LayerAttributes attributes = standard_attributes(node.kind);
      attributes.settings[0].value = stated.transpose_a;
      attributes.settings[1].value = stated.transpose_b;
      node.attributes = attributes;
      const auto shape = infer_shape(b.description, node);
      CHECK(shape.has_value() == (&given == &stated));
      if (shape) CHECK(*shape == Shape{kBatch, fixed(2), fixed(5)});
    }
  }
}

TEST_CASE("reshape keeps the number of elements whatever symbols are bound to") {
  const Kind kind = kind_called("reshape");
  const Shape x = {kBatch, kTime, fixed(6)};
  const std::int64_t half = std::int64_t{1} << 62;
  for (const Shape& shape :
       {Shape{kBatch, fixed(6)}, Shape{kBatch, kBatch, fixed(6)}, Shape{kBatch, kTime, fixed(5)},
        Shape{kBatch, kTime, kTime, fixed(6)}, Shape{kBatch, kTime}, Shape{},
        Shape{kBatch, kTime, fixed(-6), fixed(-1)}, Shape{kBatch, kTime, fixed(6), fixed(0)},
        Shape{kBatch, kTime, fixed(half), fixed(4), fixed(6)}}) {
    CHECK(!inferred(kind, {{"x", x}}, set(kind, shape)));
  }
  const Shape wide = {fixed(half), fixed(4)};
  CHECK(!inferred(kind, {{"x", wide}}, set(kind, wide)));
  CHECK(!inferred(kind, {{"x", x}}));
}

TEST_CASE("the axes of a transpose are a permutation") {
  const Kind kind = kind_called("transpose");
  using Axes = std::vector<std::int64_t>;
  for (const Axes& axes :
       {Axes{0, 1}, Axes{0, 1, 2, 3}, Axes{0, 1, 1}, Axes{0, 1, 3}, Axes{-1, 0, 1}, Axes{}}) {
    CHECK(!inferred(kind, {{"x", {kBatch, kTime, fixed(6)}}}, set(kind, axes)));
  }
  CHECK(!inferred(kind, {{"x", {kBatch}}}));
}
