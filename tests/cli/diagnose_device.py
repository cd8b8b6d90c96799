"""`clvet diagnose --device` on a real driver with true half arithmetic: faults of precision, a kernel that computes something
else, and plans that are saved and run.

Usage: diagnose_device.py CLVET MODEL_DIR. FAKE_CL names the hostile driver; the one below it is Intel's runtime
(CLVET_TEST_OVER: another, as a path). PLANTED_ON_DEVICE, NAIVE_ON_DEVICE and (if it is to run) PLAN_COST name the programs
of those names, CLVET_TEST_COUNT how many networks of each kind the first one tries (default 1). References are numpy's in
float64, and onnxruntime's.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import file_samples
import text_pages

WIDTH = 128
LAUNCH = "clEnqueueNDRangeKernel"


def target_of(over):
    if over:
        return over
    return str(next(pathlib.Path(os.environ["CLVET_TEST_INTEL"]).rglob("libintelocl.so*")))


class Network:
    """Layers of a matrix product and tanh. Behind layer `fault` values are up to 4e5, and smaller again after a product with a
    constant. One layer ends with softmax."""

    def __init__(self, layers, fault=None):
        random = np.random.default_rng(7)
        self.nodes, self.constants, self.steps = [], [], []
        self.fault = fault
        at = "x"
        for layer in range(layers):
            at = self.product(at, layer, random.normal(0, 1 / np.sqrt(WIDTH), (WIDTH, WIDTH)))
            if layer == fault:
                at = self.scaled(at, f"up_{layer}", 4e5)
                at = self.scaled(at, f"down_{layer}", 1 / 4e5)
            at = self.node("Softmax" if layer == layers // 2 else "Tanh", [at], f"bound_{layer}")
            if layer == layers // 2:
                at = self.scaled(at, "spread", WIDTH / 4)
        self.output = at

    def node(self, op, inputs, name):
        self.nodes.append(helper.make_node(op, inputs, [name + ":0"], name=name))
        self.steps.append((op, inputs, name + ":0"))
        return name + ":0"

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
        return name

    def product(self, at, layer, weights):
        return self.node("MatMul", [at, self.constant(f"w_{layer}", weights)], f"product_{layer}")

    def scaled(self, at, name, factor):
        # A tensor and no number: a number would be folded into the weights before it.
        return self.node("Mul", [at, self.constant("c_" + name, np.full((1, WIDTH), factor))], name)

    def save(self, path):
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [16, WIDTH]) for name in ("x", self.output)]
        graph = helper.make_graph(self.nodes, "planted", values[:1], values[1:], self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)

    def answer(self, x):
        values = {constant.name: numpy_helper.to_array(constant).astype(np.float64) for constant in self.constants}
        values["x"] = x.astype(np.float64)
        for op, inputs, output in self.steps:
            given = [values[name] for name in inputs]
            if op == "Softmax":
                powers = np.exp(given[0] - given[0].max(-1, keepdims=True))
                values[output] = powers / powers.sum(-1, keepdims=True)
            else:
                values[output] = {"MatMul": np.matmul, "Mul": np.multiply, "Tanh": np.tanh}[op](*given)
        return values[self.output]


class Machine:
    def __init__(self, clvet, folder):
        self.clvet, self.folder = clvet, folder
        self.environment = dict(os.environ, FAKE_CL_TARGET=target_of(os.environ.get("CLVET_TEST_OVER")),
                                CLVET_STATE_DIR=str(folder / "state"))
        self.environment.pop("FAKE_CL_SCENARIO", None)
        random = np.random.default_rng(3)
        self.inputs = [random.normal(0, 1, (16, WIDTH)).astype(np.float32) for _ in range(5)]
        (folder / "inputs").mkdir()
        for number, values in enumerate(self.inputs):
            np.save(folder / "inputs" / f"{number}.npy", values)
        self.start("probe", "--library", pathlib.Path(os.environ["FAKE_CL"]).resolve(), "--quiet")

    def start(self, *words, scenario=None, expected=(0,)):
        environment = dict(self.environment)
        if scenario:
            environment["FAKE_CL_SCENARIO"] = json.dumps(scenario)
        done = subprocess.run([self.clvet, *map(str, words)], env=environment, cwd=self.folder, capture_output=True, text=True,
                              timeout=600)
        if done.returncode not in expected:
            sys.exit(f"clvet {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def diagnose(self, network, *words, scenario=None, expected=(0, 1)):
        network.save(self.folder / "m.onnx")
        return self.diagnose_file("m.onnx", "--calibration", "inputs", *words, scenario=scenario, expected=expected)

    def diagnose_file(self, model, *words, scenario=None, expected):
        self.start("diagnose", model, "--device", "0", "--json", "found.json", "--quiet", *words, scenario=scenario,
                   expected=expected)
        return json.loads((self.folder / "found.json").read_text())

    def answer_of(self, model, values, *words):
        """The first output, and the record."""
        np.save(self.folder / "given.npy", values)
        self.start("run", model, "--input", "given.npy", "--output-dir", "out", "--quiet", *words)
        record = json.loads((self.folder / "out" / "run.json").read_text())
        return np.load(self.folder / "out" / record["outputs"][0]["file"].split("/")[-1]), record

    def run(self, network, *words):
        """The relative error of the answer, and the record."""
        got, record = self.answer_of("m.onnx", self.inputs[4], *words)
        want = network.answer(self.inputs[4])
        return np.sqrt(((got - want) ** 2).mean() / (want**2).mean()), record


def expect(what, true, seen=""):
    print(f"{'ok   ' if true else 'WRONG'} {what}{'' if true else f': {seen}'}", flush=True)
    return 0 if true else 1


def nodes_at(record, precision):
    return sorted(row["name"] for row in record["nodes"] if f"/{precision}/" in row.get("kernel", ""))


def clean(machine):
    network = Network(8)
    found = machine.diagnose(network)
    return expect("a clean network has no origin", not found["origins"] and not found["plan"], found["origins"])


def overflow(machine):
    network = Network(8, fault=2)
    found = machine.diagnose(network, "--save-plan", "m.plan.json")
    origins, plan = found["origins"], found["plan"]
    bad = expect("the node that overflows is named",
                 [(row["node"], row["fault"]) for row in origins] == [("up_2", "overflow")], origins)
    bad += expect("it and the one that reads it are raised", sorted(plan["raised"]) == ["down_2", "up_2"], plan["raised"])
    bad += expect("all inputs are right then, also those that it was not chosen on",
                  plan["right"] and plan["chosen_on"] < len(machine.inputs) and all(row["right"] for row in plan["after"]))
    bad += expect("the device's times are told", all(found["measured_ms"][key] > 0 for key in ("low", "raised", "high")))
    saved = json.loads((machine.folder / "m.plan.json").read_text())
    bad += expect("the saved plan has its evidence", saved["raised"]["nodes"] == plan["raised"], saved.get("raised"))
    for words in (["--plan", "m.plan.json"], ["--device", "0", "--precision", "low"]):
        error, record = machine.run(network, *words)
        bad += expect(f"run {' '.join(words)} is right", error < 0.02 and not record["warnings"], (error, record["warnings"]))
        high = nodes_at(record, "high")
        bad += expect("only the raised nodes are at high", high == sorted(plan["raised"]), high)
    return bad


def faster(machine):
    """What was measured to be faster serves without a word."""
    network = Network(8, fault=2)
    machine.diagnose(network, "--save-plan", "m.plan.json")
    file = machine.folder / "state" / "checks.json"
    rows = json.loads(file.read_text())
    (key,) = [name for name in rows["rows"] if name.startswith("mixed ")]
    results = {}
    for value in (True, False):
        rows["rows"][key]["faster"] = value
        file.write_text(json.dumps(rows))
        (machine.folder / "state" / "times.json").unlink(missing_ok=True)
        error, record = machine.run(network, "--device", "0")
        results[value] = (error < 0.02, record["combination"]["precision"] == "low")
    return expect("run takes the plan where it was faster, and not where it was not",
                  results == {True: (True, True), False: (True, False)}, results)


def wrong_kernel(machine):
    network = Network(8)
    rule = {"match": {"call": LAUNCH, "kernel": "^softmax"}, "do": {"action": "wrong_tile", "bytes": 64}}
    found = machine.diagnose(network, scenario={"rules": [rule]}, expected=(1,))
    origins = [(row["node"], row["fault"]) for row in found["origins"]]
    return expect("a kernel that computes something else is named", origins == [("bound_4", "arithmetic")], origins)


def gone(machine):
    network = Network(8, fault=2)
    rule = {"match": {"call": LAUNCH, "count": {"from": 120, "to": 100000}}, "do": {"action": "error", "code": "CL_OUT_OF_RESOURCES"}}
    network.save(machine.folder / "m.onnx")
    done = machine.start("diagnose", "m.onnx", "--calibration", "inputs", "--device", "0", "--json", "gone.json",
                         scenario={"rules": [rule]}, expected=(3,))
    kept = json.loads((machine.folder / "gone.json").read_text())
    told = done.stderr.strip().splitlines()
    return expect("what was measured before the device went away is kept, and one line says so",
                  0 < len(kept["inputs"]) < 5 and kept["nodes"][0]["isolated"] and "CL_OUT_OF_RESOURCES" in kept["stopped"]
                  and len(told) == 1 and "clEnqueueNDRangeKernel" in told[0], (len(kept["inputs"]), kept["stopped"], told))


def crash(machine):
    """In a child process: it goes on without the kernel that the driver dies of."""
    network = Network(8)
    network.save(machine.folder / "m.onnx")
    rule = {"match": {"call": LAUNCH, "kernel": "^softmax_row16"}, "do": {"action": "segfault"}}
    file = machine.folder / "crash.json"
    done = machine.start("diagnose", "m.onnx", "--calibration", "inputs", "--device", "0", "--isolate", "--json", file,
                         scenario={"rules": [rule]}, expected=(0, 1))
    found = json.loads(file.read_text())
    return expect("a driver that dies costs the kernel alone", "softmax" in done.stderr and not found["origins"]
                  and found["place"] != "host" and all(row["right"] for row in found["inputs"]), done.stderr)


def with_report(machine, program, *words):
    """A program of tests/runtime/precision, with the same report."""
    done = subprocess.run([os.environ[program], machine.folder / "state" / "report.json", "0", *words],
                          env=machine.environment, capture_output=True, text=True, timeout=1800)
    print(done.stdout, end="")
    return done


def floats_of(model, inputs):
    """onnxruntime's outputs at float32."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    return [session.run(None, {session.get_inputs()[0].name: values})[0] for values in inputs]


def naive_answers(machine, model, inputs, raised):
    """What the device makes of the inputs at half, without folding, where only the nodes of these names are raised."""
    with tempfile.TemporaryDirectory(dir=machine.folder) as folder:
        for number, values in enumerate(inputs):
            np.save(pathlib.Path(folder) / f"{number}.npy", values)
        done = with_report(machine, "NAIVE_ON_DEVICE", model, folder, *raised)
        if done.returncode != 0:
            sys.exit(f"clvet_naive_on_device: exit {done.returncode}\n{done.stderr}")
        return [np.load(pathlib.Path(folder) / f"{number}.out.npy") for number in range(len(inputs))]


def det(machine, models):
    model = models / "ch_PP-OCRv4_det_infer.onnx"
    pages = list(text_pages.pixels())
    np.save(machine.folder / "page.npy", pages[0])
    found = machine.diagnose_file(model, "--input", "page.npy", "--policy", "naive", expected=(1,))
    origin, plan = found["origins"][0], found["plan"]
    bad = expect("PP-OCRv4 det: the BatchNormalization, a map of zeros, one node raised",
                 origin["op"] == "BatchNormalization" and origin["value"] == "batch_norm_0.w_2"
                 and found["inputs"][0]["outputs"][0]["sign"] == "zero" and len(plan["raised"]) == 1 and plan["right"],
                 (origin, plan["raised"]))
    low, raised = (naive_answers(machine, model, pages, nodes) for nodes in ([], plan["raised"]))
    for number, (exact, empty, got) in enumerate(zip(floats_of(model, pages), low, raised)):
        same = text_pages.iou(text_pages.mask(got), text_pages.mask(exact))
        bad += expect(f"page {number} has no text at half, and its text with the plan: IoU {same:.4f}",
                      not text_pages.mask(empty).any() and same >= text_pages.least_iou(number))
    return bad


def magika(machine, models):
    model, folder = models / "magika.onnx", machine.folder / "files"
    folder.mkdir()
    samples = file_samples.samples()
    files = {name: np.array(file_samples.tokens_of(content), np.int32) for name, (_, content) in samples.items()}
    for name in list(files)[::8]:
        np.save(folder / f"{name}.npy", files[name])
    found = machine.diagnose_file(model, "--calibration", folder, "--policy", "naive", expected=(1,))
    plan = found["plan"]
    bad = expect("magika: the sum of squares of a LayerNorm, two nodes raised",
                 found["origins"][0]["node"].endswith("LayerNorm_1/Sum_1") and len(plan["raised"]) <= 2 and plan["right"],
                 found["origins"][0])
    got = naive_answers(machine, model, list(files.values()), plan["raised"])
    wrong = [(name, int(row.argmax()), label) for (name, (label, _)), row in zip(samples.items(), got) if row.argmax() != label]
    return bad + expect(f"{len(samples) - len(wrong)} of {len(samples)} files are labelled right with the plan", not wrong, wrong)


def planted(machine):
    done = with_report(machine, "PLANTED_ON_DEVICE", os.environ.get("CLVET_TEST_COUNT", "1"))
    return expect("planted faults are named exactly, and clean networks have none", done.returncode == 0, done.stderr)


def plan_cost(machine):
    done = with_report(machine, "PLAN_COST")
    return expect("plans cost as little as any choice without a needless node, and what was predicted", done.returncode == 0,
                  done.stderr)


def main():
    clvet = str(pathlib.Path(sys.argv[1]).resolve())
    models = pathlib.Path(sys.argv[2]).resolve()
    models = models if models.is_dir() else models.parent
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(clvet, pathlib.Path(folder))
        bad = sum(test(machine) for test in (clean, overflow, faster, planted))
        bad += plan_cost(machine) if os.environ.get("PLAN_COST") else 0
        bad += sum(test(machine, models) for test in (det, magika))
        bad += sum(test(machine) for test in (gone, wrong_kernel, crash))
    return 1 if bad else 0


sys.exit(main())
