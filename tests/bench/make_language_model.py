#!/usr/bin/env python3
"""make_language_model.py FOLDER [NAME...]: writes language models of random weights as GGUF files into FOLDER.

They have the shapes of known models: only the time that they take means anything, no token of theirs does. Their tokens
are numbers in brackets. Needs numpy alone, and as much memory as the largest matrix takes.
"""

import argparse
import pathlib
import struct
import sys

import numpy

# Layers, width, heads, key heads, width of the feed-forward part, tokens, and the types of a layer's matrices and of the
# embeddings, which are the head's, too.
SHAPES = {
    "smollm2-135m": (30, 576, 9, 3, 1536, 49152, "Q4_1", "Q8_0"),
    "llama-7b": (32, 4096, 32, 32, 11008, 32000, "Q4_0", "Q8_0"),
}
# GGML's number of a type, and a block's bytes: halves, then what the 32 numbers are packed into.
TYPES = {"F32": (0, 0, 4), "Q4_0": (2, 1, 16), "Q4_1": (3, 2, 16), "Q8_0": (8, 1, 32)}
ALIGN = 32


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def setting(value):
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    if value and isinstance(value[0], int):
        return struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
    return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))


def settings(name):
    layers, width, heads, kv_heads, ff, vocab = SHAPES[name][:6]
    tokens = ["<end>", *(f"[{i}]" for i in range(1, vocab))]
    return {
        "general.architecture": "llama",
        "general.name": f"random weights of the shapes of {name}",
        "llama.block_count": layers,
        "llama.context_length": 4096,
        "llama.embedding_length": width,
        "llama.feed_forward_length": ff,
        "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": kv_heads,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3] + [1] * (vocab - 1),
        "tokenizer.ggml.merges": [],
        "tokenizer.ggml.eos_token_id": 0,
    }


def tensors(name):
    """(name, columns and rows, type): as GGUF writes shapes."""
    layers, width, heads, kv_heads, ff, vocab, matrix, embedding = SHAPES[name]
    kv = width // heads * kv_heads
    yield "token_embd", (width, vocab), embedding
    for i in range(layers):
        for part, shape in {
            "attn_q": (width, width), "attn_k": (width, kv), "attn_v": (width, kv), "attn_output": (width, width),
            "ffn_gate": (width, ff), "ffn_up": (width, ff), "ffn_down": (ff, width),
        }.items():
            yield f"blk.{i}.{part}", shape, matrix
        yield f"blk.{i}.attn_norm", (width,), "F32"
        yield f"blk.{i}.ffn_norm", (width,), "F32"
    yield "output_norm", (width,), "F32"


def size_of(shape, kind):
    _, halves, packed = TYPES[kind]
    count = int(numpy.prod(shape))
    return count * 4 if kind == "F32" else count // 32 * (2 * halves + packed)


def values(shape, kind, random):
    """Of a norm ones; else numbers about zero, as large as a trained layer's."""
    if kind == "F32":
        return numpy.ones(shape, "<f4").tobytes()
    _, halves, packed = TYPES[kind]
    blocks = int(numpy.prod(shape)) // 32
    raw = random.integers(0, 256, (blocks, 2 * halves + packed), numpy.uint8)
    spread = 1 / numpy.sqrt(shape[0])
    scale = spread / (74 if kind == "Q8_0" else 4.6)  # one over the deviation of random integers
    raw[:, :2] = numpy.frombuffer(numpy.float16(scale).tobytes(), numpy.uint8)
    if halves == 2:
        raw[:, 2:4] = numpy.frombuffer(numpy.float16(-7.5 * scale).tobytes(), numpy.uint8)
    return raw.tobytes()


def write(name, path):
    random = numpy.random.default_rng(7)
    pairs, table = settings(name), [(f"{part}.weight", shape, kind) for part, shape, kind in tensors(name)]
    head = b"GGUF" + struct.pack("<IQQ", 3, len(table), len(pairs))
    head += b"".join(text(key) + setting(value) for key, value in pairs.items())
    offset = 0
    for tensor, shape, kind in table:
        head += text(tensor) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, TYPES[kind][0], offset)
        offset += -(-size_of(shape, kind) // ALIGN) * ALIGN
    with open(path, "wb") as file:
        file.write(head.ljust(-(-len(head) // ALIGN) * ALIGN, b"\0"))
        for _, shape, kind in table:
            data = values(shape, kind, random)
            file.write(data.ljust(-(-len(data) // ALIGN) * ALIGN, b"\0"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(SHAPES)} (default: all)")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in SHAPES]:
        sys.exit(f"no shape '{unknown[0]}'; there are {', '.join(SHAPES)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or SHAPES:
        write(name, options.folder / f"{name}.gguf")
        print(options.folder / f"{name}.gguf")


if __name__ == "__main__":
    main()
