"""Every random state with friction from load is solved, or has no solution, or several; and each class is confirmed.

`make long` has 100 000 states of five arms and three loops, `make test` some of each.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinpair as kp
from families import family
from kinpair.constraints.solve import solutions
from kinpair.friction.phases import classes
from load_friction_family import ARMS, LOOPS, STILL, State, classified, mechanism, states

SOLVED = 1e-10
FEW, SAMPLE = 4, 10  # states in `make test`, and those of a case that are confirmed
QUICK = 1000  # choices that `make test` tries
COUNTS = {("arm", kind): 1000 for kind in STILL} | {
    ("loop", "sliding"): 1200,
    ("loop", "mixed"): 800,
    ("loop", "rest"): 200,
}
MIXED_LOOPS = ("five-bar",)  # with two freedoms, of which one may rest
SHAPES = [
    (name, kind)
    for name in (*ARMS, *LOOPS)
    for kind in STILL
    if name in ARMS or kind != "mixed" or name in MIXED_LOOPS
]
CASES = [f"{name} {kind} {seed}" for seed in range(5) for name, kind in SHAPES]
USUAL = {f"{name} {kind} 0" for name, kind in SHAPES}


def size_of(case: str) -> int:
    name, kind, _ = case.split()
    return COUNTS["arm" if name in ARMS else "loop", kind]


def test_the_family_has_as_many_states_as_it_says():
    assert sum(map(size_of, CASES)) == 100_000
    assert SAMPLE * len(CASES) >= 1000


@pytest.mark.parametrize("case", family([f"{x} all" for x in CASES], [], "100 000 states in all"))
def test_every_state_is_solved_or_classified(case):
    check(case.removesuffix(" all"), size_of(case.removesuffix(" all")), compiled=True)


@pytest.mark.parametrize("case", sorted(USUAL))
def test_some_states_of_each_kind_are_solved_or_classified(case):
    check(case, FEW, compiled=False)


def check(case: str, count: int, *, compiled: bool) -> list[State]:
    """Laws of all these states."""
    name, kind, seed = case.split()
    m = mechanism(name, int(seed), compiled=compiled)
    found = classified(m, *states(m, name, int(seed), kind, count))
    for x in found:
        assert x.verdict.kind in classes.KINDS
        assert all(own.residual <= SOLVED for own in x.verdict.solutions)
        assert bool(x.verdict.solutions) == (x.verdict.kind in (classes.ONE, classes.SHARED, classes.SEVERAL))
    for x in found[: SAMPLE if compiled else 2]:
        if compiled or solutions.count(x.system.groups) <= QUICK:
            confirmed(x)
    agrees_with_forward_dynamics(m, found, kind)
    return found


def confirmed(x: State) -> None:
    """Every choice of what sticks and what slides which way leads to the same class and the same solutions."""
    again = classes.of_choices(x.system)
    assert again.kind == x.verdict.kind
    if again.kind in (classes.ONE, classes.SEVERAL):
        assert len(again.solutions) == len(x.verdict.solutions)
        for own in x.verdict.solutions:
            apart = [np.abs(own.f - other.f).max() for other in again.solutions]
            assert min(apart) <= 1e-7 * max(1.0, np.abs(own.f).max())


def agrees_with_forward_dynamics(m: kp.Mechanism, found: list[State], kind: str) -> None:
    """It gives one of the solutions where there are any, and refuses the others by name. Where all slide, inverse
    dynamics of the accelerations gives the efforts back."""
    solved = [x for x in found if x.verdict.solutions]
    checked = solved if kind == "sliding" else solved[:SAMPLE]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FrictionWarning)
        qdd = m.forward_dynamics(
            *(np.array(x) for x in zip(*((s.q, s.qd, s.tau) for s in checked), strict=True))
        )
    loads = m._friction.load_state((checked[0].q, checked[0].qd, checked[0].tau), 0.0, {})[0]
    G = np.concatenate(loads.G)
    for x, own in zip(checked, qdd, strict=True):
        apart = [np.abs(G @ own - other.a).max() for other in x.verdict.solutions]
        assert min(apart) <= 1e-8 * (1.0 + np.abs(G @ own).max() + np.abs(x.system.a).max())
    if kind == "sliding" and m.closure is None:
        q, qd, tau = (np.array([getattr(x, name) for x in checked]) for name in ("q", "qd", "tau"))
        left = np.abs(m.inverse_dynamics(q, qd, qdd) - tau).max(1)
        assert (left <= SOLVED * (1.0 + np.abs(tau).max(1) + np.abs(qdd).max(1))).all()
    for x in [x for x in found if x.verdict.kind == classes.NONE][:SAMPLE]:
        with pytest.raises(kp.SingularError, match="friction has no solution at joint"):
            m.forward_dynamics(x.q, x.qd, x.tau)
