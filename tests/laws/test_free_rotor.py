"""Rotor inertia of a free joint resists all six rates alike: as a ball of that mass and those moments at its origin
does, which has no weight. Without gravity both mechanisms are the same.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.evaluation.quantities.request import METHODS
from kinpair.formulations.limits import refusal

ROTOR = 0.7
SEED = 11
TOLERANCE = 1e-11  # some hundred operations on numbers of size ten


def parts(*, rotor: float, ball: float) -> kp.Builder:
    """A floating body that carries an arm, with a rotor in the free joint or a ball welded to the body."""
    builder = kp.Builder("floating", gravity=[0, 0, 0])
    builder = builder.link(
        "trunk", mass=2.0, com=[0.1, -0.2, 0.3], inertia=[0.3, 0.4, 0.5, 0.01, 0.02, -0.03]
    )
    builder = builder.link("ball", mass=ball, inertia=[ball, ball, ball])
    builder = builder.link("arm", mass=1.0, com=[0.2, 0.1, 0], inertia=[0.05, 0.06, 0.07])
    builder = builder.joint("root", "free", "ground", "trunk", rotor_inertia=rotor)
    builder = builder.joint("weld", "fixed", "trunk", "ball")
    return builder.joint(
        "elbow", "revolute", "trunk", "arm", axis=[1, 2, 0], xyz=[0.3, 0.1, 0], rotor_inertia=0.1
    )


WITH_ROTOR = kp.build(parts(rotor=ROTOR, ball=0.0))
WITH_BALL = kp.build(parts(rotor=0.0, ball=ROTOR))


@pytest.fixture
def state():
    rng = np.random.default_rng(SEED)
    q, qd, qdd = (rng.uniform(-1, 1, n) for n in (WITH_ROTOR.nq, WITH_ROTOR.nv, WITH_ROTOR.nv))
    q[3:7] /= np.linalg.norm(q[3:7])
    return q, qd, qdd


def same(found, wanted) -> bool:
    return zoo.relative_error(np.asarray(found), np.asarray(wanted)) <= TOLERANCE


def methods(quantity: str) -> list[str]:
    """Those that take free joints."""
    return [name for name in METHODS[quantity] if not refusal(WITH_BALL.model, quantity, name, force=False)]


def test_most_formulations_take_free_joints():
    assert len(methods("inverse_dynamics")) >= 8


@pytest.mark.parametrize("passive", [True, False])
@pytest.mark.parametrize("method", methods("inverse_dynamics"))
def test_efforts(state, method, passive):
    wanted = WITH_BALL.inverse_dynamics(*state)
    assert same(WITH_ROTOR.reference.inverse_dynamics(*state, method=method, passive=passive), wanted)


@pytest.mark.parametrize("method", methods("forward_dynamics"))
def test_accelerations(state, method):
    assert same(
        WITH_ROTOR.reference.forward_dynamics(*state, method=method), WITH_BALL.forward_dynamics(*state)
    )


@pytest.mark.parametrize("method", methods("mass_matrix"))
def test_mass_matrix(state, method):
    assert same(WITH_ROTOR.reference.mass_matrix(state[0], method=method), WITH_BALL.mass_matrix(state[0]))


@pytest.mark.parametrize("method", methods("coriolis_matrix"))
def test_bias_is_the_convective_matrix_times_the_rates(state, method):
    q, qd, _ = state
    C = WITH_ROTOR.reference.coriolis_matrix(q, qd, method=method)
    assert same(C @ qd, WITH_ROTOR.bias_forces(q, qd))
    assert same(C + C.T, WITH_BALL.coriolis_matrix(q, qd) + WITH_BALL.coriolis_matrix(q, qd).T)  # that of Ḣ


def test_kinetic_energy(state):
    assert same(WITH_ROTOR.energy(*state[:2]).kinetic, WITH_BALL.energy(*state[:2]).kinetic)


def test_efforts_are_linear_in_the_parameters(state):
    assert same(
        WITH_ROTOR.regressor(*state) @ WITH_ROTOR.regressor_parameters(), WITH_ROTOR.inverse_dynamics(*state)
    )


def test_derivatives(state):
    for own, wanted in zip(
        WITH_ROTOR.inverse_dynamics_derivatives(*state),
        WITH_BALL.inverse_dynamics_derivatives(*state),
        strict=True,
    ):
        assert same(own, wanted)


@pytest.mark.parametrize("integrator", ["rk4", "implicit-midpoint"])
def test_motion(state, integrator):
    q, qd, _ = state
    runs = [
        kp.simulate(m, q, qd, duration=0.2, dt=1e-3, integrator=integrator) for m in (WITH_ROTOR, WITH_BALL)
    ]
    assert all(run.status.ok for run in runs)
    assert zoo.relative_error(runs[0].q[-1], runs[1].q[-1]) <= 200 * TOLERANCE  # steps


@pytest.mark.parametrize("parameters", ["numbers", "symbols", "shared"])
def test_printed_equations(state, parameters):
    q, qd, _ = state
    result = kp.equations(WITH_ROTOR, parameters, form="terms")
    assert same(result.evaluate(q, qd)["C"] @ qd, WITH_ROTOR.bias_forces(q, qd))


@pytest.mark.parametrize("solver", ["multipliers", "maggi", "udwadia-kalaba"])
def test_accelerations_under_a_constraint(state, solver):
    pinned = [
        kp.build(x.loop("pin", "spherical", "ground", "arm", child_xyz=[0.4, 0.2, 0]))
        for x in (parts(rotor=ROTOR, ball=0.0), parts(rotor=0.0, ball=ROTOR))
    ]
    q = pinned[1].assemble(state[0])
    qd = pinned[1].velocities(q, {"elbow": 0.7, "root.wx": -0.4, "root.wy": 0.5, "root.wz": 0.9})
    own, wanted = (m.forward_dynamics(q, qd, state[2], solver=solver) for m in pinned)
    assert same(own, wanted)


def test_it_has_no_weight():
    falling = kp.build(parts(rotor=ROTOR, ball=0.0), gravity=(0.0, 0.0, -9.81))
    assert falling.gravity_forces(falling.start())[3:6] == pytest.approx(
        [0, 0, 3.0 * 9.81]
    )  # of trunk and arm
