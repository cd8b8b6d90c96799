"""What Mesa's compilers for Mali print of a program (BIFROST_MESA_DEBUG=shaderdb,shaders, or MIDGARD_MESA_DEBUG): the final
blocks of instructions, the loops that they form, and the compiler's own figures.

rusticl has a kernel compiled twice, with and without an offset of the global ids; the second is the one that runs without.
"""
import re

STATISTICS = re.compile(r"^SHADER-DB:.*$", re.M)


class Block:
    def __init__(self, number, lines, successors):
        self.number, self.lines, self.successors = number, lines, successors


class Loop:
    """The blocks from the one that a back edge goes to, to the one that it comes from. `inner`: it holds no other loop."""

    def __init__(self, blocks, first, last, inner):
        self.blocks, self.first, self.last, self.inner = blocks, first, last, inner


def blocks_of(listing):
    """The blocks of the last form in which a listing holds the program: after scheduling and register allocation."""
    forms, lines, at = [], listing.split("\n"), 0
    while at < len(lines):
        head = re.match(r"^block(\d+):? \{", lines[at])
        at += 1
        if not head:
            continue
        body = []
        while at < len(lines) and not lines[at].startswith("}"):
            body.append(lines[at])
            at += 1
        tail = lines[at].split("from")[0] if at < len(lines) else ""
        if head[1] == "0":
            forms.append([])
        if forms:
            forms[-1].append(Block(int(head[1]), body, [int(number) for number in re.findall(r"block(\d+)", tail)]))
    return forms[-1] if forms else []


def loops_of(blocks):
    place = {block.number: i for i, block in enumerate(blocks)}
    spans = {}
    for i, block in enumerate(blocks):
        for successor in block.successors:
            first = place.get(successor, len(blocks))
            if first <= i:
                spans[first] = max(spans.get(first, 0), i)
    inside = lambda a, b: a != b and b[0] <= a[0] and a[1] <= b[1]
    spans = sorted(spans.items())
    return [Loop(blocks[a:b + 1], a, b, not any(inside(other, (a, b)) for other in spans)) for a, b in spans]


class Listing:
    """blocks, loops, and what the compiler says: spills, fills, threads (2: full occupancy; 0: not said), totals by unit."""

    def __init__(self, text):
        found = list(STATISTICS.finditer(text))
        if not found:
            raise ValueError("the compiler printed no figures")
        self.said = found[-1].group()
        self.blocks = blocks_of(text[found[-2].end() if len(found) > 1 else 0:found[-1].start()])
        if not self.blocks:
            raise ValueError("the compiler printed no instructions")
        self.loops = loops_of(self.blocks)
        spills = re.search(r"(\d+):(\d+) spills:fills", self.said)
        self.spills, self.fills = (int(spills[1]), int(spills[2])) if spills else (0, 0)
        threads = re.search(r"(\d+) threads", self.said)
        self.threads = int(threads[1]) if threads else 0

    def total(self, name):
        """The compiler's own total of `name`, e.g. "arith", "bundles"; None where it prints none."""
        found = re.search(rf"([\d.]+) {name}\b", self.said)
        return float(found[1]) if found else None
