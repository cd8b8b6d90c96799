"""Writes networks node by node, in the words of the exporters: an axis as an attribute or as an input as the operator set
has it, extents read by Shape and Gather, constants in nodes.

A network is a function with `@network(...)` in a module of this folder; networks() finds them all. It gets a Net, and tells
by it what it takes, makes and feeds back.
"""

import importlib
import pathlib

import numpy
from onnx import TensorProto, checker, helper, numpy_helper

I64_MAX = 9223372036854775807
F32 = numpy.float32


class Network:
    """What the program tries: a function that fills a Net, or a file."""

    def __init__(self, name, write, opset, quick, **bounds):
        self.name, self.write, self.opset, self.quick = name, write, opset, quick
        self.bounds = bounds


NETWORKS = {}


def network(opset, quick=False, **bounds):
    """Registers a function under its name. `quick`: also tried with every change. `bounds`: see try_networks.py."""

    def register(write):
        NETWORKS[write.__name__] = Network(write.__name__, write, opset, quick, **bounds)
        return write

    return register


def networks():
    for path in sorted(pathlib.Path(__file__).parent.glob("*_networks.py")):
        importlib.import_module(path.stem)
    return NETWORKS


class Net:
    def __init__(self, opset, seed, domains=()):
        self.opset = opset
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.initializers, self.graph_inputs, self.graph_outputs = [], [], [], []
        self.feeds = {}  # by input: a value, or a list with one for each step
        self.feedback = {}  # output: input
        self.domains = domains
        self.count = 0
        self.path = ""

    # Names as torch writes them: /layer1/0/conv1/Conv_output_0.
    def name(self, op):
        self.count += 1
        return f"{self.path}/{op}_{self.count}"

    def __call__(self, op, *inputs, n=1, domain="", **attributes):
        stem = self.name(op)
        outputs = [f"{stem}_output_{i}" for i in range(n)]
        names = [self.known(value) for value in inputs]
        self.nodes.append(helper.make_node(op, names, outputs, name=stem, domain=domain, **attributes))
        return outputs[0] if n == 1 else outputs

    def known(self, value):
        """A name stays; a number or an array becomes a Constant node."""
        if isinstance(value, str):
            return value
        return self.const(value)

    def const(self, value):
        if isinstance(value, (bool, numpy.bool_)):
            array = numpy.array(value)
        elif isinstance(value, float):
            array = numpy.array(value, F32)
        elif isinstance(value, (int, list, tuple)):
            array = numpy.array(value, numpy.int64)
        else:
            array = numpy.asarray(value)
        return self("Constant", value=numpy_helper.from_array(array))

    def initializer(self, array):
        name = self.name("weight").strip("/").replace("/", ".")
        self.initializers.append(numpy_helper.from_array(numpy.array(array, order="C"), name))
        return name

    def weight(self, *shape, scale=None, mean=0.0, dtype=F32):
        """Random; by default the product with it keeps the size of what it is multiplied by."""
        if scale is None:
            scale = numpy.prod(shape[1:]) ** -0.5 if len(shape) > 1 else 0.05
        return self.initializer((mean + scale * self.random.standard_normal(shape)).astype(dtype))

    def input(self, name, dims, value):
        """`value`: an array, or a list of them, one for each step."""
        first = value[0] if isinstance(value, list) else value
        kind = helper.np_dtype_to_tensor_dtype(first.dtype)
        self.graph_inputs.append(helper.make_tensor_value_info(name, kind, dims))
        self.feeds[name] = value
        return name

    def output(self, name, value, dims, kind=TensorProto.FLOAT):
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.graph_outputs.append(helper.make_tensor_value_info(name, kind, dims))

    def model(self, name):
        graph = helper.make_graph(self.nodes, name, self.graph_inputs, self.graph_outputs, self.initializers)
        opsets = [helper.make_opsetid("", self.opset), *(helper.make_opsetid(domain, 1) for domain in self.domains)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="pytorch", ir_version=8 if self.opset < 19 else 10)
        checker.check_model(model)
        return model

    # Operators whose axes moved from attributes to inputs.
    def reduce(self, op, x, axes, keepdims=1):
        moved = 13 if op == "ReduceSum" else 18
        if self.opset >= moved:
            return self(op, x, self.const(list(axes)), keepdims=keepdims)
        return self(op, x, axes=list(axes), keepdims=keepdims)

    def squeeze(self, x, axis):
        return self("Squeeze", x, self.const([axis])) if self.opset >= 13 else self("Squeeze", x, axes=[axis])

    def unsqueeze(self, x, axis):
        return self("Unsqueeze", x, self.const([axis])) if self.opset >= 13 else self("Unsqueeze", x, axes=[axis])

    def split(self, x, sizes, axis):
        if self.opset >= 13:
            return self("Split", x, self.const(list(sizes)), n=len(sizes), axis=axis)
        return self("Split", x, n=len(sizes), axis=axis, split=list(sizes))

    # Extents, as torch reads and writes them.
    def size(self, x, axis):
        return self("Gather", self("Shape", x), self.const(axis), axis=0)

    def dims(self, *parts):
        rows = [self.unsqueeze(part, 0) if isinstance(part, str) else self.const([part]) for part in parts]
        return self("Concat", *rows, axis=0)

    def reshape(self, x, *parts):
        if any(isinstance(part, str) for part in parts):
            return self("Reshape", x, self.dims(*parts))
        return self("Reshape", x, self.const(list(parts)))

    def transpose(self, x, *perm):
        return self("Transpose", x, perm=list(perm))

    def slice(self, x, start, end, axis, step=1):
        """x[start:end] of an axis; `end` None: to the end."""
        row = [v if isinstance(v, str) else self.const([v]) for v in (start, I64_MAX if end is None else end)]
        return self("Slice", x, row[0], row[1], self.const([axis]), self.const([step]))

    # Layers.
    def conv(self, x, cin, cout, k=1, s=1, p=None, groups=1, d=1, bias=True, axes=2, gain=1.4):
        p = d * (k - 1) // 2 if p is None else p
        fan = cin // groups * k**axes
        w = self.weight(cout, cin // groups, *[k] * axes, scale=gain * fan**-0.5)
        inputs = [x, w] + ([self.weight(cout)] if bias else [])
        return self("Conv", *inputs, kernel_shape=[k] * axes, strides=[s] * axes, pads=[p] * axes * 2, group=groups,
                    dilations=[d] * axes)

    def batch_norm(self, x, c, eps=1e-5):
        r = self.random
        parts = [1 + 0.1 * r.standard_normal(c), 0.1 * r.standard_normal(c), 0.1 * r.standard_normal(c), r.uniform(0.7, 1.3, c)]
        return self("BatchNormalization", x, *[self.initializer(part.astype(F32)) for part in parts], epsilon=eps, momentum=0.9)

    def linear(self, x, i, o, bias=True, gain=1.0):
        y = self("MatMul", x, self.weight(i, o, scale=gain * i**-0.5))
        return self("Add", self.weight(o), y) if bias else y

    def gemm(self, x, i, o):
        return self("Gemm", x, self.weight(o, i), self.weight(o), alpha=1.0, beta=1.0, transB=1)

    def layer_norm(self, x, c, eps=1e-5, whole=None):
        scale, shift = self.weight(c, scale=0.1, mean=1.0), self.weight(c)
        if self.opset >= 17 if whole is None else whole:
            return self("LayerNormalization", x, scale, shift, axis=-1, epsilon=eps)
        mean = self.reduce("ReduceMean", x, [-1])
        centred = self("Sub", x, mean)
        variance = self.reduce("ReduceMean", self("Pow", centred, 2.0), [-1])
        y = self("Div", centred, self("Sqrt", self("Add", variance, eps)))
        return self("Add", self("Mul", y, scale), shift)

    def gelu(self, x):
        if self.opset >= 20:
            return self("Gelu", x)
        y = self("Add", self("Erf", self("Div", x, float(2**0.5))), 1.0)
        return self("Mul", self("Mul", x, y), 0.5)

    def gelu_tanh(self, x):
        """GPT-2's "gelu_new"."""
        inner = self("Mul", self("Add", x, self("Mul", self("Pow", x, 3.0), 0.044715)), 0.7978845834732056)
        return self("Mul", self("Mul", x, 0.5), self("Add", self("Tanh", inner), 1.0))

    def silu(self, x):
        return self("Mul", x, self("Sigmoid", x))

    def resize(self, x, scales=None, sizes=None, **attributes):
        """What is not given is empty: before operator set 13 a tensor without elements, then no name at all."""
        none = "" if self.opset >= 13 else self.const(numpy.zeros(0, F32))
        if sizes is not None:
            return self("Resize", x, none, none, sizes, **attributes)
        return self("Resize", x, none, self.const(numpy.array(scales, F32)), **attributes)

    def clip(self, x, lo, hi):
        return self("Clip", x, lo, hi)

    def heads(self, x, heads, width):
        """[batch, length, heads * width] to [batch, heads, length, width]."""
        y = self.reshape(x, self.size(x, 0), self.size(x, 1), heads, width)
        return self.transpose(y, 0, 2, 1, 3)

    def joined(self, x, width):
        y = self.transpose(x, 0, 2, 1, 3)
        return self.reshape(y, self.size(y, 0), self.size(y, 1), width)

    def attend(self, q, k, v, width, mask=None):
        """Of heads [batch, heads, length, width]."""
        scores = self("MatMul", q, self.transpose(k, 0, 1, 3, 2))
        scores = self("Div", scores, float(width**0.5))
        if mask is not None:
            scores = self("Add", scores, mask)
        return self("MatMul", self("Softmax", scores, axis=-1), v)


def written(entry):
    """The Net of a registered network, filled."""
    net = Net(entry.opset, seed=sum(map(ord, entry.name)))
    entry.write(net)
    return net
