"""The public library for long and from many threads, over PoCL below the hostile driver, which counts what is held of it.

Usage: library_use.py CLVET MODEL IMAGE_DIR. FAKE_CL names the hostile driver, LIBRARY_BENCH the program that uses the library.
CLVET_TEST_SCALE: small (the default: a network of two nodes, 1,000 inferences, 10 resizes and 10 sessions) or whole (PP-OCR's text
direction, 10,000, 100 and 100).

Nothing of the driver is left at the end, memory does not grow, every answer is the same, threads with a session each have the
answers of one thread; and the device's memory is at most 1.3 times the weights and the largest set of tensors alive at a time.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

POCL = "/usr/lib/x86_64-linux-gnu/libpocl.so.2"
MOST_OF_NEED = 1.3
SCALES = {"small": {"sessions": 10, "runs": 1000, "resizes": 10, "threads": 25},
          "whole": {"sessions": 100, "runs": 10000, "resizes": 100, "threads": 200}}


def small_network(path):
    """Two nodes on eltwise_* kernels, with a last axis of any size."""
    factor = numpy_helper.from_array(np.float32([[[1.5]], [[-2]], [[0.5]]]), "factor")
    graph = helper.make_graph([helper.make_node("Mul", ["x", "factor"], ["a"]), helper.make_node("Tanh", ["a"], ["y"])], "small",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, "wide"])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [factor])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def run(words, environment, fine=(0,)):
    done = subprocess.run(list(map(str, words)), env=environment, capture_output=True, text=True, timeout=3000)
    if done.returncode not in fine:
        raise SystemExit(f"{' '.join(map(str, words))}\nexit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def figures_of(text):
    return {name: float(value) for name, value in (line.split() for line in text.splitlines())}


def bytes_of(tensor):
    return int(np.prod(tensor["extent"])) * (2 if tensor["half"] else 4)


def largest_set(plan):
    """Bytes of tensors that are alive together, each from the step that writes it to the last that reads it."""
    tensors, lives = plan["tensors"], {}
    for number, step in enumerate(plan["phases"][0]["steps"]):
        named = list(step.get("tensors", {}).values())
        for index in named + ([step["tensor"]] if step.get("tensor", -1) >= 0 else []):
            while tensors[index]["alias"] >= 0:
                index = tensors[index]["alias"]
            lives.setdefault(index, [number, number])[1] = number
    steps = range(len(plan["phases"][0]["steps"]))
    return max(sum(bytes_of(tensors[i]) for i, (first, last) in lives.items() if first <= at <= last) for at in steps)


def weights_of(model, plan):
    """Float weights as the plan stores them."""
    graph = onnx.load(model).graph
    constants = list(graph.initializer)
    constants += [row.t for node in graph.node if node.op_type == "Constant" for row in node.attribute if row.name == "value"]
    floats = sum(int(np.prod(one.dims)) for one in constants if one.data_type == TensorProto.FLOAT)
    return floats * (4 if plan["combination"]["precision"] == "high" else 2)


def main():
    clvet, model, _ = sys.argv[1:]
    bench = os.environ["LIBRARY_BENCH"]
    scale = os.environ.get("CLVET_TEST_SCALE", "small")
    counts = SCALES[scale]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        driver, report, ledger = folder / "libfake.so", folder / "report.json", folder / "ledger"
        shutil.copy(os.environ["FAKE_CL"], driver)
        environment = dict(os.environ, FAKE_CL_TARGET=POCL, POCL_CACHE_DIR=str(folder / "cache"))
        cases, tensor, shape = [], "x", "1x3x48x192"
        if scale == "small":
            model = folder / "small.onnx"
            small_network(model)
            cases, shape = ["--case", "eltwise_*"], "1x3x16x64"
        run([clvet, "probe", "--library", driver, *cases, "--out", report, "--quiet"], environment, fine=(0, 1))
        place = [f"{tensor}={shape}", "device=0", f"report={report}", f"state_dir={folder / 'state'}"]
        for share in 0, 1:
            ledger.unlink(missing_ok=True)
            words = [f"sessions={counts['sessions']}", f"runs={counts['runs']}", f"resizes={counts['resizes']}"]
            found = figures_of(run([bench, "endurance", model, *place, *words, f"share={share}", f"ledger={ledger}"],
                                   dict(environment, FAKE_CL_LEDGER=str(ledger))))
            print(f"share={share}:", json.dumps(found))
        for device in "0", "host":
            for share in 0, 1:
                words = [f"{tensor}={shape}", f"device={device}", f"runs={counts['threads']}", f"share={share}"]
                found = figures_of(run([bench, "threads", model, *words, *place[2:]], environment))
                print(f"threads on {device}, share={share}:", json.dumps(found))
        ledger.unlink()
        found = figures_of(run([bench, "endurance", model, *place, "sessions=1", "runs=2", "resizes=0", f"ledger={ledger}"],
                               dict(environment, FAKE_CL_LEDGER=str(ledger))))
        plan = json.loads(run([clvet, "plan", model, "--shape", f"{tensor}={shape}", "--report", report, "--device", "0", "--json", "-"],
                              environment))
        need = weights_of(str(model), plan) + largest_set(plan)
        print(f"device memory: {found['most_bytes']:.0f} bytes of {need} needed: {found['most_bytes'] / need:.3f}")
        # What every buffer has behind its end for kernels that read in vectors outweighs a small network.
        if scale == "whole" and found["most_bytes"] > MOST_OF_NEED * need:
            raise SystemExit(f"the device's memory is more than {MOST_OF_NEED} times what is needed")


main()
