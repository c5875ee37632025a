"""Families of test cases: a representative set in `make test`, all of them in `make long`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import pytest

LARGE_EXAMPLES = {"biped", "motor-arm", "vessel-arm", "bearing-arm", "redundant-arm", "excavator"}  # examples
ALIKE = "a large example whose joints are those of smaller ones"


def family(
    members: Iterable[Any], usual: Collection[str], reason: str, name: Callable[[Any], str] = str
) -> list[Any]:
    """Parameters of a test: members whose names are not usual are marked long, with the reason."""
    known = {name(member): member for member in members}
    assert set(usual) <= set(known), set(usual) - set(known)
    mark = pytest.mark.long(reason=reason)
    return [x if key in usual else pytest.param(x, marks=mark) for key, x in known.items()]
