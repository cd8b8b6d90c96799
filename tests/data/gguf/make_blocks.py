"""python3 make_blocks.py > blocks.json: blocks of each GGUF tensor type with the values that they mean.

Works from values to bytes: draws quants and scales, states the weights by the formula of the type, and packs them as the
published layouts say. The reader under test goes the other way. Weights are exact in float64.
"""
import json
import random
import struct

random.seed(20261121)


def half(bits):
    return struct.unpack("<e", struct.pack("<H", bits))[0]


def draw_half():
    """Bits of a finite half: usual scales, subnormals, signs."""
    return random.choice([random.randrange(0x0001, 0x3C00), random.randrange(0x0001, 0x0400), random.randrange(0x8001, 0xBC00)])


def word(bits):
    return struct.pack("<H", bits)


def nibbles(q):
    """16 bytes of 32 quants: element i below element i + 16."""
    return bytes(q[i] & 15 | (q[i + 16] & 15) << 4 for i in range(16))


def fifth_bits(q):
    return struct.pack("<I", sum((q[i] >> 4 & 1) << i for i in range(32)))


def q4_0(q, d):
    return word(d) + nibbles(q), [half(d) * (x - 8) for x in q]


def q4_1(q, d, m):
    return word(d) + word(m) + nibbles(q), [half(d) * x + half(m) for x in q]


def q5_0(q, d):
    return word(d) + fifth_bits(q) + nibbles(q), [half(d) * (x - 16) for x in q]


def q5_1(q, d, m):
    return word(d) + word(m) + fifth_bits(q) + nibbles(q), [half(d) * x + half(m) for x in q]


def q8_0(q, d):
    return word(d) + struct.pack("<32b", *q), [half(d) * x for x in q]


def k_scales(scales, mins):
    """Six bits each: [0..3] scales with the top bits of scales 4..7 above them, [4..7] the same of minimums, [8..11] low nibbles."""
    packed = [scales[i] | (scales[i + 4] >> 4) << 6 for i in range(4)]
    packed += [mins[i] | (mins[i + 4] >> 4) << 6 for i in range(4)]
    packed += [scales[i + 4] & 15 | (mins[i + 4] & 15) << 4 for i in range(4)]
    return bytes(packed)


def k_weights(q, d, dmin, scales, mins):
    return [half(d) * scales[i // 32] * q[i] - half(dmin) * mins[i // 32] for i in range(256)]


def k_nibbles(q):
    """Each 64 elements in 32 bytes: element i below element i + 32."""
    return bytes(q[p * 64 + i] & 15 | (q[p * 64 + 32 + i] & 15) << 4 for p in range(4) for i in range(32))


def q4_k(q, d, dmin, scales, mins):
    return word(d) + word(dmin) + k_scales(scales, mins) + k_nibbles(q), k_weights(q, d, dmin, scales, mins)


def q5_k(q, d, dmin, scales, mins):
    high = bytes(sum((q[g * 32 + i] >> 4) << g for g in range(8)) for i in range(32))
    return word(d) + word(dmin) + k_scales(scales, mins) + high + k_nibbles(q), k_weights(q, d, dmin, scales, mins)


def q6_k(q, d, scales):
    low, high = [], []
    for h in (0, 128):
        low += [q[h + i] & 15 | (q[h + 64 + i] & 15) << 4 for i in range(64)]
        high += [sum((q[h + 32 * r + i] >> 4) << (2 * r) for r in range(4)) for i in range(32)]
    weights = [half(d) * scales[i // 16] * (q[i] - 32) for i in range(256)]
    return bytes(low) + bytes(high) + struct.pack("<16b", *scales) + word(d), weights


def draw(count, low, high):
    return [random.randint(low, high) for _ in range(count)]


def ends(count, low, high):
    return [random.choice([low, high]) for _ in range(count)]


def cases():
    for pick in (draw, draw, ends):
        yield "Q4_0", q4_0(pick(32, 0, 15), draw_half())
        yield "Q4_1", q4_1(pick(32, 0, 15), draw_half(), draw_half())
        yield "Q5_0", q5_0(pick(32, 0, 31), draw_half())
        yield "Q5_1", q5_1(pick(32, 0, 31), draw_half(), draw_half())
        yield "Q8_0", q8_0(pick(32, -128, 127), draw_half())
        k = (draw_half(), draw_half(), pick(8, 0, 63), pick(8, 0, 63))
        yield "Q4_K", q4_k(pick(256, 0, 15), *k)
        yield "Q5_K", q5_k(pick(256, 0, 31), *k)
        yield "Q6_K", q6_k(pick(256, 0, 63), draw_half(), pick(16, -128, 127))
    floats = [0.0, -0.0, 1.0, -2.5, 3.0517578125e-05, 65504.0, 5.960464477539063e-08]
    yield "F32", (struct.pack("<7f", *floats), floats)
    yield "F16", (struct.pack("<7e", *floats), floats)
    exact = [0.0, -1.0, 2.5, 3.0e38, -1.1754943508222875e-38]
    bits = [struct.unpack("<I", struct.pack("<f", x))[0] & 0xFFFF0000 for x in exact]
    yield "BF16", (b"".join(word(b >> 16) for b in bits), [struct.unpack("<f", struct.pack("<I", b))[0] for b in bits])


print("[\n" + ",\n".join(json.dumps({"type": t, "bytes": b.hex(), "weights": w}) for t, (b, w) in cases()) + "\n]")
