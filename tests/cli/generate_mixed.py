"""Language models at low precision on a driver with true half arithmetic: what overflows is named, the exact scale of the
residual stream cures it there, and generate runs with it.

Usage: generate_mixed.py CLVET MODEL_DIR IMAGE_DIR, with CLVET_TEST_DRIVER=intel. The texts are those of tests/data/golden; the
expected tokens were computed by other programs.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "data" / "golden"
STATE = pathlib.Path(os.environ["CLVET_STATE_DIR"])


def start(clvet, *words, expected=(0,)):
    done = subprocess.run([clvet, *map(str, words)], capture_output=True, text=True, timeout=1500)
    if done.returncode not in expected:
        sys.exit(f"clvet {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def expect(what, true, seen=""):
    print(f"{'ok   ' if true else 'WRONG'} {what}{'' if true else f': {seen}'}", flush=True)
    return 0 if true else 1


def intel(clvet):
    devices = json.loads(start(clvet, "probe", "--if-changed", "--quiet", "--json", "-").stdout)["devices"]
    return next(str(i) for i, device in enumerate(devices) if "Intel" in device["platform"])


def diagnose(clvet, model, golden, device, *words):
    file = STATE / "found.json"
    start(clvet, "diagnose", model, "--teacher-forced", GOLDEN / golden, "--device", device, "--quiet", "--json", file, *words,
          expected=(0, 1))
    return json.loads(file.read_text())


def choices(rows):
    outputs = [output for row in rows for output in row["outputs"]]
    return sum(row["choices"]["right"] for row in outputs), sum(row["choices"]["of"] for row in outputs)


def right_tokens(done):
    counts = re.search(r"teacher-forced: (\d+) of (\d+)", done.stdout)
    return counts and counts[1] == counts[2] and int(counts[1]) > 100


def gemma(clvet, models, device):
    model, golden = models / "gemma-3-270m-q4_k_m.gguf", "gemma3-270m-q4_k_m.json"
    plan = STATE / "gemma.plan.json"
    found = diagnose(clvet, model, golden, device, "--save-plan", plan)
    rescale = found["plan"]["rescale"]
    right, of = choices(rescale["after"])
    bad = expect("Gemma: the sum that overflows first is named",
                 [(row["node"], row["fault"]) for row in found["origins"]][:1] == [("7.add_to_hidden", "overflow")],
                 found["origins"])
    bad += expect("no text is right as it is", not any(row["right"] for row in found["inputs"]))
    bad += expect("with a smaller residual stream the device chooses each token that is beyond doubt",
                  rescale["right"] and right == of > 100, (rescale["factor"], right, of))
    for words in (["--plan", plan], ["--device", device, "--precision", "low"]):
        done = start(clvet, "generate", model, "--teacher-forced", GOLDEN / golden, *words)
        bad += expect(f"generate {words[0]} runs at low with it", right_tokens(done) and "with low/" in done.stdout
                      and "warning" not in done.stderr, done.stdout + done.stderr)
    return bad


def smollm(clvet, models, device):
    found = diagnose(clvet, models / "SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-135m-q4_1.json", device)
    return expect("SmolLM2: nothing is raised, all texts are right", not found["plan"]
                  and all(row["right"] for row in found["inputs"]), found["origins"])


def main():
    clvet, models = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    device = intel(clvet)
    return 1 if gemma(clvet, models, device) + smollm(clvet, models, device) else 0


sys.exit(main())
