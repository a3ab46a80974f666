// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>
#include <set>

#include "builder.hpp"
#include "halftone/description/validate.hpp"

using namespace halftone::tests;

namespace {

const Dimension kBatch = symbol("batch"), kTime = symbol("time");

/// The shape of a node of `kind` whose operands have these roles and shapes.
std::optional<Shape> inferred(Kind kind, const std::vector<std::pair<std::string, Shape>>& operands,
                              Attributes attributes = {}) {
  Builder b;
  Node node;
  node.kind = kind;
  node.attributes = std::move(attributes);
  for (const auto& [role, shape] : operands) node.operands.push_back({role, b.input(role, shape)});
  return infer_shape(b.description, node);
}

using Lists = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

/// Settings of windows; groups are stated where they are more than one, output_padding where it is
/// not empty.
LayerAttributes window_settings(const Lists& lists, std::int64_t groups = 1,
                                std::vector<std::int64_t> output_padding = {}) {
  LayerAttributes attributes;
  for (const auto& [name, numbers] : lists) attributes.settings.push_back({name, numbers});
  if (groups != 1) attributes.settings.push_back({"groups", groups});
  if (!output_padding.empty())
    attributes.settings.push_back({"output_padding", std::move(output_padding)});
  return attributes;
}

/// Settings of a pool.
LayerAttributes pool_settings(const Lists& lists, const std::string& function = "max",
                              bool count_include_pad = false) {
  LayerAttributes attributes = window_settings(lists);
  attributes.settings.push_back({"function", function});
  if (count_include_pad) attributes.settings.push_back({"count_include_pad", true});
  return attributes;
}

LayerAttributes upsample_settings(std::vector<std::int64_t> factor) {
  return {{{"factor", std::move(factor)}, {"mode", "linear"}}, {}};
}

LayerAttributes adaptive_settings(std::vector<std::int64_t> size) {
  return {{{"size", std::move(size)}, {"function", "average"}}, {}};
}

LayerAttributes pad_settings(std::vector<std::int64_t> padding, const std::string& mode,
                             std::optional<double> value = {}) {
  LayerAttributes attributes{{{"padding", std::move(padding)}, {"mode", mode}}, {}};
  if (value) attributes.settings.push_back({"pad_value", *value});
  return attributes;
}

LayerAttributes shuffle_settings(std::vector<std::int64_t> factor, bool inverse = false) {
  LayerAttributes attributes{{{"factor", std::move(factor)}}, {}};
  if (inverse) attributes.settings.push_back({"inverse", true});
  return attributes;
}

LayerAttributes segment_settings(std::int64_t segments, const std::string& function = "sum") {
  return {{{"segments", segments}, {"function", function}}, {}};
}

}  // namespace

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

TEST_CASE("windows fit what they slide over") {
  const Shape image = {kBatch, fixed(7), fixed(6), fixed(4)};
  const Shape weight = {fixed(8), fixed(3), fixed(3), fixed(4)};
  const Kind convolution = kind_called("convolution");
  const auto gives = [&](const Shape& x, const Shape& w, LayerAttributes attributes) {
    return inferred(convolution, {{"x", x}, {"weight", w}}, std::move(attributes)).has_value();
  };
  const LayerAttributes plain = window_settings({{"kernel", {3, 3}}});
  CHECK(gives(image, weight, plain));
  CHECK(!gives({fixed(7), fixed(4)}, weight, plain));
  CHECK(!gives({kBatch, kTime, fixed(6), fixed(4)}, weight, plain));
  CHECK(!gives({kBatch, fixed(7), fixed(6), kTime}, weight, plain));
  CHECK(!gives({kBatch, fixed(2), fixed(6), fixed(4)}, weight, plain));
  CHECK(!gives(image, {fixed(8), fixed(3), fixed(2), fixed(4)}, plain));
  CHECK(!gives(image, {fixed(8), fixed(3), fixed(3), fixed(3)}, plain));
  CHECK(!gives(image, weight, window_settings({{"kernel", {}}})));
  CHECK(!gives(image, weight, window_settings({{"kernel", {3, 3, 3, 3}}})));
  CHECK(!gives(image, weight, window_settings({{"kernel", {3, 3}}, {"stride", {1}}})));
  CHECK(!gives(image, weight, window_settings({{"kernel", {3, 3}}, {"dilation", {}}})));
  CHECK(!gives(image, weight, window_settings({{"kernel", {3, 3}}, {"padding", {1, 1}}})));
  CHECK(!gives(image, {fixed(8), fixed(3), fixed(3), fixed(1)},
               window_settings({{"kernel", {3, 3}}}, 3)));
  CHECK(!gives(image, {fixed(6), fixed(3), fixed(3), fixed(1)},
               window_settings({{"kernel", {3, 3}}}, 4)));
  CHECK(!inferred(convolution, {{"x", image}, {"weight", weight}, {"bias", {fixed(4)}}}, plain));
  const auto goes_back = [&](LayerAttributes attributes) {
    return inferred(kind_called("transposed_convolution"), {{"x", image}, {"weight", weight}},
                    std::move(attributes))
        .has_value();
  };
  CHECK(goes_back(plain));
  CHECK(!goes_back(window_settings({{"kernel", {3, 3}}}, 1, {1, 0})));
  CHECK(!goes_back(window_settings({{"kernel", {3, 3}}, {"stride", {2, 2}}}, 1, {1})));
  CHECK(!goes_back(window_settings({{"kernel", {3, 3}}, {"padding", {5, 0, 4, 0}}})));
  CHECK(!goes_back(window_settings({{"kernel", {3, 2}}})));
  const Shape video = {kBatch, kTime, fixed(6), fixed(4)};
  CHECK(gives(video, weight, window_settings({{"kernel", {3, 3}}, {"padding", {1, 0, 1, 0}}})));
  CHECK(
      !gives(video, weight,
             window_settings({{"kernel", {3, 3}}, {"stride", {2, 1}}, {"padding", {1, 0, 1, 0}}})));
}

namespace {

/// What D77 and D79 count over n places, floor and all.
struct Counted {
  std::int64_t kernel, stride, dilation, padding;

  [[nodiscard]] std::int64_t reach() const { return dilation * (kernel - 1) + 1; }
  [[nodiscard]] std::int64_t windows(std::int64_t n) const {
    const std::int64_t rest = n + padding - reach();
    return rest < 0 ? 0 : rest / stride + 1;
  }
  [[nodiscard]] std::int64_t places(std::int64_t n, std::int64_t more) const {
    return (n - 1) * stride + reach() + more - padding;
  }
};

/// factor * count(side) at sides that tell all lines through small numbers apart.
template <class Count>
bool is_multiple(const Count& count, std::int64_t factor) {
  for (const std::int64_t side : {1, 2, 3, 5, 8, 13})
    if (count(side) != factor * side) return false;
  return true;
}

}  // namespace

TEST_CASE("D113, D114: symbols go through windows where their number is one of it at every size") {
  const auto of = [](std::int64_t factor) { return Dimension{0, "side", factor}; };
  int taken = 0;
  for (std::int64_t kernel : {1, 2, 3, 4})
    for (std::int64_t stride : {1, 2, 3})
      for (std::int64_t dilation : {1, 2})
        for (std::int64_t padding = 0; padding <= 4; ++padding)
          for (std::int64_t factor : {1, 2, 3, 4, 6}) {
            const Counted counted{kernel, stride, dilation, padding};
            CAPTURE(kernel);
            CAPTURE(stride);
            CAPTURE(dilation);
            CAPTURE(padding);
            CAPTURE(factor);
            const Lists lists = {{"kernel", {kernel}},
                                 {"stride", {stride}},
                                 {"dilation", {dilation}},
                                 {"padding", {padding / 2, padding - padding / 2}}};
            const Shape x = {kBatch, of(factor), fixed(4)},
                        weight = {fixed(5), fixed(kernel), fixed(4)};
            const auto windows = inferred(kind_called("convolution"),
                                          {{"x", x}, {"weight", weight}}, window_settings(lists));
            const bool is_part =
                factor % stride == 0 &&
                is_multiple([&](std::int64_t side) { return counted.windows(factor * side); },
                            factor / stride);
            CHECK(windows.has_value() == is_part);
            if (windows) CHECK(*windows == Shape{kBatch, of(factor / stride), fixed(5)});
            taken += windows.has_value() ? 1 : 0;
            for (std::int64_t more = 0; more < stride; ++more) {
              const auto places =
                  inferred(kind_called("transposed_convolution"), {{"x", x}, {"weight", weight}},
                           window_settings(lists, 1, {more}));
              const bool is_whole = is_multiple(
                  [&](std::int64_t side) { return counted.places(factor * side, more); },
                  factor * stride);
              CHECK(places.has_value() == is_whole);
              if (places) CHECK(*places == Shape{kBatch, of(factor * stride), fixed(5)});
              taken += places.has_value() ? 1 : 0;
            }
          }
  CHECK(taken > 100);
}

TEST_CASE("D115: what stretches and what makes channels of places multiplies and divides factors") {
  const auto of = [](std::int64_t factor) { return Dimension{0, "side", factor}; };
  const auto up = [&](std::int64_t from, std::int64_t factor) {
    return inferred(kind_called("upsample"), {{"x", {of(from), fixed(4)}}},
                    upsample_settings({factor}));
  };
  CHECK(up(3, 2) == Shape{of(6), fixed(4)});
  CHECK(up(8192, 8) == Shape{of(65536), fixed(4)});
  CHECK(!up(8193, 8));
  const auto shuffles = [&](std::int64_t from, std::int64_t factor, bool inverse) {
    return inferred(kind_called("pixel_shuffle"), {{"x", {of(from), fixed(4)}}},
                    shuffle_settings({factor}, inverse));
  };
  CHECK(shuffles(3, 2, false) == Shape{of(6), fixed(2)});
  CHECK(shuffles(6, 3, true) == Shape{of(2), fixed(12)});
  CHECK(!shuffles(6, 4, true));
  const auto reshapes = [&](Shape from, const Shape& to) {
    return inferred(kind_called("reshape"), {{"x", std::move(from)}},
                    LayerAttributes{{{"shape", to}}, {}})
        .has_value();
  };
  CHECK(reshapes({kBatch, of(4), of(6), fixed(5)}, {kBatch, of(1), of(8), fixed(15)}));
  CHECK(!reshapes({kBatch, of(4), of(6), fixed(5)}, {kBatch, of(2), of(6), fixed(5)}));
  CHECK(!reshapes({kBatch, of(4), of(6), fixed(5)}, {kBatch, of(24), fixed(5)}));
  CHECK(!reshapes({kBatch, of(4), fixed(5)}, {kBatch, Dimension{0, "time", 4}, fixed(5)}));
}

TEST_CASE("pools have windows of few elements that reach x, and upsampling numbers to multiply") {
  const Shape image = {kBatch, fixed(17), fixed(17), fixed(4)};
  const auto pools = [&](LayerAttributes attributes) {
    return inferred(kind_called("pool"), {{"x", image}}, std::move(attributes)).has_value();
  };
  CHECK(pools(pool_settings({{"kernel", {16, 16}}})));
  CHECK(!pools(pool_settings({{"kernel", {16, 17}}})));
  CHECK(!pools(pool_settings({{"kernel", {3}}, {"stride", {1, 1}}})));
  CHECK(pools(pool_settings({{"kernel", {3, 3}}, {"padding", {2, 0, 0, 2}}})));
  CHECK(!pools(pool_settings({{"kernel", {3, 3}}, {"padding", {3, 0, 0, 0}}})));
  CHECK(!pools(pool_settings({{"kernel", {3, 3}}, {"padding", {0, 0, 0, 3}}})));
  CHECK(
      pools(pool_settings({{"kernel", {3, 3}}, {"dilation", {1, 2}}, {"padding", {0, 0, 0, 4}}})));
  CHECK(pools(pool_settings({{"kernel", {3, 3}}}, "average", true)));
  CHECK(!pools(pool_settings({{"kernel", {3, 3}}}, "max", true)));
  const auto grows = [](const Shape& x, std::vector<std::int64_t> factor) {
    return inferred(kind_called("upsample"), {{"x", x}}, upsample_settings(std::move(factor)))
        .has_value();
  };
  CHECK(grows(image, {8, 8}));
  CHECK(!grows({kBatch, fixed(2), fixed(2), fixed(2), fixed(2)}, {4, 4, 5}));
  CHECK(!grows(image, {}));
  CHECK(!grows({fixed(2), fixed(2), fixed(2), fixed(2), fixed(2)}, {1, 1, 1, 1}));
  CHECK(!grows({fixed(9), fixed(9), fixed(4)}, {1, 1, 1}));
  CHECK(grows({kBatch, kTime, fixed(9), fixed(4)}, {2, 2}));
  CHECK(!grows({kBatch, fixed(9), fixed(9), kTime}, {2, 2}));
}

TEST_CASE("windows that share an image have few elements, and elements few windows") {
  const auto shares = [](const Shape& x, std::vector<std::int64_t> size) {
    return inferred(kind_called("adaptive_pool"), {{"x", x}}, adaptive_settings(std::move(size)))
        .has_value();
  };
  const Shape image = {kBatch, fixed(8), fixed(9), fixed(4)};
  CHECK(shares(image, {1, 2}));                                      // 8 * 5
  CHECK(!shares(image, {1, 1}));                                     // 8 * 9
  CHECK(shares({kBatch, fixed(21), fixed(20), fixed(1)}, {3, 3}));   // 7 * 8
  CHECK(!shares({kBatch, fixed(25), fixed(20), fixed(1)}, {3, 3}));  // 9 * 8
  CHECK(shares({kBatch, fixed(1), fixed(1), fixed(1)}, {8, 8}));
  CHECK(!shares({kBatch, fixed(1), fixed(1), fixed(1)}, {8, 9}));
  CHECK(!shares(image, {}));
  CHECK(!shares({fixed(2), fixed(2), fixed(2), fixed(2), fixed(2)}, {1, 1, 1, 1}));
  CHECK(!shares({fixed(9), fixed(9), fixed(4)}, {9, 9, 9}));
  CHECK(!shares({kBatch, kTime, fixed(4)}, {2}));
  CHECK(!shares({kBatch, fixed(8), kTime}, {2}));
}

TEST_CASE("padding repeats elements that there are, and leaves some") {
  const auto pads = [](const Shape& x, LayerAttributes attributes) {
    return inferred(kind_called("pad"), {{"x", x}}, std::move(attributes)).has_value();
  };
  const Shape line = {kBatch, fixed(5), fixed(4)};
  CHECK(pads(line, pad_settings({4, 4}, "reflect")));
  CHECK(!pads(line, pad_settings({5, 0}, "reflect")));
  CHECK(!pads(line, pad_settings({0, 5}, "reflect")));
  CHECK(pads(line, pad_settings({5, 5}, "circular")));
  CHECK(!pads(line, pad_settings({6, -3}, "circular")));
  CHECK(pads(line, pad_settings({32, 32}, "replicate")));
  CHECK(!pads(line, pad_settings({0, 33}, "replicate")));
  CHECK(pads(line, pad_settings({-2, -2}, "constant")));
  CHECK(!pads(line, pad_settings({-2, -3}, "constant")));
  CHECK(!pads(line, pad_settings({1, 1}, "reflect", 0)));
  CHECK(!pads(line, pad_settings({}, "constant")));
  CHECK(!pads(line, pad_settings({1}, "constant")));
  CHECK(!pads(line, pad_settings({1, 1, 1, 1, 1, 1}, "constant")));
  CHECK(!pads({fixed(2), fixed(2), fixed(2), fixed(2), fixed(2)},
              pad_settings({0, 0, 0, 0, 0, 0, 0, 0}, "constant")));
  CHECK(!pads({kBatch, kTime, fixed(4)}, pad_settings({1, -1}, "constant")));
  CHECK(!pads({kBatch, fixed(5), kTime}, pad_settings({1, -1}, "constant")));
}

TEST_CASE("places and channels become each other in whole blocks") {
  const auto shuffles = [](const Shape& x, LayerAttributes attributes) {
    return inferred(kind_called("pixel_shuffle"), {{"x", x}}, std::move(attributes)).has_value();
  };
  const Shape image = {kBatch, fixed(6), fixed(4), fixed(8)};
  CHECK(shuffles(image, shuffle_settings({2, 2})));
  CHECK(!shuffles(image, shuffle_settings({3, 2})));
  CHECK(shuffles(image, shuffle_settings({3, 2}, true)));
  CHECK(!shuffles(image, shuffle_settings({4, 2}, true)));
  CHECK(!shuffles(image, shuffle_settings({})));
  CHECK(!shuffles({fixed(8)}, shuffle_settings({2})));
  CHECK(shuffles({kBatch, kTime, fixed(8)}, shuffle_settings({2})));
  CHECK(!shuffles({kBatch, kTime, fixed(8)}, shuffle_settings({2}, true)));
  CHECK(!shuffles({kBatch, fixed(8), kTime}, shuffle_settings({2})));
}

TEST_CASE("segments are those of a sequence, and numbers those of its times") {
  const Shape rows = {kBatch, kTime}, wide = {kBatch, kTime, fixed(6)};
  const auto sums = [](const Shape& x, const Shape& segment) {
    return inferred(kind_called("segment_reduce"), {{"x", x}, {"segment", segment}},
                    segment_settings(4))
        .has_value();
  };
  CHECK(sums(wide, rows));
  CHECK(!sums(wide, {kBatch}));
  CHECK(!sums(wide, {kBatch, fixed(6)}));
  CHECK(!sums({fixed(6)}, {}));
  CHECK(!sums({kBatch, kTime}, {kBatch}));
  const auto spreads = [](const Shape& x, const Shape& segment) {
    return inferred(kind_called("segment_broadcast"), {{"x", x}, {"segment", segment}}).has_value();
  };
  CHECK(spreads({kBatch, fixed(4), fixed(6)}, rows));
  CHECK(!spreads({kBatch, fixed(4), fixed(6)}, {kTime}));
  CHECK(!spreads({kBatch, fixed(4), fixed(6)}, {kTime, kTime}));
  CHECK(!spreads(wide, rows));
  CHECK(!spreads({kBatch, fixed(4), kTime}, rows));
  CHECK(!spreads({fixed(6)}, {}));
}

TEST_CASE("positions fit the times of what they turn or are added to") {
  const Shape wide = {kBatch, kTime, fixed(6)};
  for (const Kind kind : {kind_called("rotary"), kind_called("sinusoidal_embedding")}) {
    CAPTURE(std::string(form_of(kind).word));
    const auto turned = [&](std::vector<std::pair<std::string, Shape>> operands) {
      return inferred(kind, operands, standard_attributes(kind));
    };
    CHECK(turned({{"x", wide}}));
    CHECK(!turned({{"x", {fixed(6)}}}));
    CHECK(!turned({{"x", {kTime, fixed(5)}}}));
    CHECK(!turned({{"x", {fixed(6), kTime}}}));
    CHECK(!turned({{"x", wide}, {"position", {kTime}}}));
  }
  const auto embedded = [](const Shape& x, const Shape& weight) {
    return inferred(kind_called("position_embedding"), {{"x", x}, {"weight", weight}});
  };
  CHECK(embedded({fixed(9), fixed(6)}, {fixed(9), fixed(6)}));
  CHECK(!embedded({fixed(10), fixed(6)}, {fixed(9), fixed(6)}));
  CHECK(!embedded({fixed(6)}, {fixed(9), fixed(6)}));
  CHECK(!embedded(wide, {fixed(9), fixed(5)}));
  CHECK(!embedded(wide, {kTime, fixed(6)}));
  CHECK(!embedded(wide, {fixed(std::int64_t{1} << 31), fixed(6)}));
  CHECK(!embedded(wide, {fixed(6)}));
}

TEST_CASE("rotary turns an even number of a head's elements, and scales as Llama 3 or not") {
  struct Case {
    std::int64_t heads, rotated;
    std::vector<Setting> more;
    bool fits;
  };
  const Setting low = {"low_factor", 1.0}, high = {"high_factor", 4.0},
                length = {"original_length", 64.0};
  const Case cases[] = {{3, 4, {}, true},
                        {5, 2, {}, false},
                        {3, 3, {}, false},
                        {3, 6, {}, false},
                        {3, 2, {low, high, length}, true},
                        {3, 2, {low, high}, false},
                        {3, 2, {length}, false},
                        {3, 2, {{"low_factor", 4.0}, high, length}, false}};
  for (const Case& c : cases) {
    CAPTURE(c.heads);
    CAPTURE(c.rotated);
    LayerAttributes attributes = standard_attributes(kind_called("rotary"));
    attributes.settings[0].value = c.heads;
    attributes.settings.push_back({"rotated", c.rotated});
    attributes.settings.insert(attributes.settings.end(), c.more.begin(), c.more.end());
    const auto shape =
        inferred(kind_called("rotary"), {{"x", {kTime, fixed(12)}}}, std::move(attributes));
    CHECK(shape.has_value() == c.fits);
  }
}

TEST_CASE("an attention's heads cut its columns, and its masks have the shapes of what they mask") {
  const Kind attention = kind_called("attention");
  const auto with_heads = [&](std::int64_t heads, std::int64_t key_heads) {
    LayerAttributes attributes = standard_attributes(attention);
    attributes.settings[0].value = heads;
    if (key_heads > 0) attributes.settings.push_back({"key_heads", key_heads});
    return attributes;
  };
  const Shape query = {kBatch, kTime, fixed(12)}, key = {kBatch, fixed(7), fixed(6)};
  const Shape value = {kBatch, fixed(7), fixed(10)}, rows = {kBatch, kTime};
  const auto shape = [&](std::int64_t heads, std::int64_t key_heads, const Shape& k, const Shape& v,
                         std::vector<std::pair<std::string, Shape>> masks = {}) {
    std::vector<std::pair<std::string, Shape>> operands = {
        {"query", query}, {"key", k}, {"value", v}};
    operands.insert(operands.end(), masks.begin(), masks.end());
    return inferred(attention, operands, with_heads(heads, key_heads));
  };
  CHECK(shape(4, 2, key, value) == Shape{kBatch, kTime, fixed(20)});
  CHECK(shape(4, 2, key, value, {{"length", {kBatch}}, {"key_mask", {kBatch, fixed(7)}}}));
  CHECK(shape(4, 2, key, value, {{"key_mask", {kBatch, fixed(7)}}}));
  CHECK(shape(3, 0, query, query, {{"segment", rows}}) == query);
  CHECK(!shape(4, 2, key, value, {{"key_mask", {kBatch, fixed(7)}}, {"length", {kBatch}}}));
  CHECK(!shape(4, 2, key, value, {{"length", {}}}));
  CHECK(!shape(4, 2, key, value, {{"key_mask", rows}}));
  CHECK(!shape(4, 2, key, value, {{"segment", rows}}));
  CHECK(!shape(4, 0, key, value));
  CHECK(!shape(3, 2, key, value));
  CHECK(!shape(5, 5, query, query));
  CHECK(!shape(0, 0, key, value));
  CHECK(!shape(4, 2, key, {kBatch, fixed(8), fixed(10)}));
  CHECK(!shape(4, 2, {fixed(7), fixed(6)}, {fixed(7), fixed(10)}));
  CHECK(!shape(4, 2, {kBatch, fixed(7), kTime}, value));
  CHECK(!inferred(attention, {{"query", {fixed(4)}}, {"key", {fixed(4)}}, {"value", {fixed(4)}}},
                  with_heads(1, 0)));
  CHECK(!inferred(attention, {{"query", query}, {"key", query}, {"value", query}}));
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

TEST_CASE("a concat wider than 64 bits can count has no inferred shape") {
  const Shape half = {fixed(std::numeric_limits<std::int64_t>::max() / 2 + 1)};
  CHECK(inferred(kind_called("concat"), {{"part0", half}}) == half);
  CHECK(!inferred(kind_called("concat"), {{"part0", half}, {"part1", half}}));
}
