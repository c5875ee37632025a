"""Messages of the graph matrices, the augmented bodies and the table of constraint wrenches, word for word."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest

import kinpair as kp
from kinpair.formulations.graph import incidence, path
from kinpair.formulations.roberson_wittenburg_augmented import augmented_bodies
from kinpair.formulations.screw_algebra import wrenches_of
from kinpair.pairs.prismatic import Prismatic


@dataclass(frozen=True)
class _Gear:
    kind: str = "gear"


def _two_roots():
    builder = kp.Builder("pair of pendulums")
    for name in ("left", "right"):
        builder.link(name, mass=1.0, inertia=[1, 1, 1])
        builder.joint(f"{name} hinge", "revolute", "ground", name, axis="x")
    return augmented_bodies(kp.build(builder).model, np.zeros(2))


REFUSED = {
    "number": (
        lambda: incidence([(0, 1), (1, 3)]),
        "arc 2 joins bodies 1 and 3; 2 arcs join bodies 0 to 2",
    ),
    "loop": (
        lambda: path([(0, 1), (1, 0)]),
        "the arcs are not a tree: no path leads from the ground to body 2; "
        "a tree of n bodies has n arcs and reaches every body",
    ),
    "two roots": (
        _two_roots,
        "pair of pendulums: augmented bodies need one connected system, and 2 bodies sit on the ground: left, right",
    ),
    "unknown pair": (
        lambda: wrenches_of(_Gear()),  # type: ignore[arg-type]
        "pair 'gear' has no constraint wrenches in formulations/screw_algebra.py; add its row to WRENCHES. Pairs: "
        "revolute, prismatic, helical, cylindrical, universal, spherical, planar, free, fixed, pin, plane-weld, "
        "turn, face",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_message(case):
    call, message = REFUSED[case]
    with pytest.raises(kp.InputError, match=f"^{re.escape(message)}$"):
        call()


def test_known_pair_has_its_wrenches():
    assert wrenches_of(Prismatic()).wrenches(Prismatic(), np.zeros(1)).shape == (6, 5)
