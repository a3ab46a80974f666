# SPDX-License-Identifier: Apache-2.0
"""PyTorch as a contender (peer_worker.py): eager, compiled, and its fused AdamW."""

import os

import torch
from torch.nn import functional

from networks import projections
from peer_worker import BETA1, BETA2, EPSILON, sampled, serve

BF16 = torch.bfloat16


class Residual(torch.nn.Module):
    def __init__(self, job, layers):
        super().__init__()
        self.inner = module_of(job, layers)

    def forward(self, x):
        return x + self.inner(x)


class Attention(torch.nn.Module):
    """Causal, over rows of a sequence."""

    def __init__(self, job, layer):
        super().__init__()
        self.heads = layer[3]
        self.query, self.key, self.value, self.out = (module_of(job, [linear]) for linear in projections(layer))

    def forward(self, x):
        parts = (linear(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for linear in (self.query, self.key, self.value))
        return self.out(functional.scaled_dot_product_attention(*parts, is_causal=True).transpose(1, 2).flatten(-2))


class Convolution(torch.nn.Module):
    """Of values whose channels are last, as torch's format of that name has them in memory."""

    def __init__(self, job, layer):
        super().__init__()
        _, name, inputs, outputs, kernel, stride, _ = layer
        self.inner = torch.nn.Conv2d(inputs, outputs, kernel, stride, padding=[length // 2 for length in kernel])
        with torch.no_grad():
            self.inner.weight.copy_(torch.from_numpy(job.parameter(f"{name}.weight")).permute(0, 3, 1, 2))
            self.inner.bias.copy_(torch.from_numpy(job.parameter(f"{name}.bias")))
        self.inner.to(memory_format=torch.channels_last)

    def forward(self, x):
        return self.inner(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


class LongConvolution(torch.nn.Module):
    """As Hyena's: by transforms of sequences that zeros make twice as long."""

    def __init__(self, job, layer):
        super().__init__()
        _, name, _, _, self.places = layer
        self.weight = torch.nn.Parameter(torch.from_numpy(job.parameter(f"{name}.weight")))

    def forward(self, x):
        product = torch.fft.rfft(x, 2 * self.places, dim=-2) * torch.fft.rfft(self.weight, 2 * self.places, dim=-2)
        return torch.fft.irfft(product, 2 * self.places, dim=-2)[..., :self.places, :]


def module_of(job, layers):
    modules = []
    for layer in layers:
        if layer[0] == "linear":
            _, name, inputs, outputs, bias = layer
            module = torch.nn.Linear(inputs, outputs, bias=bias)
            fill(module, name, job)
        elif layer[0] == "residual":
            module = Residual(job, layer[1])
        elif layer[0] == "attention":
            module = Attention(job, layer)
        elif layer[0] == "conv":
            module = Convolution(job, layer)
        elif layer[0] == "long":
            module = LongConvolution(job, layer)
        elif layer[0] == "norm":
            module = torch.nn.LayerNorm(layer[2])
            fill(module, layer[1], job)
        else:
            module = {"relu": torch.nn.ReLU, "gelu": torch.nn.GELU}[layer[0]]()
        modules.append(module)
    return torch.nn.Sequential(*modules)


def fill(module, name, job):
    with torch.no_grad():
        for part, parameter in module.named_parameters():
            parameter.copy_(torch.from_numpy(job.parameter(f"{name}.{part}")))


class Steps:
    """f32 weights; autocast where the job is in bf16. With `update` the optimizer alone is timed."""

    def __init__(self, job, contender):
        model = module_of(job, job.layers)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=job.learning_rate, betas=(BETA1, BETA2), eps=EPSILON,
                                           weight_decay=job.weight_decay, fused=True)
        self.x, target = torch.from_numpy(job.x()), torch.from_numpy(job.target())
        self.target = target.long() if job.loss == "cross_entropy" else target
        loss_of = functional.cross_entropy if job.loss == "cross_entropy" else functional.mse_loss

        def forward(x, target):
            with torch.autocast("cpu", dtype=BF16, enabled=job.format == "bf16"):
                return loss_of(model(x).float(), target)

        self.forward = torch.compile(forward) if contender == "torch.compile" else forward
        self.steps_probed, self.timed = job.steps_probed, self.optimizer.step if job.kind == "update" else self.step

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.forward(self.x, self.target)
        loss.backward()
        self.optimizer.step()
        return loss

    def probe(self):
        return [float(self.step().detach()) for _ in range(self.steps_probed)]

    def run(self, count):
        for _ in range(count):
            self.timed()


class Kernel:
    """One operation on values of the job's format. `seen` makes of its result what is compared."""

    def __init__(self, job, contender):
        self.job, self.type = job, BF16 if job.format == "bf16" else torch.float32
        self.x = torch.from_numpy(job.x()).to(self.type)
        operation, operands, self.seen = getattr(self, job.kind)()
        if contender == "torch.compile":
            operation = torch.compile(operation)
        self.timed = lambda: operation(*operands)

    def weight(self, name):
        return torch.from_numpy(self.job.parameter(name)).to(self.type)

    def product(self):
        h, w, head = self.x @ self.weight("up.weight").t(), self.weight("fc.weight"), self.weight("head.weight")
        if self.job.direction == "forward":
            out = torch.empty(h.shape[0], w.shape[0], dtype=self.type)
            return (lambda a, b: torch.mm(a, b.t(), out=out)), (h, w), lambda y: y @ head.t()
        difference = (h @ w.t() @ head.t()).float() - torch.from_numpy(self.job.target())
        g = (difference * (2 / difference.numel())).to(self.type) @ head
        if self.job.direction == "input_gradient":
            out = torch.empty(h.shape, dtype=self.type)
            return (lambda a, b: torch.mm(a, b, out=out)), (g, w), lambda y: y.t() @ self.x
        out = torch.empty(w.shape, dtype=self.type)
        return (lambda a, b: torch.mm(a.t(), b, out=out)), (g, h), lambda y: y

    def convolution(self):
        """Forward, or one of the two gradients, by oneDNN; channels are last in memory, as in torch's format of that name."""
        _, name, _, _, kernel, stride, _ = self.job.layers[1]
        dimensions = len(kernel)
        settings = ([stride] * dimensions, [length // 2 for length in kernel], [1] * dimensions, False, [0] * dimensions, 1)
        h = (self.x @ self.weight("up.weight").t()).movedim(-1, 1)
        w, head = self.weight(f"{name}.weight").movedim(-1, 1), self.weight("head.weight")
        convolve = lambda a, b: torch.ops.aten.convolution(a, b, None, *settings)
        if self.job.direction == "forward":
            return convolve, (h, w), lambda y: y.movedim(1, -1) @ head.t()
        difference = (convolve(h, w).movedim(1, -1) @ head.t()).float() - torch.from_numpy(self.job.target())
        g = ((difference * (2 / difference.numel())).to(self.type) @ head).movedim(-1, 1)
        asked = [self.job.direction == "input_gradient", self.job.direction == "weight_gradient", False]
        backward = lambda g, a, b: torch.ops.aten.convolution_backward(g, a, b, None, *settings, asked)[asked.index(True)]
        if asked[0]:
            return backward, (g, h, w), lambda y: y.movedim(1, -1).flatten(0, -2).t() @ self.x.flatten(0, -2)
        return backward, (g, h, w), lambda y: y.movedim(1, -1)

    def long_convolution(self):
        h, head = self.x @ self.weight("up.weight").t(), self.weight("head.weight")
        return LongConvolution(self.job, self.job.layers[1]), (h,), lambda y: y @ head.t()

    def norm(self):
        h, head = self.x @ self.weight("up.weight").t(), self.weight("head.weight")
        weight, bias = self.weight("norm.weight"), self.weight("norm.bias")
        return (lambda a: functional.layer_norm(a, a.shape[-1:], weight, bias)), (h,), lambda y: y @ head.t()

    def sum(self):
        a, b = self.x @ self.weight("a.weight").t(), self.x @ self.weight("b.weight").t()
        head = self.weight("head.weight")
        return (lambda a, b: functional.gelu(a + b)), (a, b), lambda y: y @ head.t()

    def entropy(self):
        logits = (self.x @ self.weight("up.weight").t()).requires_grad_()
        labels = torch.from_numpy(self.job.target()).long()

        def gradient(logits):
            with torch.enable_grad():
                return torch.autograd.grad(functional.cross_entropy(logits.float(), labels), logits)[0]

        return gradient, (logits,), lambda y: y.t() @ self.x

    def probe(self):
        with torch.no_grad():
            return sampled(self.seen(self.timed()).float().contiguous().numpy())

    def run(self, count):
        with torch.no_grad():
            for _ in range(count):
                self.timed()


if __name__ == "__main__":
    torch.set_num_threads(int(os.environ["BENCH_THREADS"]))
    torch.set_num_interop_threads(1)
    serve(lambda job, contender: (Steps if job.kind in ("step", "update") else Kernel)(job, contender))
