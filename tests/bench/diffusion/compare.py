# SPDX-License-Identifier: Apache-2.0
"""The example's U-Net beside the same model in torch: losses step by step, from equal weights on equal batches, then clips a second in
training, taking turns, and the most memory that each process had. Started by ./run, which builds and fetches what it needs.

A loss is compared as the mean of ten steps; the aim is 1 % at every place of the run. Training multiplies what sums leave behind their last
digit, so torch is also compared with torch of other last digits: what these two differ by, no other implementation can come below, and a
run that is longer than they agree is held to that. A ratio of speeds is that of one round: above 1 Halftone is faster. Printed are medians
with quartiles.
"""

import argparse
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from turns import Worker, measure, text_of  # noqa: E402

MEAN_OF, AIM, BATCHES = 10, 0.01, 64


def means(losses):
    return [sum(losses[i:i + MEAN_OF]) / MEAN_OF for i in range(0, len(losses) - MEAN_OF + 1, MEAN_OF)]


def differences(losses, others):
    """Relative ones, of means."""
    return [a / b - 1 for a, b in zip(means(losses), means(others))]


def compare_losses(ours, torch, again, steps):
    """The largest relative difference of means from torch's, that of torch again, and the losses."""
    losses = [worker.ask("losses", steps) for worker in (ours, torch, again)]
    ratios, bound = differences(losses[0], losses[1]), differences(losses[2], losses[1])
    print(f"losses of {steps} steps, means of {MEAN_OF}: step, torch, halftone beside it, torch again beside it")
    for i in sorted({0, *range(0, len(ratios), max(1, len(ratios) // 10)), len(ratios) - 1}):
        print(f"  {(i + 1) * MEAN_OF:5} {means(losses[1])[i]:.5f} {100 * ratios[i]:+.4f} % {100 * bound[i]:+.4f} %")
    worst, other = (max(map(abs, values)) for values in (ratios, bound))
    print(f"  largest difference {100 * worst:.4f} %, the aim is {100 * AIM:.0f} %; torch from itself {100 * other:.4f} %")
    return worst, other, losses


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", required=True)
    parser.add_argument("--clips", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--format", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--compiled", action="store_true", help="torch.compile as well")
    parser.add_argument("--json")
    return parser.parse_args()


def started(options):
    """A worker for each contender and number of threads."""
    workers = {}
    for threads in options.threads:
        os.environ["HALFTONE_THREADS"] = str(threads)
        ours = workers["halftone", threads] = Worker(options.worker, options.format, options.clips, options.work)
        if len(workers) == 1:
            print(f"{ours.ask('weights')[0]:,.0f} parameters, {options.format}")
            ours.ask("batches", BATCHES)
        for form in ["eager", *(["compiled"] if options.compiled else [])]:
            workers[form, threads] = Worker(sys.executable, HERE / "torch_worker.py", form, options.format, threads, options.work)
    return workers


def compare_speeds(workers, options):
    figures = measure(options.rounds, list(workers), lambda who: workers[who].ask("speed", options.seconds)[0])
    print("training, clips a second, and the most memory of the process")
    for (name, threads), values in figures.items():
        line = f"  {name:9} {threads} threads  {text_of(values)}"
        if name != "halftone":
            line += f"; halftone beside it: {text_of([a / b for a, b in zip(figures['halftone', threads], values)])}"
        print(f"{line}; {workers[name, threads].ask('memory')[0] / 2**20:,.0f} MiB")
    return figures


def main():
    options = arguments()
    workers = started(options)
    most = max(options.threads)
    again = Worker(sys.executable, HERE / "torch_worker.py", "again", options.format, most, options.work)
    worst, other, losses = compare_losses(workers["halftone", most], workers["eager", most], again, options.steps)
    figures = compare_speeds(workers, options) if options.rounds > 0 else {}
    if options.json:
        speeds = {f"{name} {threads}": values for (name, threads), values in figures.items()}
        pathlib.Path(options.json).write_text(json.dumps({"losses": losses, "worst": worst, "torch_from_itself": other, "clips_per_second": speeds}, indent=1))
    if worst > max(AIM, other):
        sys.exit("compare: the losses of Halftone and torch differ by more than the aim, and by more than torch's own")


if __name__ == "__main__":
    main()
