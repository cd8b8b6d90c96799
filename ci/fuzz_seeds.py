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


def wav(tag, bits, channels, extensible=False, length=None):
    """A chunk that no reader knows, a format, and eight samples; `length`: what the header says in place of the truth."""
    frame = channels * bits // 8
    form = struct.pack("<HHIIHH", 0xFFFE if extensible else tag, channels, 16000, 16000 * frame, frame, bits)
    if extensible:
        form += struct.pack("<HHIH", 22, bits, 3, tag) + bytes.fromhex("000000001000800000aa00389b71")
    data = bytes(range(8 * frame)) if tag == 1 else numpy.linspace(-1, 1, 8 * channels).astype(f"f{bits // 8}").tobytes()
    said = len(data) if length is None else length
    chunks = b"LIST" + struct.pack("<I", 3) + b"odd\0fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", said) + data
    return b"RIFF" + struct.pack("<I", 4 + len(chunks) if length is None else length) + b"WAVE" + chunks


def main():
    out = pathlib.Path(sys.argv[1])
    for reader in ("gguf", "image", "npy", "onnx", "plan", "report", "wav"):
        (out / reader).mkdir(parents=True, exist_ok=True)
    (out / "gguf/small.gguf").write_bytes(gguf())
    for dtype in ("f4", "f2", "i8", "u1", "?"):
        numpy.save(out / f"npy/{dtype.replace('?', 'bool')}.npy", numpy.ones([2, 3], dtype))
    for bits in (8, 16, 24, 32):
        (out / f"wav/pcm{bits}.wav").write_bytes(wav(1, bits, 2))
    for bits in (32, 64):
        (out / f"wav/float{bits}.wav").write_bytes(wav(3, bits, 1))
    (out / "wav/extensible.wav").write_bytes(wav(1, 24, 2, extensible=True))
    (out / "wav/pipe.wav").write_bytes(wav(1, 16, 1, length=0xFFFFFFFF))
    ds64 = b"ds64" + struct.pack("<IQQQI", 28, 100, 16, 8, 0)
    (out / "wav/rf64.wav").write_bytes(b"RF64" + bytes.fromhex("ffffffff") + b"WAVE" + ds64 + wav(1, 16, 1, length=0xFFFFFFFF)[12:])
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
