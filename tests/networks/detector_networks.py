"""YOLOv8n as Ultralytics exports it, and with the suppression behind it that users add."""

import numpy

from exporter import F32, network
from vision_networks import conv_bn, picture


def c2f(net, x, cin, cout, count, shortcut):
    half = cout // 2
    y = conv_bn(net, x, cin, cout, act=net.silu)
    parts = list(net.split(y, [half, half], 1))
    for _ in range(count):
        z = conv_bn(net, conv_bn(net, parts[-1], half, half, 3, act=net.silu), half, half, 3, act=net.silu)
        parts.append(net("Add", parts[-1], z) if shortcut else z)
    return conv_bn(net, net("Concat", *parts, axis=1), half * len(parts), cout, act=net.silu)


def anchors(size):
    points, strides = [], []
    for stride in (8, 16, 32):
        cells = size // stride
        y, x = numpy.meshgrid(numpy.arange(cells) + 0.5, numpy.arange(cells) + 0.5, indexing="ij")
        points.append(numpy.stack([x.ravel(), y.ravel()]))
        strides.append(numpy.full(cells * cells, stride))
    return numpy.concatenate(points, 1)[None].astype(F32), numpy.concatenate(strides)[None].astype(F32)


def yolo(net, size, count, wide=8):
    cv = lambda y, i, o, k=1, s=1: conv_bn(net, y, i, o, k, s, act=net.silu)
    x = net.input("images", ["batch", 3, size, size], net.random.uniform(0, 1, (1, 3, size, size)).astype(F32))
    w = [wide * 2**i for i in range(5)]  # published: 16 to 256
    p2 = c2f(net, cv(cv(x, 3, w[0], 3, 2), w[0], w[1], 3, 2), w[1], w[1], 1, True)
    p3 = c2f(net, cv(p2, w[1], w[2], 3, 2), w[2], w[2], 2, True)
    p4 = c2f(net, cv(p3, w[2], w[3], 3, 2), w[3], w[3], 2, True)
    p5 = c2f(net, cv(p4, w[3], w[4], 3, 2), w[4], w[4], 1, True)
    y = cv(p5, w[4], w[4] // 2)
    pools = [y]
    for _ in range(3):
        pools.append(net("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2], ceil_mode=0, dilations=[1, 1]))
    p5 = cv(net("Concat", *pools, axis=1), w[4] * 2, w[4])
    up = lambda y: net.resize(y, [1, 1, 2, 2], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    n4 = c2f(net, net("Concat", up(p5), p4, axis=1), w[4] + w[3], w[3], 1, False)
    n3 = c2f(net, net("Concat", up(n4), p3, axis=1), w[3] + w[2], w[2], 1, False)
    n4 = c2f(net, net("Concat", cv(n3, w[2], w[2], 3, 2), n4, axis=1), w[2] + w[3], w[3], 1, False)
    n5 = c2f(net, net("Concat", cv(n4, w[3], w[3], 3, 2), p5, axis=1), w[3] + w[4], w[4], 1, False)
    batch = net.size(x, 0)
    rows = []
    for level, c in [(n3, w[2]), (n4, w[3]), (n5, w[4])]:
        box = net.conv(cv(cv(level, c, 64, 3), 64, 64, 3), 64, 64)
        cls = net.conv(cv(cv(level, c, count, 3), count, count, 3), count, count)
        rows.append(net.reshape(net("Concat", box, cls, axis=1), batch, 64 + count, -1))
    points, strides = anchors(size)
    box, cls = net.split(net("Concat", *rows, axis=2), [64, count], 1)
    # DFL: the mean of a distribution over 16 distances, as a convolution by 0..15.
    dfl = net.transpose(net.reshape(box, batch, 4, 16, points.shape[2]), 0, 2, 1, 3)
    dfl = net("Conv", net("Softmax", dfl, axis=1), net.initializer(numpy.arange(16, dtype=F32).reshape(1, 16, 1, 1)), kernel_shape=[1, 1])
    dfl = net.reshape(dfl, batch, 4, points.shape[2])
    # chunk(2, 1) as torch writes it: Shape, Gather, Add, Div, Mul, Slice.
    half = net("Div", net("Add", net.size(dfl, 1), 1), 2)
    first, second = net("Mul", half, net.const([1])), net("Mul", half, net.const([2]))
    near = net("Slice", dfl, net.const([0]), first, net.const([1]))
    far = net("Slice", dfl, first, second, net.const([1]))
    low = net("Sub", net.initializer(points), near)
    high = net("Add", net.initializer(points), far)
    centre = net("Div", net("Add", low, high), 2.0)
    boxes = net("Mul", net("Concat", centre, net("Sub", high, low), axis=1), net.initializer(strides))
    return boxes, net("Sigmoid", cls)


@network(opset=17)
def yolov8n(net):
    boxes, scores = yolo(net, 160, 20)
    net.output("output0", net("Concat", boxes, scores, axis=1), ["batch", 24, "anchors"])


@network(opset=11, found_at_run_time=True)
def yolov8n_with_suppression(net):
    """How many boxes are found is known at run time alone."""
    boxes, scores = yolo(net, 96, 6)
    centred = net.transpose(boxes, 0, 2, 1)
    xy, wh = net("Slice", centred, [0], [2], [2]), net("Slice", centred, [2], [2147483647], [2])
    half = net("Mul", wh, 0.5)
    corners = net("Concat", net("Sub", xy, half), net("Add", xy, half), axis=2)
    found = net("NonMaxSuppression", corners, scores, numpy.array([20], numpy.int64), numpy.array([0.6], F32),
                numpy.array([0.3], F32))
    places = net.squeeze(net("Slice", found, [2], [3], [1]), 1)
    kinds = net.squeeze(net("Slice", found, [1], [2], [1]), 1)
    kept = net("Gather", net.squeeze(corners, 0), places, axis=0)
    of_kept = net("Gather", net.transpose(net.squeeze(scores, 0), 1, 0), places, axis=0)
    best = net.reduce("ReduceMax", of_kept, [1])
    table = net("Concat", kept, best, net("Cast", net.unsqueeze(kinds, 1), to=1), axis=1)
    net.output("detections", table, ["found", 6])
    net.output("selected", found, ["found", 3], 7)
