// SPDX-License-Identifier: Apache-2.0
// The ONNX project's own test vectors, from Debian's libonnx-testdata: every node model whose
// operator the language has.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onnx_losses.hpp"
#include "onnx_resampling.hpp"

using namespace halftone::reference::tests;

namespace {

using RunVector = std::function<std::string(const onnx::Vector&)>;

RunVector elementwise(const char* body) {
  return [body](const onnx::Vector& vector) { return run_elementwise(vector, body); };
}

const std::map<std::string, RunVector> kOperators = {
    {"Abs", elementwise("%1 = absolute %0")},
    {"Add", elementwise("%2 = add %0 %1")},
    {"Adam", run_adam},
    {"AveragePool", [](const onnx::Vector& vector) { return run_pool(vector, "average"); }},
    {"Concat", run_concat},
    {"Conv", run_conv},
    {"ConvTranspose", run_conv_transpose},
    {"DepthToSpace", [](const onnx::Vector& vector) { return run_shuffle(vector, false); }},
    {"Div", elementwise("%2 = divide %0 %1")},
    {"Erf", elementwise("%1 = erf %0")},
    {"Exp", elementwise("%1 = exp %0")},
    {"Gemm", run_gemm},
    {"GlobalAveragePool",
     [](const onnx::Vector& vector) { return run_global_pool(vector, "average"); }},
    {"GlobalMaxPool", [](const onnx::Vector& vector) { return run_global_pool(vector, "max"); }},
    {"InstanceNormalization", run_instance_norm},
    {"LayerNormalization", run_layer_norm},
    {"Log", elementwise("%1 = log %0")},
    {"LogSoftmax", run_log_softmax},
    {"MatMul", run_matmul},
    {"Max", [](const onnx::Vector& vector) { return run_fold(vector, "maximum"); }},
    {"MaxPool", [](const onnx::Vector& vector) { return run_pool(vector, "max"); }},
    {"Min", [](const onnx::Vector& vector) { return run_fold(vector, "minimum"); }},
    {"Momentum", run_momentum},
    {"Mul", elementwise("%2 = multiply %0 %1")},
    {"Neg", elementwise("%1 = negate %0")},
    {"NegativeLogLikelihoodLoss",
     [](const onnx::Vector&) { return std::string("takes values that are no log softmax"); }},
    {"Pad", run_pad},
    {"Reciprocal", elementwise("%1 = constant 1; %2 = divide %1 %0")},
    {"Relu", elementwise("relu")},
    {"Reshape", run_reshape},
    {"Resize", run_resize},
    {"Sigmoid", elementwise("%1 = sigmoid %0")},
    {"Softmax", run_softmax},
    {"SoftmaxCrossEntropyLoss", run_cross_entropy},
    {"SpaceToDepth", [](const onnx::Vector& vector) { return run_shuffle(vector, true); }},
    {"Sqrt", elementwise("%1 = sqrt %0")},
    {"Sub", elementwise("%2 = subtract %0 %1")},
    {"Tanh", elementwise("%1 = tanh %0")},
    {"Transpose", run_transpose},
    {"Upsample", run_resize},
};

struct Count {
  int in_package = 0, known_operator = 0, applied = 0;
  std::map<std::string, std::vector<std::string>> left_out;  // by reason
};

}  // namespace

TEST_CASE("every ONNX node vector that maps to the language gives the recorded values") {
  const std::filesystem::path folder = HALFTONE_ONNX_TESTDATA;
  if (!std::filesystem::is_directory(folder)) {
    std::printf("Skipped: %s is missing; install the package libonnx-testdata\n", folder.c_str());
    return;
  }
  std::vector<std::filesystem::path> vectors;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    vectors.push_back(entry.path());
  std::sort(vectors.begin(), vectors.end());
  Count count;
  for (const std::filesystem::path& path : vectors) {
    ++count.in_package;
    onnx::Vector vector = onnx::read_model(path);
    if (vector.nodes.size() != 1 || kOperators.count(vector.nodes[0].op) == 0) continue;
    ++count.known_operator;
    onnx::read_data(path, vector);
    CAPTURE(vector.name);
    const std::string reason = kOperators.at(vector.nodes[0].op)(vector);
    if (reason.empty())
      ++count.applied;
    else
      count.left_out[reason].push_back(vector.name);
  }
  std::printf(
      "libonnx-testdata: %d vectors, %d of them one node that the language has, %d of these "
      "apply\n",
      count.in_package, count.known_operator, count.applied);
  for (const auto& [reason, names] : count.left_out) {
    std::printf("  left out, %s:", reason.c_str());
    for (const std::string& name : names) std::printf(" %s", name.c_str());
    std::printf("\n");
  }
  CHECK(count.applied == 167);  // of the 932 in libonnx-testdata 1.12
}
