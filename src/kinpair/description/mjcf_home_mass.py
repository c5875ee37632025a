"""The mass that each hinge and slide of an MJCF file feels as the file stands, all other joints free: 1/(H⁻¹)_jj.

MuJoCo turns damping ratios into dampings by it. H is that of the tree, body by body; J_b are the twists of the body per
rate, at the origin of the world:

    H = Σ_b J_bᵀ M_b J_b
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinpair.description.mjcf_bodies import Body
from kinpair.description.mjcf_joints import Moved
from kinpair.spatial.rotation import skew


def felt_masses(bodies: list[Body], rotors: Mapping[str, float]) -> dict[str, float]:
    """Masses by joint; `rotors` are the inertias of rotors seen at the joints."""
    axes = {m.joint.name: _twists(body, m) for body in bodies for m in body.joints}
    first = np.cumsum([0, *(x.shape[1] for x in axes.values())]).tolist()
    span = {name: slice(a, b) for name, a, b in zip(axes, first, first[1:], strict=False)}
    H, J = np.zeros((first[-1], first[-1])), dict[str, np.ndarray]()
    for body in bodies:
        own = J[body.parent].copy() if body.parent in J else np.zeros((6, first[-1]))
        for m in body.joints:
            own[:, span[m.joint.name]] = axes[m.joint.name]
        J[body.name] = own
        H += own.T @ _mass(body) @ own
    for name, inertia in rotors.items():
        H[span[name], span[name]] += inertia * np.eye(axes[name].shape[1])
    flexible = np.linalg.pinv(H, hermitian=True)
    return {
        name: float(1.0 / flexible[k.start, k.start]) for name, k in span.items() if k.stop == k.start + 1
    }


def _twists(body: Body, moved: Moved) -> np.ndarray:
    """[ω; v] per rate (6, k), in axes of the world and at its origin."""
    seat = body.home @ moved.seat
    turns = {"revolute": body.home.R @ np.array([moved.joint.axis]).T, "prismatic": np.zeros((3, 0))}
    omega = turns.get(moved.joint.kind, np.eye(3))
    slides = {"prismatic": body.home.R @ np.array([moved.joint.axis]).T, "free": np.eye(3)}
    v = slides.get(moved.joint.kind, np.zeros((3, 0)))
    turning = np.concatenate([omega, skew(seat.a) @ omega])
    return np.hstack([turning, np.concatenate([np.zeros_like(v), v])])


def _mass(body: Body) -> np.ndarray:
    """M_b (6, 6), at the origin of the world."""
    b = body.inertia.moved(body.home.R, body.home.a)
    D = b.m * skew(b.d)
    return np.block([[b.about_origin(), D], [D.T, b.m * np.eye(3)]])
