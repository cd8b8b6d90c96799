#!/usr/bin/env python3
"""make_networks.py FOLDER: writes squeezenet, mobilenet_v1, mobilenet_v2 and resnet50 as ONNX files into FOLDER.

They have the layers of SqueezeNet 1.1, MobileNetV1, MobileNetV2 and ResNet-50 v1.5 with batch norms folded away: input
"x" 1x3x224x224, output "y" 1x1000. The weights are random (He), from a fixed seed; only the time that they take means
anything.
"""

import argparse
import pathlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


class Network:
    """Nodes one behind the other; `value` and `channels` are those of the last one."""

    def __init__(self):
        self.random = numpy.random.default_rng(7)
        self.nodes, self.weights = [], []
        self.value, self.channels = "x", 3

    def add(self, op, inputs, **attributes):
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        self.value = name
        return self

    def constant(self, shape, fan_in):
        name = f"w{len(self.weights)}"
        values = self.random.normal(0, (2 / fan_in) ** 0.5, shape).astype(numpy.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def conv(self, channels, kernel, stride=1, group=1, pad=None):
        pad = kernel // 2 if pad is None else pad
        fan_in = self.channels // group * kernel * kernel
        weights = self.constant((channels, self.channels // group, kernel, kernel), fan_in)
        bias = self.constant((channels,), fan_in)
        self.channels = channels
        return self.add("Conv", [self.value, weights, bias], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4,
                        group=group)

    def relu(self):
        return self.add("Relu", [self.value])

    def relu6(self):
        for name, value in (("zero", 0), ("six", 6)):
            if all(one.name != name for one in self.weights):
                self.weights.append(numpy_helper.from_array(numpy.float32(value), name))
        return self.add("Clip", [self.value, "zero", "six"])

    def max_pool(self, pad, ceil=0):
        return self.add("MaxPool", [self.value], kernel_shape=[3, 3], strides=[2, 2], pads=[pad] * 4, ceil_mode=ceil)

    def mean(self):
        return self.add("GlobalAveragePool", [self.value]).add("Flatten", [self.value])

    def classes(self):
        weights, bias = self.constant((1000, self.channels), self.channels), self.constant((1000,), self.channels)
        return self.add("Gemm", [self.value, weights, bias], transB=1)

    def save(self, path):
        self.nodes[-1].output[0] = "y"
        shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                  for name, shape in (("x", [1, 3, 224, 224]), ("y", [1, 1000]))]
        graph = helper.make_graph(self.nodes, path.stem, shapes[:1], shapes[1:], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)


def squeezenet():
    net = Network()
    net.conv(64, 3, 2, pad=0).relu().max_pool(0, 1)
    for index, squeezed in enumerate((16, 16, 32, 32, 48, 48, 64, 64)):
        if index in (2, 4):
            net.max_pool(0, 1)
        net.conv(squeezed, 1).relu()
        value, channels = net.value, net.channels
        halves = []
        for kernel in (1, 3):
            net.value, net.channels = value, channels
            halves.append(net.conv(4 * squeezed, kernel).relu().value)
        net.add("Concat", halves, axis=1)
        net.channels = 8 * squeezed
    return net.conv(1000, 1).relu().mean()


def mobilenet_v1():
    net = Network().conv(32, 3, 2).relu()
    for channels, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)):
        net.conv(net.channels, 3, stride, net.channels).relu().conv(channels, 1).relu()
    return net.mean().classes()


def mobilenet_v2():
    net = Network().conv(32, 3, 2).relu6()
    for expansion, channels, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                               (6, 320, 1, 1)):
        for index in range(count):
            value, before = net.value, net.channels
            if expansion > 1:
                net.conv(expansion * before, 1).relu6()
            net.conv(net.channels, 3, 1 if index else stride, net.channels).relu6().conv(channels, 1)
            if index:
                net.add("Add", [net.value, value])
    return net.conv(1280, 1).relu6().mean().classes()


def resnet50():
    net = Network().conv(64, 7, 2).relu().max_pool(1)
    for stage, count in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for index in range(count):
            value, channels = net.value, net.channels
            stride = 2 if stage and not index else 1
            main = net.conv(width, 1).relu().conv(width, 3, stride).relu().conv(4 * width, 1).value
            if not index:
                net.value, net.channels = value, channels
                value = net.conv(4 * width, 1, stride).value
            net.add("Add", [main, value]).relu()
    return net.mean().classes()


NETWORKS = {"squeezenet": squeezenet, "mobilenet_v1": mobilenet_v1, "mobilenet_v2": mobilenet_v2, "resnet50": resnet50}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, network in NETWORKS.items():
        network().save(folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
