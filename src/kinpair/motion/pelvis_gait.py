"""Gaits of any machine with two legs: feet on given paths, and a pelvis that moves such that the feet can stand.

The joints of the legs follow from pelvis and soles by Newton's method at N times of a step. Trunk and arms are fixed.
The zero-moment point z of this motion misses its path by e; the pelvis is moved against that as a mass on a table
would:

    δ − (h/g) δ̈ = e,   δ_k = e_k/(1 + (h/g) ω_k²)            per harmonic of two steps                        (GB12)

again and again, until e is below 0.1 mm (A. Takanishi and co-workers 1985; h: height of the mass centre). Forward, e
repeats after a step; sideways it changes its sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.errors import InputError, SingularError, listed
from kinpair.mechanism import Mechanism
from kinpair.motion.human_gait import height, progress, swing_coefficients
from kinpair.motion.leg_synergy import LegNumbers, mirror
from kinpair.motion.pieces import Pieces
from kinpair.motion.rated import with_rates
from kinpair.motion.roles import PARTS, SIDES, Roles
from kinpair.motion.trajectory import Motion, Trajectory

TIMES = 96  # of a step
ROUNDS, SETTLED = 40, 1e-4  # [m]
NEWTON, CLOSED = 40, 1e-11
GRAVITY = 9.81
BENT = 0.4  # [rad]: of hip, twice of the knee, where the iteration begins
PELVIS = "pelvis pitch"  # in a posture: how far the pelvis leans forward
LIMIT = 1e-6  # [rad]: a joint beyond its limit by more is rejected


@final
@dataclass(frozen=True, eq=False)
class PelvisStep:
    """A step: motion of all coordinates, and the path of the pelvis that was found."""

    mechanism: Mechanism
    motion: Trajectory
    free: Trajectory
    names: tuple[str, ...] = ("base.x", "base.y")
    multipliers: tuple[float, ...] = ()

    def at(self, time: Any, *, side: str = "") -> Motion:
        """Coordinates, rates, accelerations and jerk."""
        return self.motion.at(time, side=side)


@final
@dataclass(frozen=True, eq=False, repr=False)
class PlannedStep(Trajectory):
    """The step before the pelvis is moved, with its numbers."""

    numbers: LegNumbers
    motion: Trajectory

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        return self.motion.within(time, order, side)

    def at(self, time: Any, *, side: str = "") -> Motion:
        """Coordinates (nq), rates, accelerations and jerk (nv)."""
        return self.motion.at(time, side=side)


class PelvisGait:
    """The search for the path of the pelvis."""

    def __init__(self, m: Mechanism, roles: Roles, numbers: LegNumbers, rest: np.ndarray) -> None:
        self.m, self.p, self.rest, self.roles = m, numbers, rest, roles
        legs = [f"{side}-{_part(x)}" for side in SIDES for x in PARTS if f"{side}_{x}" in roles.joints]
        self.names = legs
        self.q = [m.q_names.index(x) for x in legs]
        self.v = [m.v_names.index(x) for x in legs]
        self.time = numbers.T * np.arange(2 * TIMES) / TIMES  # two steps
        self.mirrors = mirror(m.q_names)
        self._last: np.ndarray | None = None

    def soles(self, time: np.ndarray) -> list[np.ndarray]:
        """Paths of the left and the right sole over the first step (n, 3)."""
        p = self.p
        s = np.clip(time / p.swing, 0.0, 1.0)
        b, c = swing_coefficients()
        left = np.stack(
            [p.step * (2.0 * progress(s, b) - 1.0), 0.0 * s + p.track, p.lift * height(s, c)], axis=1
        )
        return [left, np.tile([0.0, -p.track, 0.0], (len(time), 1))]

    def pelvis(self, delta: np.ndarray) -> np.ndarray:
        """Pelvis over the first step (n, 3), with what it is moved by over two steps (2 n, 2)."""
        p, time = self.p, self.time[:TIMES]
        ahead = time - 0.5 * p.swing
        y = -p.sway_y * np.cos(np.pi * ahead / p.T)
        x = p.offset + p.speed * ahead
        return np.stack([x + delta[:TIMES, 0], y + delta[:TIMES, 1], 0.0 * x + p.pelvis], axis=1)

    def coordinates(self, pelvis: np.ndarray) -> np.ndarray:
        """Coordinates (n, nq) with the soles on their paths, by Newton's method."""
        m, time = self.m, self.time[: len(pelvis)]
        q = np.tile(self.rest, (len(time), 1)) if self._last is None else self._last.copy()
        q[:, :3] = pelvis
        goals, off = self.soles(time), np.zeros((len(time), 1))
        for _ in range(NEWTON):
            rest, rows = [], []
            for name, goal in zip(("left-sole", "right-sole"), goals, strict=True):
                pose = m.pose(q, name)
                turned = 0.5 * (pose.rotation - np.swapaxes(pose.rotation, 1, 2))
                angle = np.stack([turned[:, 2, 1], turned[:, 0, 2], turned[:, 1, 0]], axis=1)
                rest += [angle, pose.position - goal]
                rows.append(m.jacobian(q, name)[:, :, self.v])
            off, J = np.concatenate(rest, axis=1), np.concatenate(rows, axis=1)
            if np.abs(off).max() <= CLOSED:
                break
            step = np.einsum("kij,kj->ki", np.linalg.pinv(J), off)
            largest = np.abs(step).max(axis=1, keepdims=True)
            q[:, self.q] -= step * np.minimum(1.0, 0.3 / np.maximum(largest, 1e-12))
        else:
            k = int(np.abs(off).max(axis=1).argmax())
            raise SingularError(
                f"gait: the legs of {m.name} do not reach their feet at {time[k]:.3g} s: {np.abs(off[k]).max():.2g} m "
                f"or rad are left; take shorter steps or a lower pelvis{self._lost()}",
                time=float(time[k]),
            )
        self._last = q
        return q

    def _lost(self) -> str:
        missing = self.roles.missing()
        return f" (without {listed(missing)})" if missing else ""

    def two_steps(self, q: np.ndarray) -> np.ndarray:
        """Coordinates of two steps (2 n, nq): the second is the mirror image, further ahead."""
        later = q @ self.mirrors.T
        later[:, 0] += self.p.step
        return np.concatenate([q, later])

    def motion(self, q: np.ndarray, steps: int = 1) -> Trajectory:
        """Periodic spline of fifth order through the coordinates of two steps; the first step of it."""
        from scipy.interpolate import make_interp_spline

        every = self.two_steps(q)
        way = np.zeros(every.shape[1])
        way[0] = self.p.speed
        level = every - self.time[:, None] * way
        closed, time = np.concatenate([level, level[:1]]), np.append(self.time, 2 * self.p.T)
        found = make_interp_spline(time, closed, k=5, bc_type="periodic")
        knots = time[: steps * TIMES + 1]
        h, powers = np.diff(knots)[:, None], []
        factor = 1.0
        for k in range(6):
            factor *= max(k, 1)
            own = found(knots[:-1], nu=k)
            own = own + knots[:-1, None] * way if k == 0 else own + way if k == 1 else own
            powers.append(own * h**k / factor)
        c = np.stack(powers, axis=1)
        return with_rates(self.m, Pieces(float(knots[-1]), (self.m.nq,), tuple(knots.tolist()), c))

    def missed(self, q: np.ndarray, path: Trajectory) -> np.ndarray:
        """Distance of the zero-moment point from its path, over the first step (n, 2)."""
        time = self.time[:TIMES]
        x = self.motion(q).at(time)
        w = self.m.resultant(x.q, x.qd, x.qdd)
        zmp = np.stack([-w[:, 1], w[:, 0]], axis=1) / w[:, 5:6]
        return path.at(time).q[:, :2] - zmp

    def found(self, path: Trajectory) -> tuple[PelvisStep, PlannedStep]:
        """The step in balance, and as it was planned; SingularError where a joint is beyond its limits."""
        delta = np.zeros((2 * TIMES, 2))
        planned = self.coordinates(self.pelvis(delta))
        h = float(self.m.centre_of_mass(planned[0])[2])
        omega = 2 * np.pi * np.fft.rfftfreq(2 * TIMES, self.p.T / TIMES)
        filtered = 1.0 / (1.0 + h / GRAVITY * omega**2)  # (GB12)
        q = planned
        e = self.missed(q, path)
        for _ in range(ROUNDS):
            if np.abs(e).max() <= SETTLED:
                break
            both = np.concatenate([e, e * [1.0, -1.0]])
            delta = delta + np.fft.irfft(np.fft.rfft(both, axis=0) * filtered[:, None], 2 * TIMES, axis=0)
            q = self.coordinates(self.pelvis(delta))
            e = self.missed(q, path)
        else:
            raise SingularError(
                f"gait: the zero-moment point of {self.m.name} misses its path by {1e3 * np.abs(e).max():.2g} mm after "
                f"{ROUNDS} corrections of the pelvis; take shorter or slower steps"
            )
        self._check_limits(q)
        motion, before = self.motion(q), self.motion(planned)
        free = Pieces(motion.duration, (2,), motion.knots, self._plane(motion))
        numbers = self.p
        step = PelvisStep(self.m, motion, free)
        return step, PlannedStep(before.duration, (self.m.nq,), before.knots, numbers, before)

    def _plane(self, motion: Any) -> np.ndarray:
        return motion.coordinates.coefficients[:, :, :2]

    def _check_limits(self, q: np.ndarray) -> None:
        """Reject joints beyond their limits, with the largest excess of each."""
        joints = self.m.model.joints
        every = self.two_steps(q)
        beyond = np.maximum(joints.lower - every, every - joints.upper).max(axis=0)
        bad = [k for k in self.q if beyond[k] > LIMIT]
        if bad:
            words = [f"{self._own(k)} by {np.rad2deg(beyond[k]):.1f} degrees" for k in bad]
            raise SingularError(
                f"gait: joints of {self.m.name} are beyond their limits: {listed(words, 12)}; change step, lift, "
                "pelvis, posture or limits",
                joints=[self._own(k) for k in bad],
                excess=[float(beyond[k]) for k in bad],
            )

    def _own(self, k: int) -> str:
        """Name of a coordinate in the user's file."""
        renamed = self.m.q_names[k]
        return next((j for role, j in self.roles.joints.items() if _renamed(role) == renamed), renamed)


def _part(part: str) -> str:
    return {"hip_pitch": "hip", "ankle_pitch": "ankle"}.get(part, part.replace("_", "-"))


def _renamed(role: str) -> str:
    side, _, part = role.partition("_")
    return f"{side}-{_part(part)}"


def first_posture(m: Mechanism, roles: Roles, posture: Mapping[str, float]) -> np.ndarray:
    """Coordinates from which the legs are searched: knees bent, other joints as the posture gives them."""
    q = m.neutral()
    for name, value in posture.items():
        if name == PELVIS:
            q[3:7] = [0.0, np.sin(0.5 * value), 0.0, np.cos(0.5 * value)]
            continue
        if name not in m.q_names:
            raise InputError(
                f"gait: posture names {name!r}, which is no joint without a role of {m.name}", joint=name
            )
        q[m.q_names.index(name)] = value
    for side in SIDES:
        for part, bend in (("hip_pitch", -BENT), ("knee", 2 * BENT), ("ankle_pitch", -BENT)):
            name = f"{side}-{_part(part)}"
            axis = m.jacobian(m.neutral(), _child(m, name))[1, m.v_names.index(name)]
            q[m.q_names.index(name)] = np.sign(axis) * bend
    return q


def _child(m: Mechanism, joint: str) -> str:
    return next(j.child for j in m.model.description.joints if j.name == joint)
