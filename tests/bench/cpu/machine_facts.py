# SPDX-License-Identifier: Apache-2.0
"""This machine and what runs on it, as far as figures depend on it."""

import glob
import os
import platform
import re
import subprocess
import time

FEATURES = ("avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512_bf16", "amx_tile", "amx_bf16")


def _read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def cores():
    """One logical processor of each core that this process may use, the last first: the first serves interrupts."""
    found = {}
    for core in sorted(os.sched_getaffinity(0)):
        siblings = _read(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list") or str(core)
        found.setdefault(siblings, core)
    return sorted(found.values(), reverse=True)


def caches():
    """{"L1 data": bytes, "L2": bytes, ...} of one core."""
    found = {}
    for index in sorted(glob.glob(f"/sys/devices/system/cpu/cpu{cores()[0]}/cache/index*")):
        level, kind, size = (_read(f"{index}/{name}") for name in ("level", "type", "size"))
        if kind == "Instruction" or not re.fullmatch(r"\d+[KM]", size):
            continue
        found[f"L{level}"] = int(size[:-1]) * {"K": 1 << 10, "M": 1 << 20}[size[-1]]
    return found


def busy_seconds():
    """Processor seconds of everything on this machine since it started."""
    user, nice, system, _, _, interrupts, soft, *_ = map(int, _read("/proc/stat").splitlines()[0].split()[1:])
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")


def facts(halftone_worker):
    text = _read("/proc/cpuinfo")
    model = re.search(r"model name\s*:\s*(.*)", text)
    flags = set((re.search(r"flags\s*:\s*(.*)", text) or re.match("()", "")).group(1).split())
    memory = re.search(r"MemTotal:\s*(\d+) kB", _read("/proc/meminfo"))
    found = caches()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": model.group(1) if model else platform.machine(),
        "features": [name for name in FEATURES if name in flags],
        "cores": len(cores()),
        "caches": found,
        "largest cache bytes": max(found.values(), default=32 << 20),
        "memory GiB": round(int(memory.group(1)) / 2**20, 1) if memory else None,
        "load before": os.getloadavg()[0],
        "system": platform.platform(),
        "commit": subprocess.run(["git", "describe", "--always", "--dirty"], cwd=os.path.dirname(os.path.abspath(__file__)),
                                 capture_output=True, text=True).stdout.strip(),
        "Halftone": subprocess.run([halftone_worker, "about"], capture_output=True, text=True).stdout.strip(),
    }
