# SPDX-License-Identifier: Apache-2.0
"""What commands cost, for the benches of compilers and generators."""
import ctypes
import os
import platform
import struct
import subprocess

kRoot = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
kIncludes = [f"-isystem{os.path.join(kRoot, folder)}" for folder in ("dsl/include", "dsl/description/include", "encoding/include")]


def cost(command, **options):
    """Processor seconds and megabytes of a command with all that it starts; nothing when it fails."""
    process = subprocess.Popen(command, **options)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    return (used.ru_utime + used.ru_stime, used.ru_maxrss / 1000) if status == 0 else None


def open_counter():
    """A file of the kernel's that counts the instructions of this process and of all it starts from now on, kernel left out; nothing
    where the machine has no counter or refuses it. perf_event_open(2), linux/perf_event.h: PERF_TYPE_HARDWARE,
    PERF_COUNT_HW_INSTRUCTIONS, inherit, exclude_kernel, exclude_hv, in the first version of the structure."""
    number = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
    if number is None:
        return None
    attributes = struct.pack("=IIQQQQQ", 0, 64, 1, 0, 0, 0, 1 << 1 | 1 << 5 | 1 << 6).ljust(64, b"\0")
    file = ctypes.CDLL(None).syscall(number, attributes, 0, -1, -1, 0)
    return os.fdopen(file, "rb", buffering=0) if file >= 0 else None


def instructions(command, counter):
    """Millions of instructions of a command with all that it starts, as `counter` counts them; nothing when it fails. Unlike seconds
    they are the same, within 1 %, whatever else the machine does."""
    begin, = struct.unpack("=Q", counter.read(8))
    if subprocess.run(command).returncode != 0:
        return None
    end, = struct.unpack("=Q", counter.read(8))
    return (end - begin) / 1e6


def cost_of_spec(compiler, source):
    """Of a specification's own file."""
    return cost([compiler, "-std=c++20", "-O2", "-c", source, "-o", source + ".o", *kIncludes])
