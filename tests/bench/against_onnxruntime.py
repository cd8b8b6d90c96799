#!/usr/bin/env python3
"""against_onnxruntime.py CLVET MODELS [--device D] [--base CLVET] [--threads N] [--rounds N] [--json FILE] [NAME...]: clvet beside onnxruntime.

They take turns with the same number of threads; a line a network tells each one's least time, their ratio (the median over
the rounds), and the largest difference of their outputs, divided by the largest value. --device: host (the default), or an
OpenCL device of this machine's report, which the processor should be as well: 0 is PoCL where nothing else is installed.
--base: another build of clvet to compare with. NAME: those of networks.py and of make_networks.py (default: all).
"smollm2" compares tokens a second with those of --base on one thread of the host. --json: every round, and the machine.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile
import time

import make_networks
import numpy
import onnxruntime
from networks import NETWORKS, saved_inputs

LANGUAGE_MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


def session_of(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "1")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def peer(session, inputs, seconds):
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end or len(times) < 3:
        start = time.perf_counter()
        outputs = session.run(None, inputs)
        times.append((time.perf_counter() - start) * 1e3)
    return min(times), outputs


def ours_ms(clvet, options, path, arguments, folder, repeat):
    subprocess.run([clvet, "run", path, *arguments, "--device", options.device, "--precision", "high", "--threads", str(options.threads),
                    "--quiet", "--repeat", str(repeat), "--output-dir", f"{folder}/out"], check=True)
    return json.loads(pathlib.Path(f"{folder}/out/run.json").read_text())["timing"]["min_ms"]


def difference(session, outputs, folder):
    worst = 0.0
    for meta, want in zip(session.get_outputs(), outputs):
        files = [one for one in pathlib.Path(f"{folder}/out").glob("*.npy") if len(session.get_outputs()) == 1 or one.stem == meta.name]
        if not files:
            continue
        got = numpy.load(files[0]).astype(float)
        scale = max(float(numpy.abs(want).max()), 1e-30)
        worst = max(worst, float(numpy.abs(got - want.reshape(got.shape)).max()) / scale)
    return worst


def network(options, path, inputs):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        arguments = saved_inputs(folder, inputs)
        values = {name: numpy.load(f"{folder}/{name}.npy") for name in inputs}
        session = session_of(path, options.threads)
        repeat = 5
        for _ in range(options.rounds):
            ort, outputs = peer(session, values, options.seconds)
            base = ours_ms(options.base, options, path, arguments, folder, repeat) if options.base else None
            ours = ours_ms(options.clvet, options, path, arguments, folder, repeat)
            repeat = max(5, min(2000, round(1e3 * options.seconds / ours)))
            rows.append((ort, ours, base))
        worst = difference(session, outputs, folder)
    ratio = statistics.median(ours / ort for ort, ours, _ in rows)
    least = [min(row[i] for row in rows) for i in (0, 1)]
    text = f"{ratio:6.2f} of onnxruntime's time ({least[1]:.2f} ms, {least[0]:.2f} ms), off by {worst:.1e}"
    if options.base:
        text += f"; base {statistics.median(base / ort for ort, _, base in rows):.2f}"
    record = {"ratio": ratio, "worst": worst, "rounds": [dict(zip(("onnxruntime_ms", "clvet_ms", "base_ms"), row)) for row in rows]}
    return text, record


def tokens(clvet, models, folder, threads):
    ids = pathlib.Path(f"{folder}/ids")
    ids.write_text(json.dumps([(i * 37) % 40000 for i in range(128)]))
    subprocess.run([clvet, "generate", str(models / LANGUAGE_MODEL), "--prompt-ids", str(ids), "-n", "33", "--device", "host", "--threads",
                    str(threads), "--quiet", "--json", f"{folder}/out.json"], check=True)
    said = json.loads(pathlib.Path(f"{folder}/out.json").read_text())
    return 128e3 / said["prompt_ms"], 32e3 / said["ids_ms"]


def language(options):
    builds = [options.clvet, *([options.base] if options.base else [])]
    with tempfile.TemporaryDirectory() as folder:
        rounds = [[tokens(build, options.models, folder, 1) for build in builds] for _ in range(options.rounds)]
    texts, record = [], {}
    for i, build in enumerate(builds):
        prompt, more = (statistics.median(one[i][k] for one in rounds) for k in (0, 1))
        texts.append(f"{build}: {prompt:.1f} tokens/s of a prompt, {more:.1f} generated")
        record[build] = {"prompt_tokens_per_s": prompt, "generated_tokens_per_s": more}
    return "; ".join(texts), record


def machine():
    names = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {"processor": names[0] if names else platform.machine(), "cores": len(os.sched_getaffinity(0)), "system": platform.platform(),
            "onnxruntime": onnxruntime.__version__, "load_average": os.getloadavg()[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clvet")
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--device", default="host")
    parser.add_argument("--base")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each turn")
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    said = {"machine": machine(), "device": options.device, "threads": options.threads, "networks": {}}
    with tempfile.TemporaryDirectory() as made:
        table = {name: (options.models / file, inputs) for name, (file, inputs) in NETWORKS.items()}
        for name, build in make_networks.NETWORKS.items():
            table[name] = (pathlib.Path(made) / f"{name}.onnx", {"x": ((1, 3, 224, 224), "float32")})
        for name in options.names or [*table, "smollm2"]:
            if name in make_networks.NETWORKS:
                make_networks.NETWORKS[name]().save(table[name][0])
            text, said["networks"][name] = language(options) if name == "smollm2" else network(options, *table[name])
            print(f"{name:13}", text, flush=True)
            if options.json:
                options.json.write_text(json.dumps(said, indent=1))


if __name__ == "__main__":
    main()
