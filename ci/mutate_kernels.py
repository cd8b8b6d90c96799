#!/usr/bin/env python3
"""ci/mutate_kernels.py --program BUILD/tests/clvet_kernel_folder --out FOLDER [--per-kernel N] [--kernel GLOB] [--list]

Do the trials notice a wrong kernel? Changes one place of one kernel, or of a file that kernels share, at a time, as a slip of
the hand would, and lets the trials of every kernel that is made of it judge the change on PoCL (ci/drivers.sh run pocl). A mutant is caught when any case is not right. Exit 1:
a mutant survived that tests/kernels/surviving_mutants.json does not hold, or a row of that file was caught. A row holds
the mutant and either "proof", why it computes the same (it does not count), or "blind", why trials cannot see it (it
counts as not caught). Results are kept in FOLDER/results.json and not made again while kernel and mutant are
the same; so it can be stopped and goes on. Mutants that do not compile are left out.
"""
import argparse
import collections
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

PLACE = ("file", "operator", "before", "after")
ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ROOT / "kernels"
SURVIVING = ROOT / "tests/kernels/surviving_mutants.json"
# Files that kernels share and that hold most of what these compute.
COMMON = ("attention.clh", "attention_parts.clh", "attention_tile.clh", "conv_group.clh", "grid.clh", "group_tile.clh", "kept_rows.clh",
          "mma_row.clh", "sample.clh", "tile8x32.clh")


def balanced(text, start):
    """Index of the ')' that closes the '(' at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    return -1


def arguments(text, opening):
    """The arguments of the call whose '(' is at `opening`, and the index of its ')'; ([], -1) where it does not end."""
    closing = balanced(text, opening)
    if closing < 0:
        return [], -1
    parts, depth, last = [], 0, opening + 1
    for i in range(opening + 1, closing):
        depth += (text[i] in "([") - (text[i] in ")]")
        if text[i] == "," and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    return parts + [text[last:closing]], closing


def calls(text, pattern, change):
    for match in re.finditer(pattern, text):
        parts, closing = arguments(text, match.end() - 1)
        new = change(parts) if closing >= 0 else None
        if new is not None:
            yield match.start(), closing + 1, new if isinstance(new, str) else match.group() + ",".join(new) + ")"


def replace(pattern, new):
    def sites(text):
        for match in re.finditer(pattern, text):
            yield match.start(), match.end(), match.expand(new) if isinstance(new, str) else new(match)
    return sites


def index_of(parts):
    return [f"1 + {parts[0].strip()}", *parts[1:]]


# Name -> the places of a kernel's text that this slip can change: (start, end, new text).
OPERATORS = {
    "bound": replace(r"(?<![<>]) < (?=[\w(])| >= ", lambda m: " <= " if "<" in m.group() else " > "),
    "index": lambda text: calls(text, r"\btexel_at\(", index_of),
    "id": replace(r"get_global_id\(\d\)", r"(\g<0> + 1)"),
    "mask": lambda text: calls(text, r"\bmask_texel\(", lambda p: f"({p[0]})" if len(p) == 3 else None),
    "accumulate": replace(r" \+= ", " = "),
    "accumulate_madd": lambda text: calls(text, r"\bmadd\(", lambda p: f"({p[0]}) * ({p[1]})" if len(p) == 3 else None),
    "constant": replace(r"(?<![\w.#])[1-9]\d*(?![\w.])", lambda m: str(int(m.group()) + 1)),
    "float_constant": replace(r"(?<![\w.])\d+\.\d+f\b", lambda m: f"({m.group()} + 0.25f)"),
    "guard": replace(r"if \([^;{}]*\) return;", ";"),
    "either": replace(r" \|\| ", " && "),
    "both": replace(r" && ", " || "),
    "extreme": replace(r"\b(f?)(min|max)\(", lambda m: m[1] + ("max(" if m[2] == "min" else "min(")),
    "lane": replace(r"\.s([123])\b", lambda m: f".s{int(m[1]) - 1}"),
    "sign": replace(r" - ", " + "),
    "remainder": replace(r" % ", " / "),
    "barrier": replace(r"\bbarrier\([^)]*\);", ";"),
}


def code_only(text):
    """The text with comments and preprocessor conditions blanked, of the same length."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)
    return re.sub(r"(?m)^#\s*(if|el|en|pragma|include)[^\n]*", blank, text)


def line_of(text, at):
    return text.count("\n", 0, at)


def line_text(text, number):
    return " ".join(text.split("\n")[number].replace("\\", "").split())


def mutants_of(path):
    """All mutants of a kernel: (operator, line before, line after, text), each one different."""
    text = path.read_text()
    code = code_only(text)
    seen = set()
    for name, sites in OPERATORS.items():
        for start, end, new in sites(code):
            mutant = text[:start] + new + text[end:]
            if mutant in seen or mutant == text:
                continue
            seen.add(mutant)
            number = line_of(text, start)
            yield name, line_text(text, number), line_text(mutant, number), mutant


def choose(mutants, count):
    """`count` of them, each operator in turn, the places of an operator in an order that has nothing to do with the text."""
    by_operator = collections.defaultdict(list)
    for mutant in mutants:
        by_operator[mutant[0]].append(mutant)
    for rows in by_operator.values():
        rows.sort(key=lambda row: hashlib.sha256(row[3].encode()).digest())
    order = sorted(by_operator, key=lambda name: hashlib.sha256((name + by_operator[name][0][3]).encode()).digest())
    chosen = []
    while len(chosen) < count and any(by_operator.values()):
        for name in order:
            if by_operator[name] and len(chosen) < count:
                chosen.append(by_operator[name].pop(0))
    return chosen


def first_fault(journal):
    """The first attempt that did not pass; a probe that holds one need not go on (a mutant that hangs takes minutes a shape)."""
    try:
        lines = journal.read_text().splitlines()
    except FileNotFoundError:  # not yet, or no more
        return None
    for line in lines:
        try:
            verdict = json.loads(line).get("verdict")
        except ValueError:  # half written
            continue
        if verdict and verdict["verdict"] not in ("pass", "unsupported"):
            return verdict
    return None


class Trials:
    """Runs the trials of a kernel with one file changed."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.kernels = folder / "kernels"

    def probe(self, relative, text, pattern):
        shutil.rmtree(self.kernels, ignore_errors=True)
        shutil.copytree(KERNELS, self.kernels, ignore=shutil.ignore_patterns("*.cpp", "*.h", "*.txt", "*.cmake"))
        (self.kernels / relative).write_text(text)
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        environment = dict(os.environ, CLVET_TEST_KERNELS=str(self.kernels), CLVET_STATE_DIR=str(self.folder / "state"))
        call = ["bash", str(ROOT / "ci/drivers.sh"), "run", "pocl", str(self.program), "probe", "--tier", "full", "--fresh",
                "--quiet", "--library", "libOpenCL.so.1", "--case", pattern, "--out", str(report)]
        journal = self.folder / "state/probe.journal"
        journal.unlink(missing_ok=True)
        log = self.folder / "probe.log"
        with log.open("w") as stderr, subprocess.Popen(call, env=environment, stdout=stderr, stderr=stderr,
                                                       start_new_session=True) as running:
            while running.poll() is None:
                fault = first_fault(journal)
                if fault:
                    os.killpg(running.pid, signal.SIGINT)
                    running.wait()
                    return [fault]
                time.sleep(0.2)
        if running.returncode not in (0, 1):
            sys.exit(f"{relative}: probe ended with {running.returncode}: {log.read_text()[-500:]}")
        rows = json.loads(report.read_text())["verdicts"]
        return [row for row in rows if row["verdict"] != "unsupported"]

    def stages(self, relative):
        """Patterns of cases, more and more of them, that are all right with the file as it is; [] where none can be tried."""
        patterns = []
        for kernel in users_of(KERNELS / relative):
            exact = f"{kernel}/{json.loads(manifest_of(kernel).read_text())['precisions'][-1]}/"
            rows = self.probe(relative, (KERNELS / relative).read_text(), exact)
            rows = rows or self.probe(relative, (KERNELS / relative).read_text(), f"{kernel}/")
            faults = [row["case"] for row in rows if row["verdict"] != "pass"]
            if faults:
                sys.exit(f"{relative}: not right as it is: {faults}")
            if rows:
                first = rows[0]["case"]
                patterns.append([first, first.rsplit("/", 1)[0] + "/", exact, f"{kernel}/"])
        return [pattern for stage in zip(*patterns) for pattern in stage]

    def judge(self, relative, text, stages):
        """'caught ...', 'survived' or 'stillborn'."""
        for pattern in stages:
            rows = self.probe(relative, text, pattern)
            if any(row["verdict"] == "build-error" for row in rows):
                return "stillborn"
            bad = next((row for row in rows if row["verdict"] != "pass"), None)
            if bad:
                return f"caught by {bad['case']}: {bad['verdict']}"
        return "survived"


def kernel_paths(pattern):
    paths = [*sorted(KERNELS.glob("ops/*/*.cl")), *(KERNELS / "common" / name for name in COMMON)]
    return [path for path in paths if fnmatch.fnmatch(path.stem, pattern)]


def manifest_of(kernel):
    return next(KERNELS.glob(f"ops/*/{kernel}.json"))


def users_of(path):
    """The kernels that a file is compiled into; of the points of one text, each is one."""
    manifests = {file: json.loads(file.read_text()) for file in sorted(KERNELS.glob("ops/*/*.json"))}
    if path.suffix == ".clh":
        return [file.stem for file, row in manifests.items() if path.name in row.get("preludes", [])]
    return [file.stem for file, row in manifests.items()
            if file.parent == path.parent and row.get("text", file.stem) == path.stem]


def load(path, default):
    return json.loads(path.read_text()) if path.exists() else default


def key_of(relative, text):
    """A result holds for the mutant, the manifests of its kernels and the files that all kernels share."""
    digest = hashlib.sha256(text.encode())
    manifests = [manifest_of(kernel) for kernel in users_of(KERNELS / relative)]
    for path in [*manifests, *sorted(KERNELS.glob("common/*")), *sorted(KERNELS.glob("reference/*"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def run(options):
    folder = pathlib.Path(options.out).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    known = load(folder / "results.json", {})
    trials = Trials(pathlib.Path(options.program).resolve(), folder)
    rows = []
    for path in kernel_paths(options.kernel):
        relative = str(path.relative_to(KERNELS))
        stages = None
        for name, before, after, text in choose(mutants_of(path), options.per_kernel):
            key = key_of(relative, text)
            if key not in known:
                if stages is None:
                    stages = trials.stages(relative)
                known[key] = trials.judge(relative, text, stages) if stages else "not tried: PoCL lacks what the kernel needs"
                temporary = folder / "results.json.new"
                temporary.write_text(json.dumps(known, indent=1))
                temporary.replace(folder / "results.json")
            rows.append({"file": relative, "operator": name, "before": before, "after": after, "result": known[key]})
            print(f"{relative} {name}: {before} -> {after}: {known[key]}", flush=True)
    return rows


def judge_rows(rows, excused):
    """Faults as lines of text, and the counts."""
    faults = []
    counts = collections.Counter()
    for row in rows:
        place = [row[name] for name in PLACE]
        excuse = next((e for e in excused if [e[name] for name in PLACE] == place), None)
        text = f"{row['file']} {row['operator']}: {row['before']} -> {row['after']}"
        word = row["result"].split()[0]
        if excuse and word == "caught":
            faults.append(f"said to survive, but caught: {text}")
        if word == "survived":
            word = "unexplained" if not excuse else "equivalent" if "proof" in excuse else "blind"
        if word == "unexplained":
            faults.append(f"survived: {text}")
        counts[word] += 1
    return faults, counts


def read_excuses():
    rows = json.loads(SURVIVING.read_text())
    for row in rows:
        if set(row) - {"proof", "blind"} != set(PLACE) or len(row) != len(PLACE) + 1:
            sys.exit(f"{SURVIVING}: a row needs {', '.join(PLACE)} and either proof or blind: {row}")
        text = (KERNELS / row["file"]).read_text() if (KERNELS / row["file"]).exists() else ""
        if row["before"] not in [line_text(text, i) for i in range(text.count("\n"))]:
            sys.exit(f"{SURVIVING}: {row['file']} has no line '{row['before']}'")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program")
    parser.add_argument("--out", default=str(ROOT / "out/mutants"))
    parser.add_argument("--per-kernel", type=int, default=6)
    parser.add_argument("--kernel", default="*")
    parser.add_argument("--list", action="store_true", help="print the mutants and try none")
    options = parser.parse_args()
    if options.list:
        for path in kernel_paths(options.kernel):
            for name, before, after, _ in choose(mutants_of(path), options.per_kernel):
                print(f"{path.relative_to(KERNELS)} {name}: {before} -> {after}")
        return 0
    if not options.program:
        parser.error("--program is needed")
    faults, counts = judge_rows(run(options), read_excuses())
    for fault in faults:
        print(f"FAULT {fault}")
    tried = counts["caught"] + counts["unexplained"] + counts["blind"]
    print(f"mutants caught: {counts['caught']} of {tried} ({counts['blind']} cannot be seen; besides, {counts['equivalent']} "
          f"equivalent, {counts['stillborn']} do not compile, {counts['not']} not tried)")
    return 1 if faults or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
