# SPDX-License-Identifier: Apache-2.0
"""Networks as data: Halftone's description of one, the values it starts from, what a step of it costs at least.

Layers are tuples, which the workers of torch and JAX build theirs from, too:
("linear", name, inputs, outputs, bias), ("norm", name, columns), ("relu",), ("gelu",), ("sum", a, b, inputs, outputs): gelu of the
sum of two linears of one value, in a kernel behind the linears, ("attention", name, columns, heads): causal, between the linears that
projections() names, ("residual", layers): what these make of a value, added to it, ("conv", name, inputs, outputs, kernel, stride,
bias): a convolution over places, channels last, of as many dimensions as its kernel has odd lengths, with as much padding as keeps
the places' number before the stride, which is that of all dimensions, and ("long", name, columns, columns, places): a causal
convolution of every channel with a filter as long as the sequence, a parameter.
"""

import dataclasses
import math

BF16_RULES = "rule everywhere : store bf16 compute bf16\nrule where class normalization|softmax|loss : compute f32\n"
F32_RULES = "rule everywhere : store f32 compute f32\n"
LEARNING_RATE, WEIGHT_DECAY = 1e-3, 1e-2
MOMENTS_BYTES = 28  # of a parameter that AdamW updates: it, its gradient and two moments read; it and the moments written


@dataclasses.dataclass(frozen=True)
class Network:
    name: str
    batch: int
    layers: tuple
    loss: str = "mse"  # of the last value and "target", or "cross_entropy" of it and "target" as labels
    extents: tuple = ()  # of a sequence or an image, where the batch is one of those

    def rows(self):
        return self.batch * math.prod(self.extents)

    def places(self):
        """The extents of the last value."""
        extents = self.extents
        for layer in self.flat():
            extents = places_behind(layer, extents)
        return extents

    def rows_behind(self):
        """Rows of the last value, and of the target."""
        return self.batch * math.prod(self.places())

    def flat(self):
        return list(_flat(self.layers))

    def features(self):
        return next(layer[3 if layer[0] == "sum" else 2] for layer in self.flat() if len(layer) > 1)

    def outputs(self):
        last = [layer for layer in self.flat() if layer[0] in ("linear", "conv", "long", "sum")][-1]
        return last[4] if last[0] == "sum" else last[3]

    def parameters(self):
        """[(name, shape, low, high)]: uniform, as torch draws linears; of norms around 1 and 0."""
        found = []
        for layer in self.flat():
            if layer[0] == "linear":
                found += _linear_parameters(layer)
            elif layer[0] == "attention":
                for linear in projections(layer):
                    found += _linear_parameters(linear)
            elif layer[0] == "conv":
                _, name, inputs, outputs, kernel, _, bias = layer
                bound = (inputs * math.prod(kernel))**-0.5
                found.append((f"{name}.weight", (outputs, *kernel, inputs), -bound, bound))
                found += [(f"{name}.bias", (outputs,), -bound, bound)] if bias else []
            elif layer[0] == "long":
                _, name, columns, _, places = layer
                found.append((f"{name}.weight", (places, columns), -(places**-0.5), places**-0.5))
            elif layer[0] == "norm":
                found.append((f"{layer[1]}.weight", (layer[2],), 0.5, 1.5))
                found.append((f"{layer[1]}.bias", (layer[2],), -0.5, 0.5))
            elif layer[0] == "sum":
                _, a, b, inputs, outputs = layer
                for name in (a, b):
                    found.append((f"{name}.weight", (outputs, inputs), -(inputs**-0.5), inputs**-0.5))
        return found

    def parameter_count(self):
        return sum(math.prod(shape) for _, shape, _, _ in self.parameters())

    def halftone(self, rules):
        """The model as a description (docs/spec/description.md)."""
        lines = [f"halftone description 1\n# assume batch={self.batch}\nmodel \"network\""]
        lines.append(f"input %x : f32[{_rows(self.extents)}, {self.features()}]")
        labels, behind = self.loss == "cross_entropy", _rows(self.places())
        lines.append("input %target : " + (f"i32[{behind}]" if labels else f"f32[{behind}, {self.outputs()}]"))
        for name, shape, low, high in self.parameters():
            lines.append(f"parameter %{name} : [{', '.join(map(str, shape))}] init uniform({low!r}, {high!r})")
        value, nodes = _chain(self.layers, "x", self.features(), self.extents, "")
        lines += nodes
        operands = f"logits: %{value}, label: %target" if labels else f"x: %{value}, target: %target"
        lines.append(f"%loss = {self.loss}({operands}) : []\noutput \"y\" = %{value}\nloss %loss weight 1")
        optimizer = f"optimizer adamw learning_rate {LEARNING_RATE} beta1 0.9 beta2 0.999 epsilon 1e-08"
        return "\n".join(lines) + f"\n{rules}{optimizer} weight_decay {WEIGHT_DECAY}\n"

    def operations(self):
        """Multiplications and additions of a step's products. The first linear's input has no gradient. Of a causal attention's
        products half of the scores count, and its backward pass has five where its forward pass has two. A long convolution has two
        transforms for each sequence and pass and two for its filter, each of half of the places of a padded real one."""
        each = [2 * self.rows() * math.prod(layer[2:4]) * (math.prod(layer[4]) if layer[0] == "conv" else 1) for layer in self.products()]
        first_reads_input = self.layers[0][0] in ("linear", "conv")
        longs = [layer for layer in self.flat() if layer[0] == "long"]
        transforms = sum((4 * self.batch + 2) * layer[2] * 4 * layer[4] * math.log2(layer[4]) for layer in longs)
        scores = sum(self.rows() * self.extents[0] * layer[2] for layer in self.flat() if layer[0] == "attention")
        return 3 * sum(each) - (each[0] if first_reads_input else 0) + 7 * scores + transforms

    def products(self):
        """Linears and convolutions."""
        found = []
        for layer in self.flat():
            found += [layer] if layer[0] in ("linear", "conv") else projections(layer) if layer[0] == "attention" else []
        return found

    def least_bytes(self, element_bytes):
        """That a step moves when every value is written once and read once by each pass that needs it."""
        count = self.parameter_count()
        weights = count * (MOMENTS_BYTES + 4 + 2 * element_bytes)  # the gradient written; operands of two passes
        if element_bytes == 2:
            weights += 2 * count  # the working copy
        widths = [layer[3] for layer in self.flat() if layer in self.products() or layer[0] == "long"] + [self.features()]
        # An activation is written, and read forward and backward; its gradient is written, and read by two products.
        return weights + self.rows() * element_bytes * (3 * sum(widths) + 3 * sum(widths[:-1]))


def places_behind(layer, extents):
    """Of what a layer makes of values with such extents."""
    return tuple((extent - 1) // layer[5] + 1 for extent in extents) if layer[0] == "conv" else extents


def projections(layer):
    """The linears of an attention: of queries, keys and values, and of what it leaves."""
    _, name, columns, _ = layer
    return [("linear", f"{name}_{part}", columns, columns, True) for part in ("query", "key", "value", "out")]


def _flat(layers):
    for layer in layers:
        if layer[0] == "residual":
            yield from _flat(layer[1])
        else:
            yield layer


def _linear_parameters(layer):
    _, name, inputs, outputs, bias = layer
    bound = inputs**-0.5
    found = [(f"{name}.weight", (outputs, inputs), -bound, bound)]
    return found + [(f"{name}.bias", (outputs,), -bound, bound)] if bias else found


def _rows(extents):
    return ", ".join(map(str, ("batch", *extents)))


def _chain(layers, value, columns, extents, prefix):
    """(value, lines): what layers make of a value of so many columns, one after another."""
    lines = []
    for index, layer in enumerate(layers):
        value, columns, nodes = _nodes(layer, value, columns, f"{prefix}{index}", extents)
        extents = places_behind(layer, extents)
        lines += nodes
    return value, lines


def _linear_node(layer, value, rows):
    _, name, _, outputs, bias = layer
    more = f", bias: %{name}.bias" if bias else ""
    return f"%{name} = linear(x: %{value}, weight: %{name}.weight{more}) : [{rows}, {outputs}]"


def _nodes(layer, value, columns, index, extents):
    """(value, columns, lines): what a layer makes of a value."""
    rows = _rows(places_behind(layer, extents))
    if layer[0] == "linear":
        return layer[1], layer[3], [_linear_node(layer, value, rows)]
    if layer[0] == "conv":
        _, name, _, outputs, kernel, stride, bias = layer
        zeros = [length // 2 for length in kernel] * 2
        operands = f"x: %{value}, weight: %{name}.weight" + (f", bias: %{name}.bias" if bias else "")
        settings = f"{{kernel: {list(kernel)}, stride: {[stride] * len(kernel)}, padding: {zeros}}}"
        return name, outputs, [f"%{name} = convolution({operands}) {settings} : [{rows}, {outputs}]"]
    if layer[0] == "long":
        name = layer[1]
        return name, columns, [f"%{name} = long_convolution(x: %{value}, filter: %{name}.weight) : [{rows}, {columns}]"]
    if layer[0] == "norm":
        _, name, columns = layer
        operands = f"x: %{value}, weight: %{name}.weight, bias: %{name}.bias"
        return name, columns, [f"%{name} = layer_norm({operands}) {{epsilon: 1e-05}} : [{rows}, {columns}]"]
    if layer[0] == "attention":
        _, name, columns, heads = layer
        *inward, outward = projections(layer)
        lines = [_linear_node(linear, value, rows) for linear in inward]
        operands = ", ".join(f"{linear[1].removeprefix(name + '_')}: %{linear[1]}" for linear in inward)
        lines.append(f"%{name} = attention({operands}) {{heads: {heads}, causal: true}} : [{rows}, {columns}]")
        return outward[1], columns, [*lines, _linear_node(outward, name, rows)]
    if layer[0] == "residual":
        inner, lines = _chain(layer[1], value, columns, extents, f"{index}_")
        name = f"residual{index}"
        return name, columns, [*lines, f"%{name} = add(a: %{value}, b: %{inner}) : [{rows}, {columns}]"]
    if layer[0] == "sum":
        _, a, b, inputs, outputs = layer
        lines, shape, name = [], f"[batch, 1, {outputs}]", f"sum{index}"
        for part in (a, b):
            lines.append(f"%{part} = linear(x: %{value}, weight: %{part}.weight) : [batch, {outputs}]")
            lines.append(f"%{part}_seen = reshape(x: %{part}) {{shape: {shape}}} : {shape}")
        lines.append(f"%{name}_added = add(a: %{a}_seen, b: %{b}_seen) : {shape}")
        lines.append(f"%{name}_gelu = gelu(x: %{name}_added) {{approximation: erf}} : {shape}")
        lines.append(f"%{name} = reshape(x: %{name}_gelu) {{shape: [batch, {outputs}]}} : [batch, {outputs}]")
        return name, outputs, lines
    name = f"act{index}"
    setting = " {approximation: erf}" if layer[0] == "gelu" else ""
    return name, columns, [f"%{name} = {layer[0]}(x: %{value}){setting} : [{rows}, {columns}]"]


def perceptron(name, batch, widths, activation, loss, norm=False):
    """linear, activation, linear, ... over these widths; the layer norm comes first."""
    layers = [("norm", "norm", widths[0])] if norm else []
    for i, (inputs, outputs) in enumerate(zip(widths, widths[1:]), 1):
        layers += [("linear", f"fc{i}", inputs, outputs, True), (activation,)]
    return Network(name, batch, tuple(layers[:-1]), loss)


def transformer_block(name, batch, times, columns, heads):
    """Of GPT-2: norms first, four times as wide inside, gelu by erf."""
    mixing = (("norm", "norm1", columns), ("attention", "mix", columns, heads))
    thinking = (("norm", "norm2", columns), ("linear", "up", columns, 4 * columns, True), ("gelu",),
                ("linear", "down", 4 * columns, columns, True))
    return Network(name, batch, (("residual", mixing), ("residual", thinking)), extents=(times,))


def convolutions(name, batch, channels, side, count):
    """So many of 3 x 3 from and to as many channels, with relu between them."""
    layers = []
    for i in range(1, count + 1):
        layers += [("conv", f"conv{i}", channels, channels, (3, 3), 1, True), ("relu",)]
    return Network(name, batch, tuple(layers[:-1]), extents=(side, side))


def long_convolutions(name, batch, places, channels, count):
    """So many of sequences, one after another."""
    layers = tuple(("long", f"long{i}", channels, channels, places) for i in range(1, count + 1))
    return Network(name, batch, layers, extents=(places,))


def digits(batch):
    """The quickstart's model."""
    layers = (("linear", "fc1", 64, 128, True), ("gelu",), ("norm", "norm", 128), ("linear", "fc2", 128, 64, True), ("gelu",),
              ("linear", "head", 64, 10, True))
    return Network("digits", batch, layers, "cross_entropy")


def around(name, batch, columns, middle, outputs, extents=()):
    """Layers between a linear from 8 values and one to 16, so that they read and leave what a kernel wrote and reads."""
    layers = (("linear", "up", 8, columns, False), *middle, ("linear", "head", outputs, 16, False))
    return Network(name, batch, layers, extents=extents)
