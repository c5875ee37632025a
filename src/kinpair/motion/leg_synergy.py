"""Legs of a biped over one step: pelvis and feet on their paths, and the angles of the joints that take them there.

The right foot stands flat at the origin, the left swings from −L to L and stands there from T_s on. With t_m = T_s/2:

    x = (x_m + v (t − t_m) − μ(a_l + a_r))/(1 − 2μ),   y = −A_y cos(π(t − t_m)/T)                  pelvis      (GB4)
    z = z_0 + A_z cos(2π(t − t_m)/T)                                                                           (GB4a)
    ρ = atan2(d_y, −d_z),   D² = d_y² + d_z²                                   roll of the leg                 (GB5)
    cos k = (d_x² + D² − l₁² − l₂²)/(2 l₁ l₂)                                  knee                            (GB6)
    h = atan2(d_x, D) + atan2(l₂ sin k, l₁ + l₂ cos k)                         hip                             (GB7)
    ankle: k − h,  −ρ                                                          the foot stays level            (GB8)

a_l, a_r: how far ahead the ankles are. μ is the part of the mass that goes with an ankle: so the mass centre advances
evenly, and the ground need not push and brake a swinging leg. d: from the hip to the ankle. The pelvis stays level, so
the yaw of the hips is zero.

Step after step: every other one is the mirror image of a step, each further ahead by the length of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import array
from kinpair.algebra.choice import maximum, minimum
from kinpair.compiler.cache import Store
from kinpair.compiler.derivative import jacobian
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.trace import trace
from kinpair.motion.human_gait import TERMS, height, progress
from kinpair.motion.trajectory import Motion, Trajectory

ANGLES = ("hip-yaw", "hip-roll", "hip", "knee", "ankle", "ankle-roll")
TIMES = 4  # of a motion: q and three derivatives


class LegNumbers(NamedTuple):
    """Numbers of a step: its duration T and that of the swing [s], speed [m/s], step length, height and offset of
    the pelvis,
    its sways, half the distance of the feet, how high the swinging foot goes [m]; of the legs: the hip in the pelvis,
    forward, sideways and upward, thigh, shank, and ankle above the sole [m]; and the part of the mass that goes with an
    ankle."""

    T: float
    swing: float
    speed: float
    step: float
    pelvis: float
    offset: float
    sway_y: float
    sway_z: float
    track: float
    lift: float
    hip_x: float
    hip_y: float
    hip_z: float
    thigh: float
    shank: float
    ankle: float
    share: float


def places(time: Any, p: LegNumbers, b: Any, c: Any) -> tuple[Any, Any, Any]:
    """Pelvis, left ankle and right ankle, three numbers each."""
    ahead = time - 0.5 * p.swing
    turn = np.pi * ahead / p.T
    s = minimum(maximum(time / p.swing, 0.0), 1.0)
    left = [p.step * (2.0 * progress(s, b) - 1.0), p.track, p.ankle + p.lift * height(s, c)]
    x = (p.offset + p.speed * ahead - p.share * left[0]) / (1.0 - 2.0 * p.share)  # (GB4)
    pelvis = [x, -p.sway_y * np.cos(turn), p.pelvis + p.sway_z * np.cos(2.0 * turn)]  # (GB4a)
    return pelvis, left, [0.0, -p.track, p.ankle]


def angles_of(d: Any, p: LegNumbers) -> list[Any]:
    """Yaw, roll and pitch of the hip, knee, pitch and roll of the ankle, for the vector d from hip to ankle."""
    roll, D2 = np.arctan2(d[1], -d[2]), d[1] * d[1] + d[2] * d[2]  # (GB5)
    cosine = (d[0] * d[0] + D2 - p.thigh * p.thigh - p.shank * p.shank) / (2.0 * p.thigh * p.shank)  # (GB6)
    sine = np.sqrt(1.0 - cosine * cosine)
    knee = np.arctan2(sine, cosine)
    hip = np.arctan2(d[0], np.sqrt(D2)) + np.arctan2(p.shank * sine, p.thigh + p.shank * cosine)  # (GB7)
    return [0.0 * roll, roll, hip, knee, knee - hip, -roll]  # (GB8)


def coordinates(time: Any, numbers: Any, b: Any, c: Any) -> Any:
    """Position of the pelvis, angles of the left and of the right leg (15,)."""
    p = LegNumbers(*numbers)
    pelvis, *ankles = places(time, p, b, c)
    found = list(pelvis)
    for sign, ankle in zip((1.0, -1.0), ankles, strict=True):
        hip = [pelvis[0] + p.hip_x, pelvis[1] + sign * p.hip_y, pelvis[2] + p.hip_z]
        found += angles_of([a - x for a, x in zip(ankle, hip, strict=True)], p)
    return array(found)


@cache
def _kernel() -> Kernel:
    """q and three derivatives in time, for any step."""

    def traced(time: Any, numbers: Any, b: Any, c: Any) -> tuple[Any, ...]:
        found = [coordinates(time[0], numbers, b, c)]
        for _ in range(TIMES - 1):
            found.append(jacobian(found[-1], time)[:, 0])
        return tuple(found)

    shapes = {"time": (1,), "numbers": (len(LegNumbers._fields),), "b": (TERMS,), "c": (TERMS,)}
    return Kernel(lambda: trace(traced, shapes, name="leg_synergy"), key="leg synergy", store=Store())


@final
@dataclass(frozen=True, eq=False, repr=False)
class LegSynergy(Trajectory):
    """A step of a biped with everything but its legs at `rest` (nq,): coordinates (nq,) and rates (nv,).

    columns: which entries of q and of the rates the fifteen numbers of `coordinates` are.
    """

    numbers: LegNumbers
    b: np.ndarray
    c: np.ndarray
    rest: np.ndarray
    rates: int
    q_columns: np.ndarray
    v_columns: np.ndarray

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        x = self.at(time[..., 0])
        return [x.q, *(self._padded(y) / n for y, n in zip(x[1:], (1.0, 2.0, 6.0), strict=True))][: order + 1]

    def at(self, time: Any, *, side: str = "") -> Motion:
        """Coordinates (nq), rates, accelerations and jerk (nv)."""
        t = np.asarray(time, dtype=float)
        found = _kernel()(np.ascontiguousarray(t.reshape(-1, 1)), np.array(self.numbers), self.b, self.c)
        q = np.broadcast_to(self.rest, (t.size, len(self.rest))).copy()
        q[:, self.q_columns] = found[0]
        every = [q]
        for x in found[1:]:
            rate = np.zeros((t.size, self.rates))
            rate[:, self.v_columns] = x
            every.append(rate)
        return Motion(*(x.reshape(*t.shape, x.shape[-1]) for x in every))

    def _padded(self, x: np.ndarray) -> np.ndarray:
        """Rates as those of coordinates: the same, since the pelvis does not turn."""
        found = np.zeros((*x.shape[:-1], len(self.rest)))
        found[..., self.q_columns] = x[..., self.v_columns]
        return found


OTHER = {"left": "right", "right": "left"}
TURNED = ("roll", "yaw")  # joints whose mirror image turns the other way
BASE = {"y": -1.0, "qx": -1.0, "qz": -1.0, "wx": -1.0, "wz": -1.0, "vy": -1.0}


def mirror(names: Sequence[str]) -> np.ndarray:
    """(n, n): entries of the mirror image, left and right exchanged; by the names of coordinates or rates."""
    found = np.zeros((len(names), len(names)))
    for k, name in enumerate(names):
        side, _, rest = name.partition("-")
        other = f"{OTHER[side]}-{rest}" if side in OTHER else name
        sign = BASE.get(name.rpartition(".")[2], 1.0) if "." in name else 1.0
        found[k, names.index(other)] = -1.0 if name.endswith(TURNED) else sign
    return found


@final
@dataclass(frozen=True, eq=False, repr=False)
class Steps(Trajectory):
    """Steps of a biped, as long as each is `step`; the mirror images of coordinates and of rates."""

    step: Trajectory
    length: float
    forward: int  # the entry of q along which it goes
    mirror_q: np.ndarray
    mirror_v: np.ndarray

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        k, t = self.local(time[..., 0])
        odd, ahead = (k % 2 == 1)[..., None], np.zeros(self.shape)
        ahead[self.forward] = self.length
        found = [np.where(odd, x @ self.mirror_q.T, x) for x in self.step.within(t[..., None], order, side)]
        return [found[0] + k[..., None] * ahead, *found[1:]]

    def local(self, time: Any) -> tuple[np.ndarray, np.ndarray]:
        """Number of the step, and the time in it; the end of the last one belongs to it."""
        t = np.asarray(time, dtype=float)
        count = round(self.duration / self.step.duration)
        k = np.clip(np.floor(t / self.step.duration + 1e-12), 0, count - 1)
        return k.astype(int), np.clip(t - k * self.step.duration, 0.0, self.step.duration)

    def at(self, time: Any, *, side: str = "") -> Motion:
        """Coordinates (nq), rates, accelerations and jerk (nv)."""
        k, t = self.local(time)
        x, odd = self.step.at(t, side=side), (k % 2 == 1)[..., None]
        q = np.where(odd, x.q @ self.mirror_q.T, x.q)
        ahead = np.zeros(q.shape)
        ahead[..., self.forward] = k * self.length
        return Motion(q + ahead, *(np.where(odd, y @ self.mirror_v.T, y) for y in x[1:]))
