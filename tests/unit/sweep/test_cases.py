"""Cases: what is listed is crossed, what is drawn is drawn together."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from kinpair import Grid, InputError, LatinHypercube, Normal, Uniform
from kinpair.sweeps import cases
from kinpair.sweeps.cases import cases_of


def column(cases, name):
    return np.array([row[cases.names.index(name)] for row in cases.rows])


def test_lists_and_grids_are_crossed():
    cases = cases_of({"a": [1, 2], "b": Grid(0, 1, 3), "c": ["x", "y"]})
    assert len(cases) == 12
    assert cases.grid == cases.names == ("a", "b", "c")
    assert cases.rows[:3] == ((1, 0.0, "x"), (1, 0.0, "y"), (1, 0.5, "x"))


def test_rows_vary_together_and_a_case_is_there_once():
    cases = cases_of({"a, b": [[1, 2], [3, 4], [1, 2]], "c": [0]})
    assert cases.rows == ((1, 2, 0), (3, 4, 0))
    assert cases.rows == cases_of({("a", "b"): [(1, 2), (3, 4)], "c": [0]}).rows
    assert cases.grid == ()


def test_a_latin_hypercube_has_one_value_in_each_part():
    cases = cases_of({"a": LatinHypercube(-1, 1), "b": LatinHypercube(0, 10)}, samples=50, seed=4)
    for name, low, high in (("a", -1, 1), ("b", 0, 10)):
        parts = np.floor((column(cases, name) - low) / (high - low) * 50)
        assert sorted(parts) == list(range(50))
    assert abs(np.corrcoef(column(cases, "a"), column(cases, "b"))[0, 1]) < 0.9


def test_draws_depend_on_seed_and_name_alone_and_grow():
    few = cases_of({"a": Uniform(0, 1), "b": Normal(5, 0.1)}, samples=10, seed=1)
    many = cases_of({"b": Normal(5, 0.1), "x": Uniform(0, 1), "a": Uniform(0, 1)}, samples=30, seed=1)
    assert (column(many, "a")[:10] == column(few, "a")).all()
    assert (column(many, "b")[:10] == column(few, "b")).all()
    assert (column(many, "x") != column(many, "a")).all()
    other = cases_of({"a": Uniform(0, 1)}, samples=10, seed=2)
    assert (column(other, "a") != column(few, "a")).all()
    assert ((column(few, "a") > 0) & (column(few, "a") < 1)).all()


def test_draws_are_crossed_with_lists():
    cases = cases_of({"a": Uniform(0, 1), "b": [1, 2]}, samples=3)
    assert len(cases) == 6
    assert len(set(column(cases, "a"))) == 3


def test_more_cases_than_can_be_are_refused_with_their_number():
    for over, samples, number in (
        ({"a": Grid(0, 1, 10**6), "b": Grid(0, 1, 10**6)}, None, "1e+12"),
        ({"a": Grid(0, 1, 10**12)}, None, "1e+12"),
        ({"a": range(10**12), "b": [1]}, None, "1e+12"),
        ({"a": Uniform(0, 1)}, 10**12, "1e+12"),
        ({"a": Uniform(0, 1), "b": [1, 2]}, 10**7, "2e+07"),
    ):
        with pytest.raises(InputError) as refused:
            cases_of(over, samples)
        assert str(refused.value) == (
            f"over would be {number} cases; a sweep takes at most 1e+07: take fewer values, or draw some at random"
        )


def test_values_without_end_are_refused(monkeypatch):
    monkeypatch.setattr(cases, "MOST", 1000)
    with pytest.raises(InputError, match="over would be more than 1000 cases; a sweep takes at most 1000"):
        cases_of({"a": count(), "b": [1]})


@pytest.mark.parametrize(
    ("over", "samples", "message"),
    [
        ({}, None, "over is {}; give a dict: name of an input → its values, Grid, Uniform, ..."),
        ({"a": 3}, None, "over['a'] is 3; give a list of values, Grid, LatinHypercube, Uniform or Normal"),
        ({"a": []}, None, "over['a'] is empty; give at least one value"),
        ({"a": [np.nan]}, None, "a has nan; give finite numbers or texts"),
        ({"a": Grid(0, 1, 0)}, None, "over['a']: count is 0; give a whole number above zero"),
        ({"a": Uniform(0, 1)}, None, "a: drawn at random; give samples=, how many times"),
        ({"a": Uniform(0, np.inf)}, 3, "over['a'] is Uniform(low=0, high=inf); give finite numbers"),
        ({"a": [1]}, 3, "samples is 3, and nothing in over is drawn; leave it out, or give Uniform(...)"),
        ({"a, b": [[1, 2, 3]]}, None, "over['a, b'] has [1, 2, 3]; give 2 values in each row"),
        ({"a": [1], "a, b": [[1, 2]]}, None, "over has 'a' twice; give it once"),
        ({1: [1]}, None, "over has the key 1; give the name of an input, or several with commas between"),
    ],
)
def test_what_is_no_case_is_refused(over, samples, message):
    with pytest.raises(InputError) as refused:
        cases_of(over, samples)
    assert str(refused.value) == message
