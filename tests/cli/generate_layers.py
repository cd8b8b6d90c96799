"""A model of Q4_0 whose layers are alike runs as one launch for all of them, and one for the head; its words are the host's.

Usage: generate_layers.py CLVET MODEL_DIR IMAGE_DIR, with CLVET_TEST_DRIVER=intel: another driver takes minutes to compile
the kernel. The model is of random weights. Only kernels of that way are tried, so that no other is taken.
"""

import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATE = pathlib.Path(os.environ["CLVET_STATE_DIR"])
# Layers, width, heads, key heads, width of the feed-forward part, tokens: heads of 128 values.
SHAPE = (3, 256, 2, 1, 512, 512, "Q4_0", "Q8_0")
KERNELS = ["decoder_layers_mma64/*", "gemm_local32_q4_0/high/*", "gemv_col16/high/low/buffer/buffer/int8/*", "rms_norm_row16/high/*",
           "rope_head/high/*", "attention_head16/high/*", "glu_run/high/*", "eltwise_binary_run/high/*"]
# More positions than a text has room for at first.
PROMPT, TOKENS = 70, 230


def start(clvet, *words):
    done = subprocess.run([clvet, *map(str, words)], capture_output=True, text=True, timeout=500)
    if done.returncode != 0:
        sys.exit(f"clvet {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def model():
    spec = importlib.util.spec_from_file_location("make_language_model", ROOT / "tests/bench/make_language_model.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    make.SHAPES["layers"] = SHAPE
    make.write("layers", STATE / "layers.gguf")
    return STATE / "layers.gguf"


def main():
    clvet, report, prompt = sys.argv[1], STATE / "layers.json", STATE / "prompt.json"
    random.seed(3)
    prompt.write_text(json.dumps([random.randrange(SHAPE[5]) for _ in range(PROMPT)]))
    start(clvet, "probe", "--tier", "full", "--device", "Intel", "--fresh", "--quiet", "--out", report, "--case", *KERNELS)

    def generated(*words):
        record = STATE / "record.json"
        start(clvet, "generate", file, "--prompt-ids", prompt, "-n", TOKENS, "--temperature", 1, "--seed", 4, "--json", record, *words)
        return json.loads(record.read_text())

    file = model()
    host = generated("--device", "host")
    device = generated("--device", "Intel", "--report", report, "--precision", "high", "--memory", "low", "--strict",
                       "--self-check", 1)
    ops = [node["op"] for node in device["nodes"]]
    print(f"{device['launches_a_token']} launches a token: {', '.join(ops)}; {len(set(host['ids']))} different tokens")
    right = "decoder_layers" in ops and device["launches_a_token"] <= 3 and device["ids"] == host["ids"]
    if device["ids"] != host["ids"]:
        print(f"host: {host['ids']}\ndevice: {device['ids']}")
    return 0 if right and len(set(host["ids"])) > 20 else 1


if __name__ == "__main__":
    sys.exit(main())
