"""Two cylindrical joints with friction from load (E7): accelerations, reactions, and the μ beyond which none exist."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.formulations import zhao_gu
from kinpair.formulations.catalogue import FORMULATIONS
from kinpair.formulations.zhao_gu_friction import friction_distribution
from kinpair.friction.surfaces.table import surfaces_of
from published.test_cylindrical_arm import EFFORTS, PRINTED, RATES, Y, components

ACCELERATIONS = (8.4489717440, 6.4285064381, -60.1586130385, 1.8183326881)
REACTIONS = (
    (1.3288718836, 3.2921821161, -16.2886679531, -6.8310059079),
    (11.3272673277, 2.5633748861, 0.3778227614, 0.3056667223),
)
LIMIT = 0.25283867


@cache
def arm() -> kp.Mechanism:
    return kp.example("cylindrical-arm")


def rubbing(mu: float) -> kp.Mechanism:
    b = kp.Builder("cylindrical-arm")
    b.link("body1", mass=2.0, com=(0.3, 0, 0.1), inertia=(0.04, 0.05, 0.03))
    b.link("body2", mass=1.5, com=(0.05, 0.2, 0), inertia=(0.02, 0.03, 0.03))
    inner = {"law": "bearing", "mu": mu, "radius": 0.02, "length": 0.2}
    outer = {"law": "bearing", "mu": mu, "radius": 0.015, "length": 0.15}
    b.joint("joint1", "cylindrical", "ground", "body1", axis="z", friction=inner)
    b.joint("joint2", "cylindrical", "body1", "body2", axis="x", xyz=(0.6, 0, 0.1), friction=outer)
    return kp.build(b).reference


@pytest.mark.parametrize("method", FORMULATIONS)
def test_accelerations_with_friction(method):
    m = arm().reference
    qdd = m.forward_dynamics(Y, RATES, EFFORTS, method=method)
    assert np.abs(qdd - ACCELERATIONS).max() < PRINTED
    assert m.inverse_dynamics(Y, RATES, qdd, method=method) == pytest.approx(EFFORTS, abs=1e-12)


def test_compiled_accelerations_and_reactions_with_friction():
    m = arm()
    qdd = m.forward_dynamics(Y, RATES, EFFORTS)
    assert np.abs(qdd - ACCELERATIONS).max() < PRINTED
    assert np.abs(np.array(components(m.reactions(Y, RATES, qdd))) - REACTIONS).max() < PRINTED
    assert m.forward_dynamics(np.tile(Y, (5, 1)), RATES, EFFORTS) == pytest.approx(
        np.tile(qdd, (5, 1)), rel=1e-13
    )


def test_loads_grow_without_bound_towards_a_limit_of_the_coefficient():
    assert np.isfinite(rubbing(0.252).forward_dynamics(Y, RATES, EFFORTS)).all()
    with pytest.raises(kp.SingularError) as caught:
        rubbing(0.3).forward_dynamics(Y, RATES, EFFORTS)
    assert caught.value.parts["mu"] == pytest.approx(LIMIT, abs=1e-8)
    assert caught.value.parts["joint"] == "joint1"


def test_the_coupled_equations_of_the_source():
    """(6.4) and (6.5) with the friction distribution matrices in full, solved for g by fixed-point iteration."""
    model = arm().model
    x, surfaces = zhao_gu.equations(model, Y, RATES, EFFORTS), surfaces_of(model)
    Q_f = friction_distribution(model, Y, [(s.body, s.sliding()) for s in surfaces])
    M_inverse, phi = np.linalg.inv(x.M), np.zeros(4)
    for _ in range(60):
        q_e = x.q_e + Q_f @ phi
        g = np.linalg.solve(x.Q.T @ M_inverse @ x.Q, x.Q.T @ M_inverse @ (x.q_c - q_e))
        for k, s in enumerate(surfaces):
            (f_u, f_w), (n_u, n_w) = g[4 * k : 4 * k + 2], g[4 * k + 2 : 4 * k + 4]
            N = np.hypot(0.5 * f_u + n_w / s.span, 0.5 * f_w - n_u / s.span)
            N += np.hypot(0.5 * f_u - n_w / s.span, 0.5 * f_w + n_u / s.span)
            slide = s.sliding() @ RATES[2 * k : 2 * k + 2]
            phi[2 * k : 2 * k + 2] = -0.05 * N * slide / np.linalg.norm(slide)
    qdd = np.linalg.solve(x.J.T @ x.M @ x.J, x.J.T @ (q_e - x.q_c))
    assert np.abs(qdd - ACCELERATIONS).max() < PRINTED
    assert np.sort(np.abs(g)) == pytest.approx(np.sort(np.abs(np.ravel(REACTIONS))), abs=PRINTED)


def rod(mu: float) -> kp.Mechanism:
    """Painlevé's rod (E18): on a slider without mass, in a rail along x."""
    b = kp.Builder("rod").link("slider").link("rod", mass=1.0, com=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12))
    guide = {"law": "guide", "mu": mu, "length": 1.0, "width": 1.0}
    b.joint("rail", "prismatic", "ground", "slider", axis="x", friction=guide)
    b.joint("end", "revolute", "slider", "rod", axis="-y")
    return kp.build(b).reference


@pytest.mark.parametrize("angle", [np.arctan(2.0), 0.9, 1.2])
def test_painleves_rod(angle):
    """No solution from μ = (1 + 3 cos²θ)/(3 sin θ cos θ) on, of which the least is 4/3."""
    limit = (1 + 3 * np.cos(angle) ** 2) / (3 * np.sin(angle) * np.cos(angle))
    with pytest.raises(kp.SingularError) as caught:
        rod(3.0).forward_dynamics([0.0, angle], [-1.0, 0.0], [0.0, 0.0])
    assert caught.value.parts["mu"] == pytest.approx(limit, abs=1e-9)
    assert caught.value.parts["joint"] == "rail"
    assert np.isfinite(rod(0.999 * limit).forward_dynamics([0.0, angle], [-1.0, 0.0], [0.0, 0.0])).all()
