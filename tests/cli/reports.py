"""The report that a test on real models runs with."""

import json
import os
import pathlib
import subprocess

ONE_SHAPE_A_KERNEL = pathlib.Path(__file__).resolve().parents[2] / "ci/expectations/each-gpu-variant.txt"


def small_cases():
    """One small shape of each kernel made for GPUs: what a slow driver can be asked to try."""
    return [line for line in ONE_SHAPE_A_KERNEL.read_text().split() if "/*/" in line]


def report_of(clvet):
    """The report, and the options with which a verb of `clvet` uses it. CLVET_TEST_CASES=small: of small_cases() alone;
    otherwise the state folder's, made there if there is none."""
    options, extra = [], []
    if os.environ.get("CLVET_TEST_CASES") == "small":
        path = str(pathlib.Path(os.environ["CLVET_STATE_DIR"]) / "small.json")
        options = ["--report", path]
        extra = ["--tier", "full", "--out", path, *(word for case in small_cases() for word in ("--case", case))]
    done = subprocess.run([clvet, "probe", *(extra or ["--if-changed"]), "--json", "-", "--quiet"], capture_output=True,
                          text=True, timeout=3600)
    if done.returncode != 0:
        raise SystemExit(f"probe: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout), options
