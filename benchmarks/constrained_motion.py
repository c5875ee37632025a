"""Closed mechanisms in motion beside MuJoCo's equality constraints and Exudyn, at equal error.

MuJoCo's loops are springs; they are made as stiff as its steps allow, which RK4 then follows to the rigid motion.
Exudyn is given the tree in minimal coordinates, and its loops as joints. With short steps all three move
alike, see docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import mujoco
import numpy as np

import kinpair as kp
from benchmarks import targets
from benchmarks.batches import Row
from benchmarks.constrained_exudyn import Exudyn
from benchmarks.constrained_rivals import InMujoco, on_the_ground
from benchmarks.timing import race

QUANTITY = "motion with loops, equal error"
STARTS = {
    "four-bar": [0.0, np.arccos(-0.65), np.arccos(-0.65)],
    "stewart": [0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 1.0, *[0.0] * 18],
}
DURATION = {"four-bar": 1.33, "stewart": 0.3}
PUSH = {  # [N] in the legs, by which the platform sinks, drifts and turns; their lengths are compared
    "stewart": {f"slide{k + 1}": f for k, f in enumerate((30.0, 40.0, 50.0, 35.0, 45.0, 25.0))}
}
HARD, STIFF = 0.9999, 2.0  # impedance, and time constant in steps: the hardest that MuJoCo takes
STEPS = tuple(10 * 2**k for k in range(14))
TOLERANCES = tuple(10.0**-k for k in range(2, 13))
ERRORS = (1e-4, 1e-7)  # of the coordinates at the end, [rad] or [m]
LONGEST = 2.0  # seconds: a peer that needs more is not waited for
Solver = Callable[[Any], np.ndarray]


def rows(turns: int) -> Iterator[Row]:
    """A row a mechanism: nanoseconds of the whole motion at the setting at which each has the same error."""
    for name in STARTS:
        x = Case(name)
        exact = x.ours(1e-13)
        peers = x.peers()
        for error in ERRORS:
            ours = _at_equal_error(x.ours, TOLERANCES, exact, error, turns)
            times = {peer: _at_equal_error(f, STEPS, exact, error, turns) for peer, f in peers.items()}
            reached = {peer: t for peer, t in times.items() if np.isfinite(t)}
            demanded = targets.CLOSED_MOTIONS.get((name, error))
            limits = {"MuJoCo": demanded} if demanded is not None and "MuJoCo" in reached else {}
            label = f"{name}, error {error:g}"
            yield Row(QUANTITY, label, x.mechanism.nv, {"scalar": ours}, {}, reached, limits)


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
        self.seen = [
            k for k, x in enumerate(self.mechanism.q_names) if x in (self.push or self.mechanism.q_names)
        ]

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

    def peers(self) -> dict[str, Solver]:
        """Coordinates at the end, by so many steps."""
        results = {"MuJoCo": self.mujoco()}
        if find_spec("exudyn") and self.mechanism.name in Exudyn.KNOWN:
            split = kp.example(self.mechanism.name).split()[0]
            start = np.zeros(split.nq) if self.push else self.q
            theirs = Exudyn(split, start, self.duration, efforts(split, self.push))
            seen = [k for k, x in enumerate(split.q_names) if x in (self.push or split.q_names)]
            results["Exudyn"] = lambda steps: theirs.run(steps)[seen]
        return results

    def mujoco(self) -> Solver:
        """So many steps of RK4, loops as hard as they go."""
        theirs = InMujoco.of(self.mechanism, HARD)
        model, convention = theirs.model, theirs.convention(self.mechanism)
        start = convention.state(self.q, self.qd, tau=self.tau)
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_REFSAFE)
        data = mujoco.MjData(model)
        mujoco.set_mju_user_warning(lambda text: None)  # steps that are too coarse show in the error

        def solve(steps: int) -> np.ndarray:
            model.opt.timestep = self.duration / steps
            model.eq_solref[:] = STIFF * model.opt.timestep, 1.0
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:], data.qfrc_applied[:] = start.q, start.v, start.tau
            mujoco.mj_step(model, data, steps)
            return convention.from_state(data.qpos[None].copy(), data.qvel[None].copy()).q[0, self.seen]

        return solve


def _at_equal_error(
    solve: Solver, settings: tuple[Any, ...], exact: np.ndarray, wanted: float, turns: int
) -> float:
    """Time on the line log(error) – log(time) between the last setting that is too coarse and the next; NaN: none is
    fine enough, or it takes too long."""
    results: list[tuple[float, Any]] = []
    for setting in settings:
        began = perf_counter()
        error = float(np.abs(solve(setting) - exact).max())
        if perf_counter() - began > LONGEST:
            return np.nan
        results = [*results[-1:], (np.log(max(error, 1e-16)), setting)] if np.isfinite(error) else []
        if results and error <= wanted:
            break
    else:
        return np.nan
    calls = {setting: lambda setting=setting: solve(setting) for _, setting in results}
    seconds = race(calls, max(2, turns // 4))
    errors, times = zip(*sorted((error, np.log(seconds[setting])) for error, setting in results), strict=True)
    return float(np.exp(np.interp(np.log(wanted), errors, times))) * 1e9
