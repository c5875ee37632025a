"""Writes docs/operation_counts.md: `python -m benchmarks.counts_page`, to be run again when a formulation changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from pathlib import Path

import kinpair as kp
from benchmarks import operations
from benchmarks.chains import dh_chain
from kinpair.analysis.compare import Row

PAGE = Path(__file__).parents[1] / "docs" / "operation_counts.md"
SIZES = range(1, 11)
TYPICAL, HALF, LARGEST = 6, 5, 10  # joints the text speaks of
ARMS = ("planar-3r", "three-cylinders", "scara", "stanford-arm", "stanford-arm-saha", "kr5", "two-handed-arm")
TITLES = {
    "inverse_dynamics": "Inverse dynamics",
    "forward_dynamics": "Forward dynamics",
    "mass_matrix": "Mass matrix",
    "coriolis_matrix": "Coriolis matrix",
    "reactions": "Reactions",
}
REFUSED = "refused"

Formula = Sequence[Fraction | int]  # coefficients from the highest power of n down
QUOTED: dict[str, dict[str, Sequence[Formula]]] = {  # multiplications, additions
    quantity.replace(" ", "_"): {who: formulas for who, *formulas in published}
    for quantity, published in operations.PUBLISHED.items()
}
QUOTED["forward_dynamics"]["Walker, Orin 1982 (composite bodies), O(n³)"] = [
    (Fraction(1, 6), Fraction(23, 2), Fraction(115, 3), -47),
    (Fraction(1, 6), 7, Fraction(233, 6), -46),
]


@dataclass(frozen=True, slots=True)
class Count:
    """Multiplications (divisions among them), additions, and all operations."""

    multiplications: int
    additions: int
    total: int

    def __str__(self) -> str:
        return f"{self.multiplications} / {self.additions}"


Counts = dict[str, dict[str, list[Count | None]]]  # quantity → method → a count a mechanism, None: refused


def counted(mechanisms: Sequence[kp.Mechanism]) -> Counts:
    """Every formulation of every quantity, on each mechanism."""
    results = [{(r.quantity, r.method): r for r in _compared(m).rows} for m in mechanisms]
    keys = dict.fromkeys(key for rows in results for key in rows)
    return {
        quantity: {m: [_count(rows[q, m]) for rows in results] for q, m in keys if q == quantity}
        for quantity in TITLES
    }


def _compared(mechanism: kp.Mechanism) -> kp.Comparison:
    return kp.compare(mechanism, quantities=tuple(TITLES), states=1, time=False)


def _count(row: Row) -> Count | None:
    if row.multiplications is None or row.additions is None or row.operations is None:
        return None
    return Count(row.multiplications, row.additions, row.operations)


def quoted(quantity: str, sizes: Iterable[int]) -> dict[str, list[str]]:
    """The published formulas at these sizes; a dash where a formula is not positive, being made for larger n."""
    return {who: [_at(n, *formulas) for n in sizes] for who, formulas in QUOTED.get(quantity, {}).items()}


def _at(n: int, multiplications: Formula, additions: Formula) -> str:
    m, a = (sum(c * n**k for k, c in enumerate(reversed(x))) for x in (multiplications, additions))
    return f"{m} / {a}" if m > 0 and a > 0 else "–"


def line(cells: Iterable[object]) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def chain_table(quantity: str, counts: Counts, sizes: Sequence[int]) -> Iterator[str]:
    """Ours, then the quoted ones."""
    yield line(["formulation", *(f"n = {n}" for n in sizes)])
    yield line(["---", *("---:" for _ in sizes)])
    for method, cells in counts[quantity].items():
        yield line([f"`{method}`", *(REFUSED if c is None else c for c in cells)])
    for who, texts in quoted(quantity, sizes).items():
        yield line([f"*{who}, quoted*", *texts])


def arm_table(quantity: str, counts: Counts) -> Iterator[str]:
    """A column an arm."""
    yield line(["formulation", *(f"`{arm}`" for arm in ARMS)])
    yield line(["---", *("---:" for _ in ARMS)])
    for method, cells in counts[quantity].items():
        yield line([f"`{method}`", *(REFUSED if c is None else c for c in cells)])


def reading(quantity: str, counts: Counts) -> Iterator[str]:
    """What the table says, in words: the cheapest, the others next to it, and how the work grows."""
    every = {m: cells[SIZES.index(TYPICAL)] for m, cells in counts[quantity].items()}
    at = {m: count for m, count in every.items() if count is not None}
    ranked = sorted((count.total, m) for m, count in at.items())
    least, leanest = ranked[0]
    others = ", ".join(f"`{m}` {total / least:.1f} times" for total, m in ranked[1:])
    yield (
        f"For {TYPICAL} joints `{leanest}` has the fewest, {least} in all{f'; {others} as many' * bool(others)}. "
        f"From {HALF} to {LARGEST} joints the work grows as n to the power {_growths(quantity, counts)}."
    )
    if quantity in QUOTED:
        yield _beside(at[leanest], quantity, leanest)


def _growths(quantity: str, counts: Counts) -> str:
    powers: dict[str, float] = {}
    for method, cells in counts[quantity].items():
        half, largest = cells[SIZES.index(HALF)], cells[SIZES.index(LARGEST)]
        if half is not None and largest is not None:
            powers[method] = log(largest.total / half.total) / log(LARGEST / HALF)
    return ", ".join(f"{power:.1f} (`{m}`)" for m, power in powers.items())


def _beside(ours: Count, quantity: str, method: str) -> str:
    formulas = {who: _at(TYPICAL, *f) for who, f in QUOTED[quantity].items()}
    who, best = min(formulas.items(), key=lambda item: _sum(item[1]))
    more = _sum(str(ours)) / _sum(best) - 1
    return (
        f"The cheapest of the quoted ones for {TYPICAL} joints is {who} with {best}; `{method}` has {ours}, "
        f"{abs(more):.0%} {'more' if more > 0 else 'fewer'}."
    )


def _sum(text: str) -> int:
    return sum(map(int, text.split(" / ")))


HEAD = """# Operation counts

*Written by `python -m benchmarks.counts_page`; a test compares it with the code.*

Multiplications / additions of each formulation. Divisions count as multiplications, subtractions as additions; a
sine and a cosine for each revolute joint, signs and comparisons come on top. Ours are what is left of a formulation
when the equations of one mechanism are recorded with its numbers in place, folded (0·x, 1·x, constants) and shared
(a term that occurs twice is computed once): what the machine code does. "refused" means that the formulation does
not apply, or only with `force=True`.

The chains have n revolute joints with general modified DH parameters (no angle of 0 or 90°, all offsets there) and
full inertia tensors; the first turns about a fixed vertical axis. Forward dynamics counts the solve and the measure
of its soundness as well.

Rows in italics are **quoted** from the papers named, by their published formulas, and were not counted here. A dash
stands where a formula is not positive: it is meant for longer chains.
"""
READING = """## How to read this

* Operations are one kind of effort only. The code also waits for memory and for chains of dependent operations: half
  the operations are not half the time. `kinpair compare` measures both on your own mechanism.
* Ours and the quoted ones are not counted by the same rule. The papers count a recursion as it stands in the text,
  its products customised by hand; here a program folds what is constant in this one mechanism and shares every common
  term. Without sharing, for {typical} joints, ours need: {unshared}.
* The quoted count of Walker and Orin for the forward dynamics of six joints is smaller than their own for the inverse
  dynamics, which a forward dynamics contains as its bias: it leaves some of that out, or takes a shorter recursion for
  it. Ours is the whole.
* A formulation that is costly here is not a bad one. Closed forms and energies are there to be read, differentiated
  and checked against; that all of them give the same numbers to rounding is their use. Folding does not turn one
  formulation into another: a method that sums over pairs or triples of bodies keeps its sums.
* `uicker` writes out every coefficient D_ij, D_ijk, D_i. As printed each is a sum of traces over the bodies, of fourth
  order in all. Here that sum is taken once for each joint, before the traces, and traces of neighbours share their
  factors: the same coefficients at third order. `lagrange` sums over the links, as its source does: of second order for
  the efforts, of third for the mass matrix.
* The first row of each table is the default. It has the fewest operations, except for the Coriolis matrix: DeNOC's is
  the published form with Ḣ − 2C skew for every pair, while Christoffel's, shorter for most chains, needs rates that are
  dq/dt.
* Compiling takes as long as the operations are many, next to a part that is the same for all: on the arms of `make
  bench` no formulation takes more than five times as long as the default.
* Real arms have right angles and zero offsets, and folding removes what belongs to them: the second table of each
  quantity, for the bundled arms, shows how much.
"""


def page() -> str:
    """The whole page."""
    chains = counted([dh_chain(n) for n in SIZES])
    arms = counted([kp.example(arm) for arm in ARMS])
    blocks = [HEAD, READING.format(typical=TYPICAL, unshared=_unshared())]
    for quantity, title in TITLES.items():
        blocks += [
            f"## {title}\n",
            "\n\n".join([*reading(quantity, chains), ""]).rstrip("\n") + "\n",
            "\n".join([*chain_table(quantity, chains, SIZES), ""]),
            "\n".join([*arm_table(quantity, arms), ""]),
        ]
    return "\n".join(blocks).rstrip() + "\n"


def _unshared() -> str:
    """The recursions that the papers count too."""
    ours = [row for row in operations.rows((TYPICAL,)) if row[1].startswith("kinpair")]
    named = (f"{quantity} by {who.removeprefix('kinpair ')} {m} / {a}" for quantity, who, [(m, a)] in ours)
    return "; ".join(named)


def main() -> None:
    """Write it."""
    PAGE.write_text(page(), "utf-8")
    print(f"written: {PAGE.relative_to(Path.cwd()) if PAGE.is_relative_to(Path.cwd()) else PAGE}")


if __name__ == "__main__":
    main()
