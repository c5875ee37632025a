"""States given by name: the same numbers as the arrays that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pytest

import kinpair as kp
from kinpair.constraints.assembly.forces import ConstraintForces

ARM_Q, ARM_QD, ARM_TAU = {"elbow": 0.4}, {"shoulder": -0.2}, {"shoulder": 2.0}

OF_ARM = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "tau"),
    "mass_matrix": ("q",),
    "coriolis_matrix": ("q", "qd"),
    "bias_forces": ("q", "qd"),
    "gravity_forces": ("q",),
    "reactions": ("q", "qd", "qdd"),
    "energy": ("q", "qd"),
    "inverse_dynamics_derivatives": ("q", "qd", "qdd"),
    "forward_dynamics_derivatives": ("q", "qd", "tau"),
    "regressor": ("q", "qd", "qdd"),
    "twists": ("q", "qd"),
    "twist_rates": ("q", "qd", "qdd"),
    "centre_of_mass": ("q",),
    "momentum": ("q", "qd"),
    "dq_dt": ("q", "qd"),
    "constraint_residual": ("q",),
    "constraint_matrix": ("q",),
    "assemble": ("q",),
    "velocities": ("q",),
    "accelerations": ("q", "qd"),
}
OF_LINKAGE = {
    **{name: arguments for name, arguments in OF_ARM.items() if name != "assemble"},
    "constraint_forces": ("q", "qd", "tau"),
    "reduced_equations": ("q", "qd", "tau"),
}
OF_SYSTEM = {
    "forward_dynamics": ("q", "qd", "tau"),
    "inverse_dynamics": ("q", "qd", "qdd"),
    "terms": ("q", "qd", "tau"),
    "mass_matrix": ("q",),
    "kinetic_energy": ("q", "qd"),
    "constraint_forces": ("q", "qd", "tau"),
    "constraint_matrix": ("q",),
}


def assert_same(found, expected) -> None:
    """Equal to the last bit: the same code has run on the same numbers."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        found, expected = tuple(found.values()), tuple(expected.values())
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("quantity", OF_ARM)
def test_names_stand_for_entries_and_the_rest_is_neutral_or_zero(quantity, compiled):
    m = kp.example("double-pendulum") if compiled else kp.example("double-pendulum").reference
    by_name = {"q": ARM_Q, "qd": ARM_QD, "qdd": {"elbow": 3.0}, "tau": ARM_TAU}
    in_order = {"q": [0.0, 0.4], "qd": [-0.2, 0.0], "qdd": [0.0, 3.0], "tau": [2.0, 0.0]}
    arguments, call = OF_ARM[quantity], getattr(m, quantity)
    expected = call(*(np.array(in_order[x]) for x in arguments))
    assert_same(call(*(by_name[x] for x in arguments)), expected)
    assert_same(call(*(MappingProxyType(by_name[x]) for x in arguments)), expected)


def test_frames_take_coordinates_by_name():
    m = kp.example("double-pendulum")
    q, frame = np.array([0.0, 0.4]), m.frames[-1]
    assert_same(m.pose(ARM_Q, frame), m.pose(q, frame))
    assert_same(m.jacobian(ARM_Q, frame), m.jacobian(q, frame))
    assert_same(m.jacobian_rate(ARM_Q, ARM_QD, frame), m.jacobian_rate(q, np.array([-0.2, 0.0]), frame))


@pytest.mark.parametrize("quantity", OF_LINKAGE)
def test_under_constraints_named_coordinates_are_held_and_the_rest_follows(quantity):
    m = kp.example("four-bar")
    q = m.assemble([0.3, *m.start()[1:]], fixed=["crank"])
    qd = m.velocities(q, {"crank": 2.0})
    qdd = m.accelerations(q, qd, {"crank": -1.0})
    in_order = {"q": q, "qd": qd, "qdd": qdd, "tau": np.array([1.5, 0.0, 0.0])}
    by_name = {"q": {"crank": 0.3}, "qd": {"crank": 2.0}, "qdd": {"crank": -1.0}, "tau": {"crank": 1.5}}
    arguments, call = OF_LINKAGE[quantity], getattr(m, quantity)
    expected = call(*(in_order[x] for x in arguments))
    result = call(*(by_name[x] for x in arguments))
    assert_close(result, expected)


def assert_close(found, expected) -> None:
    """Two searches end in one closed position, each to 1e-12 of its size; quantities of it have factors below 1e3."""
    if isinstance(expected, ConstraintForces):
        found, expected = ((x.multipliers, x.wrenches) for x in (found, expected))
    if isinstance(expected, Mapping):
        found, expected = tuple(found.values()), tuple(expected.values())
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_a_guess_by_name_begins_at_the_start():
    m = kp.example("four-bar")
    q = m.assemble({"crank": 0.3}, fixed=["crank"])
    assert q[0] == 0.3
    guess = m.start()
    guess[0] = 0.3
    assert np.array_equal(q, m.assemble(guess, fixed=["crank"]))


@pytest.mark.parametrize("angles", [np.linspace(0.0, 1.0, 3), [0.0, 0.5, 1.0]], ids=["array", "list"])
def test_guesses_by_name_may_be_a_batch(angles):
    m = kp.example("four-bar")
    each = [m.assemble({"crank": angle}, fixed=["crank"]) for angle in angles]
    q = m.assemble({"crank": angles}, fixed=["crank"])
    assert q == pytest.approx(np.array(each), abs=1e-12)
    one = m.velocities(q[0], {"crank": [1.0, 2.0]})
    assert one == pytest.approx(np.array([m.velocities(q[0], {"crank": x}) for x in (1.0, 2.0)]), abs=1e-12)


@pytest.mark.parametrize("quantity", OF_SYSTEM)
def test_systems_by_their_energy_take_names_too(quantity):
    rod = {"name": "rod", "phi": lambda q, t: q[0] ** 2 + q[1] ** 2 - 1.0}
    T = lambda q, qd, t: 0.5 * (qd[0] ** 2 + qd[1] ** 2)  # noqa: E731
    m = kp.System(["x", "y"], T, lambda q, qd, t: [0.0, -9.81], [rod])
    q = {"x": 0.6, "y": 0.8}
    in_order = {"q": [0.6, 0.8], "qd": [1.2, -0.9], "tau": [0.5, 0.0]}
    in_order["qdd"] = m.accelerations([0.6, 0.8], [1.2, -0.9], {"x": 0.0})
    by_name = {"q": q, "qd": {"x": 1.2}, "qdd": {"x": 0.0}, "tau": {"x": 0.5}}
    arguments, call = OF_SYSTEM[quantity], getattr(m, quantity)
    assert_close(call(*(by_name[x] for x in arguments)), call(*(np.array(in_order[x]) for x in arguments)))


def test_runs_take_names():
    m = kp.example("double-pendulum")
    run = kp.simulate(m, ARM_Q, ARM_QD, torque=ARM_TAU, duration=0.1, integrator="rk4", dt=0.01)
    same = kp.simulate(m, [0.0, 0.4], [-0.2, 0.0], torque=[2.0, 0.0], duration=0.1, integrator="rk4", dt=0.01)
    assert np.array_equal(run.q, same.q)
    assert np.array_equal(run.options["q"], [0.0, 0.4])


def test_runs_under_constraints_take_names():
    m = kp.example("four-bar")
    run = kp.simulate(m, {"crank": 0.3}, {"crank": 2.0}, duration=0.1)
    assert run.q[0, 0] == pytest.approx(0.3, abs=1e-12)
    assert run.qd[0, 0] == pytest.approx(2.0, abs=1e-12)
    assert np.abs(m.constraint_residual(run.q)).max() < 1e-9
    assert run.status.ok


def test_a_joint_without_inertia_is_named():
    b = kp.Builder("bare").link("a").joint("hinge", "revolute", "ground", "a")
    with pytest.warns(kp.DescriptionWarning):
        m = kp.build(b)
    with pytest.raises(kp.SingularError, match="singular at joint 'hinge'"):
        m.forward_dynamics({"hinge": 0.3}, {}, {})


def test_names_beside_a_batch_serve_every_row():
    m = kp.example("double-pendulum")
    q = np.random.default_rng(1).normal(size=(3, 2))
    assert_same(
        m.forward_dynamics(q, ARM_QD, ARM_TAU),
        m.forward_dynamics(q, np.array([-0.2, 0.0]), np.array([2.0, 0.0])),
    )


def test_a_joint_of_several_degrees_takes_a_vector():
    m = kp.example("floating-arm")
    base = m.joint_names[0]
    twist = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    in_order = np.concatenate([twist, np.zeros(m.nv - 6)])
    assert_same(m.energy({}, {base: twist}), m.energy(m.neutral(), in_order))
    pose = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]
    assert m.centre_of_mass({base: pose}) - m.centre_of_mass(m.neutral()) == pytest.approx([1.0, 2.0, 3.0])


def test_velocities_take_a_vector_of_the_rates_of_a_joint():
    m = kp.example("stewart")
    twist = [0.1, -0.2, 0.3, 0.05, 0.02, -0.04]
    parts = dict(zip(m.v_names[:6], twist, strict=True))
    assert m.v_names[0] == "platform.wx"
    q = m.start()
    assert np.array_equal(m.velocities(q, {"platform": twist}), m.velocities(q, parts))
    assert m.velocities(q, {"platform": twist})[:6] == pytest.approx(twist, abs=1e-12)
    qd = m.velocities(q, parts)
    assert np.array_equal(m.accelerations(q, qd, {"platform": twist}), m.accelerations(q, qd, parts))


STONE = kp.Builder("pendulum").link("stone", mass=1, com=[0, 0, -0.5], inertia=[0.1, 0.1, 0.1])
STONE = STONE.joint("stone", "free", "ground", "stone").loop(
    "pin", "spherical", "ground", "stone", child_xyz=[0, 0, 0.4]
)


@pytest.mark.parametrize(
    "fixed", [["stone.qx"], ["stone.qx", "stone.qz"], ["stone.y"], ["stone.x", "stone.qw"]]
)
def test_entries_of_quaternions_and_positions_stay(fixed):
    m = kp.build(STONE)
    quaternion = np.array([0.2, -0.3, 0.1, 0.9])
    guess = np.concatenate([[0.1, 0.05, -0.3], quaternion / np.linalg.norm(quaternion)])
    q = m.assemble(guess, fixed=fixed)
    kept = [m.q_names.index(name) for name in fixed]
    assert np.abs(m.constraint_residual(q)).max() < 1e-12
    assert q[kept] == pytest.approx(guess[kept], abs=1e-11)
    assert np.abs(q - guess).max() > 1e-3


@pytest.mark.parametrize("named", [{"platform.qx": 0.05, "platform.z": 0.02}, {"platform.qy": -0.1}])
def test_entries_of_a_quaternion_are_held_at_the_number_given(named):
    m = kp.example("stewart")
    (q,) = m.by_name(q=named)
    assert np.abs(m.constraint_residual(q)).max() < 1e-12
    assert [q[m.q_names.index(name)] for name in named] == pytest.approx(list(named.values()), abs=1e-11)


def test_a_whole_quaternion_is_held_whatever_its_length():
    m = kp.example("stewart")
    (q,) = m.by_name(
        q={f"platform.q{x}": value for x, value in zip("xyzw", (0.1, 0.0, 0.0, 2.0), strict=True)}
    )
    assert q[3:7] == pytest.approx(np.array([0.1, 0.0, 0.0, 2.0]) / np.hypot(0.1, 2.0), abs=1e-11)


def test_an_entry_that_cannot_stay_is_named():
    m = kp.build(STONE)
    with pytest.raises(kp.SingularError, match=r"cannot be assembled with stone.x fixed"):
        m.assemble([1.0, 0, 0, 0, 0, 0, 1.0], fixed=["stone.x"])


WRONG = [
    (
        lambda m: m.mass_matrix({"elbw": 1}),
        "q has no entry 'elbw'; did you mean 'elbow'? Entries: shoulder, elbow",
    ),
    (lambda m: m.energy({}, {"x": 1}), "qd has no entry 'x'; Entries: shoulder, elbow"),
    (lambda m: m.mass_matrix({"elbow": "far"}), "q: elbow is 'far'; give a finite number"),
    (lambda m: m.mass_matrix({"elbow": np.nan}), "q: elbow is nan; give a finite number"),
    (lambda m: m.mass_matrix({"elbow": [1, 2]}), "q: elbow is [1, 2]; give a finite number"),
    (
        lambda m: m.forward_dynamics([0, 0], [0, 0], {"shoulder": 1j}),
        "tau: shoulder is 1j; give a finite number",
    ),
    (
        lambda m: kp.simulate(m, {}, {}, duration=1, torque={"elbw": 1}),
        "torque has no entry 'elbw'; did you mean 'elbow'? Entries: shoulder, elbow",
    ),
    (
        lambda m: m.assemble({"shoulder": [0, 1, 2], "elbow": [1, 2]}),
        "q: elbow is [1, 2]; give a finite number, or an array of them for 3 states",
    ),
    (
        lambda m: m.assemble([[0, 1], [2]]),
        "q is not an array of real numbers (it is list); expected shape (2,) or (batch, 2)",
    ),
    (
        lambda m: m.velocities([0, 0], {"elbw": 1}),
        "no rate 'elbw'; did you mean 'elbow'? Rates: shoulder, elbow",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(kp.InputError) as error:
        call(kp.example("double-pendulum"))
    assert str(error.value) == f"double-pendulum: {message}"


def test_vectors_of_the_wrong_length_and_entries_given_twice_are_refused():
    m = kp.example("floating-arm")
    base, first = m.joint_names[0], m.v_names[0]
    with pytest.raises(kp.InputError, match=f"qd: {base} is 1.0; give 6 finite numbers"):
        m.energy({}, {base: 1.0})
    with pytest.raises(kp.InputError, match=f"qd: {first} is given twice, also by {base}"):
        m.energy({}, {base: np.zeros(6), first: 1.0})
    m = kp.example("stewart")
    with pytest.raises(kp.InputError, match=r"input 'platform' is 1\.0; give 6 finite numbers"):
        m.velocities(m.start(), {"platform": 1.0})
