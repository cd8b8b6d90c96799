"""The first run of a language model on a driver that fails: right words, and one line that says what was avoided.

Usage: generate_hostile.py CLVET MODEL_DIR IMAGE_DIR. FAKE_CL and FAKE_SCENARIOS name the hostile driver and its
scenarios; it stands before Intel's runtime (CLVET_TEST_INTEL), which computes half for real. CLVET_TEST_SCENARIOS:
which of SCENARIOS, by name.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
# Scenario -> the words asked for, and whether something fast is avoided.
SCENARIOS = {
    "mali-g78-half-quant-abort": (["--precision", "auto"], True),
    "mali-g78-half-abort": ([], True),
    "wrong-image-writes": ([], False),
}


def causes_in(report, kernel):
    """What went wrong with a kernel, or with those for whose sake it was not tried."""
    rows = [row for row in report["verdicts"] if row["case"].startswith(kernel + "/")]
    return [row["verdict"] + row["evidence"]["note"] for row in rows if row["verdict"] not in ("pass", "unsupported")]


def check(clvet, model, name):
    words, avoids = SCENARIOS[name]
    scenario = pathlib.Path(os.environ["FAKE_SCENARIOS"]) / f"{name}.json"
    device = json.loads(scenario.read_text()).get("device")
    if device:  # others of this machine may be faster
        words = [*words, "--device", device["name"]]
    state = pathlib.Path(os.environ["CLVET_STATE_DIR"]) / name
    state.mkdir(parents=True)
    (state / "fake.icd").write_text(os.environ["FAKE_CL"] + "\n")
    environment = dict(os.environ, CLVET_STATE_DIR=str(state), OCL_ICD_VENDORS=str(state / "fake.icd"),
                       FAKE_CL_TARGET=os.environ["CLVET_TEST_INTEL"] + "/lib/libintelocl.so",
                       FAKE_CL_SCENARIO=str(scenario))
    command = [clvet, "generate", model, "--prompt", "The capital of France is", "-n", "8", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    said = [line for line in done.stderr.splitlines() if "is not used (" in line]
    print(f"{name}: {done.stdout.strip()!r} {said}", flush=True)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stderr}"
    assert done.stdout.startswith(" Paris."), done.stdout
    assert "runs on the host" not in done.stderr, done.stderr
    assert len(said) == (1 if avoids else 0), done.stderr
    if avoids:
        assert "times as many bytes" in said[0], said
        kernel = re.search(r"kernel (\S+) is", said[0])[1]
        causes = causes_in(json.loads((state / "report-of-needs.json").read_text()), kernel)
        assert causes and all("crash" in cause for cause in causes), (said, causes)


def main():
    clvet, model = sys.argv[1], str(pathlib.Path(sys.argv[2]) / MODEL)
    if not os.path.exists(os.environ["CLVET_TEST_INTEL"] + "/lib/libintelocl.so"):
        print("skipped: run 'bash ci/setup.sh --test' first")
        return 77
    for name in os.environ["CLVET_TEST_SCENARIOS"].split(","):
        check(clvet, model, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
