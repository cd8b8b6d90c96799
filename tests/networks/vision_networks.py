"""Classifiers, detectors and segmenters: their blocks and depths are the published ones, their widths are smaller."""

import numpy

from exporter import F32, network


def picture(net, *shape):
    return net.random.standard_normal(shape).astype(F32)


def conv_bn(net, x, cin, cout, k=1, s=1, groups=1, d=1, act=None, p=None):
    y = net.batch_norm(net.conv(x, cin, cout, k, s, p, groups, d, bias=False), cout)
    return act(y) if act else y


def classes(net, x, c, count=1000):
    y = net("Flatten", net("GlobalAveragePool", x), axis=1)
    net.output("output", net.gemm(y, c, count), ["batch", count])


@network(opset=13)
def mobilenet_v1(net):
    """As tf2onnx writes Keras' MobileNet: channels last outside, axes moved inside, `Squeeze` by an input."""
    x = net.transpose(net.input("input_1", ["unk__1", 96, 96, 3], picture(net, 2, 96, 96, 3)), 0, 3, 1, 2)
    relu6 = lambda y: net.clip(y, 0.0, 6.0)

    def same(y, c, cout, k, s, groups=1):  # auto_pad of TensorFlow: more at the end
        w = net.weight(cout, c // groups, k, k, scale=1.4 * (c // groups * k * k) ** -0.5)
        pads = [0, 0, 1, 1] if s == 2 else [k // 2] * 4
        return relu6(net.batch_norm(net("Conv", y, w, kernel_shape=[k, k], strides=[s, s], pads=pads, group=groups), cout, 1e-3))

    c = 16
    x = same(x, 3, c, 3, 2)
    for cout, s in [(32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (256, 2), *[(256, 1)] * 5, (512, 2), (512, 1)]:
        x = same(same(x, c, c, 3, s, groups=c), c, cout, 1, 1)
        c = cout
    y = net.reduce("ReduceMean", x, [2, 3])
    y = net.transpose(y, 0, 2, 3, 1)
    y = net("Reshape", y, numpy.array([-1, 1, 1, c], numpy.int64))
    y = net("Squeeze", net("Squeeze", y, net.const([1])), net.const([1]))
    y = net("Add", net("MatMul", y, net.weight(c, 100)), net.weight(100))
    net.output("predictions", net("Softmax", y, axis=-1), ["unk__2", 100])


@network(opset=11, quick=True)
def mobilenet_v2(net):
    x = net.input("input", ["batch", 3, 96, 96], picture(net, 1, 3, 96, 96))
    relu6 = lambda y: net.clip(y, 0.0, 6.0)
    x, c = conv_bn(net, x, 3, 16, 3, 2, act=relu6), 16
    for t, cout, count, stride in [(1, 8, 1, 1), (6, 12, 2, 2), (6, 16, 3, 2), (6, 32, 4, 2), (6, 48, 3, 1), (6, 80, 3, 2), (6, 160, 1, 1)]:
        for i in range(count):
            s, before, hidden = stride if i == 0 else 1, x, c * t
            y = conv_bn(net, x, c, hidden, act=relu6) if t > 1 else x
            y = conv_bn(net, y, hidden, hidden, 3, s, groups=hidden, act=relu6)
            y = conv_bn(net, y, hidden, cout)
            x = net("Add", before, y) if s == 1 and c == cout else y
            c = cout
    x = conv_bn(net, x, c, 320, act=relu6)
    y = net("GlobalAveragePool", x)
    y = net.reshape(y, net.size(y, 0), -1)
    net.output("output", net.gemm(y, 320, 1000), ["batch", 1000])


@network(opset=17)
def resnet50(net):
    x = net.input("input", ["batch_size", 3, "height", "width"], picture(net, 1, 3, 96, 96))
    relu = lambda y: net("Relu", y)
    x = conv_bn(net, x, 3, 16, 7, 2, act=relu)
    x = net("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=0)
    c = 16
    for width, count, stride in [(16, 3, 1), (32, 4, 2), (64, 6, 2), (128, 3, 2)]:
        for i in range(count):
            s = stride if i == 0 else 1
            y = conv_bn(net, conv_bn(net, x, c, width, act=relu), width, width, 3, s, act=relu)
            y = net.batch_norm(net.conv(y, width, width * 4, bias=False, gain=0.7), width * 4)
            if i == 0:
                x = conv_bn(net, x, c, width * 4, 1, s)
            x, c = relu(net("Add", y, x)), width * 4
    classes(net, x, c)


@network(opset=12)
def squeezenet_1_1(net):
    x = net.input("data", [1, 3, 100, 100], picture(net, 1, 3, 100, 100))
    pool = lambda y: net("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 0, 0], ceil_mode=1)
    relu = lambda y: net("Relu", y)

    def fire(y, c, squeeze, expand):
        y = relu(net.conv(y, c, squeeze))
        return net("Concat", relu(net.conv(y, squeeze, expand)), relu(net.conv(y, squeeze, expand, 3)), axis=1)

    x = pool(relu(net.conv(x, 3, 64, 3, 2, 0)))
    x = pool(fire(fire(x, 64, 16, 64), 128, 16, 64))
    x = pool(fire(fire(x, 128, 32, 128), 256, 32, 128))
    for c, squeeze, expand in [(256, 48, 192), (384, 48, 192), (384, 64, 256), (512, 64, 256)]:
        x = fire(x, c, squeeze, expand)
    x = relu(net.conv(net("Dropout", x, 0.5), 512, 1000))
    y = net("AveragePool", x, kernel_shape=[6, 6], strides=[1, 1])
    net.output("squeezenet0_flatten0_reshape0", net("Flatten", y), [1, 1000])


@network(opset=14)
def efficientnet_b0(net):
    x = net.input("images", ["N", 3, 96, 96], picture(net, 2, 3, 96, 96))
    x, c = conv_bn(net, x, 3, 16, 3, 2, act=net.silu), 16
    for expand, cout, count, stride, k in [(1, 8, 1, 1, 3), (6, 12, 2, 2, 3), (6, 20, 2, 2, 5), (6, 40, 3, 2, 3), (6, 56, 3, 1, 5),
                                           (6, 96, 4, 2, 5), (6, 160, 1, 1, 3)]:
        for i in range(count):
            s, before, hidden = stride if i == 0 else 1, x, c * expand
            y = conv_bn(net, x, c, hidden, act=net.silu) if expand > 1 else x
            y = conv_bn(net, y, hidden, hidden, k, s, groups=hidden, act=net.silu)
            gate = net.reduce("ReduceMean", y, [2, 3])
            gate = net.conv(net.silu(net.conv(gate, hidden, max(1, c // 4))), max(1, c // 4), hidden)
            y = conv_bn(net, net("Mul", net("Sigmoid", gate), y), hidden, cout)
            x = net("Add", y, before) if s == 1 and c == cout else y
            c = cout
    classes(net, conv_bn(net, x, c, 320, act=net.silu), 320)


@network(opset=16)
def convnext(net):
    """Norms over channels in both orders: moved to the end, and spelled out over axis 1."""
    x = net.input("pixel_values", ["batch", 3, 64, 64], picture(net, 1, 3, 64, 64))

    def norm_of_channels(y, c):
        mean = net.reduce("ReduceMean", y, [1])
        centred = net("Sub", y, mean)
        variance = net.reduce("ReduceMean", net("Pow", centred, 2.0), [1])
        y = net("Div", centred, net("Sqrt", net("Add", variance, 1e-6)))
        scale = net.unsqueeze(net.unsqueeze(net.weight(c, scale=0.1, mean=1.0), 1), 2)
        return net("Add", net("Mul", scale, y), net.initializer(net.random.standard_normal((c, 1, 1)).astype(F32) * 0.05))

    c = 24
    x = norm_of_channels(net.conv(x, 3, c, 4, 4, 0), c)
    for stage, count in enumerate([3, 3, 9, 3]):
        if stage:
            x, c = net.conv(norm_of_channels(x, c), c, 2 * c, 2, 2, 0), 2 * c
        for _ in range(count):
            y = net.transpose(net.conv(x, c, c, 7, groups=c), 0, 2, 3, 1)
            y = net.layer_norm(y, c, 1e-6)
            y = net.linear(net.gelu(net.linear(y, c, 4 * c)), 4 * c, c)
            y = net.transpose(net("Mul", net.weight(c, scale=0.1, mean=0.5), y), 0, 3, 1, 2)
            x = net("Add", x, y)
    y = net.layer_norm(net.reduce("ReduceMean", x, [-2, -1], 0), c, 1e-6)
    net.output("logits", net.gemm(y, c, 1000), ["batch", 1000])


def resize_to(net, x, like, mode="linear"):
    """torch's interpolate(size=...): the batch and channels of x, the rest by Shape and Slice of `like`."""
    own = net.slice(net("Shape", x), 0, 2, 0)
    wanted = net.slice(net("Shape", like), 2, 4, 0)
    sizes = net("Concat", own, net("Cast", wanted, to=7), axis=0)
    how = {"coordinate_transformation_mode": "pytorch_half_pixel"} if mode == "linear" else {
        "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return net.resize(x, sizes=sizes, mode=mode, cubic_coeff_a=-0.75, **how)


@network(opset=11)
def deeplab_v3_plus(net):
    x = net.input("image", ["batch", 3, "height", "width"], picture(net, 1, 3, 97, 113))
    relu = lambda y: net("Relu", y)
    image = x
    x = conv_bn(net, x, 3, 16, 3, 2, act=relu)
    low = conv_bn(net, x, 16, 24, 3, 2, act=relu)
    x, c = low, 24
    for cout, s, d in [(32, 2, 1), (48, 2, 1), (64, 1, 2), (64, 1, 4)]:
        y = conv_bn(net, conv_bn(net, x, c, cout, 3, s, d=d, act=relu), cout, cout, 3, d=d)
        x, c = relu(net("Add", y, conv_bn(net, x, c, cout, 1, s))), cout
    rates = [conv_bn(net, x, c, 32, act=relu)]
    for d in (6, 12, 18):
        separable = conv_bn(net, x, c, c, 3, groups=c, d=d, act=relu)
        rates.append(conv_bn(net, separable, c, 32, act=relu))
    pooled = conv_bn(net, net("GlobalAveragePool", x), c, 32, act=relu)
    rates.append(resize_to(net, pooled, x))
    x = conv_bn(net, net("Concat", *rates, axis=1), 160, 32, act=relu)
    x = net("Concat", resize_to(net, x, low), conv_bn(net, low, 24, 12, act=relu), axis=1)
    x = net.conv(conv_bn(net, x, 44, 32, 3, act=relu), 32, 21)
    x = resize_to(net, x, image)
    net.output("out", x, ["batch", 21, "height", "width"])
    net.output("classes", net("ArgMax", x, axis=1, keepdims=0), ["batch", "height", "width"], 7)


@network(opset=12)
def u_net(net):
    """What is brought up is padded to the size of what it is joined with, by extents read at run time, as torch's does."""
    x = net.input("x", ["n", 1, "h", "w"], picture(net, 1, 1, 90, 74))
    relu = lambda y: net("Relu", y)
    double = lambda y, i, o: conv_bn(net, conv_bn(net, y, i, o, 3, act=relu), o, o, 3, act=relu)
    levels, c = [], 8
    x = double(x, 1, c)
    for _ in range(4):
        levels.append((x, c))
        x = net("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4)
        x, c = double(x, c, 2 * c), 2 * c
    for skip, width in reversed(levels):
        w = net.weight(c, width, 2, 2, scale=c**-0.5)
        x = net("ConvTranspose", x, w, net.weight(width), kernel_shape=[2, 2], strides=[2, 2])
        missing = [net("Sub", net.size(skip, axis), net.size(x, axis)) for axis in (2, 3)]
        before = [net("Div", m, 2) for m in missing]
        after = [net("Sub", m, b) for m, b in zip(missing, before)]
        # torch.nn.functional.pad's list is of the last axis first; the exporter turns it round.
        pads = net.dims(before[1], after[1], before[0], after[0])
        zeros = net("ConstantOfShape", net.const([4]), value=helper_zero())
        pads = net.reshape(net("Concat", pads, zeros, axis=0), -1, 2)
        pads = net.transpose(net("Slice", pads, net.const([-1]), net.const([-9223372036854775807]), net.const([0]), net.const([-1])), 1, 0)
        x = net("Pad", x, net("Cast", net.reshape(pads, -1), to=7), 0.0, mode="constant")
        x, c = double(net("Concat", skip, x, axis=1), c, width), width
    net.output("logits", net.conv(x, c, 2), ["n", 2, "h", "w"])


def helper_zero():
    from onnx import helper

    return helper.make_tensor("value", 7, [1], [0])


@network(opset=18)
def u_net_resized(net):
    """Nearest and bicubic Resize by scales, InstanceNormalization, LeakyRelu, a sigmoid at the end."""
    x = net.input("input", [1, 3, 64, 80], picture(net, 1, 3, 64, 80))

    def block(y, i, o, s=1):
        y = net("Pad", y, net.const([0, 0, 1, 1, 0, 0, 1, 1]), mode="reflect")
        y = net.conv(y, i, o, 3, s, 0)
        y = net("InstanceNormalization", y, net.weight(o, scale=0.1, mean=1.0), net.weight(o), epsilon=1e-5)
        return net("LeakyRelu", y, alpha=0.2)

    down = [block(x, 3, 12)]
    for i in range(3):
        down.append(block(down[-1], 12 * 2**i, 24 * 2**i, 2))
    x, c = down.pop(), 96
    for i, skip in enumerate(reversed(down)):
        mode = ["nearest", "cubic", "linear"][i]
        how = {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"} if mode == "nearest" else {}
        x = net.resize(x, [1, 1, 2, 2], mode=mode, **how)
        x, c = block(net("Concat", x, skip, axis=1), c + c // 2, c // 2), c // 2
    net.output("mask", net("Sigmoid", net.conv(x, c, 1)), [1, 1, 64, 80])
