"""Speech and sound: one spatial axis, recurrent layers, lengths that are found at run time."""

import numpy
from onnx import TensorProto, helper

from exporter import F32, network
from language_networks import tokens


def sound(net, *shape):
    return net.random.standard_normal(shape).astype(F32)


def attention(net, x, c, heads, memory=None, mask=None):
    """Whisper's: scaled queries, keys without a bias."""
    width, source = c // heads, x if memory is None else memory
    q = net("Mul", net.linear(x, c, c), width**-0.5)
    k, v = net.linear(source, c, c, bias=False), net.linear(source, c, c)
    q, k, v = (net.heads(part, heads, width) for part in (q, k, v))
    scores = net("MatMul", q, net.transpose(k, 0, 1, 3, 2))
    scores = net("Add", scores, mask) if mask is not None else scores
    return net.linear(net.joined(net("MatMul", net("Softmax", scores, axis=-1), v), c), c, c)


def feed(net, x, c):
    return net.linear(net.gelu(net.linear(net.layer_norm(x, c), c, 4 * c)), 4 * c, c)


@network(opset=17)
def whisper_encoder(net):
    c, heads = 48, 4
    x = net.input("input_features", ["batch", 20, 60], sound(net, 2, 20, 60))
    x = net.gelu(net.conv(x, 20, c, 3, axes=1))
    x = net.gelu(net.conv(x, c, c, 3, 2, axes=1))
    x = net("Add", net.transpose(x, 0, 2, 1), net.weight(30, c, scale=0.3))
    for _ in range(3):
        x = net("Add", x, attention(net, net.layer_norm(x, c), c, heads))
        x = net("Add", x, feed(net, x, c))
    net.output("last_hidden_state", net.layer_norm(x, c), ["batch", 30, c])


@network(opset=14, steps=3)
def whisper_decoder(net):
    """Its own cache grows; that of the encoder's answer is an input. Trilu makes the causal mask."""
    c, heads, width, count = 48, 4, 12, 150
    ids = net.input("decoder_input_ids", ["batch", "decoder_sequence"], [tokens(net, count, 1, n) for n in (4, 1, 1)])
    memory = net.input("encoder_hidden_states", ["batch", "frames", c], sound(net, 1, 30, c))
    pasts = [net.input(f"past_key_values.{i}.{part}", ["batch", heads, "past", width], numpy.zeros((1, heads, 0, width), F32))
             for i in range(2) for part in ("key", "value")]
    length, past = net.size(ids, 1), net.size(pasts[0], 2)
    whole = net("Add", past, length)
    table = net.weight(count, c, scale=0.5)
    places = net("Slice", net.weight(64, c, scale=0.3), net.unsqueeze(past, 0), net.unsqueeze(whole, 0), net.const([0]), net.const([1]))
    x = net("Add", net("Gather", table, ids), places)
    blocked = net("Expand", float("-inf"), net.dims(whole, whole))
    mask = net("Trilu", blocked, 1, upper=1)
    mask = net("Where", net("Equal", mask, float("-inf")), LOW, 0.0)
    mask = net.slice(mask, net.unsqueeze(past, 0), net.unsqueeze(whole, 0), 0)
    for i in range(2):
        y = net.layer_norm(x, c)
        q = net.heads(net("Mul", net.linear(y, c, c), width**-0.5), heads, width)
        k, v = net.heads(net.linear(y, c, c, bias=False), heads, width), net.heads(net.linear(y, c, c), heads, width)
        k, v = net("Concat", pasts[2 * i], k, axis=2), net("Concat", pasts[2 * i + 1], v, axis=2)
        for part, value in (("key", k), ("value", v)):
            net.feedback[f"present.{i}.{part}"] = f"past_key_values.{i}.{part}"
            net.output(f"present.{i}.{part}", value, ["batch", heads, "past + decoder_sequence", width])
        scores = net("Add", net("MatMul", q, net.transpose(k, 0, 1, 3, 2)), mask)
        x = net("Add", x, net.linear(net.joined(net("MatMul", net("Softmax", scores, axis=-1), v), c), c, c))
        x = net("Add", x, attention(net, net.layer_norm(x, c), c, heads, memory))
        x = net("Add", x, feed(net, x, c))
    x = net.layer_norm(x, c)
    net.output("logits", net("MatMul", x, net.transpose(table, 1, 0)), ["batch", "decoder_sequence", count])


LOW = float(numpy.finfo(F32).min)


def gru(net, x, state, inputs, hidden, both=False, length="", linear_before_reset=1):
    directions = 2 if both else 1
    w = net.weight(directions, 3 * hidden, inputs, scale=inputs**-0.5)
    r = net.weight(directions, 3 * hidden, hidden, scale=hidden**-0.5)
    b = net.weight(directions, 6 * hidden, scale=0.1)
    return net("GRU", x, w, r, b, length, state, n=2, hidden_size=hidden, linear_before_reset=linear_before_reset,
               direction="bidirectional" if both else "forward")


@network(opset=11, steps=100, quick=True)
def gru_denoiser(net):
    """A frame at a time, its state fed back. Convolution over frequencies, a mask of the spectrum."""
    bins, hidden = 33, 32
    x = net.input("spectrum", ["batch", 1, bins, 2], [sound(net, 1, 1, bins, 2) for _ in range(100)])
    state = net.input("state", [2, "batch", hidden], numpy.zeros((2, 1, hidden), F32))
    power = net("Log", net("Add", net.reduce("ReduceSum", net("Mul", x, x), [-1], 0), 1e-3))
    y = net("Relu", net.conv(power, 1, 8, 5, 2, axes=1))
    y = net("Relu", net.conv(y, 8, 16, 3, 2, axes=1))
    y = net.reshape(y, net.size(y, 0), -1)
    y = net.unsqueeze(net.linear(y, 16 * 9, hidden), 0)
    states = []
    for i in range(2):
        before = net.slice(state, i, i + 1, 0)
        y, last = gru(net, y, before, hidden, hidden)
        y = net.squeeze(y, 1)
        states.append(last)
    mask = net("Sigmoid", net.linear(net.transpose(y, 1, 0, 2), hidden, bins))
    net.feedback["next_state"] = "state"
    net.output("enhanced", net("Mul", x, net.unsqueeze(mask, 3)), ["batch", 1, bins, 2])
    net.output("next_state", net("Concat", *states, axis=0), [2, "batch", hidden])


@network(opset=14)
def gru_enhancement(net):
    """All frames at once, in both directions."""
    x = net.input("frames", ["batch", "time", 20], sound(net, 2, 35, 20))
    y, inputs = net.transpose(x, 1, 0, 2), 20
    for linear_before_reset in (1, 0):
        zeros = net("ConstantOfShape", net.dims(2, net.size(x, 0), 24), value=helper.make_tensor("value", 1, [1], [0.0]))
        y, _ = gru(net, y, zeros, inputs, 24, True, linear_before_reset=linear_before_reset)
        y = net.transpose(y, 0, 2, 1, 3)
        y = net("Reshape", y, net.const([0, 0, -1]))
        inputs = 48
    mask = net("Sigmoid", net.linear(net.transpose(y, 1, 0, 2), 48, 20))
    net.output("clean", net("Mul", mask, x), ["batch", "time", 20])


@network(opset=12)
def lstm_text_recogniser(net):
    """A CRNN. Its squeeze of the height stands in an If, as torch scripts write it where the height may be another."""
    x = net.input("input", ["batch", 1, 32, "width"], sound(net, 2, 1, 32, 100))
    relu = lambda y: net("Relu", y)
    pool = lambda y, s, p: net("MaxPool", y, kernel_shape=[2, 2], strides=s, pads=p)
    x = pool(relu(net.conv(x, 1, 16, 3)), [2, 2], [0] * 4)
    x = pool(relu(net.conv(x, 16, 32, 3)), [2, 2], [0] * 4)
    x = relu(net.batch_norm(net.conv(x, 32, 48, 3), 48))
    x = pool(x, [2, 1], [0, 1, 0, 1])
    x = pool(relu(net.conv(x, 48, 48, 3)), [2, 1], [0, 1, 0, 1])
    x = relu(net.batch_norm(net.conv(x, 48, 64, 2, p=0), 64))
    is_one = net("Equal", net.size(x, 2), 1)
    x = squeezed_if(net, x, is_one)
    x, inputs, hidden = net.transpose(x, 2, 0, 1), 64, 32
    for _ in range(2):
        zeros = net("ConstantOfShape", net.dims(2, net.size(x, 1), hidden), value=helper.make_tensor("value", 1, [1], [0.0]))
        w, r = net.weight(2, 4 * hidden, inputs, scale=0.2), net.weight(2, 4 * hidden, hidden, scale=0.2)
        y, _, _ = net("LSTM", x, w, r, net.weight(2, 8 * hidden), "", zeros, zeros, n=3, hidden_size=hidden, direction="bidirectional")
        y = net.reshape(net.transpose(y, 0, 2, 1, 3), net.size(y, 0), net.size(y, 2), 2 * hidden)
        x, inputs = net.linear(y, 2 * hidden, 32), 32
    net.output("probabilities", net("LogSoftmax", net.linear(x, 32, 37), axis=2), ["time", "batch", 37])


def squeezed_if(net, x, condition):
    def branch(name, node):
        out = helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, None)
        return helper.make_graph([node], name, [], [out])

    squeeze = {"axes": [2]} if net.opset < 13 else {}
    then = branch("then", helper.make_node("Squeeze", [x], ["squeezed_" + str(net.count)], **squeeze))
    other = branch("else", helper.make_node("Identity", [x], ["kept_" + str(net.count)]))
    return net("If", condition, then_branch=then, else_branch=other)
