"""Data of surfaces under load for a time step: ends and weights of their loads, and forms of the impulses.

    y = C h c(q_θ, v) + C Q h q̈_f + h d + (C Q, C L) of impulses + E Λ,      r = h (H q̈_f − F)             (CN21)

Numbers are impulses of a step of h. Coefficients of friction are those of the velocity of sliding before it. A load
that jumps is an item of its own, see (NS11).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import less, where
from kinpair.constraints.solve.residual import LINEAR, NORM, SQUARE
from kinpair.formulations import kinematics
from kinpair.friction.surfaces.surface import JUMP as JUMP_PART
from kinpair.friction.surfaces.surface import LINEAR as LINEAR_PART
from kinpair.friction.surfaces.surface import NORM as NORM_PART
from kinpair.friction.surfaces.surface import SQUARE as SQUARE_PART
from kinpair.friction.surfaces.surface import Carried, Surface, length, magnitude
from kinpair.friction.surfaces.table import surfaces_of
from kinpair.model.model import Model
from kinpair.model.recursion import coordinates
from kinpair.model.state import State
from kinpair.simulation.contact.loads import JUMPS, OWN
from kinpair.simulation.dynamics import Dynamics, Loads
from kinpair.simulation.methods.contact_terms import row_count
from kinpair.simulation.phases import STILL
from kinpair.spatial.rotation import skew

SHAPES = {NORM_PART: NORM, LINEAR_PART: LINEAR, SQUARE_PART: SQUARE, JUMP_PART: JUMPS}


class Counts(NamedTuple):
    """Whole numbers of all surfaces: their rows, the shapes of their parts, and forms by part."""

    rows: list[int]
    parts: list[list[int]]
    forms: list[list[int]]

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Numbers of surfaces, parts, forms, and parts that jump."""
        shapes = [shape for own in self.parts for shape in own]
        return len(self.rows), len(shapes), sum(map(sum, self.forms)), shapes.count(JUMPS)


def own_surfaces(d: Dynamics) -> tuple[Surface, ...]:
    """Return the surfaces under load."""
    return surfaces_of(d.model) if d.passive else ()


def counts_of(d: Dynamics) -> Counts:
    """Return how many rows, parts and forms the surfaces have."""
    parts = [x.parts(_resting(d.model, x)) for x in own_surfaces(d)]
    shapes = [[SHAPES[part.shape] for part in own] for own in parts]
    return Counts(
        [len(x.sliding()) for x in own_surfaces(d)], shapes, [[len(part.d) for part in own] for own in parts]
    )


def _resting(model: Model, x: Surface) -> Carried:
    nothing = np.zeros(model.v_span[x.body].stop - model.v_span[x.body].start)
    return Carried(np.zeros(model.body[x.body].pair.nq), nothing, nothing, nothing)


def whole_numbers(d: Dynamics) -> list[int]:
    """Return first rate and rows of each surface, its parts, shapes and forms of the parts, and by form its surface and
    the first rate of its joint."""
    own, counts = own_surfaces(d), counts_of(d)
    if not own:
        return []
    spans = [d.model.v_span[x.body] for x in own]
    rates = [
        span.start + (x.rate if rows == 1 else 0)
        for x, span, rows in zip(own, spans, counts.rows, strict=True)
    ]
    forms = [(k, count) for k, own in enumerate(counts.forms) for count in own]
    by_form = [k for k, count in forms for _ in range(count)]
    return [
        *rates,
        *counts.rows,
        *_starts([len(x) for x in counts.parts]),
        *(shape for own in counts.parts for shape in own),
        *_starts([count for _, count in forms]),
        *by_form,
        *(spans[k].start for k in by_form),
    ]


def _starts(counts: list[int]) -> list[int]:
    return np.cumsum([0, *counts]).tolist()


def load_terms(
    d: Dynamics, dt: Scalar, state: State, loads: Loads, before: Vector, end: Vector, free: Vector
) -> list[Scalar]:
    """Return arms, ends and weights of surfaces, rows, screws, own shares and constants of all forms, r and L.

    state: of the middle of the step; before: q̇ (nv,) at its start; end: q (nq,) at its end; free: h q̈_f (nv,).
    (CN21)
    """
    surfaces, at = own_surfaces(d), 0
    if not surfaces:
        return []
    H, F, _, _, c, Q, L, beside, _ = d.load_terms(state, loads)
    efforts, by_row = d.efforts(state), list[Vector]()
    arms, ends, weights, rows, screws, shares, first = every = [list[Scalar]() for _ in range(7)]
    for x in surfaces:
        span, G = d.model.v_span[x.body], x.sliding()
        q = coordinates(d.model, state.q)[x.body]
        joint = Carried(q, state.qd[span], efforts[span], beside[span])
        screw, more = _screws(d.model, x, end), np.zeros(OWN - len(G))
        own, at = slice(at, at + len(screw)), at + len(screw)
        mu = _coefficient(x, G @ before[span])
        arms += [*(G[n, x.rate if len(G) == 1 else n] for n in range(len(G))), *more]
        ends += [dt * mu * level for level in x.constant(joint)]
        for part in x.parts(joint):
            squared, jumps = part.shape == SQUARE_PART, part.shape == JUMP_PART
            size = mu * (np.divide(1.0, dt) if squared else dt if jumps else 1.0)
            weights += [size * weight for weight in part.weights]
            weights.append(dt * part.limit if squared or jumps else 0.0)
            share = np.zeros((len(part.d), len(G))) if part.E is None else part.E
            rows += [*np.ravel(part.C @ Q[own])]
            screws += [*np.ravel(part.C @ screw)]
            shares += [entry for row in share for entry in (*row, *more)]
            first += [*(part.C @ (dt * c[own] + Q[own] @ free) + dt * part.d)]
            by_row += [*(part.C @ L[own])]
    held = H @ free - dt * F if len(L[0]) else np.zeros(d.model.nv)
    multipliers = np.zeros((row_count(d), len(first)), dtype=object)
    for k, row in enumerate(by_row):
        multipliers[: len(row), k] = row
    return [*(x for part in every for x in part), *held, *np.ravel(multipliers)]


def _coefficient(x: Surface, s: Vector) -> Scalar:
    """Return μ at a velocity of sliding s; that at rest where it is rounding."""
    speed = magnitude(s[0]) if len(s) == 1 else length(*s)
    return where(less(speed, STILL), x.grip.mu_static, x.grip.coefficient(speed))


def _screws(model: Model, x: Surface, q: Vector) -> Matrix:
    """Return the forms of a unit wrench (moment, force) on the child in world axes, about the world's origin (m, 6)."""
    pose, own = kinematics.poses(model, q)[x.body], coordinates(model, q)[x.body]
    columns = list[list[Scalar]]()
    for unit in np.eye(6):
        moment = unit[:3] - skew(pose.a) @ unit[3:]
        columns.append(x.forms(np.concatenate([pose.R.T @ moment, pose.R.T @ unit[3:]]), own))
    return array(columns).T
