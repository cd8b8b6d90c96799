#!/usr/bin/env python3
"""check_includes.py [FILE...]: who uses a project's type includes the header that declares the type.

clang-tidy's misc-include-cleaner (19) misses two uses: a type that only `Type(a, b)` or `Type{a, b}` names, and any use of a type
of which an included header has a forward declaration. Without arguments: all sources. Exit 1: an include is missing.
"""
import pathlib
import re
import sys

from sources import sources

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
DECLARED = re.compile(r"^(?:template <[^\n]*>\n)?(?:class|struct|enum class) ([A-Z]\w+)[^;\n]*\{", re.M)
NOT_CODE = re.compile(r'//[^\n]*|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|^#include[^\n]*', re.M | re.S)
PUBLIC = "runtime/include/"
PUBLICLY = re.compile(r"^(?:class|struct|enum class) (?:CLVET_API )?([A-Z]\w*[a-z]\w*)", re.M)
FORWARD = re.compile(r"^(?:class|struct) ([A-Z]\w+);", re.M)
NAMED = re.compile(r"(?<![\w.:>~])([A-Z]\w+)\b(?!::)")
MADE = re.compile(r"(?<![\w.:>~])([A-Z]\w+)[({]")


def faults(root, wanted=()):
    """(file, type, header) for each include that is missing below `root`; of all files where none are named."""
    files = {name: (root / name).read_text() for name in sources(root)}
    homes = {}
    # The public headers have names of their own (clvet::v1), some of which are those of other types within.
    public = {named for name, text in files.items() if name.startswith(PUBLIC) for named in PUBLICLY.findall(text)}
    for name, text in files.items():
        if name.endswith(".h") and not name.startswith(PUBLIC):
            for declared in DECLARED.findall(text):
                homes.setdefault(declared, set()).add(name)
    forward = {named for text in files.values() for named in FORWARD.findall(text)}
    known = {declared: next(iter(where)) for declared, where in homes.items() if len(where) == 1}
    rows = []
    for name in wanted or files:
        text = files.get(name, "")
        included = set(INCLUDE.findall(text)) | {name}
        if name.startswith("samples/"):  # whose includes are relative to the file's own folder
            included |= {name.rpartition("/")[0] + "/" + path for path in included}
        code = NOT_CODE.sub(" ", text)
        sees_public = name.startswith(PUBLIC) or any(path.startswith("clvet/") for path in included)
        own = (public if sees_public else set()) | set(re.findall(r"(?:class|struct|enum|using) (?:class )?([A-Z]\w+)", code))
        used = set(MADE.findall(code)) | (set(NAMED.findall(code)) & forward)
        rows += [(name, used_type, known[used_type]) for used_type in sorted(used - own)
                 if used_type in known and known[used_type] not in included]
    return rows


def main():
    wanted = [pathlib.Path(word).resolve().relative_to(ROOT).as_posix() for word in sys.argv[1:]]
    rows = faults(ROOT, wanted)
    for name, used_type, header in rows:
        print(f'{name}: uses {used_type} without #include "{header}"')
    return 1 if rows else 0


if __name__ == "__main__":
    sys.exit(main())
