# SPDX-License-Identifier: Apache-2.0
"""JAX as a contender (peer_worker.py): a jitted step, AdamW written out, parameters donated."""

import functools

import jax
import jax.numpy as jnp

from networks import projections
from peer_worker import BETA1, BETA2, EPSILON, sampled, serve


def parameters_of(job):
    """Weights of linears as (inputs, outputs), which JAX multiplies by from the right."""
    found = {}
    for name in job.parameters:
        values = job.parameter(name)
        found[name] = jnp.array(values.T if values.ndim == 2 else values)
    return found


def layer_norm(x, weight, bias):
    x = x.astype(jnp.float32)
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5) * weight + bias


def attention(layer, kind, parameters, x):
    *inward, outward = projections(layer)
    parts = (apply([linear], kind, parameters, x).reshape(*x.shape[:2], layer[3], -1) for linear in inward)
    return apply([outward], kind, parameters, jax.nn.dot_product_attention(*parts, is_causal=True).reshape(x.shape))


def apply(layers, kind, parameters, x):
    """The last layer's result; what linears read and leave has the type `kind`."""
    x = x.astype(kind)
    for layer in layers:
        if layer[0] == "linear":
            x = x @ parameters[f"{layer[1]}.weight"].astype(kind)
            if layer[4]:
                x = x + parameters[f"{layer[1]}.bias"].astype(kind)
        elif layer[0] == "conv":
            _, name, _, _, kernel, stride, _ = layer
            weight, bias = (parameters[f"{name}.{part}"].astype(kind) for part in ("weight", "bias"))
            around = [(length // 2,) * 2 for length in kernel]
            x = jax.lax.conv_general_dilated(x, weight, (stride,) * 2, around, dimension_numbers=("NHWC", "OHWI", "NHWC")) + bias
        elif layer[0] == "long":
            _, name, _, _, places = layer
            spectra = [jnp.fft.rfft(value, 2 * places, axis=-2) for value in (x, parameters[f"{name}.weight"].T)]
            x = jnp.fft.irfft(spectra[0] * spectra[1], 2 * places, axis=-2)[..., :places, :]
        elif layer[0] == "norm":
            name = layer[1]
            x = layer_norm(x, parameters[f"{name}.weight"], parameters[f"{name}.bias"]).astype(kind)
        elif layer[0] == "residual":
            x = x + apply(layer[1], kind, parameters, x)
        elif layer[0] == "attention":
            x = attention(layer, kind, parameters, x)
        else:
            x = jax.nn.relu(x) if layer[0] == "relu" else jax.nn.gelu(x, approximate=False)
    return x


def loss_of(kind, y, target):
    y = y.astype(jnp.float32)
    if kind == "mse":
        return jnp.square(y - target).mean()
    return -jnp.take_along_axis(jax.nn.log_softmax(y), target[:, None], axis=-1).mean()


def adamw(job, parameters, first, second, steps, gradients):
    steps = steps + 1
    scale1, scale2 = 1 - BETA1**steps, 1 - BETA2**steps
    first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, first, gradients)
    second = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, second, gradients)

    def moved(p, m, v):
        p = p * (1 - job.learning_rate * job.weight_decay)
        return p - job.learning_rate * (m / scale1) / (jnp.sqrt(v / scale2) + EPSILON)

    return jax.tree.map(moved, parameters, first, second), first, second, steps


class Steps:
    """f32 parameters, computed with in the job's format. Where the job is an update, that alone is timed."""

    def __init__(self, job):
        parameters = parameters_of(job)
        zeros = jax.tree.map(jnp.zeros_like, parameters)
        self.state = (parameters, zeros, jax.tree.map(jnp.zeros_like, parameters), jnp.float32(0))
        self.batch = jnp.array(job.x()), jnp.array(job.target())
        self.steps_probed, self.updates_alone = job.steps_probed, job.kind == "update"
        kind = jnp.bfloat16 if job.format == "bf16" else jnp.float32

        def objective(parameters, x, target):
            return loss_of(job.loss, apply(job.layers, kind, parameters, x), target)

        @functools.partial(jax.jit, donate_argnums=0)
        def step(state, x, target):
            loss, gradients = jax.value_and_grad(objective)(state[0], x, target)
            return adamw(job, *state, gradients), loss

        self.step = step
        self.gradients = jax.jit(jax.grad(objective))(parameters, *self.batch)
        self.update = jax.jit(lambda state, gradients: adamw(job, *state, gradients), donate_argnums=0)

    def probe(self):
        losses = []
        for _ in range(self.steps_probed):
            self.state, loss = self.step(self.state, *self.batch)
            losses.append(float(loss))
        return losses

    def run(self, count):
        for _ in range(count):
            if self.updates_alone:
                self.state = self.update(self.state, self.gradients)
            else:
                self.state, _ = self.step(self.state, *self.batch)
        jax.block_until_ready(self.state)


class Kernel:
    """One operation on values of the job's format. `seen` makes of its result what is compared."""

    def __init__(self, job):
        self.job, self.type = job, jnp.bfloat16 if job.format == "bf16" else jnp.float32
        self.x = jnp.array(job.x()).astype(self.type)
        operation, operands, self.seen = getattr(self, job.kind)()
        self.operation, self.operands = jax.jit(operation), jax.block_until_ready(operands)

    def weight(self, name):
        return jnp.array(self.job.parameter(name).T).astype(self.type)

    def product(self):
        h, w, head = self.x @ self.weight("up.weight"), self.weight("fc.weight"), self.weight("head.weight")
        if self.job.direction == "forward":
            return (lambda a, b: a @ b), (h, w), lambda y: y @ head
        difference = (h @ w @ head).astype(jnp.float32) - jnp.array(self.job.target())
        g = (difference * (2 / difference.size)).astype(self.type) @ head.T
        if self.job.direction == "input_gradient":
            return (lambda a, b: a @ b.T), (g, w), lambda y: y.T @ self.x
        return (lambda a, b: a.T @ b), (h, g), lambda y: y.T

    def norm(self):
        weight, bias = jnp.array(self.job.parameter("norm.weight")), jnp.array(self.job.parameter("norm.bias"))
        head = self.weight("head.weight")
        operation = lambda a: layer_norm(a, weight, bias).astype(self.type)
        return operation, (self.x @ self.weight("up.weight"),), lambda y: y @ head

    def sum(self):
        head = self.weight("head.weight")
        operation = lambda a, b: jax.nn.gelu(a + b, approximate=False)
        return operation, (self.x @ self.weight("a.weight"), self.x @ self.weight("b.weight")), lambda y: y @ head

    def entropy(self):
        labels = jnp.array(self.job.target())
        gradient = jax.grad(lambda logits: loss_of("cross_entropy", logits, labels))
        return gradient, (self.x @ self.weight("up.weight"),), lambda y: y.T @ self.x

    def probe(self):
        return sampled(self.seen(self.operation(*self.operands)).astype(jnp.float32))

    def run(self, count):
        for _ in range(count):
            jax.block_until_ready(self.operation(*self.operands))


if __name__ == "__main__":
    serve(lambda job, contender: Steps(job) if job.kind in ("step", "update") else Kernel(job))
