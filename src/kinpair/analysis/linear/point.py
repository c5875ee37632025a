"""Point of linearisation: the arguments, checked; the state, and the moving axes in which a steady motion is at rest.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinpair.algebra.arrays import assemble
from kinpair.analysis.linear.modes import Core
from kinpair.constraints.assembly.batch import at_time
from kinpair.errors import InputError, listed, nearest
from kinpair.forces.states import has_actuators
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.spatial.rotation import skew
from kinpair.system import System

AGREES = 1e-6  # what may be left of (LI5) and (LI6), as a part of their terms
STEADY = 1e-7  # what may be left of (LI17), as a part of its terms


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """q (..., nq), qd (..., nv), efforts tau (..., nv) and time: one state, or several with one axis in front.

    Internal states x (..., nx) and inputs u (..., nu), where there are any; tau is then what they do to the joints.
    """

    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    time: Any
    x: np.ndarray = field(default_factory=lambda: np.zeros(0))
    u: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def batch(self) -> tuple[int, ...]:
        """Shape in front."""
        return self.qd.shape[:-1]


def movable(what: str, given: Any) -> Mechanism | System:
    """A mechanism or a system that moves."""
    if not isinstance(given, Mechanism | System):
        raise InputError(
            f"{what} takes a Mechanism or a System, not {given!r}; load() takes files, example() names",
            argument="mechanism",
        )
    if not given.nv:
        raise InputError(f"{given.name}: nothing moves, so there is nothing to do for {what}")
    return given


def has_ports(m: Mechanism | System) -> bool:
    """True if there are internal states, or actuators whose inputs are not the joint efforts."""
    return isinstance(m, Mechanism) and bool(m.nx or has_actuators(m.model))


def check_no_ports(what: str, m: Mechanism | System) -> None:
    """Refuse internal states and actuators."""
    if has_ports(m):
        raise InputError(
            f"{m.name}: {what} is for mechanisms without actuators and internal states; leave them out of the "
            "description, or linearise about a state of your own"
        )


def point_of(m: Mechanism | System, q: Any, qd: Any, u: Any, time: Any, x: Any = None) -> Point:
    """The state and the inputs as arrays; rates and inputs that are not given are zero, internal states those of the
    start."""
    still, ports = np.zeros(m.nv), has_ports(m)
    if not ports and x is not None and np.size(x):
        raise InputError(f"{m.name}: has no internal states, and x has {np.size(x)} numbers", argument="x")
    own = {"q": q, "qd": still if qd is None else qd} | ({} if ports else {"tau": still if u is None else u})
    arrays = dict(zip(own, m.by_name(time, **own), strict=True))
    if ports:
        assert isinstance(m, Mechanism)
        arrays["x"] = m.x_start if x is None else numbers_of(m.name, "x", m.x_names, x, m.x_start)
        arrays["u"] = np.zeros(m.nu) if u is None else numbers_of(m.name, "u", m.u_names, u, np.zeros(m.nu))
    arrays = {name: m.checked(name, value) for name, value in arrays.items()}
    for name, value in arrays.items():
        if not np.isfinite(value).all():
            word = "u" if name == "tau" else name
            raise InputError(f"{m.name}: {word} holds NaN or infinity", argument=word)
    sizes = {len(a) for a in arrays.values() if a.ndim == 2} | ({np.size(time)} if np.ndim(time) else set())
    if len(sizes) > 1:
        counts = listed(map(str, sorted(sizes)))
        raise InputError(f"{m.name}: q, qd, u and time differ in how many states they have: {counts}")
    if sizes:
        (count,) = sizes
        every = arrays.items()
        arrays = {k: np.ascontiguousarray(np.broadcast_to(a, (count, a.shape[-1]))) for k, a in every}
    moments = at_time(time)
    moment = moments[:, 0] if moments.ndim == 2 else float(moments[0])
    if not ports:
        return Point(arrays["q"], arrays["qd"], arrays["tau"], moment)
    assert isinstance(m, Mechanism)
    tau = m.actuation(arrays["q"], arrays["qd"], arrays["x"], arrays["u"], moment).effort
    return Point(arrays["q"], arrays["qd"], tau, moment, arrays["x"], arrays["u"])


def numbers_of(owner: str, what: str, names: Sequence[str], given: Any, default: np.ndarray) -> Any:
    """Numbers, those by name as an array with the others at their default."""
    if not isinstance(given, Mapping):
        return given
    result = np.array(default, dtype=float)
    for name, value in given.items():
        if name not in names:
            raise InputError(
                f"{owner}: no {what} {name!r}; {nearest(str(name), names)}Names: {listed(names)}", name=name
            )
        result[list(names).index(name)] = value
    return result


def check_obeys(m: Mechanism | System, at: Point) -> None:
    """Refuse a state that breaks a constraint."""
    if m.closure is None or not m.closure.row_names:
        return
    for k in np.ndindex(*at.batch):
        which = f" (state {k[0]})" if k else ""
        time = float(at.time[k]) if k and np.ndim(at.time) else float(at.time)
        m.closure.check_obeys(at.q[k], at.qd[k], time, which)


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
