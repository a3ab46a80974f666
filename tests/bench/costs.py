# SPDX-License-Identifier: Apache-2.0
"""What commands cost, for the benches of compilers and generators."""
import os
import subprocess

kRoot = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
kIncludes = [f"-isystem{os.path.join(kRoot, folder)}" for folder in ("dsl/include", "dsl/description/include", "encoding/include")]


def cost(command, **options):
    """Processor seconds and megabytes of a command with all that it starts; nothing when it fails."""
    process = subprocess.Popen(command, **options)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    return (used.ru_utime + used.ru_stime, used.ru_maxrss / 1000) if status == 0 else None


def cost_of_spec(compiler, source):
    """Of a specification's own file."""
    return cost([compiler, "-std=c++20", "-O2", "-c", source, "-o", source + ".o", *kIncludes])
