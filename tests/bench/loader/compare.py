# SPDX-License-Identifier: Apache-2.0
"""Halftone's loader beside its peers, taking turns. Started by ./run, which builds and fetches what it needs.

In each round every contender has one turn, in an order that is drawn anew. A ratio is that of rows a second, or of seconds to
parse, in the same round: above 1 Halftone is faster. Printed are medians with quartiles.
"""

import argparse
import json
import os
import pathlib
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from turns import Worker, measure, text_of  # noqa: E402

OURS = ["halftone 0", "halftone 1", "halftone 2"]
THEIRS = ["workers 0", "workers 1", "workers 2", "indexed"]
PARSERS = ["pandas", "numpy.loadtxt", "csv"]
CASES = [("rows", 64, "200,000 rows of 16 f32 and an i64 label, .npy, mapped"),
         ("rows", 1024, "the same"),
         ("images", 64, "20,000 images of 28 x 28 u8, scaled to f32, and an i64 label, .npy, mapped"),
         ("images", 256, "the same"),
         ("table", 64, "200,000 rows of 16 f32 and an i32 label, CSV")]


def write_data(folder):
    if (folder / "complete").exists():
        return
    draw = numpy.random.default_rng(1)
    x = draw.standard_normal((200_000, 16)).astype(numpy.float32)
    y = draw.integers(0, 26, 200_000)
    numpy.save(folder / "rows_x.npy", x)
    numpy.save(folder / "rows_y.npy", y)
    numpy.save(folder / "images_x.npy", draw.integers(0, 256, (20_000, 28, 28)).astype(numpy.uint8))
    numpy.save(folder / "images_y.npy", draw.integers(0, 10, 20_000))
    with open(folder / "table.csv", "w") as file:
        file.write(",".join([*(f"f{i}" for i in range(16)), "label"]) + "\n")
        for row, label in zip(x, y):
            file.write(",".join(f"{value:.6g}" for value in row) + f",{label}\n")
    (folder / "complete").touch()


def print_ratios(figures, ours, theirs, larger_is_better):
    for our in ours:
        ratios = []
        for their in theirs:
            pairs = zip(figures[our], figures[their])
            ratios.append(f"{their}: {text_of([a / b if larger_is_better else b / a for a, b in pairs])}")
        print(f"    {our} beside {'; '.join(ratios)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--json")
    options = parser.parse_args()
    folder = options.work
    write_data(folder)
    halftone = Worker(options.worker, folder)
    torch = Worker(sys.executable, HERE / "torch_worker.py", folder)
    results = []
    for case in sorted({case for case, *_ in CASES}):
        our, their = halftone.ask("sum", case), torch.ask("sum", case)
        assert all(abs(a - b) <= 1e-6 * abs(b) + 1e-2 for a, b in zip(our, their)), (case, our, their)
    for case, batch, title in CASES:
        def ask(contender, case=case, batch=batch):
            worker, name = (halftone, contender.split()[1]) if contender in OURS else (torch, contender)
            return worker.ask("run", case, batch, name, options.seconds)[0]

        figures = measure(options.rounds, OURS + THEIRS, ask)
        print(f"{title}; batch {batch}: rows a second, thousands")
        for contender, values in figures.items():
            print(f"  {contender:14} {text_of([value / 1000 for value in values])}")
        print_ratios(figures, OURS, THEIRS, True)
        results.append({"case": case, "batch": batch, "rows_per_second": figures})
    size = os.path.getsize(folder / "table.csv")

    def parse(contender):
        worker, name = (halftone, contender.split()[1]) if contender in OURS else (torch, contender)
        return worker.ask("parse", "table", name)[0]

    figures = measure(max(3, options.rounds // 3), OURS[1:] + PARSERS, parse)
    print(f"parsing {size / 1e6:.0f} MB of CSV, 17 columns: seconds")
    for contender, values in figures.items():
        print(f"  {contender:14} {text_of(values)}")
    print_ratios(figures, OURS[1:], PARSERS, False)
    results.append({"case": "parse", "bytes": size, "seconds": figures})
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
