"""A Mali-G78 whose compiler aborts on half arithmetic with quantised weights: probe, then run.

Usage: cls_hostile.py CLVET MODEL IMAGE_DIR. FAKE_CL and FAKE_SCENARIOS name the hostile driver and its
scenarios. Over Intel's runtime, which computes half for real (CLVET_TEST_INTEL), and over PoCL, where an
added cl_khr_fp16 is a lie that the compiler does not keep.
"""

import json
import os
import pathlib
import subprocess
import sys

LINE = "LLVM ERROR: Cannot select: intrinsic %llvm.bifrost.2586"
POCL = "/usr/lib/x86_64-linux-gnu/libpocl.so.2"


def quantised_half(row):
    return row["combination"]["precision"] == "low" and row["combination"]["memory"] == "low"


def check_report(report, failures, honest_half):
    for row in report["verdicts"]:
        if not quantised_half(row):
            if honest_half and row["verdict"] != "pass":
                failures.append(f"{row['id']}: {row['verdict']}, should pass")
            continue
        evidence = row["evidence"]
        good = (row["verdict"] == "crash" and row["stage"] == "build" and evidence["signal"] == 6
                and LINE in evidence["stderr"] and {"half_arith", "int_to_half"} <= set(row["constructs"]))
        if not good:
            failures.append(f"{row['id']}: {row['verdict']} in {row['stage']}, signal {evidence['signal']}")
    if not any(quantised_half(row) for row in report["verdicts"]):
        failures.append("no variant with half arithmetic and quantised weights was tried")


def run(command, environment):
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


def check_driver(clvet, model, images, target, honest_half):
    state = pathlib.Path(os.environ["CLVET_STATE_DIR"]) / pathlib.Path(target).name
    environment = dict(os.environ, CLVET_STATE_DIR=str(state), FAKE_CL_TARGET=target,
                       FAKE_CL_SCENARIO=os.environ["FAKE_SCENARIOS"] + "/mali-g78-half-quant-abort.json")
    failures = []
    probe = run([clvet, "probe", "--library", os.environ["FAKE_CL"], "--json", "-", "--quiet"], environment)
    if probe.returncode != 0:
        return [f"probe: exit {probe.returncode} {probe.stderr}"]
    check_report(json.loads(probe.stdout), failures, honest_half)
    for label in json.loads((images / "labels.json").read_text()):
        done = run([clvet, "run", model, "--input", f"x={images / label['file']}", "--image-size", "192x48", "--mean",
                    "127.5", "--scale", "0.00784313725", "--bgr", "--top", "1"], environment)
        if done.returncode != 0 or f"class {label['class']} " not in done.stdout:
            failures.append(f"run {label['file']}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return failures


def main():
    clvet, model, images = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    intel = os.environ["CLVET_TEST_INTEL"] + "/lib/libintelocl.so"
    failures = []
    for target, honest_half in ((intel, True), (POCL, False)):
        if not os.path.exists(target):
            print(f"not run: {target} is absent")
            continue
        found = check_driver(clvet, model, images, target, honest_half)
        print(f"{target}: {len(found)} failures")
        failures += found
    print("\n".join(failures[:20]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
