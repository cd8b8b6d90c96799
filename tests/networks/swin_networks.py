"""Swin: windows of a picture, shifted by joined slices; the bias of places by Gather, the mask of the shift as a constant."""

import numpy

from exporter import F32, I64_MAX, network
from vision_networks import picture

WINDOW = 4


def shifted_mask(size):
    """-100 between places that the shift has brought into one window."""
    part = numpy.zeros((size, size))
    for i, row in enumerate((slice(0, -WINDOW), slice(-WINDOW, -WINDOW // 2), slice(-WINDOW // 2, None))):
        for j, column in enumerate((slice(0, -WINDOW), slice(-WINDOW, -WINDOW // 2), slice(-WINDOW // 2, None))):
            part[row, column] = 3 * i + j
    n = size // WINDOW
    part = part.reshape(n, WINDOW, n, WINDOW).transpose(0, 2, 1, 3).reshape(n * n, -1)
    return numpy.where(part[:, None] != part[:, :, None], -100, 0).astype(F32)


def relative_places():
    own = numpy.stack(numpy.meshgrid(numpy.arange(WINDOW), numpy.arange(WINDOW), indexing="ij")).reshape(2, -1)
    apart = own[:, :, None] - own[:, None] + WINDOW - 1
    return (apart[0] * (2 * WINDOW - 1) + apart[1]).astype(numpy.int64)


def roll(net, x, by):
    for axis in (1, 2):
        parts = net.slice(x, -by, I64_MAX, axis), net.slice(x, 0, -by, axis)
        x = net("Concat", *parts, axis=axis)
    return x


def windows(net, x, size, c):
    n = size // WINDOW
    y = net.reshape(x, net.size(x, 0), n, WINDOW, n, WINDOW, c)
    return net.reshape(net.transpose(y, 0, 1, 3, 2, 4, 5), -1, WINDOW * WINDOW, c)


def unwindowed(net, y, batch, size, c):
    n = size // WINDOW
    y = net.reshape(y, batch, n, n, WINDOW, WINDOW, c)
    return net.reshape(net.transpose(y, 0, 1, 3, 2, 4, 5), batch, size, size, c)


def attention(net, x, size, c, heads, shifted):
    width, places, n = c // heads, WINDOW * WINDOW, (size // WINDOW) ** 2
    packed = net.linear(x, c, 3 * c)
    packed = net.transpose(net.reshape(packed, net.size(x, 0), places, 3, heads, width), 2, 0, 3, 1, 4)
    q, k, v = (net("Gather", packed, net.const(i), axis=0) for i in range(3))
    scores = net("MatMul", net("Mul", q, width**-0.5), net.transpose(k, 0, 1, 3, 2))
    table = net.weight((2 * WINDOW - 1) ** 2, heads, scale=0.3)
    bias = net("Gather", table, net("Reshape", net.initializer(relative_places()), net.const([-1])), axis=0)
    bias = net.transpose(net.reshape(bias, places, places, heads), 2, 0, 1)
    scores = net("Add", scores, net.unsqueeze(bias, 0))
    if shifted:
        batch = net("Div", net.size(x, 0), n)
        wide = net.reshape(scores, batch, n, heads, places, places)
        mask = net.unsqueeze(net.unsqueeze(net.initializer(shifted_mask(size)), 1), 0)
        scores = net.reshape(net("Add", wide, mask), -1, heads, places, places)
    y = net("MatMul", net("Softmax", scores, axis=-1), v)
    return net.linear(net.joined(y, c), c, c)


def block(net, x, size, c, heads, shifted):
    """Of [batch, places, c]."""
    batch = net.size(x, 0)
    y = net.reshape(net.layer_norm(x, c), batch, size, size, c)
    y = roll(net, y, -(WINDOW // 2)) if shifted else y
    y = attention(net, windows(net, y, size, c), size, c, heads, shifted)
    y = unwindowed(net, y, batch, size, c)
    y = roll(net, y, WINDOW // 2) if shifted else y
    x = net("Add", x, net.reshape(y, batch, size * size, c))
    return net("Add", x, net.linear(net.gelu(net.linear(net.layer_norm(x, c), c, 4 * c)), 4 * c, c))


def merged(net, x, size, c):
    y = net.reshape(x, net.size(x, 0), size, size, c)
    corner = lambda i, j: net.slice(net.slice(y, i, I64_MAX, 1, 2), j, I64_MAX, 2, 2)
    y = net("Concat", corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1), axis=-1)
    y = net.layer_norm(net.reshape(y, net.size(x, 0), -1, 4 * c), 4 * c)
    return net.linear(y, 4 * c, 2 * c, bias=False)


def swin(net):
    size, c = 16, 24
    x = net.conv(net.input("pixel_values", ["batch", 3, 64, 64], picture(net, 2, 3, 64, 64)), 3, c, 4, 4, 0)
    x = net.transpose(net.reshape(x, net.size(x, 0), c, -1), 0, 2, 1)
    x = net.layer_norm(x, c)
    for stage, heads in enumerate([2, 4]):
        if stage:
            x, size, c = merged(net, x, size, c), size // 2, 2 * c
        for i in range(2):
            x = block(net, x, size, c, heads, shifted=i % 2 == 1)
    x = net("GlobalAveragePool", net.transpose(net.layer_norm(x, c), 0, 2, 1))
    net.output("logits", net.gemm(net("Flatten", x, axis=1), c, 100), ["batch", 100])


network(opset=16)(swin)
