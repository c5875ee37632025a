"""Inertial parameters regrouped: what a pair carries without ever turning it goes to the parent.

The mass of a hinged body may sit on the axis of its parent instead: nothing that is symmetric about the axis of a
hinge, and has no inertia about it, changes with the angle. So m, s_z and J_yy of a body on a revolute pair become
parameters of its parent, and what stays is shorter (Khalil & Kleinfinger 1987; base parameters of Gautier & Khalil
1990). Efforts and accelerations are the same to rounding; reactions, energies and mass centres are those of other
bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinpair.model.model import Body
from kinpair.pairs.pair import Moments
from kinpair.spatial.rotation import skew


def lean_bodies(bodies: Sequence[Body], parent: Sequence[int]) -> tuple[Body, ...]:
    """The bodies with regrouped m, s and J; what reaches the ground is forgotten."""
    gathered = [(body.m, body.s, body.J) for body in bodies]
    for i in reversed(range(1, len(bodies))):
        kept, moved = bodies[i].pair.regrouped(gathered[i])
        gathered[i] = kept
        gathered[parent[i]] = _sum(gathered[parent[i]], _on_parent(bodies[i], moved))
    lean = (replace(body, m=m, s=s, J=J) for body, (m, s, J) in zip(bodies, gathered, strict=True))
    return (bodies[0], *list(lean)[1:])


def _on_parent(body: Body, x: Moments) -> Moments:
    """Moments about the seat, about the parent's origin and in its axes."""
    m, s, J = x
    R, a = body.R_seat, skew(body.a_seat)
    turned = R @ s
    P = skew(turned) @ a
    return m, turned + m * body.a_seat, R @ J @ R.T - (P + P.T + m * (a @ a))


def _sum(x: Moments, y: Moments) -> Moments:
    J = x[2] + y[2]
    return x[0] + y[0], x[1] + y[1], (J + np.transpose(J)) / 2
