"""Two cylindrical joints without friction (E7): accelerations and all reactions."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.formulations import zhao_gu

PRINTED = 1e-9  # ten units of the last of ten decimals
Y, RATES = np.array([0.4, 0.1, -0.7, 0.05]), np.array([1.2, -0.3, 2.0, 0.4])
EFFORTS = np.array([0.5, 35, 0.2, -1])
ACCELERATIONS = (6.8766732716, 3.1150589818, -47.9871004501, 2.0116962783)
REACTIONS = (
    (1.3594493947, 2.5985190398, -13.0612647656, -5.4935464943),
    (9.1498820364, 1.8619571752, 0.2661707768, 0.2806505644),
)
# u and w of the forces and couples on the outer body: y and −x of the ground, z and −y of body 1
AXES = {"joint1": ((0, 1, 0), (-1, 0, 0)), "joint2": ((0, 0, 1), (0, -1, 0))}


def arm() -> kp.Mechanism:
    b = kp.Builder("cylindrical-arm", gravity=(0, 0, -9.81))
    b.link("body1", mass=2.0, com=(0.3, 0, 0.1), inertia=(0.04, 0.05, 0.03))
    b.link("body2", mass=1.5, com=(0.05, 0.2, 0), inertia=(0.02, 0.03, 0.03))
    b.joint("joint1", "cylindrical", "ground", "body1", axis="z")
    b.joint("joint2", "cylindrical", "body1", "body2", axis="x", xyz=(0.6, 0, 0.1))
    return kp.build(b).reference


def components(reactions: dict[str, np.ndarray]) -> list[list[float]]:
    """As printed: along u and w, forces first."""
    return [
        [float(np.dot(axis, half)) for half in (reactions[name][3:], reactions[name][:3]) for axis in axes]
        for name, axes in AXES.items()
    ]


@pytest.mark.parametrize(
    "method", ["zhao-gu", "newton-euler", "denoc", "popov", "roberson-wittenburg", "screw"]
)
def test_accelerations_and_reactions_without_friction(method):
    m = arm()
    qdd = m.forward_dynamics(Y, RATES, EFFORTS, method=method)
    assert np.abs(qdd - ACCELERATIONS).max() < PRINTED
    found = components(m.reactions(Y, RATES, qdd, method=method))
    assert np.abs(np.array(found) - REACTIONS).max() < PRINTED


def test_both_equations_fall_apart():
    """(6.3), the rank of [J̄ Q̄], and (6.4) with (6.5) against one solve for all 12 unknowns of (5.8)."""
    m = arm()
    x = zhao_gu.equations(m.model, Y, RATES, EFFORTS)
    assert np.abs(x.J.T @ x.Q).max() < 1e-15
    both = np.concatenate([x.M @ x.J, -x.Q], axis=1)
    assert np.linalg.matrix_rank(np.concatenate([x.J, x.Q], axis=1)) == 12
    at_once = np.linalg.solve(both, x.q_e - x.q_c)
    qdd, g = (np.linalg.solve(*equation) for equation in (x.motion, x.reaction))
    assert np.abs(qdd - at_once[:4]).max() < 1e-12
    assert np.abs(g - at_once[4:]).max() < 1e-12
    assert np.abs(qdd - ACCELERATIONS).max() < PRINTED
