"""Small models as files, and child processes, for the tests of this folder."""

import os
import pathlib
import struct
import subprocess
import sys
import textwrap

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
CLS = os.path.join(os.environ["CLVET_MODELS"], "ch_ppocr_mobile_v2.0_cls_infer.onnx")


def write_network(path, nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(value, name) for name, value in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, path)
    return str(path)


def write_doubling(folder):
    """y = 2 x, of two columns and any number of rows, float32; and m = n, int64 [2]."""
    nodes = [helper.make_node("Mul", ["x", "k"], ["y"]), helper.make_node("Identity", ["n"], ["m"])]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 2]),
        helper.make_tensor_value_info("n", TensorProto.INT64, [2]),
    ]
    outputs = [
        helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 2]),
        helper.make_tensor_value_info("m", TensorProto.INT64, [2]),
    ]
    return write_network(pathlib.Path(folder) / "doubling.onnx", nodes, inputs, outputs, [("k", np.array([2], np.float32))])


def write_passing(folder, onnx_type, name):
    """y = x of any number of elements."""
    x = helper.make_tensor_value_info("x", onnx_type, ["n"])
    y = helper.make_tensor_value_info("y", onnx_type, ["n"])
    return write_network(pathlib.Path(folder) / f"{name}.onnx", [helper.make_node("Identity", ["x"], ["y"])], [x], [y])


def write_long(folder, layers=3000, width=64):
    """y = x turned by one column, `layers` times."""
    nodes = [helper.make_node("MatMul", ["x" if i == 0 else f"t{i}", "w"], ["y" if i == layers - 1 else f"t{i + 1}"]) for i in range(layers)]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", width])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", width])
    turn = np.roll(np.eye(width, dtype=np.float32), 1, axis=1)
    return write_network(pathlib.Path(folder) / "long.onnx", nodes, [x], [y], [("w", turn)])


def gguf_text(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf_value(value):
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + gguf_text(value)
    if value and isinstance(value[0], int):
        return struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
    return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(gguf_text, value))


def write_language_model(folder, width=32, layers=2, heads=2, kv_heads=1, ff=32, ends=True):
    """A llama of random weights whose tokens are letters; where texts are to end, 0 ends one."""
    head, vocab = 16, 7
    pairs = {
        "general.architecture": "llama",
        "llama.block_count": layers,
        "llama.embedding_length": width,
        "llama.feed_forward_length": ff,
        "llama.context_length": 4096,
        "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": kv_heads,
        "llama.attention.layer_norm_rms_epsilon": 1e-6,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.tokens": ["<|im_end|>" if ends else "a", *"bcdefg"],
        "tokenizer.ggml.token_type": [3 if ends else 1, 1, 1, 1, 1, 1, 1],
        "tokenizer.ggml.merges": [],
        **({"tokenizer.ggml.eos_token_id": 0} if ends else {}),
        "tokenizer.chat_template": "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
        "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    }
    shapes = {"token_embd.weight": (width, vocab), "output_norm.weight": (width,)}
    for i in range(layers):
        rows = {"attn_norm": (width,), "attn_q": (width, heads * head), "attn_k": (width, kv_heads * head),
                "attn_v": (width, kv_heads * head), "attn_output": (heads * head, width), "ffn_norm": (width,),
                "ffn_gate": (width, ff), "ffn_up": (width, ff), "ffn_down": (ff, width)}
        shapes.update({f"blk.{i}.{name}.weight": shape for name, shape in rows.items()})
    numbers = np.random.default_rng(7)
    out = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(pairs))
    out += b"".join(gguf_text(key) + gguf_value(value) for key, value in pairs.items())
    data = b""
    for name, shape in shapes.items():
        out += gguf_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        values = numbers.random(shape[::-1], np.float32) - 0.5 + ("norm" in name)
        data += values.astype("<f4").tobytes().ljust(-(-values.nbytes // 32) * 32, b"\0")
    path = pathlib.Path(folder) / ("letters.gguf" if ends else "endless.gguf")
    path.write_bytes(out.ljust(-(-len(out) // 32) * 32, b"\0") + data)
    return str(path)


def child(code, *arguments, **options):
    """A Python process that runs `code`, with the same switches as this one."""
    command = [sys.executable, "-W", "error", "-X", "faulthandler", "-c", textwrap.dedent(code), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{HERE}"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options)
