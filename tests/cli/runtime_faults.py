"""A driver that passes its trials and misbehaves afterwards: run and generate, alone and isolated.

Usage: runtime_faults.py CLVET MODEL_DIR IMAGE_DIR. FAKE_CL names the hostile driver. CLVET_TEST_OVER: the driver below it, pocl
(the default), intel or the path of a library. CLVET_TEST_FAULTS: names of FAULTS, or all; empty: those that differ most. CLVET_TEST_MODELS: small (cls
and SmolLM2, the default) or large (magika and Gemma).

The report is the one of the same driver while it behaved. Never may a wrong answer leave with exit 0: the answer is the host's,
and standard error says what is not used any more. Where the driver ends the process, that holds for the second start, and
with --isolate for the first one. What begins with saved- comes after a start that behaved and left programs.
"""

import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

LAUNCH = "clEnqueueNDRangeKernel"
READS = ["clEnqueueReadBuffer", "clEnqueueMapBuffer", "clEnqueueReadImage"]
KERNEL = {"run": "^(gemm|conv|depthwise)", "generate": "^(gemv|gemm|rms_norm)"}
# What the driver does once it was probed, and what that does to the process. {kernel} is one that the model needs.
DIES, STAYS, HANGS = "dies", "stays", "hangs"  # what hangs needs --isolate
FAULTS = {
    "segfault-first": (DIES, {"call": LAUNCH, "count": 1}, {"action": "segfault"}),
    "segfault-later": (DIES, {"call": LAUNCH, "count": {"from": 30, "to": 30}}, {"action": "segfault"}),
    "abort-kernel": (DIES, {"call": LAUNCH, "kernel": "{kernel}"}, {"action": "abort"}),
    "abort-build": (DIES, {"call": "clBuildProgram", "kernel": "{kernel}"}, {"action": "abort"}),
    "exit-0": (DIES, {"call": LAUNCH, "kernel": "{kernel}"}, {"action": "exit"}),
    "exit-0-at-the-end": (DIES, {"call": "clFinish", "count": {"from": 5, "to": 5}}, {"action": "exit"}),
    "handlers": (DIES, {"call": LAUNCH, "kernel": "{kernel}"}, [{"action": "signal_handlers"}, {"action": "segfault"}]),
    "load": (DIES, {"call": "load"}, {"action": "segfault"}),
    "error-first": (STAYS, {"call": LAUNCH, "count": 1}, {"action": "error", "code": "CL_OUT_OF_RESOURCES"}),
    "error-later": (STAYS, {"call": LAUNCH, "count": {"from": 40, "to": 40}}, {"action": "error", "code": "CL_INVALID_KERNEL"}),
    "error-finish": (STAYS, {"call": "clFinish", "count": {"from": 3, "to": 3}}, {"action": "error", "code": "CL_OUT_OF_RESOURCES"}),
    "build-error": (STAYS, {"call": "clBuildProgram", "kernel": "{kernel}"}, {"action": "build_error", "log": "no"}),
    "kernel-null": (STAYS, {"call": "clCreateKernel", "kernel": "{kernel}"}, {"action": "null_success"}),
    "no-memory": (STAYS, {"call": "clCreateBuffer", "count": {"from": 4, "to": 4}},
                  {"action": "error", "code": "CL_MEM_OBJECT_ALLOCATION_FAILURE"}),
    "read-fails": (STAYS, {"call": READS}, {"action": "error", "code": "CL_OUT_OF_HOST_MEMORY"}),
    "map-null": (STAYS, {"call": "clEnqueueMapBuffer"}, {"action": "null_success"}),
    "map-zeros": (STAYS, {"call": "clEnqueueMapBuffer"}, {"action": "zeros"}),
    "read-zeros": (STAYS, {"call": "clEnqueueReadBuffer"}, {"action": "zeros"}),
    "map-stale": (STAYS, {"call": "clEnqueueMapBuffer"}, {"action": "stale"}),
    "read-stale": (STAYS, {"call": "clEnqueueReadBuffer"}, {"action": "stale"}),
    "read-skipped": (STAYS, {"call": READS[::2]}, {"action": "skip"}),
    "orphan": (STAYS, {"call": LAUNCH, "count": 1}, {"action": "orphan", "seconds": 60}),
    "prints": (STAYS, {"call": LAUNCH, "count": {"from": 1, "to": 50}}, {"action": "stdout", "text": "[mali] hello\n"}),
    "changes-folder": (STAYS, {"call": LAUNCH, "count": 1}, {"action": "chdir"}),
    "closes-files": (STAYS, {"call": LAUNCH, "count": 1}, {"action": "close_fds"}),
    "zeros": (STAYS, {"call": LAUNCH, "kernel": "{kernel}"}, {"action": "zeros"}),
    "nan": (STAYS, {"call": LAUNCH, "kernel": "{kernel}"}, {"action": "zeros", "byte": 255}),
    "wrong-tile": (STAYS, {"call": LAUNCH, "kernel": "{kernel}"}, {"action": "wrong_tile", "bytes": 64}),
    "one-wrong-launch": (STAYS, {"call": LAUNCH, "count": {"from": 25, "to": 25}}, {"action": "wrong_tile", "bytes": 64}),
    "bit-flip": (STAYS, {"call": LAUNCH, "kernel": "{kernel}"}, {"action": "bit_flip", "bit": 30, "every": 1}),
    "half": (STAYS, {"call": LAUNCH}, {"action": "round_half"}),
    "hang-launch": (HANGS, {"call": LAUNCH, "kernel": "{kernel}"}, {"action": "hang"}),
    "hang-map": (HANGS, {"call": READS}, {"action": "hang", "ignore_sigterm": True}),
    "hang-finish": (HANGS, {"call": "clFinish", "count": {"from": 3, "to": 3}}, {"action": "hang", "spin": True}),
    "skips-kernel": (STAYS, {"call": LAUNCH, "kernel": "{kernel}"}, {"action": "skip"}),
    "skips-repeats": (STAYS, {"call": LAUNCH, "count": {"from": 60, "to": 100000}}, {"action": "skip"}),
    "release": (STAYS, {"call": ["clRelease*"]}, {"action": "segfault"}),
    "saved-dies-loading": (DIES, {"call": "clCreateProgramWithBinary"}, {"action": "segfault"}),
    "saved-dies-asked": (DIES, {"call": "clGetProgramInfo"}, {"action": "abort"}),
    "saved-dies-launch": (DIES, {"call": LAUNCH, "from_binary": True}, {"action": "segfault"}),
    "saved-wrong": (STAYS, {"call": LAUNCH, "from_binary": True}, {"action": "zeros"}),
    "saved-refused": (STAYS, {"call": "clCreateProgramWithBinary"}, {"action": "error", "code": "CL_INVALID_BINARY"}),
    "slow": (STAYS, {"call": LAUNCH}, {"action": "delay", "ms": 3}),
}
FEW = ["segfault-first", "abort-build", "exit-0", "handlers", "error-later", "map-zeros", "read-zeros", "nan", "wrong-tile",
       "skips-repeats", "release", "saved-dies-loading", "saved-dies-asked", "saved-dies-launch", "saved-wrong", "saved-refused"]
# The answer is right at once, or the fault never meets the runtime. What stores halves may round to them. Where a driver closes
# our standard output, exit 2 says so.
SILENT = {"release", "slow", "map-stale run", "read-stale run", "one-wrong-launch", "half run", "orphan", "prints", "changes-folder",
          "closes-files"}
OVER = {"pocl": "/usr/lib/x86_64-linux-gnu/libpocl.so.2"}


class Machine:
    """The driver, the report that it gave while it behaved, and what the host answers."""

    def __init__(self, clvet, models, folder):
        self.clvet, self.folder = clvet, pathlib.Path(folder)
        over = os.environ.get("CLVET_TEST_OVER", "pocl")
        self.environment = dict(os.environ, FAKE_CL_TARGET=target_of(over), POCL_CACHE_DIR=str(self.folder / "cache"))
        self.environment.pop("FAKE_CL_SCENARIO", None)
        self.report = str(self.folder / "honest.json")
        ids = self.folder / "ids.json"
        ids.write_text("[504, 3575, 282, 4649, 314, 260, 3284, 338]")
        image = np.random.default_rng(1).normal(size=(1, 3, 48, 192)).astype(np.float32)
        np.save(self.folder / "x.npy", image)
        np.save(self.folder / "bytes.npy", np.random.default_rng(1).integers(0, 256, size=(1, 2048)).astype(np.int32))
        sets = {
            "small": {"run": [models / "ch_ppocr_mobile_v2.0_cls_infer.onnx", "--input", f"x={self.folder / 'x.npy'}"],
                      "generate": [models / "SmolLM2-135M-Instruct.Q4_1.gguf"]},
            "large": {"run": [models / "magika.onnx", "--input", f"bytes={self.folder / 'bytes.npy'}", "--precision", "high"],
                      "generate": [models / "gemma-3-270m-q4_k_m.gguf"]},
        }
        common = {"run": ["--repeat", "1"], "generate": ["--prompt-ids", ids, "-n", "3"]}
        chosen = sets[os.environ.get("CLVET_TEST_MODELS", "small")]
        self.commands = {verb: [verb, *map(str, chosen[verb] + common[verb])] for verb in common}
        self.start(["probe", "--library", str(pathlib.Path(os.environ["FAKE_CL"]).resolve()), "--quiet", "--out", self.report], {})
        self.maps = self.report_of("maps.json", 1, 2)
        self.report = self.report_of("reads.json", 2, 1)
        self.expected = {verb: self.answer(verb, ["--device", "host"], {})[1] for verb in self.commands}

    def report_of(self, name, map_us, read_us):
        """The report, had the times of maps and reads been so: the faster of both is what the runtime takes."""
        report = json.loads(pathlib.Path(self.report).read_text())
        for device in report["devices"]:
            device["peaks"].update(map_us=map_us, read_us=read_us)
        (self.folder / name).write_text(json.dumps(report))
        return str(self.folder / name)

    def start(self, words, extra):
        environment = dict(self.environment, CLVET_STATE_DIR="state", **extra)
        return subprocess.run([self.clvet, *words], env=environment, cwd=self.folder, capture_output=True, text=True, timeout=300)

    def answer(self, verb, options, extra):
        """The finished process, and what it answered."""
        words = [*self.commands[verb], *options]
        if verb == "generate":
            done = self.start(words, extra)
            return done, done.stdout.split()
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        done = self.start([*words, "--output-dir", "out"], extra)
        files = sorted(out.glob("*.npy"))
        return done, np.load(files[0]) if files else None

    def right(self, verb, answer):
        if verb == "generate":
            return answer == self.expected[verb]
        return answer is not None and np.allclose(answer, self.expected[verb], atol=0.02)

    def fresh(self):
        shutil.rmtree(self.folder / "state", ignore_errors=True)
        (self.folder / "state").mkdir()


def target_of(over):
    if over != "intel":
        return OVER.get(over, over)
    return str(next(pathlib.Path(os.environ["CLVET_TEST_INTEL"]).rglob("libintelocl.so*")))


def scenario_of(name, verb):
    _, match, deeds = FAULTS[name]
    match = {key: KERNEL[verb] if value == "{kernel}" else value for key, value in match.items()}
    rules = [{"match": match, "do": deed} for deed in (deeds if isinstance(deeds, list) else [deeds])]
    return json.dumps({"rules": rules})


def trial(machine, name, verb, isolated):
    """What is wrong about it; None: nothing."""
    dies = FAULTS[name][0] == DIES
    machine.fresh()
    report = machine.maps if name.startswith("map-") else machine.report
    options = ["--report", report, "--device", "0", *(["--isolate", "--hang-after", "10"] if isolated else [])]
    extra = {"FAKE_CL_SCENARIO": scenario_of(name, verb)}
    # A driver may die of two saved programs before it gets none. It computes right up to that.
    starts = (3 if "loading" in name else 2) if dies and not isolated else 1
    if name.startswith("saved-") and "asked" not in name:
        machine.answer(verb, options, {})
    for start in range(starts):
        done, answer = machine.answer(verb, options, extra)
        if done.returncode == 0 and machine.right(verb, answer):
            said = "warning" in done.stderr or (dies and start > 0)
            return None if said or {name, f"{name} {verb}"} & SILENT else f"nothing was said: {done.stderr[-300:]}"
        if name == "closes-files" and done.returncode == 2 and "cannot write" in done.stderr:
            return None
        if done.returncode == 0 and (answer is None or len(answer)):
            if not (dies and not isolated):  # a driver that ends the process with 0 has no answer
                return f"a wrong answer with exit 0: {done.stderr[-300:]}"
    return f"no answer after {starts} starts: exit {done.returncode} {done.stderr[-300:]}"


def main():
    clvet, models = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    models = models if models.is_dir() else models.parent
    wanted = os.environ.get("CLVET_TEST_FAULTS", "")
    names = list(FAULTS) if wanted == "all" else wanted.split() or FEW
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(clvet, models, folder)
        for name, verb, isolated in itertools.product(names, machine.commands, (False, True)):
            if FAULTS[name][0] == HANGS and not isolated:
                continue
            fault = trial(machine, name, verb, isolated)
            print(f"{'WRONG' if fault else 'ok   '} {name} {verb}{' isolated' if isolated else ''}{': ' + fault if fault else ''}",
                  flush=True)
            wrong += [name] * bool(fault)
    print(f"{len(wrong)} wrong of {len(names)} behaviours")
    return 1 if wrong else 0


sys.exit(main())
