"""Sound files through `clvet run --series`, beside onnxruntime, which gets the same chunks of the same sound from numpy.

Usage: sound.py CLVET MODELS IMAGE_DIR. The sound is a sum of tones that is known at every time, so what it is at another rate needs no
resampler. The models are those of silero: 512 new samples a step behind the last 64 of the step before, and a state that is fed back.
"""

import pathlib
import subprocess
import sys
import tempfile
import wave

import numpy as np
import onnxruntime

RATE, CHUNK, OVERLAP, SECONDS = 16000, 576, 64, 3
# Of the same samples, and of 24 bits at 44100 Hz: the models make differences of a millionth a thousand times larger.
SAME, RESAMPLED = 1e-4, 5e-3

onnxruntime.set_default_logger_severity(4)


def speech(rate):
    """Like a voice: harmonics of a pitch that wavers, in three bands, in syllables, with a pause before and behind."""
    t = np.arange(int(rate * SECONDS)) / rate
    phase = 2 * np.pi * (120 * t - 30 / (2 * np.pi * 0.7) * np.cos(2 * np.pi * 0.7 * t))
    x = np.zeros_like(t)
    for k in range(1, 40):
        x += sum(a * np.exp(-(((130 * k - c) / b) ** 2)) for a, c, b in ((1, 600, 150), (0.6, 1200, 200), (0.3, 2500, 300))) * np.sin(k * phase)
    syllables = np.clip(np.sin(2 * np.pi * 1.7 * t) + 0.3, 0, 1) * np.clip(4 * (t - 0.5), 0, 1) * np.clip(4 * (2.4 - t), 0, 1)
    hum = sum(np.sin(2 * np.pi * hertz * t + hertz) for hertz in range(90, 7000, 137))
    return 0.2 * x * syllables + 2e-3 * hum


def write(path, samples, rate, channels, width):
    """What a reader gets of the file."""
    steps = np.round(samples * (2 ** (8 * width - 1) - 1)).astype("<i4")
    frames = np.repeat(steps, channels).view(np.uint8).reshape(-1, 4)[:, :width]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(frames.tobytes())
    return (steps / 2 ** (8 * width - 1)).astype(np.float32)


def wanted(path, samples, extra):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    state, answers, new = np.zeros((2, 1, 128), np.float32), [], CHUNK - OVERLAP
    whole = np.concatenate([np.zeros(OVERLAP, np.float32), samples, np.zeros(-len(samples) % new, np.float32)])
    for begin in range(0, len(whole) - OVERLAP, new):
        answer, state = session.run(["output", "stateN"], {"input": whole[None, begin : begin + CHUNK], "state": state, **extra})
        answers.append(answer)
    return np.stack(answers)


def run(clvet, model, sound, folder, words):
    done = subprocess.run([clvet, "run", model, "--series", f"input={sound}", "--chunk-overlap", str(OVERLAP), "--feedback", "stateN=state",
                           "--device", "host", "--output-dir", folder / "out", *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"clvet run ended with {done.returncode}: {done.stderr}")
    return np.load(folder / "out/output.npy"), done.stderr


def main():
    clvet, models = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        same, other = folder / "same.wav", folder / "other.WAV"
        heard = {same: write(same, speech(RATE), RATE, 1, 2), other: speech(RATE).astype(np.float32)}
        write(other, speech(44100), 44100, 2, 3)
        np.save(folder / "sr.npy", np.array(RATE, np.int64))
        np.save(folder / "state.npy", np.zeros((2, 1, 128), np.float32))
        open_shapes = ["--chunk", str(CHUNK), "--input", f"sr={folder / 'sr.npy'}", "--input", f"state={folder / 'state.npy'}"]
        for model, words in (("silero_vad_openvino_16k.onnx", []), ("silero_vad.onnx", open_shapes)):
            for sound, more, bound in ((same, [], SAME), (other, ["--sample-rate", str(RATE)], RESAMPLED)):
                want = wanted(models / model, heard[sound], {"sr": np.array(RATE, np.int64)} if words else {})
                if not (want.max() > 0.5 and want.min() < 0.05):
                    sys.exit(f"{model}: the sound is no test: onnxruntime says {want.min():.2f} to {want.max():.2f}")
                made, said = run(clvet, models / model, sound, folder, [*words, *more])
                apart = float(np.abs(made - want).max()) if made.shape == want.shape else float("inf")
                right = apart <= bound and f"48000 samples at {RATE} Hz" in said
                print(f"{'ok   ' if right else 'WRONG'} {model} {sound.name}: {len(made)} steps, apart by {apart:.2g}", flush=True)
                wrong += not right
    sys.exit(1 if wrong else 0)


main()
