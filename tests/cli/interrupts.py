"""One Ctrl-C or SIGTERM ends every verb within a second, in each of its phases; a second one at once.

Usage: interrupts.py CLVET MODEL_DIR IMAGE_DIR. FAKE_CL names the hostile driver, here over PoCL. It is slow, hangs, or installs
signal handlers of its own, so that each phase lasts.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

WITHIN = 1.5  # seconds, a second and what a machine at work adds
PHASES = {  # what the driver does, and when the signal comes: seconds after the start
    "loading": ([{"match": {"call": "load"}, "do": {"action": "hang"}}], 1),
    "building": ([{"match": {"call": "clBuildProgram"}, "do": {"action": "hang", "ignore_sigterm": True}}], 1.5),
    "launching": ([{"match": {"call": "clEnqueueNDRangeKernel"}, "do": {"action": "hang", "spin": True}}], 1.5),
    "waiting": ([{"match": {"call": "clFinish"}, "do": {"action": "hang"}}], 1.5),
    "with handlers of its own": ([{"match": {"call": "clBuildProgram"}, "do": {"action": "signal_handlers"}},
                                  {"match": {"call": "clFinish"}, "do": {"action": "hang"}}], 1.5),
    "working": ([{"match": {"call": "clEnqueueNDRangeKernel"}, "do": {"action": "delay", "ms": 30}}], 2),
}


def children_of(pid):
    return [int(row.split()[0]) for row in subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True).stdout.splitlines()[1:]
            if int(row.split()[1]) == pid]


def ended(command, environment, number, after):
    """Seconds from the signal to the end, the exit code, and whether a child lives on."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(after)
    if process.poll() is not None:
        return 0, process.returncode, False
    children = children_of(process.pid)
    started = time.monotonic()
    process.send_signal(number)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    took = time.monotonic() - started
    time.sleep(0.2)
    alive = [pid for pid in children if pathlib.Path(f"/proc/{pid}/stat").exists()
             and pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"]
    return took, process.returncode, bool(alive)


def main():
    clvet, models = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        environment = dict(os.environ, FAKE_CL_TARGET="/usr/lib/x86_64-linux-gnu/libpocl.so.2", POCL_CACHE_DIR=str(folder / "cache"))
        report = str(folder / "report.json")
        np.save(folder / "x.npy", np.zeros((1, 3, 48, 192), np.float32))
        subprocess.run([clvet, "probe", "--library", os.environ["FAKE_CL"], "--quiet", "--out", report, "--case", "gem*/high/*",
                        "--case", "*/high/-/*", "--case", "rms_norm*", "--case", "glu*", "--case", "rope*"], env=environment, check=False,
                       capture_output=True)
        used = ["--report", report, "--device", "0"]
        run = [clvet, "run", str(models / "ch_ppocr_mobile_v2.0_cls_infer.onnx"), "--input", f"x={folder / 'x.npy'}", *used]
        generate = [clvet, "generate", str(models / "SmolLM2-135M-Instruct.Q4_1.gguf"), "--prompt", "one two", "-n", "500", *used]
        library = ["--library", os.environ["FAKE_CL"]]
        verbs = {"run": run, "run isolated": [*run, "--isolate"], "generate": generate, "generate isolated": [*generate, "--isolate"],
                 "probe": [clvet, "probe", *library, "--out", str(folder / "new.json")], "discover": [clvet, "discover", *library]}
        for (verb, command), (phase, (rules, after)) in ((v, p) for v in verbs.items() for p in PHASES.items()):
            number = signal.SIGINT if phase in ("waiting", "working") else signal.SIGTERM
            scenario = json.dumps({"rules": rules})
            took, code, alive = ended(command, dict(environment, FAKE_CL_SCENARIO=scenario), number, after)
            good = took <= WITHIN and not alive and (took == 0 or code == 130)
            print(f"{'ok   ' if good else 'WRONG'} {verb}, {phase}: {took:.2f} s, exit {code}{', a child lives on' if alive else ''}", flush=True)
            wrong += not good
    return 1 if wrong else 0


sys.exit(main())
