"""classify.py MODEL.onnx [DEVICE] [NAME=AxBxC]...: gives each input of a network ones, runs it, and prints the largest value of its
first output. Open dims become 1, or what follows as NAME=AxBxC.
"""

import sys

import numpy as np

import clvet


def main(model, *words):
    shapes = dict(word.split("=") for word in words if "=" in word)
    device = next((word for word in words if "=" not in word), "auto")
    with clvet.Session(model, device=device) as session:
        feeds = {}
        for one in session.get_inputs():
            shape = [size or 1 for size in one.shape]
            if one.name in shapes:
                shape = [int(size) for size in shapes[one.name].split("x")]
            feeds[one.name] = np.ones(shape, one.dtype)
        first = session.get_outputs()[0].name
        values = session.run([first], feeds)[0].ravel()
    print(f"{first}: value {values.argmax()} is the largest: {values.max():.4f}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except clvet.Error as fault:
        sys.exit(str(fault))
