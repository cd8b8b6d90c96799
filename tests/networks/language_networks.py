"""Transformers over tokens and patches: attention, masks, caches and positions spelled out as their exporters write them."""

import numpy
from onnx import helper

from exporter import F32, network
from vision_networks import picture

LOWEST = float(numpy.finfo(F32).min)


def tokens(net, count, *shape):
    return net.random.integers(0, count, shape).astype(numpy.int64)


def self_attention(net, x, c, heads, mask=None):
    width = c // heads
    q, k, v = (net.heads(net.linear(x, c, c), heads, width) for _ in range(3))
    return net.linear(net.joined(net.attend(q, k, v, width, mask), c), c, c)


def encoder_mask(net, mask):
    """(1 - mask) * lowest, over two new axes."""
    wide = net.unsqueeze(net.unsqueeze(mask, 1), 2)
    return net("Mul", net("Sub", 1.0, net("Cast", wide, to=1)), LOWEST)


def encoder(net, layers, c, heads):
    """BERT's: positions by a Slice of a constant, norms after the sums."""
    ids = net.input("input_ids", ["batch", "sequence"], tokens(net, 500, 2, 12))
    mask = numpy.ones((2, 12), numpy.int64)
    mask[1, 9:] = 0
    mask = net.input("attention_mask", ["batch", "sequence"], mask)
    kinds = net.input("token_type_ids", ["batch", "sequence"], tokens(net, 2, 2, 12))
    length = net.size(ids, 1)
    positions = net("Slice", net.initializer(numpy.arange(64, dtype=numpy.int64)[None]), net.const([0]),
                    net.unsqueeze(length, 0), net.const([1]), net.const([1]))
    x = net("Add", net("Gather", net.weight(500, c, scale=0.5), ids), net("Gather", net.weight(2, c, scale=0.5), kinds))
    x = net("Add", x, net("Gather", net.weight(64, c, scale=0.5), positions))
    x = net.layer_norm(x, c, 1e-12)
    added = encoder_mask(net, mask)
    for _ in range(layers):
        x = net.layer_norm(net("Add", self_attention(net, x, c, heads, added), x), c, 1e-12)
        y = net.linear(net.gelu(net.linear(x, c, 4 * c)), 4 * c, c)
        x = net.layer_norm(net("Add", y, x), c, 1e-12)
    return x, mask


@network(opset=14, quick=True)
def bert(net):
    x, _ = encoder(net, 4, 64, 4)
    net.output("last_hidden_state", x, ["batch", "sequence", 64])
    first = net("Gather", x, net.const(0), axis=1)
    net.output("pooler_output", net("Tanh", net.gemm(first, 64, 64)), ["batch", 64])


@network(opset=11)
def minilm(net):
    """Sentence embedding: the mean over what the mask leaves, by Expand, then of length one."""
    x, mask = encoder(net, 3, 48, 6)
    wide = net("Cast", net("Expand", net.unsqueeze(mask, -1), net("Shape", x)), to=1)
    total = net.reduce("ReduceSum", net("Mul", x, wide), [1], 0)
    count = net("Clip", net.reduce("ReduceSum", wide, [1], 0), net.const(1e-9), "")
    y = net("Div", total, count)
    length = net.reduce("ReduceL2", y, [1])
    length = net("Expand", net("Clip", length, net.const(1e-12), ""), net("Shape", y))
    net.output("sentence_embedding", net("Div", y, length), ["batch", 48])


@network(opset=13, steps=4)
def gpt2(net):
    """With past keys and values of each layer as inputs and outputs; the causal mask is a Slice of a table of booleans."""
    layers, c, heads, count = 3, 48, 4, 300
    width = c // heads
    ids = net.input("input_ids", ["batch", "sequence"], [tokens(net, count, 1, n) for n in (5, 1, 1, 1)])
    pasts = []
    for i in range(layers):
        for part in ("key", "value"):
            name = f"past_key_values.{i}.{part}"
            pasts.append(net.input(name, ["batch", heads, "past", width], numpy.zeros((1, heads, 0, width), F32)))
    longs = [numpy.ones((1, n), numpy.int64) for n in (5, 6, 7, 8)]
    mask = net.input("attention_mask", ["batch", "past + sequence"], longs)
    past, length = net.size(pasts[0], 2), net.size(ids, 1)
    positions = net("Range", past, net("Add", past, length), net.const(1))
    positions = net.reshape(net.unsqueeze(positions, 0), -1, length)
    table = net.weight(count, c, scale=0.5)
    x = net("Add", net("Gather", table, ids), net("Gather", net.weight(64, c, scale=0.2), positions))
    added = encoder_mask(net, mask)
    causal = net.initializer(numpy.tril(numpy.ones((1, 1, 64, 64), bool)))
    for i in range(layers):
        y = net.layer_norm(x, c)
        flat = net.reshape(y, -1, c)
        flat = net("Gemm", flat, net.weight(c, 3 * c, scale=c**-0.5), net.weight(3 * c), alpha=1.0, beta=1.0)
        y = net.reshape(flat, *[net.size(y, axis) for axis in (0, 1)], 3 * c)
        q, k, v = (net.heads(part, heads, width) for part in net.split(y, [c] * 3, 2))
        k, v = net("Concat", pasts[2 * i], k, axis=-2), net("Concat", pasts[2 * i + 1], v, axis=-2)
        net.feedback[f"present.{i}.key"], net.feedback[f"present.{i}.value"] = f"past_key_values.{i}.key", f"past_key_values.{i}.value"
        net.output(f"present.{i}.key", k, ["batch", heads, "past + sequence", width])
        net.output(f"present.{i}.value", v, ["batch", heads, "past + sequence", width])
        scores = net("Div", net("MatMul", q, net.transpose(k, 0, 1, 3, 2)), float(width**0.5))
        whole, own = net.size(scores, -1), net.size(scores, -2)
        seen = net.slice(causal, net.unsqueeze(net("Sub", whole, own), 0), net.unsqueeze(whole, 0), 2)
        seen = net.slice(seen, 0, net.unsqueeze(whole, 0), 3)
        scores = net("Add", net("Where", seen, scores, LOWEST), added)
        y = net.joined(net("MatMul", net("Softmax", scores, axis=-1), v), c)
        x = net("Add", net.linear(y, c, c), x)
        y = net.linear(net.gelu_tanh(net.linear(net.layer_norm(x, c), c, 4 * c)), 4 * c, c)
        x = net("Add", x, y)
    x = net.layer_norm(x, c)
    net.output("logits", net("MatMul", x, net.transpose(table, 1, 0)), ["batch", "sequence", count])


def rms(net, x, c):
    y = net.reduce("ReduceMean", net("Pow", x, 2.0), [-1])
    y = net("Div", 1.0, net("Sqrt", net("Add", y, 1e-6)))
    return net("Mul", net.weight(c, scale=0.1, mean=1.0), net("Mul", x, y))


def buckets(net, queries, keys, heads, both_ways):
    """T5's relative positions: logarithmic beyond half the buckets, by Log, Cast, Min, Where, Less."""
    i = net.unsqueeze(net("Range", 0, queries, 1), 1)
    j = net.unsqueeze(net("Range", 0, keys, 1), 0)
    apart = net("Sub", j, i)
    count = 32
    base = 0
    if both_ways:
        count = 16
        base = net("Mul", net("Cast", net("Greater", apart, 0), to=7), 16)
        apart = net("Abs", apart)
    else:
        apart = net("Neg", net("Min", apart, net("Expand", net.const(0), net("Shape", apart))))
    small = net("Less", apart, count // 2)
    far = net("Log", net("Div", net("Cast", apart, to=1), float(count // 2)))
    far = net("Mul", net("Div", far, float(numpy.log(128 / (count // 2)))), float(count - count // 2))
    far = net("Add", net("Cast", far, to=7), count // 2)
    far = net("Min", far, net("ConstantOfShape", net("Shape", far), value=helper.make_tensor("value", 7, [1], [count - 1])))
    places = net("Where", small, apart, far)
    places = net("Add", base, places) if both_ways else places
    bias = net("Gather", net.weight(32, heads, scale=0.5), places, axis=0)
    return net.unsqueeze(net.transpose(bias, 2, 0, 1), 0)


def t5_attention(net, x, c, heads, bias, memory=None):
    width = c // heads
    source = x if memory is None else memory
    part = lambda y: net.transpose(net.reshape(net("MatMul", y, net.weight(c, c)), net.size(y, 0), -1, heads, width), 0, 2, 1, 3)
    scores = net("Add", net("MatMul", part(x), net.transpose(part(source), 0, 1, 3, 2)), bias)
    y = net.transpose(net("MatMul", net("Softmax", scores, axis=-1), part(source)), 0, 2, 1, 3)
    return net("MatMul", net.reshape(y, net.size(x, 0), -1, c), net.weight(c, c))


def t5_feed(net, x, c):
    return net("MatMul", net("Relu", net("MatMul", x, net.weight(c, 4 * c))), net.weight(4 * c, c))


@network(opset=13)
def t5_encoder(net):
    c, heads = 48, 6
    ids = net.input("input_ids", ["batch", "encoder_sequence"], tokens(net, 200, 2, 23))
    mask = numpy.ones((2, 23), numpy.int64)
    mask[0, 20:] = 0
    mask = net.input("attention_mask", ["batch", "encoder_sequence"], mask)
    x = net("Gather", net.weight(200, c, scale=1.0), ids)
    length = net.size(ids, 1)
    bias = net("Add", buckets(net, length, length, heads, True), encoder_mask(net, mask))
    for _ in range(3):
        x = net("Add", x, t5_attention(net, rms(net, x, c), c, heads, bias))
        x = net("Add", x, t5_feed(net, rms(net, x, c), c))
    net.output("hidden_states", rms(net, x, c), ["batch", "encoder_sequence", c])


@network(opset=13)
def t5_decoder(net):
    """Causal mask by LessOrEqual over Range, Unsqueeze and Expand."""
    c, heads = 48, 6
    ids = net.input("input_ids", ["batch", "decoder_sequence"], tokens(net, 200, 2, 7))
    memory = net.input("encoder_hidden_states", ["batch", "encoder_sequence", c], net.random.standard_normal((2, 11, c)).astype(F32))
    mask = net.input("encoder_attention_mask", ["batch", "encoder_sequence"], numpy.ones((2, 11), numpy.int64))
    x = net("Gather", net.weight(200, c, scale=1.0), ids)
    length = net.size(ids, 1)
    places = net("Range", 0, length, 1)
    square = net.dims(net.size(ids, 0), length, length)
    seen = net("LessOrEqual", net("Expand", net.unsqueeze(net.unsqueeze(places, 0), 0), square), net.unsqueeze(places, 1))
    seen = net("Cast", net.unsqueeze(seen, 1), to=1)
    bias = net("Add", buckets(net, length, length, heads, False), net("Mul", net("Sub", 1.0, seen), LOWEST))
    cross = encoder_mask(net, mask)
    for _ in range(2):
        x = net("Add", x, t5_attention(net, rms(net, x, c), c, heads, bias))
        x = net("Add", x, t5_attention(net, rms(net, x, c), c, heads, cross, memory))
        x = net("Add", x, t5_feed(net, rms(net, x, c), c))
    y = net("Mul", rms(net, x, c), c**-0.5)
    net.output("logits", net("MatMul", y, net.weight(c, 200)), ["batch", "decoder_sequence", 200])


@network(opset=20)
def vit(net):
    c, heads = 48, 4
    x = net.input("pixel_values", ["batch", 3, 48, 48], picture(net, 2, 3, 48, 48))
    y = net.conv(x, 3, c, 8, 8, 0)
    y = net.transpose(net.reshape(y, net.size(y, 0), c, -1), 0, 2, 1)
    first = net.initializer((0.5 * net.random.standard_normal((1, 1, c))).astype(F32))
    # expand(batch, -1, -1): -1 is replaced where it stands.
    wanted = net.dims(net.size(y, 0), -1, -1)
    ones = net("ConstantOfShape", net("Shape", wanted), value=helper.make_tensor("value", 7, [1], [1]))
    wanted = net("Where", net("Equal", wanted, net("Mul", ones, -1)), ones, wanted)
    y = net("Concat", net("Expand", first, wanted), y, axis=1)
    y = net("Add", y, net.initializer((0.2 * net.random.standard_normal((1, 37, c))).astype(F32)))
    for _ in range(4):
        y = net("Add", y, self_attention(net, net.layer_norm(y, c, 1e-12), c, heads))
        y = net("Add", y, net.linear(net.gelu(net.linear(net.layer_norm(y, c, 1e-12), c, 4 * c)), 4 * c, c))
    y = net("Gather", net.layer_norm(y, c, 1e-12), net.const(0), axis=1)
    net.output("logits", net.gemm(y, c, 100), ["batch", 100])


@network(opset=15)
def detr_like(net):
    """Learnt queries, tiled to the batch; attention over a picture's places with packed projections; boxes by Sigmoid."""
    c, heads, queries = 48, 4, 10
    x = net.input("pixel_values", ["batch", 3, "height", "width"], picture(net, 1, 3, 64, 48))
    x = net("Relu", net.conv(net("Relu", net.conv(x, 3, 24, 3, 4)), 24, c, 3, 4))
    batch = net.size(x, 0)
    memory = net.transpose(net.reshape(x, batch, c, -1), 2, 0, 1)
    target = net("Tile", net.unsqueeze(net.weight(queries, c, scale=1.0), 1), net.dims(1, batch, 1))

    def packed(q, kv):  # torch.nn.MultiheadAttention: [length, batch, c], batch and heads as one axis
        width = c // heads
        part = lambda y: net.transpose(net.reshape(net.linear(y, c, c), net.size(y, 0), net("Mul", batch, heads), width), 1, 0, 2)
        a, k, v = net("Mul", part(q), width**-0.5), part(kv), part(kv)
        y = net("MatMul", net("Softmax", net("MatMul", a, net.transpose(k, 0, 2, 1)), axis=-1), v)
        y = net.reshape(net.transpose(y, 1, 0, 2), net("Mul", net.size(q, 0), batch), c)
        return net.reshape(net.gemm(y, c, c), net.size(q, 0), batch, c)

    for _ in range(2):
        target = net.layer_norm(net("Add", target, packed(target, target)), c)
        target = net.layer_norm(net("Add", target, packed(target, memory)), c)
        target = net.layer_norm(net("Add", target, net.linear(net("Relu", net.linear(target, c, 96)), 96, c)), c)
    y = net.transpose(target, 1, 0, 2)
    net.output("logits", net.linear(y, c, 7), ["batch", queries, 7])
    net.output("pred_boxes", net("Sigmoid", net.linear(y, c, 4)), ["batch", queries, 4])
