"""The cls network forced to each right combination of each device, and on the host, against onnxruntime.

Usage: cls_accuracy.py CLVET MODEL IMAGE_DIR. Needs onnxruntime, numpy and Pillow. The state folder is the
caller's (CLVET_STATE_DIR); a report is made there if there is none.
Bounds: relative error of the output vector 1e-3 at precision high, 1e-2 at normal; low is held to 5e-2.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnxruntime
from PIL import Image

BOUNDS = {"high": 1e-3, "normal": 1e-2, "low": 5e-2}


def run_clvet(clvet, model, array, options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        numpy.save(path / "x.npy", array)
        command = [clvet, "run", model, "--input", f"x={path / 'x.npy'}", "--output-dir", str(path / "out"),
                   "--repeat", "0", "--quiet", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        record = json.loads((path / "out" / "run.json").read_text())
        return numpy.load(record["outputs"][0]["file"]), record


def cases(report):
    for device in report["devices"]:
        for row in device["combinations"]:
            if row["status"] != "pass" or row["memory"] is None:
                continue
            options = ["--device", device["name"]]
            for key in ("precision", "memory", "activations", "weights"):
                options += [f"--{key}", row[key]]
            yield row["precision"], options
    yield "high", ["--device", "host"]


def main():
    clvet, model, images = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    probe = subprocess.run([clvet, "probe", "--if-changed", "--json", "-", "--quiet"], capture_output=True,
                           text=True, timeout=600)
    if probe.returncode != 0:
        raise SystemExit(f"probe: exit {probe.returncode}\n{probe.stderr}")
    report = json.loads(probe.stdout)
    labels = json.loads((images / "labels.json").read_text())
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    inputs = []
    for label in labels:
        pixels = numpy.asarray(Image.open(images / label["file"]).convert("RGB"), numpy.float32)[:, :, ::-1]
        inputs.append(((pixels - 127.5) / 127.5).transpose(2, 0, 1)[None].copy())
    references = [session.run(None, {"x": array})[0] for array in inputs]
    failures = count = 0
    for precision, options in cases(report):
        worst = 0.0
        for array, reference, label in zip(inputs, references, labels):
            output, record = run_clvet(clvet, model, array, options)
            error = float(numpy.abs(output - reference).max() / numpy.abs(reference).max())
            worst = max(worst, error)
            convolutions = [node for node in record["nodes"] if node["op"] == "Conv"]
            on_host = [node for node in convolutions if node["where"] != "opencl"]
            if int(output.argmax()) != label["class"] or not error <= BOUNDS[precision]:
                failures += 1
                print(f"WRONG {label['file']} {options}: error {error:.2e}, class {output.argmax()}")
            if "host" not in options and (on_host or not convolutions or record["fallbacks"]):
                failures += 1
                print(f"FALLBACK {label['file']} {options}: {len(on_host)} convolutions, {record['fallbacks']}")
            count += 1
        print(f"{' '.join(options)}: worst relative error {worst:.2e}")
    print(f"{count} runs, {failures} failures")
    return 1 if failures or count < 2 * len(labels) else 0


if __name__ == "__main__":
    sys.exit(main())
