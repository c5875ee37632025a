"""Rows that a user writes: functions of q, q̇ and t, or formulas in the names of coordinates and rates.

In a formula a coordinate goes by its name, its rate by that name with `_rate` behind it; what is neither letter nor
digit becomes `_`: "left-wheel" is left_wheel, "base.x" is base_x, the rate of the latter base_x_rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from kinpair.constraints.rows import coordinates as c
from kinpair.constraints.rows.constraint import Constraint
from kinpair.description import constraint_parts as d
from kinpair.description.formula import RATE, function_of, identifier, numbers, with_error
from kinpair.description.place import Place
from kinpair.model.model import Model


def rows_of(model: Model, part: d.Custom, place: Place) -> Constraint:
    """φ(q, t), ψ(q, q̇, t), or A(q, t) q̇ + a(q, t)."""
    ways = [name for name in ("phi", "psi", "A") if getattr(part, name) is not None]
    if len(ways) != 1:
        raise place.error(f"has {' and '.join(ways) or 'no function'}; give one of phi, psi, or A (with a)")
    q, qd = model.neutral(), np.zeros(model.nv)
    with np.errstate(all="ignore"):
        if part.phi is not None:
            phi = _function(model, part.phi, place.at("phi"), rates=False)
            phi = numbers(phi, "phi(q, t)", place.error)
            return c.OfPositions(part.name, phi, len(phi(q, 0.0)), None, "function", part.where)
        if part.psi is not None:
            psi = _function(model, part.psi, place.at("psi"), rates=True)
            psi = numbers(psi, "psi(q, qd, t)", place.error)
        else:
            assert part.A is not None
            entries = with_error(part.A, "A(q, t)", place.error)
            A = with_error(lambda q, t: np.atleast_2d(np.asarray(entries(q, t))), "A(q, t)", place.error)
            a = part.a and numbers(part.a, "a(q, t)", place.error)
            _check_rows(A(q, 0.0), a and a(q, 0.0), model, place)
            psi = _from_rows(A, a)
        count = len(psi(q, qd, 0.0))
    return c.OfRates(part.name, lambda model, q, qd, t: psi(q, qd, t), count, "function", part.where)


def _function(model: Model, rows: d.Formulas, place: Place, *, rates: bool) -> Callable[..., Any]:
    """A Python function as it is; formulas as a function of the same arguments."""
    if not isinstance(rows, tuple):
        return rows
    names = [
        *map(identifier, model.q_names),
        *(f"{identifier(x)}{RATE}" for x in model.v_names if rates),
        "t",
    ]
    if twice := [name for name, n in Counter(names).items() if n > 1]:
        raise place.error(f"has no meaning: {twice[0]!r} is two things in a formula; give joints other names")
    every = [function_of(x, tuple(names), place) for x in rows]
    return lambda *state: [f(*(x for part in state[:-1] for x in part), state[-1]) for f in every]


def _check_rows(A: Any, a: Any, model: Model, place: Place) -> None:
    """A has a column for each rate, a an entry for each row."""
    if A.ndim != 2 or A.shape[1] != model.nv:
        shape = " x ".join(str(n) for n in A.shape)
        raise place.error(f"has an A of {shape} entries; give {model.nv} in a row, one for each rate")
    if a is not None and len(a) != len(A):
        raise place.error(f"has {len(A)} rows in A and {len(a)} entries in a; give as many of both")


def _from_rows(A: Callable[..., Any], a: Callable[..., Any] | None) -> Callable[..., Any]:
    """ψ = A(q, t) q̇ + a(q, t)."""
    return lambda q, qd, t: A(q, t) @ qd if a is None else A(q, t) @ qd + a(q, t)
