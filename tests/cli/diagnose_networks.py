"""What `clvet diagnose` says of a real network at half precision, and what its plan is worth on inputs that it has not seen.

Usage: diagnose_networks.py CLVET MODELS IMAGES det|magika. The plan is tried in onnxruntime (rounded_network.py), without clvet's code.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy
import onnx

import file_samples
import text_pages
from rounded_network import outputs_of, rounded

class Test:
    def __init__(self):
        self.wrong = 0

    def expect(self, what, right, seen=""):
        print(f"{'ok   ' if right else 'WRONG'} {what}: {seen}", flush=True)
        self.wrong += not right


def diagnose(clvet, model, folder, *options):
    document = folder / "diagnosis.json"
    done = subprocess.run([clvet, "diagnose", model, "--policy", "naive", "--json", document, "--quiet", *options],
                          capture_output=True, text=True)
    if done.returncode != 1:
        sys.exit(f"clvet diagnose ended with {done.returncode}, not 1 (wrong at half precision): {done.stderr}")
    return json.loads(document.read_text())


def blamed(found, network):
    """The node of the network that is the one origin, and its fault."""
    if len(found["origins"]) != 1:
        sys.exit(f"{len(found['origins'])} origins, not one: {found['origins']}")
    origin = found["origins"][0]
    return next(node for node in network.graph.node if node.name == origin["node"]), origin


def error_of(got, exact):
    """Relative to the size of the exact values, root mean squares."""
    return float(numpy.sqrt(numpy.square(got - exact).sum() / numpy.square(exact).sum()))


def det(test, clvet, models, folder):
    model = models / "ch_PP-OCRv4_det_infer.onnx"
    network = onnx.load(model)
    pages = [{"x": page} for page in text_pages.pixels()]
    numpy.save(folder / "x.npy", pages[0]["x"])
    found = diagnose(clvet, model, folder, "--input", folder / "x.npy")
    node, origin = blamed(found, network)
    test.expect("the origin is the normalisation behind conv2d_497.tmp_0",
                node.op_type == "BatchNormalization" and node.input[0] == "conv2d_497.tmp_0", f"{node.op_type} of {node.input[0]}")
    test.expect("its variance overflows", (origin["fault"], origin["value"]) == ("overflow", node.input[4]),
                f"{origin['fault']} of {origin['value']}")
    sign = found["inputs"][0]["outputs"][0]["sign"]
    test.expect("the empty map shows without a reference", sign == "zero", sign)
    raised = set(found["plan"]["raised"])
    test.expect("one node is raised", len(raised) == 1, found["plan"]["raised"])
    maps = [[got[0] for got in outputs_of(row, pages)] for row in (network, rounded(network, set()), rounded(network, raised))]
    said, seen = found["plan"]["after"][0]["outputs"][0]["deviation"]["part"], error_of(maps[2][0], maps[0][0])
    test.expect("clvet and onnxruntime see as much error with the plan", 0.7 < said / seen < 1.4, f"{said:.2%} and {seen:.2%}")
    for number, (exact, low, mended) in enumerate(zip(*maps)):
        text, empty = text_pages.mask(exact), not text_pages.mask(low).any()
        same = text_pages.iou(text_pages.mask(mended), text)
        test.expect(f"page {number} has text at float, none at half, and its text with the plan",
                    text.any() and empty and same >= text_pages.least_iou(number), f"{text.mean():.1%} text, IoU {same:.4f}")


def magika(test, clvet, models, folder):
    model = models / "magika.onnx"
    network = onnx.load(model)
    samples = file_samples.samples()
    test.expect("there are 22 types", len({label for label, _ in samples.values()}) == 22, " ".join(samples))
    files = {name: {"bytes": file_samples.tokens_of(content)} for name, (_, content) in samples.items()}
    (folder / "some").mkdir()
    for name in list(files)[::8]:
        numpy.save(folder / "some" / f"{name}.npy", files[name]["bytes"])
    found = diagnose(clvet, model, folder, "--calibration", folder / "some")
    node, origin = blamed(found, network)
    test.expect("the origin is the sum of squares of the normalisation",
                node.op_type == "ReduceSum" and origin["fault"] == "overflow" and origin["value"] in node.output,
                f"{origin['fault']} of {origin['value']}, {node.op_type}")
    raised = set(found["plan"]["raised"])
    test.expect("two nodes are raised at most", len(raised) <= 2, found["plan"]["raised"])
    runs = [outputs_of(row, files.values()) for row in (network, rounded(network, set()), rounded(network, raised))]
    fooled = 0
    for (name, (label, _)), exact, low, mended in zip(samples.items(), *runs):
        got = [int(run[0].argmax()) for run in (exact, low, mended)]
        fooled += got[1] != label
        test.expect(f"{name} is known at float, and with the plan", got[0] == label and got[2] == label,
                    f"{label}, got {got[0]} and {got[2]}; {got[1]} at half")
    test.expect("half alone is wrong of most", fooled > 11, f"{fooled} of {len(samples)}")


def main():
    clvet, models, network = sys.argv[1], pathlib.Path(sys.argv[2]), os.environ["CLVET_TEST_NETWORK"]
    folder = pathlib.Path(os.environ["CLVET_STATE_DIR"])
    test = Test()
    {"det": det, "magika": magika}[network](test, clvet, models, folder)
    return 1 if test.wrong else 0


sys.exit(main())
