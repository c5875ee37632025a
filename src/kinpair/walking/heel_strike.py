"""The impact of a foot on the ground, after which the legs change their roles.

A mechanism stands with its first joint on the ground. When the other foot strikes, that one holds from then on without
rebound and the first is released. With H of the mechanism released from the ground (translations v and joints r,
u = (v, r)) and J_r, how joints move the striking foot:

    u = Z r,   Z = (−J_r; 1)                       rates while the striking foot stands                (GW1)
    (ZᵀHZ) r⁺ = ZᵀH (0; q̇⁻)                        what the impulse at that foot cannot change         (GW2)
    q⁺ = L q,   q̇⁺ = L r⁺                          the legs change their names                         (GW3)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Vector
from kinpair.description.parts import GROUND, Description, Joint, Link
from kinpair.errors import InputError
from kinpair.formulations import composite, kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.build import build
from kinpair.simulation.events.events import Change, Event

ROWS = {"x": 3, "y": 4, "z": 5}  # of a Jacobian
RELEASED = "released"


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
    """
    place = m.model.place(foot)
    L = np.asarray(relabel, dtype=float)
    if L.shape != (m.nv, m.nv) or m.nq != m.nv:
        raise InputError(
            f"heel_strike: relabel has shape {L.shape}; give ({m.nv}, {m.nv}), one row for each coordinate"
        )
    released = build(_released(m, plane))
    n, rows = len(plane), [ROWS[x] for x in plane]

    def after(time: Any, q: Vector, qd: Vector) -> Change:
        at = np.concatenate([np.zeros(n), q])
        H = composite.mass_matrix(released, at)
        J = kinematics.jacobian(released, at, released.place(foot))[rows]
        Z = np.concatenate([-J[:, n:], np.eye(m.nv)])  # (GW1)
        HZ = H @ Z
        momentum = HZ[n:].T @ qd
        r, _ = ldl.solve(Z.T @ HZ, momentum)  # (GW2)
        return Change(q=L @ q, qd=L @ r)  # (GW3)

    def height(time: Any, q: Vector, qd: Vector) -> Any:
        return kinematics.pose(m.model, q, place)[1][2]

    return Event(name, function or height, direction, after)


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
