#!/usr/bin/env python3
"""ci/check_layers.py [ROOT]: which file may include which.

- Quoted includes are relative to the root and exist (but for generated ones); clvet/ is runtime/include/clvet/.
- base < kernels < probe < runtime < reports < cli: a layer includes itself and lower ones. samples stand where runtime does;
  only tests include tests and samples, and nothing includes cli.
- Rooms (folders) have no circles: no room includes another that leads back to it.
- The rules of CLOSED: some rooms are entered by few.

Exit 1: a fault, each on a line of its own.
"""
import pathlib
import re
import sys

from sources import sources

LAYERS = ("base", "kernels", "probe", "runtime", "reports", "cli")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
PUBLIC = "runtime/include/"
# Built as programs are that have the installed library alone.
OUTSIDE = ("samples/c/", "samples/embed/", "tests/install/")
GENERATED = re.compile(r"(^|/)embedded_[^/]*\.h$|\.pb\.h$")
OPENCL_ROOMS = r"(probe/(cl|discover|checks|trial|worker)|runtime/exec|tests)/"
# (included path, who may include it, why)
CLOSED = (
    (r"CL/", OPENCL_ROOMS, "OpenCL headers belong to probe/{cl,discover,checks,trial,worker} and runtime/exec"),
    (r"probe/cl/", OPENCL_ROOMS, "OpenCL belongs to probe/{cl,discover,checks,trial,worker} and runtime/exec"),
    (r"probe/(trial/|checks/|probe\.h)", r"(probe|cli|tests)/", "plans and runs rest on reports, not on trials"),
    (r"tests/", r"tests/", "only tests include tests"),
    (r"samples/", r"(samples|tests)/", "only tests include samples"),
    (r"cli/", r"cli/", "nothing includes cli"),
)


def top_of(path):
    return path.split("/")[0]


def rank_of(path):
    layer = "runtime" if top_of(path) == "samples" else top_of(path)
    return LAYERS.index(layer) if layer in LAYERS else None


def there(root, path):
    return (root / path).exists() or (root / f"{path}.in").exists()  # a header, or what CMake makes it from


def faults_of_include(root, name, delimiter, path):
    if path.startswith("clvet/"):  # as those who install them see the public headers
        path = PUBLIC + path
    own = rank_of(path) is not None
    if delimiter == "<":
        if own and (root / path).exists() and not name.startswith(OUTSIDE):
            yield f"includes <{path}>: write our own headers in quotes"
    elif re.search(r"(^|/)\.\.?/", path):
        yield f'includes "{path}": write it relative to the root'
    elif not path.startswith("CL/") and not GENERATED.search(path) and not there(root, path):
        yield f'includes "{path}": not relative to the root, or not there'
    for included, allowed, why in CLOSED:
        if re.match(included, path) and not re.match(allowed, name):
            yield f"includes {path}: {why}"
    if own and not name.startswith("tests/") and not path.startswith("cli/") and rank_of(path) > rank_of(name):
        yield f"includes {path}: {top_of(name)} lies below {top_of(path)}"


def circles(edges):
    """The circles between rooms: sets of rooms each of which leads to each other one (Tarjan, 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(room):
        index[room] = low[room] = len(index)
        stack.append(room)
        for other in sorted(edges.get(room, ())):
            if other not in index:
                visit(other)
                low[room] = min(low[room], low[other])
            elif other in stack:
                low[room] = min(low[room], index[other])
        if low[room] == index[room]:
            members = stack[stack.index(room):]
            del stack[len(stack) - len(members):]
            if len(members) > 1:
                found.append(sorted(members))

    for room in sorted(edges):
        if room not in index:
            visit(room)
    return found


def check(root):
    names = [name for name in sources(root, ("cpp", "h", "cc", "c", "hpp", "inc")) if not name.startswith("tests/ci/")]
    faults, edges, by = [], {}, {}
    for name in names:
        room = name.rpartition("/")[0]
        for delimiter, path in INCLUDE.findall((root / name).read_text()):
            faults += [f"{name}: {fault}" for fault in faults_of_include(root, name, delimiter, path)]
            other = path.rpartition("/")[0]
            if delimiter == '"' and other != room and rank_of(path) is not None and rank_of(name) is not None:
                if (root / path).exists():
                    edges.setdefault(room, set()).add(other)
                    by.setdefault((room, other), f"{name} includes {path}")
    for members in circles(edges):
        steps = [by[a, b] for a in members for b in members if (a, b) in by]
        faults.append(f"{', '.join(members)}: a circle of rooms: {'; '.join(steps)}")
    return names, faults


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    names, faults = check(root)
    for fault in faults:
        print(fault)
    print(f"layers: {len(faults)} fault(s) in {len(names)} files" if faults else f"layers: {len(names)} files in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
