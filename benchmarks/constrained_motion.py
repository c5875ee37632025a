"""Closed mechanisms in motion beside MuJoCo's equality constraints and Exudyn, at equal error.

MuJoCo's loops are springs, however hard: its error against the rigid motion ends at some value that no step makes
smaller. It is measured with the hardest it allows, by RK4, and where it does not come as near as the error asked for,
nothing is said about it but how near it came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import mujoco
import numpy as np

import kinpair as kp
from benchmarks.batches import Row
from benchmarks.constrained_exudyn import Exudyn
from benchmarks.constrained_rivals import InMujoco, on_the_ground
from benchmarks.timing import race

QUANTITY = "closed motion, one second, equal error"
STARTS = {
    "four-bar": [0.0, np.arccos(-0.65), np.arccos(-0.65)],
    "stewart": [0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 1.0, *[0.0] * 18],
}
DURATION = {"four-bar": 1.33, "stewart": 0.3}
PUSH = {  # [N] in the legs, by which the platform sinks, drifts and turns; their lengths are compared
    "stewart": {f"slide{k + 1}": f for k, f in enumerate((30.0, 40.0, 50.0, 35.0, 45.0, 25.0))}
}
HARD, STIFF = 0.9999, 2.0  # impedance, and time constant in steps: the hardest that MuJoCo takes
STEPS = tuple(int(100 * 2**k) for k in range(8))
TOLERANCES = tuple(10.0**-k for k in range(3, 13))
ERROR = 1e-4  # of the coordinates at the end, [rad] or [m]
Solver = Callable[[Any], np.ndarray]


def rows(turns: int) -> Iterator[Row]:
    """A row a mechanism and peer-error: nanoseconds of the whole motion."""
    for name in STARTS:
        yield row(name, turns)


def row(name: str, turns: int, error: float = ERROR) -> Row:
    """At the error that is asked for, or at the one the peer reaches, ours at the same."""
    x = Case(name)
    exact = x.ours(1e-13)
    ours = _measured(x.ours, TOLERANCES, exact, turns)
    peers: dict[str, float] = {}
    own: dict[str, float] = {"scalar": _at(ours, error)}
    for peer, (solve, settings) in x.peers().items():
        points = _measured(solve, settings, exact, turns)
        reached = max(error, min(e for e, _ in points))
        # the peer's time, brought to our scale: what it takes at the error it reaches, against ours at that error
        peers[peer] = _at(points, reached) / _at(ours, reached) * own["scalar"]
        x.reached[peer] = reached
    label = ", ".join(f"{peer} at {e:.0e}" for peer, e in x.reached.items())
    return Row(QUANTITY, f"{name} ({label})", x.mechanism.nv, own, {}, peers, {})


def efforts(mechanism: kp.Mechanism, push: dict[str, float]) -> np.ndarray:
    """By name of the rate."""
    return np.array([push.get(name, 0.0) for name in mechanism.v_names])


class Case:
    """A mechanism at rest, released."""

    def __init__(self, name: str) -> None:
        self.mechanism = on_the_ground(kp.example(name))
        self.q = self.mechanism.assemble(np.array(STARTS[name]))
        self.qd = np.zeros(self.mechanism.nv)
        self.duration = DURATION[name]
        self.push = PUSH.get(name, {})
        self.tau = efforts(self.mechanism, self.push)
        self.seen = [k for k, x in enumerate(self.mechanism.q_names) if x in (self.push or self.mechanism.q_names)]
        self.reached: dict[str, float] = {}

    def ours(self, tolerance: float) -> np.ndarray:
        """Coordinates at the end."""
        run = kp.simulate(
            self.mechanism,
            self.q,
            self.qd,
            duration=self.duration,
            torque=self.tau,
            output=[self.duration],
            rtol=tolerance,
            atol=tolerance,
        )
        return run.q[-1, self.seen]

    def peers(self) -> dict[str, tuple[Solver, tuple[Any, ...]]]:
        """Solvers with the settings that make them finer."""
        found: dict[str, tuple[Solver, tuple[Any, ...]]] = {"MuJoCo": (self.mujoco(), STEPS)}
        if find_spec("exudyn") and self.mechanism.name in Exudyn.KNOWN:
            split = kp.example(self.mechanism.name).split()[0]
            start = np.zeros(split.nq) if self.push else self.q
            theirs = Exudyn(split, start, self.duration, efforts(split, self.push))
            seen = [k for k, x in enumerate(split.q_names) if x in (self.push or split.q_names)]
            found["Exudyn"] = (lambda steps: theirs.run(steps)[seen], STEPS)
        return found

    def mujoco(self) -> Solver:
        """So many steps of RK4, loops as hard as they go."""
        theirs = InMujoco.of(self.mechanism, HARD)
        model, convention = theirs.model, theirs.convention(self.mechanism)
        start = convention.state(self.q, self.qd, tau=self.tau)
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_REFSAFE)
        data = mujoco.MjData(model)

        def solve(steps: int) -> np.ndarray:
            model.opt.timestep = self.duration / steps
            model.eq_solref[:] = STIFF * model.opt.timestep, 1.0
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:], data.qfrc_applied[:] = start.q, start.v, start.tau
            mujoco.mj_step(model, data, steps)
            return convention.from_state(data.qpos[None].copy(), data.qvel[None].copy()).q[0, self.seen]

        return solve


def _measured(
    solve: Solver, settings: tuple[Any, ...], exact: np.ndarray, turns: int
) -> list[tuple[float, float]]:
    """(error, nanoseconds) of every setting."""
    points: list[tuple[float, float]] = []
    for setting in settings:
        error = float(np.abs(solve(setting) - exact).max())
        if np.isfinite(error):
            seconds = race({0: lambda setting=setting: solve(setting)}, max(2, turns // 4))[0]
            points.append((max(error, 1e-16), seconds * 1e9))
    return points


def _at(points: list[tuple[float, float]], error: float) -> float:
    """The least time with an error no larger: on the line log(error) – log(time) between settings."""
    front: list[tuple[float, float]] = []
    for e, t in sorted(points, key=lambda x: x[1]):  # quicker first; a slower one counts if it is better
        if not front or e < front[-1][0]:
            front.append((e, t))
    errors, times = (np.log([x[k] for x in reversed(front)]) for k in range(2))
    return float(np.exp(np.interp(np.log(error), errors, times)))
