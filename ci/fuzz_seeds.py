"""ci/fuzz_seeds.py FOLDER: small right files of each kind that clvet reads, as FOLDER/<reader>/*. Reports and plans are made by
ci/fuzz.sh. Needs the python of `bash ci/setup.sh --test`."""

import pathlib
import shutil
import struct
import sys

import numpy
import onnx
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[1]
LARGEST = 4096  # bytes of a model


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf():
    """A header, one entry of each kind, and a tensor of f32."""
    entries = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("general.alignment") + struct.pack("<II", 4, 32),
        text("llama.rope.freq_base") + struct.pack("<If", 6, 10000.0),
        text("tokenizer.ggml.add_bos_token") + struct.pack("<IB", 7, 1),
        text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b"),
    ]
    head = struct.pack("<IIQQ", 0x46554747, 3, 1, len(entries)) + b"".join(entries)
    head += text("token_embd.weight") + struct.pack("<IQQIQ", 2, 4, 2, 0, 0)
    return head + bytes(-len(head) % 32) + numpy.arange(8, dtype=numpy.float32).tobytes()


def main():
    out = pathlib.Path(sys.argv[1])
    for reader in ("gguf", "image", "npy", "onnx", "plan", "report"):
        (out / reader).mkdir(parents=True, exist_ok=True)
    (out / "gguf/small.gguf").write_bytes(gguf())
    for dtype in ("f4", "f2", "i8", "u1", "?"):
        numpy.save(out / f"npy/{dtype.replace('?', 'bool')}.npy", numpy.ones([2, 3], dtype))
    for mode in ("L", "RGB", "RGBA", "P"):
        picture = Image.new(mode, (9, 5), 7)
        picture.save(out / f"image/{mode}.png")
        if mode in ("L", "RGB"):
            picture.save(out / f"image/{mode}.jpg")
            picture.save(out / f"image/{mode}-progressive.jpg", progressive=True)
    shutil.copy(ROOT / "tests/data/images/text-1.png", out / "image")
    for model in (pathlib.Path(onnx.__file__).parent / "backend/test/data/node").glob("*/model.onnx"):
        if model.stat().st_size <= LARGEST:
            shutil.copy(model, out / f"onnx/{model.parent.name}.onnx")


main()
