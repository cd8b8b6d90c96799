#!/usr/bin/env python3
"""ci/personalities.py FOLDER [FRAMEWORK...]: runs the programs of ci/personalities.sh and compares what they try with the
framework's row in probe/data/cl/personalities.json. FOLDER holds loader.so (a real loader), plain.so (a library without OpenCL),
seen (searched first for bare names) and, where it could be built, opencv. Nothing else here is called libOpenCL.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

TABLE = pathlib.Path(__file__).resolve().parent.parent / "probe/data/cl/personalities.json"
CALLS = "openat,open,stat,lstat,access,faccessat,faccessat2,newfstatat,statx"
# By framework: a program that looks as it does. clinfo stands for whatever is linked with -lOpenCL.
PROGRAMS = {
    "opencv": ["{folder}/opencv"],
    "hashcat": ["hashcat", "-I"],
    "clpeak": ["clpeak", "--version"],
    "llama.cpp": ["clinfo", "--version"],
}
CALL = re.compile(r'\b(?:open|openat|stat|lstat|access|faccessat2?|newfstatat|statx)\((?:AT_FDCWD, )?"([^"]+)"')
LIBRARY = re.compile(r"^lib(OpenCL|GLES_mali|mali|pocl|PVROCL)\b.*\.so[.0-9]*$")


def names_tried(trace, seen, watched=()):
    """The names in the order in which they were asked for. The dynamic linker looks for a bare name in `seen` first, then
    in its other folders; a path outside `seen` of the name just asked for is that same search."""
    names = []
    for line in trace.splitlines():
        found = CALL.search(line)
        path = found.group(1) if found else ""
        folder, name = os.path.split(path)
        if path not in watched and not LIBRARY.match(name):
            continue
        if folder == seen or folder.startswith(seen + "/"):
            tried = name
        elif names and names[-1] == name:
            continue
        else:
            tried = path
        if not names or names[-1] != tried:
            names.append(tried)
    return names


def expected(row, there, variables):
    """What the row says is tried, and how it ends, where `there` holds names with "good" or "plain"."""
    names = [variables[name] for name in row.get("variables", []) if name in variables]
    if not (names and row.get("variable_alone")):
        names = names + row["names"]["linux"]
    end, tried = "no-library", []
    for name in names:
        tried.append(name)
        kind = there.get(name)
        if kind == "plain" and row["stops_at"] == "symbol":
            end = "missing-symbols"
        elif kind:
            return tried, "found" if kind == "good" else "missing-symbols"
    return tried, end


def cases(row, folder):
    """(what is there, variables): nothing, each name alone, a library without OpenCL before the rest, variables."""
    names = row["names"]["linux"]
    found = [({}, {})] + [({name: "good"}, {}) for name in names]
    if row["stops_at"] != "linked":
        found += [({other: "plain" if other == name else "good" for other in names}, {}) for name in names]
        found.append(({name: "plain" for name in names}, {}))
    for variable in row.get("variables", []):
        good, absent = str(folder / "loader.so"), str(folder / "absent.so")
        found += [({good: "good"}, {variable: good}), ({}, {variable: absent}),
                  ({name: "good" for name in names}, {variable: absent})]
    return found


def run(command, folder, there, variables):
    seen = folder / "seen"
    shutil.rmtree(seen)
    seen.mkdir()
    for name, kind in there.items():
        if "/" not in name:
            (seen / name).symlink_to(folder / ("loader.so" if kind == "good" else "plain.so"))
    trace = folder / "trace"
    environment = dict(os.environ, HOME=str(folder), LD_LIBRARY_PATH=str(seen), OCL_ICD_VENDORS="/nonexistent", **variables)
    done = subprocess.run(["strace", "-f", "-qq", "-e", "trace=" + CALLS, "-o", trace, *command], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120, check=False)
    return names_tried(trace.read_text(errors="replace"), str(seen), variables.values()), done.stdout + done.stderr


def check(row, command, folder):
    faults = []
    all_cases = cases(row, folder)
    for there, variables in all_cases:
        wanted, end = expected(row, there, variables)
        tried, output = run(command, folder, there, variables)
        where = f"{row['name']} ({command[0]}), there: {there or 'nothing'}" + (f", {variables}" if variables else "")
        if tried != wanted:
            faults.append(f"{where}\n  the table says {wanted}\n  it tried       {tried}")
        faults += [f"{where}\n  it does not print '{line}':\n{output}" for line in row.get("prints", {}).get(end, [])
                   if line not in output]
    print(f"{row['name']}: {command[0]}, {len(all_cases)} cases, {len(faults)} faults", flush=True)
    return faults


def main(arguments):
    folder = pathlib.Path(arguments[0])
    rows = {row["name"]: row for row in json.loads(TABLE.read_text())["personalities"]}
    faults, tried = [], 0
    for name, words in PROGRAMS.items():
        command = [word.format(folder=folder) for word in words]
        if arguments[1:] and name not in arguments[1:]:
            continue
        if not shutil.which(command[0]):
            print(f"{name}: {command[0]} is not here: not tried")
            continue
        tried += 1
        faults += check(rows[name], command, folder)
    for fault in faults:
        print("FAULT " + fault)
    return 1 if faults else 0 if tried else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
