"""Random Resize and pooling nodes on the host, against onnxruntime.

Usage: random_resize_pool.py CLVET [MODEL IMAGES [COUNT [SEED]]]. MODEL and IMAGES, which all tests get, are not used. Needs
onnx, onnxruntime and numpy. A model holds NODES nodes of one input each. Sums of float32 differ by their order: values may
differ by 1e-4 of the largest. An index that a rounding mode takes may not. DIFFERENCES lists, with its reason, what onnxruntime does otherwise than the ONNX standard; those cases are not drawn.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

NODES = 40
DIFFERENCES = {
    "Resize to the shape that is there, by scales that are not 1": "onnxruntime copies; ONNX and PyTorch interpolate",
    "Resize with tf_half_pixel_for_nn (deprecated since opset 13)": "onnxruntime rounds positions halfway otherwise",
    "Pooling with auto_pad SAME_* and strides longer than the kernel": "onnxruntime crops by a negative padding; here it is 0",
}


def same_by_other_scales(shape, scales):
    outs = [int(numpy.float32(s) * numpy.float32(n)) for s, n in zip(scales, shape)]
    return outs == shape and any(s != 1 for s in scales)



def resize_case(draw, index):
    rank = 4
    shape = [1, draw.randint(1, 3), draw.randint(1, 12), draw.randint(1, 12)]
    mode = draw.choice(["nearest", "linear", "cubic"])
    transform = draw.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
    attributes = {"mode": mode, "coordinate_transformation_mode": transform}
    if mode == "nearest":
        attributes["nearest_mode"] = draw.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    if mode == "cubic":
        attributes["cubic_coeff_a"] = draw.choice([-0.75, -0.5])
    constants = []
    if draw.random() < 0.6:
        scales = [1.0, 1.0] + [draw.choice([0.3, 0.5, 0.6, 0.7, 0.9, 1.0, 1.1, 1.3, 1.5, 1.6, 1.7, 2.0, 2.3, 2.6, 3.0]) for _ in "hw"]
        empty = any(int(numpy.float32(s) * numpy.float32(n)) < 1 for s, n in zip(scales, shape))
        if empty or same_by_other_scales(shape, scales):
            return resize_case(draw, index)
        constants.append(helper.make_tensor(f"s{index}", TensorProto.FLOAT, [rank], scales))
        inputs = [f"x{index}", "", f"s{index}"]
    else:
        sizes = shape[:2] + [draw.randint(1, 24), draw.randint(1, 24)]
        constants.append(helper.make_tensor(f"n{index}", TensorProto.INT64, [rank], sizes))
        inputs = [f"x{index}", "", "", f"n{index}"]
    return shape, helper.make_node("Resize", inputs, [f"y{index}"], **attributes), constants


def pool_case(draw, index):
    spatial = draw.randint(1, 2)
    op = draw.choice(["MaxPool", "AveragePool"])
    kernel = [draw.randint(1, 4) for _ in range(spatial)]
    dilation = [draw.randint(1, 2) for _ in range(spatial)]
    shape = [1, draw.randint(1, 3)] + [draw.randint((k - 1) * d + 1, (k - 1) * d + 9) for k, d in zip(kernel, dilation)]
    attributes = {"kernel_shape": kernel, "strides": [draw.randint(1, 4) for _ in range(spatial)], "dilations": dilation,
                  "ceil_mode": draw.randint(0, 1)}
    fits = all(s <= k for s, k in zip(attributes["strides"], kernel))
    if draw.random() < 0.3 and dilation == [1] * spatial and fits:
        attributes["auto_pad"] = draw.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        attributes["ceil_mode"] = 0
    else:
        attributes["pads"] = [draw.randint(0, k - 1) for k in kernel * 2]
    if op == "AveragePool":
        attributes["count_include_pad"] = draw.randint(0, 1)
    return shape, helper.make_node(op, [f"x{index}"], [f"y{index}"], **attributes), []


def model_of(draw):
    cases = [draw.choice([resize_case, pool_case])(draw, i) for i in range(NODES)]
    inputs = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, shape) for i, (shape, _, _) in enumerate(cases)]
    outputs = [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, None) for i in range(NODES)]
    constants = [tensor for _, _, tensors in cases for tensor in tensors]
    graph = helper.make_graph([node for _, node, _ in cases], "random", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    model.ir_version = 9
    return model, [node for _, node, _ in cases], [shape for shape, _, _ in cases]


def expected(model, values, nodes):
    """onnxruntime's outputs; None for a node that it refuses alone."""
    try:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return dict(zip([f"y{i}" for i in range(NODES)], session.run(None, values)))
    except Exception as error:  # noqa: BLE001: whatever it throws, the case is no case
        return str(error)


def compare(clvet, folder, draw, count_of):
    model, nodes, shapes = model_of(draw)
    random_values = numpy.random.default_rng(draw.randrange(1 << 30))
    values = {f"x{i}": random_values.standard_normal(shape).astype(numpy.float32) for i, shape in enumerate(shapes)}
    want = expected(model, values, nodes)
    if isinstance(want, str):
        print(f"onnxruntime refuses a model: {want.splitlines()[0][:200]}")
        return []
    onnx.save(model, folder / "m.onnx")
    command = [clvet, "run", str(folder / "m.onnx"), "--device", "host", "--quiet", "--output-dir", str(folder / "out")]
    for name, value in values.items():
        numpy.save(folder / f"{name}.npy", value)
        command += ["--input", f"{name}={folder / name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return [f"exit {done.returncode}: {done.stderr}"]
    files = {row["name"]: row["file"] for row in json.loads((folder / "out/run.json").read_text())["outputs"]}
    failures = []
    for i, node in enumerate(nodes):
        got, right = numpy.load(files[f"y{i}"]), want[f"y{i}"]
        count_of[node.op_type] = count_of.get(node.op_type, 0) + 1
        same = got.shape == right.shape and numpy.allclose(got, right, rtol=1e-4, atol=1e-4 * max(1.0, float(abs(right).max())))
        if not same:
            what = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            constants = [onnx.numpy_helper.to_array(t).tolist() for t in model.graph.initializer if t.name in node.input]
            failures.append(f"{node.op_type} of {shapes[i]} by {constants} {what}: {got.shape} against {right.shape}, "
                            f"{abs(got - right).max() if got.shape == right.shape else ''}")
    return failures


def main():
    clvet = sys.argv[1]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 2000
    draw = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 1)
    count_of, failures = {}, []
    with tempfile.TemporaryDirectory() as name:
        while sum(count_of.values()) < count and len(failures) < 40:
            failures += compare(clvet, pathlib.Path(name), draw, count_of)
    print("\n".join(failures))
    print(f"{sum(count_of.values())} cases {count_of}, {len(failures)} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
