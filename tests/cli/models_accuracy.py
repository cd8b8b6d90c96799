"""Six real networks on every OpenCL device of the report and on the host, against onnxruntime.

Usage: models_accuracy.py CLVET MODELS IMAGES [MODEL...]. Needs onnxruntime, numpy and Pillow. The state folder is the
caller's (CLVET_STATE_DIR); a report is made there if there is none.
At precision high the relative error of each output is at most 1e-3; at normal (and low) the answer is the same: the
text, the label, the boxes, the decision. The detector's map is also held to an IoU of 0.997 over its threshold at high.
The run record must say that the device and precision that were asked for computed the model: all but as many nodes as
ON_HOST has, for which there is no kernel.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnxruntime
from PIL import Image

from reports import report_of

RELATIVE = 1e-3
TEXT_THRESHOLD = 0.3
BOX_SCORE = 0.2
SPEECH = 0.5


def page(images, size):
    """A rendered page scaled to (width, height), BGR, [1,3,h,w] of 0..255."""
    picture = Image.open(images / "page.png").convert("RGB").resize(size)
    return numpy.asarray(picture, numpy.float32)[:, :, ::-1].transpose(2, 0, 1)[None].copy()


def iou(left, right):
    union = numpy.logical_or(left, right).sum()
    return 1.0 if union == 0 else float(numpy.logical_and(left, right).sum() / union)


def same_map(got, want):
    return iou(got[0] > TEXT_THRESHOLD, want[0] > TEXT_THRESHOLD) >= 0.98 and (want[0] > TEXT_THRESHOLD).any()


def greedy(scores):
    best = scores[0].argmax(-1)
    return [int(c) for i, c in enumerate(best) if c != 0 and (i == 0 or c != best[i - 1])]


def same_text(got, want):
    return greedy(got[0]) == greedy(want[0]) and len(greedy(want[0])) > 3


def same_label(got, want):
    return bool((got[0].argmax(-1) == want[0].argmax(-1)).all())


def boxes(output):
    scores = output[0, :, 4] * output[0, :, 5]
    return {int(i) for i in numpy.nonzero(scores > BOX_SCORE)[0]}


def same_boxes(got, want):
    wanted, sure = boxes(want[0]), want[0][0, :, 4] * want[0][0, :, 5]
    near = {int(i) for i in numpy.nonzero(numpy.abs(sure - BOX_SCORE) < 0.01)[0]}
    moved = numpy.abs(got[0][0, :, :4] - want[0][0, :, :4])[sorted(wanted)]
    return (boxes(got[0]) ^ wanted) <= near and (moved.size == 0 or float(moved.max()) < 0.1)


def same_decision(got, want):
    return bool(((got[0] > SPEECH) == (want[0] > SPEECH)).all()) and float(numpy.abs(got[0] - want[0]).max()) < 0.05


def det_inputs(images):
    yield {"x": (page(images, (640, 480)) / 255 - 0.5) / 0.5}


def rec_inputs(images):
    whole = Image.open(images / "page.png").convert("L")
    rows = numpy.nonzero((numpy.asarray(whole) < 128).any(axis=1))[0]
    breaks = [0, *[i + 1 for i in range(len(rows) - 1) if rows[i + 1] > rows[i] + 1], len(rows)]
    for first, last in list(zip(breaks, breaks[1:]))[:2]:
        top, bottom = int(rows[first]) - 3, int(rows[last - 1]) + 4
        columns = numpy.nonzero((numpy.asarray(whole)[top:bottom] < 128).any(axis=0))[0]
        line = Image.open(images / "page.png").convert("RGB").crop((int(columns[0]) - 3, top, int(columns[-1]) + 4, bottom))
        width = max(32, round(line.width * 48 / line.height))
        pixels = numpy.asarray(line.resize((width, 48)), numpy.float32)[:, :, ::-1].transpose(2, 0, 1)[None]
        yield {"x": (pixels / 127.5 - 1).copy()}


def cls_inputs(images):
    yield {"x": page(images, (192, 48)) / 127.5 - 1}


def magika_inputs(images):
    root = pathlib.Path(__file__).resolve().parents[2]
    for file in (root / "README.md", pathlib.Path(__file__), images / "page.png", root / "ci" / "setup.sh"):
        content = file.read_bytes().strip()
        begin, end = list(content[:1024]), list(content[-1024:])
        tokens = begin + [256] * (1024 - len(begin)) + [256] * (1024 - len(end)) + end
        yield {"bytes": numpy.array([tokens], numpy.int32)}


def silero_inputs(images):
    random = numpy.random.default_rng(7)
    state = random.normal(0, 0.3, (2, 1, 128)).astype(numpy.float32)
    time = numpy.arange(576, dtype=numpy.float32) / 16000
    voice = 0.3 * sum(numpy.sin(2 * numpy.pi * 140 * k * time) / k for k in range(1, 12))
    for wave in (random.normal(0, 0.1, 576), voice, numpy.zeros(576)):
        yield {"input": wave.astype(numpy.float32)[None], "state": state}


def yolox_inputs(images):
    square = numpy.full((1, 3, 416, 416), 114, numpy.float32)
    square[:, :, :312] = page(images, (416, 312))
    yield {"images": square}


MODELS = {
    "det": ("ch_PP-OCRv4_det_infer.onnx", det_inputs, same_map),
    "rec": ("ch_PP-OCRv4_rec_infer.onnx", rec_inputs, same_text),
    "cls": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", cls_inputs, same_label),
    "magika": ("magika.onnx", magika_inputs, same_label),
    "silero": ("silero_vad_openvino_16k.onnx", silero_inputs, same_decision),
    "yolox": ("yolox.onnx", yolox_inputs, same_boxes),
}


# How many nodes have no kernel, or lie between such nodes: those of integers, Reciprocal, LSTM.
ON_HOST = {"magika": 6, "silero": 7}


def misplaced(record, place, precision, on_host):
    """What did not run where it was asked for, a line each."""
    got = record["device"], record["combination"]["precision"]
    if got != (place, precision) and (place != "host" or record["device"] != "host"):
        return [f"asked for {place} {precision}, ran on {' '.join(got)}"]
    rows = [f"{node['name']} ({node['op']}) ran on the host: {node['reason']}" for node in record["nodes"]
            if place != "host" and node["where"] != "opencl"]
    return rows if len(rows) > on_host else []


def check_misplaced():
    """This test would see a silent fallback."""
    def record(device, precision, *where):
        nodes = [{"name": "n", "op": "Conv", "where": place, "reason": "r"} for place in where]
        return {"device": device, "combination": {"precision": precision}, "nodes": nodes}
    assert not misplaced(record("D", "high", "opencl", "host"), "D", "high", 1)
    assert not misplaced(record("host", "high", "host"), "host", "high", 0)
    assert misplaced(record("D", "high", "opencl", "host"), "D", "high", 0)
    assert misplaced(record("D", "normal", "opencl"), "D", "high", 0)
    assert misplaced(record("host", "high", "host"), "D", "high", 9)


def run_clvet(clvet, model, inputs, options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        command = [clvet, "run", str(model), "--output-dir", str(path / "out"), "--repeat", "0", "--quiet", *options]
        for name, array in inputs.items():
            numpy.save(path / f"{name}.npy", array)
            command += ["--input", f"{name}={path / name}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        record = json.loads((path / "out" / "run.json").read_text())
        return [numpy.load(row["file"]) for row in record["outputs"]], record


def relative(got, want):
    return max(float(numpy.abs(g - w).max() / max(numpy.abs(w).max(), 1e-30)) for g, w in zip(got, want))


def places(report):
    yield "host", "high", ["--device", "host"]
    for device in report["devices"]:
        right = {row["precision"] for row in device["combinations"] if row["status"] in ("pass", "partial")}
        for precision in ("high", "normal", "low"):
            if precision in right:
                yield device["name"], precision, ["--device", device["name"], "--precision", precision]


def main():
    clvet, models, images = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    check_misplaced()
    names = sys.argv[4:] or list(MODELS)
    report, with_report = report_of(clvet)
    failures = count = devices = 0
    for name in names:
        file, make_inputs, same = MODELS[name]
        session = onnxruntime.InferenceSession(str(models / file), providers=["CPUExecutionProvider"])
        batches = [(inputs, session.run(None, inputs)) for inputs in make_inputs(images)]
        for place, precision, options in places(report):
            worst, on_device, nodes, answers, elsewhere = 0.0, 0, 0, True, []
            for inputs, want in batches:
                got, record = run_clvet(clvet, models / file, inputs, [*options, *with_report])
                worst = max(worst, relative(got, want))
                answers = answers and all(numpy.isfinite(g).all() for g in got) and same(got, want)
                on_device += sum(node["where"] == "opencl" for node in record["nodes"])
                nodes += len(record["nodes"])
                elsewhere += misplaced(record, place, precision, ON_HOST.get(name, 0))
                if name == "det" and precision == "high":
                    answers = answers and iou(got[0] > TEXT_THRESHOLD, want[0] > TEXT_THRESHOLD) >= 0.997
                count += 1
            right = answers and not elsewhere and (precision != "high" or worst <= RELATIVE)
            failures += not right
            devices += place != "host"
            print(f"{'ok   ' if right else 'WRONG'} {name} {place} {precision}: relative error {worst:.1e}, "
                  f"{on_device} of {nodes} nodes on OpenCL", flush=True)
            print("\n".join(elsewhere[:5]), end="\n" if elsewhere else "")
    print(f"{count} runs, {failures} failures")
    return 1 if failures or devices == 0 else 0


sys.exit(main())
