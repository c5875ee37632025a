"""Data of a mechanism for loop functions of contact: poses, screws, accelerations, H, rows, geoms and materials."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.stacked import row_names, rows
from kinpair.contact.records import geometry_of
from kinpair.forces.elements import loads_on
from kinpair.formulations import composite, kinematics
from kinpair.model.contact_data import ContactData
from kinpair.model.recursion import coordinates, rate_tree
from kinpair.model.slip import Slip
from kinpair.model.state import State
from kinpair.simulation.dynamics import Dynamics, without_loads
from kinpair.simulation.phases import levels
from kinpair.spatial.rotation import skew


def poses_of(d: Dynamics, q: Vector) -> list[Scalar]:
    """Return axes (bodies, 9) and then origins (bodies, 3) of all bodies in the world, as a list."""
    where = kinematics.poses(d.model, q)
    poses = [where[i] for i in range(len(d.model.parent))]
    return [x for pose in poses for x in np.ravel(pose.R)] + [x for pose in poses for x in pose.a]


def row_count(d: Dynamics) -> int:
    """Return the number of rows of all constraints that are active."""
    return len(row_names(constraints_of(d.model)))


def geoms_of(data: ContactData) -> tuple[list[int], list[float]]:
    """Return whole numbers and numbers of geoms and pairs, in the order in which loop functions read them."""
    g = geometry_of(data)
    materials = np.column_stack([data.mu, data.mu_static, data.restitution, data.rolling, data.torsional])
    numbers = [*np.ravel(materials), *np.ravel(g.size), *np.ravel(g.R), *np.ravel(g.p)]
    return [*g.body, *g.kind, *g.first, *g.second, *g.pair_of], [
        *numbers,
        *np.ravel(g.vertices),
        *np.ravel(g.faces),
        *g.radius,
    ]


def masses(d: Dynamics, time: Scalar, q: Vector, qd: Vector) -> tuple[Matrix, Matrix]:
    """Return H (nv, nv) and the rows A (n, nv) of all constraints at a state, those kept first."""
    A = rows(d.model, constraints_of(d.model), q, qd, time).A
    order = [*d.kept, *(k for k in range(len(A)) if k not in d.kept)]
    return composite.mass_matrix(d.model, q), A[order]


def friction_efforts(d: Dynamics, state: State) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """Return the least and greatest effort of dry friction on the rates that have it: at rest, and of sliding.

    The least is that of sliding forward.
    """
    if not d.rough_rates:
        return [], []
    rest = levels(replace(d, contact=None, touching=None, model=without_loads(d.model)), state, {})[:2]
    nothing = _efforts(d, state, 0.0)
    slide = [_efforts(d, state, share) - nothing for share in (1.0, -1.0)]
    return [list(x) for x in rest], [[x[k] for k in d.rough_rates] for x in slide]


def _efforts(d: Dynamics, state: State, share: float) -> Vector:
    """Return efforts (nv,) of all elements where dry friction has this share of its level."""
    slip = Slip(np.full(d.model.nv, share), np.zeros(d.model.nv))
    return loads_on(replace(d.model, slip=slip), state, passive=d.passive).efforts


def tree_of(d: Dynamics) -> list[int]:
    """Return the tree of the rates: parent, inward, place, root, and the last rate of each body."""
    model = d.model
    parent, inward = rate_tree(model)
    place = np.argsort(inward).tolist()
    root = list(range(model.nv))
    for k in reversed(inward):
        root[k] = k if parent[k] < 0 else root[parent[k]]
    last = [-1] * len(model.parent)
    for i in model.moving:
        span = model.v_span[i]
        last[i] = span.stop - 1 if span.stop > span.start else last[model.parent[i]]
    return [*parent, *inward, *place, *root, *last]


def screws_of(d: Dynamics, q: Vector) -> list[Vector]:
    """Return the screw (ω, v at the origin of the world) of each rate, in world axes."""
    poses = kinematics.poses(d.model, q)
    qs, screws = coordinates(d.model, q), list[Any]([None] * d.model.nv)
    for i in d.model.moving:
        p = d.model.body[i].pair.p(qs[i])
        e, u = poses[i].R @ p[:3], poses[i].R @ p[3:]
        columns = np.concatenate([e, u + skew(poses[i].a) @ e])
        for n, k in enumerate(range(d.model.v_span[i].start, d.model.v_span[i].stop)):
            screws[k] = columns[:, n]
    return screws


def biases_of(d: Dynamics, q: Vector, qd: Vector) -> list[Vector]:
    """Return angular acceleration and that of the origin (6,) of each body while q̈ is zero, in world axes."""
    states = kinematics.states(d.model, q, qd)
    biases = kinematics.biases(d.model, q, qd, states)
    return [
        np.concatenate([states[i].pose.R @ biases[i].alpha, states[i].pose.R @ biases[i].a])
        for i in range(len(d.model.parent))
    ]
