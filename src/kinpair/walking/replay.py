"""A gait played back: its efforts, and a regulator, drive the free machine while feet are held to the ground.

Each step is two runs, with one foot held and with both. The next step is the mirror image of the first, so its state is
mirrored, too. Efforts and nominal states of a phase are series of Chebyshev's polynomials in time:

    τ(t) = Σ_k a_k T_k(x) − K [Δq; Δq̇],   x from −1 to 1 over the phase                                        (GW10)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from kinpair.analysis.linear.linearise import linearise
from kinpair.description import constraint_forms as constraint
from kinpair.errors import InputError
from kinpair.mechanism import Mechanism
from kinpair.motion.gait import Gait
from kinpair.motion.support import Support, support
from kinpair.regulators.riccati import continuous
from kinpair.runs.result import Result
from kinpair.runs.simulate import simulate

NODES = 96  # of a series
BASE = 6  # rates of the base, which nothing drives


@final
@dataclass(frozen=True, eq=False)
class Phase:
    """A phase of a step from one time to another: the machine with its feet held, and series (nodes, n) of what is
    nominal: coordinates, rates, efforts."""

    mechanism: Mechanism
    start: float
    end: float
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    gains: np.ndarray | None = None  # K (nv, 2 nv)

    def efforts(self, time: Any, q: Any, qd: Any) -> Any:
        """Of all rates (nv,), in NumPy terms.    (GW10)"""
        x = (2.0 * time - self.start - self.end) / (self.end - self.start)
        tau = chebyshev(self.tau, x)
        if self.gains is None:
            return tau
        off_q, off_qd = q - chebyshev(self.q, x), qd - chebyshev(self.qd, x)
        turned, moved = 2.0 * off_q[3:6], off_q[:3]  # the pelvis is level in the gait, so this is its turn
        return tau - self.gains @ np.concatenate([turned, moved, off_q[7:], off_qd])  # (GW10)


def chebyshev(series: np.ndarray, x: Any) -> Any:
    """Σ a_k T_k(x), by Clenshaw's recursion; a (terms, n)."""
    later, now = 0.0 * series[0], 0.0 * series[0]
    for a in series[:0:-1]:
        later, now = now, a + 2.0 * x * now - later
    return series[0] + x * now - later


def _series(values: np.ndarray) -> np.ndarray:
    """Coefficients of the polynomial through values (nodes, n) at Chebyshev's points, what is rounding cut off."""
    n = len(values)
    k = np.arange(n)
    table = np.cos(np.outer(k, np.pi * (k + 0.5) / n))
    found = 2.0 / n * table @ values
    found[0] /= 2.0
    size = np.abs(found).max(axis=1)
    needed = np.flatnonzero(size > 1e-11 * size.max(initial=1e-300))
    return found[: int(needed[-1]) + 1] if len(needed) else found[:1]


@final
@dataclass(frozen=True, eq=False)
class Replay:
    """Runs of a gait played back, two a step, in axes of each step (the left foot swings in all of them)."""

    gait: Gait
    phases: tuple[Phase, Phase]
    runs: tuple[Result, ...]
    jumps: tuple[float, ...]  # of coordinates, where a foot came down beside its place

    @cached_property
    def deviations(self) -> np.ndarray:
        """Largest deviation of a coordinate and of a rate from the gait, at the end of each run (runs, 2)."""
        found: list[tuple[float, float]] = []
        for k, run in enumerate(self.runs):
            x = self.gait.synergy.at(self.phases[k % 2].end)
            found.append((np.abs(run.q[-1] - x.q).max(), np.abs(run.qd[-1] - x.qd).max()))
        return np.array(found)

    def support(self, k: int) -> Support:
        """What the ground gave during a run."""
        run, gait = self.runs[k], self.gait
        loads, points = gait.loads(np.clip(run.time, 0.0, gait.step_time - 1e-9))
        return support(
            gait.mechanism,
            run.q,
            run.qd,
            run.qdd,
            gait.soles,
            loads=loads,
            points=points if k % 2 else None,
            ground=gait.ground,
            time=run.time,
        )


def phases(gait: Gait, gains: np.ndarray | None = None) -> tuple[Phase, Phase]:
    """Single and double support of a step."""
    p = gait.numbers
    right = _held(gait, "right", 0.0, -p.track)
    both = (right, _held(gait, "left", p.step, p.track))
    single = gait.mechanism.with_constraints(right)
    return (
        _phase(gait, single, 0.0, p.swing, gains),
        _phase(gait, gait.mechanism.with_constraints(*both), p.swing, p.T, gains),
    )


def _held(gait: Gait, side: str, x: float, y: float) -> Any:
    below = [0.0, 0.0, -float(gait.numbers.ankle)]
    return constraint.loop(
        f"{side}-hold", "fixed", "ground", f"{side}-foot", xyz=[x, y, 0.0], child_xyz=below
    )


def _phase(gait: Gait, m: Mechanism, start: float, end: float, gains: np.ndarray | None) -> Phase:
    time = start + (end - start) * (1.0 + np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)) / 2
    x = gait.synergy.at(time)
    tau = gait.efforts(time)
    tau[:, :BASE] = 0.0
    return Phase(m, start, end, _series(x.q), _series(x.qd), _series(tau), gains)


def regulator(gait: Gait, *, rate: float = 6.0, effort: float = 100.0) -> np.ndarray:
    """K (nv, 2 nv) of a linear-quadratic regulator from the linear model in the middle of single support, foot held.

    rate [1/s]: its degree of stability: every deviation of the linear model decays at least so fast. effort [N m]: how
    much counts as much as 1 rad or 1 rad/s.
    """
    single, _ = phases(gait)
    time = (single.start + single.end) / 2
    x = gait.synergy.at(time)
    model = linearise(single.mechanism, x.q, x.qd, u=single.efforts(time, x.q, x.qd))
    names = gait.mechanism.v_names
    driven = [k for k, name in enumerate(model.inputs) if not name.startswith("tau.base")]
    Q, R = np.eye(len(model.states)), np.eye(len(driven)) / effort**2
    K = continuous(np.asarray(model.A), np.asarray(model.B)[:, driven], Q, R, rate)[0]
    columns = [
        names.index(name.partition(".")[2]) + (0 if name.startswith("q.") else len(names))
        for name in model.states
    ]
    gains = np.zeros((len(names), 2 * len(names)))
    gains[np.ix_([names.index(model.inputs[k].removeprefix("tau.")) for k in driven], columns)] = K
    return gains


def replay(
    gait: Gait,
    *,
    steps: int = 1,
    start: tuple[Any, Any] | None = None,
    gains: np.ndarray | None = None,
    rtol: float = 1e-12,
) -> Replay:
    """The gait from its start, or from another state (q, qd) with the right foot in its place, for so many steps."""
    if not (isinstance(steps, int) and steps > 0):  # type: ignore[redundant-expr]
        raise InputError(f"replay: steps is {steps!r}; give a positive whole number")
    both = phases(gait, gains)
    x = gait.synergy.at(0.0)
    q, qd = (x.q, x.qd) if start is None else (np.asarray(s, dtype=float) for s in start)
    runs: list[Result] = []
    jumps: list[float] = []
    walk = gait.motion(2)
    for step in range(steps):
        if step:
            q, qd = walk.mirror_q @ q, walk.mirror_v @ qd
            q[walk.forward] -= gait.numbers.step
        for phase in both:
            q, qd, jump = _placed(phase, q, qd)
            jumps.append(jump)
            options: Any = {
                "time": phase.start,
                "duration": phase.end - phase.start,
                "rtol": rtol,
                "atol": rtol,
            }
            runs.append(simulate(phase.mechanism, q, qd, torque=phase.efforts, **options))
            q, qd = runs[-1].q[-1].copy(), runs[-1].qd[-1].copy()
    return Replay(gait, both, tuple(runs), tuple(jumps))


def _placed(phase: Phase, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """The nearest state that obeys the feet that are held, and how far it is."""
    m = phase.mechanism
    at = m.assemble(q)
    return at, m.velocities(at, guess=qd), float(np.abs(at - q).max())
