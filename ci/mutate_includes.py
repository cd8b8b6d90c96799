#!/usr/bin/env python3
"""mutate_includes.py [--count N] [--seed S]: is an #include that goes missing noticed?

Removes N used #includes of the project's own headers, one at a time, in a copy of the sources: the compiler must refuse the file, or
ci/tidy.sh's checks must name it. At least a fifth are of headers that another #include of the file brings anyway, which no
compiler sees. Exit 1: one went unnoticed. Needs a configured build/ (cmake --preset release) and clang-tidy-19.
"""
import argparse
import functools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from check_includes import faults
from sources import LAYERS, sources

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.M)


@functools.cache
def included(path):
    return tuple(INCLUDE.findall((ROOT / path).read_text())) if (ROOT / path).exists() else ()


def brought(path, seen):
    """All project headers that `path` brings."""
    for header in included(path):
        if header not in seen:
            seen.add(header)
            brought(header, seen)
    return seen


def chosen(count, seed):
    rows = []
    for path in sources(ROOT):
        for header in included(path):
            if not (ROOT / header).exists():
                continue  # generated
            others = set()
            for other in included(path):
                if other != header:
                    others |= {other} | brought(other, set())
            rows.append((path, header, header in others))
    rows.sort()
    random.Random(seed).shuffle(rows)
    hidden = [row for row in rows if row[2]][: max(1, count // 5)]
    return hidden + [row for row in rows if row not in hidden][: count - len(hidden)]


def notice(copy, command, path, header):
    """'build', 'tidy' or None."""
    file = copy / path
    text = file.read_text()
    file.write_text(text.replace(f'#include "{header}"\n', "", 1))
    try:
        if subprocess.run(f"{command} -fsyntax-only -w", shell=True, cwd=copy, capture_output=True).returncode != 0:
            return "build"
        tidy = subprocess.run(["clang-tidy-19", "-p", str(copy / "tidy"), "--quiet", str(file)], capture_output=True)
        return "tidy" if tidy.returncode != 0 or faults(copy, [path]) else None
    finally:
        file.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.chdir(ROOT)
    subprocess.run([sys.executable, "ci/tidy_commands.py", "build"], check=True, stdout=subprocess.DEVNULL)
    rows = chosen(options.count, options.seed)
    counts = {"build": 0, "tidy": 0, None: 0}
    with tempfile.TemporaryDirectory() as scratch:
        copy = pathlib.Path(scratch)
        for layer in LAYERS:
            shutil.copytree(ROOT / layer, copy / layer)
        for name in (".clang-tidy", ".clang-format"):
            shutil.copy(ROOT / name, copy / name)
        commands = json.loads((ROOT / "build/tidy/compile_commands.json").read_text())
        # Own headers come from the copy, generated ones from the build.
        moved = [{**row, "directory": str(copy), "file": row["file"].replace(str(ROOT), str(copy)),
                  "command": re.sub(rf"{ROOT}(?!/build)", str(copy), row["command"])} for row in commands]
        (copy / "tidy").mkdir()
        (copy / "tidy/compile_commands.json").write_text(json.dumps(moved))
        by_file = {row["file"]: row["command"] for row in moved}
        for path, header, hidden in rows:
            found = notice(copy, by_file[str(copy / path)], path, header)
            counts[found] += 1
            print(f"{found or 'UNNOTICED'}: {path} without {header}{' (which another brings)' if hidden else ''}", flush=True)
    print(f"{len(rows)} removed, {sum(row[2] for row in rows)} that another brings: {counts['build']} noticed by the compiler, "
          f"{counts['tidy']} by tidy, {counts[None]} unnoticed")
    return 1 if counts[None] else 0


sys.exit(main())
