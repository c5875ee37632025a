"""Families of test cases: a representative set in `make test`, all of them in `make long`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import Any

import pytest

import kinpair as kp

LONG_CHAINS = {"rope", "chain-curtain", "snake"}  # their equations are too long to print
LARGE_EXAMPLES = {
    "biped",
    "motor-arm",
    "vessel-arm",
    "bearing-arm",
    "redundant-arm",
    "excavator",
} | LONG_CHAINS
ALIKE = "a large example whose joints are those of smaller ones"


@cache
def example(name: str) -> Any:
    """A bundled example, read once in a process: for what families are chosen by."""
    return kp.example(name)


def has_closed_form(name: str) -> bool:
    """Springs between points, and laws of friction but the simplest, have none: they are refused."""
    if name in LONG_CHAINS:
        return False
    model = example(name).model
    return not (model.springs or model.surfaces or {x.law for x in model.frictions} - {"coulomb", "viscous"})


def family(
    members: Iterable[Any], usual: Collection[str], reason: str, name: Callable[[Any], str] = str
) -> list[Any]:
    """Parameters of a test: members whose names are not usual are marked long, with the reason."""
    known = {name(member): member for member in members}
    assert set(usual) <= set(known), set(usual) - set(known)
    mark = pytest.mark.long(reason=reason)
    return [x if key in usual else pytest.param(x, marks=mark) for key, x in known.items()]
