"""A payload welded to a frame: the same as a link of the description, and a parameter of runs."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

LOAD = {"mass": 2.0, "com": [0.01, -0.02, 0.1], "inertia": [0.02, 0.03, 0.04, 0.001, -0.002, 0.003]}
SIZES = ("mass", "com.x", "com.y", "com.z", *(f"inertia.{x}" for x in ("xx", "yy", "zz", "xy", "xz", "yz")))
VALUES = (3.5, 0.2, -0.1, 0.05, 0.3, 0.4, 0.35, 0.01, 0.02, -0.03)


def arm(**payload) -> kp.Mechanism:
    """Two links and a frame that is turned; with a link welded on by hand."""
    b = kp.Builder("arm")
    b.link("upper", mass=3, com=[0.2, 0, 0], inertia=[0.01, 0.05, 0.05])
    b.link("lower", mass=1.5, com=[0.15, 0, 0.02], inertia=[0.005, 0.02, 0.02])
    b.joint("shoulder", "revolute", "ground", "upper", axis="z")
    b.joint("elbow", "universal", "upper", "lower", axis="y", axis2="x", xyz=[0.4, 0, 0], rpy=[0.3, 0, 0])
    b.frame("hand", "lower", xyz=[0.3, 0.02, 0], rpy=[0.1, -0.4, 0.7])
    if payload:
        b.link("payload", **payload)
        b.joint("payload", "fixed", "lower", "payload", xyz=[0.3, 0.02, 0], rpy=[0.1, -0.4, 0.7])
    return kp.build(b)


def state(m: kp.Mechanism, seed: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=m.nq), rng.normal(size=m.nv), rng.normal(size=m.nv)


def test_it_is_a_link_welded_in_the_description():
    m, by_hand = arm().with_payload("hand", **LOAD), arm(**LOAD)
    s = state(m)
    assert m.model.description == by_hand.model.description
    assert m.q_names == by_hand.q_names
    assert np.array_equal(m.inverse_dynamics(*s), by_hand.inverse_dynamics(*s))
    assert np.array_equal(m.forward_dynamics(*s), by_hand.forward_dynamics(*s))
    assert m.mass == pytest.approx(arm().mass + 2.0)


def test_its_weight_is_a_wrench_at_the_hand():
    """Point mass at rest: gravity_forces grow by Jᵀ of its weight."""
    bare = arm()
    m = bare.with_payload("hand", mass=2.0)
    q = state(m)[0]
    weight = np.array([0, 0, 0, 0, 0, 2.0 * 9.81])
    expected = bare.gravity_forces(q) + bare.jacobian(q, "hand").T @ weight
    assert m.gravity_forces(q) == pytest.approx(expected, abs=1e-12)


def test_links_carry_payloads_and_names_are_chosen():
    m = (
        arm()
        .with_payload("lower", mass=1.0, name="left")
        .with_payload("left", mass=2.0, com=[0.1, 0, 0], name="right")
    )
    s = state(m)
    same = (
        arm().with_payload("lower", mass=1.0).with_payload("lower", mass=2.0, com=[0.1, 0, 0], name="other")
    )
    assert m.inverse_dynamics(*s) == pytest.approx(same.inverse_dynamics(*s), abs=1e-12)
    assert {"left", "right"} <= set(m.frames)


def test_loops_stay_closed():
    m = kp.example("four-bar").with_payload("coupler", mass=0.5)
    q = m.start()
    assert np.array_equal(q, kp.example("four-bar").start())
    T, bare = m.energy(q, {"crank": 1.0}).kinetic, kp.example("four-bar").energy(q, {"crank": 1.0}).kinetic
    qd = m.velocities(q, {"crank": 1.0})
    v = (m.jacobian(q, "coupler") @ qd)[3:]
    assert T - bare == pytest.approx(0.25 * v @ v, abs=1e-14)


@pytest.mark.parametrize("count", [1, 4, 10])
def test_its_constants_are_parameters_of_a_run(count):
    arguments = dict(zip(SIZES[:count], VALUES[:count], strict=True))
    m = arm().with_payload("hand", **LOAD)
    mass, com = (
        arguments.get("mass", 2.0),
        [arguments.get(f"com.{x}", LOAD["com"][k]) for k, x in enumerate("xyz")],
    )
    inertia = [arguments.get(x, LOAD["inertia"][k]) for k, x in enumerate(SIZES[4:])]
    other = arm().with_payload("hand", mass=mass, com=com, inertia=inertia)
    options = {"q": [0.1, 0.2, 0.3], "qd": [1.0, 0.5, -0.5], "duration": 0.2, "integrator": "rk4", "dt": 1e-3}
    run = kp.simulate(m, **options, parameters={f"payload.{x}": value for x, value in arguments.items()})
    assert run.q == pytest.approx(kp.simulate(other, **options).q, abs=1e-11)
    assert {f"payload.{x}" for x in SIZES} <= set(m.parameter_names)


def test_a_batch_of_payloads():
    m = arm().with_payload("hand", mass=1.0)
    masses = np.array([0.0, 1.0, 4.0])
    options = {"q": [0.1, 0.2, 0.3], "qd": [0.0, 0.0, 0.0], "duration": 0.1, "integrator": "rk4", "dt": 1e-3}
    run = kp.simulate(m, **options, parameters={"payload.mass": masses})
    for k, mass in enumerate(masses.tolist()):
        alone = kp.simulate(arm().with_payload("hand", mass=mass), **options)
        assert run.q[k] == pytest.approx(alone.q, abs=1e-12)


def test_a_kernel_keeps_its_mass_as_a_letter():
    m = arm().with_payload("hand", **LOAD)
    kernel = m.kernel("mass_matrix", parameters=("payload.mass",))
    q = state(m)[0]
    assert kernel(q, 2.0) == pytest.approx(m.mass_matrix(q), abs=1e-12)
    assert kernel(q, 0.7) == pytest.approx(arm().with_payload("hand", **{**LOAD, "mass": 0.7}).mass_matrix(q))


WRONG = [
    (
        lambda m: m.with_payload("hnd", mass=1.0),
        "arm: no link or frame 'hnd'; did you mean 'hand'? Links and frames: ground, upper, lower, hand",
    ),
    (
        lambda m: m.with_payload("hand", mass=1.0, name="lower"),
        "arm: there is a link, joint or frame 'lower' already; give the payload another name=",
    ),
    (lambda m: m.with_payload("hand", mass="heavy"), "link 'payload': mass is 'heavy'; give a number"),
    (
        lambda m: kp.simulate(
            m.with_payload("hand", mass=1.0),
            {},
            {},
            duration=1,
            parameters={"lower.mass": 3, "payload.mass": 1},
        ),
        "arm: 'lower.mass' is of all that is welded to link 'lower', 'payload.mass' of a part of it; give one of them",
    ),
    (
        lambda m: kp.simulate(
            m.with_payload("hand", mass=1.0), {}, {}, duration=1, parameters={"payload.mass": -1}
        ),
        "arm: parameters: link 'payload' has mass -1 kg; a mass is zero or positive",
    ),
    (
        lambda m: kp.simulate(
            m.with_payload("hand", **LOAD), {}, {}, duration=1, parameters={"payload.inertia.xx": -1}
        ),
        "arm: parameters: link 'payload': inertia is not positive",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(kp.KinpairError) as error:
        call(arm())
    assert str(error.value).startswith(message)
