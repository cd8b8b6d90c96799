"""Random nodes of odd numbers (NaN, infinities, zeros, far beyond the range of half) against onnxruntime.

Usage: random_values.py CLVET [MODEL IMAGES [COUNT [SEED]]]. MODEL and IMAGES, which all tests get, are not used. Needs onnx,
onnxruntime and numpy. Draws elementwise functions, extremes, reductions, pooling and casts, in float32 and in float16.

What is right: casts exactly; in float32 1e-5 of the value (1e-4 on a device); in float16 one step of the format around
the float32 result of the same inputs (EXACT or onnxruntime's), rounded once. NaN where onnxruntime has NaN, but for
DIFFERENCES.
"""

import math
import pathlib
import sys
import tempfile

import numpy
from onnx import TensorProto, helper

from random_nodes import Case, Counts, asked_for, device_options, expected, finish, model_of, run_cases

NODES = 40
# Here onnxruntime loses NaN, or takes it for another number; what is right stands beside.
DIFFERENCES = {
    "MaxPool": "NaN where a window holds one, as PyTorch has it",
    "GlobalMaxPool": "NaN where a plane holds one, as PyTorch has it",
    "ReduceMax": "NaN where a row holds one, as numpy has it",
    "ReduceMin": "NaN where a row holds one, as numpy has it",
}
# Where onnxruntime's float32 is further from right than half a step of float16.
EXACT = {
    "Sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    "Gelu": lambda x: 0.5 * x * numpy.vectorize(math.erfc)(-x / math.sqrt(2)),
}
FUNCTIONS = {
    "Relu": {}, "Sigmoid": {}, "Tanh": {}, "Exp": {}, "Log": {}, "Sqrt": {}, "Reciprocal": {}, "Floor": {}, "Ceil": {}, "Round": {},
    "Erf": {}, "Sin": {}, "Cos": {}, "Atan": {}, "Abs": {}, "Neg": {}, "Softplus": {}, "Softsign": {}, "Elu": {"alpha": 0.7},
    "Celu": {"alpha": 1.5}, "Selu": {}, "ThresholdedRelu": {"alpha": 0.5}, "HardSigmoid": {"alpha": 0.3, "beta": 0.4},
    "HardSwish": {}, "LeakyRelu": {"alpha": 0.2}, "Mish": {}, "Sign": {}, "IsNaN": {}, "IsInf": {}, "Gelu": {},
}
PAIRS = ["Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "Greater", "Equal", "PRelu"]
ROWS = ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd",
        "Softmax", "LogSoftmax"]
INTEGERS = [TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16, TensorProto.INT32, TensorProto.UINT32,
            TensorProto.INT64, TensorProto.UINT64]


def numbers(draw, shape, dtype, odd=True):
    generator = numpy.random.default_rng(draw.randrange(1 << 30))
    values = generator.standard_normal(shape) * draw.choice([0.1, 1, 4, 30])
    if odd and draw.random() < 0.7:
        specials = [numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0, 65504, -1e5, 1e-7]
        where = generator.random(shape) < 0.1
        values[where] = generator.choice(specials, int(where.sum()))
    with numpy.errstate(over="ignore"):
        return values.astype(dtype)


def function_case(draw, i, dtype):
    op = draw.choice(list(FUNCTIONS))
    return Case(helper.make_node(op, [f"x{i}"], [f"y{i}"], **FUNCTIONS[op]), {f"x{i}": numbers(draw, [2, 3, 5, 7], dtype)}, [])


def clip_case(draw, i, dtype):
    bounds = [helper.make_tensor(f"{name}{i}", helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype)), [], [value])
              for name, value in (("lo", -0.5), ("hi", 0.75))]
    return Case(helper.make_node("Clip", [f"x{i}", f"lo{i}", f"hi{i}"], [f"y{i}"]), {f"x{i}": numbers(draw, [4, 9], dtype)}, bounds)


def pair_case(draw, i, dtype):
    second = draw.choice([[3, 5, 7], [1, 7], [3, 1, 1]])
    node = helper.make_node(draw.choice(PAIRS), [f"a{i}", f"b{i}"], [f"y{i}"])
    return Case(node, {f"a{i}": numbers(draw, [3, 5, 7], dtype), f"b{i}": numbers(draw, second, dtype)}, [])


def row_case(draw, i, dtype):
    op = draw.choice(ROWS)
    inputs, constants, attributes = [f"x{i}"], [], {"axis": -1}
    if "Softmax" not in op:
        inputs.append(f"axes{i}")
        constants = [helper.make_tensor(f"axes{i}", TensorProto.INT64, [1], [-1])]
        attributes = {"keepdims": draw.randint(0, 1)}
    return Case(helper.make_node(op, inputs, [f"y{i}"], **attributes), {f"x{i}": numbers(draw, [4, 6, 5], dtype)}, constants)


def pool_case(draw, i, dtype):
    op = draw.choice(["MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"])
    attributes = {} if op.startswith("Global") else {"kernel_shape": [2, 2], "strides": [2, 2]}
    return Case(helper.make_node(op, [f"x{i}"], [f"y{i}"], **attributes), {f"x{i}": numbers(draw, [1, 3, 6, 6], dtype)}, [])


def sum_case(draw, i, dtype):
    names = [f"{letter}{i}" for letter in "abc"]
    inputs = {name: numbers(draw, [3, 5, 7], dtype) for name in names}
    return Case(helper.make_node(draw.choice(["Sum", "Mean", "Max", "Min"]), names, [f"y{i}"]), inputs, [])


def product_case(draw, i, dtype):
    op = draw.choice(["MatMul", "Gemm", "Conv", "BatchNormalization", "Pow"])
    shapes = {"MatMul": [[4, 6], [6, 5]], "Gemm": [[4, 6], [6, 5], [5]], "Conv": [[1, 3, 5, 5], [4, 3, 2, 2], [4]], "Pow": [[4, 6], [6]],
              "BatchNormalization": [[2, 3, 4, 4], [3], [3], [3], [3]]}[op]
    attributes = {"alpha": 0.5, "beta": 1.5} if op == "Gemm" else {}
    inputs = {f"{'abcde'[k]}{i}": numbers(draw, shape, dtype, odd=False).clip(-4, 4) for k, shape in enumerate(shapes)}
    for name in ([f"e{i}"] if op == "BatchNormalization" else [f"a{i}"] if op == "Pow" else []):
        inputs[name] = (abs(inputs[name]) + 0.125).astype(dtype)
    return Case(helper.make_node(op, list(inputs), [f"y{i}"], **attributes), inputs, [])


def resize_case(draw, i, dtype):
    scales = helper.make_tensor(f"s{i}", TensorProto.FLOAT, [4], [1, 1, draw.choice([0.5, 1.5, 2]), 1.75])
    node = helper.make_node("Resize", [f"x{i}", "", f"s{i}"], [f"y{i}"], mode="linear")
    return Case(node, {f"x{i}": numbers(draw, [1, 2, 4, 4], dtype, odd=False)}, [scales])


def cast_case(draw, i, dtype):
    to = draw.choice([*INTEGERS, TensorProto.BOOL, TensorProto.FLOAT16, TensorProto.DOUBLE])
    source = draw.choice([dtype, numpy.float64])
    values = numbers(draw, [40], numpy.float64, odd=False) * draw.choice([1, 100, 10000])
    if source == numpy.float16:
        values = values.clip(-65504, 65504)
    if to not in INTEGERS:
        values = numbers(draw, [40], source)
    elif to in (TensorProto.INT32, TensorProto.INT64):
        values[:3] = [numpy.nan, numpy.inf, -numpy.inf]
    return Case(helper.make_node("Cast", [f"x{i}"], [f"y{i}"], to=to), {f"x{i}": values.astype(source)}, [])


def cases_of(draw, dtype):
    makers = [function_case, function_case, clip_case, pair_case, row_case, pool_case, cast_case, sum_case, product_case, resize_case]
    return [draw.choice(makers)(draw, i, dtype) for i in range(NODES)]


def with_nan(case, want):
    """onnxruntime's answer, and NaN where it loses one."""
    op = case.node.op_type
    if op not in DIFFERENCES:
        return want
    nan = numpy.isnan(next(iter(case.inputs.values())))
    if op == "MaxPool":
        lost = nan.reshape(1, 3, 3, 2, 3, 2).any(axis=(3, 5))
    else:
        lost = nan.any(axis=(2, 3) if op == "GlobalMaxPool" else -1).reshape(want.shape)
    return numpy.where(lost, numpy.array(numpy.nan, want.dtype), want)


def widened(case):
    """The case on float32, whose answer is rounded to float16 once."""
    inputs = {name: value.astype(numpy.float32) if value.dtype == numpy.float16 else value for name, value in case.inputs.items()}
    constants = [helper.make_tensor(t.name, TensorProto.FLOAT, t.dims, numpy.frombuffer(t.raw_data, numpy.float16).tolist()
                                    if t.raw_data else [helper_value(t)])
                 if t.data_type == TensorProto.FLOAT16 else t for t in case.constants]
    return Case(case.node, inputs, constants)


def helper_value(tensor):
    return float(numpy.array(tensor.int32_data, numpy.uint16).view(numpy.float16)[0])


def cancelled(case):
    """What float32 loses where large terms leave a small sum."""
    largest = 1.0
    for value in case.inputs.values():
        finite = numpy.abs(value.astype(numpy.float64)[numpy.isfinite(value)])
        largest = max(largest, float(finite.max(initial=0)))
    return 1e-6 * largest if largest < 1e3 else 0.3e-6 * largest


def right(device):
    def same(case, got, want):
        want = with_nan(case, want)
        if got.shape != want.shape or got.dtype != want.dtype:
            return False
        if case.node.op_type == "Cast" or want.dtype == bool:
            return numpy.array_equal(got, want, equal_nan=want.dtype.kind == "f")
        a, b = got.astype(numpy.float64), want.astype(numpy.float64)
        special = ~numpy.isfinite(b)
        if not numpy.array_equal(a[special], b[special], equal_nan=True):
            return False
        a, b = a[~special], b[~special]
        scale = numpy.maximum(numpy.abs(b), 1e-6)
        if want.dtype == numpy.float16:
            step = numpy.exp2(numpy.floor(numpy.log2(numpy.maximum(numpy.abs(b), 2.0**-14))) - 10)
            return bool((numpy.abs(a - b) <= 1.001 * step + cancelled(case)).all())
        return bool((numpy.abs(a - b) <= (1e-4 if device else 1e-5) * scale + (10 if device else 1) * cancelled(case)).all())
    return same


def rounded(cases):
    """What run_cases() compares with where the model is of float16."""
    def wanted(_model, _values):
        wide = [widened(case) for case in cases]
        answer = expected(model_of(wide, 20), {name: value for case in wide for name, value in case.inputs.items()})
        if isinstance(answer, str):
            return answer
        for case in cases:
            name = case.node.output[0]
            if case.node.op_type in EXACT:
                with numpy.errstate(all="ignore"):
                    answer[name] = EXACT[case.node.op_type](case.inputs[case.node.input[0]].astype(numpy.float64)).astype(numpy.float16)
            elif case.node.op_type != "Cast" and answer[name].dtype == numpy.float32:
                with numpy.errstate(over="ignore"):
                    answer[name] = answer[name].astype(numpy.float16)
        return answer
    return wanted


def main():
    clvet = sys.argv[1]
    count, draw = asked_for(4000)
    counts, options = Counts(), device_options()
    device = "host" not in options
    with tempfile.TemporaryDirectory() as name:
        while counts.wants(count):
            dtype = draw.choice([numpy.float32, numpy.float16])
            cases = cases_of(draw, dtype)
            wanted = rounded(cases) if dtype == numpy.float16 else expected
            run_cases(clvet, pathlib.Path(name), cases, right(device), counts, options, opset=20, wanted=wanted)
    return finish(counts)


if __name__ == "__main__":
    sys.exit(main())
