# SPDX-License-Identifier: Apache-2.0
"""Contenders that take turns: what the comparisons of loaders and of tokenizers share."""

import random
import statistics
import subprocess


class Worker:
    """A process that answers each line of standard input with "ok" and numbers, or with what is wrong."""

    def __init__(self, *command):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        verdict, _, answer = self.process.stdout.readline().strip().partition(" ")
        if verdict != "ok":
            raise RuntimeError(f"{' '.join(map(str, words))}: {answer or 'the worker ended'}")
        return [float(number) for number in answer.split()]


def text_of(values):
    """The median with the quartiles."""
    low, middle, high = statistics.quantiles(values, n=4)
    digits = 0 if middle >= 100 else 1 if middle >= 10 else 2
    return f"{middle:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


def measure(rounds, contenders, ask):
    """Figures of each contender, by round, in an order that each draws anew; the first round warms up and does not count."""
    figures = {contender: [] for contender in contenders}
    chance = random.Random(1)
    for each in range(rounds + 1):
        order = list(contenders)
        chance.shuffle(order)
        for contender in order:
            figure = ask(contender)
            if each > 0:
                figures[contender].append(figure)
    return figures
