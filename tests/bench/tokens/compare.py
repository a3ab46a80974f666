# SPDX-License-Identifier: Apache-2.0
"""Halftone's tokenizer beside its peers, taking turns. Started by ./run, which builds and fetches what it needs.

In each round every contender has one turn, in an order that is drawn anew. A ratio is that of seconds in the same round: above 1
Halftone is faster. Printed are medians with quartiles.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/tokens"), str(ROOT / "tests/bench")]
from theirs import tiktoken_of, trained  # noqa: E402
from turns import Worker, measure, text_of  # noqa: E402

SIZE = 8192
SUFFIXES = {".md", ".cpp", ".hpp", ".h", ".td", ".cuh", ".py", ".mlir", ".txt"}


class Case:
    """A text, its lines, and the same tokenizer of each contender."""

    def __init__(self, name, text, folder, ours):
        self.name, self.text, self.ours = name, text, ours
        file, pair = folder / f"{name}.json", folder / f"{name}.pair"
        (folder / f"{name}.txt").write_bytes(text.encode())
        self.lines = [line + "\n" for line in text.split("\n")[:-1]] + ([tail] if (tail := text.split("\n")[-1]) else [])
        self.theirs = trained([text], SIZE, 2)
        self.theirs.save(str(file))
        self.theirs.encode_special_tokens = True  # names of them are text
        pair.mkdir(exist_ok=True)
        self.theirs.model.save(str(pair))
        self.tiktoken = tiktoken_of(pair)
        ours.ask("load", name, file)

    def train(self, contender):
        if contender == "halftone":
            return self.ours.ask("train", self.name, SIZE)[0]
        start = time.perf_counter()
        trained([self.text], SIZE, 2)
        return time.perf_counter() - start

    def encode(self, contender, by_line):
        if contender == "halftone":
            return self.ours.ask("lines" if by_line else "whole", self.name)
        texts = self.lines if by_line else [self.text]
        start, tokens = time.perf_counter(), 0
        if contender == "tiktoken":
            for text in texts:
                tokens += len(self.tiktoken.encode_ordinary(text))
        else:
            for text in texts:
                tokens += len(self.theirs.encode(text))
        return time.perf_counter() - start, tokens


def show(title, seconds, megabytes):
    print(title)
    for contender, values in seconds.items():
        ratios = [theirs / ours for ours, theirs in zip(seconds["halftone"], values)]
        beside = "" if contender == "halftone" else f"; halftone is {text_of(ratios)} times as fast"
        print(f"  {contender:10} {text_of(values)} s, {text_of([megabytes / value for value in values])} MB/s{beside}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args()
    folder, results = options.work, []
    ours = Worker(options.worker, folder)
    novels = "".join((folder / name).read_text() for name in ["training.txt", "held_out.txt"])
    files = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    sources = "".join((ROOT / file).read_text() for file in files if pathlib.Path(file).suffix in SUFFIXES)
    for name, text in [("novels", novels), ("sources", sources)]:
        case, megabytes = Case(name, text, folder, ours), len(text.encode()) / 1e6
        counts = {contender: [int(case.encode(contender, by_line)[1]) for by_line in (False, True)]
                  for contender in ("halftone", "tokenizers", "tiktoken")}
        assert len(set(map(tuple, counts.values()))) == 1, counts
        seconds = measure(options.rounds, ["halftone", "tokenizers"], case.train)
        show(f"{name}, {megabytes:.1f} MB: training {SIZE} tokens", seconds, megabytes)
        results.append({"case": name, "what": "train", "seconds": seconds})
        for by_line in (False, True):
            what = f"encoding {len(case.lines)} lines" if by_line else "encoding in one call"
            seconds = measure(options.rounds, list(counts), lambda contender: case.encode(contender, by_line)[0])
            show(f"{name}: {what}, {counts['halftone'][by_line]} tokens", seconds, megabytes)
            results.append({"case": name, "what": what, "seconds": seconds})
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
