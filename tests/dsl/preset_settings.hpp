// SPDX-License-Identifier: Apache-2.0
// What the sources of presets say, word for word: of each setting what stands in one line of the
// preset's page. docs/presets/ has sources and versions.
#pragma once

#include <string>
#include <vector>

namespace preset_settings {

/// Words that a page has in one line.
using Row = std::vector<std::string>;
using Rows = std::vector<Row>;

/// opt_levels of apex/amp/frontend.py.
inline const Rows apex = {
    {"| O0 |", "| `torch.float32` | `False` | `None` | `False` | `1.0` |"},
    {"| O1 |", "| `None` | `True` | `None` | `None` | `\"dynamic\"` |"},
    {"| O2 |", "| `torch.float16` | `False` | `True` | `True` | `\"dynamic\"` |"},
    {"| O3 |", "| `torch.float16` | `False` | `False` | `False` | `1.0` |"},
    {"`min_loss_scale` is `None`"}};

/// keras/src/dtype_policies/dtype_policy.py and LossScaleOptimizer's defaults.
inline const Rows keras = {
    {"which causes the compute dtype to be `float16` or `bfloat16` and the variable dtype to be "
     "`float32`"},
    {"Layers will cast variables to the compute dtype"},
    {"Typically layers output tensors with the compute dtype as well"},
    {"| `mixed_float16` | `float16` | `float32` |", "`initial_scale=2.0**15`",
     "`dynamic_growth_steps=2000`"},
    {"| `mixed_bfloat16` | `bfloat16` | `float32` | |"},
    {"| `float32` | `float32` | `float32` | |"}};

/// Sections of "Mixed Precision Training".
inline const Rows micikevicius = {
    {"| 3.1 |", "weights, activations and gradients are stored as FP16"},
    {"| 3.1 |",
     "an FP32 master copy of weights is maintained and updated with the weight gradient during the "
     "optimizer step"},
    {"| 3.2 |",
     "weight gradients must be unscaled before weight update to maintain the update magnitudes as "
     "in "
     "FP32 training"},
    {"| 3.3 |",
     "FP16 vector dot-product accumulates the partial products into an FP32 value, which is "
     "converted to FP16 before writing to memory"},
    {"| 3.3 |",
     "Large reductions (sums across elements of a vector) should be carried out in FP32"},
    {"| 3.3 |", "read and write FP16 tensors from memory, performing the arithmetic in FP32"}};

/// Recipes of transformer_engine/common/recipe/__init__.py.
inline const Rows delayed_scaling = {{"| `margin` | `0` |"},
                                     {"| `fp8_format` | `Format.HYBRID`"},
                                     {"| `amax_history_len` | `1024` |"},
                                     {"| `amax_compute_algo` | `\"max\"`", "`\"most_recent\"`"},
                                     {"| `scaling_factor_compute_algo` | `None`"},
                                     {"| `reduce_amax` | `True`"},
                                     {"`fp8_dpa`", "`fp8_mha`", "| `False` |"},
                                     {"FP8_MAX = maximum_representable_value(fp8_format)"},
                                     {"new_scaling_factor = (FP8_MAX / amax) / (2 ^ margin)"}};
inline const Rows current_scaling = {
    {"`NVTE_FP8_CURRENT_SCALING_POWER_2_SCALES=1`"},
    {"| `fp8_format` | `HYBRID`"},
    {"`fp8_quant_fwd_inp`", "`fp8_quant_fwd_weight`", "`fp8_quant_bwd_grad`",
     "`power_2_scale=use_power_2_scales, amax_epsilon=0.0`"},
    {"| `fp8_gemm_fprop` | `use_split_accumulator=False` |"},
    {"| `fp8_gemm_dgrad`, `fp8_gemm_wgrad` | `use_split_accumulator=True` |"},
    {"`fp8_dpa`", "`fp8_mha`", "| `False` |"}};
inline const Rows mxfp8 = {
    {"Each group of 32 consecutive values is scaled together using their own scaling factor."},
    {"The type of the scaling factor is E8M0 (8 bits of exponent, 0 bits of mantissa), equivalent "
     "to scaling by a power of 2."},
    {"Since the scaling happens in a particular direction (either rowwise or columnwise), in this "
     "recipe the quantized tensor and its transpose are not numerically equivalent."},
    {"| `fp8_format` |", "`E4M3`"},
    {"`fp8_dpa`", "`fp8_mha`", "| `False` |"}};
inline const Rows block_scaling = {
    {"`x_block_scaling_dim: int = 1`"},
    {"`w_block_scaling_dim: int = 2`"},
    {"`grad_block_scaling_dim: int = 1`"},
    {"`fp8_format: Format = Format.E4M3`"},
    {"The scaling factors are float32 containers. They will by default be constrained to powers of "
     "2."},
    {"`amax_epsilon=0.0`"},
    {"`use_split_accumulator=True`"}};
inline const Rows nvfp4 = {{"| `fp4_format` | `E2M1` |"},
                           {"| `fp4_quant_fwd_inp` |", "`random_hadamard_transform=True`",
                            "`stochastic_rounding=False`", "`fp4_2d_quantization=False`"},
                           {"| `fp4_quant_fwd_weight` |", "`random_hadamard_transform=False`",
                            "`stochastic_rounding=False`", "`fp4_2d_quantization=True`"},
                           {"| `fp4_quant_bwd_grad` |", "`random_hadamard_transform=True`",
                            "`stochastic_rounding=True`", "`fp4_2d_quantization=False`"},
                           {"`[1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1]`"},
                           {"`disable_rht=False`", "`disable_stochastic_rounding=False`",
                            "`disable_2d_quantization=False`"}};

/// "DeepSeek-V3 Technical Report", 3.3.
inline const Rows deepseek_v3 = {
    {"| activations |",
     "we group and scale elements on a 1x128 tile basis (i.e., per token per 128 channels)"},
    {"| weights |",
     "we group and scale elements on a 128x128 block basis (i.e., per 128 input channels per 128 "
     "output channels)"},
    {"| backward pass |",
     "will be converted from an 1x128 quantization tile to an 128x1 tile in the backward pass"},
    {"| format |", "we adopt the E4M3 format on all tensors for higher precision"},
    {"| amax |",
     "we calculate the maximum absolute value online for each 1x128 activation tile or 128x128 "
     "weight block"},
    {"| moments |",
     "We adopt the BF16 data format instead of FP32 to track the first and second "
     "moments in the AdamW"},
    {"the embedding module, the output head, MoE gating modules, normalization operators, and "
     "attention operators"}};

/// torchao/float8/config.py and float8_utils.py.
inline const Rows torchao_rowwise = {
    {"`ScalingGranularity.AXISWISE`",
     "Scaling factors computed along one axis of the tensor, reducing it to size 1."},
    {"`torch.finfo(float8_dtype).max / torch.clamp(amax, min=EPS)`", "in f64", "EPS is 1e-12"},
    {"| `round_scales_to_power_of_2` |",
     "if true, round scaling factor down to the nearest power of 2"},
    {"| `use_fast_accum` |", "True"}};

/// What the authors of five systems say of them.
inline const Rows genomic_model = {
    {"| `by_chip()` |", "bf16 from sm_80, fp16 below, CPU fallback"},
    {"| `genomic_annotation()` |",
     "FP8 where the chip has it, else adaptive fp16/bf16, clip 1.0, activation checkpointing"},
    {"| `genomic_variant_effect()` |", "bf16, clip 0.5, conservative loss-scale growth"},
    {"| `genomic_protein_function()` |",
     "bf16, FP8 on large-memory chips, clip 1.0, optimizer state offload"},
    {"| `genomic_generation()` |", "fp16, clip 2.0, offload"},
    {"| `genomic_domain_adaptation()` |", "adaptive, clip 0.8, conservative growth"},
    {"FP8 only where the chip really has FP8 tensor cores (sm_89, sm_90 and up",
     "FP8 formats E4M3 and E5M2 chosen per tensor role"}};
inline const Rows video_diffusion = {{"fp16 and bf16 both, chosen at run time from the device"},
                                     {"stores fp16 and computes softmax in fp32"},
                                     {"2^16, growth 2, backoff 0.5, growth interval 100"},
                                     {"MSE that cannot overflow fp16"}};
inline const Rows forecaster = {
    {"fp32 masters, half working copies, sync after every update"},
    {"65536, x2 after 2000 good steps, x0.5 on overflow, clamped to [1, 262144]"}};
inline const Rows phase_trainer = {
    {"| `phases_conservative()` |", "conservative (fp32 throughout)"},
    {"| `phases_default()` |", "fp32 for warmup, full and correct; bf16 (or fp16) for predict"},
    {"| `phases_aggressive()` |", "aggressive (bf16 in predict)"},
    {"| `phases_custom(warmup, full, predict, correct)` |", "custom per phase",
     "gradient scaling for fp16 phases"}};
inline const Rows graph_framework = {
    {"| allow list |", "matmul, convolution, elementwise, attention in half"},
    {"| deny list |", "loss, softmax, layer norm, gradient accumulation in fp32"},
    {"| storage |",
     "activations half, gradients half then fp32 sums, parameters fp32 plus half working copies"},
    {"| loss scale |", "Static and dynamic loss scaling inside the compiled kernels"}};

inline const Rows allow_deny = {graph_framework[0], graph_framework[1]};

}  // namespace preset_settings
