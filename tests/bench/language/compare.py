# SPDX-License-Identifier: Apache-2.0
"""The example's language model beside the same model in torch and JAX: losses step by step, from equal weights on equal batches,
then tokens a second in training and in decoding, taking turns, and the most memory that each process had. Started by ./run, which
builds and fetches what it needs.

A loss is compared as the mean of ten steps; the aim is 1 % at every place of the run. A ratio of speeds is that of one round:
above 1 Halftone is faster. Printed are medians with quartiles.
"""

import argparse
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from turns import Worker, measure, text_of  # noqa: E402

MEAN_OF, AIM, SAME = 10, 0.01, 0.95


def means(losses):
    return [sum(losses[i:i + MEAN_OF]) / MEAN_OF for i in range(0, len(losses) - MEAN_OF + 1, MEAN_OF)]


def compare_losses(ours, theirs, steps):
    """The largest relative difference of means, and the losses."""
    losses = [worker.ask("losses", steps) for worker in (ours, theirs)]
    pairs = list(zip(*map(means, losses)))
    print(f"losses of {steps} steps, means of {MEAN_OF}: step, halftone, torch")
    for i in sorted({0, *range(0, len(pairs), max(1, len(pairs) // 10)), len(pairs) - 1}):
        print(f"  {(i + 1) * MEAN_OF:5} {pairs[i][0]:.4f} {pairs[i][1]:.4f} {100 * (pairs[i][0] / pairs[i][1] - 1):+.3f} %")
    worst = max(abs(a / b - 1) for a, b in pairs)
    print(f"  largest difference {100 * worst:.3f} %, the aim is {100 * AIM:.0f} %")
    return worst, losses


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", required=True)
    parser.add_argument("--tokens", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--format", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--compiled", action="store_true", help="torch.compile as well")
    parser.add_argument("--jax", action="store_true", help="JAX as well, where PyPI has it")
    parser.add_argument("--json")
    return parser.parse_args()


def started(options, weights):
    """A worker for each contender and number of threads. JAX takes the processors that it may run on."""
    workers = {}
    for threads in options.threads:
        os.environ["HALFTONE_THREADS"] = str(threads)
        ours = workers["halftone", threads] = Worker(options.worker, options.format, options.tokens, weights)
        if len(workers) == 1:
            print(f"{ours.ask('weights')[0]:,.0f} parameters, {options.format}")
        for form in ["eager", *(["compiled"] if options.compiled else [])]:
            workers[form, threads] = Worker(sys.executable, HERE / "torch_worker.py", form, options.format, threads, options.tokens,
                                            weights)
        if options.jax:
            workers["jax", threads] = Worker("taskset", "-c", ",".join(map(str, range(threads))), sys.executable,
                                             HERE / "jax_worker.py", options.format, options.tokens, weights)
    return workers


def compare_tokens(ours, theirs, steps=64):
    """The share of tokens that both find likeliest behind prompts, from the weights of now."""
    pairs = list(zip(ours.ask("greedy", steps), theirs.ask("greedy", steps), strict=True))
    share = sum(a == b for a, b in pairs) / len(pairs)
    print(f"of {len(pairs)} tokens behind prompts {100 * share:.1f} % are torch's, the aim is {100 * SAME:.0f} %")
    return share


def compare_speeds(workers, options):
    asked = {"training": ("speed", 0), "decoding, a step": ("decode", 0), "decoding, a prompt": ("decode", 1)}
    answers, figures = {}, {}
    for what, (word, place) in asked.items():
        contenders = [who for who in workers if word == "speed" or who[0] != "jax"]
        if place == 0:
            answers = measure(options.rounds, contenders, lambda who: workers[who].ask(word, options.seconds))
        figures[what] = {who: [answer[place] for answer in answers[who]] for who in contenders}
        print(f"{what}, tokens a second" + (", and the most memory of the process so far" if word == "speed" else ""))
        for (name, threads), values in figures[what].items():
            line = f"  {name:9} {threads} threads  {text_of(values)}"
            if name != "halftone":
                line += f"; halftone beside it: {text_of([a / b for a, b in zip(figures[what]['halftone', threads], values)])}"
            print(line + (f"; {workers[name, threads].ask('memory')[0] / 2**20:,.0f} MiB" if word == "speed" else ""))
    return figures


def main():
    options = arguments()
    workers = started(options, options.work / "weights.safetensors")
    most = max(options.threads)
    share = compare_tokens(workers["halftone", most], workers["eager", most])
    worst, losses = compare_losses(workers["halftone", most], workers["eager", most], options.steps)
    if options.jax:
        jax = workers["jax", most].ask("losses", options.steps)
        apart = max(abs(a / b - 1) for a, b in zip(means(jax), means(losses[1])))
        print(f"  JAX's differ from torch's by {100 * apart:.3f} % at most")
    figures = compare_speeds(workers, options) if options.rounds > 0 else {}
    if options.json:
        speeds = {what: {f"{name} {threads}": values for (name, threads), values in each.items()} for what, each in figures.items()}
        pathlib.Path(options.json).write_text(json.dumps({"losses": losses, "worst": worst, "tokens_per_second": speeds}, indent=1))
    if worst > AIM or share < SAME:
        sys.exit("compare: the losses, or the tokens, of Halftone and torch differ by more than the aim")


if __name__ == "__main__":
    main()
