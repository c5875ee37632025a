"""Efforts as a linear function of the inertial parameters: τ = Y π.

Of each body, in the frame of the link its joint moves, ten parameters

    π_i = (m, m cx, m cy, m cz, Ixx, Iyy, Izz, Ixy, Ixz, Iyz)        I about the origin of that link

then of each rate its rotor inertia, damping and dry friction. The wrench a body needs is

    [n; f] = [0, −[a], L(α) + [ω] L(ω); a, [α] + [ω]², 0] π_i,   I x = L(x) (Ixx … Iyz)           (Y1)

carried to every ancestor j and projected on its motion, Y_ji = p_jᵀ [n; f]                       (Y2)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array, assemble
from kinpair.formulations.kinematics import Placement
from kinpair.formulations.newton_euler import Motion, motions
from kinpair.formulations.rotors import accelerations
from kinpair.model.model import Model
from kinpair.model.slip import signs
from kinpair.spatial.inertia import Inertia
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import skew

INERTIAL = ("m", "m cx", "m cy", "m cz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


def parameter_names(model: Model) -> tuple[str, ...]:
    """Names of the columns of Y."""
    bodies = [f"{model.names[i]}: {name}" for i in model.moving for name in INERTIAL]
    joints = ("rotor inertia", "damping", "friction")
    return (*bodies, *(f"{name}: {what}" for what in joints for name in model.v_names))


def parameters(model: Model) -> np.ndarray:
    """π of the mechanism as described."""
    rotors = np.concatenate([np.zeros(0), *(model.body[i].rotor for i in _by_rate(model))])
    inertial = [_ten(model, i) for i in model.moving]
    return np.concatenate([*inertial, rotors, _damping(model), model.joints.friction])


def _damping(model: Model) -> np.ndarray:
    """Damping of dampers and of laws of friction."""
    damping = model.joints.damping.copy()
    for x in model.frictions:
        if x.law != "lugre" and not x.is_power:  # bristles have states, powers columns of their own
            damping[x.v] += x.numbers.get("viscous", 0.0)
    return damping


def _by_rate(model: Model) -> list[int]:
    return sorted(model.moving, key=lambda i: model.v_span[i].start)


def _link_pose(model: Model, i: int) -> Pose:
    return model.places[model.names[i]].pose


def _ten(model: Model, i: int) -> np.ndarray:
    body = model.body[i]
    home = _link_pose(model, i).inverse()
    moved = Inertia(body.m, body.d, body.I).moved(home.R, home.a)
    I = moved.about_origin()
    tensor = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return np.array([moved.m, *(moved.m * moved.d), *tensor])


def _moments(x: Vector) -> Matrix:
    """L(x) with I x = L(x) (Ixx, Iyy, Izz, Ixy, Ixz, Iyz)."""
    return array(
        [
            [x[0], 0.0, 0.0, x[1], x[2], 0.0],
            [0.0, x[1], 0.0, x[0], 0.0, x[2]],
            [0.0, 0.0, x[2], 0.0, x[0], x[1]],
        ]
    )


class Share(NamedTuple):
    """Columns of moment and force, at O_j in axes of body j."""

    n: Matrix
    f: Matrix


def _share(pose: Pose, motion: Motion) -> Share:
    """The wrench of one body, a column a parameter, at O_i in its axes.    (Y1)"""
    R = pose.R
    omega, alpha = R.T @ motion.omega, R.T @ motion.alpha
    a = R.T @ (motion.a + motion.A @ pose.a)
    A = R.T @ motion.A @ R
    inertia = _moments(alpha) + skew(omega) @ _moments(omega)
    n = np.concatenate([np.zeros((3, 1)), -skew(a), inertia], axis=1)
    f = np.concatenate([a.reshape(3, 1), A, np.zeros((3, 6))], axis=1)
    turned = R @ f
    return Share(R @ n + skew(pose.a) @ turned, turned)


def _carried(share: Share, place: Placement) -> Share:
    f = place.R @ share.f
    return Share(place.R @ share.n + skew(place.a) @ f, f)


def _blocks(model: Model, q: Vector, motion: list[Motion], places: list[Placement]) -> Iterator[tuple]:
    for i in model.moving:
        share = _share(_link_pose(model, i), motion[i])
        for j in model.path_to_ground(i):
            p = model.body[j].pair.p(q[model.q_span[j]])
            Y_ji = p[:3].T @ share.n + p[3:].T @ share.f  # (Y2)
            yield model.v_span[j], slice(10 * (i - 1), 10 * i), Y_ji
            share = _carried(share, places[j])


def regressor(model: Model, q: Vector, qd: Vector, qdd: Vector) -> Matrix:
    """Y (nv, 10 bodies + 3 nv): inertial parameters, rotor inertias, damping, dry friction."""
    motion, places = motions(model, q, qd, qdd)
    n, nv = 10 * len(model.moving), model.nv
    blocks = list(_blocks(model, q, motion, places))
    felt = accelerations(model, qd, qdd)
    for k, x in enumerate((felt, qd, signs(qd, qdd) if nv else qd)):
        blocks.append((slice(0, nv), slice(n + k * nv, n + (k + 1) * nv), np.diag(x)))
    return assemble((nv, n + 3 * nv), blocks)
