#!/usr/bin/env python3
"""predictions.py CLVET MODELS [--report FILE] [--device SEL] [--rounds N] [--forced] [NAME...]: are predicted times true?

For each network: the predicted time of each node of the plan against its measured one (the median of N runs, as the report's
times are medians; each node waited for), as median and 90th percentile of the factor between them. With --forced also the time
of a whole run as chosen by itself and with each single combination forced, side by side: the choice should be within 1.1 of the
best, of its own precision where a lower one saves less than a third (docs/plan.md). Needs a quiet machine and the python of `bash ci/setup.sh --test`. NAME: det rec cls yolox magika vad.
"""

import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import tempfile

from networks import NETWORKS, saved_inputs

FAR_BEHIND = 2.5
FORCED = [(p, a, w) for p in ("high", "normal", "low") for a in ("buffer", "image") for w in ("buffer", "image")]


def run(clvet, model, arguments, folder, repeat):
    done = subprocess.run([clvet, "run", str(model), *arguments, "--quiet", "--repeat", str(repeat), "--output-dir", f"{folder}/out"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        return None
    return json.loads(pathlib.Path(f"{folder}/out/run.json").read_text())


def node_factors(clvet, model, arguments, folder, rounds):
    measured, predicted = collections.defaultdict(list), {}
    for _ in range(rounds):
        record = run(clvet, model, arguments, folder, 20)
        if record is None:
            return [], 0
        for node in record["nodes"]:
            if node["where"] == "opencl" and node["predicted_ms"]:
                predicted[node["name"]] = node["predicted_ms"]
                measured[node["name"]].append(node["ms"])
    kernels = {key: (predicted[key], statistics.median(times)) for key, times in measured.items() if min(times) > 0}
    worst = sorted(kernels.items(), key=lambda row: -max(row[1][0] / row[1][1], row[1][1] / row[1][0]))[:5]
    for name, (said, took) in worst:
        print(f"    {name}: predicted {said:.4f} ms, took {took:.4f}")
    return [max(said / took, took / said) for said, took in kernels.values()], record["timing"]["min_ms"]


def forced(clvet, model, arguments, folder, rounds):
    """The least time of the automatic choice and of each combination, taking turns; what is far behind in a first short round drops out."""
    rows = {("auto", "auto", "auto"): []} | {combination: [] for combination in FORCED}
    chosen = ""
    for repeat in [1] + [20] * rounds:
        for words, times in rows.items():
            extra = [f for key, word in zip(("--precision", "--activations", "--weights"), words) for f in (key, word)]
            record = run(clvet, model, [*arguments, *extra], folder, repeat)
            if record and not (words[0] != "auto" and record["fallbacks"]):
                times.append(record["timing"]["min_ms"])
            if record and words[0] == "auto":
                chosen = record["combination"]["precision"]
        least = min(min(times) for times in rows.values() if times)
        rows = {words: times for words, times in rows.items() if words[0] == "auto" or (times and min(times) < FAR_BEHIND * least)}
    times = {"/".join(words): min(values) for words, values in rows.items() if values}
    own = times.pop("auto/auto/auto")
    alike = {words: ms for words, ms in times.items() if words.startswith(chosen)}
    return own, [(best, own / row[best]) for row in (times, alike) if row for best in [min(row, key=row.get)]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clvet")
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--report")
    parser.add_argument("--device", default="0")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--forced", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    extra = ["--device", options.device] + (["--report", options.report] if options.report else [])
    for name in options.names or NETWORKS:
        file, inputs = NETWORKS[name]
        with tempfile.TemporaryDirectory() as folder:
            arguments = saved_inputs(folder, inputs) + extra
            factors, _ = node_factors(options.clvet, options.models / file, arguments, folder, options.rounds)
            if factors:
                ninth = sorted(factors)[int(0.9 * (len(factors) - 1))]
                print(f"{name}: {len(factors)} nodes, factor {statistics.median(factors):.2f} in the middle, 90 % within {ninth:.2f}")
            else:
                print(f"{name}: no node that is predicted ran")
            if options.forced:
                own, rows = forced(options.clvet, options.models / file, arguments, folder, options.rounds)
                best = ", of its precision ".join(f"{words} (ratio {ratio:.2f})" for words, ratio in rows)
                print(f"{name}: chosen {own:.2f} ms, best single combination {best}")


if __name__ == "__main__":
    main()
