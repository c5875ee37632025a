"""Step after step: every other one is the mirror image of a step, each further ahead by the length of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.motion.trajectory import Motion, Trajectory

SIDES = {"left": "right", "right": "left"}
TURNED = ("roll", "yaw")  # joints whose mirror image turns the other way
BASE = {"y": -1.0, "qx": -1.0, "qz": -1.0, "wx": -1.0, "wz": -1.0, "vy": -1.0}


def mirror(names: Sequence[str]) -> np.ndarray:
    """(n, n): entries of the mirror image, left and right exchanged; by the names of coordinates or rates."""
    found = np.zeros((len(names), len(names)))
    for k, name in enumerate(names):
        side, _, rest = name.partition("-")
        other = f"{SIDES[side]}-{rest}" if side in SIDES else name
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
