# SPDX-License-Identifier: Apache-2.0
"""What the workers of torch and JAX share: the sizes of examples/language/language.hpp, its batches, and the lines that they
answer, as language_worker does."""

import sys
import time

import numpy

BATCH, WINDOW, WIDTH, HEADS, BLOCKS, VOCABULARY = 8, 128, 192, 6, 4, 4096
SEQUENCES, PROMPT, STEPS_DECODED = 8, 64, 64
RATE, BETA1, BETA2, EPSILON, DECAY = 2e-3, 0.9, 0.95, 1e-8, 0.1
WARM_UP, STEPS, LEAST = 60, 1200, 0.1


def angles():
    """[times, pairs], of rotary's pairs."""
    pairs = WIDTH // HEADS // 2
    return numpy.arange(WINDOW)[:, None] * 10000.0 ** (-numpy.arange(pairs) / pairs)[None, :]


class Batches:
    """Windows of a token file in their order, again and again: [BATCH, WINDOW] each, tokens and what follows them."""

    def __init__(self, file):
        self.tokens = numpy.fromfile(file, "<u2").astype(numpy.int64)
        self.batches = (len(self.tokens) - 1) // WINDOW // BATCH

    def __getitem__(self, step):
        first = step % self.batches * BATCH * WINDOW
        return tuple(self.tokens[first + i:first + i + BATCH * WINDOW].reshape(BATCH, WINDOW) for i in (0, 1))


def prompts():
    """[SEQUENCES, PROMPT]"""
    return (1 + 37 * numpy.arange(SEQUENCES * PROMPT).reshape(SEQUENCES, PROMPT)) % VOCABULARY


def greedy(decoder, count):
    """So many tokens behind each prompt, token by token, of all sequences."""
    found, following = [], decoder.read(prompts())
    for _ in range(count):
        found += following.tolist()
        following = decoder.step(following)
    return found


def decoding_speeds(decoder, most):
    """Tokens a second of steps, and of reading the prompts."""
    reading = stepping = rounds = 0
    while reading + stepping < most:
        start = time.perf_counter()
        following = decoder.read(prompts())
        middle = time.perf_counter()
        for _ in range(STEPS_DECODED):
            following = decoder.step(following)
        following.tolist()
        reading, stepping, rounds = reading + middle - start, stepping + time.perf_counter() - middle, rounds + 1
    return [rounds * STEPS_DECODED * SEQUENCES / stepping, rounds * PROMPT * SEQUENCES / reading]


def peak_bytes():
    """The most memory that this process had at once."""
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def serve(step, make_decoder):
    """Answers what stands on each line; `step()` is one step and returns its loss. `make_decoder()`, of the weights of now, has
    `read(prompts)` and `step(tokens)`, which return the likeliest token of each sequence."""
    for line in sys.stdin:
        what, *amount = line.split()
        if what == "losses":
            numbers = [step() for _ in range(int(amount[0]))]
        elif what == "speed":
            start, steps = time.perf_counter(), 0
            while steps == 0 or time.perf_counter() - start < float(amount[0]):
                step()
                steps += 1
            numbers = [steps * BATCH * WINDOW / (time.perf_counter() - start)]
        elif what == "greedy":
            numbers = greedy(make_decoder(), int(amount[0]))
        elif what == "decode":
            numbers = decoding_speeds(make_decoder(), float(amount[0]))
        else:
            numbers = [peak_bytes()]
        print("ok", *numbers, flush=True)
