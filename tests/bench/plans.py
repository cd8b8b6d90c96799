#!/usr/bin/env python3
"""plans.py CLVET MODELS [--reports DIR] [--tier full] [--driver NAME...] [--model NAME...]: plans made without a driver, executed with one.

For each driver of ci/drivers.sh (pocl, rusticl, intel) and each model: the plan is made twice from the driver's report where no
OpenCL is found, byte for byte the same; the driver then runs it, each node as planned and without a fallback. Then one step is
given another variant by hand, which runs (a core report mostly vouches for one alone); and plans that are forged, foreign or stale are refused in one line, exit 2. With
--reports, DIR/<driver>.json are the reports; those that are not there are made. Exit 1: a line does not hold. Needs the python
of `bash ci/setup.sh --test`, and ci/models_nightly.sh for gemma.
"""

import argparse
import collections
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from networks import NETWORKS, saved_inputs

LANGUAGE = {"smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf", "gemma": "gemma-3-270m-q4_k_m.gguf"}
DRIVERS = pathlib.Path(__file__).resolve().parents[2] / "ci/drivers.sh"


class Place:
    """Where clvet runs: with one driver, or (None) with no OpenCL at all."""

    def __init__(self, clvet, driver, folder):
        self.clvet, self.driver, self.folder = clvet, driver, folder

    def __call__(self, *arguments):
        line = [self.clvet, *map(str, arguments)]
        if self.driver and self.driver != "here":
            line = ["bash", str(DRIVERS), "run", self.driver, *line]
        none = {"OCL_ICD_VENDORS": "/nonexistent", "OCL_ICD_FILENAMES": ""} if not self.driver else {}
        state = {"CLVET_STATE_DIR": str(self.folder / "state")}
        return subprocess.run(line, capture_output=True, text=True, env=os.environ | none | state)


class Model:
    """How one model is planned and run; where the record of a run lies, and what was launched, in order."""

    def __init__(self, name, models, folder):
        self.name = name
        self.language = name in LANGUAGE
        file, inputs = (LANGUAGE[name], {}) if self.language else NETWORKS[name]
        self.path = models / file
        self.inputs = saved_inputs(folder, inputs)
        self.record = folder / f"{name}.record"
        if self.language:
            self.run = ["generate", self.path, "--prompt", "The capital of France is", "-n", "4", "--quiet", "--json", self.record]
        else:
            self.run = ["run", self.path, *self.inputs, "--quiet", "--json", self.record]

    def launched(self):
        record = json.loads(self.record.read_text())
        if record["device"] == "host" or record.get("fallbacks") or record["warnings"]:
            raise Fault(f"not as planned: {record['device']}, {record.get('fallbacks')}, {record['warnings']}")
        return [(row["name"], row.get("where", "opencl"), row["kernel"]) for row in record["nodes"]]

    def planned(self, plan):
        """The same of a plan: each node's own kernel, that of its last kernel step."""
        phase = plan["phases"][0]
        if self.language:
            names = [node["name"] for node in phase["nodes"]]
            return [(name, "opencl", step["variant"]) for name, step in zip(names, phase["steps"], strict=True)]
        variants = {step["node"]: step["variant"] for step in phase["steps"] if step["kind"] == "kernel"}
        return [
            (node["name"], "host" if node["where"] == "host" else "opencl", variants.get(i))
            for i, node in enumerate(phase["nodes"])
        ]


class Fault(Exception):
    pass


def check(condition, message):
    if not condition:
        raise Fault(message)


def refused(done, what):
    lines = done.stderr.strip().splitlines()
    check(done.returncode == 2 and len(lines) == 1, f"{what}: exit {done.returncode}, {len(lines)} lines: {done.stderr[:300]}")
    return lines[0]


def run_plan(there, model, plan, path, report):
    path.write_text(json.dumps(plan))
    model.record.unlink(missing_ok=True)
    return there(*model.run, "--report", report, "--plan", path)


def edited_variant(there, model, plan, report, path):
    """Gives a step another variant of its op until one is taken; returns (old, new, refusals before)."""
    right = collections.defaultdict(set)  # by op and the words behind the kernel's name
    for verdict in json.loads(report.read_text())["verdicts"]:
        if verdict["verdict"] == "right":
            kernel, words = verdict["case"].rsplit("/", 1)[0].split("/", 1)
            right[verdict["op"], words].add(kernel)
    steps = [(p, s) for p, phase in enumerate(plan["phases"]) for s, step in enumerate(phase["steps"]) if step["kind"] == "kernel"]
    tried = 0
    for p, s in steps:
        step = plan["phases"][p]["steps"][s]
        old = step["variant"]
        kernel, words = old.split("/", 1)
        for other in sorted(right[step["op"], words] - {kernel}):
            changed = copy.deepcopy(plan)
            changed["phases"][p]["steps"][s]["variant"] = f"{other}/{words}"
            done = run_plan(there, model, changed, path, report)
            tried += 1
            if done.returncode == 0:
                check(model.launched() == model.planned(changed), f"{other}: the edited plan ran otherwise")
                check(p > 0 or model.launched() != model.planned(plan), f"{other}: the edit changed nothing")
                return old, changed["phases"][p]["steps"][s]["variant"], tried - 1
            refused(done, f"{old} -> {other}")
            if tried > 40:
                return None
    return None


def forgeries(plan, foreign):
    def changed(edit):
        copy_of = copy.deepcopy(plan)
        edit(copy_of)
        return copy_of

    def step(edit):
        return changed(lambda p: edit(next(s for s in p["phases"][0]["steps"] if s["kind"] == "kernel")))

    yield "foreign: another model's", foreign
    yield "stale: another driver", changed(lambda p: p["subject"].update(environment_key="0" * 64))
    yield "stale: other kernels", changed(lambda p: p["subject"].update(kernel_set="0" * 64))
    yield "forged: a step less", changed(lambda p: p["phases"][0]["steps"].pop())
    yield "forged: other dims", step(lambda s: s["dims"].update({key: value + 1 for key, value in s["dims"].items()}))
    yield "forged: an unknown variant", step(lambda s: s.update(variant="no_such/high"))
    yield "forged: smaller memory", changed(lambda p: p.update(slot_bytes=[max(1, size // 2) for size in p["slot_bytes"]]))
    yield "forged: another constant", changed(lambda p: p["constants"][-1].update(node=1, name="other", part=1))
    yield "forged: a tensor's shape", changed(lambda p: p["tensors"][-1].update(extent=[n + 1 for n in p["tensors"][-1]["extent"]]))
    yield "forged: a tensor that is not there", step(lambda s: s["tensors"].update({key: 10**6 for key in s["tensors"]}))


def try_model(clvet, driver, name, models, report, folder, foreign):
    model = Model(name, models, folder)
    if not model.path.exists():
        return f"{model.path}: not there", None
    nowhere, there = Place(clvet, None, folder), Place(clvet, driver, folder)
    texts = []
    for i in range(2):
        path = folder / f"{name}.{i}.plan.json"
        done = nowhere("plan", model.path, *model.inputs, "--report", report, "--out", path, "--quiet")
        check(done.returncode == 0, f"plan: exit {done.returncode}: {done.stderr[:300]}")
        texts.append(path.read_bytes())
    check(texts[0] == texts[1], "two plans of the same report differ")
    plan = json.loads(texts[0])
    path = folder / f"{name}.plan.json"
    done = run_plan(there, model, plan, path, report)
    check(done.returncode == 0, f"run: exit {done.returncode}: {done.stderr[:300]}")
    check(model.launched() == model.planned(plan), "nodes[] is not as planned")
    nodes = len(model.launched())
    edit = edited_variant(there, model, plan, report, path)
    bad = 0
    for what, forged in forgeries(plan, foreign):
        if forged is not None and forged != plan:
            refused(run_plan(there, model, forged, path, report), what)
            bad += 1
    said = f"{edit[0]} -> {edit[1]} ({edit[2]} refused)" if edit else "no other variant vouched for"
    return f"{nodes} nodes as planned; by hand: {said}; {bad} forged, foreign and stale ones refused", plan


def report_of(clvet, driver, reports, tier):
    path = reports / f"{driver}.json"
    if not path.exists():
        place = Place(clvet, driver, reports)
        done = place("probe", "--quiet", "--library", "libOpenCL.so.1", "--tier", tier, "--out", path)
        check(done.returncode in (0, 1) and path.exists(), f"probe: exit {done.returncode}: {done.stderr[-300:]}")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clvet", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--reports", type=pathlib.Path)
    parser.add_argument("--tier", choices=["core", "full"], default="core", help="of the reports that are made")
    parser.add_argument("--driver", nargs="*", default=["pocl", "rusticl", "intel"], help="'here': whatever this machine finds")
    parser.add_argument("--model", nargs="*", default=[*NETWORKS, *LANGUAGE])
    options = parser.parse_args()
    clvet = str(options.clvet.resolve())
    faults = 0
    with tempfile.TemporaryDirectory() as scratch:
        reports = options.reports or pathlib.Path(scratch)
        reports.mkdir(parents=True, exist_ok=True)
        for driver in options.driver:
            report = report_of(clvet, driver, reports, options.tier).resolve()
            foreign = None
            for name in options.model:
                folder = pathlib.Path(scratch) / driver / name
                folder.mkdir(parents=True)
                try:
                    said, plan = try_model(clvet, driver, name, options.models, report, folder, foreign)
                    foreign = plan or foreign
                except Fault as fault:
                    said, faults = f"FAULT: {fault}", faults + 1
                print(f"{driver} {name}: {said}", flush=True)
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
