# SPDX-License-Identifier: Apache-2.0
"""What is measured, a line each: sections, their rows, and whom each row is measured beside."""

import dataclasses
import math

import networks
from networks import BF16_RULES, F32_RULES

LOSS_TOLERANCE = {"f32": 1e-4, "bf16": 2e-3}  # of the largest loss, over the first steps
TOLERANCE = {"f32": 1e-4, "bf16": 2e-2}  # of the largest value that a kernel's row probes
ROUNDED_TOLERANCE = {"f32": 1e-3, "bf16": 2e-2}  # likewise, where a result of f32 operands is rounded to bf16
@dataclasses.dataclass(frozen=True)
class Row:
    section: str
    name: str
    format: str
    network: networks.Network
    kind: str  # step, update, product, convolution, long_convolution, epilogue, norm, entropy, sum: what is timed
    rules: str
    operations: float = 0.0
    bytes: float = 0.0
    program: str = "training"
    kernel: str = ""  # of Halftone's, as halftone_worker.cpp has it: one or several
    probe: str = "y"  # an output, or a parameter, whose gradient is meant
    direction: str = ""  # of a product or convolution: forward, input_gradient or weight_gradient
    peers: tuple = ("torch eager", "torch.compile", "JAX")
    ceilings: tuple = ("fma 256", "fma 512", "pairs bf16", "amx bf16")  # of bench_machine; the highest counts

    def title(self):
        return f"{self.section}: {self.name}, {self.format}"

    def contenders_of_machine(self):
        """Pairs and tiles multiply bf16 alone."""
        return tuple(name for name in self.ceilings if self.format == "bf16" or not name.startswith(("pairs", "amx")))

    def trains(self):
        return self.kind in ("step", "update")

    def tolerance(self):
        return (LOSS_TOLERANCE if self.trains() else ROUNDED_TOLERANCE if self.kind == "epilogue" else TOLERANCE)[self.format]

    def steps_probed(self):
        """Wide networks with few examples go apart soon; the loss of convolutions moves slowly."""
        return 3 if self.kind == "update" else 12 if self.section == "convolution" else 8

    def element_bytes(self):
        return 4 if self.format == "f32" else 2


RULES = {"f32": F32_RULES, "bf16": BF16_RULES}
NETWORKS = [
    networks.perceptron("784-512-512-10 relu, cross-entropy, batch 256", 256, (784, 512, 512, 10), "relu", "cross_entropy"),
    networks.perceptron("64-64-64-64-16 relu, mse, batch 4096", 4096, (64, 64, 64, 64, 16), "relu", "mse"),
    networks.perceptron("layer norm, 1024-4096-1024 gelu, mse, batch 512", 512, (1024, 4096, 1024), "gelu", "mse", norm=True),
    networks.transformer_block("transformer block, 768 columns, 12 heads, mse, 2 x 256 tokens", 2, 256, 768, 12),
]
SMALL = [
    networks.perceptron("4-32-32-2 relu, mse, batch 32", 32, (4, 32, 32, 2), "relu", "mse"),
    networks.digits(32),
]
# The 3 x 3 convolutions of a ResNet-50's four stages, and of the top of a U-Net over 32 frames.
CONVOLUTIONS = [
    networks.convolutions("4 of 3x3, 64 channels, 2 x 56x56", 2, 64, 56, 4),
    networks.convolutions("4 of 3x3, 128 channels, 4 x 28x28", 4, 128, 28, 4),
    networks.convolutions("4 of 3x3, 256 channels, 8 x 14x14", 8, 256, 14, 4),
    networks.convolutions("4 of 3x3, 512 channels, 16 x 7x7", 16, 512, 7, 4),
    networks.convolutions("4 of 3x3, 32 channels, 32 x 32x32", 32, 32, 32, 4),
]
# Two filters as long as the sequence, of 64 channels.
LONG = ((12, 8), (14, 4), (16, 2), (18, 1))  # log2 of the places, and the batch
LONG_CONVOLUTIONS = [
    networks.long_convolutions(f"2 of 2^{log}, 64 channels, batch {batch}", batch, 1 << log, 64, 2) for log, batch in LONG
]
# Images or clips, their places, channels in and out, kernel, stride: convolutions of a ResNet-50's stem and four stages, the first 3 x 3 and
# the skip of a stage with stride 2; and of the U-Net of examples/diffusion, two clips of 16 frames, within frames and between them.
LAYERS = [
    ("ResNet-50 7x7 by 2", 1, (224, 224), 3, 64, (7, 7), 2),
    ("ResNet-50 1x1", 2, (56, 56), 64, 256, (1, 1), 1),
    ("ResNet-50 3x3", 2, (56, 56), 64, 64, (3, 3), 1),
    ("ResNet-50 3x3 by 2", 2, (56, 56), 128, 128, (3, 3), 2),
    ("ResNet-50 1x1 by 2", 2, (56, 56), 256, 512, (1, 1), 2),
    ("ResNet-50 3x3", 4, (28, 28), 128, 128, (3, 3), 1),
    ("ResNet-50 1x1", 4, (28, 28), 512, 128, (1, 1), 1),
    ("ResNet-50 3x3 by 2", 4, (28, 28), 256, 256, (3, 3), 2),
    ("ResNet-50 3x3", 8, (14, 14), 256, 256, (3, 3), 1),
    ("ResNet-50 1x1", 8, (14, 14), 256, 1024, (1, 1), 1),
    ("ResNet-50 3x3 by 2", 8, (14, 14), 512, 512, (3, 3), 2),
    ("ResNet-50 3x3", 16, (7, 7), 512, 512, (3, 3), 1),
    ("U-Net 3x3", 32, (32, 32), 24, 24, (3, 3), 1),
    ("U-Net frames", 2, (16, 32, 32), 24, 24, (3, 1, 1), 1),
    ("U-Net 3x3", 32, (16, 16), 48, 48, (3, 3), 1),
    ("U-Net frames", 2, (16, 16, 16), 48, 48, (3, 1, 1), 1),
    ("U-Net 3x3", 32, (8, 8), 96, 96, (3, 3), 1),
    ("U-Net frames", 2, (16, 8, 8), 96, 96, (3, 1, 1), 1),
    ("U-Net narrow", 32, (32, 32), 72, 24, (1, 1), 1),
]
# Rows, summed, columns: a block of GPT-2 small over 1024 tokens; convolutions of a ResNet-50 as products of patches.
PRODUCTS = [
    ("GPT attention in", 1024, 768, 2304),
    ("GPT attention out", 1024, 768, 768),
    ("GPT feed-forward in", 1024, 768, 3072),
    ("GPT feed-forward out", 1024, 3072, 768),
    ("convolution 56x56, 3x3, 64 to 64", 3136, 576, 64),
    ("convolution 28x28, 3x3, 128 to 128", 784, 1152, 128),
    ("convolution 14x14, 3x3, 256 to 256", 196, 2304, 256),
    ("convolution 7x7, 3x3, 512 to 512", 49, 4608, 512),
    ("convolution 56x56, 1x1, 64 to 256", 3136, 64, 256),
    ("square 1024", 1024, 1024, 1024),
    ("square 2048", 2048, 2048, 2048),
]
EPILOGUES = [(rows, depth, columns) for rows in (32, 128, 512, 2048) for depth, columns in
             ((256, 1024), (1024, 256), (768, 3072), (1024, 1024))]
DIRECTIONS = {  # Halftone's program and kernel, and what is compared
    "forward": ("inference", "fc", "y"),
    "input_gradient": ("training", "fc_input_gradient", "up.weight"),
    "weight_gradient": ("training", "fc_weight_gradient", "fc.weight"),
}
# Likewise; of a convolution the launches before its product that lay out what this reads are its own.
LAYER_DIRECTIONS = {
    "forward": ("inference", "conv_windows,conv", "y"),
    "input_gradient": ("training", "conv_windows_of_gradient,conv_transpose_gradient,conv_input_gradient", "up.weight"),
    "weight_gradient": ("training", "conv_windows,conv_weight_gradient", "conv.weight"),
}


def _steps(section, models, formats=tuple(RULES)):
    for network in models:
        for format in formats:
            row = Row(section, network.name, format, network, "step", RULES[format], network.operations())
            yield dataclasses.replace(row, bytes=network.least_bytes(row.element_bytes()))


def _products():
    for name, rows, depth, columns in PRODUCTS:
        network = networks.around("product", rows, depth, (("linear", "fc", depth, columns, False),), columns)
        for format in RULES:
            for direction, (program, kernel, probe) in DIRECTIONS.items():
                yield Row("product", f"{name} ({rows} x {depth} x {columns}), {direction.replace('_', ' ')}", format, network,
                          "product", RULES[format], 2.0 * rows * depth * columns, 0, program, kernel, probe, direction,
                          ("oneDNN", "torch eager", "JAX"))


def _layers():
    for name, batch, extents, inputs, outputs, kernel, stride in LAYERS:
        middle = (("conv", "conv", inputs, outputs, kernel, stride, False),)
        network = networks.around("convolution", batch, inputs, middle, outputs, extents)
        operations = 2.0 * network.rows_behind() * math.prod(kernel) * inputs * outputs
        shape = f"{inputs} to {outputs} channels, {batch} x {'x'.join(map(str, extents))}"
        for format in RULES:
            for direction, (program, launches, probe) in LAYER_DIRECTIONS.items():
                yield Row("conv layer", f"{name}, {shape}, {direction.replace('_', ' ')}", format, network, "convolution",
                          RULES[format], operations, 0, program, launches, probe, direction, ("torch eager",))


def _long_layers():
    """Without gradients, which scipy has not."""
    for log, batch in LONG:
        places, channels = 1 << log, 64
        middle = (("long", "long", channels, channels, places),)
        network = networks.around("long convolution", batch, channels, middle, channels, (places,))
        yield Row("long convolution", f"1 of 2^{log}, {channels} channels, batch {batch}, forward", "f32", network, "long_convolution",
                  F32_RULES, (2.0 * batch + 1) * channels * 4 * places * log, 0, "inference", "long*", "y", "forward",
                  ("scipy.fft", "torch eager"))


def _epilogues():
    result = "rule where layer \"act2\" : store bf16\n"
    for rows, depth, columns in EPILOGUES:
        middle = (("linear", "fc", depth, columns, True), ("gelu",))
        network = networks.around("epilogue", rows, depth, middle, columns)
        for format in RULES:
            yield Row("epilogue", f"{rows} x {depth} x {columns}, bias, gelu, to bf16", format, network, "epilogue",
                      RULES[format] + result, 2.0 * rows * depth * columns, 0, "inference", "fc", "y", "epilogue",
                      ("oneDNN", "oneDNN, weights packed"))


def _streams():
    rows, columns = 16384, 2048
    values = rows * columns
    norm = networks.around("norm", rows, columns, (("norm", "norm", columns),), columns)
    added = networks.Network("sum", rows, (("sum", "a", "b", 8, columns), ("linear", "head", columns, 16, False)))
    entropy = networks.Network("entropy", 4096, (("linear", "up", 8, 8192, False),), "cross_entropy")
    deep = networks.perceptron("update", 8, (1024, 4096, 1024, 4096, 1024, 4096), "relu", "mse")
    for format in RULES:
        size = 4 if format == "f32" else 2
        rules = RULES[format]
        # What is written lies elsewhere than what is read.
        apart = {"ceilings": ("copy", "triad", "past_copy", "past_triad")}
        yield Row("stream", f"layer norm, {rows} x {columns}", format, norm, "norm", rules, 0, 2.0 * size * values, "inference",
                  "norm", **apart)
        yield Row("stream", f"residual add and gelu, {rows} x {columns}", format, added, "sum", rules, 0, 3.0 * size * values,
                  "inference", "sum0_added", **apart)
        yield Row("stream", "softmax, cross-entropy and its gradient, 4096 x 8192", format, entropy, "entropy", rules, 0,
                  2.0 * size * 4096 * 8192, "training", "loss", "up.weight", **apart)
        count = deep.parameter_count()
        yield Row("stream", f"AdamW, {count / 1e6:.1f} M parameters", format, deep, "update", rules, 0,
                  (networks.MOMENTS_BYTES + (2 if format == "bf16" else 0)) * float(count), "training", "update", "fc1.weight",
                  peers=("torch fused", "JAX"), ceilings=("axpy",))


def all_rows():
    return [*_steps("network", NETWORKS), *_steps("small", SMALL), *_steps("convolution", CONVOLUTIONS),
            *_layers(), *_steps("long convolution", LONG_CONVOLUTIONS, ("f32",)), *_long_layers(), *_products(), *_epilogues(),
            *_streams()]
