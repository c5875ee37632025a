"""State about which a mechanism is linearised, and the moving axes in which a steady motion is at rest.

Axes in which a steady motion stands still.

Rates of a joint with a quaternion are measured along axes of the child, which may spin while nothing else changes: a
disk that rolls. Seen from axes that turn against the child by ν, a vector changes by ẋ − ν × x instead of ẋ, and the
rates are constant if for its angular and linear part

    ω̇ = ν × ω,   v̇ = ν × v                                                                    (LI5)
    (ν + ω) × g = 0             on the ground: the axes turn about the vertical                (LI6)

Such axes follow the child but for its spin about a = ν/|ν|. Of a displacement δq = ψ e + θ e × a + φ a, with e the
vertical, φ is the spin, and a change of the rates along these axes is

    δω + φ a × ω,   δv + φ a × v,   φ = d · δq,   d = (a − (a·e) e) / (1 − (a·e)²)                (LI6a)

Of the ν that obey the shortest is taken; where none does, the axes are those of the child, ν = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinpair.algebra.arrays import assemble
from kinpair.analysis.linear.modes import Core
from kinpair.formulations import kinematics
from kinpair.model.model import Model
from kinpair.spatial.rotation import skew

AGREES = 1e-6  # what may be left of (LI5) and (LI6), as a part of their terms


def turning_joints(model: Model) -> list[int]:
    """Numbers of the bodies whose joint has a quaternion."""
    return [i for i in model.moving if model.body[i].pair.nq > model.body[i].pair.nv]


def steady_axes(model: Model, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> dict[str, np.ndarray]:
    """ν (3,) by joint, in axes of the child; joints for which it is zero are left out."""
    found: dict[str, np.ndarray] = {}
    for i in turning_joints(model):
        nu = _turning(model, i, q, qd[model.v_span[i]], qdd[model.v_span[i]])
        if nu.any():
            found[model.joint_names[i]] = nu
    return found


def _turning(model: Model, i: int, q: np.ndarray, t: np.ndarray, td: np.ndarray) -> np.ndarray:
    """The shortest ν of (LI5) and (LI6), each vector at length one."""
    if not t.any():
        return np.zeros(3)
    vectors, changes = (
        [t[k : k + 3] for k in range(0, len(t), 3)],
        [td[k : k + 3] for k in range(0, len(t), 3)],
    )
    if (down := _down(model, i, q)) is not None:
        vectors.append(down)
        changes.append(-np.cross(t[:3], down))
    sizes = [float(np.linalg.norm(x)) for x in vectors]
    moving = [(x / n, xd / n) for x, xd, n in zip(vectors, changes, sizes, strict=True) if n > 0.0]
    rows = np.concatenate([-skew(x) for x, _ in moving])
    right = np.concatenate([xd for _, xd in moving])
    nu = np.linalg.lstsq(rows, right, rcond=AGREES)[0]
    size = np.abs(right).max() + np.linalg.norm(t[:3])
    agrees = np.abs(rows @ nu - right).max() <= AGREES * size
    return nu if agrees and np.linalg.norm(nu) > AGREES * size else np.zeros(3)


def turned(model: Model, axes: Mapping[str, np.ndarray]) -> np.ndarray:
    """Ω (nv, nv): what Ω x adds to a vector along the rates when its axes turn by ν."""
    blocks: list[tuple[slice, slice, np.ndarray]] = []
    for i in turning_joints(model):
        if model.joint_names[i] in axes:
            W, start = skew(axes[model.joint_names[i]]), model.v_span[i].start
            spans = [slice(k, k + 3) for k in range(start, model.v_span[i].stop, 3)]
            blocks += [(span, span, W) for span in spans]
    return assemble((model.nv, model.nv), blocks)


def unspun(model: Model, q: np.ndarray, qd: np.ndarray, axes: Mapping[str, np.ndarray]) -> np.ndarray:
    """W (nv, nv): what W δq adds to a change of the rates along axes that do not follow a spin.    (LI6a)"""
    W = np.zeros((model.nv, model.nv))
    for i in turning_joints(model):
        nu = axes.get(model.joint_names[i], np.zeros(3))
        if not nu.any():
            continue
        a, start = nu / np.linalg.norm(nu), model.v_span[i].start
        d = a
        if (e := _down(model, i, q)) is not None and (across := 1.0 - (a @ e) ** 2) > AGREES:
            d = (a - (a @ e) * e) / across
        for k in range(start, model.v_span[i].stop, 3):
            W[k : k + 3, start : start + 3] = np.outer(np.cross(a, qd[k : k + 3]), d)
    return W


def _down(model: Model, i: int, q: np.ndarray) -> np.ndarray | None:
    """The direction of gravity in axes of a body on the ground; None elsewhere."""
    if model.parent[i] != 0 or not model.gravity.any():
        return None
    g = kinematics.placement(model.body[i], q[model.q_span[i]]).R.T @ model.gravity
    return np.asarray(g, dtype=float) / np.linalg.norm(g)


def brackets(model: Model, qd: np.ndarray) -> np.ndarray:
    """T (..., nv, nv) of all joints: d(δq)/dt = δq̇ − T δq, see `Pair.bracket`."""
    T = np.zeros((*qd.shape[:-1], model.nv, model.nv))
    for i in turning_joints(model):
        span = model.v_span[i]
        for k in np.ndindex(*qd.shape[:-1]):
            T[(*k, span, span)] = model.body[i].pair.bracket(qd[(*k, span)])
    return T


STEADY = 1e-7  # what may be left of (LI17), as a part of its terms


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoint:
    """State of the linearisation: q, qd, efforts tau, accelerations qdd and time, along a motion with an axis in front.

    `coordinates` and `rates`: numbers of the independent ones. `axes`: joints whose displacements and rates are
    measured along axes that turn against the child, with their angular velocity (3,) in axes of the child, see (LI5).
    Internal states x, their rates, and inputs u, where there are actuators.
    """

    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    qdd: np.ndarray
    time: Any
    coordinates: tuple[int, ...]
    rates: tuple[int, ...]
    axes: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    x: np.ndarray = field(default_factory=lambda: np.zeros(0))
    u: np.ndarray = field(default_factory=lambda: np.zeros(0))
    x_rate: np.ndarray = field(default_factory=lambda: np.zeros(0))


def is_steady(model: Model, a: OperatingPoint, A: np.ndarray, core: Core) -> bool:
    """True if it is at rest, or in a steady motion.

    Time moves a steady motion along itself: with x_t = (q̇, q̈), both seen in the axes of measurement,

        q̈ − Ω q̇ = 0,   A x_t = 0        of all states that something depends on             (LI17)
    """
    change = a.qdd - turned(model, a.axes) @ a.qd
    J, I = list(a.coordinates), list(a.rates)
    own = (a.qdd - change + unspun(model, a.q, a.qd, a.axes) @ a.qd)[I]
    along = np.concatenate([a.qd[J], own, 0.0 * a.x_rate])
    left = np.concatenate([np.zeros(len(J)), change[I], a.x_rate])
    felt = [k for k in range(len(core.kept)) if k not in core.ignored]
    off = np.abs((core.left @ np.stack([left, A @ along], axis=1))[felt]).max(initial=0.0)
    size = np.abs(a.qdd).max() + (np.abs(A) @ np.abs(along)).max(initial=0.0)
    return bool(off <= STEADY * (1.0 + size))
