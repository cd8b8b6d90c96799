"""Random networks on the host or a device, against onnxruntime: what passes make of nodes that stand together.

Usage: random_graphs.py CLVET [MODEL IMAGES [COUNT [SEED]]]. MODEL and IMAGES, which all tests get, are not used. Needs
onnx, onnxruntime and numpy. A network has up to DEPTH pieces, each of one node or of several as exporters write them
(gates, norms, squeeze-excite, attention ...). Values are read more than once; some that others read, some inputs and some
constants are outputs. Floats may differ by 1e-4 of an output's largest value, and by twenty times as much as onnxruntime
differs from itself without its optimiser; of integers an eighth may, as equal values differ in their last digit, and each place of a
largest or smallest value whose value is as near to it as floats may be.
CLVET_TEST_DEVICE: see random_nodes.py.
"""

import pathlib
import sys
import tempfile

import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from random_nodes import asked_for, computed, device_options, expected

DEPTH = 14
OPSET = 20
LARGEST = 1 << 14  # elements of a value


class Network:
    """Float values by name, with their shapes; `live` are those that pieces may read."""

    def __init__(self, draw):
        self.draw, self.nodes, self.constants, self.shapes, self.live = draw, [], [], {}, []
        self.inputs, self.others, self.generator = {}, [], numpy.random.default_rng(draw.randrange(1 << 30))

    def name(self, stem):
        return f"{stem}{len(self.nodes)}_{len(self.constants)}_{len(self.shapes)}"

    def constant(self, array):
        array = numpy.asarray(array)
        self.constants.append(numpy_helper.from_array(array, self.name("c")))
        return self.constants[-1].name

    def weights(self, shape, scale=1.0):
        return self.constant((self.generator.standard_normal(shape) * scale).astype(numpy.float32))

    def ints(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def add(self, op, inputs, shape, live=True, **attributes):
        out = self.name("v")
        domain = attributes.pop("domain", "")
        self.nodes.append(helper.make_node(op, inputs, [out], name=f"{op}_{len(self.nodes)}", domain=domain, **attributes))
        self.shapes[out] = list(shape)
        if live:
            self.live.append(out)
        return out

    def input(self, shape):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.generator.standard_normal(shape).astype(numpy.float32)
        self.shapes[name] = list(shape)
        self.live.append(name)

    def pick(self, rank=None):
        """A value of that rank, mostly a young one."""
        fitting = [name for name in self.live if rank is None or len(self.shapes[name]) == rank]
        if not fitting:
            return None
        return fitting[-1] if self.draw.random() < 0.6 else self.draw.choice(fitting)

    def pick_like(self, shape):
        return self.draw.choice([name for name in self.live if self.shapes[name] == shape])


# Each piece below reads what it picks, and gives nothing where nothing fits.


def unary_piece(net):
    x = net.pick()
    op = net.draw.choice(["Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Erf", "HardSwish", "LeakyRelu", "Elu", "Softplus", "Floor", "Sin", "Identity", "HardSigmoid",
                          "Softsign", "Mish", "Gelu"])
    net.add(op, [x], net.shapes[x])


def clip_piece(net):
    x = net.pick()
    low = net.constant(numpy.float32(net.draw.choice([-1, 0, -0.5]))) if net.draw.random() < 0.8 else ""
    high = net.constant(numpy.float32(net.draw.choice([6, 1, 0.7]))) if net.draw.random() < 0.8 else ""
    net.add("Clip", [x, low, high], net.shapes[x])


def binary_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    op = net.draw.choice(["Add", "Add", "Mul", "Sub", "Max", "Min"])
    kind = net.draw.random()
    if kind < 0.4:
        other = net.pick_like(shape)
    elif kind < 0.7:
        other = net.weights([n if net.draw.random() < 0.6 else 1 for n in shape[net.draw.randint(0, max(0, len(shape) - 1)):]])
    else:
        other = net.constant(numpy.float32(net.draw.choice([0, 1, -1, 2, 0.5, 3])))
    net.add(op, [x, other] if net.draw.random() < 0.7 else [other, x], shape)


def divide_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    if net.draw.random() < 0.5:
        net.add("Div", [x, net.constant(numpy.float32(net.draw.choice([2, -3, 0.5])))], shape)
        return
    size = net.add("Abs", [net.pick_like(shape)], shape, live=False)
    net.add("Div", [x, net.add("Add", [size, net.constant(numpy.float32(1))], shape, live=False)], shape)


def gate_piece(net):
    """x * sigmoid(x), x * hard sigmoid of it in steps, x * tanh(softplus(x)), and gates of another value."""
    x = net.pick()
    shape, kind = net.shapes[x], net.draw.randrange(5)
    if kind == 0:
        gate = net.add("Sigmoid", [x], shape, live=net.draw.random() < 0.2)
    elif kind == 1:
        moved = net.add("Add", [x, net.constant(numpy.float32(3))], shape, live=False)
        cut = net.add("Clip", [moved, net.constant(numpy.float32(0)), net.constant(numpy.float32(6))], shape, live=False)
        gate = net.add("Div", [cut, net.constant(numpy.float32(6))], shape, live=net.draw.random() < 0.2)
    elif kind == 2:
        gate = net.add("Tanh", [net.add("Softplus", [x], shape, live=False)], shape, live=False)
    elif kind == 3:
        gate = net.add("HardSigmoid", [x], shape, live=False, alpha=1 / 6, beta=0.5)
    else:
        gate = net.add("Sigmoid", [net.pick_like(shape)], shape, live=False)
    net.add("Mul", [x, gate] if net.draw.random() < 0.5 else [gate, x], shape)


def gelu_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    if net.draw.random() < 0.5:
        scaled = net.add("Div", [x, net.constant(numpy.float32(numpy.sqrt(2)))], shape, live=False)
        erf = net.add("Erf", [scaled], shape, live=False)
        above = net.add("Add", [erf, net.constant(numpy.float32(1))], shape, live=net.draw.random() < 0.1)
        net.add("Mul", [net.add("Mul", [x, above], shape, live=False), net.constant(numpy.float32(0.5))], shape)
        return
    cube = net.add("Pow", [x, net.constant(numpy.float32(3))], shape, live=False)
    inner = net.add("Add", [x, net.add("Mul", [cube, net.constant(numpy.float32(0.044715))], shape, live=False)], shape, live=False)
    tanh = net.add("Tanh", [net.add("Mul", [inner, net.constant(numpy.float32(0.79788456))], shape, live=False)], shape, live=False)
    half = net.add("Mul", [x, net.constant(numpy.float32(0.5))], shape, live=False)
    net.add("Mul", [half, net.add("Add", [tanh, net.constant(numpy.float32(1))], shape, live=False)], shape)


def convolution_piece(net):
    x = net.pick(4)
    if x is None:
        return
    n, c, h, w = net.shapes[x]
    group = net.draw.choice([1, 1, 1, c, c, 2 if c % 2 == 0 else 1])
    out = c if group == c else group * net.draw.randint(1, 6)
    k, stride = [min(net.draw.choice([1, 1, 3, 5]), h + 2), min(net.draw.choice([1, 1, 3]), w + 2)], [net.draw.randint(1, 2), net.draw.randint(1, 2)]
    pads = [k[0] // 2, k[1] // 2] * 2
    words = {"group": group, "strides": stride, "pads": pads}
    if net.draw.random() < 0.15:
        words = {"group": group, "strides": stride, "auto_pad": net.draw.choice(["SAME_UPPER", "SAME_LOWER"])}
    size = [(extent + 2 * pad - taps) // step + 1 if "pads" in words else -(-extent // step)
            for extent, pad, taps, step in zip((h, w), pads, k, stride)]
    inputs = [x, net.weights([out, c // group, *k], (c // group * k[0] * k[1]) ** -0.5)]
    if net.draw.random() < 0.6:
        inputs.append(net.weights([out]))
    y = net.add("Conv", inputs, [n, out, *size], live=net.draw.random() < 0.3, **words)
    follow(net, y)


def follow(net, y):
    """What stands behind convolutions and products: a batch norm or affine steps, an activation, a sum with a value of its shape."""
    shape = net.shapes[y]
    if len(shape) == 4 and net.draw.random() < 0.4:
        c = shape[1]
        variance = net.constant(net.generator.uniform(0.5, 2, c).astype(numpy.float32))
        y = net.add("BatchNormalization", [y, net.weights([c]), net.weights([c]), net.weights([c]), variance], shape, live=net.draw.random() < 0.2)
    elif net.draw.random() < 0.3:
        wide = [1, shape[1], *[1] * (len(shape) - 2)] if len(shape) == 4 else [shape[-1]]
        y = net.add("Mul", [y, net.weights(wide)], shape, live=False)
        y = net.add("Add", [y, net.weights(wide)], shape, live=net.draw.random() < 0.2)
    if net.draw.random() < 0.6:
        y = net.add(net.draw.choice(["Relu", "Sigmoid", "Tanh", "HardSwish", "LeakyRelu"]), [y], shape, live=net.draw.random() < 0.2)
    same = [name for name in net.live if net.shapes[name] == shape and name != y]
    if same and net.draw.random() < 0.5:
        y = net.add("Add", [y, net.draw.choice(same)], shape, live=net.draw.random() < 0.3)
        if net.draw.random() < 0.4:
            y = net.add("Relu", [y], shape, live=False)
    if y not in net.live:
        net.live.append(y)


def pool_piece(net):
    x = net.pick(4)
    if x is None:
        return
    n, c, h, w = net.shapes[x]
    op = net.draw.choice(["MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"])
    if op.startswith("Global"):
        net.add(op, [x], [n, c, 1, 1])
    elif min(h, w) >= 3:
        stride = net.draw.randint(1, 2)
        net.add(op, [x], [n, c, (h - 1) // stride + 1, (w - 1) // stride + 1], kernel_shape=[3, 3], strides=[stride] * 2, pads=[1] * 4)


def excite_piece(net):
    """Squeeze and excite."""
    x = net.pick(4)
    if x is None:
        return
    n, c, _, _ = net.shapes[x]
    hidden = net.draw.randint(1, 6)
    mean = net.draw.choice(["pool", "reduce"])
    y = (net.add("GlobalAveragePool", [x], [n, c, 1, 1], live=False) if mean == "pool" else
         net.add("ReduceMean", [x, net.ints(2, 3)], [n, c, 1, 1], live=False, keepdims=1))
    y = net.add("Conv", [y, net.weights([hidden, c, 1, 1]), net.weights([hidden])], [n, hidden, 1, 1], live=False)
    y = net.add("Relu", [y], [n, hidden, 1, 1], live=False)
    y = net.add("Conv", [y, net.weights([c, hidden, 1, 1]), net.weights([c])], [n, c, 1, 1], live=False)
    y = net.add(net.draw.choice(["Sigmoid", "HardSigmoid"]), [y], [n, c, 1, 1], live=False)
    net.add("Mul", [x, y], net.shapes[x])


def shape_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    kind = net.draw.randrange(6)
    if kind == 0:
        order = net.draw.sample(range(len(shape)), len(shape))
        net.add("Transpose", [x], [shape[i] for i in order], perm=order)
    elif kind == 1 and len(shape) >= 2:
        at = net.draw.randrange(len(shape) - 1)
        to = [*shape[:at], shape[at] * shape[at + 1], *shape[at + 2:]]
        net.add("Reshape", [x, net.ints(*to)], to)
    elif kind == 2 and len(shape) < 5:
        at = net.draw.randint(0, len(shape))
        net.add("Unsqueeze", [x, net.ints(at)], [*shape[:at], 1, *shape[at:]])
    elif kind == 3 and 1 in shape and len(shape) > 1:
        at = shape.index(1)
        net.add("Squeeze", [x, net.ints(at)], [*shape[:at], *shape[at + 1:]])
    elif kind == 4:
        at = net.draw.randrange(len(shape))
        for part in (2, 3):
            if shape[at] % part == 0 and len(shape) < 5:
                to = [*shape[:at], part, shape[at] // part, *shape[at + 1:]]
                net.add("Reshape", [x, net.ints(*to)], to)
                return
    elif len(shape) >= 2:
        at = net.draw.randint(0, len(shape))
        to = [int(numpy.prod(shape[:at])), int(numpy.prod(shape[at:]))]
        net.add("Flatten", [x], to, axis=at)


def slice_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    at = net.draw.randrange(len(shape))
    if shape[at] < 2:
        return
    kind = net.draw.randrange(3)
    to = list(shape)
    if kind == 0:
        first, step = net.draw.randrange(shape[at] // 2 + 1), net.draw.randint(1, 2)
        to[at] = len(range(first, shape[at], step))
        net.add("Slice", [x, net.ints(first), net.ints(1 << 30), net.ints(at), net.ints(step)], to)
        return
    first = net.draw.randint(1, shape[at] - 1)
    outs = [net.name("s") + "a", net.name("s") + "b"]
    net.nodes.append(helper.make_node("Split", [x, net.ints(first, shape[at] - first)], outs, axis=at, name=f"Split_{len(net.nodes)}"))
    for out, extent in zip(outs, (first, shape[at] - first)):
        to[at] = extent
        net.shapes[out] = list(to)
        net.live.append(out)


def concat_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    at = net.draw.randrange(len(shape))
    fits = [name for name in net.live if len(net.shapes[name]) == len(shape) and all(
        a == b for i, (a, b) in enumerate(zip(shape, net.shapes[name])) if i != at)]
    parts = [x] + [net.draw.choice(fits) for _ in range(net.draw.randint(1, 4))]
    if net.draw.random() < 0.2:
        parts.append(net.weights(shape))
    total = sum(net.shapes[name][at] for name in parts if name in net.shapes) + sum(shape[at] for name in parts if name not in net.shapes)
    net.add("Concat", parts, [*shape[:at], total, *shape[at + 1:]], axis=at)


def pad_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    mode = net.draw.choice(["constant", "reflect", "edge"])
    pads = [net.draw.randint(0, min(2, n - 1)) for n in [*shape, *shape]]
    inputs = [x, net.ints(*pads)]
    if mode == "constant" and net.draw.random() < 0.5:
        inputs.append(net.constant(numpy.float32(net.draw.choice([0, -2.5]))))
    net.add("Pad", inputs, [n + pads[i] + pads[i + len(shape)] for i, n in enumerate(shape)], mode=mode)


def resize_piece(net):
    x = net.pick(4)
    if x is None:
        return
    n, c, h, w = net.shapes[x]
    mode = net.draw.choice(["nearest", "linear"])
    words = {"mode": mode, "coordinate_transformation_mode": "asymmetric" if mode == "nearest" else net.draw.choice(["half_pixel", "align_corners", "asymmetric"])}
    if mode == "nearest":
        words["nearest_mode"] = "floor"
    net.add("Resize", [x, "", net.constant(numpy.array([1, 1, 2, 2], numpy.float32))], [n, c, 2 * h, 2 * w], **words)


def reduce_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    if len(shape) < 2:
        return
    axes = sorted(net.draw.sample(range(len(shape)), net.draw.randint(1, len(shape) - 1)))
    keep = net.draw.randint(0, 1)
    op = net.draw.choice(["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"])
    net.add(op, [x, net.ints(*axes)], [1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes], keepdims=keep)


def softmax_piece(net):
    x = net.pick()
    net.add(net.draw.choice(["Softmax", "LogSoftmax"]), [x], net.shapes[x], axis=net.draw.randrange(-1, len(net.shapes[x])))


def norm_piece(net):
    """Layer and RMS norms, as one node or as exporters wrote them before."""
    x = net.pick()
    shape = net.shapes[x]
    if len(shape) < 2 or shape[-1] < 4:
        return
    last, kind = shape[-1], net.draw.randrange(4)
    row = [*shape[:-1], 1]
    if kind == 0:
        net.add("LayerNormalization", [x, net.weights([last]), *([net.weights([last])] if net.draw.random() < 0.7 else [])], shape, axis=-1, epsilon=0.01)
        return
    if kind == 1 and len(shape) == 4 and shape[1] % 2 == 0:
        c = shape[1]
        flat = net.add("Reshape", [x, net.ints(0, 2, -1)], [shape[0], 2, c // 2 * shape[2] * shape[3]], live=False)
        normed = net.add("InstanceNormalization", [flat, net.constant(numpy.ones(2, numpy.float32)), net.constant(numpy.zeros(2, numpy.float32))],
                         net.shapes[flat], live=False, epsilon=0.01)
        back = net.add("Reshape", [normed, net.ints(*shape)], shape, live=False)
        net.add("Add", [net.add("Mul", [back, net.weights([c, 1, 1])], shape, live=False), net.weights([c, 1, 1])], shape)
        return
    centred = x
    if kind == 2:
        mean = net.add("ReduceMean", [x, net.ints(-1)], row, live=net.draw.random() < 0.1, keepdims=1)
        centred = net.add("Sub", [x, mean], shape, live=net.draw.random() < 0.1)
    square = (net.add("Pow", [centred, net.constant(numpy.float32(2))], shape, live=False) if net.draw.random() < 0.5 else
              net.add("Mul", [centred, centred], shape, live=False))
    variance = net.add("ReduceMean", [square, net.ints(-1)], row, live=False, keepdims=1)
    root = net.add("Sqrt", [net.add("Add", [variance, net.constant(numpy.float32(0.01))], row, live=False)], row, live=False)
    y = net.add("Div", [centred, root], shape, live=False)
    y = net.add("Mul", [y, net.weights([last])], shape, live=net.draw.random() < 0.2)
    if kind == 2:
        y = net.add("Add", [y, net.weights([last])], shape, live=False)
    if y not in net.live:
        net.live.append(y)


def product_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    if len(shape) < 2:
        return
    k, n = shape[-1], net.draw.randint(1, 9)
    w = net.weights([k, n], k ** -0.5)
    if len(shape) == 2 and net.draw.random() < 0.5:
        turned = net.draw.random() < 0.5
        y = net.add("Gemm", [x, net.weights([n, k] if turned else [k, n], k ** -0.5), *([net.weights([n])] if net.draw.random() < 0.7 else [])],
                    [shape[0], n], live=False, transB=int(turned))
    else:
        y = net.add("MatMul", [x, w], [*shape[:-1], n], live=net.draw.random() < 0.2)
        if net.draw.random() < 0.6:
            y = net.add("Add", [y, net.weights([n])], [*shape[:-1], n], live=net.draw.random() < 0.2)
    follow(net, y)


def attention_piece(net):
    """Of heads, from one value: projections, a scale, a softmax, and the way back."""
    x = net.pick(3)
    if x is None:
        return
    b, length, width = net.shapes[x]
    heads, head = net.draw.randint(1, 3), net.draw.randint(1, 5)
    inner = heads * head

    def projected(order):
        y = net.add("MatMul", [x, net.weights([width, inner], width ** -0.5)], [b, length, inner], live=False)
        y = net.add("Add", [y, net.weights([inner])], [b, length, inner], live=False)
        y = net.add("Reshape", [y, net.ints(b, length, heads, head)], [b, length, heads, head], live=False)
        shape = [b, length, heads, head]
        return net.add("Transpose", [y], [shape[i] for i in order], live=False, perm=order)

    q, k, v = projected([0, 2, 1, 3]), projected([0, 2, 3, 1]), projected([0, 2, 1, 3])
    if net.draw.random() < 0.5:
        q = net.add("Mul", [q, net.constant(numpy.float32(head ** -0.5))], net.shapes[q], live=False)
    scores = net.add("MatMul", [q, k], [b, heads, length, length], live=False)
    if net.draw.random() < 0.5:
        scores = net.add("Div", [scores, net.constant(numpy.float32(head ** 0.5))], net.shapes[scores], live=False)
    if net.draw.random() < 0.3:
        mask = net.constant(numpy.triu(numpy.full((length, length), -1e4, numpy.float32), 1))
        scores = net.add("Add", [scores, mask], net.shapes[scores], live=False)
    part = net.add("Softmax", [scores], net.shapes[scores], live=net.draw.random() < 0.1, axis=-1)
    y = net.add("MatMul", [part, v], [b, heads, length, head], live=False)
    y = net.add("Transpose", [y], [b, length, heads, head], live=False, perm=[0, 2, 1, 3])
    net.add("Reshape", [y, net.ints(b, length, inner)], [b, length, inner])


def pick_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    at, rows = net.draw.randrange(len(shape)), net.draw.randint(1, 4)
    index = net.generator.integers(-shape[at], shape[at], rows)
    net.add("Gather", [x, net.constant(index.astype(numpy.int64))], [*shape[:at], rows, *shape[at + 1:]], axis=at)


def choose_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    truth = net.name("t")
    net.nodes.append(helper.make_node(net.draw.choice(["Greater", "Less"]), [x, net.constant(numpy.float32(0.1))], [truth], name=f"Compare_{len(net.nodes)}"))
    if net.draw.random() < 0.3:
        net.others.append(truth)
    net.add("Where", [truth, net.pick_like(shape), net.draw.choice([x, net.constant(numpy.float32(0))])], shape)


def expand_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    to = [net.draw.randint(2, 3) if n == 1 else n for n in shape]
    if net.draw.random() < 0.5:
        net.add("Expand", [x, net.ints(*to)], to)
    else:
        times = [net.draw.randint(1, 2) for _ in shape]
        net.add("Tile", [x, net.ints(*times)], [n * t for n, t in zip(shape, times)])


def largest_piece(net):
    x = net.pick()
    shape = net.shapes[x]
    at = net.draw.randrange(len(shape))
    out = net.name("i")
    net.nodes.append(helper.make_node("ArgMax", [x], [out], axis=at, keepdims=net.draw.randint(0, 1), name=f"ArgMax_{len(net.nodes)}"))
    net.others.append(out)


PIECES = [made for name, made in sorted(globals().items()) if name.endswith("_piece")]
OFTEN = [convolution_piece, convolution_piece, convolution_piece, binary_piece, product_piece, norm_piece, attention_piece, excite_piece]


def network(draw):
    net = Network(draw)
    net.input([draw.randint(1, 2), draw.choice([1, 3, 4, 6, 8]), draw.randint(1, 9), draw.randint(1, 9)])
    if draw.random() < 0.6:
        net.input([draw.randint(1, 2), draw.randint(1, 7), draw.choice([4, 8, 5])])
    if draw.random() < 0.2:
        net.input([draw.randint(1, 5), draw.randint(1, 9)])
    wanted = draw.randint(2, DEPTH)
    for _ in range(8 * wanted):
        if len(net.nodes) >= 3 * wanted:
            break
        draw.choice(PIECES + OFTEN)(net)
        net.live = [name for name in net.live if 0 < numpy.prod(net.shapes[name]) <= LARGEST]
    read = {name for node in net.nodes for name in node.input}
    made = [name for name in net.shapes if name not in net.inputs]
    outputs = [name for name in made if name not in read or draw.random() < 0.1] + net.others
    if draw.random() < 0.1:
        outputs.append(draw.choice(sorted(net.inputs)))
    if draw.random() < 0.05 and net.constants:
        outputs.append(draw.choice([tensor.name for tensor in net.constants]))
    outputs = sorted(set(outputs))
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in net.inputs.items()]
    graph = helper.make_graph(net.nodes, "random", inputs, [helper.make_empty_tensor_value_info(name) for name in outputs], net.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 9
    return model, net.inputs


def fault(got, want, other):
    """Why an output is wrong; `other` is onnxruntime's second opinion."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)} in place of {want.dtype}{list(want.shape)}"
    if want.dtype.kind != "f":
        differ = (got != want) & (want == other)
        # Values that are equal but for their last digit, as those of interpolated planes: which one is larger is chance.
        return f"{differ.sum()} of {want.size} differ" if differ.sum() > 1 + want.size / 8 else None
    want, other, got = (value.astype(numpy.float64) for value in (want, other, got))
    if not numpy.isfinite(want).all():
        return None
    scale = max(1e-2, numpy.abs(want).max(initial=0))
    bound = 1e-4 * scale + 20 * numpy.abs(want - other).max(initial=0)
    off = numpy.abs(got - want).max(initial=0) if numpy.isfinite(got).all() else numpy.inf
    return f"off by {off:.3g}, where {scale:.3g} is the largest and {bound:.3g} allowed" if off > bound else None


def only_ties(model, values, name, got):
    """Whether output `name` has places of largest or smallest values, and onnxruntime finds as large or small ones there."""
    node = next((node for node in model.graph.node if name in node.output), None)
    if node is None or node.op_type not in ("ArgMax", "ArgMin"):
        return False
    more = type(model)()
    more.CopyFrom(model)
    del more.graph.output[:]
    more.graph.output.append(helper.make_empty_tensor_value_info(node.input[0]))
    x = expected(more, values, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)[node.input[0]].astype(numpy.float64)
    settings = {one.name: one.i for one in node.attribute}
    axis = settings.get("axis", 0)
    places = got if settings.get("keepdims", 1) else numpy.expand_dims(got, axis)
    best = (x.max if node.op_type == "ArgMax" else x.min)(axis=axis, keepdims=True)
    return bool((numpy.abs(numpy.take_along_axis(x, places, axis) - best) <= 1e-4 * max(1e-2, numpy.abs(x).max())).all())


def main():
    clvet = sys.argv[1]
    count, draw = asked_for(150)
    options, failures, nodes, on_device, refused = device_options(), [], 0, 0, 0
    levels = onnxruntime.GraphOptimizationLevel
    with tempfile.TemporaryDirectory() as name:
        for i in range(count):
            seed = draw.randrange(1 << 30)
            model, values = network(type(draw)(seed))
            want, other = (expected(model, values, level) for level in (levels.ORT_ENABLE_ALL, levels.ORT_DISABLE_ALL))
            if refusal := next((said for said in (want, other) if isinstance(said, str)), None):
                print(f"onnxruntime refuses network {seed}: {refusal.splitlines()[0][:200]}")
                refused += 1
                continue
            folder = pathlib.Path(name) / str(i % 2)
            folder.mkdir(exist_ok=True)
            got, record = computed(clvet, folder, model, values, options)
            faults = [got] if record is None else [f"{out}: {why}" for out in want if (
                why := fault(got[out], want[out], other[out])) and not only_ties(model, values, out, got[out])]
            if record is not None:
                nodes += len(record["nodes"])
                on_device += sum(node["where"] == "opencl" for node in record["nodes"])
                if record["fallbacks"]:
                    faults.append(f"fell back: {record['fallbacks']}")
            if faults:
                failures.append(seed)
                print(f"network {seed}: {'; '.join(faults[:3])}", flush=True)
    print(f"{count} networks of {nodes} nodes, {on_device} of them on OpenCL; {refused} refused by onnxruntime; {len(failures)} differ")
    return 1 if failures or refused > count / 5 or ("host" not in options and on_device == 0) else 0


if __name__ == "__main__":
    sys.exit(main())
