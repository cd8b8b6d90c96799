"""Small networks of int8: onnxruntime's two forms, what it quantises as it runs, and halves."""

import numpy
from onnx import TensorProto

from exporter import F32, Net, network
from vision_networks import picture

U8, I8 = numpy.uint8, numpy.int8


def scale_of(net, value):
    return net.initializer(numpy.array(value, F32))


def zero_of(net, value, dtype=U8):
    return net.initializer(numpy.array(value, dtype))


def pair(net, x, scale, zero, dtype=U8):
    s, z = scale_of(net, scale), zero_of(net, zero, dtype)
    return net("DequantizeLinear", net("QuantizeLinear", x, s, z), s, z)


def int8_weight(net, *shape):
    """Weights by channel, their scales and zero points."""
    whole = net.random.integers(-127, 128, shape).astype(I8)
    fan = numpy.prod(shape[1:])
    scales = (net.random.uniform(0.7, 1.3, shape[0]) * fan**-0.5 / 60).astype(F32)
    return net.initializer(whole), net.initializer(scales), net.initializer(numpy.zeros(shape[0], I8)), scales


@network(opset=13, quick=True, quantised=0.02)
def cnn_qdq(net):
    """QuantizeLinear and DequantizeLinear around Conv, Add, GlobalAveragePool and MatMul."""
    x = pair(net, net.input("x", ["batch", 3, 32, 32], picture(net, 2, 3, 32, 32)), 0.03, 128)

    def conv(y, cin, cout, k, s, groups=1, act=True):
        w, scale, zero, scales = int8_weight(net, cout, cin // groups, k, k)
        w = net("DequantizeLinear", w, scale, zero, axis=0)
        bias = net.initializer((net.random.integers(-500, 500, cout)).astype(numpy.int32))
        bias = net("DequantizeLinear", bias, net.initializer((0.03 * scales).astype(F32)), net.initializer(numpy.zeros(cout, numpy.int32)), axis=0)
        y = net("Conv", y, w, bias, kernel_shape=[k, k], strides=[s, s], pads=[k // 2] * 4, group=groups)
        return pair(net, net("Relu", y) if act else y, 0.02 if act else 0.04, 0 if act else 128)

    x = conv(x, 3, 16, 3, 2)
    y = conv(conv(conv(x, 16, 32, 1, 1), 32, 32, 3, 1, groups=32), 32, 16, 1, 1, act=False)
    x = pair(net, net("Add", x, y), 0.04, 100)
    x = conv(x, 16, 32, 3, 2)
    x = pair(net, net("GlobalAveragePool", x), 0.02, 0)
    x = net("Flatten", x, axis=1)
    w, scale, zero, _ = int8_weight(net, 10, 32)
    w = net.transpose(net("DequantizeLinear", w, scale, zero, axis=0), 1, 0)
    net.output("logits", pair(net, net("Add", net("MatMul", x, w), net.weight(10)), 0.02, 128), ["batch", 10])


@network(opset=10, quantised=0.05)
def cnn_qoperator(net):
    """QLinearConv, QLinearAdd, QLinearGlobalAveragePool, QLinearMatMul."""
    net.domains = ["com.microsoft"]
    s, z = scale_of(net, 0.03), zero_of(net, 120)
    x = net("QuantizeLinear", net.input("x", [1, 3, 32, 32], picture(net, 1, 3, 32, 32)), s, z)

    def conv(y, own, cin, cout, k, stride, groups=1):
        w, scale, zero, _ = int8_weight(net, cout, cin // groups, k, k)
        bias = net.initializer(net.random.integers(-500, 500, cout).astype(numpy.int32))
        to = scale_of(net, 0.02), zero_of(net, 10)
        y = net("QLinearConv", y, *own, w, scale, zero, *to, bias, kernel_shape=[k, k], strides=[stride] * 2, pads=[k // 2] * 4,
                group=groups)
        return y, to

    x, own = conv(x, (s, z), 3, 16, 3, 2)
    y, other = conv(*conv(x, own, 16, 16, 3, 1, groups=16), 16, 16, 1, 1)
    total = scale_of(net, 0.03), zero_of(net, 30)
    x = net("QLinearAdd", x, *own, y, *other, *total, domain="com.microsoft")
    x, own = conv(x, total, 16, 32, 3, 2)
    pooled = scale_of(net, 0.01), zero_of(net, 20)
    x = net("QLinearGlobalAveragePool", x, *own, *pooled, domain="com.microsoft", channels_last=0)
    x = net("Flatten", x, axis=1)
    w = net.initializer(net.random.integers(-127, 128, (32, 10)).astype(I8))
    to = scale_of(net, 0.05), zero_of(net, 128)
    y = net("QLinearMatMul", x, *pooled, w, scale_of(net, 0.004), zero_of(net, 0, I8), *to)
    net.output("logits", net("DequantizeLinear", y, *to), [1, 10])


@network(opset=13, steps_of_input=True)
def transformer_quantised_as_it_runs(net):
    """DynamicQuantizeLinear, MatMulInteger, Cast, Mul: what onnxruntime's quantize_dynamic writes."""
    c = 32
    x = net.input("x", ["batch", "length", c], net.random.standard_normal((2, 9, c)).astype(F32))

    def linear(y, i, o):
        whole, scale, zero = net("DynamicQuantizeLinear", y, n=3)
        w = net.initializer(net.random.integers(-127, 128, (i, o)).astype(I8))
        total = net("MatMulInteger", whole, w, zero, net.initializer(numpy.array(0, I8)))
        both = net("Mul", scale, scale_of(net, i**-0.5 / 70))
        return net("Add", net.weight(o), net("Mul", net("Cast", total, to=1), both))

    for _ in range(2):
        y = net.layer_norm(x, c, whole=False)
        q, k, v = (net.heads(linear(y, c, c), 4, 8) for _ in range(3))
        x = net("Add", x, linear(net.joined(net.attend(q, k, v, 8), c), c, c))
        x = net("Add", x, linear(net.gelu(linear(net.layer_norm(x, c, whole=False), c, 64)), 64, c))
    net.output("y", x, ["batch", "length", c])


@network(opset=11, steps_of_input=True)
def cnn_quantised_as_it_runs(net):
    """DynamicQuantizeLinear and ConvInteger."""
    x = net.input("x", [1, 3, 24, 24], picture(net, 1, 3, 24, 24))

    def conv(y, i, o, k, s):
        whole, scale, zero = net("DynamicQuantizeLinear", y, n=3)
        w = net.initializer(net.random.integers(0, 256, (o, i, k, k)).astype(U8))
        total = net("ConvInteger", whole, w, zero, zero_of(net, 128), kernel_shape=[k, k], strides=[s, s], pads=[k // 2] * 4)
        y = net("Mul", net("Cast", total, to=1), net("Mul", scale, scale_of(net, (i * k * k) ** -0.5 / 50)))
        return net("Relu", net("Add", y, net.initializer(0.05 * net.random.standard_normal((1, o, 1, 1)).astype(F32))))

    x = conv(conv(conv(x, 3, 16, 3, 2), 16, 24, 3, 1), 24, 32, 1, 2)
    y = net("Flatten", net("GlobalAveragePool", x), axis=1)
    net.output("logits", net.gemm(y, 32, 10), [1, 10])


def as_halves(net, skip=()):
    """What onnxconverter_common's convert_float_to_float16 makes, with keep_io_types: weights and constants of halves."""
    from onnx import numpy_helper

    for tensor in [*net.initializers, *(a.t for node in net.nodes for a in node.attribute if a.type == 4)]:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(numpy.float16), tensor.name))


@network(opset=13, halves=True)
def cnn_of_halves(net):
    x = net.input("input", ["batch", 3, 48, 48], picture(net, 2, 3, 48, 48))
    x = net("Cast", x, to=10)
    relu = lambda y: net("Relu", y)
    x = relu(net.conv(x, 3, 16, 3, 2))
    for c in (16, 32):
        y = net.conv(relu(net.conv(x, c, c, 3)), c, c, 3)
        x = relu(net("Add", x, y))
        x = relu(net.conv(x, c, 2 * c, 3, 2))
    y = net("Flatten", net("GlobalAveragePool", x), axis=1)
    y = net("Softmax", net.gemm(y, 64, 20), axis=1)
    as_halves(net)
    net.output("output", net("Cast", y, to=1), ["batch", 20])


@network(opset=14, halves=True)
def transformer_of_halves(net):
    c = 32
    ids = net.input("input_ids", ["batch", "length"], net.random.integers(0, 50, (2, 8)).astype(numpy.int64))
    x = net("Gather", net.weight(50, c, scale=0.5), ids)
    for _ in range(2):
        y = net.layer_norm(x, c)
        q, k, v = (net.heads(net.linear(y, c, c), 4, 8) for _ in range(3))
        x = net("Add", x, net.linear(net.joined(net.attend(q, k, v, 8), c), c, c))
        x = net("Add", x, net.linear(net.gelu(net.linear(net.layer_norm(x, c), c, 64)), 64, c))
    as_halves(net)
    net.output("hidden", net("Cast", x, to=1), ["batch", "length", c])
