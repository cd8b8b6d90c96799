#!/usr/bin/env python3
"""first_result.py CLVET BARE MODEL [OPTION...] [--report FILE] [--rounds N] [--library NAME] [--driver-caches]: from the start of a
process to its first result.

Each round has, in turn: a start of `clvet run MODEL OPTION...` without saved programs, one with them, and a bare program of OpenCL
(clvet_bare_opencl), which makes a context and a queue and computes nothing. The options name the inputs and the device; FILE becomes
this machine's own report, without which one is probed first. Caches of the drivers themselves are off, unless --driver-caches: those
that a user has, such as NVIDIA's, without which each start compiles what clvet saved. The first result is the first line on
standard output; the end of the process comes later, and is told too. Prints medians in milliseconds; needs a machine that does
nothing else.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

OFF = {"POCL_KERNEL_CACHE": "0", "CUDA_CACHE_DISABLE": "1", "MESA_SHADER_CACHE_DISABLE": "1"}


def times_of(command, environment):
    """Milliseconds to the first line, and to the end."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    first = process.stdout.readline()
    ready = time.perf_counter()
    _, errors = process.communicate()
    ended = time.perf_counter()
    if process.returncode != 0 or not first:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}\n{errors.decode()}")
    return 1e3 * (ready - started), 1e3 * (ended - started)


def option(words, name, default):
    if name not in words:
        return default
    at = words.index(name)
    value = words[at + 1]
    del words[at:at + 2]
    return value


def main():
    words = sys.argv[1:]
    rounds, library = int(option(words, "--rounds", "15")), option(words, "--library", "libOpenCL.so.1")
    report, caches = option(words, "--report", ""), {} if "--driver-caches" in words else OFF
    words = [word for word in words if word != "--driver-caches"]
    clvet, bare, *run = words
    samples = {"without saved programs": [], "with them": [], "bare OpenCL": []}
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, **caches, CLVET_STATE_DIR=folder)
        if report:
            shutil.copy(report, f"{folder}/report.json")
            os.chmod(f"{folder}/report.json", 0o600)
        start = [clvet, "run", *run]
        for _ in range(2):  # the first saves the programs, the second has its answer confirmed
            times_of(start, environment)
        for _ in range(rounds):
            samples["without saved programs"].append(times_of(start, dict(environment, CLVET_PROGRAM_CACHE_MIB="0")))
            samples["with them"].append(times_of(start, environment))
            samples["bare OpenCL"].append(times_of([bare, library], environment))
    print(f"{'':24}{'first result':>14}{'end':>10}   ms, medians of {rounds}")
    for name, rows in samples.items():
        print(f"{name:24}{statistics.median(row[0] for row in rows):14.0f}{statistics.median(row[1] for row in rows):10.0f}")
    beyond = [warm[0] - plain[0] for warm, plain in zip(samples["with them"], samples["bare OpenCL"])]
    print(f"with saved programs, beyond the bare program: {statistics.median(beyond):.0f} ms, at best {min(beyond):.0f}")


if __name__ == "__main__":
    sys.exit(main())
