#!/usr/bin/env python3
"""ci/check_messages.py [ROOT]: facts are types and data; no code and no rule reads another part's sentences.

- No source compares or searches what is made for people (a message, reason, note, fault, detail, evidence, ...) with a text.
- A rule's "like" pattern is for the words of others: the fields of OUTSIDE hold what drivers, dlopen, the kernel and users
  wrote. Whatever clvet itself found out is a field with a fixed set of words.

Exit 1: a fault, each on a line of its own.
"""
import json
import pathlib
import re
import sys

from sources import sources

LAYERS = ("base/", "kernels/", "probe/", "runtime/", "reports/", "cli/", "samples/")
SENTENCES = r"(?:message|reason|why|note|faults?|detail|evidence|cause|warnings?|explanation)"
PATTERNS = (
    (re.compile(rf"\b{SENTENCES}(?:\(\))?\s*[=!]=\s*\"[^\"]"), "compares a sentence with a text"),
    (re.compile(rf"\"[^\"]+\"\s*[=!]=\s*[\w.>-]*\b{SENTENCES}\b"), "compares a sentence with a text"),
    (
        re.compile(rf"\b{SENTENCES}(?:\(\))?(?:\.|->)(?:find|rfind|starts_with|ends_with|contains|compare|find_first_of)\("),
        "searches in a sentence",
    ),
    (re.compile(rf"\b(?:contains_ignoring_case|mentions|regex_search|strstr)\([^;]*?\b{SENTENCES}\b"), "searches in a sentence"),
)
# (kind of fact, field) that others wrote.
OUTSIDE = {
    ("text", "text"), ("candidate", "name"), ("candidate", "reason"), ("device", "vendor"), ("device", "soc"),
    ("machine", "kernel_drivers"), ("files", "driver"), ("node", "path"), ("node", "container"), ("?", "container"),
}


def code_faults(root):
    for path in sources(root):
        if not path.startswith(LAYERS) or not path.endswith((".cpp", ".h")):
            continue
        for number, line in enumerate((root / path).read_text(errors="replace").split("\n"), 1):
            code = line.split("//")[0]
            for pattern, what in PATTERNS:
                if pattern.search(code):
                    yield f"{path}:{number}: {what}; hand on a type instead: {line.strip()}"


def patterns_of(rule):
    """(kind of fact, field) of every "like" in a rule."""
    if isinstance(rule, list):
        for row in rule:
            yield from patterns_of(row)
    elif isinstance(rule, dict):
        for field, value in rule.items():
            if isinstance(value, dict) and "like" in value:
                yield rule.get("fact", "?"), field
            yield from patterns_of(value)


def rule_faults(root):
    for path in sorted((root / "probe/data/advice/rules").glob("*.json")):
        for kind, field in patterns_of(json.loads(path.read_text())):
            if (kind, field) not in OUTSIDE:
                yield f"{path.relative_to(root)}: matches '{field}' of '{kind}' by pattern; that is a word or sentence of clvet's own"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    faults = [*code_faults(root), *rule_faults(root)]
    print("\n".join(faults) if faults else "messages: nobody reads them but people")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
