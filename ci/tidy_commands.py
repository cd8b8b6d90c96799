#!/usr/bin/env python3
"""tidy_commands.py BUILD: writes BUILD/tidy/compile_commands.json, the compile commands as ci/tidy.sh needs them.

Precompiled headers are left out: they hide what a file forgot to include. Each header gets the command of the nearest source, as a
file of its own. A macro of a source that nothing expands is warned of: a missing #include "table.inc" leaves one. Prints the
project's files that have a command.
"""
import json
import os
import pathlib
import re
import sys

from sources import LAYERS, sources

DROPPED = re.compile(r" -Winvalid-pch|( -Xclang)? -include(-pch)?( -Xclang)? \S*/cmake_pch\.hxx(\.pch)?| -o \S+| -c \S+$")


def main():
    build = os.path.abspath(sys.argv[1])
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        rows = json.load(file)
    compiled = {}
    for row in rows:
        path = os.path.relpath(row["file"], root)
        if path.split("/")[0] in LAYERS:
            # Of a file in several targets: the command that says most.
            compiled[path] = max(compiled.get(path, ""), DROPPED.sub("", row["command"]), key=len)

    commands = {path: command + " -Wunused-macros" for path, command in compiled.items()}
    for header in sources(pathlib.Path(root), ("h",)):
        nearest = max(compiled, key=lambda path: (len(os.path.commonpath([header, path])), len(compiled[path]), path))
        commands[header] = compiled[nearest] + " -x c++-header"

    os.makedirs(os.path.join(build, "tidy"), exist_ok=True)
    with open(os.path.join(build, "tidy", "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump([{"directory": build, "file": f"{root}/{path}", "command": f"{command} {root}/{path}"}
                   for path, command in sorted(commands.items())], file, indent=1)
    print("\n".join(sorted(commands)))


main()
