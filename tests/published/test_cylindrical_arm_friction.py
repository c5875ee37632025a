"""Two cylindrical joints with friction from load (E7): accelerations, reactions, and the μ beyond which none exist."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.forces.surfaces.bearing import Sleeve
from kinpair.forces.surfaces.surface import Carried, Grip
from kinpair.formulations import zhao_gu
from kinpair.formulations.catalogue import FORMULATIONS
from kinpair.formulations.zhao_gu_friction import friction_distribution
from kinpair.loaded import closer, system, tree
from published.test_cylindrical_arm import EFFORTS, PRINTED, RATES, Y, arm, components

ACCELERATIONS = (8.4489717440, 6.4285064381, -60.1586130385, 1.8183326881)
REACTIONS = (
    (1.3288718836, 3.2921821161, -16.2886679531, -6.8310059079),
    (11.3272673277, 2.5633748861, 0.3778227614, 0.3056667223),
)
LIMIT = 0.25283867
SPANS = (slice(0, 2), slice(2, 4))


def coupled(mu: float, method: str = "") -> system.System:
    """The system of both bearings; without a method by composite bodies."""
    grip = Grip(mu, mu)
    bearings = [Sleeve("joint1", 1, grip, 0.02, 0.2, 0.0), Sleeve("joint2", 2, grip, 0.015, 0.15, 0.0)]
    slips = system.slips_of(bearings, [RATES[k] for k in SPANS], [np.zeros(2)] * 2)
    D = system.columns(4, bearings, slips, SPANS)
    state = tree.Forced(arm().model, Y, RATES, EFFORTS, [np.zeros(6)] * 3)
    if method == "zhao-gu":
        response, _ = tree.by_reaction_equation(state, bearings, D)
    elif method:
        response, _ = tree.by_formulation(state, method, bearings, D)
    else:
        response, _ = tree.by_composite_bodies(state, bearings, D)
    joints = [Carried(Y[k], RATES[k], EFFORTS[k], np.zeros(2)) for k in SPANS]
    return system.System(bearings, slips, joints, response)


@pytest.mark.parametrize("method", ["", *FORMULATIONS])
def test_accelerations_with_friction(method):
    own = coupled(0.05, method)
    solved = system.solve(own, None, system.COLD)
    assert solved.residual < 1e-15
    assert solved.orientation == 1.0
    assert np.abs(own.accelerations(solved.N) - ACCELERATIONS).max() < PRINTED


def test_reactions_with_friction():
    own = coupled(0.05)
    qdd = own.accelerations(system.solve(own, None, system.COLD).N)
    found = np.array(components(arm().reactions(Y, RATES, qdd)))
    assert np.abs(found - REACTIONS).max() < PRINTED


def test_loads_grow_without_bound_towards_a_limit_of_the_coefficient():
    path = closer.follow(coupled(1.0))
    assert not path.arrives
    assert path.t == pytest.approx(LIMIT, abs=1e-6)
    assert path.N.max() > 1e9
    assert closer.follow(coupled(0.25)).arrives


def test_the_coupled_equations_of_the_source():
    """(6.4) and (6.5) with the friction distribution matrices in full, at the solution."""
    own = coupled(0.05)
    N = system.solve(own, None, system.COLD).N
    x = zhao_gu.equations(arm().model, Y, RATES, EFFORTS)
    Q_f = friction_distribution(arm().model, Y, [(s.body, s.sliding()) for s in own.surfaces])
    phi = np.concatenate([-(slip.mu * n) * slip.u for slip, n in zip(own.slips, N, strict=True)])
    q_e = x.q_e + Q_f @ phi
    M_inverse = np.linalg.inv(x.M)
    g = np.linalg.solve(x.Q.T @ M_inverse @ x.Q, x.Q.T @ M_inverse @ (x.q_c - q_e))
    qdd = np.linalg.solve(x.J.T @ x.M @ x.J, x.J.T @ (q_e - x.q_c))
    assert np.abs(qdd - ACCELERATIONS).max() < PRINTED
    assert np.sort(np.abs(g)) == pytest.approx(np.sort(np.abs(np.ravel(REACTIONS))), abs=PRINTED)
