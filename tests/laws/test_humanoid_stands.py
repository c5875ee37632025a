"""A humanoid on its feet, held by proportional and derivative efforts in its joints: it stands and does not creep."""

from __future__ import annotations

import warnings
from importlib.metadata import files

import numpy as np
import pytest

import kinpair as kp

BENT = {"hip_pitch": -0.2, "knee": 0.4, "ankle_pitch": -0.2}  # [rad]
STRONG, WEAK = (
    ("hip", "knee", "ankle", "waist"),
    30.0,
)  # joints with the gains of the legs; [rad/s] of all others


def humanoid() -> tuple[kp.Mechanism, np.ndarray]:
    """Unitree G1 with all its collision shapes, 579 pairs, on a floor; a foot is four spheres."""
    path = next(f for f in files("example-robot-data") or () if f.name == "g1_29dof_rev_1_0.urdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        m = kp.load(str(path.locate()), base="free", contacts=True).with_contact(
            "floor", "ground", plane=True, mu=0.8
        )
    q = m.start().copy()
    for k, name in enumerate(m.q_names):
        q[k] += sum(angle for joint, angle in BENT.items() if name.endswith(f"{joint}_joint"))
    q[2] -= min(x.gap for x in m.contacts(q, margin=10.0) if "floor" in (x.a, x.b))
    return m, q


def stands(duration: float) -> tuple[kp.Result, np.ndarray]:
    m, q = humanoid()
    inertia = np.diag(m.mass_matrix(q))
    strong = np.array([any(part in name for part in STRONG) for name in m.v_names])
    stiffness = np.where(strong, 600.0, WEAK**2 * inertia) * (np.arange(m.nv) >= 6)
    damping = np.where(strong, 40.0, 2.0 * WEAK * inertia) * (np.arange(m.nv) >= 6)

    def torque(time, q_now, qd):
        error = np.concatenate([np.zeros(6), q[7:] - q_now[7:]])
        return stiffness * error - damping * qd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # hulls of neighbours overlap at the start
        return kp.simulate(m, q, np.zeros(m.nv), duration=duration, torque=torque, output=duration / 6), q


@pytest.mark.long("a humanoid for a minute")
def test_a_humanoid_stands_for_a_minute_on_eight_points():
    result, q = stands(60.0)
    assert result.status.ok
    assert np.abs(result.qd[-1]).max() <= 1e-8
    assert np.abs(result.q[-1] - result.q[-2]).max() <= 1e-9  # ten seconds: no creep
    assert abs(result.q[-1, 2] - q[2]) < 1e-3  # upright
    assert result.contacts.count[-1] == 8
    assert result.contacts.depth.max() < 1e-6
