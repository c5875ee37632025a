"""The work of the recursions grows as the number of bodies."""

from __future__ import annotations

from functools import cache

import pytest
from benchmarks import operations
from benchmarks.chains import dh_chain

from kinpair.formulations import articulated, denoc, newton_euler

SIZES = (5, 10, 20, 40)
CASES = {
    "inverse dynamics, newton-euler": lambda m: operations.inverse(m, newton_euler),
    "inverse dynamics, denoc": lambda m: operations.inverse(m, denoc),
    "forward dynamics, denoc": lambda m: operations.forward(m, denoc),
    "forward dynamics, articulated bodies": lambda m: operations.forward(m, articulated),
}


@cache
def counts_of(case: str, n: int) -> dict[str, int]:
    return CASES[case](dh_chain(n).model)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("operation", ["mul", "add", "div", "sin", "cos"])
def test_operations_are_linear_in_the_number_of_bodies(case, operation):
    counts = [counts_of(case, n)[operation] for n in SIZES]
    slopes = {(b - a) / (m - n) for a, b, n, m in zip(counts, counts[1:], SIZES, SIZES[1:], strict=False)}
    assert len(slopes) == 1, counts


def test_one_sine_and_cosine_a_joint():
    tally = operations.inverse(dh_chain(6).model)
    assert tally["sin"] == tally["cos"] == 6


def test_table_beside_the_published_counts(capsys):
    """Printed with -s; the published polynomials at n = 6 are those of the papers' own tables."""
    rows = list(operations.rows())
    with capsys.disabled():
        print()
        for quantity, who, counts in rows:
            cells = "  ".join(f"{m:6d} /{a:6d}" for m, a in counts)
            print(f"  {quantity:17s} {who:40s} {cells}")
    at_6 = {who: counts[1] for _, who, counts in rows}
    assert at_6["Saha 1999 (DeNOC) (quoted)"] == (676, 527)
    assert at_6["Luh, Walker, Paul 1980 (quoted)"] == (852, 738)
    assert at_6["Featherstone 1983, O(n) (quoted)"] == (996, 871)
    assert at_6["Saha 1999, O(n) (quoted)"] == (862, 797)
    ours = sum(at_6["kinpair newton-euler"])
    assert ours < sum(at_6["Luh, Walker, Paul 1980 (quoted)"])
