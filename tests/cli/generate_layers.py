"""A model whose layers are alike runs as one launch for all of them, and one for the head; its words are the host's.

Usage: generate_layers.py CLVET MODEL_DIR IMAGE_DIR, with CLVET_TEST_DRIVER=intel: PoCL, which clvet finds beside it, compiles
the kernel for most of a minute. The models are of random weights. Only kernels of that way are tried, so that no other is taken.
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
TOKEN_COUNT = 512
# Layers, width, heads, key heads, width of the feed-forward part, tokens, types. Heads have 128 values, or 64, of which a row of
# a cache is 768 bytes: no multiple of what parts of a buffer begin at.
MODELS = {
    "q4_0": (3, 256, 2, 1, 512, TOKEN_COUNT, "Q4_0", "Q8_0"),
    "q4_1": (3, 192, 3, 3, 256, TOKEN_COUNT, "Q4_1", "Q8_0"),
}
KERNELS = ["decoder_layers_mma64/*", "gemm_local32_q4_0/high/*", "decoder_layers_mma64_int4/*", "gemm_local32/high/low/buffer/buffer/int4/*",
           "gemv_col16/high/low/buffer/buffer/int8/*", "rms_norm_row16/high/*", "rope_head/high/*", "attention_head16/high/*",
           "glu_run/high/*", "eltwise_binary_run/high/*"]
# More positions than a text has room for at first.
PROMPT, TOKENS = 70, 230


def start(clvet, *words):
    done = subprocess.run([clvet, *map(str, words)], capture_output=True, text=True, timeout=500)
    if done.returncode != 0:
        sys.exit(f"clvet {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def model(name, shape):
    spec = importlib.util.spec_from_file_location("make_language_model", ROOT / "tests/bench/make_language_model.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    make.SHAPES[name] = shape
    make.write(name, STATE / f"{name}.gguf")
    return STATE / f"{name}.gguf"


def is_right(clvet, name, prompt, report):
    file = model(name, MODELS[name])

    def generated(*words):
        record = STATE / "record.json"
        start(clvet, "generate", file, "--prompt-ids", prompt, "-n", TOKENS, "--temperature", 1, "--seed", 4, "--json", record, *words)
        return json.loads(record.read_text())

    host = generated("--device", "host")
    device = generated("--device", "0", "--report", report, "--precision", "high", "--memory", "low", "--strict",
                       "--self-check", 1)
    ops = [node["op"] for node in device["nodes"]]
    different = len(set(host["ids"]))
    print(f"{name}: {device['launches_a_token']} launches a token: {', '.join(ops)}; {different} different tokens")
    if device["ids"] != host["ids"]:
        print(f"host: {host['ids']}\ndevice: {device['ids']}")
    few = "decoder_layers" in ops and device["launches_a_token"] <= 3
    return few and device["ids"] == host["ids"] and different > 20


def main():
    prompt = STATE / "prompt.json"
    random.seed(3)
    prompt.write_text(json.dumps([random.randrange(TOKEN_COUNT) for _ in range(PROMPT)]))
    clvet, report = sys.argv[1], STATE / "layers.json"
    start(clvet, "probe", "--tier", "full", "--library", "libOpenCL.so.1", "--quiet", "--out", report, "--case", *KERNELS)
    return 0 if all([is_right(clvet, name, prompt, report) for name in MODELS]) else 1


if __name__ == "__main__":
    sys.exit(main())
