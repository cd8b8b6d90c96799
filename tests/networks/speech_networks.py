"""Text to speech: VITS, node by node as torch exports it (Piper's voices), for two sentences of different lengths at once."""

import numpy
from onnx import helper

from exporter import F32, network
from language_networks import tokens

C, HEADS, WINDOW, BINS = 24, 2, 4, 10
WIDTH = C // HEADS


def pad(net, x, rank, *amounts, value=0.0):
    """F.pad whose amounts, from the last axis on, are known at run time: the exporter's chain that turns them round."""
    given = net.dims(*amounts)
    rest = net("Sub", net.const([2 * rank]), net("Shape", given))
    rows = net("Concat", given, net("ConstantOfShape", rest, value=helper.make_tensor("value", 7, [1], [0])), axis=0)
    rows = net.reshape(rows, -1, 2)
    rows = net("Slice", rows, [-1], [-9223372036854775807], [0], [-1])
    return net("Pad", x, net("Cast", net.reshape(net.transpose(rows, 1, 0), -1), to=7), value, mode="constant")


def channel_norm(net, x):
    """Over the channels of [batch, channels, length]."""
    return net.transpose(net.layer_norm(net.transpose(x, 0, 2, 1), C, whole=False), 0, 2, 1)


def below(net, lengths, extent):
    """sequence_mask: [batch, extent], true at places below `lengths` [batch]."""
    places = net("Cast", net("Range", 0, extent, 1), to=7)
    return net("Less", net.unsqueeze(places, 0), net.unsqueeze(lengths, 1))


def relative(net, table, length):
    """The rows of a table of 2 * WINDOW + 1 relative places that a length needs: zeros beyond the window."""
    more = net("Max", net("Sub", length, WINDOW + 1), 0)
    start = net("Max", net("Sub", WINDOW + 1, length), 0)
    end = net("Sub", net("Add", start, net("Mul", length, 2)), 1)
    return net.slice(pad(net, table, 3, 0, 0, more, more), net.unsqueeze(start, 0), net.unsqueeze(end, 0), 1)


def attention(net, x, mask):
    """With relative places among keys and values, skewed by Pad and Reshape as in VITS."""
    batch, length = net.size(x, 0), net.size(x, 2)
    q, k, v = (net.transpose(net.reshape(net.conv(x, C, C, axes=1, gain=1), batch, HEADS, WIDTH, length), 0, 1, 3, 2) for _ in range(3))
    q = net("Div", q, float(WIDTH**0.5))
    scores = net("MatMul", q, net.transpose(k, 0, 1, 3, 2))
    keys = relative(net, net.weight(1, 2 * WINDOW + 1, WIDTH, scale=1.0), length)
    logits = net("MatMul", q, net.transpose(net.unsqueeze(keys, 0), 0, 1, 3, 2))
    twice, before = net("Mul", length, 2), net("Sub", length, 1)
    flat = net.reshape(pad(net, logits, 4, 0, 1), batch, HEADS, net("Mul", length, twice))
    places = net.reshape(pad(net, flat, 3, 0, before), batch, HEADS, net("Add", length, 1), net("Sub", twice, 1))
    places = net.slice(net.slice(places, 0, net.unsqueeze(length, 0), 2), net.unsqueeze(before, 0), None, 3)
    scores = net("Where", net("Equal", mask, 0.0), -1e4, net("Add", scores, places))
    weights = net("Softmax", scores, axis=-1)
    y = net("MatMul", weights, v)
    flat = net.reshape(pad(net, weights, 4, 0, before), batch, HEADS, -1)
    places = net.reshape(pad(net, flat, 3, length, 0), batch, HEADS, length, twice)
    values = relative(net, net.weight(1, 2 * WINDOW + 1, WIDTH, scale=1.0), length)
    y = net("Add", y, net("MatMul", net.slice(places, 1, None, 3), net.unsqueeze(values, 0)))
    y = net.reshape(net.transpose(y, 0, 1, 3, 2), batch, C, length)
    return net.conv(y, C, C, axes=1, gain=1)


def text_encoder(net, ids, lengths):
    """The text, the means and the logarithms of the deviations of each phoneme, and the mask."""
    x = net("Mul", net("Gather", net.weight(60, C, scale=0.3), ids), float(C**0.5))
    x = net.transpose(x, 0, 2, 1)
    mask = net("Cast", net.unsqueeze(below(net, lengths, net.size(x, 2)), 1), to=1)
    square = net("Mul", net.unsqueeze(mask, 2), net.unsqueeze(mask, 3))
    x = net("Mul", x, mask)
    for _ in range(2):
        x = channel_norm(net, net("Add", x, attention(net, x, square)))
        y = net("Relu", net.conv(pad(net, net("Mul", x, mask), 3, 1, 1), C, 4 * C, 3, p=0, axes=1))
        y = net.conv(pad(net, net("Mul", y, mask), 3, 1, 1), 4 * C, C, 3, p=0, axes=1, gain=1)
        x = channel_norm(net, net("Add", x, net("Mul", y, mask)))
    x = net("Mul", x, mask)
    means, logs = net.split(net("Mul", net.conv(x, C, 2 * C, axes=1, gain=0.5), mask), [C, C], 1)
    return x, means, logs, mask


def separable(net, x, mask, also=None):
    """Depthwise convolutions of growing dilation, each with norms and Gelu."""
    if also is not None:
        x = net("Add", x, also)
    for i in range(3):
        y = net.conv(net("Mul", x, mask), C, C, 3, groups=C, d=3**i, axes=1)
        y = net.gelu(channel_norm(net, y))
        y = net.gelu(channel_norm(net, net.conv(y, C, C, axes=1)))
        x = net("Add", x, y)
    return net("Mul", x, mask)


def flip(net, x):
    return net("Slice", x, [-1], [-9223372036854775807], [1], [-1])


def where_true(net, truths):
    """The places of a mask that is an index."""
    return net.transpose(net("NonZero", truths), 1, 0)


def with_column(net, x, column, value):
    """x[..., column] = value: ScatterND with the places of the whole column."""
    rows = net.size(x, 0)
    places = net.unsqueeze(net("Range", 0, rows, 1), 1)
    columns = net("Expand", net("Add", net.unsqueeze(net.size(x, 1), 0) if column < 0 else net.const([0]), net.const([column])),
                  net.dims(rows, 1))
    return net("ScatterND", x, net("Concat", places, columns, axis=1), net("Expand", value, net.dims(rows)))


def knots(net, raw, bound=5.0, least=1e-3):
    """The borders of the bins, and their widths."""
    part = net("Softmax", raw, axis=-1)
    part = net("Add", net("Mul", part, 1 - least * BINS), least)
    ends = net("Pad", net("CumSum", part, net.const(-1)), net.const([0, 1, 0, 0]), 0.0, mode="constant")
    ends = net("Add", net("Mul", ends, 2 * bound), -bound)
    ends = with_column(net, with_column(net, ends, 0, -bound), -1, bound)
    return ends, net("Sub", net.slice(ends, 1, None, 1), net.slice(ends, 0, -1, 1))


def spline(net, x, raw, bound=5.0):
    """The inverse of a rational quadratic spline of BINS pieces inside of -bound to bound; what lies outside stays."""
    widths, heights, slopes = net.slice(raw, 0, BINS, 3), net.slice(raw, BINS, 2 * BINS, 3), net.slice(raw, 2 * BINS, None, 3)
    widths, heights = net("Div", widths, float(C**0.5)), net("Div", heights, float(C**0.5))
    inside = net("And", net("GreaterOrEqual", x, -bound), net("LessOrEqual", x, bound))
    outside = net("Not", inside)
    y = net("ConstantOfShape", net("Shape", x), value=helper.make_tensor("value", 1, [1], [0.0]))
    y = net("ScatterND", y, where_true(net, outside), net("GatherND", x, where_true(net, outside)))
    at = where_true(net, inside)
    slopes = net("Pad", slopes, net.const([0, 0, 0, 1, 0, 0, 0, 1]), float(numpy.log(numpy.exp(1 - 1e-3) - 1)), mode="constant")
    x, widths, heights, slopes = (net("GatherND", part, at) for part in (x, widths, heights, slopes))
    left, widths = knots(net, widths)
    low, heights = knots(net, heights)
    slopes = net("Add", net("Softplus", slopes), 1e-3)
    last = net("Add", net("Gather", low, net.const(-1), axis=1), 1e-6)
    known = net("GreaterOrEqual", net.unsqueeze(x, 1), with_column(net, low, -1, last))
    found = net("Sub", net.reduce("ReduceSum", net("Cast", known, to=7), [-1], 0), 1)
    found = net.unsqueeze(found, 1)
    of = lambda row: net.squeeze(net("GatherElements", row, found, axis=1), 1)
    steep = net("Div", heights, widths)
    left, width, low, height, middle = of(left), of(widths), of(low), of(heights), of(steep)
    first, second = of(slopes), of(net.slice(slopes, 1, None, 1))
    above = net("Sub", x, low)
    bend = net("Sub", net("Add", first, second), net("Mul", middle, 2.0))
    a = net("Add", net("Mul", above, bend), net("Mul", height, net("Sub", middle, first)))
    b = net("Sub", net("Mul", height, first), net("Mul", above, bend))
    c = net("Mul", net("Neg", middle), above)
    root = net("Sqrt", net("Sub", net("Pow", b, 2.0), net("Mul", net("Mul", a, 4.0), c)))
    root = net("Div", net("Mul", c, 2.0), net("Sub", net("Neg", b), root))
    return net("ScatterND", y, at, net("Add", net("Mul", root, width), left))


def durations(net, x, mask, noise):
    """Logarithms of durations: noise through flows of splines, under the text's condition."""
    x = net.conv(x, C, C, axes=1, gain=1)
    x = net("Mul", net.conv(separable(net, x, mask), C, C, axes=1, gain=0.6), mask)
    z = net("Mul", noise, mask)
    for _ in range(3):
        z = flip(net, z)
        z0, z1 = net.split(z, [1, 1], 1)
        h = separable(net, net.conv(z0, 1, C, axes=1, gain=1), mask, x)
        h = net("Mul", net.conv(h, C, 3 * BINS - 1, axes=1, gain=1), mask)
        h = net.reshape(h, net.size(z0, 0), 1, -1, net.size(z0, 2))
        z1 = spline(net, z1, net.transpose(h, 0, 1, 3, 2))
        z = net("Mul", net("Concat", z0, z1, axis=1), mask)
    z = flip(net, z)
    shift, logs = net.initializer(numpy.array([[-0.6], [0.1]], F32)), net.initializer(numpy.array([[0.3], [-0.2]], F32))
    z = net("Mul", net("Mul", net("Sub", z, shift), net("Exp", net("Neg", logs))), mask)
    return net.split(z, [1, 1], 1)[0]


def coupled(net, z, mask):
    """Layers of the flow, backwards: half of the channels is moved by what WaveNet makes of the other half."""
    for _ in range(2):
        z = flip(net, z)
        fixed, moved = net.split(z, [C // 2, C // 2], 1)
        x, out = net("Mul", net.conv(fixed, C // 2, C, axes=1, gain=1), mask), None
        for i in range(3):
            y = net.conv(x, C, 2 * C, 5, axes=1)
            y = net("Mul", net("Tanh", net.slice(y, 0, C, 1)), net("Sigmoid", net.slice(y, C, None, 1)))
            y = net.conv(y, C, C if i == 2 else 2 * C, axes=1, gain=1)
            if i < 2:
                x = net("Mul", net("Add", x, net.slice(y, 0, C, 1)), mask)
                y = net.slice(y, C, None, 1)
            out = y if out is None else net("Add", out, y)
        mean = net("Mul", net.conv(net("Mul", out, mask), C, C // 2, axes=1, gain=0.5), mask)
        z = net("Concat", fixed, net("Mul", net("Sub", moved, mean), mask), axis=1)
    return z


def decoder(net, z):
    """HiFi-GAN's: each stage scales up and takes the mean of two rows of dilated convolutions."""
    width = 32
    z = net.conv(z, C, width, 7, axes=1)
    for rate, k in ((4, 8), (4, 8)):
        z = net("LeakyRelu", z, alpha=0.1)
        w = net.weight(width, width // 2, k, scale=(2.0 / width) ** 0.5)
        z = net("ConvTranspose", z, w, net.weight(width // 2), kernel_shape=[k], strides=[rate], pads=[(k - rate) // 2] * 2)
        width //= 2
        parts = []
        for k in (3, 7):
            y = z
            for d in (1, 3):
                x = net.conv(net("LeakyRelu", y, alpha=0.1), width, width, k, d=d, axes=1, gain=1)
                y = net("Add", y, net.conv(net("LeakyRelu", x, alpha=0.1), width, width, k, axes=1, gain=0.7))
            parts.append(y)
        z = net("Div", net("Add", *parts), 2.0)
    return net("Tanh", net.conv(net("LeakyRelu", z, alpha=0.01), width, 1, 7, axes=1, bias=False, gain=0.7))


@network(opset=15, quick=True)
def vits(net):
    """Durations decide at run time how long the sound is."""
    ids = net.input("input", ["batch", "phonemes"], tokens(net, 60, 2, 11))
    lengths = net.input("input_lengths", ["batch"], numpy.array([11, 8], numpy.int64))
    scales = net.input("scales", [2], numpy.array([0.0, 1.1], F32))
    given = 1.5 * net.random.standard_normal((2, 2, 11))
    given[:, :, 4] = -7  # outside of the splines
    noise = net.input("noise", ["batch", 2, "phonemes"], given.astype(F32))
    x, means, logs, mask = text_encoder(net, ids, lengths)
    spoken = net("Mul", net("Exp", durations(net, x, mask, noise)), mask)
    spoken = net("Ceil", net("Mul", spoken, net("Gather", scales, net.const(1), axis=0)))
    frames = net("Cast", net("Clip", net.reduce("ReduceSum", spoken, [1, 2], 0), 1.0, ""), to=7)
    most = net.reduce("ReduceMax", frames, [0], 0)
    heard = net("Cast", net.unsqueeze(below(net, frames, most), 1), to=1)
    # Which phoneme each frame is of.
    ends = net("CumSum", net.squeeze(spoken, 1), net.const(-1))
    places = net("Cast", net("Range", 0, most, 1), to=1)
    path = net("Less", net.unsqueeze(places, 0), net.unsqueeze(net.reshape(ends, -1), 1))
    path = net.reshape(net("Cast", path, to=1), net.size(x, 0), net.size(x, 2), most)
    path = net("Sub", path, net.slice(net("Pad", path, net.const([0, 1, 0, 0, 0, 0]), 0.0, mode="constant"), 0, -1, 1))
    both = net("Mul", net.unsqueeze(mask, 2), net.unsqueeze(heard, 3))
    path = net.squeeze(net("Mul", net.transpose(net.unsqueeze(path, 1), 0, 1, 3, 2), both), 1)
    means, logs = (net.transpose(net("MatMul", path, net.transpose(part, 0, 2, 1)), 0, 2, 1) for part in (means, logs))
    random = net("Mul", net("RandomNormalLike", means, dtype=1), net("Exp", logs))
    z = net("Add", means, net("Mul", random, net("Gather", scales, net.const(0), axis=0)))
    z = coupled(net, z, heard)
    net.output("durations", spoken, ["batch", 1, "phonemes"])
    net.output("output", decoder(net, net("Mul", z, heard)), ["batch", 1, "time"])
