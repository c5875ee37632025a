"""The impact of a foot on the ground, after which the legs change their roles.

A mechanism stands with its first joint on the ground. When the other foot strikes, that one holds from then on without
rebound and the first is released. With H of the mechanism released from the ground (translations v and joints r,
u = (v, r)) and J_r, how joints move the striking foot:

    u = Z r,   Z = (−J_r; 1)                       rates while the striking foot stands                (GW1)
    (ZᵀHZ) r⁺ = ZᵀH (0; q̇⁻)                        what the impulse at that foot cannot change         (GW2)
    q⁺ = L q,   q̇⁺ = L r⁺                          the legs change their names                         (GW3)

Where the foot that is released has no mass, ZᵀHZ is singular. A light mass ε there adds ε J_rᵀJ_r to it. With a basis K
of its null space, the limit for ε → 0 is the solution of (GW2) in which the released foot is slowest:

    r⁺ = r_p + K s,   KᵀJ_rᵀJ_r K s = −KᵀJ_rᵀJ_r r_p   limit of a light foot                           (GW15)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import less, minimum, where
from kinpair.description.parts import GROUND, Description, Joint, Link
from kinpair.errors import DescriptionWarning, InputError, SingularError, caller_level, expect, listed
from kinpair.formulations import composite, kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.build import build
from kinpair.model.model import Model
from kinpair.simulation.events.events import Change, Event

ROWS = {"x": 3, "y": 4, "z": 5}  # of a Jacobian
RELEASED = "released"
LIGHT = 1e-9  # a pivot below this part of its diagonal entry is no inertia
ABSENT = 1e-12  # an inertia below this part of the largest one counts as zero
PROBES = 4  # positions at which massless parts are searched
SPREAD = 0.3  # of these positions about the start [rad], [m]


def heel_strike(
    m: Mechanism,
    foot: str,
    relabel: Any,
    *,
    function: Callable[..., Any] | None = None,
    direction: int = -1,
    plane: str = "xz",
    name: str = "heel strike",
) -> Event:
    """The event of a foot that meets the ground, for `kp.simulate` and for `kp.walking.cycle`.

    foot: the link or frame that strikes. relabel: L (n, n), the coordinates of the same posture with the other leg in
    the place of the first. function (time, q, qd): what changes its sign then, the height of the foot by default.
    plane: directions in which the feet can slip away when they do not hold.

    Where the foot that is released has no mass, the rates behind the impact are the limit of a light foot, and a
    DescriptionWarning reports it. SingularError where there is no such limit.
    """
    expect("heel_strike", m, Mechanism)
    place = m.model.place(foot)
    L = np.asarray(relabel, dtype=float)
    if L.shape != (m.nv, m.nv) or m.nq != m.nv:
        raise InputError(
            f"heel_strike: relabel has shape {L.shape}; give ({m.nv}, {m.nv}), one row for each coordinate"
        )
    impact = _Impact(m.name, build(_released(m, plane)), foot, plane)
    impact = replace(impact, light=_light_rates(impact, m))

    def after(time: Any, q: Vector, qd: Vector) -> Change:
        return Change(q=L @ q, qd=L @ impact.rates(q, qd))  # (GW3)

    def height(time: Any, q: Vector, qd: Vector) -> Any:
        return kinematics.pose(m.model, q, place)[1][2]

    return Event(name, function or height, direction, after)


@dataclass(frozen=True, slots=True, eq=False)
class _Impact:
    """The impact of a foot: the model released from the ground, and the rates without inertia while that foot stands.

    `light` numbers as many rates as the null space of ZᵀHZ has dimensions; the others have inertia of their own.
    """

    name: str
    released: Model
    foot: str
    plane: str
    light: tuple[int, ...] = ()

    def terms(self, q: Vector) -> tuple[Matrix, Matrix, Matrix]:
        """Compute ZᵀHZ, J_rᵀJ_r and the part of H Z for the joints, all (nv, nv).    (GW1)"""
        n, rows = len(self.plane), [ROWS[x] for x in self.plane]
        at = np.concatenate([np.zeros(n), q])
        J = kinematics.jacobian(self.released, at, self.released.place(self.foot))[rows][:, n:]
        Z = np.concatenate([-J, np.eye(len(q))])
        HZ = composite.mass_matrix(self.released, at) @ Z
        return Z.T @ HZ, J.T @ J, HZ[n:]

    @np.errstate(divide="ignore", invalid="ignore")  # judged by the pivots
    def rates(self, q: Vector, qd: Vector) -> Vector:
        """Compute r⁺ (nv,); not a number, or a SingularError for plain numbers, where nothing determines it."""
        S, F, HZ = self.terms(q)
        heavy = [k for k in range(len(qd)) if k not in self.light]
        own = ldl.factor(S[np.ix_(heavy, heavy)])
        momentum = HZ.T @ qd
        r = _placed(heavy, ldl.solve_factored(own, momentum[heavy]), len(qd))  # (GW2)
        sound = _smallest(own, S[np.ix_(heavy, heavy)])
        if self.light:
            K = _null_basis(own, S, heavy, self.light)
            FK = F @ K
            feet = ldl.factor(K.T @ FK)
            sound = minimum(sound, _smallest(feet, K.T @ FK))
            r = r - K @ ldl.solve_factored(feet, FK.T @ r)  # (GW15)
        if np.asarray(sound).dtype != object and not np.all(sound > LIGHT):
            raise SingularError(f"{self.words} at q = {np.asarray(q).tolist()}; give its links mass", q=q)
        return array([where(less(LIGHT, sound), x, np.nan) for x in r])

    @property
    def words(self) -> str:
        """The sentence on an impact without a unique solution."""
        return (
            f"heel_strike: {self.name}: the impact of {self.foot!r} is singular: there is a motion without inertia "
            "while that foot stands"
        )


def _placed(where_to: Sequence[int], values: Vector, size: int) -> Vector:
    """Return a vector (size,) with the values at some places, zero elsewhere."""
    entries: list[Scalar] = [0.0] * size
    for k, x in zip(where_to, values, strict=True):
        entries[k] = x
    return array(entries)


def _null_basis(own: ldl.Factors, S: Matrix, heavy: Sequence[int], light: Sequence[int]) -> Matrix:
    """Compute K (nv, light): motions without inertia, one for each rate without inertia of its own."""
    size = len(heavy) + len(light)
    columns = [_placed(heavy, -ldl.solve_factored(own, S[heavy, k]), size) + np.eye(size)[k] for k in light]
    return array([list(x) for x in columns]).T


def _smallest(own: ldl.Factors, S: Matrix) -> Scalar:
    """Return the smallest pivot, as a part of its diagonal entry."""
    parts = [np.divide(d, S[k, k] + 1e-300) for k, d in enumerate(own.D)]
    return reduce(minimum, parts, 1.0)


def _light_rates(impact: _Impact, m: Mechanism) -> tuple[int, ...]:
    """Find the rates without inertia of their own, at positions about the start; report them, or refuse them."""
    rng = np.random.default_rng(0)
    probes = m.start() + SPREAD * rng.standard_normal((PROBES, m.nv))
    terms = [impact.terms(q) for q in probes]
    pivots = [_pivots(S) for S, _, _ in terms]
    heavy = max(pivots, key=len)
    light = tuple(k for k in range(m.nv) if k not in heavy)
    if not light:
        return ()
    S, F, _ = terms[pivots.index(heavy)]
    K = _null_basis(ldl.factor(S[np.ix_(heavy, heavy)]), S, heavy, light)
    if len(_pivots(K.T @ F @ K)) < len(light):
        loose = np.abs(K).max(axis=1) > LIGHT
        names = listed([repr(name) for name, x in zip(m.v_names, loose, strict=True) if x], 4)
        raise SingularError(
            f"{impact.words}, of {names}, and a light foot at the joint on the ground does not resist it; give the "
            "links of these joints mass",
            rates=tuple(np.flatnonzero(loose).tolist()),
        )
    warnings.warn(
        f"heel_strike: {m.name} has no mass at the foot that is released, so the impact is singular; the rates behind "
        "it are the limit of a light foot there",
        DescriptionWarning,
        stacklevel=caller_level(),
    )
    return light


def _pivots(S: np.ndarray) -> list[int]:
    """Find independent rows of a positive semidefinite matrix, by the largest pivot; return them in ascending order."""
    left, scale, chosen = S.copy(), np.diag(S).copy(), list[int]()
    while len(chosen) < len(S):
        parts = np.where(scale > ABSENT * scale.max(), np.diag(left) / np.maximum(scale, 1e-300), 0.0)
        parts[chosen] = 0.0
        k = int(parts.argmax())
        if parts[k] <= LIGHT:
            break
        left = left - np.outer(left[:, k], left[k]) / left[k, k]
        chosen.append(k)
    return sorted(chosen)


def _released(m: Mechanism, plane: str) -> Description:
    """The description with slides between the ground and the first joint."""
    description = m.model.description
    roots = [joint for joint in description.joints if joint.parent == GROUND]
    if len(roots) != 1 or m.closure is not None:
        raise InputError(
            f"heel_strike: {m.name} must stand on the ground by one joint and have no loops; it has {len(roots)} "
            "joints on the ground"
        )
    names = [f"{RELEASED} {x}" for x in plane]
    axes = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
    slides = tuple(
        Joint(f"slide {x}", "prismatic", before, name, axis=axes[x])
        for x, before, name in zip(plane, [GROUND, *names], names, strict=False)
    )
    joints = tuple(replace(x, parent=names[-1]) if x is roots[0] else x for x in description.joints)
    links = (*(Link(name) for name in names), *description.links)
    return replace(description, links=links, joints=(*slides, *joints))
