// SPDX-License-Identifier: Apache-2.0
// The list of layers and losses: nothing else of the reference names one.
#pragma once

#include <string_view>

#include "layers/adaptive_pool.hpp"
#include "layers/add.hpp"
#include "layers/attention.hpp"
#include "layers/batch_norm.hpp"
#include "layers/causal_conv1d.hpp"
#include "layers/concat.hpp"
#include "layers/convolution.hpp"
#include "layers/cosine_embedding.hpp"
#include "layers/cross_entropy.hpp"
#include "layers/dropout.hpp"
#include "layers/embedding.hpp"
#include "layers/expand.hpp"
#include "layers/gelu.hpp"
#include "layers/global_average_pool.hpp"
#include "layers/group_norm.hpp"
#include "layers/layer_norm.hpp"
#include "layers/linear.hpp"
#include "layers/long_convolution.hpp"
#include "layers/matmul.hpp"
#include "layers/mse.hpp"
#include "layers/pad.hpp"
#include "layers/pixel_shuffle.hpp"
#include "layers/pointwise.hpp"
#include "layers/pointwise_loss.hpp"
#include "layers/pool.hpp"
#include "layers/position_embedding.hpp"
#include "layers/relu.hpp"
#include "layers/reshape.hpp"
#include "layers/rms_norm.hpp"
#include "layers/rotary.hpp"
#include "layers/segment_broadcast.hpp"
#include "layers/segment_reduce.hpp"
#include "layers/silu.hpp"
#include "layers/sinusoidal_embedding.hpp"
#include "layers/slice.hpp"
#include "layers/soft_cross_entropy.hpp"
#include "layers/softmax.hpp"
#include "layers/standardize.hpp"
#include "layers/transpose.hpp"
#include "layers/transposed_convolution.hpp"
#include "layers/upsample.hpp"

namespace halftone::reference {

template <class... Kinds>
struct KindList {
  /// Calls visit with the kind of this word; false when the list has none.
  template <class Visit>
  static bool visit(std::string_view word, Visit visit) {
    return ((Kinds::word == word && (visit(Kinds{}), true)) || ...);
  }
};

using Layers =
    KindList<Linear, LayerNorm, Relu, Gelu, Silu, Softmax, Add, Concat, Slice, Pointwise, RmsNorm,
             BatchNorm, GroupNorm, Embedding, SegmentReduce, SegmentBroadcast, Dropout, Rotary,
             PositionEmbedding, SinusoidalEmbedding, Reshape, Expand, Transpose, Matmul, Attention,
             CausalConv1d, Convolution, TransposedConvolution, LongConvolution, Pool, AdaptivePool,
             GlobalAveragePool, Upsample, Pad, PixelShuffle, CrossEntropy, SoftCrossEntropy, Mse,
             CosineEmbedding, PointwiseLoss, Standardize>;

}  // namespace halftone::reference
