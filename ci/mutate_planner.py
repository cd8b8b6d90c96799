#!/usr/bin/env python3
"""ci/mutate_planner.py [--build FOLDER] [--per-file N] [--file NAME] [--list]

Do the planner's tests notice a wrong planner? Changes one place of one source at a time, as a slip of the hand would,
compiles that file alone, links it with the planner's tests and runs them. A mutant is caught when a test fails, ends
badly or does not end. Exit 1: a mutant survived that tests/runtime/plan/surviving_mutants.json does not hold, or a row
of that file was caught. A row holds the mutant and "proof", why no test can tell. FOLDER (build) must hold a finished
runtime_test. The same mutants every time; those that do not compile are left out.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import mutate_kernels as places

ROOT = pathlib.Path(__file__).resolve().parent.parent
SURVIVING = ROOT / "tests/runtime/plan/surviving_mutants.json"
PLANNER = ("variant_choice", "cost", "planner", "builder", "node_choice", "placement", "evidence", "device_choice", "plan_reader",
           "plan_writer", "subject", "network_plan")
SOURCES = [f"runtime/plan/{name}.cpp" for name in PLANNER] + ["runtime/llm/decoder_plan.cpp"]
TESTS = ("tests/runtime/plan/", "tests/runtime/llm/decoder_plan_test.cpp")
SECONDS = 60  # of processor time: a mutant that runs longer hangs

SWAPPED = {"==": "!=", "!=": "==", "<": "<=", ">": ">=", "<=": "<", ">=": ">", "&&": "||", "||": "&&", "+": "-", "-": "+",
           "*": "/", "/": "*"}
replace = places.replace

# Name -> the places of a source that this slip can change: (start, end, new text).
OPERATORS = {
    "comparison": replace(r"(?<=[\w)\]]) (==|!=|<=|>=|<|>) (?=[\w(-])", lambda m: f" {SWAPPED[m[1]]} "),
    "logic": replace(r" (&&|\|\|)(?=\s)", lambda m: f" {SWAPPED[m[1]]}"),
    "arithmetic": replace(r"(?<=[\w)]) ([-+*/]) (?=[\w(])", lambda m: f" {SWAPPED[m[1]]} "),
    "condition": replace(r"\bif \((?!const auto|const int|auto |true|false)((?:[^();]|\([^();]*\))*)\)(?= [^{]| \{)",
                         lambda m: f"if (!({m[1]}))"),
    "choice": replace(r" \? ([^?:;{}]+?) : ([^?:;{}]+?)(?=[;,)])", r" ? \2 : \1"),
    "constant": replace(r"(?<![\w.#])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", lambda m: f"({m.group()} + 1)"),
    "flag": replace(r"\b(true|false)\b(?=[;,)}])", lambda m: "false" if m[1] == "true" else "true"),
    "extreme": replace(r"\bstd::(min|max)(?=[(<])", lambda m: "std::max" if m[1] == "min" else "std::min"),
    "dropped": replace(r"(?m)^ {2,}(?!return|const |auto |using |throw |CLVET_ASSIGN)[\w.>\[\]()-]+"
                       r"(?:\([^;{}]*\)| [-+]?= [^;{}]+);$", ";"),
    "early": replace(r"(?m)^ +(continue|break);$", lambda m: m.group().replace(m[1], "")),
    "emptied": replace(r"(?m)^  return (?!\{\}|tl::|fail|std::nullopt)[^;{}]+;$", "  return {};"),
}


def code_only(text):
    text = places.code_only(text)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', lambda m: '"' + " " * (len(m.group()) - 2) + '"', text)


def mutants_of(path):
    """(operator, line before, line after, text); the texts differ from each other."""
    text, seen = path.read_text(), set()
    for name, sites in OPERATORS.items():
        for start, end, new in sites(code_only(text)):
            # Strings were blanked: what a slip keeps is taken from the text itself.
            if '"' in text[start:end]:
                continue
            mutant = text[:start] + new + text[end:]
            if mutant in seen or mutant == text:
                continue
            seen.add(mutant)
            number = places.line_of(text, start)
            yield name, places.line_text(text, number), places.line_text(mutant, number), mutant


class Tests:
    """Links the planner's tests with one object changed, and runs them."""

    def __init__(self, build):
        self.build = build
        commands = {row["file"]: row["command"] for row in json.loads((build / "compile_commands.json").read_text())}
        self.compile = {source: shlex.split(commands[str(ROOT / source)]) for source in SOURCES}
        self.objects = [self.object_of(shlex.split(command)) for file, command in sorted(commands.items())
                        if file.startswith(tuple(str(ROOT / test) for test in TESTS))]
        link = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "runtime_test"], check=True, text=True,
                              capture_output=True).stdout.splitlines()[-1]
        words = shlex.split(link.split("&&")[1])
        first = words.index("-o")
        self.libraries = words[first + 2:]

    @staticmethod
    def object_of(words):
        return words[words.index("-o") + 1]

    def run(self, command, seconds=600):
        try:
            return subprocess.run(command, cwd=self.build, capture_output=True, text=True, errors="replace", timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def judge(self, source, text):
        """'caught by ...', 'survived' or 'stillborn'."""
        with tempfile.TemporaryDirectory() as folder:
            file, made, program = f"{folder}/mutant.cpp", f"{folder}/mutant.o", f"{folder}/tests"
            pathlib.Path(file).write_text(text)
            words = list(self.compile[source])
            words[words.index("-o") + 1], words[words.index("-c") + 1] = made, file
            compiled = self.run(words)
            if compiled is None or compiled.returncode:
                return "stillborn"
            linked = self.run(["c++", *self.objects, made, "-o", program, *self.libraries])
            if linked is None or linked.returncode:
                sys.exit(f"{source}: does not link: {linked.stderr[-800:] if linked else 'too slow'}")
            ran = self.run(["prlimit", f"--cpu={SECONDS}", program, "--gtest_brief=1", "--gtest_fail_fast"], 3600)
        if ran is None:
            return "caught by its hanging"
        if ran.returncode == 0:
            return "survived"
        failed = re.search(r"\[  FAILED  \] ([\w/.]+)", ran.stdout)
        return f"caught by {failed[1] if failed else f'exit {ran.returncode}'}"


def chosen(options):
    for source in SOURCES:
        if options.file not in source:
            continue
        for row in places.choose(mutants_of(ROOT / source), options.per_file):
            yield source, *row


def run(options):
    tests = Tests(pathlib.Path(options.build).resolve())
    source = SOURCES[0]
    told = tests.judge(source, (ROOT / source).read_text())
    if told != "survived":
        sys.exit(f"the tests fail on the planner as it is: {told}")

    def one(mutant):
        source, name, before, after, text = mutant
        row = {"file": source, "operator": name, "before": before, "after": after, "result": tests.judge(source, text)}
        print(f"{source} {name}: {before} -> {after}: {row['result']}", flush=True)
        return row

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(one, chosen(options)))


def read_excuses():
    rows = json.loads(SURVIVING.read_text())
    for row in rows:
        if set(row) != {*places.PLACE, "proof"}:
            sys.exit(f"{SURVIVING}: a row needs {', '.join(places.PLACE)} and proof: {row}")
        text = (ROOT / row["file"]).read_text()
        if row["before"] not in [places.line_text(text, i) for i in range(text.count("\n"))]:
            sys.exit(f"{SURVIVING}: {row['file']} has no line '{row['before']}'")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--per-file", type=int, default=8)
    parser.add_argument("--file", default="", help="only sources whose path holds this")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="print the mutants and try none")
    options = parser.parse_args()
    if options.list:
        for source, name, before, after, _ in chosen(options):
            print(f"{source} {name}: {before} -> {after}")
        return 0
    faults, counts = places.judge_rows(run(options), read_excuses())
    for fault in faults:
        print(f"FAULT {fault}")
    tried = counts["caught"] + counts["unexplained"]
    print(f"mutants caught: {counts['caught']} of {tried} (besides, {counts['equivalent']} equivalent, {counts['stillborn']} do "
          "not compile)")
    return 1 if faults or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
