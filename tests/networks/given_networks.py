"""Networks that are files: those of onnx's own tests whose weights are one number each, and trained ones."""

import pathlib

import numpy
import onnx
from PIL import Image

from exporter import F32, NETWORKS, Network


class GivenNetwork(Network):
    """`file`: its path, or None where it is not there; `fill(feeds, random)` gives its inputs, as Net.feeds has them."""

    def __init__(self, name, file, fill, feedback=None, quick=False, **bounds):
        super().__init__(name, None, 0, quick, **bounds)
        self.file, self.fill, self.feedback = file, fill, feedback or {}


def given(name, file, fill, feedback=None, **bounds):
    NETWORKS[name] = GivenNetwork(name, file, fill, feedback, **bounds)


def light(path):
    """Its weights are made by ConstantOfShape; what it takes beside them is a picture."""

    def fill(feeds, random):
        graph = onnx.load(path).graph
        held = {tensor.name for tensor in graph.initializer}
        for value in graph.input:
            if value.name in held:
                continue
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            feeds[value.name] = random.uniform(0, 1, shape).astype(onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))

    given(path.stem, path, fill, quick=path.stem == "light_squeezenet")


for light_path in sorted((pathlib.Path(onnx.__file__).parent / "backend/test/data/light").glob("*.onnx")):
    light(light_path)


def trained(name, file, shapes, steps=1, feedback=None, **bounds):
    """`shapes`: by input, its shape and how its values are drawn. What is not fed back is new in each step."""

    def fill(feeds, random):
        for name, (shape, draw) in shapes.items():
            changes = steps > 1 and name not in (feedback or {}).values() and shape
            feeds[name] = [draw(random, shape) for _ in range(steps)] if changes else draw(random, shape)

    given(name, file, fill, feedback, steps=steps, **bounds)


def normal(random, shape):
    return random.standard_normal(shape).astype(F32)


def faint(random, shape):
    return (0.1 * random.standard_normal(shape)).astype(F32)


def zeros(random, shape):
    return numpy.zeros(shape, F32)


def bytes_of_text(random, shape):
    return random.integers(0, 256, shape).astype(numpy.int32)


def pixels(random, shape):
    return random.uniform(0, 255, shape).astype(F32)


def page(random, shape):
    """A rendered page, as a detector gets it: on noise it finds nothing, and nothing has no error."""
    picture = Image.open(pathlib.Path(__file__).resolve().parents[1] / "data/images/page.png").convert("RGB").resize(shape[:1:-1])
    return ((numpy.asarray(picture, F32) / 255 - 0.5) / 0.5).transpose(2, 0, 1)[None].copy()


def wide(random, shape):
    return random.uniform(0, 1, shape).astype(F32)


def rate(random, shape):
    return numpy.array(16000, numpy.int64)


SILERO = {"input": ((1, 576), faint), "state": ((2, 1, 128), zeros)}
BACK = {"stateN": "state"}
trained("silero", "silero_vad_openvino_16k.onnx", SILERO, steps=100, feedback=BACK)
trained("silero_sequence", "silero_vad_16k_sequence.onnx",
        {"input": ((3, 576), faint), "h": ((1, 1, 128), zeros), "c": ((1, 1, 128), zeros)}, steps=34, feedback={"hn": "h", "cn": "c"})
trained("silero_half", "silero_vad_half.onnx", SILERO, steps=100, feedback=BACK)
for version in ("silero_vad.onnx", "silero_vad_16k_op15.onnx", "silero_vad_op18_ifless.onnx"):
    trained(version.removesuffix(".onnx"), version, {**SILERO, "sr": ((), rate)}, steps=100, feedback=BACK)
trained("magika", "magika.onnx", {"bytes": ((1, 2048), bytes_of_text)})
trained("yolox", "yolox.onnx", {"images": ((1, 3, 416, 416), pixels)})
trained("ddddocr", "ddddocr_common.onnx", {"input1": ((1, 1, 64, 160), wide)})
trained("ddddocr_int8", "ddddocr_common_old.onnx", {"input1": ((1, 1, 64, 160), wide)}, steps_of_input=True)
trained("pp_ocr_det", "ch_PP-OCRv4_det_infer.onnx", {"x": ((1, 3, 320, 224), page)}, map_over=0.3)
trained("pp_ocr_rec", "ch_PP-OCRv4_rec_infer.onnx", {"x": ((2, 3, 48, 160), normal)})
trained("pp_ocr_cls", "ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": ((2, 3, 48, 192), normal)}, quick=True)
