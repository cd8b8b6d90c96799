#!/usr/bin/env python3
"""ci/mali_cost.py FOLDER [--write FILE] [--against FILE] [--families FILE] [--expect FILE]

What kernels cost on Mali's GPUs, from the compilers' listings that ci/mali_cost.sh leaves in FOLDER (<gpu>/<variant>.txt
and .status). Prints a line for each variant and GPU: its bound unit (the one that takes longest) and every unit, in core cycles
of a work-item for each multiply-add where the kernel is a product (docs/mali.md), spills and fills of the whole kernel, threads
(2: as many as the core holds; 1: half), messages of the hot loop.
  --write FILE     the same as JSON
  --against FILE   what differs from a JSON of before, and nothing of the rest
  --families FILE  ours beside a peer's, by families of kernels (ci/expectations/mali/families.json)
  --expect FILE    exit 1 where a variant differs from FILE: another outcome, more or fewer spills, 2 % or more of the bound; with
                   --families also where a family is said to hold and does not, or the other way round
"""
import argparse
import fnmatch
import json
import pathlib
import sys

from mali.costs import bound, cost_of
from mali.units import GPUS

STATUS = {"124": "took too long", "134": "the compiler aborted", "139": "the compiler crashed", "1": "refused"}
NEAR = 0.02


def read_gpu(folder, gpu):
    rows = {}
    for path in sorted((folder / gpu).glob("*.status")):
        variant = path.name.removesuffix(".status")
        status = path.read_text().strip()
        if status == "0":
            rows[variant] = cost_of(variant, (folder / gpu / f"{variant}.txt").read_text(errors="replace"), GPUS[gpu][1])
        else:
            rows[variant] = {"outcome": STATUS.get(status, f"ended with {status}")}
    return rows


def read(folder):
    result = {gpu: read_gpu(folder, gpu) for gpu in GPUS if (folder / gpu).is_dir()}
    if not any(result.values()):
        sys.exit(f"{folder}: no listings")
    return result


def show(row):
    if row["outcome"] != "built":
        return row["outcome"]
    unit, value = bound(row["cost"])
    per = "multiply-add" if row["count"] > 1 else row["part"]
    units = " ".join(f"{name} {cycles:.3f}" for name, cycles in row["cost"].items())
    return (f"{unit} {value:.4f} a {per} ({units}), spills {row['spills']}:{row['fills']}, threads {row['threads'] or '-'}, "
            f"messages {row['messages']}")


def differences(before, now):
    """(gpu, variant, what) of each that is not as before; a variant that only one of the two has counts only where both know its GPU."""
    for gpu in sorted(set(before) & set(now)):
        for variant in sorted(set(before[gpu]) | set(now[gpu])):
            old, new = before[gpu].get(variant), now[gpu].get(variant)
            if old is None or new is None:
                yield gpu, variant, "is new" if old is None else "is gone"
            elif old["outcome"] != new["outcome"]:
                yield gpu, variant, f"{old['outcome']} -> {new['outcome']}"
            elif old["outcome"] == "built" and not alike(old, new):
                yield gpu, variant, f"{show(old)}\n      -> {show(new)}"


def alike(old, new):
    (unit, was), (unit_now, value) = bound(old["cost"]), bound(new["cost"])
    return (old["spills"], old["fills"]) == (new["spills"], new["fills"]) and abs(value - was) <= NEAR * max(was, 1e-9)


def family_cost(family, row):
    """The bound of the part of a kernel that a family is about."""
    part = family.get("part", "loop")
    if part == "kernel":
        return bound(row["kernel"])
    if "loop" in family:
        return bound(row["loops"][family["loop"]]) if len(row["loops"]) > family["loop"] else None
    return bound(row["cost"])


def best_of(family, rows):
    """The variant of least bound among those of a family that do not spill: (bound, unit, variant), or None."""
    found = []
    for variant, row in rows.items():
        fits = any(fnmatch.fnmatch(variant, pattern) for pattern in family["ours"])
        if fits and row["outcome"] == "built" and (row["spills"], row["fills"]) == (0, 0):
            cost = family_cost(family, row)
            found += [(cost[1], cost[0], variant)] if cost else []
    return min(found, default=None)


def compare_families(families, result):
    """Prints the table; yields a fault for each family that does not stand as it is said to."""
    print("family | GPU | peer | ours | variant | holds")
    for family in families["families"]:
        for gpu, peer in family["peer"].items():
            if gpu not in result:
                continue
            best = best_of(family, result[gpu])
            holds = best is not None and best[0] <= peer["bound"]
            ours = f"{best[1]} {best[0]:.4f} | {best[2]}" if best else "none | -"
            print(f"{family['name']} | {GPUS[gpu][0]} | {peer['bound']} ({peer['row']}) | {ours} | {'yes' if holds else 'no'}")
            if holds != peer["holds"]:
                yield f"{family['name']} on {GPUS[gpu][0]}: said to {'hold' if peer['holds'] else 'not hold'}, and does {'' if holds else 'not'}"


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    for name in ("write", "against", "families", "expect"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    options = parser.parse_args(words)
    result = read(options.folder)
    faults = []
    if options.write:
        options.write.write_text(rows_of_json(result))
    if options.against:
        for gpu, variant, what in differences(json.loads(options.against.read_text()), result):
            print(f"{GPUS[gpu][0]} {variant}: {what}")
    elif not options.families:
        for gpu, rows in result.items():
            for variant, row in rows.items():
                print(f"{GPUS[gpu][0]} {variant}: {show(row)}")
    if options.families:
        faults += compare_families(json.loads(options.families.read_text()), result)
    if options.expect:
        expected = json.loads(options.expect.read_text())
        faults += [f"{GPUS[gpu][0]} {variant}: {what}" for gpu, variant, what in differences(expected, result)]
    for fault in faults:
        print(f"FAULT {fault}")
    return 1 if faults else 0


def rows_of_json(result):
    """One variant a line."""
    gpus = []
    for gpu, rows in result.items():
        lines = ",\n".join(f"  {json.dumps(variant)}: {json.dumps(row)}" for variant, row in rows.items())
        gpus.append(f"{json.dumps(gpu)}: {{\n{lines}\n}}")
    return "{" + ",\n".join(gpus) + "}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
