"""What `clvet diagnose` gives to others, tried with onnx and onnxruntime: its advice for ONNX Runtime, followed to the letter, and
the failing part that --save-failing writes.

Usage: diagnose_onnx.py CLVET MODEL IMAGE_DIR
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

WIDTH = 64


def network(path, constant_nodes):
    """x, scaled up beyond half by a constant that half does not hold, made small again, and multiplied by a matrix."""
    random = np.random.default_rng(5)
    constants = {"large": np.full((1, 1), 3e5, np.float32), "small": np.full((1, 1), 1 / 3e5, np.float32),
                 "matrix": (random.standard_normal((WIDTH, WIDTH)) / 8).astype(np.float32)}
    nodes = [helper.make_node("Mul", ["x", "large"], ["l"], name='scale "up"'), helper.make_node("Mul", ["l", "small"], ["s"], name="down"),
             helper.make_node("MatMul", ["s", "matrix"], ["m"], name="product"), helper.make_node("Tanh", ["m"], ["y"], name="last")]
    tensors = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    if constant_nodes:
        nodes = [helper.make_node("Constant", [], [one.name], name="make " + one.name, value=one) for one in tensors] + nodes
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, WIDTH])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, WIDTH])], [] if constant_nodes else tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def diagnose(clvet, folder, model, *options):
    done = subprocess.run([clvet, "diagnose", model, "--json", folder / "d.json", *options], capture_output=True, text=True)
    if done.returncode != 1:
        sys.exit(f"clvet diagnose ended with {done.returncode}: {done.stderr}")
    return json.loads((folder / "d.json").read_text())


def outputs_of(model, inputs):
    """What the file computes, node by node as it stands there."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, inputs)))


class Test:
    def __init__(self, clvet, folder):
        self.clvet, self.folder, self.wrong = clvet, folder, 0

    def expect(self, what, right, seen=""):
        print(f"{'ok  ' if right else 'WRONG'} {what} {seen}", flush=True)
        self.wrong += not right

    def advice(self, constant_nodes):
        """The lines of the advice, run as a program, make a model of half that is right; without nodes to keep it is wrong."""
        home = os.getcwd()
        os.chdir(self.folder)
        try:
            network("model.onnx", constant_nodes)
            x = np.random.default_rng(1).standard_normal((4, WIDTH)).astype(np.float32)
            np.save("x.npy", x)
            for policy in ("naive", "engine"):
                found = diagnose(self.clvet, self.folder, "model.onnx", "--input", "x.npy", "--policy", policy)
                lines = next(row for row in found["plan"]["advice"] if row["engine"] == "onnxruntime")["settings"]
                wanted = outputs_of("model.onnx", {"x": x})["y"]
                for keep in (True, False):
                    program = "\n".join(lines) if keep else "\n".join(line.split(", node_block_list")[0] +
                                                                       (")" if "node_block_list" in line else "") for line in lines)
                    exec(program, {})
                    error = np.abs(outputs_of("model_fp16.onnx", {"x": x})["y"] - wanted).max()
                    self.expect(f"constant nodes {constant_nodes}, {policy}: advice {'followed' if keep else 'ignored'}",
                                (error < 0.01) == keep, error)
        finally:
            os.chdir(home)


    def failing(self, model, inputs, *options):
        """The part is sound ONNX, gives what onnxruntime gives, and has the whole network's fault."""
        folder = self.folder / "part"
        shutil.rmtree(folder, ignore_errors=True)
        found = diagnose(self.clvet, self.folder, model, *inputs, *options, "--save-failing", folder)
        name, part = f"{pathlib.Path(model).name} {' '.join(options)}:", found["failing"]
        onnx.checker.check_model(part["model"], full_check=True)
        session = onnxruntime.InferenceSession(part["model"], providers=["CPUExecutionProvider"])
        given = {one["name"]: np.load(one["file"]) for one in part["inputs"]}
        wanted = {one["name"]: np.load(one["file"]) for one in part["outputs"]}
        self.expect(f"{name} takes and gives what the files have",
                    {one.name for one in session.get_inputs()} == set(given) and {one.name for one in session.get_outputs()} == set(wanted))
        for output, value in outputs_of(part["model"], given).items():
            scale = np.abs(value).max() + 1e-30
            self.expect(f"{name} '{output}' is onnxruntime's", np.abs(wanted[output] - value).max() / scale < 1e-5)
        again = subprocess.run([self.clvet] + shlex.split(part["command"])[1:] + ["--json", "-"], capture_output=True, text=True)
        self.expect(f"{name} the command that is told runs", again.returncode == 1, again.stderr)
        key = lambda origin: [origin[word] for word in ("node", "op", "fault", "value")]
        self.expect(f"{name} has the origin", key(json.loads(again.stdout)["origins"][0]) == key(found["origins"][0]),
                    f"in {part['nodes']} of {len(found['nodes'])} nodes")
        self.expect(f"{name} is a small part", part["nodes"] < 0.1 * len(found["nodes"]) + 3)


def text_image(path):
    """Lines of dark bars on white, as a page has them, for a detector of text."""
    image = np.full((320, 320, 3), 255, np.float32)
    for line in range(8):
        for letter in range(22):
            image[24 + 36 * line:36 + 36 * line, 20 + 12 * letter:24 + 12 * letter] = 0
            image[24 + 36 * line + 4 * (letter % 3):28 + 36 * line + 4 * (letter % 3), 20 + 12 * letter:29 + 12 * letter] = 0
    np.save(path, ((image - 127.5) / 127.5).transpose(2, 0, 1)[None])


def main():
    clvet = os.path.abspath(sys.argv[1])
    folder = pathlib.Path(os.environ["CLVET_STATE_DIR"]) / "others"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    test = Test(clvet, folder)
    for constant_nodes in (False, True):
        test.advice(constant_nodes)
    models = pathlib.Path(sys.argv[2]).parent
    text_image(folder / "page.npy")
    test.failing(models / "ch_PP-OCRv4_det_infer.onnx", ["--input", folder / "page.npy"], "--policy", "naive")
    np.save(folder / "bytes.npy", np.resize(np.frombuffer(pathlib.Path(__file__).read_bytes(), np.uint8), (1, 2048)).astype(np.int32))
    test.failing(models / "magika.onnx", ["--input", folder / "bytes.npy"], "--policy", "naive")
    network(folder / "model.onnx", False)
    np.save(folder / "x.npy", np.random.default_rng(2).standard_normal((4, WIDTH)).astype(np.float32))
    test.failing(folder / "model.onnx", ["--input", folder / "x.npy"], "--policy", "engine")
    sys.exit(1 if test.wrong else 0)


main()
