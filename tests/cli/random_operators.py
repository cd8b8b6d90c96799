"""Random nodes of operators that have no kernel of their own, on the host or a device, against onnxruntime.

Usage: random_operators.py CLVET [MODEL IMAGES [COUNT [SEED [OPERATOR]]]]. MODEL and IMAGES, which all tests get, are not
used. Needs onnx, onnxruntime and numpy. Each function `<something>_case` below draws one node of its operators; main()
finds them all. What is right: integers and truth values exactly, but quantised ones by STEP; floats by 2e-5 of the largest
value of the answer, since sums differ by their order.
"""

import pathlib
import sys
import tempfile

import numpy
from onnx import helper

from random_nodes import Case, Counts, asked_for, device_options, expected, finish, run_cases

NODES = 24
# Scaled sums that lie half way between two steps: the last bit of a product of floats decides.
STEP = {"QLinearConv": 1, "QLinearMatMul": 1, "QuantizeLinear": 1}
NEAR = {"DeformConv": 1e-4}  # of the largest value, where it is not 2e-5


def normalised(x, axes):
    """In float64: onnxruntime takes the variance as E[x^2] - E[x]^2, whose digits cancel where few values are near each other."""
    x = x.astype(numpy.float64)
    shift = x - x.mean(axis=tuple(axes), keepdims=True)
    return (shift / (numpy.sqrt((shift * shift).mean(axis=tuple(axes), keepdims=True)) + 1e-9)).astype(numpy.float32)


# What is compared with this in place of onnxruntime's answer.
EXACT = {"MeanVarianceNormalization": normalised}


def wanted(model, values):
    answer = expected(model, values)
    if isinstance(answer, str):
        return answer
    for node in model.graph.node:
        if node.op_type in EXACT:
            attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
            answer[node.output[0]] = EXACT[node.op_type](values[node.input[0]], **attributes)
    return answer
QUANTISED = [numpy.uint8, numpy.int8]


def numbers(draw, shape, dtype=numpy.float32):
    generator = numpy.random.default_rng(draw.randrange(1 << 30))
    dtype = numpy.dtype(dtype)
    if dtype == bool:
        return generator.random(shape) < 0.5
    if dtype.kind == "f":
        return generator.standard_normal(shape).astype(dtype)
    info = numpy.iinfo(dtype)
    return generator.integers(max(info.min, -100), min(info.max, 100), shape, dtype=dtype, endpoint=True)


def bytes_of(draw, shape, dtype):
    info = numpy.iinfo(dtype)
    return numpy.random.default_rng(draw.randrange(1 << 30)).integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def shape_of(draw, rank, most=5):
    return [draw.randint(1, most) for _ in range(rank)]


def case(op, i, inputs, **attributes):
    """Inputs in order; None for one that is absent. `outputs`: how many the node has, the first is compared."""
    outputs = attributes.pop("outputs", 1)
    names = [f"{'abcdefghijkl'[k]}{i}" if value is not None else "" for k, value in enumerate(inputs)]
    made = [f"y{i}"] + [f"y{i}_{k}" for k in range(1, outputs)]
    arrays = {name: numpy.asarray(value) for name, value in zip(names, inputs) if name}
    return Case(helper.make_node(op, names, made, **attributes), arrays, [])


def parameters(draw, count, dtype):
    scale = numpy.random.default_rng(draw.randrange(1 << 30)).uniform(0.01, 0.2, count).astype(numpy.float32)
    return scale, bytes_of(draw, count, dtype)


def quantise_case(draw, i):
    shape = shape_of(draw, 3)
    axis = draw.choice([None, 0, 1, 2, -1])
    dtype = draw.choice(QUANTISED)
    scale, zero = parameters(draw, [] if axis is None else [shape[axis]], dtype)
    attributes = {} if axis is None else {"axis": axis}
    if draw.random() < 0.5:
        return case("DequantizeLinear", i, [bytes_of(draw, shape, dtype), scale, draw.choice([zero, None]) if dtype == numpy.uint8 else zero],
                    **attributes)
    return case("QuantizeLinear", i, [numbers(draw, shape) * 5, scale, zero], **attributes)


def quantised_product_case(draw, i):
    a, b = draw.choice([(numpy.uint8, numpy.uint8), (numpy.uint8, numpy.int8), (numpy.int8, numpy.int8)])  # what onnxruntime has
    m, k, n = shape_of(draw, 3, 7)
    left = draw.choice([[m, k], [2, m, k], [3, 1, m, k]])
    xs, xz = parameters(draw, [], a)
    ws, wz = parameters(draw, [], b)
    ys, yz = parameters(draw, [], a)
    return case("QLinearMatMul", i, [bytes_of(draw, left, a), xs, xz, bytes_of(draw, [k, n], b), ws, wz, ys * 40, yz])


def quantised_conv_case(draw, i):
    dtype, weights = numpy.uint8, draw.choice(QUANTISED)
    groups, per, out = draw.randint(1, 2), draw.randint(1, 3), draw.randint(1, 3)
    x = bytes_of(draw, [draw.randint(1, 2), groups * per, draw.randint(4, 7), draw.randint(4, 7)], dtype)
    w = bytes_of(draw, [groups * out, per, draw.randint(1, 3), draw.randint(1, 3)], weights)
    xs, xz = parameters(draw, [], dtype)
    ws, wz = parameters(draw, draw.choice([[], [groups * out]]), weights)
    if wz.ndim:  # onnxruntime wants the same zero point for all filters
        wz[:] = wz[0]
    ys, yz = parameters(draw, [], dtype)
    bias = draw.choice([None, numbers(draw, [groups * out], numpy.int32)])
    inputs = [x, xs, xz, w, ws, wz, ys * 60, yz] + ([] if bias is None else [bias])
    return case("QLinearConv", i, inputs, group=groups, strides=[draw.randint(1, 2)] * 2, pads=[draw.randint(0, 1) for _ in range(4)])


def convolution_case(draw, i):
    op, axes = draw.choice(["Conv", "Conv", "ConvTranspose"]), draw.randint(1, 3)
    groups, per, out = draw.choice([1, 1, 2, 3]), draw.randint(1, 5), draw.randint(1, 5)
    kernel, dilations = [draw.randint(1, 3) for _ in range(axes)], [draw.choice([1, 1, 2]) for _ in range(axes)]
    x = numbers(draw, [draw.randint(1, 2), groups * per, *(draw.randint(5, 9) for _ in range(axes))])
    w = numbers(draw, [groups * out, per, *kernel] if op == "Conv" else [groups * per, out, *kernel])
    words = {"group": groups, "dilations": dilations, "strides": [draw.randint(1, 2) for _ in range(axes)],
             "pads": [draw.randint(0, 1) for _ in range(2 * axes)]}
    return case(op, i, [x, w, *draw.choice([[], [numbers(draw, [groups * out])]])], **words)


def norm_case(draw, i):
    channels = draw.choice([2, 4, 6])
    shape = [draw.randint(1, 3), channels, draw.randint(6, 9), *shape_of(draw, draw.randint(0, 2))]
    x = numbers(draw, shape) * draw.choice([1, 50]) + draw.choice([0, 10])
    kind = draw.choice(["InstanceNormalization", "LpNormalization", "MeanVarianceNormalization"])
    if kind == "InstanceNormalization":
        return case(kind, i, [x, numbers(draw, [channels]), numbers(draw, [channels])], epsilon=draw.choice([1e-5, 1e-2]))
    if kind == "LpNormalization":
        return case(kind, i, [x], axis=draw.randrange(-len(shape), len(shape)), p=draw.choice([1, 2]))
    axes = sorted({1, *draw.sample(range(len(shape)), draw.randint(1, len(shape)))})  # of one value onnxruntime makes 0 / 0
    return case(kind, i, [x], axes=axes)


def group_norm_case(draw, i):
    groups, per = draw.randint(1, 3), draw.randint(1, 3)
    shape = [draw.randint(1, 2), groups * per, draw.randint(6, 9), draw.randint(1, 4)]
    return case("GroupNormalization", i, [numbers(draw, shape), numbers(draw, [shape[1]]), numbers(draw, [shape[1]])], num_groups=groups)


def indices_in(draw, shape, extent):
    return numpy.random.default_rng(draw.randrange(1 << 30)).integers(-extent, extent, shape, dtype=numpy.int64)


def scatter_elements_case(draw, i):
    data = shape_of(draw, draw.randint(1, 3))
    axis = draw.randrange(-len(data), len(data))
    where = [draw.randint(1, extent) for extent in data]
    reduction = draw.choice(["none", "add", "mul", "max", "min"])
    dtype = draw.choice([numpy.float32, numpy.int64, numpy.int32])
    indices = indices_in(draw, where, data[axis])
    if reduction == "none":  # which of two updates stays is open: each place gets one
        where[axis] = 1
        indices = indices_in(draw, where, data[axis])
    return case("ScatterElements", i, [numbers(draw, data, dtype), indices, numbers(draw, where, dtype)], axis=axis, reduction=reduction)


def nd_case(draw, i):
    data = shape_of(draw, draw.randint(1, 4))
    depth = draw.randint(1, len(data))
    lead = shape_of(draw, draw.randint(0, 2), 3)
    indices = numpy.stack([indices_in(draw, lead, data[k]) for k in range(depth)], axis=-1)
    dtype = draw.choice([numpy.float32, numpy.int64])
    if draw.random() < 0.5:
        return case("GatherND", i, [numbers(draw, data, dtype), indices])
    reduction = draw.choice(["add", "mul", "max", "min"])
    return case("ScatterND", i, [numbers(draw, data, dtype), indices, numbers(draw, lead + data[depth:], dtype)], reduction=reduction)


RECURRENT = {"RNN": (1, 1), "GRU": (3, 2), "LSTM": (4, 3)}
# How many of alpha and beta each takes; of some, onnxruntime's defaults are not ONNX's, so both are given.
GATE_FUNCTIONS = {"Sigmoid": 0, "Tanh": 0, "Relu": 0, "Softsign": 0, "HardSigmoid": 2, "Elu": 1, "LeakyRelu": 1, "Affine": 2,
                  "ScaledTanh": 2}


def recurrent_case(draw, i):
    op = draw.choice(list(RECURRENT))
    gates, functions = RECURRENT[op]
    steps, batch, width, hidden = draw.randint(1, 5), draw.randint(1, 3), draw.randint(1, 4), draw.randint(1, 5)
    direction = draw.choice(["forward", "reverse", "bidirectional"])
    d = 2 if direction == "bidirectional" else 1
    inputs = [numbers(draw, [steps, batch, width]), numbers(draw, [d, gates * hidden, width]), numbers(draw, [d, gates * hidden, hidden]),
              draw.choice([None, numbers(draw, [d, 2 * gates * hidden])]),
              draw.choice([None, numpy.array([draw.randint(1, steps) for _ in range(batch)], numpy.int32)]),
              numbers(draw, [d, batch, hidden])]
    attributes = {"hidden_size": hidden, "direction": direction}
    if op == "LSTM":
        inputs += [numbers(draw, [d, batch, hidden]), draw.choice([None, numbers(draw, [d, 3 * hidden])])]
        if inputs[-1] is None:
            inputs.pop()
    if op == "GRU":
        attributes["linear_before_reset"] = draw.randint(0, 1)
    if draw.random() < 0.5:
        names = [draw.choice(list(GATE_FUNCTIONS)) for _ in range(functions)] * d
        attributes["activations"] = names
        for least, key in ((1, "activation_alpha"), (2, "activation_beta")):
            values = [draw.choice([0.1, 0.3, 0.5]) for name in names if GATE_FUNCTIONS[name] >= least]
            if values:
                attributes[key] = values
    if draw.random() < 0.3:
        attributes["clip"] = 0.8
    return case(op, i, inputs, **attributes)


def order_case(draw, i):
    shape = shape_of(draw, draw.randint(1, 4))
    axis = draw.randrange(-len(shape), len(shape))
    x = numbers(draw, shape, draw.choice([numpy.float32, numpy.int64, numpy.int32])).round()  # with equal values
    if draw.random() < 0.5:
        return case(draw.choice(["ArgMax", "ArgMin"]), i, [x], axis=axis, keepdims=draw.randint(0, 1), select_last_index=draw.randint(0, 1))
    k = numpy.array([draw.randint(1, shape[axis])], numpy.int64)
    return case("TopK", i, [x, k], axis=axis, largest=draw.randint(0, 1), outputs=2)


def sum_case(draw, i):
    shape = shape_of(draw, draw.randint(1, 3))
    x = numbers(draw, shape, draw.choice([numpy.float32, numpy.int32, numpy.int64, numpy.float64]))
    axis = numpy.array(draw.randrange(-len(shape), len(shape)), numpy.int64)
    return case("CumSum", i, [x, axis], exclusive=draw.randint(0, 1), reverse=draw.randint(0, 1))


def one_hot_case(draw, i):
    depth = draw.randint(1, 5)
    shape = shape_of(draw, draw.randint(1, 2))
    indices = numpy.random.default_rng(draw.randrange(1 << 30)).integers(-depth, depth + 2, shape, dtype=numpy.int64)
    return case("OneHot", i, [indices, numpy.array(depth, numpy.int64), numbers(draw, [2])], axis=draw.randint(-len(shape) - 1, len(shape)))


def select_case(draw, i):
    shape = shape_of(draw, draw.randint(1, 3))
    op = draw.choice(["NonZero", "Compress", "Unique"])
    x = numbers(draw, shape).round()
    axis = draw.choice([{}, {"axis": draw.randrange(len(shape))}])
    if op == "NonZero":
        return case(op, i, [x])
    if op == "Unique":
        return case(op, i, [x], sorted=draw.randint(0, 1), outputs=4, **axis)
    extent = shape[axis["axis"]] if axis else int(numpy.prod(shape))
    return case(op, i, [x, numbers(draw, [draw.randint(1, extent)], bool)], **axis)


def shape_case(draw, i):
    op = draw.choice(["Trilu", "DepthToSpace", "SpaceToDepth", "ReverseSequence", "EyeLike"])
    b = draw.randint(1, 3)
    n, c, h, w = shape_of(draw, 4, 4)
    if op == "Trilu":
        return case(op, i, [numbers(draw, [n, h, w]), numpy.array(draw.randint(-5, 5), numpy.int64)], upper=draw.randint(0, 1))
    if op == "DepthToSpace":
        return case(op, i, [numbers(draw, [n, c * b * b, h, w])], blocksize=b, mode=draw.choice(["DCR", "CRD"]))
    if op == "SpaceToDepth":
        return case(op, i, [numbers(draw, [n, c, h * b, w * b])], blocksize=b)
    if op == "EyeLike":
        return case(op, i, [numbers(draw, [h, w])], k=draw.randint(-4, 4))
    batch = draw.randint(0, 1)
    lengths = numpy.array([draw.randint(1, [c, n][batch]) for _ in range([n, c][batch])], numpy.int64)
    return case(op, i, [numbers(draw, [n, c, h]), lengths], batch_axis=batch, time_axis=1 - batch)


def channel_window_case(draw, i):
    x = numbers(draw, [draw.randint(1, 2), draw.randint(1, 9), *shape_of(draw, 2)])
    return case("LRN", i, [x * 3], size=draw.choice([1, 3, 5, 7]), alpha=0.3, beta=draw.choice([0.5, 0.75]), bias=draw.choice([1.0, 2.0]))


def bits_case(draw, i):
    op = draw.choice(["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "BitShift"])
    dtype = draw.choice([numpy.uint32, numpy.uint64, numpy.uint8])
    x = bytes_of(draw, [3, 4], dtype)
    if op == "BitwiseNot":
        return case(op, i, [x])
    if op == "BitShift":
        by = numpy.random.default_rng(draw.randrange(1 << 30)).integers(0, dtype(0).nbytes * 8, [4], dtype=dtype)
        return case(op, i, [x, by], direction=draw.choice(["LEFT", "RIGHT"]))
    return case(op, i, [x, bytes_of(draw, [4], dtype)])


def window_function_case(draw, i):
    op = draw.choice(["HannWindow", "HammingWindow", "BlackmanWindow"])
    return case(op, i, [numpy.array(draw.randint(2, 30), numpy.int64)], periodic=draw.randint(0, 1))


EQUATIONS = ["ij,jk->ik", "bij,bjk->bik", "bhqd,bhkd->bhqk", "ij->ji", "ii->i", "ii", "ij,kj", "i,j->ij", "ij,ij->", "...ij,...jk->...ik",
             "abc,cd,de->abe", "bn,anm,bm->ba", "...ii->...i", "ijk->j", "i...->...", "ab,ab,c->c", "bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd",
             "nm,hmj,ij->hni", "bchd,bc->bdhc", "...i,ki->...k", "kc,nchd->nkhd", "bd,bde->be", "abc,bd->ad", "abcd->dbca"]


def einsum_case(draw, i):
    equation = draw.choice(EQUATIONS)
    extents = {letter: draw.randint(1, 5) for letter in "abcdehijkmnq"}
    dots = shape_of(draw, draw.randint(0, 2), 3)
    dtype = draw.choice([numpy.float32, numpy.float32, numpy.float64, numpy.int64])
    inputs = []
    for term in equation.split("->")[0].split(","):
        head, _, tail = term.partition("...")
        inputs.append(numbers(draw, [extents[c] for c in head] + (dots if "..." in term else []) + [extents[c] for c in tail], dtype))
    return case("Einsum", i, inputs, equation=equation)


def grid_sample_case(draw, i):
    axes = draw.choice([2, 2, 3])
    n, c = draw.randint(1, 2), draw.randint(1, 9)
    x = numbers(draw, [n, c, *shape_of(draw, axes, 6)])
    grid = numbers(draw, [n, *shape_of(draw, axes, 4), axes]) * draw.choice([0.7, 1.5, 9])
    mode = draw.choice(["linear", "nearest", "cubic"] if axes == 2 else ["linear", "nearest"])
    return case("GridSample", i, [x, grid.astype(numpy.float32)], mode=mode, align_corners=draw.randint(0, 1),
                padding_mode=draw.choice(["zeros", "border", "reflection"]))


def boxes_case(draw, i):
    batch, classes, count = draw.randint(1, 2), draw.randint(1, 3), draw.randint(1, 20)
    generator = numpy.random.default_rng(draw.randrange(1 << 30))
    center = draw.randint(0, 1)
    boxes = generator.random((batch, count, 4)).astype(numpy.float32)
    inputs = [boxes, generator.random((batch, classes, count)).astype(numpy.float32), numpy.array([draw.randint(0, 9)], numpy.int64),
              numpy.array([draw.choice([0.0, 0.3, 0.5, 1.0])], numpy.float32), numpy.array([draw.choice([0.0, 0.4])], numpy.float32)]
    return case("NonMaxSuppression", i, inputs, center_point_box=center)


def regions_case(draw, i):
    generator = numpy.random.default_rng(draw.randrange(1 << 30))
    n, c, h, w = draw.randint(1, 2), draw.randint(1, 9), draw.randint(4, 9), draw.randint(4, 9)
    count = draw.randint(1, 4)
    corner, size = generator.random((count, 2)) * 12 - 2, generator.random((count, 2)) * 8 + 0.5
    rois = numpy.concatenate([corner, corner + size], axis=1).astype(numpy.float32)
    return case("RoiAlign", i, [numbers(draw, [n, c, h, w]), rois, generator.integers(0, n, count)], output_height=draw.randint(1, 4),
                output_width=draw.randint(1, 4), sampling_ratio=draw.randint(0, 3), spatial_scale=draw.choice([1.0, 0.5]), mode=draw.choice(["avg", "avg", "max"]),
                coordinate_transformation_mode=draw.choice(["half_pixel", "output_half_pixel"]))


def crop_case(draw, i):
    shape = shape_of(draw, draw.randint(1, 3), 7)
    axes = draw.sample(range(len(shape)), draw.randint(1, len(shape)))
    return case("CenterCropPad", i, [numbers(draw, shape), numpy.array([draw.randint(1, 8) for _ in axes], numpy.int64)], axes=axes)


def loss_case(draw, i):
    n, c = draw.randint(1, 3), draw.randint(2, 5)
    rest = shape_of(draw, draw.randint(0, 2), 3)
    op = draw.choice(["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
    target = numpy.random.default_rng(draw.randrange(1 << 30)).integers(0, c, [n, *rest], dtype=numpy.int64)
    inputs = [numbers(draw, [n, c, *rest]), target] + draw.choice([[], [numpy.abs(numbers(draw, [c])) + numpy.float32(0.1)]])
    return case(op, i, inputs, reduction=draw.choice(["none", "sum", "mean"]))


def fold_case(draw, i):
    op = draw.choice(["Col2Im", "AffineGrid", "LpPool"])
    if op == "AffineGrid":
        axes = draw.choice([2, 3])
        size = [draw.randint(1, 2), 1, *[draw.randint(2, 4) for _ in range(axes)]]
        return case(op, i, [numbers(draw, [size[0], axes, axes + 1]), numpy.array(size, numpy.int64)], align_corners=draw.randint(0, 1))
    if op == "LpPool":
        return case(op, i, [numbers(draw, [1, 2, draw.randint(4, 7), draw.randint(4, 7)])], kernel_shape=[draw.randint(2, 3), 2],
                    strides=[draw.randint(1, 2)] * 2, pads=[draw.randint(0, 1), 0, 0, 1], p=draw.choice([1, 2, 3]))
    image, block = [draw.randint(4, 7) for _ in range(2)], [draw.randint(1, 3) for _ in range(2)]
    step, dilation, pads = draw.randint(1, 2), draw.choice([1, 1, 2]) if min(block) < 3 else 1, [draw.randint(0, 1) for _ in range(4)]
    places = [(image[k] + pads[k] + pads[k + 2] - dilation * (block[k] - 1) - 1) // step + 1 for k in range(2)]
    x = numbers(draw, [draw.randint(1, 2), draw.randint(1, 3) * block[0] * block[1], places[0] * places[1]])
    return case(op, i, [x, numpy.array(image, numpy.int64), numpy.array(block, numpy.int64)], strides=[step] * 2, pads=pads,
                dilations=[dilation] * 2)


def value(name, shape=None, dtype=numpy.float32):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype)), shape)


def step_nodes(draw, carried, made, constants):
    """`made`: what a body makes of `carried` and of `outside`, which it captures."""
    op = draw.choice(["Add", "Sub", "Mul", "Max"])
    constants.append(helper.make_tensor("half", 1, [], [draw.choice([0.5, -0.75])]))
    return [helper.make_node(op, [carried, "outside"], ["with_outside"]), helper.make_node("Mul", ["with_outside", "half"], [made])]


def own_names(body, i, kept):
    """The body with names of its own: all bodies of a model share a scope with the graph around them. `kept`: those of the graph."""
    def own(names):
        for k, name in enumerate(names):
            if name:
                names[k] = kept.get(name, f"{name}_{i}")
    for node in body.node:
        own(node.input)
        own(node.output)
    for row in [*body.input, *body.output, *body.initializer]:
        row.name = kept.get(row.name, f"{row.name}_{i}")
    return body


def loop_case(draw, i):
    shape = shape_of(draw, draw.randint(0, 2), 4)
    grows, limit = draw.random() < 0.4, draw.randint(0, 5)
    trips = draw.choice([None, limit, draw.randint(-1, 6)])
    start = draw.choice([None, True, True, False])
    constants = [helper.make_tensor("limit", 7, [], [limit])]
    nodes = step_nodes(draw, "x", "x_out", constants)
    nodes += [helper.make_node("Less", ["trip", "limit"], ["below"]), helper.make_node("And", ["below", "go"], ["go_out"]),
              helper.make_node("Add", ["trip", "limit"], ["count"])]
    inputs = [value("trip", [], numpy.int64), value("go", [], bool), value("x", shape)]
    outputs, arrays = [value("go_out", [], bool), value("x_out", shape)], [numbers(draw, shape)]
    if grows:
        nodes += [helper.make_node("Concat", ["g", "g"], ["g_out"], axis=0)]
        inputs, outputs = inputs + [value("g", [None])], outputs + [value("g_out", [None])]
        arrays.append(numbers(draw, [draw.randint(0, 2)]))
    carried = len(arrays)
    outputs += [value("x_out", shape), value("count", [], numpy.int64)]  # one output stands there twice
    nodes.append(helper.make_node("Identity", ["x_out"], ["x_stack"]))
    outputs[-2] = value("x_stack", shape)
    body = helper.make_graph(nodes, "body", inputs, outputs, constants)
    return with_body(draw, i, "Loop", body, numbers(draw, shape), carried + 2,
                         [trips if trips is None else numpy.array(trips, numpy.int64), start if start is None else numpy.array(start), *arrays])


def scan_case(draw, i):
    shape, count, trips = shape_of(draw, draw.randint(0, 2), 4), draw.randint(1, 2), draw.randint(1, 5)
    constants, scanned, axes = [], [], []
    nodes = step_nodes(draw, "x", "moved", constants)
    inputs, last = [value("x", shape)], "moved"
    for k in range(count):
        axes.append(draw.randint(-len(shape) - 1, len(shape)))
        whole = list(shape)
        whole.insert(axes[-1] % (len(shape) + 1), trips)
        scanned.append(numbers(draw, whole))
        inputs.append(value(f"s{k}", shape))
        nodes.append(helper.make_node("Add", [last, f"s{k}"], [f"sum{k}"]))
        last = f"sum{k}"
    nodes += [helper.make_node("Identity", [last], ["x_out"]), helper.make_node("Neg", [last], ["stack"])]
    body = helper.make_graph(nodes, "body", inputs, [value("x_out", shape), value("stack", shape)], constants)
    return with_body(draw, i, "Scan", body, numbers(draw, shape), 2, [numbers(draw, shape), *scanned], num_scan_inputs=count, scan_input_axes=axes,
                         scan_input_directions=[draw.randint(0, 1) for _ in axes], scan_output_axes=[draw.randint(-len(shape) - 1, len(shape))],
                         scan_output_directions=[draw.randint(0, 1)])


def with_body(draw, i, op, body, outside, outputs, inputs, **attributes):
    """One of the node's outputs, at random, is compared; `outside` is what the body captures."""
    made = case(op, i, inputs, **attributes)
    chosen = draw.randrange(outputs)
    node = made.node
    del node.output[:]
    node.output.extend(f"y{i}" if k == chosen else f"y{i}_{k}" for k in range(outputs))
    node.attribute.append(helper.make_attribute("body", own_names(body, i, {"outside": f"outside{i}"})))
    return Case(node, {**made.inputs, f"outside{i}": numpy.asarray(outside)}, [])


def spectrum_case(draw, i):
    op = draw.choice(["DFT", "STFT", "MelWeightMatrix"])
    dtype = draw.choice([numpy.float32, numpy.float64])
    if op == "MelWeightMatrix":
        rate = draw.choice([8000, 16000, 22050])
        low, high = draw.choice([0.0, 20.0, 100.0]), draw.choice([2000.0, rate / 2])
        numbers_of = [draw.randint(1, 40), draw.choice([64, 200, 512, 400]), rate]
        return case(op, i, [*[numpy.array(n, numpy.int64) for n in numbers_of], numpy.float32(low), numpy.float32(high)])
    if op == "STFT":
        length, window = draw.randint(2, 24), draw.choice([None, "window"])
        signal = numbers(draw, [draw.randint(1, 3), length + draw.randint(0, 30), 1], dtype)
        window = window and numpy.abs(numbers(draw, [length], dtype))
        return case(op, i, [signal, numpy.array(draw.randint(1, 9), numpy.int64), window, numpy.array(length, numpy.int64)],
                    onesided=draw.randint(0, 1))
    parts, inverse = draw.choice([(1, 0), (2, 0), (2, 1)])
    shape = [*shape_of(draw, draw.randint(1, 3), 9), parts]
    axis = draw.randrange(len(shape) - 1)
    length = draw.choice([None, numpy.array(draw.randint(1, 20), numpy.int64)])
    return case(op, i, [numbers(draw, shape, dtype), length, numpy.array(axis - draw.choice([0, len(shape)]), numpy.int64)],
                inverse=inverse, onesided=draw.randint(0, 1) if parts == 1 else 0)


def plane_case(draw, i):
    op = draw.choice(["Det", "GlobalLpPool", "MaxUnpool", "DeformConv"])
    n, c = draw.randint(1, 2), draw.randint(1, 3)
    if op == "Det":
        order = draw.randint(1, 5)
        return case(op, i, [numbers(draw, [*shape_of(draw, draw.randint(0, 2), 3), order, order])])
    if op == "GlobalLpPool":
        return case(op, i, [numbers(draw, [n, c, *shape_of(draw, draw.randint(1, 3), 5)])], p=draw.randint(1, 4))
    if op == "MaxUnpool":
        x = numbers(draw, [n, c, draw.randint(1, 4), draw.randint(1, 4)])
        places = draw.sample(range(n * c * (x.shape[2] * 2) * (x.shape[3] * 2)), x.size)
        return case(op, i, [x, numpy.array(places, numpy.int64).reshape(x.shape)], kernel_shape=[2, 2], strides=[2, 2])
    groups, offset_groups = draw.randint(1, 2), draw.randint(1, 2)
    channels, filters, kernel = 2 * c, groups * draw.randint(1, 3), [draw.randint(1, 3), draw.randint(1, 3)]
    size, stride, dilation, pads = [draw.randint(5, 8), draw.randint(5, 8)], draw.randint(1, 2), draw.choice([1, 1, 2]), [draw.randint(0, 1) for _ in range(4)]
    out = [(size[k] + pads[k] + pads[k + 2] - dilation * (kernel[k] - 1) - 1) // stride + 1 for k in range(2)]
    taps = offset_groups * kernel[0] * kernel[1]
    inputs = [numbers(draw, [n, channels, *size]), numbers(draw, [filters, channels // groups, *kernel]),
              numbers(draw, [n, 2 * taps, *out]) * draw.choice([0.3, 2]), draw.choice([None, numbers(draw, [filters])]), numbers(draw, [n, taps, *out])]
    return case(op, i, inputs[: draw.choice([4, 5]) if inputs[3] is not None else 5], group=groups, offset_group=offset_groups, strides=[stride] * 2,
                dilations=[dilation] * 2, pads=pads)


def same(item, got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if want.dtype.kind != "f":
        step = STEP.get(item.node.op_type, 0)
        return bool((numpy.abs(got.astype(numpy.int64) - want.astype(numpy.int64)) <= step).all())
    finite = numpy.isfinite(want)
    if not numpy.array_equal(got[~finite], want[~finite], equal_nan=True):
        return False
    got, want = got[finite].astype(numpy.float64), want[finite].astype(numpy.float64)
    return bool((numpy.abs(got - want) <= NEAR.get(item.node.op_type, 2e-5) * numpy.maximum(1, numpy.abs(want).max(initial=0))).all())


def main(functions=None):
    """`functions`: by name, those whose names end in _case draw nodes."""
    functions = globals() if functions is None else functions
    clvet = sys.argv[1]
    count, draw = asked_for(2000)
    operator = sys.argv[6] if len(sys.argv) > 6 else ""
    makers = [made for name, made in sorted(functions.items()) if name.endswith("_case") and name.startswith(operator)]
    counts, options = Counts(), device_options()
    with tempfile.TemporaryDirectory() as name:
        while counts.wants(count):
            cases = [makers[(i + len(counts.cases)) % len(makers)](draw, i) for i in range(NODES)]
            run_cases(clvet, pathlib.Path(name), cases, same, counts, options, opset=21, wanted=wanted)
    return finish(counts)


if __name__ == "__main__":
    sys.exit(main())
