#!/usr/bin/env python3
"""check_agrees.py CLVET RESULTS REPORT [--case TEXT]: does `clvet check` say of ONNX's node tests what `clvet run` does?

RESULTS is a file of ci/conformance.sh (clvet.conformance/1). For each of its cases: check says that the model runs where it ran on the
host, and that it does not where it was refused (or that the values of an input decide); and for each model that runs, each node is
where check saw it (its place is open where its shapes follow from what runs, or the place from the values of an input). Cases with
inputs of types that no .npy file holds are counted, and only asked whether they run. The device is the first of REPORT. Exit 1: check
and run differ. Needs the python of `bash ci/setup.sh --test`.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import onnx
import onnx.backend.test
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "networks"))
from steps import Failed, check, run  # noqa: E402
from try_networks import places_apart  # noqa: E402


def inputs_of(folder):
    """By name; None where a value is no tensor of numpy's own types."""
    model = onnx.load(folder / "model.onnx")
    made = {}
    for i, value in enumerate(model.graph.input):
        file = folder / "test_data_set_0" / f"input_{i}.pb"
        if not file.exists():  # it has a value in the model
            continue
        tensor = onnx.TensorProto()
        tensor.ParseFromString(file.read_bytes())
        array = numpy_helper.to_array(tensor)
        if array.dtype.kind not in "biuf":
            return None
        made[value.name] = array
    return made


def apart_in(clvet, folder, feeds, report, ran):
    """What check and run say otherwise; `ran`: whether the model ran on the host."""
    path = str(folder / "model.onnx")
    checked = check(clvet, path, feeds or {}, report)
    if not ran and any("where nodes run, and whether they can, depends" in note for note in checked["notes"]):
        return []
    if checked["runs"] != ran:
        return [f"check says {'runs' if checked['runs'] else checked['findings']}, the host {'ran' if ran else 'refused'}"]
    if not ran or feeds is None:
        return []
    with tempfile.TemporaryDirectory() as out:
        try:
            return places_apart(checked, run(clvet, path, feeds, {}, pathlib.Path(out) / "run", ["--device", "0", *report])[0])
        except Failed as failed:
            return [str(failed)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clvet")
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("report")
    parser.add_argument("--case", default="")
    options = parser.parse_args()
    data = pathlib.Path(onnx.backend.test.__file__).parent / "data"
    count = agreed = without = 0
    for case in json.loads(options.results.read_text())["cases"]:
        if options.case not in case["case"]:
            continue
        folder = data / (case["case"] if "/" in case["case"] else f"node/{case['case']}")
        feeds = inputs_of(folder)
        without += feeds is None
        apart = apart_in(options.clvet, folder, feeds, ["--report", options.report], case["host"]["result"] != "unsupported")
        for line in apart[:3]:
            print(f"{case['case']}: {line}", flush=True)
        count, agreed = count + 1, agreed + (not apart)
    print(f"check agrees with run on {agreed} of {count} cases ({without} of them without inputs that a .npy file holds)")
    return agreed != count


if __name__ == "__main__":
    sys.exit(main())
