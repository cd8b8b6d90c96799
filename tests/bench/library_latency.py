#!/usr/bin/env python3
"""library_latency.py CLVET LIBRARY_BENCH LIBRARY MODEL NAME=1x3x48x192 [--device SEL --report FILE] [--rounds N]: how long a program
of the public library waits for an answer, beside 'clvet bench' of the same model.

Each round has a process of each: 'clvet bench', the C++ program (clvet_library_bench latency) and Python (the package in python/).
All time the call with the inputs to the outputs. Prints the median of the rounds' ratios to 'clvet bench'; needs a quiet machine and
the python of `bash ci/setup.sh --test`. LIBRARY: libclvet.so.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = 100


def python_ms(arguments):
    """In a process of its own: the median of RUNS."""
    import clvet
    import numpy

    name, sizes = arguments.input.split("=")
    shape = [int(size) for size in sizes.split("x")]
    values = numpy.random.default_rng(1).uniform(-1, 1, shape).astype(numpy.float32)
    times = []
    with clvet.Session(arguments.model, device=arguments.device, report=arguments.report or None, state_dir=arguments.state) as session:
        for _ in range(RUNS + 5):
            start = time.perf_counter()
            session.run(None, {name: values})
            times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[5:])


def output_of(words, environment=None):
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True, env=environment).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in "clvet", "bench", "library", "model", "input":
        parser.add_argument(name)
    parser.add_argument("--device", default="host")
    parser.add_argument("--report", default="")
    parser.add_argument("--state", default="/tmp/clvet-library-latency")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--python", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.python:
        print(python_ms(arguments))
        return
    os.makedirs(arguments.state, mode=0o700, exist_ok=True)
    environment = dict(os.environ, CLVET_STATE_DIR=arguments.state, CLVET_LIBRARY=arguments.library, PYTHONPATH=str(ROOT / "python"))
    place = ["--device", arguments.device] + (["--report", arguments.report] if arguments.report else [])
    rows = []
    for _ in range(arguments.rounds):
        document = json.loads(output_of([arguments.clvet, "bench", arguments.model, "--shape", arguments.input, "--warm-up", 5, "--repeat", RUNS,
                                         *place, "--json", "-"], environment))
        program = document["measurements"][0]["median_ms"]
        words = [f"device={arguments.device}", f"report={arguments.report}", f"state_dir={arguments.state}", f"runs={RUNS}"]
        figures = dict(line.split() for line in output_of([arguments.bench, "latency", arguments.model, arguments.input, *words]).splitlines())
        python = float(output_of([sys.executable, __file__, *sys.argv[1:], "--python"], environment))
        rows.append((program, float(figures["median_ms"]), python))
        print("bench {:.3f} ms, C++ {:.3f} ms, Python {:.3f} ms".format(*rows[-1]), flush=True)
    for at, name in (1, "C++"), (2, "Python"):
        print(f"{name} over clvet bench: {statistics.median(row[at] / row[0] for row in rows):.3f}")


main()
