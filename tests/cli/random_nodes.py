"""Models of random nodes, run by clvet and by onnxruntime: what the random tests share.

A case is (node, inputs, constants): an ONNX node whose tensors end in its own number, its input arrays by name, and
initializers. Of its outputs, the one with the shortest name is compared. On a device, clvet may compute a node on the host; the run itself must not
fall back.
"""

import collections
import dataclasses
import json
import os
import random
import subprocess
import sys

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

Case = collections.namedtuple("Case", "node inputs constants")


@dataclasses.dataclass
class Counts:
    cases: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    on_device: int = 0
    refused: int = 0  # models in a row that onnxruntime did not take
    failures: list = dataclasses.field(default_factory=list)

    def wants(self, count):
        """Whether another model is to be drawn for `count` cases."""
        if self.refused >= 20:
            self.failures.append("onnxruntime refused 20 models in a row")
        return sum(self.cases.values()) < count and len(self.failures) < 40 and self.refused < 20


def asked_for(count):
    """How many cases, and what draws them: COUNT and SEED of the command line, CLVET_TEST_COUNT and CLVET_TEST_SEED, or `count` and 1."""
    words = sys.argv[4:6]
    wanted = int(words[0]) if words else int(os.environ.get("CLVET_TEST_COUNT", count))
    return wanted, random.Random(int(words[1]) if len(words) > 1 else int(os.environ.get("CLVET_TEST_SEED", 1)))


def compared(node):
    return min((name for name in node.output if name), key=len)


def model_of(cases, opset):
    inputs, outputs = [], []
    for node, arrays, _ in cases:
        for name, array in arrays.items():
            inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        outputs.append(helper.make_empty_tensor_value_info(compared(node)))
    constants = [tensor for case in cases for tensor in case.constants]
    graph = helper.make_graph([case.node for case in cases], "random", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 9
    return model


def expected(model, values, level=onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
    """onnxruntime's outputs by name, or why it refuses the model."""
    try:
        options = onnxruntime.SessionOptions()
        options.log_severity_level, options.graph_optimization_level = 3, level
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return dict(zip([output.name for output in session.get_outputs()], session.run(None, values)))
    except Exception as error:  # noqa: BLE001: whatever it throws, the case is no case
        return str(error)


def computed(clvet, folder, model, values, options):
    """clvet's outputs by name and its run record, or why there are none."""
    onnx.save(model, folder / "m.onnx")
    command = [clvet, "run", str(folder / "m.onnx"), "--quiet", "--repeat", "0", "--output-dir", str(folder / "out"), *options]
    for name, value in values.items():
        numpy.save(folder / f"{name}.npy", value)
        command += ["--input", f"{name}={folder / name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr}", None
    record = json.loads((folder / "out/run.json").read_text())
    return {row["name"]: numpy.load(row["file"]) for row in record["outputs"]}, record


def described(case):
    node = case.node
    what = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    constants = [numpy_helper.to_array(tensor).tolist() for tensor in case.constants]
    inputs = [f"{array.dtype}{list(array.shape)}" for array in case.inputs.values()]
    return f"{node.op_type} of {', '.join(inputs)} by {constants} {what}"


def run_cases(clvet, folder, cases, same, counts, options, opset=19, wanted=expected):
    """`same(case, got, want)` says whether an output is right."""
    model = model_of(cases, opset)
    values = {name: array for case in cases for name, array in case.inputs.items()}
    want = wanted(model, values)
    if isinstance(want, str):
        print(f"onnxruntime refuses a model: {want.splitlines()[0][:300]}")
        counts.refused += 1
        return
    counts.refused = 0
    got, record = computed(clvet, folder, model, values, options)
    if record is None:
        counts.failures.append(got)
        return
    host = "host" in options
    if not host and (record["device"] == "host" or record["fallbacks"]):
        counts.failures.append(f"not on the device: {record['device']}, {record['fallbacks']}")
    # A node that is computed as steps has "name/" before each.
    on_device = {node["name"].split("/")[0] for node in record["nodes"] if node["where"] == "opencl"}
    for case in cases:
        name = compared(case.node)
        counts.cases[case.node.op_type] += 1
        counts.on_device += (case.node.name or name) in on_device
        if not same(case, got[name], want[name]):
            counts.failures.append(f"{described(case)}: {numpy.ravel(got[name])[:12]} against {numpy.ravel(want[name])[:12]}")


def device_options():
    """Those of the device that the test is asked for (CLVET_TEST_DEVICE, with the state folder's report), else the host's."""
    device = os.environ.get("CLVET_TEST_DEVICE")
    return ["--device", device, "--precision", "high"] if device else ["--device", "host"]


def finish(counts):
    print("\n".join(counts.failures[:40]))
    print(f"{sum(counts.cases.values())} cases {dict(counts.cases)}, {counts.on_device} on OpenCL, {len(counts.failures)} differ")
    missed = bool(os.environ.get("CLVET_TEST_DEVICE")) and counts.on_device == 0
    return 1 if counts.failures or missed else 0
