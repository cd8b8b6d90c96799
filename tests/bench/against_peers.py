#!/usr/bin/env python3
"""against_peers.py CLVET MODELS [--report FILE] [--rounds N] [NAME...]: clvet's speed beside that of peers.

Every figure is a ratio to onnxruntime on one thread, which takes turns with clvet in this run; so a machine's speed falls
out. A network's bound is 0.4 times MNN's OpenCL latency on PoCL 3.1, a language model's on one thread of the host the speed
of llama.cpp on one thread, each as it was measured beside onnxruntime on one thread (PEERS). Prints one line a figure, with
`over` or `under` its bound; needs a quiet machine and the python of `bash ci/setup.sh --test`. NAME: det rec cls magika
host opencl.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy
import onnxruntime

# Shape of the input; MNN OpenCL on PoCL and onnxruntime on one thread, least ms, measured on one machine.
NETWORKS = {
    "det": ("ch_PP-OCRv4_det_infer.onnx", "x", (1, 3, 640, 640), 154, 85.6),
    "rec": ("ch_PP-OCRv4_rec_infer.onnx", "x", (1, 3, 48, 320), 67.2, 15.2),
    "cls": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", "x", (1, 3, 48, 192), 2.5, 0.74),
    "magika": ("magika.onnx", "bytes", (1, 2048), 79, 4.75),
}
# llama.cpp's prompt of 128 and 32 tokens more, tokens a second, one thread; the same machine's onnxruntime ran rec in 15.2 ms.
LLAMA = {"prompt": 172, "more": 57}
LANGUAGE_MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


def input_of(name, shape):
    random = numpy.random.default_rng(3)
    if name == "bytes":
        return random.integers(0, 256, shape, numpy.int32)
    return random.normal(0, 1, shape).astype(numpy.float32)


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def peer_ms(session, inputs, seconds=1.0):
    """Least of as many runs as fit."""
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end or len(times) < 5:
        start = time.perf_counter()
        session.run(None, inputs)
        times.append((time.perf_counter() - start) * 1e3)
    return min(times)


def network(clvet, models, extra, name, rounds):
    file, tensor, shape, mnn, onnx = NETWORKS[name]
    values = input_of(tensor, shape)
    session = session_of(models / file)
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        numpy.save(f"{folder}/x.npy", values)
        for _ in range(rounds):
            base = peer_ms(session, {tensor: values})
            repeat = str(round(max(20, 1000 / base)))  # as many as onnxruntime had time for
            subprocess.run([clvet, "run", str(models / file), "--input", f"{tensor}={folder}/x.npy", "--device", "0", "--quiet",
                            "--precision", "high", "--repeat", repeat, "--output-dir", f"{folder}/out", *extra], check=True)
            ms = json.loads(pathlib.Path(f"{folder}/out/run.json").read_text())["timing"]["min_ms"]
            ratios.append(ms / base)
            print(f"  {name}: {ms:.2f} ms, onnxruntime {base:.2f} ms", flush=True)
    return statistics.median(ratios), 0.4 * mnn / onnx


def language(clvet, models, extra, device, rounds):
    """Speeds of prompt and more, tokens a second times the ms of onnxruntime on rec: free of the machine's speed."""
    session = session_of(models / NETWORKS["rec"][0])
    extra = [*extra, *(["--threads", "1"] if device == "host" else [])]
    inputs = {"x": input_of("x", NETWORKS["rec"][2])}
    rows = {"prompt": [], "more": []}
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(f"{folder}/ids").write_text(json.dumps([(i * 37) % 40000 for i in range(128)]))
        for _ in range(rounds):
            base = peer_ms(session, inputs)
            subprocess.run([clvet, "generate", str(models / LANGUAGE_MODEL), "--prompt-ids", f"{folder}/ids", "-n", "33", "--device",
                            device, "--quiet", "--json", f"{folder}/out.json", *extra], check=True)
            said = json.loads(pathlib.Path(f"{folder}/out.json").read_text())
            speed = {"prompt": 128e3 / said["prompt_ms"], "more": 32e3 / said["ids_ms"]}
            print(f"  {device}: {speed['prompt']:.1f} and {speed['more']:.1f} tokens/s, onnxruntime {base:.2f} ms", flush=True)
            for word, value in speed.items():
                rows[word].append((value, value * base / (LLAMA[word] * NETWORKS["rec"][4])))
    return {word: [statistics.median(column) for column in zip(*pairs)] for word, pairs in rows.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clvet")
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--report")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    extra = ["--report", options.report] if options.report else []
    names = options.names or [*NETWORKS, "host", "opencl"]
    for name in names:
        if name in NETWORKS:
            ratio, bound = network(options.clvet, options.models, extra, name, options.rounds)
            print(f"{name}: {ratio:.2f} of onnxruntime's time, {'under' if ratio <= bound else 'OVER'} {bound:.2f}")
            continue
        place = "host" if name == "host" else "0"
        for word, (speed, share) in language(options.clvet, options.models, extra, place, options.rounds).items():
            print(f"{name} {word}: {speed:.1f} tokens/s, {share:.2f} of llama.cpp's one-thread speed (host, one thread as well: bound 1.0)")


if __name__ == "__main__":
    main()
