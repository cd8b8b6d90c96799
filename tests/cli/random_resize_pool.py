"""Random Resize and pooling nodes on the host or a device, against onnxruntime.

Usage: random_resize_pool.py CLVET [MODEL IMAGES [COUNT [SEED]]]. MODEL and IMAGES, which all tests get, are not used. Needs
onnx, onnxruntime and numpy. A model holds NODES nodes of one input each. Sums of float32 differ by their order: values may
differ by 1e-4 of the largest. An index that a rounding mode takes may not. DIFFERENCES lists, with its reason, what
onnxruntime does otherwise than the ONNX standard; those cases are not drawn. CLVET_TEST_DEVICE: see random_nodes.py.
"""

import pathlib
import sys
import tempfile
from fractions import Fraction

import numpy
from onnx import TensorProto, helper

from random_nodes import Case, Counts, asked_for, device_options, finish, run_cases

NODES = 40
DIFFERENCES = {
    "Resize to the shape that is there, by scales that are not 1": "onnxruntime copies; ONNX and PyTorch interpolate",
    "Resize with tf_half_pixel_for_nn (deprecated since opset 13)": "onnxruntime rounds positions halfway otherwise",
    "Nearest with half_pixel_symmetric, at whole or half pixels": "onnxruntime's last bit is another",
    "Resize with tf_crop_and_resize to an extent that is there": "onnxruntime takes the whole axis, not the region",
    "Pooling with auto_pad SAME_* and strides longer than the kernel": "onnxruntime crops by a negative padding; here it is 0",
}


def same_by_other_scales(shape, scales):
    outs = [int(numpy.float32(s) * numpy.float32(n)) for s, n in zip(scales, shape)]
    return outs == shape and any(s != 1 for s in scales)


def on_a_border(transform, size, wanted):
    """Whether some position lies half way between two pixels: which one is meant hangs on the last bit of a quotient."""
    half = Fraction(1, 2) if "half_pixel" in transform else Fraction(0)
    places = [(i + half) * Fraction(size, wanted) - half for i in range(wanted)]
    return any((place * 2).denominator == 1 and place.denominator == 2 for place in places)


def near_half_pixels(size, wanted, scale):
    """Whether a position of half_pixel_symmetric is a whole or half pixel, as far as float32 tells."""
    scale = float(numpy.float32(scale))
    offset = size / 2 * (1 - wanted / (scale * size)) - 0.5
    return any(abs(2 * place - round(2 * place)) < 1e-4 for place in (offset + (i + 0.5) / scale for i in range(wanted)))


def resize_case(draw, index):
    rank = 4
    shape = [1, draw.randint(1, 3), draw.randint(1, 12), draw.randint(1, 12)]
    mode = draw.choice(["nearest", "linear", "cubic"])
    transform = draw.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric",
                             "tf_crop_and_resize"])
    attributes = {"mode": mode, "coordinate_transformation_mode": transform}
    if mode == "nearest":
        attributes["nearest_mode"] = draw.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    if mode == "cubic":
        attributes["cubic_coeff_a"] = draw.choice([-0.75, -0.5])
    constants, roi = [], ""
    symmetric = mode == "nearest" and transform == "half_pixel_symmetric"
    if transform == "tf_crop_and_resize":
        attributes["extrapolation_value"] = draw.choice([0.0, -2.5])
        roi = f"r{index}"
        ends = [(draw.uniform(-0.2, 0.6), draw.uniform(0.5, 1.2)) for _ in "hw"]
        region = [0, 0, *(first for first, _ in ends), 1, 1, *(last for _, last in ends)]
        constants.append(helper.make_tensor(roi, TensorProto.FLOAT, [2 * rank], region))
    elif draw.random() < 0.6:
        scales = [1.0, 1.0] + [draw.choice([0.3, 0.5, 0.6, 0.7, 0.9, 1.0, 1.1, 1.3, 1.5, 1.6, 1.7, 2.0, 2.3, 2.6, 3.0]) for _ in "hw"]
        outs = [int(numpy.float32(s) * numpy.float32(n)) for s, n in zip(scales, shape)]
        last_bit = symmetric and any(near_half_pixels(n, m, s) for n, m, s in zip(shape[2:], outs[2:], scales[2:]))
        if min(outs) < 1 or last_bit or same_by_other_scales(shape, scales):
            return resize_case(draw, index)
        constants.append(helper.make_tensor(f"s{index}", TensorProto.FLOAT, [rank], scales))
        inputs = [f"x{index}", "", f"s{index}"]
    if not constants or roi:
        sizes = shape[:2] + [draw.randint(1, 24), draw.randint(1, 24)]
        rounds = attributes.get("nearest_mode", "").startswith("round")
        if symmetric and any(near_half_pixels(n, m, m / n) for n, m in zip(shape[2:], sizes[2:])):
            return resize_case(draw, index)
        if roi and any(n == m for n, m in zip(shape[2:], sizes[2:])):
            return resize_case(draw, index)
        if rounds and any(on_a_border(transform, n, m) for n, m in zip(shape[2:], sizes[2:])):
            return resize_case(draw, index)
        constants.append(helper.make_tensor(f"n{index}", TensorProto.INT64, [rank], sizes))
        inputs = [f"x{index}", roi, "", f"n{index}"]
    return shape, helper.make_node("Resize", inputs, [f"y{index}"], **attributes), constants


def pool_case(draw, index):
    spatial = draw.randint(1, 2)
    op = draw.choice(["MaxPool", "AveragePool"])
    kernel = [draw.randint(1, 4) for _ in range(spatial)]
    dilation = [draw.randint(1, 2) for _ in range(spatial)]
    strides, ceil = [draw.randint(1, 4) for _ in range(spatial)], draw.randint(0, 1)
    # Rounded up, a window may be larger than its input.
    least = [max(1, (k - 1) * d + 1 - ceil * (s - 1)) for k, d, s in zip(kernel, dilation, strides)]
    shape = [1, draw.randint(1, 3)] + [draw.randint(n, n + 8) for n in least]
    attributes = {"kernel_shape": kernel, "strides": strides, "dilations": dilation, "ceil_mode": ceil}
    fits = all(s <= k for s, k in zip(attributes["strides"], kernel))
    if draw.random() < 0.3 and dilation == [1] * spatial and fits:
        attributes["auto_pad"] = draw.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        attributes["ceil_mode"] = 0
        shape[2:] = [max(n, k) for n, k in zip(shape[2:], kernel)]
    else:
        attributes["pads"] = [draw.randint(0, k - 1) for k in kernel * 2]
    if op == "AveragePool":
        attributes["count_include_pad"] = draw.randint(0, 1)
    return shape, helper.make_node(op, [f"x{index}"], [f"y{index}"], **attributes), []


def cases_of(draw):
    for i in range(NODES):
        shape, node, constants = draw.choice([resize_case, pool_case])(draw, i)
        values = numpy.random.default_rng(draw.randrange(1 << 30)).standard_normal(shape)
        yield Case(node, {f"x{i}": values.astype(numpy.float32)}, constants)


def same(case, got, want):
    tolerance = 1e-4 * max(1.0, float(abs(want).max()))
    return got.shape == want.shape and numpy.allclose(got, want, rtol=1e-4, atol=tolerance)


def main():
    clvet = sys.argv[1]
    count, draw = asked_for(2000)
    counts = Counts()
    with tempfile.TemporaryDirectory() as name:
        while counts.wants(count):
            run_cases(clvet, pathlib.Path(name), list(cases_of(draw)), same, counts, device_options())
    return finish(counts)


if __name__ == "__main__":
    sys.exit(main())
