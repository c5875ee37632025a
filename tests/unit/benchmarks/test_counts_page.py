"""The page of operation counts is what the code counts, for small chains; the quoted rows are the formulas."""

from __future__ import annotations

import re

import pytest
from benchmarks import counts_page
from benchmarks.chains import dh_chain

SIZES = (1, 2, 3)
TEXT = counts_page.PAGE.read_text("utf-8")


@pytest.fixture(scope="module")
def counts():
    return counts_page.counted([dh_chain(n) for n in SIZES])


@pytest.mark.parametrize("quantity", counts_page.TITLES)
def test_the_page_has_what_is_counted_now(quantity, counts):
    """If this fails: python -m benchmarks.counts_page."""
    part = re.search(rf"\n## {counts_page.TITLES[quantity]}\n(.*?)\n\n\| formulation \| `", TEXT, re.DOTALL)
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in part[1].splitlines() if line[:1] == "|"
    ]
    wanted = list(counts_page.chain_table(quantity, counts, SIZES))
    expected = [[cell.strip() for cell in line.split("|")[1:-1]] for line in wanted]
    assert [row[: 1 + len(SIZES)] for row in rows] == expected


def test_the_parts_that_do_not_depend_on_counts_are_there():
    assert counts_page.HEAD in TEXT
    assert all(f"`{arm}`" in TEXT for arm in counts_page.ARMS)


@pytest.mark.parametrize(
    ("quantity", "who", "n", "counts"),
    [
        ("inverse_dynamics", "Balafoutis et al. 1988", 6, "489 / 421"),
        ("forward_dynamics", "Walker, Orin 1982 (composite bodies), O(n³)", 6, "633 / 475"),
        ("forward_dynamics", "Walker, Orin 1982 (composite bodies), O(n³)", 10, "1653 / 1209"),
        ("forward_dynamics", "Saha 1999, O(n)", 10, "1626 / 1545"),
        ("forward_dynamics", "Saha 1999, O(n)", 1, "–"),
    ],
)
def test_quoted_formulas_give_the_numbers_of_the_papers(quantity, who, n, counts):
    assert counts_page.quoted(quantity, [n])[who] == [counts]
