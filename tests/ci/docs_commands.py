"""Every command of the docs runs as it stands there, or tests/ci/docs_commands.json says why it does not.

Usage: docs_commands.py CLVET REPORT STATE_DIR [PAGE...], with the tests' Python (ci/env.sh). Commands are the lines of
indented and fenced blocks in docs/*.md, README.md and CONTRIBUTING.md. In a block that has lines with `$ `, those are the
commands, and the others are their output. The table lists

- `files`: how the files are made that commands name, in a folder of the page's own; `words`: what stands for places in examples;
- `output`: the first lines of blocks that are nothing but output;
- `run`: the exit codes that a page promises where they are not 0, and what runs in place of a command that wants another machine;
- `not_run`: commands that do not run.

REPORT is copied into the state folder. Exit 1: a command failed; a new one that may change the machine is not in the table; or a
row of the table is about nothing.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/ci/docs_commands.json"
WRITES = r"(?:--(?:json|out|csv|html|fix-script|save-plan|output-dir|prefix)[ =]|> *|ln -s \S+ )"
# What runs without a row of the table; anything else may change the machine.
# Without a prefix, or with one from the root on, `cmake --install` writes into this machine.
HARMLESS = re.compile(r"(?!cmake --install (?!.*--prefix [^/]))(clvet|jq|ln|cmake|build\S*) ")
SKIPPED_LANGUAGES = ("cpp", "c", "json", "python")  # programs, no commands


def blocks(text):
    """The blocks of a page, each a list of lines; an indented block goes on after an empty line."""
    found, fence, after = [], None, "gap"
    for line in text.splitlines():
        if line.startswith("```"):
            if fence is None:
                fence = line[3:].strip()
                found.append([])
            else:
                fence = None
            after = "gap"
        elif fence is not None:
            if fence not in SKIPPED_LANGUAGES:
                found[-1].append(line)
        elif not line.strip():
            after = "block gap" if after.startswith("block") else "gap"
        elif line.startswith("    ") and after != "text":
            if not after.startswith("block"):
                found.append([])
            found[-1].append(line[4:])
            after = "block"
        else:
            after = "text"
    return [block for block in found if block]


def commands(block):
    if any(line.startswith("$ ") for line in block):
        block = [line[2:] for line in block if line.startswith("$ ")]
    text = "\n".join(block).replace("\\\n", " ")
    lines = (re.sub(r"\s+#\s.*$", "", line) for line in text.split("\n"))
    return [" ".join(line.split()) for line in lines if line.strip() and not line.startswith("#")]


class Scratch:
    """A page's folder, which gets the files that a command reads."""

    def __init__(self, folder, table, environment):
        self.folder, self.files, self.environment = folder, table["files"], environment
        folder.mkdir(parents=True)
        for name in ("build", "samples", "tests"):
            (folder / name).symlink_to(ROOT / name)

    def shell(self, command):
        return subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300)

    def bring(self, command, busy=()):
        for name, make in self.files.items():
            written = re.search(WRITES + re.escape(name) + r"(?![\w.-])", command)
            named = re.search(r"(?<![\w./-])" + re.escape(name) + r"(?![\w.-])", command)
            if written and (self.folder / name).is_symlink():
                (self.folder / name).unlink()
            if name in busy or not named or written or (self.folder / name).exists():
                continue
            self.bring(make, (*busy, name))
            made = self.shell(make)
            if made.returncode not in (0, 1) or not (self.folder / name).exists():
                raise SystemExit(f"docs_commands.json: {name} is not made by: {make}\n{made.stdout}{made.stderr}")


def run_page(page, wanted, table, scratch, faults):
    for command in wanted:
        row = table["run"].get(command, {})
        if not row and not HARMLESS.match(command + " "):
            faults.append(f"{page}: {command}: neither in 'run' nor in 'not_run' of docs_commands.json")
            continue
        words = row.get("as", command)
        for word, stands_for in table["words"].items():
            words = re.sub(rf"(?<![\w/]){re.escape(word)}(?!\w)", lambda _, text=stands_for: text, words)
        scratch.bring(command)
        scratch.bring(words)
        start = time.monotonic()
        done = scratch.shell(words)
        exits = row.get("exit", [0])
        right = done.returncode in exits
        took = time.monotonic() - start
        print(f"{'right' if right else 'WRONG'}  {page}: {words}: exit {done.returncode}, {took:.1f} s", flush=True)
        if not right:
            said = done.stdout[-1500:] + done.stderr[-1500:]
            faults.append(f"{page}: {command}: exit {done.returncode}, wanted {exits}\n{said}")


def stale(table, seen, shown):
    for part in ("run", "not_run"):
        for command in table[part]:
            if command not in seen:
                yield f"docs_commands.json: no page has this command any more: {command}"
    for first in table["output"]:
        if first not in shown:
            yield f"docs_commands.json: no block begins like this any more: {first}"


def pages_of(names):
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in pages if not names or page.name in names]


def main():
    clvet, report, state, *names = sys.argv[1:]
    table = json.loads(TABLE.read_text())
    state = pathlib.Path(state)
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir(parents=True, mode=0o700)
    shutil.copyfile(report, state / "report.json")
    path = f"{pathlib.Path(clvet).resolve().parent}:{os.environ['PATH']}"
    environment = dict(os.environ, PATH=path, CLVET_STATE_DIR=str(state), CMAKE_BUILD_PARALLEL_LEVEL="2", LC_ALL="C.UTF-8",
                       REPO=str(ROOT), PYTHON=sys.executable)
    faults, seen, shown, ran, listed = [], set(), set(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for page in pages_of(names):
            wanted = []
            for block in blocks(page.read_text()):
                if block[0].strip() in table["output"]:
                    shown.add(block[0].strip())
                    continue
                wanted += commands(block)
            seen |= set(wanted)
            listed += sum(command in table["not_run"] for command in wanted)
            wanted = [command for command in wanted if command not in table["not_run"]]
            ran += len(wanted)
            run_page(page.name, wanted, table, Scratch(pathlib.Path(folder) / page.stem, table, environment), faults)
    if not names:
        faults += stale(table, seen, shown)
    for fault in faults:
        print(f"\n{fault}")
    if faults:
        print("\nMend the docs or the program; or list the command in tests/ci/docs_commands.json, with the reason.")
    print(f"docs: {ran} commands run, {listed} listed with a reason, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
