"""All positions of an arm of six hinges that bring a frame to a target, where its axes allow a closed form.

The axes are those of the Jacobian where q = 0: the column (h, v) at the point x has its axis through x + h × v. Which
of them are parallel or cross decides how the arm is solved, from its base to the frame or from the frame to its base:

    e^{ξ₁q₁} … e^{ξ₆q₆} = T T(0)⁻¹ = E,        e^{−ξ₆q₆} … e^{−ξ₁q₁} = E⁻¹                                  (IK12)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kinpair.compiler.cache import Store
from kinpair.compiler.loops.functions import LoopFunction, compiled
from kinpair.errors import InputError
from kinpair.inverse_kinematics import subproblems
from kinpair.inverse_kinematics.targets import Target, wanted

ALIKE = (
    1e-9  # sine of the angle between parallel axes, and distance of crossing ones over the length of the arm
)
REACHED = 1e-7  # [rad], and over the length of the arm: largest deviation of a solution from its target
FORMS = "a spherical wrist with axes 2 and 3 parallel, or 1 and 2 parallel or crossing; or axes 2, 3 and 4 parallel "
FORMS += "and 5 and 6 crossing; counted from the base or from the frame"


@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """All solutions of many targets: q (targets, 8, 6) [rad], NaN behind the last one, and their count (targets,)."""

    q: np.ndarray
    count: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Hinges:
    """Six hinges between ground and frame: axes and points where q = 0, and how their equations are solved.

    g (12, 3): axes, zeros, vectors between points on consecutive axes; first and last point (3,); pose of the frame.
    """

    kind: int
    reversed: bool
    g: np.ndarray
    first: np.ndarray
    last: np.ndarray
    rotation: np.ndarray
    position: np.ndarray
    entries: tuple[int, ...]  # of q
    limits: np.ndarray  # (2, 6)

    @property
    def length(self) -> float:
        """Length of the arm [m]."""
        return max(float(np.linalg.norm(self.g[7:], axis=1).sum()), 1e-300)

    def solve(self, R: np.ndarray, p: np.ndarray) -> Solutions:
        """Find all solutions within the limits for rotations (n, 3, 3) and positions (n, 3)."""
        E = R @ self.rotation.T  # (IK12)
        e = p - E @ self.position
        if self.reversed:
            E = np.swapaxes(E, 1, 2)
            e = -np.einsum("nij,nj->ni", E, e)
        targets = np.concatenate([E.reshape(-1, 9), E @ self.last + e - self.first], axis=1)
        n = len(targets)
        q, counts = np.zeros((n * subproblems.MOST, 6)), np.zeros(n, dtype=np.int64)
        scratch = np.zeros((subproblems.ROWS, 3))
        _compiled()(self.kind, self.g, targets, self.length, REACHED, scratch, q, counts)
        q = q.reshape(n, subproblems.MOST, 6)
        return self._within(q[:, :, ::-1] if self.reversed else q, counts)

    def _within(self, q: np.ndarray, counts: np.ndarray) -> Solutions:
        """Turn angles into the limits and leave out solutions that are beyond them."""
        low, high = self.limits
        q = np.arctan2(np.sin(q), np.cos(q))
        for turn in (2.0 * np.pi, -2.0 * np.pi):
            other = q + turn
            q = np.where(((q < low) | (q > high)) & (other >= low) & (other <= high), other, q)
        there = np.arange(subproblems.MOST) < counts[:, None]
        kept = there & ((q >= low) & (q <= high)).all(-1)
        order = np.argsort(~kept, axis=1, kind="stable")
        q = np.where(kept[:, :, None], q, np.nan)
        return Solutions(np.take_along_axis(q, order[:, :, None], axis=1), kept.sum(1))


@cache
def _compiled() -> LoopFunction:
    return compiled(subproblems.solve_targets, store=Store())


def hinges_of(
    name: str, J: np.ndarray, rotation: np.ndarray, position: np.ndarray, limits: np.ndarray
) -> Hinges:
    """Return how the six hinges before a frame are solved; J (6, nv) and its pose where q = 0, limits (2, nv)."""
    entries = tuple(np.flatnonzero(np.abs(J).max(0) > 0.0).tolist())
    h, v = J[:3, list(entries)].T, J[3:, list(entries)].T
    turns = np.linalg.norm(h, axis=1)
    if len(entries) != 6 or not turns.all():
        kinds = f"{int((turns > 0).sum())} hinges and {int((turns == 0).sum())} slides"
        raise InputError(
            f"{name}: {kinds} move the frame; all solutions are known for 6 hinges. inverse_kinematics finds one "
            "solution for any mechanism"
        )
    points = position + np.cross(h, v)
    limits = limits[:, list(entries)]
    for is_reversed in (False, True):
        axes, at = (-h[::-1], points[::-1]) if is_reversed else (h, points)
        length = float(
            np.linalg.norm(np.diff([*at, at[-1] if is_reversed else position], axis=0), axis=1).sum()
        )
        for kind, solvable in KINDS.items():
            if (chosen := solvable(axes, at, length)) is not None:
                g = np.concatenate([axes, np.zeros((1, 3)), np.diff(chosen, axis=0)])
                return Hinges(
                    kind, is_reversed, g, chosen[0], chosen[-1], rotation, position, entries, limits
                )
    raise InputError(
        f"{name}: the six axes have no closed form; it needs {FORMS}. {_nearly(h, points)}"
        "inverse_kinematics finds one solution for any mechanism"
    )


def _nearly(h: np.ndarray, points: np.ndarray) -> str:
    """Report neighbouring axes that are almost parallel, as angles rounded in a file make them."""
    angles = [float(np.linalg.norm(np.cross(h[k], h[k + 1]))) for k in range(5)]
    off = [f"{k + 1} and {k + 2} by {a:.1g}" for k, a in enumerate(angles) if ALIKE < a < 1e-3]
    return f"Axes {', '.join(off)} rad from parallel: load the file with snap=1e-5. " if off else ""


def _are_parallel(h: np.ndarray, *which: int) -> bool:
    return all(np.linalg.norm(np.cross(h[which[0]], h[k])) <= ALIKE for k in which[1:])


def _crossing(h: np.ndarray, points: np.ndarray, length: float, *which: int) -> np.ndarray | None:
    """Return the point that is on all of these axes, or None."""
    across = [np.eye(3) - np.outer(h[k], h[k]) for k in which]
    matrix, right = sum(across), sum(P @ points[k] for P, k in zip(across, which, strict=True))
    if _are_parallel(h, *which):
        return None
    x = np.linalg.solve(matrix, right)
    distances = [np.linalg.norm(P @ (x - points[k])) for P, k in zip(across, which, strict=True)]
    return x if max(distances) <= ALIKE * length else None


def _with_wrist(points: np.ndarray, wrist: np.ndarray | None, shoulder: np.ndarray | None = None) -> Any:
    if wrist is None:
        return None
    first = points[:3] if shoulder is None else np.array([shoulder, shoulder, points[2]])
    return np.concatenate([first, [wrist] * 3])


def _elbow(h: np.ndarray, points: np.ndarray, length: float) -> np.ndarray | None:
    return _with_wrist(points, _crossing(h, points, length, 3, 4, 5)) if _are_parallel(h, 1, 2) else None


def _shoulder(h: np.ndarray, points: np.ndarray, length: float) -> np.ndarray | None:
    shoulder = _crossing(h, points, length, 0, 1)
    return None if shoulder is None else _with_wrist(points, _crossing(h, points, length, 3, 4, 5), shoulder)


def _stem(h: np.ndarray, points: np.ndarray, length: float) -> np.ndarray | None:
    return _with_wrist(points, _crossing(h, points, length, 3, 4, 5)) if _are_parallel(h, 0, 1) else None


def _parallel(h: np.ndarray, points: np.ndarray, length: float) -> np.ndarray | None:
    wrist = _crossing(h, points, length, 4, 5) if _are_parallel(h, 1, 2, 3) else None
    return None if wrist is None else np.concatenate([points[:4], [wrist] * 2])


KINDS: dict[int, Callable[[np.ndarray, np.ndarray, float], np.ndarray | None]] = {
    # by kind: points on the axes as its equations need them, or None where the axes are others
    subproblems.ELBOW: _elbow,
    subproblems.SHOULDER: _shoulder,
    subproblems.STEM: _stem,
    subproblems.PARALLEL: _parallel,
}


def rotations_and_positions(frame: str, position: Any, rotation: Any) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return checked rotations (n, 3, 3), positions (n, 3), and whether there are many."""
    asked = wanted({frame: Target(position, rotation)})
    (form,) = asked.forms
    if len(form.along) < 3 or not form.rotation:
        raise InputError(f"{frame!r}: all solutions of six hinges need a position (3,) and a rotation (3, 3)")
    return asked.numbers[:, 3:].reshape(-1, 3, 3), asked.numbers[:, :3], asked.many
