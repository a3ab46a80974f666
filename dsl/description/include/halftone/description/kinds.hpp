// SPDX-License-Identifier: Apache-2.0
// The list of all kinds of nodes. Everything that must know how many there are, or which, reads it.
#pragma once

#include "halftone/description/kinds/adaptive_pool.hpp"
#include "halftone/description/kinds/add.hpp"
#include "halftone/description/kinds/attention.hpp"
#include "halftone/description/kinds/batch_norm.hpp"
#include "halftone/description/kinds/causal_conv1d.hpp"
#include "halftone/description/kinds/concat.hpp"
#include "halftone/description/kinds/convolution.hpp"
#include "halftone/description/kinds/cosine_embedding.hpp"
#include "halftone/description/kinds/cross_entropy.hpp"
#include "halftone/description/kinds/dropout.hpp"
#include "halftone/description/kinds/embedding.hpp"
#include "halftone/description/kinds/expand.hpp"
#include "halftone/description/kinds/gelu.hpp"
#include "halftone/description/kinds/global_average_pool.hpp"
#include "halftone/description/kinds/group_norm.hpp"
#include "halftone/description/kinds/input.hpp"
#include "halftone/description/kinds/layer_norm.hpp"
#include "halftone/description/kinds/linear.hpp"
#include "halftone/description/kinds/long_convolution.hpp"
#include "halftone/description/kinds/matmul.hpp"
#include "halftone/description/kinds/mse.hpp"
#include "halftone/description/kinds/pad.hpp"
#include "halftone/description/kinds/parameter.hpp"
#include "halftone/description/kinds/pixel_shuffle.hpp"
#include "halftone/description/kinds/pointwise.hpp"
#include "halftone/description/kinds/pointwise_loss.hpp"
#include "halftone/description/kinds/pool.hpp"
#include "halftone/description/kinds/position_embedding.hpp"
#include "halftone/description/kinds/relu.hpp"
#include "halftone/description/kinds/reshape.hpp"
#include "halftone/description/kinds/rms_norm.hpp"
#include "halftone/description/kinds/rotary.hpp"
#include "halftone/description/kinds/segment_broadcast.hpp"
#include "halftone/description/kinds/segment_reduce.hpp"
#include "halftone/description/kinds/silu.hpp"
#include "halftone/description/kinds/sinusoidal_embedding.hpp"
#include "halftone/description/kinds/slice.hpp"
#include "halftone/description/kinds/soft_cross_entropy.hpp"
#include "halftone/description/kinds/softmax.hpp"
#include "halftone/description/kinds/standardize.hpp"
#include "halftone/description/kinds/state.hpp"
#include "halftone/description/kinds/transpose.hpp"
#include "halftone/description/kinds/transposed_convolution.hpp"
#include "halftone/description/kinds/upsample.hpp"

namespace halftone::description {

template <class... Of>
struct KindList {
  static constexpr int size = sizeof...(Of);
  static constexpr const KindForm* forms[] = {&Of::form...};

  /// Applies the kind's shape rule to a node as shape_rule.hpp describes it.
  template <class Node>
  static constexpr void infer_shape(Kind kind, Node& node) {
    constexpr void (*rules[])(Node&) = {&Of::template infer<Node>...};
    rules[static_cast<unsigned>(kind)](node);
  }

  template <class One>
  static constexpr int index_of() {
    int index = 0;
    (void)((__is_same(One, Of) || (++index, false)) || ...);
    return index;
  }
};

// Sources, layers, losses: in this order sentences list them.
using AllKinds = KindList<
    kinds::Input, kinds::Parameter, kinds::State, kinds::Linear, kinds::Matmul, kinds::Attention,
    kinds::CausalConv1d, kinds::Convolution, kinds::TransposedConvolution, kinds::LongConvolution,
    kinds::Pool, kinds::AdaptivePool, kinds::GlobalAveragePool, kinds::Upsample, kinds::Pad,
    kinds::PixelShuffle, kinds::Embedding, kinds::SegmentReduce, kinds::SegmentBroadcast,
    kinds::LayerNorm, kinds::RmsNorm, kinds::BatchNorm, kinds::GroupNorm, kinds::Standardize,
    kinds::Relu, kinds::Gelu, kinds::Silu, kinds::Softmax, kinds::Dropout, kinds::Rotary,
    kinds::PositionEmbedding, kinds::SinusoidalEmbedding, kinds::Add, kinds::Concat, kinds::Slice,
    kinds::Pointwise, kinds::Reshape, kinds::Expand, kinds::Transpose, kinds::CrossEntropy,
    kinds::SoftCrossEntropy, kinds::Mse, kinds::CosineEmbedding, kinds::PointwiseLoss>;

inline constexpr int kKinds = AllKinds::size;
static_assert(kKinds <= 256, "Kind is one byte");

template <class Of>
inline constexpr Kind kind = static_cast<Kind>(AllKinds::index_of<Of>());

constexpr const KindForm& form_of(Kind kind) {
  return *AllKinds::forms[static_cast<unsigned>(kind)];
}

constexpr bool is_source(Kind kind) { return form_of(kind).category <= Category::kept; }
constexpr bool is_input(Kind kind) { return form_of(kind).category == Category::delivered; }
constexpr bool is_parameter(Kind kind) { return form_of(kind).category == Category::trained; }
constexpr bool is_state(Kind kind) { return form_of(kind).category == Category::kept; }
constexpr bool is_layer(Kind kind) { return form_of(kind).category == Category::layer; }
constexpr bool is_loss(Kind kind) { return form_of(kind).category == Category::loss; }
/// A layer or a loss.
constexpr bool is_computed(Kind kind) { return form_of(kind).category > Category::kept; }

/// The source of a category; there is one of each.
consteval Kind source_of(Category category) {
  int i = 0;
  while (AllKinds::forms[i]->category != category) ++i;
  return static_cast<Kind>(i);
}
inline constexpr Kind kInputKind = source_of(Category::delivered),
                      kParameterKind = source_of(Category::trained),
                      kStateKind = source_of(Category::kept);

/// The kind of that word; compiles for the words of the list alone.
consteval Kind kind_called(const char* word) {
  for (int i = 0; i < kKinds; ++i) {
    const char *left = word, *right = AllKinds::forms[i]->word;
    while (*left != 0 && *left == *right) ++left, ++right;
    if (*left == *right) return static_cast<Kind>(i);
  }
  throw "no kind has this word";
}

/// Any number of kinds.
class KindSet {
 public:
  constexpr KindSet() = default;
  constexpr explicit KindSet(Kind kind) {
    words_[static_cast<unsigned>(kind) / 64] = std::uint64_t{1} << static_cast<unsigned>(kind) % 64;
  }
  template <class Predicate>
  static constexpr KindSet where(Predicate holds) {
    KindSet result;
    for (int i = 0; i < kKinds; ++i) {
      if (holds(static_cast<Kind>(i))) result |= KindSet(static_cast<Kind>(i));
    }
    return result;
  }

  constexpr bool any() const {
    for (const std::uint64_t word : words_) {
      if (word != 0) return true;
    }
    return false;
  }
  constexpr bool has(Kind kind) const { return (*this & KindSet(kind)).any(); }

  constexpr KindSet& operator|=(const KindSet& other) {
    for (int i = 0; i < kWords; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  constexpr KindSet& operator&=(const KindSet& other) {
    for (int i = 0; i < kWords; ++i) words_[i] &= other.words_[i];
    return *this;
  }
  friend constexpr KindSet operator|(KindSet a, const KindSet& b) { return a |= b; }
  friend constexpr KindSet operator&(KindSet a, const KindSet& b) { return a &= b; }
  bool operator==(const KindSet&) const = default;

 private:
  static constexpr int kWords = (kKinds + 63) / 64;
  std::uint64_t words_[kWords]{};
};

}  // namespace halftone::description
