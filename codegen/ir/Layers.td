// SPDX-License-Identifier: Apache-2.0
// The layers and losses: every kind has one file, with its C++ beside it.
#ifndef HALFTONE_LAYERS_TD
#define HALFTONE_LAYERS_TD

include "layers/Linear.td"
include "layers/Matmul.td"
include "layers/Attention.td"
include "layers/CausalConv1d.td"
include "layers/Convolution.td"
include "layers/LongConvolution.td"
include "layers/TransposedConvolution.td"
include "layers/Pool.td"
include "layers/GlobalAveragePool.td"
include "layers/Upsample.td"
include "layers/Embedding.td"
include "layers/LayerNorm.td"
include "layers/RmsNorm.td"
include "layers/BatchNorm.td"
include "layers/GroupNorm.td"
include "layers/Relu.td"
include "layers/Gelu.td"
include "layers/Silu.td"
include "layers/Dropout.td"
include "layers/Rotary.td"
include "layers/SinusoidalEmbedding.td"
include "layers/PositionEmbedding.td"
include "layers/Add.td"
include "layers/Concat.td"
include "layers/Slice.td"
include "layers/Pointwise.td"
include "layers/Reshape.td"
include "layers/Expand.td"
include "layers/Transpose.td"
include "layers/CrossEntropy.td"
include "layers/Mse.td"
include "layers/Mean.td"

#endif
