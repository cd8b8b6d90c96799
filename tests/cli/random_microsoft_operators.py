"""Random nodes of com.microsoft's operators, on the host, against onnxruntime: as random_operators.py, with the same arguments.

What quantises its result may differ by a step: onnxruntime adds up some of these in integers, or looks them up in tables.
A softmax has rows of two or more values: of one value, onnxruntime gives 0 in place of 1.
DynamicQuantizeLSTM may differ by 5e-2: a state half way between two of 255 steps is rounded up by one and down by the other.
"""

import sys

import numpy

import random_operators
from random_operators import QUANTISED, bytes_of, case, main, numbers, parameters, shape_of

MICROSOFT = {"domain": "com.microsoft"}
for op in ("Add", "Mul", "Sigmoid", "LeakyRelu", "Softmax", "AveragePool", "GlobalAveragePool", "Concat"):
    random_operators.STEP["QLinear" + op] = 1
random_operators.STEP["QGemm"] = 1


random_operators.NEAR["DynamicQuantizeLSTM"] = 5e-2


def quantised_lstm_case(draw, i):
    steps, batch, width, hidden = draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 5), draw.randint(1, 6)
    direction = draw.choice(["forward", "reverse", "bidirectional"])
    d = 2 if direction == "bidirectional" else 1
    dtype, each = draw.choice(QUANTISED), draw.random() < 0.5
    weights, scales = [], []
    for rows in (width, hidden):
        weights.append(bytes_of(draw, [d, rows, 4 * hidden], dtype))
        scale, zero = parameters(draw, [d, 4 * hidden] if each else [d], dtype)
        if each:  # onnxruntime wants the middle then
            zero[:] = 0 if dtype == numpy.int8 else 128
        scales += [scale / 8, zero]
    inputs = [numbers(draw, [steps, batch, width]), *weights, draw.choice([None, numbers(draw, [d, 8 * hidden])]), None,
              numbers(draw, [d, batch, hidden]) / 4, numbers(draw, [d, batch, hidden]), draw.choice([None, numbers(draw, [d, 3 * hidden])]), *scales]
    return case("DynamicQuantizeLSTM", i, inputs, hidden_size=hidden, direction=direction, **MICROSOFT)


def quantised(draw, shape, dtype):
    return [bytes_of(draw, shape, dtype), *parameters(draw, [], dtype)]


def quantised_join_case(draw, i):
    dtype = draw.choice(QUANTISED)
    shape = shape_of(draw, draw.randint(1, 4))
    if draw.random() < 0.4:
        axis = draw.randrange(-len(shape), len(shape))
        parts = []
        for _ in range(draw.randint(1, 3)):
            part = list(shape)
            part[axis] = draw.randint(1, 4)
            parts += quantised(draw, part, dtype)
        return case("QLinearConcat", i, [*parameters(draw, [], dtype), *parts], axis=axis, **MICROSOFT)
    other = draw.choice([shape, [], shape[-1:], [1] * len(shape)])
    return case(draw.choice(["QLinearAdd", "QLinearMul"]), i,
                [*quantised(draw, shape, dtype), *quantised(draw, other, dtype), *parameters(draw, [], dtype)], **MICROSOFT)


def quantised_map_case(draw, i):
    dtype = draw.choice(QUANTISED)
    op = draw.choice(["QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"])
    shape = shape_of(draw, draw.randint(1, 4))
    axis = draw.randrange(-len(shape), len(shape))
    shape[axis] = max(2, shape[axis])
    scale, zero = parameters(draw, [], dtype)
    inputs = [*quantised(draw, shape, dtype), scale, zero]
    if op == "QLinearLeakyRelu":
        return case(op, i, inputs, alpha=draw.choice([0.01, 0.2]), **MICROSOFT)
    inputs[3], inputs[4] = numpy.float32(1 / 255), dtype(numpy.iinfo(dtype).min)
    if op == "QLinearSigmoid":
        return case(op, i, inputs, **MICROSOFT)
    return case(op, i, inputs, axis=axis, opset=draw.choice([12, 13]), **MICROSOFT)


def quantised_pool_case(draw, i):
    dtype = draw.choice(QUANTISED)
    last = draw.randint(0, 1)
    spatial = [draw.randint(4, 8), draw.randint(4, 8)]
    channels, batch = draw.randint(1, 4), draw.randint(1, 2)
    shape = [batch, *spatial, channels] if last else [batch, channels, *spatial]
    inputs = [*quantised(draw, shape, dtype), *parameters(draw, [], dtype)]
    if draw.random() < 0.4:
        return case("QLinearGlobalAveragePool", i, inputs, channels_last=last, **MICROSOFT)
    return case("QLinearAveragePool", i, inputs, channels_last=last, kernel_shape=[draw.randint(2, 3), 2], strides=[draw.randint(1, 2)] * 2,
                pads=[draw.randint(0, 1), 0, 0, 1], count_include_pad=draw.randint(0, 1), **MICROSOFT)


def quantise_case(draw, i):
    shape = shape_of(draw, 3)
    axis = draw.choice([None, 0, 1, 2])
    dtype = draw.choice(QUANTISED)
    scale, zero = parameters(draw, [] if axis is None else [shape[axis]], dtype)
    attributes = {} if axis is None else {"axis": axis}
    if draw.random() < 0.5:
        return case("DequantizeLinear", i, [bytes_of(draw, shape, dtype), scale, zero], **attributes, **MICROSOFT)
    return case("QuantizeLinear", i, [numbers(draw, shape) * 5, scale, zero], **attributes, **MICROSOFT)


def quantised_gemm_case(draw, i):
    m, k, n = shape_of(draw, 3, 9)
    a, b = draw.choice([(numpy.uint8, numpy.uint8), (numpy.uint8, numpy.int8), (numpy.int8, numpy.int8)])
    left, right = draw.randint(0, 1), draw.randint(0, 1)
    ws, wz = parameters(draw, draw.choice([[], [n]]), b)
    xs, xz = parameters(draw, [], a)
    inputs = [bytes_of(draw, [k, m] if left else [m, k], a), xs, xz, bytes_of(draw, [n, k] if right else [k, n], b), ws, wz]
    inputs.append(draw.choice([None, numbers(draw, draw.choice([[n], [m, n]]), numpy.int32)]))
    if draw.random() < 0.6:
        ys, yz = parameters(draw, [], a)
        inputs += [ys * 40, yz]
    while inputs[-1] is None:
        inputs.pop()
    return case("QGemm", i, inputs, transA=left, transB=right, alpha=draw.choice([1.0, 0.5]), **MICROSOFT)


def integer_product_case(draw, i):
    m, k, n = shape_of(draw, 3, 9)
    lead = draw.choice([[], [2], [2, 3]])
    b = draw.choice(QUANTISED)
    ws, wz = parameters(draw, draw.choice([[], [n]]), b)
    right = bytes_of(draw, [k, n], b)
    bias = draw.choice([None, numbers(draw, [n])])
    if draw.random() < 0.5:
        inputs = [numbers(draw, [*lead, m, k]), right, ws, wz, bias]
        op = "DynamicQuantizeMatMul"
    else:
        a = numpy.uint8 if b == numpy.uint8 else draw.choice(QUANTISED)
        xs, xz = parameters(draw, [], a)
        inputs = [bytes_of(draw, [*lead, m, k], a), right, xs, ws, xz, wz, bias]
        op = "MatMulIntegerToFloat"
    return case(op, i, inputs if bias is not None else inputs[:-1], **MICROSOFT)


def fused_product_case(draw, i):
    m, k, n = shape_of(draw, 3, 6)
    if draw.random() < 0.4:
        left, right = draw.randint(0, 1), draw.randint(0, 1)
        name, parameters_of = draw.choice([("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.3}), ("Sigmoid", {}), ("Tanh", {})])
        return case("FusedGemm", i, [numbers(draw, [k, m] if left else [m, k]), numbers(draw, [n, k] if right else [k, n]), numbers(draw, [n])],
                    transA=left, transB=right, alpha=0.5, beta=2.0, activation=name, **parameters_of, **MICROSOFT)
    lead = shape_of(draw, draw.randint(0, 2), 3)
    flags = {}

    def operand(rows, columns, side):
        shape = [rows, columns]
        if draw.random() < 0.5:
            flags["trans" + side] = 1
            shape = [columns, rows]
        whole = [*lead, *shape]
        if lead and draw.random() < 0.4:
            flags["transBatch" + side] = 1
            whole = [whole[-2], *whole[:-2], whole[-1]]
        return numbers(draw, whole)

    return case("FusedMatMul", i, [operand(m, k, "A"), operand(k, n, "B")], alpha=draw.choice([1.0, 0.25]), **flags, **MICROSOFT)


def fused_conv_case(draw, i):
    channels, filters = draw.randint(1, 3), draw.randint(1, 3)
    x = numbers(draw, [draw.randint(1, 2), channels, draw.randint(4, 7), draw.randint(4, 7)])
    w = numbers(draw, [filters, channels, 3, draw.randint(1, 3)])
    inputs = [x, w, numbers(draw, [filters])]
    if draw.random() < 0.4:
        inputs.append(numbers(draw, [x.shape[0], filters, x.shape[2] - 2, x.shape[3] - w.shape[3] + 1]))
    name, values = draw.choice([("Relu", []), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 0.75]), ("Tanh", []), ("Sigmoid", []), ("HardSigmoid", [0.3, 0.4])])
    return case("FusedConv", i, inputs, activation=name, **({"activation_params": values} if values else {}), **MICROSOFT)


def gelu_case(draw, i):
    op = draw.choice(["Gelu", "BiasGelu", "FastGelu", "QuickGelu"])
    shape = shape_of(draw, draw.randint(1, 4))
    x = numbers(draw, shape) * 3
    bias = numbers(draw, shape[-1:])
    if op == "BiasGelu" or (op == "FastGelu" and draw.random() < 0.5):
        return case(op, i, [x, bias], **MICROSOFT)
    return case(op, i, [x], **({"alpha": draw.choice([1.702, 1.0])} if op == "QuickGelu" else {}), **MICROSOFT)


def skip_norm_case(draw, i):
    width = draw.randint(4, 9)
    shape = [*shape_of(draw, 2), width]
    x, skip = numbers(draw, shape), numbers(draw, draw.choice([shape, shape[1:], [1, *shape[1:]]]))
    bias = draw.choice([None, numbers(draw, [width])])
    kind = draw.choice(["SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "SimplifiedLayerNormalization"])
    if kind == "SimplifiedLayerNormalization":
        return case(kind, i, [x, numbers(draw, [width])], axis=-1, epsilon=1e-5)
    inputs = [x, skip, numbers(draw, [width])] + ([numbers(draw, [width])] if kind == "SkipLayerNormalization" else [])
    return case(kind, i, inputs if bias is None else [*inputs, bias], epsilon=draw.choice([1e-5, 1e-2]), **MICROSOFT)


def embedding_case(draw, i):
    generator = numpy.random.default_rng(draw.randrange(1 << 30))
    batch, length, width, words = draw.randint(1, 3), draw.randint(1, 6), draw.randint(4, 9), draw.randint(2, 9)

    def ids(most):
        return generator.integers(0, most, [batch, length], dtype=numpy.int32)

    segments = draw.random() < 0.6
    inputs = [ids(words), ids(2) if segments else None, numbers(draw, [words, width]), numbers(draw, [8, width]),
              numbers(draw, [2, width]) if segments else None, numbers(draw, [width]), numbers(draw, [width]),
              draw.choice([None, ids(2)]), ids(8)]
    if draw.random() < 0.5:
        inputs = inputs[:7]
    return case("EmbedLayerNormalization", i, inputs, outputs=2, epsilon=1e-5, **MICROSOFT)


def mask_of(draw, batch, queries, keys, kinds):
    kind = draw.choice(kinds)
    if kind is None:
        return None
    if kind == 1:
        return numpy.array([draw.randint(1, keys) for _ in range(batch)], numpy.int32)
    mask = numpy.random.default_rng(draw.randrange(1 << 30)).integers(0, 2, [batch, keys] if kind == 2 else [batch, queries, keys], dtype=numpy.int32)
    mask[..., 0] = 1
    return mask


def attention_case(draw, i):
    batch, length, heads, size = draw.randint(1, 2), draw.randint(2, 5), draw.randint(1, 3), draw.choice([2, 4])
    width = heads * size
    extra = {"scale": 0.3} if draw.random() < 0.3 else {}
    if draw.random() < 0.5:
        features = draw.randint(2, 6)
        addend = draw.choice([None, numbers(draw, [draw.choice([1, batch]), draw.choice([1, heads]), length, length])])
        inputs = [numbers(draw, [batch, length, features]), numbers(draw, [features, 3 * width]), numbers(draw, [3 * width]),
                  mask_of(draw, batch, length, length, [None, 1, 2, 3]), None, addend]
        while inputs[-1] is None:
            inputs.pop()
        return case("Attention", i, inputs, num_heads=heads, unidirectional=draw.randint(0, 1), **extra, **MICROSOFT)
    keys = draw.randint(2, 6)
    values = heads * draw.choice([2, 3])
    addend = draw.choice([None, numbers(draw, [draw.choice([1, batch]), draw.choice([1, heads]), length, keys])])
    inputs = [numbers(draw, [batch, length, width]), numbers(draw, [batch, keys, width]), numbers(draw, [batch, keys, values]),
              draw.choice([None, numbers(draw, [2 * width + values])]), mask_of(draw, batch, length, keys, [None, 1, 2, 3]), addend]
    while inputs[-1] is None:
        inputs.pop()
    return case("MultiHeadAttention", i, inputs, num_heads=heads, **extra, **MICROSOFT)


if __name__ == "__main__":
    sys.exit(main(globals()))
