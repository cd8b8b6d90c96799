"""Whole networks, generated and given, through `clvet check` and `clvet run`, beside onnxruntime.

Usage: try_networks.py CLVET [--models DIR] [--device SEL] [--all|--quick] [--only NAME...]. Needs onnx, onnxruntime and numpy. The
state folder is the caller's (CLVET_STATE_DIR); a report is made there if there is none.

A line a network: its nodes and how many of them ran on the device, the relative error (the largest difference by the largest
value, of the worst output and step) on the host, and on the device at precisions high and normal, and whether `check` said
before what `run` did: that it runs, and where each node runs. Exit code 1 if a line does not hold, with the reason below it.
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

from exporter import networks, written  # noqa: E402
from reports import report_of  # noqa: E402
from steps import Failed, check, run, wanted  # noqa: E402

HIGH, NORMAL = 1e-3, 1e-2


def bound_of(entry, precision):
    """Relative. What quantises as it runs may round a value to the other of two steps of an input: 1/255 of its range."""
    if entry.bounds.get("steps_of_input"):
        return 2e-2
    if entry.bounds.get("halves"):
        return NORMAL
    return NORMAL if precision == "normal" else HIGH


class Comparison:
    def __init__(self):
        self.error, self.faults = 0.0, []

    def add(self, entry, name, got, want, bound):
        if bound != HIGH and entry.bounds.get("found_at_run_time") and want.ndim > 1:
            self.add_found(name, got, want, bound)
        elif got.shape != want.shape or got.dtype != want.dtype:
            self.faults.append(f"{name} is {got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}")
        elif want.size and want.dtype.kind == "f":
            self.add_floats(entry, name, got.astype(numpy.float64), want.astype(numpy.float64), bound)
        elif want.size:
            self.add_integers(name, got, want, bound)

    def add_floats(self, entry, name, got, want, bound):
        apart = numpy.abs(got - want).max()
        error = float(apart / max(numpy.abs(want).max(), 1e-30)) if numpy.isfinite(apart) else float("inf")
        self.error = max(self.error, error)
        threshold = entry.bounds.get("map_over")
        if threshold and bound == NORMAL:
            both, either = ((got > threshold) & (want > threshold)).sum(), ((got > threshold) | (want > threshold)).sum()
            if not either or both / either < 0.98:
                self.faults.append(f"{name}: the places over {threshold} agree by {both / max(either, 1):.1%} alone")
            return
        step = entry.bounds.get("quantised")
        if step and apart > 1.01 * step:
            self.faults.append(f"{name} differs by {apart:.3g}, more than one step ({step})")
        elif not step and error > bound:
            self.faults.append(f"{name} has the relative error {error:.2g}")
        rows = want.reshape(len(want), -1) if want.ndim > 1 else want.reshape(1, -1)
        best, own = rows.argmax(1), got.reshape(rows.shape).argmax(1)
        behind = rows.max(1) - rows[numpy.arange(len(rows)), own]
        if not step and (behind[best != own] > 2 * bound * numpy.abs(want).max()).any():
            self.faults.append(f"{name} has another largest value")

    def add_found(self, name, got, want, bound):
        """Rows that were found: those beside a threshold may be others, and their order may be another."""
        if not len(got) or abs(len(got) - len(want)) > 0.1 * len(want):
            return self.faults.append(f"{len(got)} rows of {name} were found, not {len(want)}")
        apart = numpy.abs(got[None].astype(float) - want[:, None]).max(2).min(1)
        lost = float((apart > bound * max(1, numpy.abs(want).max())).mean())
        if lost > 0.1:
            self.faults.append(f"{lost:.0%} of the rows of {name} were not found")

    def add_integers(self, name, got, want, bound):
        """Of classes of pixels, ties may fall on either side."""
        other = float((got != want).mean())
        if other > bound or (want.size < 100 and other):
            self.faults.append(f"{other:.2%} of {name} differ")


def compare(entry, answers, want, precision):
    made = Comparison()
    for step, (own, other) in enumerate(zip(answers, want, strict=True)):
        if not own:
            made.faults.append("no answer")
        for name in own:
            made.add(entry, name if len(want) == 1 else f"{name} of step {step}", own[name], other[name], bound_of(entry, precision))
    return made


OPEN = ("its shapes are known only at run time", "the values of input ")


def places_apart(checked, record):
    """Nodes that `check` saw elsewhere than `run` had them. Where shapes follow from what runs, or a place from the values of an
    input, it leaves the place open."""
    if not checked["devices"]:
        return ["check lists no device"]
    said = {node["name"]: node["where"] for node in checked["devices"][0]["nodes"] if not (node.get("reason") or "").startswith(OPEN)}
    return [f"{node['name']} ({node['op']}): check says {said[node['name']]}, run says {node['where']}"
            for node in record["nodes"] if said.get(node["name"], node["where"]) != node["where"]]


class Trial:
    """One network; `columns` for its line, `faults` below it."""

    def __init__(self, clvet, entry, folder, models, device, options):
        self.clvet, self.entry, self.folder, self.device, self.options = clvet, entry, folder, device, options
        self.columns, self.faults = {}, []
        feeds, feedback = {}, {}
        if entry.write:
            net = written(entry)
            feeds, feedback, path = net.feeds, net.feedback, folder / f"{entry.name}.onnx"
            path.write_bytes(net.model(entry.name).SerializeToString())
        else:
            path, feedback = models / entry.file, entry.feedback
            entry.fill(feeds, numpy.random.default_rng(5))
        self.path, self.feeds, self.feedback = str(path), feeds, feedback

    def is_there(self):
        return pathlib.Path(self.path).exists()

    def go(self):
        want = wanted(self.path, self.feeds, self.feedback)
        checked = check(self.clvet, self.path, self.feeds, self.options)
        ran = self.one("host", ["--device", "host"], "high", want)
        on_device = ["--device", self.device, *self.options]
        high = self.one("high", [*on_device, "--precision", "high"], "high", want)
        if high:
            rows = high["nodes"]
            self.columns["nodes"] = len(rows)
            self.columns["device"] = sum(node["where"] == "opencl" for node in rows)
            if high["fallbacks"]:
                self.faults.append(f"high: a fallback: {high['fallbacks'][0]}")
        self.one("normal", [*on_device, "--precision", "normal"], "normal", want)
        self.agree(checked, ran, on_device)

    def one(self, column, options, precision, want):
        """run.json; nothing where it did not run."""
        self.columns[column] = float("nan")
        try:
            record, answers = run(self.clvet, self.path, self.feeds, self.feedback, self.folder / column, options)
        except Failed as failed:
            self.faults.append(f"{column}: {failed}")
            return None
        made = compare(self.entry, answers, want, precision)
        self.columns[column] = made.error
        self.faults += [f"{column}: {fault}" for fault in made.faults[:3]]
        return record

    def agree(self, checked, ran, on_device):
        self.columns["check"] = "agrees"
        apart = []
        if checked["runs"] != bool(ran):
            apart = [f"check says {'runs' if checked['runs'] else checked['findings']}, run says {'runs' if ran else 'refused'}"]
        elif ran:
            try:
                first = {name: value[:1] if isinstance(value, list) else value for name, value in self.feeds.items()}
                apart = places_apart(checked, run(self.clvet, self.path, first, {}, self.folder / "auto", on_device)[0])
            except Failed as failed:
                apart = [str(failed)]
        if apart:
            self.columns["check"] = "differs"
            self.faults += apart[:3]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clvet")
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path(os.environ.get("CLVET_MODELS", "~/.cache/clvet/models")).expanduser())
    parser.add_argument("--device", default="0")
    parser.add_argument("--quick", action="store_true", help="those marked so")
    parser.add_argument("--all", action="store_true", help="as without it")
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    table = networks()
    unknown = set(arguments.only) - set(table)
    if unknown:
        raise SystemExit(f"no network {', '.join(sorted(unknown))}; there are: {', '.join(table)}")
    chosen = [entry for name, entry in table.items() if (not arguments.only or name in arguments.only) and (entry.quick or not arguments.quick)]
    options = report_of(arguments.clvet)[1]
    state = os.environ["CLVET_STATE_DIR"]
    print(f"{'network':34} {'nodes':>6} {'device':>6} {'host':>9} {'high':>9} {'normal':>9}  check")
    bad = 0
    for entry in chosen:
        with tempfile.TemporaryDirectory() as folder:
            # A verdict that one network brings shall not count for the next.
            os.environ["CLVET_STATE_DIR"] = f"{folder}/state"
            shutil.copytree(state, f"{folder}/state", ignore=lambda _, names: [name for name in names if name != "report.json"])
            trial = Trial(arguments.clvet, entry, pathlib.Path(folder), arguments.models, arguments.device, options)
            if not trial.is_there():
                bad += 1
                print(f"{entry.name:34} is not there: {trial.path}; run 'bash ci/setup.sh --test'")
                continue
            trial.go()
            column = trial.columns
            print(f"{entry.name:34} {column.get('nodes', '-'):>6} {column.get('device', '-'):>6} {column['host']:9.2g} {column['high']:9.2g} "
                  f"{column['normal']:9.2g}  {column['check']}", flush=True)
            for fault in trial.faults:
                print(f"    {fault}", flush=True)
            bad += bool(trial.faults)
    print(f"{len(chosen)} networks, {bad} do not hold")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
