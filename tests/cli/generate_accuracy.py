"""A language model against what llama.cpp chose and against an independent float32 forward.

Usage: generate_accuracy.py CLVET MODEL_DIR IMAGE_DIR. The state folder is the caller's (CLVET_STATE_DIR).
CLVET_TEST_LANGUAGE_MODEL: smollm2 (the default) or gemma3, whose residual stream half precision cannot hold.
CLVET_TEST_COMBINATIONS=all: each right combination of each device; otherwise the best one, and the host.
Bounds: the golden's token wherever its margin is over 0.3 (llama.cpp rounds activations to 8 bits), at precision high
also the float32 token wherever that margin is over 0.02.
"""

import itertools
import os
import pathlib
import re
import subprocess
import sys

from reports import report_of

# The golden file, the model, how many positions it settles: llama.cpp's and the float32 forward's.
MODELS = {
    "smollm2": ("smollm2-135m-q4_1.json", "SmolLM2-135M-Instruct.Q4_1.gguf", 144, 158),
    "gemma3": ("gemma3-270m-q4_k_m.json", "gemma-3-270m-q4_k_m.gguf", 135, 156),
}
NAME = os.environ.get("CLVET_TEST_LANGUAGE_MODEL", "smollm2")
GOLDEN, MODEL, SETTLED, EXACT = MODELS[NAME]
GOLDEN = pathlib.Path(__file__).parent.parent / "data/golden" / GOLDEN


def forced(clvet, model, options):
    command = [clvet, "generate", model, "--teacher-forced", str(GOLDEN), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500)
    lines = re.findall(r"^(float32 argmax|teacher-forced): (\d+) of (\d+) where", done.stdout, re.M)
    counts = {name: (int(right), int(of)) for name, right, of in lines}
    place = re.search(r"^on (.*)$", done.stdout, re.M)
    return done, counts, place and place[1]


def overflow_is_noticed(clvet, model):
    """The model's residual stream exceeds half's range: said, never printed, and cured unless --strict."""
    command = [clvet, "generate", model, "--prompt", "Once upon a time", "-n", "8", "--precision", "normal"]
    cured = subprocess.run(command, capture_output=True, text=True, timeout=600)
    strict = subprocess.run([*command, "--strict"], capture_output=True, text=True, timeout=600)
    at_high = subprocess.run([*command[:-1], "high"], capture_output=True, text=True, timeout=600)
    word = "values exceed the range of the precision"
    return (cured.returncode == 0 and word in cured.stderr and "computed again with high/" in cured.stderr
            and cured.stdout == at_high.stdout and strict.returncode == 1 and word in strict.stderr
            and strict.stdout.strip() == "")


def places(clvet, report):
    yield ["--device", "host"]
    yield ["--precision", "high"] if NAME == "gemma3" else []
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
    if not pathlib.Path(model).exists():
        print(f"skipped: {model} is not there: run 'bash ci/models_nightly.sh' first")
        return 77
    report, with_report = report_of(clvet)
    failures = count = 0
    for options in places(clvet, report):
        done, counts, place = forced(clvet, model, options)
        right = done.returncode == 0 and counts["teacher-forced"] == (SETTLED, SETTLED)
        exact = counts.get("float32 argmax", (0, 1))
        right = right and (exact[0] == exact[1] == EXACT or " with high/" not in place)
        failures += not right
        count += 1
        print(f"{'ok   ' if right else 'WRONG'} {' '.join(options) or 'auto'}: on {place}: {counts}{'' if right else done.stderr}",
              flush=True)
    if NAME == "gemma3":
        noticed = overflow_is_noticed(clvet, model)
        failures += not noticed
        count += 1
        print(f"{'ok   ' if noticed else 'WRONG'} overflow at normal is noticed")
    print(f"{count} runs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
