"""A gait played back: its efforts, and a regulator, drive the free machine while feet are held to the ground.

Each step is two runs, with one foot held and with both. The next step is the mirror image of the first, so its state is
mirrored, too. A foot that comes down is stopped by an impulse p on it; with J of the soles that are held

    H (q̇⁺ − q̇⁻) = Jᵀ p,   J q̇⁺ = 0                                                                           (GW13)
    τ + Σ_i J_iᵀ w_i = inverse dynamics of the run,   i: soles that are held                                    (GW14)

The latter has the wrench w_i of the ground on each foot, also where there are two.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.description.fields import counted
from kinpair.errors import InputError
from kinpair.motion.gait import Gait
from kinpair.motion.leg_synergy import ANGLES, angles_of
from kinpair.motion.support import Support, support
from kinpair.runs.judgement import whole_runs
from kinpair.runs.result import Result
from kinpair.runs.simulate import simulate
from kinpair.walking import replay_pictures
from kinpair.walking.phases import Phase, phases
from kinpair.walking.regulator import GaitRegulator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAMPLES = 100  # of a run
RTOL = {True: 1e-8, False: 1e-12}  # with a regulator; without, errors grow


@final
@dataclass(frozen=True, eq=False)
class Replay:
    """Runs of a gait played back, two a step, in axes of each step (the left foot swings in all of them).

    jumps: of a coordinate at the start of each run, where a foot came down beside its place. impulses: at the soles
    [N s], the larger of each run.
    """

    gait: Gait
    phases: tuple[Phase, Phase]
    runs: tuple[Result, ...]
    jumps: tuple[float, ...]
    impulses: tuple[float, ...]

    def nominal(self, k: int) -> Any:
        """The gait at the samples of a run."""
        return self.gait.synergy.at(self.runs[k].time)

    @property
    def deviations(self) -> np.ndarray:
        """Largest deviation of a coordinate and of a rate from the gait, at the end of each run (runs, 2)."""
        return np.array([self._largest(k, -1) for k in range(len(self.runs))])

    def _largest(self, k: int, sample: int) -> tuple[float, float]:
        run, x = self.runs[k], self.nominal(k)
        return np.abs(run.q[sample] - x.q[sample]).max(), np.abs(run.qd[sample] - x.qd[sample]).max()

    def off(self, k: int) -> np.ndarray:
        """Of the mass centre from that of the gait (n, 3) during a run [m]."""
        m = self.gait.mechanism
        return m.centre_of_mass(self.runs[k].q) - m.centre_of_mass(self.nominal(k).q)

    @property
    def distances(self) -> np.ndarray:
        """Of the mass centre from that of the gait, at the start and after each step (steps + 1,) [m]."""
        ends = [self.off(k)[-1] for k in range(1, len(self.runs), 2)]
        return np.sqrt((np.array([self.off(0)[0], *ends]) ** 2).sum(1))

    def wrenches(self, k: int) -> dict[str, np.ndarray]:
        """Of the ground on the soles that are held (n, 6), at their origins in world axes, during a run."""
        run, m, soles = self.runs[k], self.gait.mechanism, self.phases[k % 2].soles
        J = np.concatenate([m.jacobian(run.q, sole) for sole in soles], axis=1)
        rest = m.inverse_dynamics(run.q, run.qd, run.qdd) - run.tau
        w = np.linalg.solve(J @ np.swapaxes(J, 1, 2), J @ rest[..., None])[..., 0]  # (GW14)
        return {sole: w[:, 6 * i : 6 * i + 6] for i, sole in enumerate(soles)}

    @cached_property
    def support(self) -> tuple[Support, ...]:
        """What the ground gave during each run, foot by foot."""
        return tuple(self._support(k) for k in range(len(self.runs)))

    def _support(self, k: int) -> Support:
        run, gait, held = self.runs[k], self.gait, self.phases[k % 2].soles
        soles = {name: outline for name, outline in gait.soles.items() if name in held}
        state, given = (run.q, run.qd, run.qdd), self.wrenches(k)
        return support(gait.mechanism, *state, soles, wrenches=given, ground=gait.ground, time=run.time)

    @property
    def excesses(self) -> tuple[str, ...]:
        """What no foot could give, in words, with the step; empty where all could be given."""
        return tuple(f"step {k // 2 + 1}: {x}" for k, s in enumerate(self.support) for x in s.excesses)

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> Figure:
        """The zero-moment point in the footprints, how far the mass centre is off, margins and loads of the feet."""
        return replay_pictures.picture(self, title, path)

    def __str__(self) -> str:
        every = self.support
        away = ", ".join(f"{1e3 * x:.2g}" for x in self.distances)
        margin, slip = min(x.margin.min() for x in every), max(x.slip.max() for x in every)
        lines = [
            f"{self.gait.mechanism.name}: {counted(len(self.runs) // 2, 'step')} played back",
            f"mass centre {away} mm from the gait, at the start and after each step",
            f"least margin {1e3 * margin:.2g} mm; friction demand with moment at most {slip:.2f}, offered "
            f"{self.gait.ground.friction:g}; impulse of a foot at most {max(self.impulses):.2g} N s",
        ]
        return "\n".join([*lines, *(self.excesses or ("feasible: feet on the ground can give all this",))])


def pushed(
    gait: Gait, *, forward: float = 0.0, sideways: float = 0.0, rate: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """q and qd at the start of the gait with the pelvis so far off [m], both feet in their places, and the trunk
    turning at a rate [rad/s] forward and to the right, beside that of the gait."""
    m, p, x = gait.mechanism, gait.numbers, gait.synergy.at(0.0)
    q, qd = x.q.copy(), x.qd.copy()
    q[[m.q_names.index(f"base.{axis}") for axis in "xy"]] += (forward, sideways)
    pelvis = q[[m.q_names.index(f"base.{axis}") for axis in "xyz"]]
    for side, sign, ahead in (("left", 1.0, -p.step), ("right", -1.0, 0.0)):
        hip = pelvis + np.array([p.hip_x, sign * p.hip_y, p.hip_z])
        ankle = np.array([ahead, sign * p.track, p.ankle])
        q[[m.q_names.index(f"{side}-{name}") for name in ANGLES]] = angles_of(list(ankle - hip), p)
    qd[[m.v_names.index(name) for name in ("trunk-pitch", "trunk-roll")]] += rate
    q, qd, _ = _placed(gait, phases(gait)[0], q, qd)
    return q, qd


def replay(
    gait: Gait,
    *,
    steps: int = 1,
    start: tuple[Any, Any] | None = None,
    regulator: GaitRegulator | None = None,
    rtol: float | None = None,
) -> Replay:
    """The gait from its start, or from another state (q, qd), such as `pushed` gives, for so many steps.

    Without a regulator its efforts alone drive the machine, and nothing leads it back.

    Units: coordinates [rad] or [m], rates [rad/s] or [m/s].
    """
    if not (isinstance(steps, int) and steps > 0):  # type: ignore[redundant-expr]
        raise InputError(f"replay: steps is {steps!r}; give a positive whole number")
    both = phases(gait)
    efforts = [phase.efforts for phase in both] if regulator is None else regulator
    x = gait.synergy.at(0.0)
    q, qd = (x.q, x.qd) if start is None else (np.asarray(s, dtype=float) for s in start)
    tolerance = RTOL[regulator is not None] if rtol is None else rtol
    runs: list[Result] = []
    landings: list[tuple[float, float]] = []
    walk = gait.motion(2)
    for step in range(steps):
        if step:
            q, qd = walk.mirror_q @ q, walk.mirror_v @ qd
            q[walk.forward] -= gait.numbers.step
        for phase, torque in zip(both, efforts, strict=True):
            q, qd, landed = _placed(gait, phase, q, qd)
            landings.append(landed)
            output = np.linspace(phase.start, phase.end, SAMPLES + 1)
            options: Any = {"time": phase.start, "duration": phase.duration, "output": output}
            options |= {"rtol": tolerance, "atol": tolerance}
            with whole_runs():
                runs.append(simulate(phase.mechanism, q, qd, torque=torque, **options))
            q, qd = runs[-1].q[-1].copy(), runs[-1].qd[-1].copy()
    jumps, impulses = zip(*landings, strict=True)
    return Replay(gait, both, tuple(runs), jumps, impulses)


def _placed(
    gait: Gait, phase: Phase, q: np.ndarray, qd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    """The nearest state in which feet are held, how far it is, and the impulse that stops them."""
    at = phase.mechanism.assemble(q)
    J = np.concatenate([gait.mechanism.jacobian(at, sole) for sole in phase.soles])
    felt = np.linalg.solve(gait.mechanism.mass_matrix(at), J.T)
    p = -np.linalg.solve(J @ felt, J @ qd)  # (GW13)
    largest = np.sqrt((p.reshape(-1, 2, 3)[:, 1] ** 2).sum(1)).max()
    return at, qd + felt @ p, (float(np.abs(at - q).max()), float(largest))
