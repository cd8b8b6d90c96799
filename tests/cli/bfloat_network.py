"""Networks of bfloat16 beside numpy: each node in float64, rounded to bfloat16 at its end.

Usage: bfloat_network.py CLVET [MODEL IMAGE_DIR]. MODEL and IMAGE_DIR, which all tests get, are not used. The state folder is the
caller's (CLVET_STATE_DIR), with a report of the system's drivers in it. onnxruntime has no bfloat16 on processors.

What is right: on the host, where each node is rounded too, at most 2 in 100 values differ (beside a tie), and by at most 2 steps of the
largest value; on a device at precision high, which rounds at the end alone, all values are within 2^-6 of the largest one. With values
beyond the range of half, each precision gives the right answer, or the run ends with another code than 0.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

STEP = 2.0**-7


def bits_of(values):
    """The nearest of bfloat16, ties to even, by the definition: a multiple of 2^-7 of the power of two below."""
    values = np.asarray(values, np.float64)
    exponents = np.floor(np.log2(np.abs(np.where(values == 0, 1, values))))
    units = 2.0 ** (np.maximum(exponents, -126) - 7)
    return np.round(values / units) * units


def tensor(name, values):
    words = (bits_of(values).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return helper.make_tensor(name, TensorProto.BFLOAT16, list(np.shape(values)), words.tobytes(), raw=True)


class Network:
    """Builds a model, and computes what it makes."""

    def __init__(self, shape, values):
        self.nodes, self.constants = [], []
        self.input = helper.make_tensor_value_info("x", TensorProto.BFLOAT16, shape)
        self.given = np.asarray(values, np.float32)
        self.values = {"x": bits_of(self.given)}

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(tensor(name, values))
        self.values[name] = bits_of(values)
        return name

    def add(self, op, inputs, compute, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        self.values[name] = bits_of(compute(*(self.values[one] for one in inputs)))
        return name

    def save(self, path):
        last = self.nodes[-1].output[0]
        y = helper.make_tensor_value_info(last, TensorProto.BFLOAT16, self.values[last].shape)
        graph = helper.make_graph(self.nodes, "bfloat16", [self.input], [y], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        onnx.save(model, path)
        return self.values[last], last


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normalised(x, scale, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + bias


def convolved(x, w, b):
    n, c, height, width = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    y = np.zeros((n, w.shape[0], height, width)) + b[None, :, None, None]
    for i in range(3):
        for j in range(3):
            y += np.einsum("nchw,oc->nohw", padded[:, :, i : i + height, j : j + width], w[:, :, i, j])
    return y


def block(random, scale=1.0):
    net = Network(["batch", 64], random.standard_normal((8, 64)) * scale)
    x = net.add("LayerNormalization", ["x", net.constant(random.uniform(0.5, 1.5, 64)), net.constant(random.standard_normal(64) * 0.1)],
                normalised, epsilon=1e-5)
    y = net.add("MatMul", [x, net.constant(random.standard_normal((64, 96)) / 8)], np.matmul)
    y = net.add("Relu", [net.add("Add", [y, net.constant(random.standard_normal(96) * 0.1)], np.add)], lambda v: np.maximum(v, 0))
    y = net.add("MatMul", [y, net.constant(random.standard_normal((96, 64)) / 10)], np.matmul)
    y = net.add("Add", [x, y], np.add)
    net.add("Softmax", [y], softmax, axis=-1)
    return net


def picture(random):
    net = Network([1, 3, 16, 16], random.standard_normal((1, 3, 16, 16)))
    y = "x"
    for inputs, outputs in ((3, 8), (8, 16)):
        w, b = random.standard_normal((outputs, inputs, 3, 3)) / np.sqrt(9 * inputs), random.standard_normal(outputs) * 0.1
        y = net.add("Conv", [y, net.constant(w), net.constant(b)], convolved, pads=[1, 1, 1, 1])
        y = net.add("Relu", [y], lambda v: np.maximum(v, 0))
    net.add("GlobalAveragePool", [y], lambda v: v.mean((2, 3), keepdims=True))
    return net


def large(random):
    """Values about 1e8, which half does not have."""
    net = Network([4, 32], random.standard_normal((4, 32)) * 1e6)
    y = net.add("MatMul", ["x", net.constant(random.standard_normal((32, 16)) * 10)], np.matmul)
    net.add("Add", [y, net.constant(random.standard_normal(16) * 1e7)], np.add)
    return net


def run(clvet, model, x, folder, options):
    np.save(folder / "x.npy", x)
    command = [clvet, "run", str(model), "--input", f"x={folder / 'x.npy'}", "--quiet", "--output-dir", str(folder / "out"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250)
    return done.returncode, done.stderr


def judge(name, options, got, wanted, exact):
    scale = np.abs(wanted).max()
    error = np.abs(got - wanted).max() / scale
    others = np.mean(got != wanted)
    print(f"{name} {' '.join(options)}: {others:.1%} of the values differ, by {error:.2e} of the largest", flush=True)
    if exact:
        assert others <= 0.02 and error <= 2 * STEP, name
    else:
        assert error <= 2 * STEP, name


def main():
    clvet = sys.argv[1]
    random = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, net in {"block": block(random), "picture": picture(random), "large": large(random)}.items():
            wanted, last = net.save(folder / f"{name}.onnx")
            places = [["--device", "host"], ["--device", "0"], []]
            places += [["--device", "0", "--precision", word] for word in ("high", "normal", "low")]
            for options in places:
                code, said = run(clvet, folder / f"{name}.onnx", net.given, folder, options)
                if code != 0:
                    assert "--precision" in options and options[-1] != "high", said
                    print(f"{name} {' '.join(options)}: exit {code}, {said.strip()}")
                    continue
                record = json.loads((folder / "out/run.json").read_text())
                assert record["outputs"][0]["dtype"] == "bf16", record["outputs"]
                if options == ["--device", "0", "--precision", "high"]:
                    assert all(node["where"] == "opencl" for node in record["nodes"]), record["nodes"]
                got = np.load(folder / "out" / f"{last}.npy")
                assert got.dtype == np.float32 and got.shape == wanted.shape
                judge(name, options, got.astype(np.float64), wanted, exact=record["device"] == "host")
    return 0


if __name__ == "__main__":
    sys.exit(main())
