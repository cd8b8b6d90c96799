"""The networks that the programs of this folder run: file in the models' folder, inputs by name (shape, type)."""

import numpy

NETWORKS = {
    "det": ("ch_PP-OCRv4_det_infer.onnx", {"x": ((1, 3, 640, 640), "float32")}),
    "rec": ("ch_PP-OCRv4_rec_infer.onnx", {"x": ((1, 3, 48, 320), "float32")}),
    "cls": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": ((1, 3, 48, 192), "float32")}),
    "yolox": ("yolox.onnx", {"images": ((1, 3, 416, 416), "float32")}),
    "magika": ("magika.onnx", {"bytes": ((1, 2048), "int32")}),
    "vad": ("silero_vad_openvino_16k.onnx", {"input": ((1, 576), "float32"), "state": ((2, 1, 128), "float32")}),
    "vad_sequence": (
        "silero_vad_16k_sequence.onnx",
        {"input": ((4, 576), "float32"), "h": ((1, 1, 128), "float32"), "c": ((1, 1, 128), "float32")},
    ),
}


def saved_inputs(folder, inputs):
    random = numpy.random.default_rng(3)
    arguments = []
    for name, (shape, dtype) in inputs.items():
        values = random.integers(0, 256, shape) if dtype == "int32" else random.normal(0, 1, shape)
        numpy.save(f"{folder}/{name}.npy", values.astype(dtype))
        arguments += ["--input", f"{name}={folder}/{name}.npy"]
    return arguments
