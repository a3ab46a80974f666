# SPDX-License-Identifier: Apache-2.0
"""Nsight Compute over one launch of each of the kernels that matter most.

counters.py BENCH FOLDER NCU [--seconds N] [--rehearse]
BENCH is the program of bench.cpp; FOLDER gets ncu_NAME.csv, one line for each metric, and ncu_NAME.txt, what was said. With an empty
NCU the launches are made all the same. Exit status 77 when nothing was profiled.
"""

import argparse
import os
import subprocess
import sys
import time

from compare import Bench

SECTIONS = ("SpeedOfLight", "MemoryWorkloadAnalysis", "LaunchStats", "Occupancy", "WarpStateStats", "SchedulerStats")
MOST_SECONDS = 30  # of a kernel
# name: model, program, sizes, sizes in a rehearsal, phase, kernels
KERNELS = {
    "linear": ("bench_linear", "inference", "4096", "16", "", "inference_fc"),
    "weight_gradient": ("gemm_4096", "training", "4096", None, "", "fc_weight_gradient"),
    "norm_forward": ("bench_norm", "inference", "16384", "8", "", "inference_norm"),
    "norm_backward": ("bench_norm", "training", "16384", "8", "", "norm_gradient", "norm_weight_gradient"),
    "entropy": ("bench_entropy", "training", "4096", "2", "", "xent"),
    "adamw": ("bench_adamw", "training", "32", None, "", "update"),
    "attention": ("attention_64", "inference", "batch=8,time=2048", "batch=1,time=64", "forward", "mix", "mix_softmax", "mix_2"),
}


def profile(name, bench, options, seconds):
    """Whether there is a table of it."""
    model, program, sizes, tiny, phase, *kernels = KERNELS[name]
    sizes = tiny if options.rehearse else sizes
    if sizes is None:
        print(f"skipped {name}: too large for a simulated device", flush=True)
        return False
    sites, _ = bench.launches(model, program, sizes, *kernels, phase=phase)
    bench.restart()  # its memory, and the GPU, are the other's
    command = [options.bench, "once", model, program, sizes, sites]
    table = os.path.join(options.folder, f"ncu_{name}.csv")
    if options.ncu:
        command = [options.ncu, "--csv", "--log-file", table, "--page", "details", "--clock-control", "none", "--profile-from-start", "off",
                   *(word for section in SECTIONS for word in ("--section", section)), *command]
    start = time.monotonic()
    with open(os.path.join(options.folder, f"ncu_{name}.txt"), "w") as said:
        said.write(" ".join(command) + "\n")
        said.flush()
        status = subprocess.run(command, stdout=said, stderr=subprocess.STDOUT, timeout=seconds).returncode
    print(f"{name}: status {status} after {time.monotonic() - start:.1f} s", flush=True)
    if not options.ncu or not os.path.exists(table):
        return False
    with open(table) as file:
        text = file.read()
    if "ERR_NVGPUCTRPERM" in text:
        raise PermissionError("ncu may not read this GPU's counters (ERR_NVGPUCTRPERM)")
    if status != 0:
        print(text[-2000:], flush=True)
    return status == 0


def main(options):
    end = time.monotonic() + options.seconds
    os.makedirs(options.folder, exist_ok=True)
    bench, done = Bench(options.bench), []
    for name in KERNELS:
        left = end - time.monotonic()
        if left < 8 and not options.rehearse:
            print(f"skipped {name}: the time of this run is used up", flush=True)
            continue
        try:
            if profile(name, bench, options, None if options.rehearse else min(left, MOST_SECONDS)):
                done.append(name)
        except PermissionError as error:
            print(f"skipped everything: {error}", flush=True)
            break
        except Exception as error:
            print(f"FAILED  {name}: {error}", flush=True)
            bench.restart()
    bench.restart()
    print(f"profiled: {' '.join(done) or 'nothing'}", flush=True)
    return 0 if done or options.rehearse else 77


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bench")
    parser.add_argument("folder")
    parser.add_argument("ncu")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--rehearse", action="store_true")
    sys.exit(main(parser.parse_args()))
