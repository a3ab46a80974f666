# SPDX-License-Identifier: Apache-2.0
"""Packages of PyPI that files are compared with."""
import pathlib
import subprocess
import sys

kPackages = ["safetensors==0.8.*", "numpy==2.*"]


def fetch(folder: pathlib.Path, packages: list[str] = kPackages) -> None:
    """Fetches them into the folder once, for import; exits with 77 where PyPI cannot be reached."""
    name = packages[0].split("=")[0]
    if not (folder / name).is_dir():
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "2",
                               "--timeout", "20", "--target", str(folder), *packages], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"Skipped: PyPI's {name} cannot be had:", (done.stderr.strip() or "pip failed").splitlines()[-1])
            sys.exit(77)
    sys.path.insert(0, str(folder))
