"""wheel_show.py NETWORK LANGUAGE_MODEL: what a user of the installed package does first. Says "all right" at the end."""

import sys

import numpy as np

import clvet

network, language_model = sys.argv[1:]
x = np.linspace(-1, 1, 3 * 48 * 192, dtype=np.float32).reshape(1, 3, 48, 192)
with clvet.Session(network, device="host") as session:
    first = session.run(None, {"x": x})[0]
    second = session.run_async(None, {"x": x}).result()[0]
    assert np.array_equal(first, second) and abs(first.sum() - 1) < 1e-5, (first, second)
    wide = session.run(None, {"x": np.concatenate([x, x])})[0]
    assert wide.shape == (2, 2), wide.shape
    with session.map("x", "w") as memory:
        memory[:] = 0
    try:
        session.run(None, {"x": x.astype(np.float64)})
        raise AssertionError("float64 was taken for float32")
    except clvet.InvalidArgument as fault:
        assert "float64" in str(fault) or "f64" in str(fault), fault
    assert session.placement.device == "host"
with clvet.LanguageModel(language_model, device="host") as model:
    pieces = list(model.generate("The capital of France is", max_tokens=8))
    assert "Paris" in "".join(pieces) and len(pieces) > 1, pieces
print("all right")
