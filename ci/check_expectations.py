#!/usr/bin/env python3
"""ci/check_expectations.py REPORT EXPECTATIONS: does a probe's report say of a driver what is known to be true of it?

EXPECTATIONS (ci/expectations/<driver>.json):
  comment    what the driver is
  driver     its word in ci/drivers.sh
  nightly    true: too slow for every change
  probe      arguments of `clvet probe`, "@name" for the lines of ci/expectations/name.txt: a file of expectations holds
             for this one run
  platform, device   patterns (*, ?) of the one device that the report must hold
  run        optional, "host": with this report a model must be answered, rightly, by the CPU path
  rules      each {"expect": [verdicts], "reason": text} and at least one of
               case (pattern), kernel (pattern), op, precision, memory, activations, weights, weight_type,
               constructs (all of them used)
             and optionally stage, signal: those that the verdict must carry
The first rule that fits a case decides; a case that none fits must pass. Exit 1, every fault by name: a case with another
verdict (an unexpected pass too), or a rule that fits no case. Exit 2: a file that cannot be used.
--fields EXPECTATIONS prints driver, nightly, run and the probe's arguments, one a line, for ci/drivers.sh.
"""
import collections
import fnmatch
import json
import pathlib
import sys

VERDICTS = {"pass", "wrong", "nondeterministic", "slow", "build-error", "kernel-create-failed", "launch-error", "crash",
            "hang", "out-of-memory", "device-lost", "board-reset", "lie", "unsupported"}
TEXTS = {"comment": str, "driver": str, "nightly": bool, "probe": list, "platform": str, "device": str, "rules": list}
OPTIONAL = {"run": str}
COMBINATION = ("precision", "memory", "activations", "weights")
FIELDS = {"case", "kernel", "op", "weight_type", "constructs", *COMBINATION}
DEMANDS = {"stage", "signal"}
SHOWN = 20  # faults of one kind


FOLDER = pathlib.Path(__file__).resolve().parent / "expectations"


class Unusable(Exception):
    pass


def check_rule(rule, where):
    if not isinstance(rule, dict):
        raise Unusable(f"{where}: not an object")
    unknown = set(rule) - FIELDS - DEMANDS - {"expect", "reason"}
    if unknown:
        raise Unusable(f"{where}: unknown field {', '.join(sorted(unknown))}")
    if not set(rule) & FIELDS:
        raise Unusable(f"{where}: says nothing of the cases it is for")
    if not isinstance(rule.get("reason"), str) or not rule["reason"]:
        raise Unusable(f"{where}: no reason")
    if not isinstance(rule.get("constructs", []), list):
        raise Unusable(f"{where}: constructs is no list")
    expect = rule.get("expect")
    if not isinstance(expect, list) or not expect:
        raise Unusable(f"{where}: expect is no list of verdicts")
    for word in expect:
        if word not in VERDICTS:
            raise Unusable(f"{where}: '{word}' can be expected of no driver")
    if "pass" in expect and len(expect) > 1:
        raise Unusable(f"{where}: 'pass or something else' cannot fail")


def check_expectations(document, where):
    if not isinstance(document, dict):
        raise Unusable(f"{where}: not an object")
    for name, kind in TEXTS.items():
        if not isinstance(document.get(name), kind):
            raise Unusable(f"{where}: '{name}' is missing or no {kind.__name__}")
    for name in set(document) - set(TEXTS):
        if not isinstance(document[name], OPTIONAL.get(name, type(None))):
            raise Unusable(f"{where}: unknown field '{name}'")
    if document.get("run", "host") != "host":
        raise Unusable(f"{where}: run can be 'host' alone")
    for index, rule in enumerate(document["rules"]):
        check_rule(rule, f"{where}: rule {index}")


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: {error}") from error


def read_expectations(path):
    document = read_json(path)
    check_expectations(document, path)
    try:
        probe_arguments(document)
    except OSError as error:
        raise Unusable(f"{path}: {error}") from error
    return document


def probe_arguments(expectations):
    arguments = []
    for word in expectations["probe"]:
        if word.startswith("@"):
            arguments += (FOLDER / f"{word[1:]}.txt").read_text().split("\n")[:-1]
        else:
            arguments.append(word)
    return arguments


def fits(rule, row):
    for name in FIELDS & set(rule):
        wanted = rule[name]
        if name == "constructs":
            ok = set(wanted) <= set(row["constructs"])
        elif name in COMBINATION:
            ok = row["combination"][name] == wanted
        elif name in ("case", "kernel"):
            ok = fnmatch.fnmatchcase(row[name], wanted)
        else:
            ok = row[name] == wanted
        if not ok:
            return False
    return True


def fault_of(rule, row):
    """What is wrong with a verdict, or None."""
    expect = rule["expect"] if rule else ["pass"]
    if row["verdict"] not in expect:
        return f"{row['verdict']} at {row['stage']}, expected {' or '.join(expect)}{describe(row)}"
    if rule and "stage" in rule and row["stage"] != rule["stage"]:
        return f"{row['verdict']} at {row['stage']}, expected at {rule['stage']}"
    if rule and "signal" in rule and row["evidence"]["signal"] != rule["signal"]:
        return f"{row['verdict']} by signal {row['evidence']['signal']}, expected {rule['signal']}"
    return None


def describe(row):
    evidence = row["evidence"]
    text = evidence.get("note") or evidence.get("log") or evidence.get("stderr") or ""
    return f" ({' '.join(text.split())[:160]})" if text.strip() else ""


def device_faults(report, expectations):
    devices = report["devices"]
    if len(devices) != 1:
        return [f"the report holds {len(devices)} devices, expected one: {[d['name'] for d in devices]}"]
    return [f"{name} of the device is '{devices[0][key]}', expected '{expectations[name]}'"
            for name, key in (("platform", "platform"), ("device", "name"))
            if not fnmatch.fnmatchcase(devices[0][key], expectations[name])]


def check(report, expectations):
    """All faults of a report, as lines of text."""
    faults = device_faults(report, expectations)
    if not report["verdicts"]:
        faults.append("no case was tried")
    if not report["complete"] and "--case" not in probe_arguments(expectations):
        faults.append("the report is not complete")
    matched = collections.Counter()
    for row in report["verdicts"]:
        found = next((i for i, rule in enumerate(expectations["rules"]) if fits(rule, row)), None)
        matched[found] += 1
        fault = fault_of(None if found is None else expectations["rules"][found], row)
        if fault:
            faults.append(f"{row['case']}: {fault}")
    for index, rule in enumerate(expectations["rules"]):
        if not matched[index]:
            faults.append(f"rule {index} fits no case: {rule['reason']}")
    return faults


def summary(report):
    counts = collections.Counter(row["verdict"] for row in report["verdicts"])
    verdicts = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    return f"{len(report['verdicts'])} cases in {report['run']['wall_s']:.0f} s: {verdicts}"


def main(arguments):
    if arguments[:1] == ["--fields"] and len(arguments) == 2:
        document = read_expectations(arguments[1])
        print(document["driver"], document["nightly"], document.get("run", "-"), *probe_arguments(document), sep="\n")
        return 0
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        expectations = read_expectations(arguments[1])
        report = read_json(arguments[0])
        try:
            faults = check(report, expectations)
            text = summary(report)
        except (KeyError, TypeError, AttributeError) as error:
            raise Unusable(f"{arguments[0]}: not a report: {error!r}") from error
    except Unusable as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{expectations['driver']}: {text}")
    for fault in faults[:SHOWN]:
        print(f"FAULT {expectations['driver']}: {fault}")
    if len(faults) > SHOWN:
        print(f"FAULT {expectations['driver']}: and {len(faults) - SHOWN} more")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
