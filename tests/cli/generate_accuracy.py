"""SmolLM2-135M against what llama.cpp chose and against an independent float32 forward.

Usage: generate_accuracy.py CLVET MODEL_DIR IMAGE_DIR. The state folder is the caller's (CLVET_STATE_DIR).
CLVET_TEST_COMBINATIONS=all: each right combination of each device; otherwise the best one, and the host.
Bounds: the golden's token wherever its margin is over 0.3 (llama.cpp rounds activations to 8 bits), at precision high
also the float32 token wherever that margin is over 0.02.
"""

import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

GOLDEN = pathlib.Path(__file__).parent.parent / "data/golden/smollm2-135m-q4_1.json"
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


def forced(clvet, model, options):
    command = [clvet, "generate", model, "--teacher-forced", str(GOLDEN), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500)
    lines = re.findall(r"^(float32 argmax|teacher-forced): (\d+) of (\d+) where", done.stdout, re.M)
    counts = {name: (int(right), int(of)) for name, right, of in lines}
    place = re.search(r"^on (.*)$", done.stdout, re.M)
    return done, counts, place and place[1]


def places(clvet, report):
    yield ["--device", "host"]
    yield []
    if os.environ.get("CLVET_TEST_COMBINATIONS") != "all":
        return
    for device in report["devices"]:
        low = "cl_khr_fp16" in device["extensions"]
        for words in itertools.product(["high", "normal", "low"] if low else ["high", "normal"], ["low", "normal"],
                                       ["buffer", "image"]):
            names = itertools.chain(*zip(("--precision", "--memory", "--weights"), words))
            yield ["--strict", "--device", device["name"], *names]


def main():
    clvet, model = sys.argv[1], str(pathlib.Path(sys.argv[2]) / MODEL)
    probe = subprocess.run([clvet, "probe", "--if-changed", "--json", "-", "--quiet"], capture_output=True, text=True,
                           timeout=3600)
    assert probe.returncode == 0, probe.stderr
    failures = count = 0
    for options in places(clvet, json.loads(probe.stdout)):
        done, counts, place = forced(clvet, model, options)
        right = done.returncode == 0 and counts["teacher-forced"] == (144, 144)
        exact = counts.get("float32 argmax", (0, 1))
        right = right and (exact[0] == exact[1] == 158 or " with high/" not in place)
        failures += not right
        count += 1
        print(f"{'ok   ' if right else 'WRONG'} {' '.join(options) or 'auto'}: on {place}: {counts}{'' if right else done.stderr}",
              flush=True)
    print(f"{count} runs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
