"""What `equations` says when it is asked for what cannot be."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest

import kinpair as kp
from kinpair.errors import InputError

ARM = kp.example("planar-3r").reference
LOOP = kp.example("slider-crank").reference
FOUND = kp.equations(kp.example("double-pendulum").reference)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": -1}, "seconds is -1; it is a number, 0 or more"),
        ({"seconds": nan}, "seconds is nan; it is a number, 0 or more"),
        ({"seconds": "4"}, "seconds is '4'; it is a number, 0 or more"),
        ({"limit": 0}, "limit is 0; it is a whole number, 1 or more"),
        ({"limit": True}, "limit is True; it is a whole number, 1 or more"),
        ({"limit": 2.5}, "limit is 2.5; it is a whole number, 1 or more"),
        ({"passive": "no"}, "passive is 'no'; give True or False"),
        ({"form": "short"}, "form='short'; give one of auto, closed, terms"),
        (
            {"dependent": "nonsense"},
            "dependent='nonsense' is for equations under constraints; give a solver, such as 'rosenberg'",
        ),
        ({"dependent": 3, "solver": "rosenberg"}, "dependent is 3; give names of coordinates"),
        (
            {"solver": "voronets"},
            "solver='voronets' has no sheet of its own: for u = q̇_i its equations are those of 'maggi'; ask for that",
        ),
        (
            {"solver": "rosenbrg"},
            "solver='rosenbrg' has no printed form; did you mean 'rosenberg'? Solvers: rosenberg-extended, rosenberg, "
            "maggi, multipliers, udwadia-kalaba",
        ),
    ],
)
def test_options(options: dict[str, Any], message: str):
    with pytest.raises(InputError) as result:
        kp.equations(ARM, **options)
    assert str(result.value) == message


def test_a_name_is_no_mechanism():
    with pytest.raises(InputError) as result:
        kp.equations("planar-3r")  # type: ignore[call-overload]
    assert str(result.value) == (
        "equations takes a Mechanism or System, not str; load() reads files, example() names"
    )


def test_one_dependent_coordinate_is_given_by_its_name():
    m = kp.example("space-robot").reference
    assert kp.equations(m, solver="rosenberg", dependent="theta").dependent == ("theta",)
    with pytest.raises(InputError, match="no coordinate 'crnk' to be dependent; did you mean 'crank'"):
        kp.equations(LOOP, solver="rosenberg", dependent="crnk")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"m1": "a"}, "double-pendulum: parameter 'm1' is 'a'; give a number"),
        (3, "double-pendulum: values is 3; give symbols with numbers, {'m1': 0.5}"),
    ],
)
def test_values_of_letters(values: Any, message: str):
    with pytest.raises(InputError) as result:
        FOUND.evaluate([0.1, 0.2], [0, 0], values)
    assert str(result.value) == message


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/nonexistent/a.c", "/nonexistent/a.c: cannot be written (No such file or directory)"),
        ("", "'' is not a C file; give a path that ends in .c"),
        ("a.txt", "'a.txt' is not a C file; give a path that ends in .c"),
    ],
)
def test_files_of_c(path: str, message: str):
    with pytest.raises(InputError) as result:
        FOUND.c(path)
    assert str(result.value) == message
