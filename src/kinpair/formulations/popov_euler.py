"""Pair by pair with absolute angles of the links (Vukobratović et al., ch. 2.1.2).

Each link carries its own Euler angles η = (ψ, ϑ, φ) against inertial axes, see `euler_angles.py`; strokes of sliding
pairs are kept as the displacement z in the seat. Orientation and rotation of a link need no neighbour, (EU1) to (EU3);
its joint point does:

    o_i = o_j + A_j a_i + 2 ω_j × S_i ż + S_i z̈,   S_i = R_j R_seat                              (EU4)

The drives follow from the force sums of `popov.py`. Where |det Π| is small, the angles of a link are not
determined: `chosen` rejects it, or selects another sequence and offset for each link before anything is traced.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.errors import AccuracyWarning, InputError, SingularError, caller_level, listed, offered
from kinpair.formulations import popov
from kinpair.formulations.euler_angles import (
    BOOK,
    OFFSETS,
    SEQUENCES,
    Angles,
    Choice,
    angles_of,
    best,
    determinant,
    measured,
    rates_matrix,
    rates_matrix_rate,
    rotation,
)
from kinpair.formulations.kinematics import no_wrenches
from kinpair.formulations.linear_forms import (
    GROUND,
    STILL,
    Accelerated,
    Placed,
    accelerations,
    assembled,
    moved_with,
)
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, outward, rate_tree, rates
from kinpair.spatial.rotation import IDENTITY, cross, turned

LOST, DOUBTFUL = 1e-6, 1e-2  # |det Π| below which angles are rejected; below which digits are lost
AUTO = "auto"
ORTHOGONAL = 1e-9  # entries by which a rotation may miss Oᵀ O = 1
Choices = Sequence[Choice]  # by body; entry 0, of the ground, is not used


class Link(NamedTuple):
    """Data of one body: absolute angles, and displacement, velocity and acceleration of O_i in the seat."""

    angles: Angles
    z: Vector
    zd: Vector
    zdd: Vector


def chosen(model: Model, q: Vector, sequence: Any = AUTO, offset: Any = None) -> Choices:
    """Select how the angles of each link are measured, and check |det Π| at the coordinates q (nq,) of floats.

    `sequence`: one of `SEQUENCES`, or "auto". `offset`: a rotation of the body axes (3, 3), None for none, or "auto",
    which is the default where the sequence is "auto". Both may be mappings by name of a link, "auto" for others.
    """
    placed = assembled(model, q)
    choices = [BOOK, *(_of_link(model, i, placed[i].R, sequence, offset) for i in model.moving)]
    check(model, [angles_of(np.real(placed[i].R), choices[i]) for i in model.moving], choices)
    return choices


def _of_link(model: Model, i: int, R: Matrix, sequence: Any, offset: Any) -> Choice:
    name = model.names[i]
    if isinstance(sequence, Mapping):
        sequence = _named(model, "sequence", sequence).get(name, AUTO)
    if isinstance(offset, Mapping):
        offset = _named(model, "offset", offset).get(name, AUTO)
    if not isinstance(sequence, str) or sequence not in (AUTO, *SEQUENCES):
        raise InputError(
            f"{model.name}: sequence is {sequence!r}; {offered(str(sequence), 'sequences', (AUTO, *SEQUENCES))}",
            sequence=sequence,
        )
    free = offset is None and sequence == AUTO
    if free or (isinstance(offset, str) and offset == AUTO):
        offsets = OFFSETS
    else:
        offsets = (IDENTITY if offset is None else _rotation(model, offset),)
    return best(R, SEQUENCES if sequence == AUTO else (sequence,), offsets)


def _named(model: Model, what: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in values:
        if name not in model.names[1:]:
            raise InputError(
                f"{model.name}: {what} names link {name!r}; {offered(str(name), 'links', model.names[1:])}",
                link=name,
            )
    return values


def _rotation(model: Model, offset: Any) -> Matrix:
    try:
        O = np.asarray(offset, dtype=float)
    except (TypeError, ValueError):
        O = np.zeros(0)
    if (
        O.shape != (3, 3)
        or np.abs(O.T @ O - IDENTITY).max() > ORTHOGONAL
        or np.cross(O[:, 0], O[:, 1]) @ O[:, 2] < 0.0
    ):
        raise InputError(
            f"{model.name}: offset is {offset!r}; give a rotation matrix (3, 3), or 'auto'", offset=offset
        )
    return O


def check(model: Model, angles: Sequence[Any], choices: Choices) -> None:
    """Reject angles of floats by the link whose |det Π| is below 1e-6; warn once of those below 1e-2."""
    sizes = [float(determinant(eta, choice)) for eta, choice in zip(angles, choices[1:], strict=True)]
    for i, size in zip(model.moving, sizes, strict=True):
        if not size >= LOST:
            raise SingularError(
                f"{model.name}: |det Π| = {size:.1e} of link {model.names[i]!r} in the sequence "
                f"{choices[i].sequence!r}: at ϑ = {float(angles[i - 1][1]):.6g} rad ψ and φ turn about one axis; use "
                "sequence='auto' or another offset, or move away from this position",
                link=model.names[i],
                angle="theta",
            )
    doubtful = [model.names[i] for i, size in zip(model.moving, sizes, strict=True) if size < DOUBTFUL]
    if doubtful:
        warnings.warn(
            f"{model.name}: |det Π| = {min(sizes):.1e} is small for the Euler angles of {listed(map(repr, doubtful))}; "
            f"results have a relative error of about {np.finfo(float).eps / min(sizes) ** 2:.0e}; sequence='auto' "
            "selects better angles",
            AccuracyWarning,
            stacklevel=caller_level(),
        )


def _measured(body: Body, at: Placed, x: Accelerated, choice: Choice) -> Angles:
    return measured(at.R, x.omega, x.epsilon, choice)


def _link(body: Body, angles: Angles, q: Vector, qd: Vector, qdd: Vector) -> Link:
    p, R = body.pair.p(q), body.pair.rotation(q)
    turn, slide = p[:3] @ qd, p[3:] @ qd
    change = p[3:] @ qdd + body.pair.pd(q, qd)[3:] @ qd + cross(turn, slide)
    return Link(angles, body.pair.translation(q), R @ slide, R @ change)


def links(model: Model, q: Vector, qd: Vector, qdd: Vector, choices: Choices | None = None) -> ByBody:
    """Absolute angles and strokes of every body.

    `choices` are those of `chosen`; without them they are the book's, rejected where floats have det Π = 0.
    """
    placed = assembled(model, q)
    if choices is None:
        choices = [BOOK] * len(model.parent) if q.dtype == object else chosen(model, q, BOOK.sequence)
    angles = each(model, _measured, placed, accelerations(model, placed, q, qd, qdd), choices)
    return each(model, _link, angles, coordinates(model, q), rates(model, qd), rates(model, qdd))


def _place(body: Body, parent: Placed, link: Link, q: Vector) -> Placed:
    R, S = rotation(link.angles.eta, link.angles.choice), parent.R @ body.R_seat
    p = body.pair.p(q)
    a = parent.R @ body.a_seat + S @ link.z
    return Placed(S, R, a, R @ body.d, turned(R, body.I), R @ p[:3], R @ p[3:])


def _move(body: Body, parent: Accelerated, at: Placed, link: Link) -> Accelerated:
    eta, etad, etadd, choice = link.angles
    Pi = rates_matrix(eta, choice)
    omega = Pi @ etad  # (EU2)
    epsilon = Pi @ etadd + rates_matrix_rate(eta, etad, choice) @ etad  # (EU3)
    o = parent.o + parent.A @ at.a + 2.0 * cross(parent.omega, at.S @ link.zd) + at.S @ link.zdd  # (EU4)
    return moved_with(at, omega, epsilon, o)


def drives(model: Model, q: Vector, qdd: Vector, angles: ByBody, w_ext: Sequence[Any]) -> Vector:
    """Drives of links in their absolute angles; q gives the axes of the pairs, q̈ turns the rotors."""
    placed = outward(model, _place, GROUND, angles, coordinates(model, q))
    moved = outward(model, _move, STILL, placed, angles)
    return popov.drives(model, placed, moved, qdd, w_ext)


def inverse_dynamics(
    model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any], choices: Choices | None = None
) -> Vector:
    """Drives that produce the motion, through the absolute angles."""
    return drives(model, q, qdd, links(model, q, qd, qdd, choices), w_ext)


def forward_dynamics(
    model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any], choices: Choices | None = None
) -> Solution:
    """q̈ of H q̈ + h = τ, H and h by the absolute angles."""
    return solved_by(inverse_dynamics, model, q, qd, tau, w_ext, choices)


def solved_by(
    inverse: Callable[..., Vector],
    model: Model,
    q: Vector,
    qd: Vector,
    tau: Vector,
    w_ext: Sequence[Any],
    choices: Choices | None,
) -> Solution:
    """Solve H q̈ + h = τ: column k of H are the efforts of q̈_k = 1 at rest without gravity, h those at q̈ = 0."""
    if choices is None:
        choices = [BOOK] * len(model.parent) if q.dtype == object else chosen(model, q, BOOK.sequence)
    still, weightless = np.zeros(model.nv), replace(model, gravity=np.zeros(3))
    nothing = no_wrenches(model)
    columns = [list(inverse(weightless, q, still, unit, nothing, choices)) for unit in np.eye(model.nv)]
    H = array(columns).T if columns else np.zeros((0, 0))
    h = inverse(model, q, qd, still, w_ext, choices)
    factors = tree_ldl.factor(H, *rate_tree(model))
    return Solution(tree_ldl.solve(factors, tau - h), tree_ldl.pivots(factors), np.diag(H))
