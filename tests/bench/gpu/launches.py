# SPDX-License-Identifier: Apache-2.0
"""Where the time of a step goes: every launch by itself, summed by kernel.

launches.py BENCH MODEL SIZES [PROGRAM]
BENCH is the program of bench.cpp, SIZES are "batch=8,time=128", PROGRAM is training unless given. A row for each kernel, the longest
first: launches, microseconds of all of them, their part of the sum, GB/s of operands and results.
"""

import sys

from compare import Bench


def main(program, model, sizes, which="training"):
    bench = Bench(program)
    kernels = {}
    for word in bench.ask("launches", model, which, sizes).split():
        site, size, kernel = word.split(",")
        seconds = bench.seconds("launch", model, which, sizes, site, 5) / 5
        count, time, moved = kernels.get(kernel, (0, 0.0, 0))
        kernels[kernel] = (count + 1, time + seconds, moved + int(size))
    total = sum(time for _, time, _ in kernels.values())
    print(f"{model}, {which}, {sizes}: {sum(count for count, _, _ in kernels.values())} launches, {1e6 * total:.0f} us one by one")
    for kernel, (count, time, moved) in sorted(kernels.items(), key=lambda each: -each[1][1]):
        print(f"{kernel:40s} {count:4d} {1e6 * time:10.1f} us {100 * time / total:5.1f} % {moved / time / 1e9:8.0f} GB/s")


if __name__ == "__main__":
    if not 4 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
