"""Closed loops next to Pinocchio's `lcaba`: rows of four-bars, legs of two four-bars each, a Stewart platform.

Loop-constrained articulated bodies eliminate each loop where its tree joins. Its result depends on the proximal
parameter µ and the number of rounds: of the pairs tried, the one with the fewest rounds is taken whose constraint
residual max|A q̈ − b|/max(1, |b|) is at most 1e-10, as is ours; else the pair with the least residual. The label of a
row has the settings and the residuals of both.

`python -m benchmarks.constrained_lcaba` prints the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pinocchio as pin

import kinpair as kp
from benchmarks.batches import Row
from benchmarks.constrained import BATCH, TIMES, Closed
from benchmarks.constrained_rivals import InPinocchio
from benchmarks.constrained_row import row, state
from benchmarks.machine import compiling_for, instruction_sets
from benchmarks.rival import loop, relative_error
from benchmarks.timing import race, repeated
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Motion
from kinpair.constraints.rows.stacked import rows_at

MANY, ONE = "loops next to lcaba, batch 1024", "loops next to lcaba, one state"
NAME = "Pinocchio lcaba"
SIZES = (1, 5, 10, 20, 50)
RESIDUAL, SAME = 1e-10, 1e-6  # demanded of A q̈ = b; largest difference of accelerations, relative
ROUNDS, PROXIMAL = (1, 2, 3, 4, 5, 7, 10, 15, 20), (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
LOOKS = 3  # states at which residuals are taken
THIGH, SEAT, LEGS = 0.3, 0.08, ((0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15))  # [m]
DEMANDED = {"four-bars": (90.0, 20.0), "stewart": (20.0, 5.0)}  # times faster: a batch, one state


@dataclass(frozen=True, slots=True)
class Settings:
    """Proximal parameter and rounds of `lcaba`, and the residuals of both sides."""

    mu: float
    rounds: int
    theirs: float
    ours: float

    def __str__(self) -> str:
        return f"µ = {self.mu:g}, {self.rounds} rounds, residual {self.theirs:.0e}, ours {self.ours:.0e}"


def four_bars(n: int) -> Closed:
    """A row of n four-bars that share cranks, at random angles."""
    draws = np.random.default_rng(n)
    every = [state(n, *x) for x in draws.uniform((0.4, -1.2), (1.3, 1.2), (BATCH, 2))]  # at 0 they are flat
    m = row(n)
    return Closed(m, *map(np.array, zip(*every, strict=True)), draws.uniform(-1.0, 1.0, (BATCH, m.nv)))


def legs() -> Closed:
    """A free trunk on four legs of two four-bars each, which are parallelograms, at random states."""
    builder = kp.Builder("legs").link("trunk", mass=12.0, inertia=[0.2, 0.3, 0.35])
    builder.joint("trunk", "free", "ground", "trunk")
    signs: list[tuple[int, float]] = []  # angle that turns a joint, and its sign
    for k, (x, y) in enumerate(LEGS):
        seat, point = "trunk", [x, y, 0.0]
        for part in ("thigh", "shank"):
            names = [f"{part}{k}", f"{part}{k} behind", f"{part}{k} end"]
            for name in names:
                builder.link(name, mass=0.6, com=[0.0, 0.0, -0.5 * THIGH], inertia=[5e-3, 5e-3, 1e-4])
            behind = [point[0] + SEAT, *point[1:]]
            builder.joint(names[0], "revolute", seat, names[0], xyz=point, axis="y")
            builder.joint(names[1], "revolute", seat, names[1], xyz=behind, axis="y")
            builder.joint(names[2], "revolute", names[0], names[2], xyz=[0.0, 0.0, -THIGH], axis="y")
            at = {"xyz": [0.0, 0.0, -THIGH], "child_xyz": [SEAT, 0.0, 0.0]}
            builder.loop(f"pin {part}{k}", "spherical", names[1], names[2], **at)
            angle = 2 * k + (part == "shank")
            signs += [(angle, 1.0), (angle, 1.0), (angle, -1.0)]
            seat, point = names[2], [0.0, 0.0, -0.05]
    m, draws = kp.build(builder.description()), np.random.default_rng(8)
    number, sign = (np.array(x) for x in zip(*signs, strict=True))
    angles, rates = draws.uniform(-1.0, 1.0, (2, BATCH, 2 * len(LEGS)))
    free, twist = draws.normal(size=(BATCH, 7)), draws.uniform(-1.0, 1.0, (BATCH, 6))
    free[:, 3:] /= np.linalg.norm(free[:, 3:], axis=1, keepdims=True)
    q, qd = (np.hstack([a, b[:, number] * sign]) for a, b in ((free, angles), (twist, rates)))
    return Closed(m, q, qd, draws.uniform(-1.0, 1.0, (BATCH, m.nv)))


def mechanisms(sizes: Iterable[int]) -> Iterator[tuple[str, Closed]]:
    """Yield kinds of mechanism with states that close their loops."""
    for n in sizes:
        yield "four-bars", four_bars(n)
    yield "legs", legs()
    yield "stewart", Closed.of("stewart")


def residual(x: Closed, k: int, qdd: np.ndarray) -> float:
    """Return max|A q̈ − b|/max(1, |b|) at state k."""
    rows = rows_at(constraints_of(x.mechanism.model), Motion(x.mechanism.model, x.q[k], 0.0, x.qd[k]))
    A, b = np.asarray(rows.A, dtype=float), np.asarray(rows.b, dtype=float)
    return float(np.abs(A @ qdd - b).max() / max(1.0, np.abs(b).max()))


def solver(x: Closed, mu: float, rounds: int) -> tuple[InPinocchio, Callable[..., np.ndarray]]:
    """Return the mechanism in Pinocchio and a call (q, v, τ) → q̈ of `lcaba`."""
    own = InPinocchio.of(x.mechanism)
    pin.computeJointMinimalOrdering(own.model, own.data, own.constraints)
    settings = pin.ProximalSettings(1e-14, mu, rounds)
    fixed = own.constraints, own.constraint_data, settings
    return own, lambda q, v, tau: pin.lcaba(own.model, own.data, q, v, tau, *fixed)


def chosen(x: Closed, qdd: np.ndarray) -> Settings:
    """Return the settings that reach the residual in the fewest rounds, or those that come nearest to it."""
    ours = max(residual(x, k, qdd[k]) for k in range(LOOKS))
    tried: list[Settings] = []
    for rounds, mu in product(ROUNDS, PROXIMAL):
        own, call = solver(x, mu, rounds)
        convention = own.convention(x.mechanism)
        s = convention.state(x.q[:LOOKS], x.qd[:LOOKS], qdd[:LOOKS], x.tau[:LOOKS])
        a = np.array([call(*state) for state in zip(s.q, s.v, s.tau, strict=True)])
        back = convention.from_accelerations(s.q, s.v, a)
        theirs = max(residual(x, k, back[k]) for k in range(LOOKS))
        tried.append(Settings(mu, rounds, theirs, ours))
        if theirs <= RESIDUAL and relative_error(s.a, a) <= SAME:
            return tried[-1]
    return min(tried, key=lambda y: y.theirs)


def rows(instructions: Iterable[str], turns: int, sizes: Iterable[int] = SIZES) -> Iterator[Row]:
    """A row a mechanism for a batch and one for single states."""
    for kind, x in mechanisms(sizes):
        qdd = x.mechanism.forward_dynamics(x.q, x.qd, x.tau)
        settings = chosen(x, qdd)
        assert settings.ours <= RESIDUAL, f"{x.mechanism.name}: {settings}"
        own, call = solver(x, settings.mu, settings.rounds)
        s = own.convention(x.mechanism).state(x.q, x.qd, qdd, x.tau)
        label, demanded = f"{x.mechanism.name}; {settings}", DEMANDED.get(kind, (None, None))
        yield _many(label, x, call, s, tuple(instructions), turns, demanded[0])
        yield _one(label, x, call, s, turns, demanded[1])


def _many(
    label: str, x: Closed, call: Any, s: Any, instructions: tuple[str, ...], turns: int, demanded: Any
) -> Row:
    calls: dict[str, Any] = {}
    for name in instructions:
        with compiling_for(name):
            m = kp.build(x.mechanism.model.description)
            m.forward_dynamics(x.q, x.qd, x.tau)
        calls[name] = repeated(m.forward_dynamics, x.q, x.qd, x.tau, times=1)
    a = np.empty(s.v.shape)

    def keep(q: np.ndarray, v: np.ndarray, tau: np.ndarray, out: np.ndarray) -> None:
        out[:] = call(q, v, tau)

    calls[NAME] = loop(keep, s.q, s.v, s.tau, a)
    best = {name: t / BATCH * 1e9 for name, t in race(calls, turns).items()}
    assert relative_error(s.a, a) < SAME, f"{label}: other accelerations, {relative_error(s.a, a):.1e}"
    own = {name: best.pop(name) for name in instructions}
    return Row(MANY, label, x.mechanism.nv, own, {}, best, {NAME: demanded} if demanded else {})


def _one(label: str, x: Closed, call: Any, s: Any, turns: int, demanded: Any) -> Row:
    m = x.mechanism
    calls = {
        "scalar": repeated(m.forward_dynamics, x.q[0], x.qd[0], x.tau[0], times=TIMES),
        NAME: repeated(call, s.q[0], s.v[0], s.tau[0], times=TIMES),
    }
    best = {name: t / TIMES * 1e9 for name, t in race(calls, turns).items()}
    own = {"scalar": best.pop("scalar")}
    return Row(ONE, label, m.nv, own, {}, best, {NAME: demanded} if demanded else {})


def main() -> None:
    """`python -m benchmarks.constrained_lcaba`."""
    for x in rows(instruction_sets(), 6):
        ours = next(iter(x.ours.values()))
        print(f"{x.quantity}: {x.robot}: {ours:.0f} ns, {NAME} {x.peers[NAME] / ours:.1f} times, {x.targets}")


if __name__ == "__main__":
    main()
