#!/usr/bin/env python3
"""tests/bench/tuning.py CLVET REPORT FOLDER [--rounds N] [--seconds S] [--search-seconds S] MODEL[:NAME=SHAPE]...: what `clvet tune` gains.

For each model: `clvet tune` in a fresh state folder, then runs without and with what it found, in turn, as many rounds as --rounds
says (11); the median ratio, and the part of rounds in which tuned was faster. Then a second tuning without any times measures every
kernel of every call again, in as much time as it takes up to --search-seconds (240): the search. It takes another kernel than the
planner for some calls; of these a third tuning measures what is won by the kernel that the first one took, and by the fastest of the
search: the figures that chose a kernel flatter it. What counts is the five with most to win, of each model and of all together. REPORT
is copied into FOLDER, which is made anew. Prints JSON.
"""
import argparse
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("clvet")
    parser.add_argument("report")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--search-seconds", type=float, default=240)
    parser.add_argument("--device", default="0")
    return parser.parse_args()


class Machine:
    """One state folder."""

    def __init__(self, options, name):
        self.options, self.folder = options, options.folder / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, mode=0o700)
        shutil.copy(options.report, self.folder / "report.json")
        os.chmod(self.folder / "report.json", 0o600)

    def json(self, *words):
        out = self.folder / "out.json"
        command = [self.options.clvet, *words, "--device", self.options.device, "--quiet", "--json", str(out)]
        subprocess.run(command, check=True, env=dict(os.environ, CLVET_STATE_DIR=str(self.folder)))
        return json.loads(out.read_text())

    def tune(self, model, seconds, *more):
        return self.json("tune", *model, "--seconds", str(seconds), *more)

    def median(self, model):
        more = ["-n", "16", "--prompt-tokens", "4", "--repeat", "2", "--warm-up", "1"] if model[0].endswith(".gguf") else [
            "--repeat", str(self.options.repeat), "--warm-up", "3"]
        rows = self.json("bench", *model, *more, "--self-check", "0")["measurements"]
        return rows[-1]["median_ms"]


def words_of(text):
    path, _, shape = text.partition(":")
    return [path, *(["--shape", shape] if shape else [])]


def timed(call):
    return {row["variant"]: row["median_ms"] for row in call["variants"] if row["median_ms"]}


def gains(first, search, last):
    """Of each call for which the search takes another kernel: what first (won_ms) and search (to_win_ms) win by the last figures, in ms
    of a run."""
    known, judged = ({call["call"]: call for call in record["tuned"]} for record in (first, last))
    rows = []
    for call in search["tuned"]:
        name, times = call["call"], timed(call)
        if name not in judged or call["tuned"] in (None, call["untuned"]):
            continue
        best, now = min(times, key=times.get), timed(judged[name])
        taken = known.get(name, {}).get("tuned") or call["untuned"]  # what was not measured, or failed, stays as planned
        if not {call["untuned"], best, taken} <= now.keys():
            continue
        planned = now[call["untuned"]]
        rows.append({"call": name, "planned_ms": planned, "best_ms": now[best], "taken_ms": now[taken], "search_to_win_ms": call["steps"] * (
            times[call["untuned"]] - times[best]), "to_win_ms": call["steps"] * (planned - now[best]), "won_ms": call["steps"] * (
                planned - now[taken])})
    return rows


def five_of(rows):
    """The calls with most to win by the search, and the part of it that was won: where that is noise, it may be above 1 or below 0."""
    five = sorted(rows, key=lambda row: -row["search_to_win_ms"])[:5]
    to_win, won = sum(row["to_win_ms"] for row in five), sum(row["won_ms"] for row in five)
    return {"share_of_gain": won / to_win if to_win > 0 else None, "five": five}


def compare(options, text):
    model = words_of(text)
    plain, tuned, search, last = (Machine(options, name) for name in ("plain", "tuned", "search", "last"))
    record = tuned.tune(model, options.seconds)
    pairs = [(plain.median(model), tuned.median(model)) if i % 2 else (tuned.median(model), plain.median(model))[::-1]
             for i in range(options.rounds)]
    rows = gains(record, *(machine.tune(model, options.search_seconds, "--exhaustive") for machine in (search, last)))
    untuned_ms, tuned_ms = (statistics.median(column) for column in zip(*pairs))
    return rows, {"model": text, "calls": record["calls"], "measured": len(record["tuned"]), "tuning_s": record["seconds"],
            "replaced": sum(call["tuned"] not in (None, call["untuned"]) for call in record["tuned"]),
            "untuned_ms": untuned_ms, "tuned_ms": tuned_ms, "ratio": statistics.median(a / b for a, b in pairs),
            "faster_in": sum(b < a for a, b in pairs) / len(pairs), "kernels_untuned_ms": record["untuned_ms"],
            "kernels_tuned_ms": record["tuned_ms"], **five_of(rows)}


def main():
    options = parse()
    gained, models = zip(*(compare(options, text) for text in options.models))
    json.dump({"models": models, **five_of(itertools.chain(*gained))}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
