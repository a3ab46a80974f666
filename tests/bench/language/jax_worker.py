# SPDX-License-Identifier: Apache-2.0
"""jax_worker.py f32|bf16 TOKENS WEIGHTS: examples/language/language.hpp in JAX, from the weights of a file, as one jitted step with
AdamW written out and parameters donated; in bf16 what linears and attention read. Answers lines as peer.py says. It runs on as many
processors as it may use (taskset)."""

import functools
import sys

import jax
import jax.numpy as jnp
from safetensors.numpy import load_file

import peer
from peer import BLOCKS, HEADS, WIDTH


def turned(x, cosine, sine):
    """Rotary of [batch, time, heads, columns], as torch_worker.py has it."""
    first, second = jnp.split(x, 2, -1)
    return jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1)


def loss_of(weights, tokens, following, kind):
    waves = [jnp.asarray(wave(peer.angles()), jnp.float32)[None, :, None, :] for wave in (jnp.cos, jnp.sin)]

    def norm(x, name):
        x = x.astype(jnp.float32)
        return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * weights[name + ".weight"]

    def linear(x, name):
        return x.astype(kind) @ weights[name + ".weight"].T.astype(kind)

    def attended(x, at):
        q, k, v = (linear(x, at + name).reshape(*x.shape[:2], HEADS, WIDTH // HEADS) for name in ("q", "k", "value"))
        q, k = (turned(each.astype(jnp.float32), *waves).astype(kind) for each in (q, k))
        return linear(jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape), at + "join")

    x = weights["embed.weight"][tokens]
    for block in range(BLOCKS):
        at = f"h/{block}/"
        x = x + attended(norm(x, at + "norm"), at)
        y = norm(x, at + "norm2")
        gate = jax.nn.silu(linear(y, at + "mlp/gate").astype(jnp.float32)) * linear(y, at + "mlp/up").astype(jnp.float32)
        x = x + linear(gate, at + "mlp/down")
    logits = linear(norm(x, "norm"), "embed").astype(jnp.float32)
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), following[..., None], -1).mean()


def rate(step):
    """language.hpp's schedule: a warm-up, times a cosine's half wave down to LEAST."""
    wave = (1 + jnp.cos(jnp.pi * jnp.minimum(step / peer.STEPS, 1))) / 2
    return peer.RATE * jnp.minimum((step + 1) / peer.WARM_UP, 1) * (peer.LEAST + (1 - peer.LEAST) * wave)


@functools.partial(jax.jit, donate_argnums=0, static_argnums=3)
def train(state, tokens, following, kind):
    weights, first, second, steps = state
    loss, gradients = jax.value_and_grad(loss_of)(weights, tokens, following, kind)
    norm = jnp.sqrt(sum(jnp.square(g).sum() for g in jax.tree.leaves(gradients)))
    gradients = jax.tree.map(lambda g: g * jnp.minimum(1 / (norm + 1e-6), 1), gradients)
    now, steps = rate(steps), steps + 1
    first = jax.tree.map(lambda m, g: peer.BETA1 * m + (1 - peer.BETA1) * g, first, gradients)
    second = jax.tree.map(lambda v, g: peer.BETA2 * v + (1 - peer.BETA2) * g * g, second, gradients)

    def moved(p, m, v):
        p = p * (1 - now * peer.DECAY)
        return p - now * (m / (1 - peer.BETA1**steps)) / (jnp.sqrt(v / (1 - peer.BETA2**steps)) + peer.EPSILON)

    return (jax.tree.map(moved, weights, first, second), first, second, steps), loss


class Trainer:
    def __init__(self, format, tokens, weights):
        weights = {name: jnp.array(value) for name, value in load_file(weights).items()}
        zeros = [jax.tree.map(jnp.zeros_like, weights) for _ in range(2)]
        self.state, self.kind = (weights, *zeros, jnp.float32(0)), jnp.bfloat16 if format == "bf16" else jnp.float32
        self.batches, self.steps = peer.Batches(tokens), 0

    def step(self):
        tokens, following = self.batches[self.steps]
        self.state, loss = train(self.state, tokens, following, self.kind)
        self.steps += 1
        return float(loss)


def no_decoder():
    sys.exit("jax_worker: JAX has no decoding of its own to compare with")


if __name__ == "__main__":
    peer.serve(Trainer(*sys.argv[1:]).step, no_decoder)
