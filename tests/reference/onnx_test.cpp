// SPDX-License-Identifier: Apache-2.0
// The ONNX project's own test vectors, those of Debian's libonnx-testdata or of PyPI's onnx: every
// node model whose operator the language has.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onnx_attention.hpp"
#include "onnx_elementwise.hpp"
#include "onnx_losses.hpp"
#include "onnx_norms.hpp"
#include "onnx_optimizers.hpp"
#include "onnx_reductions.hpp"
#include "onnx_resampling.hpp"

using namespace halftone::reference::tests;

namespace {

using RunVector = std::function<std::string(const onnx::Vector&)>;

/// All operators that the language has, but for those of single elements and the reductions, which
/// have tables of their own.
const std::map<std::string, RunVector> kOperators = {
    {"Adagrad", run_adagrad},
    {"Adam", run_adam},
    {"Attention", run_attention},
    {"AveragePool", [](const onnx::Vector& vector) { return run_pool(vector, "average"); }},
    {"BatchNormalization", run_batch_norm},
    {"Clip", run_clip},
    {"Concat", run_concat},
    {"Conv", run_conv},
    {"ConvTranspose", run_conv_transpose},
    {"DepthToSpace", [](const onnx::Vector& vector) { return run_shuffle(vector, false); }},
    {"Dropout", run_dropout},
    {"Expand", run_expand},
    {"Flatten", run_reshape},
    {"Gather", run_gather},
    {"Gelu", run_gelu},
    {"Gemm", run_gemm},
    {"GlobalAveragePool",
     [](const onnx::Vector& vector) { return run_global_pool(vector, "average"); }},
    {"GlobalMaxPool", [](const onnx::Vector& vector) { return run_global_pool(vector, "max"); }},
    {"GroupNormalization", run_group_norm},
    {"InstanceNormalization", run_group_norm},
    {"LayerNormalization", run_layer_norm},
    {"LogSoftmax", run_log_softmax},
    {"MatMul", run_matmul},
    {"MaxPool", [](const onnx::Vector& vector) { return run_pool(vector, "max"); }},
    {"MeanVarianceNormalization", run_mean_variance},
    {"Momentum", run_momentum},
    {"NegativeLogLikelihoodLoss",
     [](const onnx::Vector&) { return std::string("takes values that are no log softmax"); }},
    {"Pad", run_pad},
    {"RMSNormalization", run_rms_norm},
    {"Relu", [](const onnx::Vector& vector) { return run_activation(vector, "relu"); }},
    {"Reshape", run_reshape},
    {"Resize", run_resize},
    {"Slice", run_slice},
    {"Softmax", run_softmax},
    {"SoftmaxCrossEntropyLoss", run_cross_entropy},
    {"SpaceToDepth", [](const onnx::Vector& vector) { return run_shuffle(vector, true); }},
    {"Split", run_split},
    {"Squeeze", run_reshape},
    {"Tile", run_tile},
    {"Transpose", run_transpose},
    {"Unsqueeze", run_reshape},
    {"Upsample", run_resize},
};

/// How an operator runs; empty where the language has none.
RunVector translation_of(const std::string& op) {
  if (const auto found = kOperators.find(op); found != kOperators.end()) return found->second;
  const auto& functions = elementwise_operators();
  if (const auto found = functions.find(op); found != functions.end())
    return [found](const onnx::Vector& vector) { return run_elementwise(vector, found->second); };
  if (const auto found = reductions().find(op); found != reductions().end())
    return [found](const onnx::Vector& vector) { return run_reduction(vector, found->second); };
  return {};
}

struct Count {
  int in_set = 0, known_operator = 0, applied = 0;
  std::map<std::string, std::vector<std::string>> left_out;  // by reason
};

}  // namespace

TEST_CASE("every ONNX node vector that maps to the language gives the recorded values") {
  const std::filesystem::path folder = HALFTONE_ONNX_VECTORS;
  if (!std::filesystem::is_directory(folder)) {
    std::printf("Skipped: %s is missing; tests/run brings it\n", folder.c_str());
    return;
  }
  std::vector<std::filesystem::path> vectors;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    vectors.push_back(entry.path());
  std::sort(vectors.begin(), vectors.end());
  Count count;
  for (const std::filesystem::path& path : vectors) {
    ++count.in_set;
    onnx::Vector vector = onnx::read_model(path);
    const RunVector run =
        vector.nodes.size() == 1 ? translation_of(vector.nodes[0].op) : RunVector();
    if (!run) continue;
    ++count.known_operator;
    onnx::read_data(path, vector);
    CAPTURE(vector.name);
    const std::string reason = run(vector);
    if (reason.empty())
      ++count.applied;
    else
      count.left_out[reason].push_back(vector.name);
  }
  std::printf("%d vectors, %d of them one node that the language has, %d of these apply\n",
              count.in_set, count.known_operator, count.applied);
  for (const auto& [reason, names] : count.left_out) {
    std::printf("  left out, %s:", reason.c_str());
    for (const std::string& name : names) std::printf(" %s", name.c_str());
    std::printf("\n");
  }
  CHECK(count.applied == HALFTONE_ONNX_APPLIED);
}
