"""Tables for a person."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.cli.output import matrix_tables, number_table, texts
from kinpair.cli.screen import Screen


def lines(capsys, *tables):
    for table in tables:
        Screen().print(table)
    return capsys.readouterr().out.splitlines()


def test_rounding_is_shown_as_nothing_and_small_numbers_are_not():
    assert texts([3e-15, 1e-7, 2.0, np.nan]) == ["0", "1e-07", "2", "nan"]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_matrix_is_shown_whole_and_within_the_width(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    n = 12
    matrix = np.arange(n * n).reshape(n, n) + 0.25
    result = lines(capsys, *matrix_tables([f"joint{k}" for k in range(n)], matrix, width))
    assert max(map(len, result)) <= width
    words = " ".join(result).split()
    assert all(f"{x:.5g}" in words for x in matrix.ravel())


def test_digits_give_way_before_names_do(capsys, monkeypatch):
    width = len("a_long_name  -0.000123  -0.000123")
    monkeypatch.setenv("COLUMNS", str(width))
    columns = {"tau": [-0.000123456], "qdd": [-0.000123456]}
    result = lines(capsys, number_table("rate", ["a_long_name"], columns, width))
    assert result[-1] == "a_long_name  -0.000123  -0.000123"


def test_nothing_makes_an_empty_table(capsys):
    assert lines(capsys, number_table("rate", [], {"q": []}, 80))[0].split() == ["rate", "q"]
    assert list(matrix_tables([], np.zeros((0, 0)), 80)) == []
