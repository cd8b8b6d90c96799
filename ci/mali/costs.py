"""The cost of a variant, read from what a compiler printed of it.

The hot loop is the first innermost loop of at least four multiply-adds; the loops behind it are borders, remainders and
epilogues. A kernel without one counts wholly, each loop once. Of a product, costs are also given for each multiply-add.
"""
import json
import pathlib

from .listing import Listing

WORK = json.loads((pathlib.Path(__file__).parent / "work.json").read_text())
LEAST = 4


def lines_of(blocks):
    return [line for block in blocks for line in block.lines]


def products(listing, family):
    """The innermost loops that multiply and add, in the order of the program."""
    return [loop for loop in listing.loops if loop.inner and family.fused(lines_of(loop.blocks)) >= LEAST]


def multiply_adds(variant, fused):
    """Those of an iteration; None where the kernel is no product, or its half instructions cannot be counted."""
    kernel, precision = variant.split(".")[:2]
    if kernel not in WORK:
        return None
    work = WORK[kernel]
    quantised = variant.endswith((".int8", ".int4"))
    if precision == "low":
        return work.get("low")
    return fused / (1 + 1 / work["rows"]) if quantised else fused


def same_as_said(listing, family):
    """Is the sum over all blocks what the compiler says itself?"""
    total = family.cost(lines_of(listing.blocks))
    return all(listing.total(said) is not None and abs(total[unit] - listing.total(said)) < 0.02
               for unit, said in family.totals.items())


def unit_costs(cycles, count):
    return {unit: round(value / count, 4) for unit, value in cycles.items() if unit != "bundles" and value}


def bound(cost):
    """The unit that takes longest, and how long."""
    unit = max(cost, key=cost.get) if cost else "nothing"
    return unit, cost.get(unit, 0.0)


def cost_of(variant, text, family):
    """A row of the result. `cost`: cycles by unit, for each of `count` multiply-adds, or of the whole loop or kernel (count 1)."""
    try:
        listing = Listing(text)
    except ValueError as fault:
        return {"outcome": str(fault)}
    hot = products(listing, family)
    lines = lines_of(hot[0].blocks if hot else listing.blocks)
    fused = family.fused(lines)
    count = multiply_adds(variant, fused) if hot else None
    row = {"outcome": "built", "spills": listing.spills, "fills": listing.fills, "threads": listing.threads,
           "part": "loop" if hot else "kernel", "fused": fused, "count": count or 1, "messages": family.messages(lines),
           "cost": unit_costs(family.cost(lines), count or 1),
           "loops": [unit_costs(family.cost(lines_of(loop.blocks)), family.fused(lines_of(loop.blocks))) for loop in hot],
           "kernel": unit_costs(family.cost(lines_of(listing.blocks)), 1)}
    if not same_as_said(listing, family):
        row["outcome"] = "read otherwise than the compiler counts"
    return row
