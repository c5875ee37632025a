"""Constants kept as symbols: arguments of the kernel that mean what the description would have said."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.model.build import build
from kinpair.model.symbols import symbol_names, with_symbols
from kinpair.quantities import QUANTITIES
from robots import urdf

TOLERANCE = 1e-12
EXAMPLES = ("double-pendulum", "stanford-arm", "scara", "floating-arm")  # without welds
TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
AXES = ("x", "y", "z")


def own_values(m: kp.Mechanism) -> dict[str, float]:
    """What the description says, by name of the symbol."""
    found: dict[str, float] = {}
    for link in m.model.description.links:
        found[f"{link.name}.mass"] = link.mass
        found |= {f"{link.name}.com.{x}": v for x, v in zip(AXES, link.com, strict=True)}
        found |= {f"{link.name}.inertia.{x}": v for x, v in zip(TENSOR, link.inertia, strict=True)}
    for joint in m.model.description.joints:
        found |= {f"{joint.name}.{x}": v for x, v in zip(AXES, joint.origin.xyz, strict=True)}
    return found


def rebuilt(m: kp.Mechanism, values: dict[str, float]) -> kp.Mechanism:
    """The mechanism of the description with these values in it."""
    values = own_values(m) | values
    d = m.model.description
    links = tuple(
        replace(
            link,
            mass=values[f"{link.name}.mass"],
            com=tuple(values[f"{link.name}.com.{x}"] for x in AXES),
            inertia=tuple(values[f"{link.name}.inertia.{x}"] for x in TENSOR),
        )
        for link in d.links
    )
    joints = tuple(
        replace(j, origin=replace(j.origin, xyz=tuple(values[f"{j.name}.{x}"] for x in AXES)))
        for j in d.joints
    )
    return kp.Mechanism(build(replace(d, links=links, joints=joints)), compiled=False)


def other_values(m: kp.Mechanism, names) -> dict[str, float]:
    """Other numbers that a body can have: larger masses and moments, mass centres and joints elsewhere."""
    rng, own = np.random.default_rng(3), own_values(m)
    change = {"mass": 0.5, "xx": 0.3, "yy": 0.3, "zz": 0.3, "xy": 0.01, "xz": 0.01, "yz": 0.01}
    return {name: own[name] + change.get(name.split(".")[-1], 0.2) * rng.uniform(0.5, 1.0) for name in names}


def state(m: kp.Mechanism, quantity: str) -> list[np.ndarray]:
    s = zoo.motion(m, 2)
    given = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "tau": s.qdd}
    return [given[name] for name in QUANTITIES[quantity].state]


def test_names_are_listed():
    assert symbol_names(kp.example("cart-pole").model)[:3] == ("cart.mass", "cart.com.x", "cart.com.y")
    for name in EXAMPLES:
        m = kp.example(name)
        assert len(symbol_names(m.model)) == 13 * len(m.model.moving)
        assert set(symbol_names(m.model)) <= set(own_values(m))


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "regressor"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_own_values_give_the_plain_kernel(name, quantity):
    m = kp.example(name)
    names = symbol_names(m.model)
    own, given = own_values(m), state(m, quantity)
    kernel = m.kernel(quantity, parameters=names)
    assert list(kernel.signature.inputs)[len(given) :] == list(names)
    found = kernel.interpret(*given, *(own[x] for x in names))
    assert zoo.relative_error(found, m.kernel(quantity).interpret(*given)) <= TOLERANCE


@pytest.mark.parametrize(
    "quantity", ["inverse_dynamics", "mass_matrix", "energy", "centre_of_mass", "momentum"]
)
@pytest.mark.parametrize("name", EXAMPLES)
def test_other_values_give_the_mechanism_built_with_them(name, quantity):
    m = kp.example(name)
    names = symbol_names(m.model)
    other, given = other_values(m, names), state(m, quantity)
    found = m.kernel(quantity, parameters=names).interpret(*given, *other.values())
    expected = getattr(rebuilt(m, other), quantity)(*given)
    assert zoo.relative_error(np.asarray(found), np.asarray(expected)) <= TOLERANCE


@pytest.mark.parametrize("name", ["stanford-arm", "floating-arm"])
def test_frames_and_forward_dynamics_follow_too(name):
    m = kp.example(name)
    names = (m.model.joint_names[2] + ".x", m.model.names[-1] + ".mass", m.model.names[-1] + ".inertia.xy")
    other = other_values(m, names)
    new, frame = rebuilt(m, other), m.frames[-1]
    q, qd, tau = state(m, "forward_dynamics")
    qdd, _ = m.kernel("forward_dynamics", parameters=names).interpret(q, qd, tau, *other.values())
    bound = 100 * np.finfo(float).eps * np.linalg.cond(new.mass_matrix(q))
    assert zoo.relative_error(qdd, new.forward_dynamics(q, qd, tau)) <= max(TOLERANCE, bound)
    found = m.kernel("pose", frame=frame, parameters=names).interpret(q, *other.values())
    for a, b in zip(found, new.pose(q, frame), strict=True):
        assert zoo.relative_error(a, b) <= TOLERANCE


@pytest.mark.parametrize("name", symbol_names(kp.example("double-pendulum").model))
def test_each_name_alone(name):
    m = kp.example("double-pendulum")
    other = other_values(m, [name])
    given = state(m, "inverse_dynamics")
    found = m.kernel("inverse_dynamics", parameters=(name,)).interpret(*given, other[name])
    assert zoo.relative_error(found, rebuilt(m, other).inverse_dynamics(*given)) <= TOLERANCE


def test_machine_code_takes_them_as_numbers_or_rows():
    m = kp.example("double-pendulum")
    names = ("lower.mass", "elbow.z")
    kernel = m.kernel("mass_matrix", parameters=names)
    q = zoo.motions(m, 9).q
    masses = np.linspace(0.5, 2.0, 9)
    found = kernel(q, masses, -0.7)
    for k in range(9):
        expected = rebuilt(m, {"lower.mass": float(masses[k]), "elbow.z": -0.7}).mass_matrix(q[k])
        assert zoo.relative_error(found[k], expected) <= TOLERANCE
        assert zoo.relative_error(kernel(q[k], float(masses[k]), -0.7), expected) <= TOLERANCE
    assert zoo.relative_error(kernel(q, 1.0, -1.0), m.mass_matrix(q)) <= TOLERANCE


def test_derivatives_may_keep_them():
    m = kp.example("double-pendulum")
    given = state(m, "inverse_dynamics_derivatives")
    found = m.kernel("inverse_dynamics_derivatives", parameters=("upper.mass",)).interpret(*given, 2.5)
    expected = rebuilt(m, {"upper.mass": 2.5}).inverse_dynamics_derivatives(*given)
    for a, b in zip(found, expected, strict=True):
        assert zoo.relative_error(a, b) <= 1e-10


def test_a_link_without_mass_may_be_given_one():
    b = kp.Builder("arm").link("arm", mass=1.0, inertia=(1, 1, 1)).link("tip", com=(0.3, 0.0, 0.1))
    b.joint("a", "revolute", "ground", "arm").joint("b", "revolute", "arm", "tip", xyz=(0.5, 0.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        m = kp.build(b)
    q = np.array([0.3, 0.7])
    found = m.kernel("mass_matrix", parameters=("tip.mass",)).interpret(q, 2.0)
    assert zoo.relative_error(found, rebuilt(m, {"tip.mass": 2.0}).mass_matrix(q)) <= TOLERANCE


@pytest.mark.parametrize("robot", ["panda", "solo12"])
def test_links_that_are_welded_on_count_with_their_body(robot):
    """The plain numbers come back from a robot whose bodies are made of several links."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        m = kp.load(urdf(robot), constraints=False)
    i = m.model.moving[-1]
    body, pose = m.model.body[i], m.model.places[m.model.names[i]].pose
    centre = pose.R.T @ (body.d - pose.a)
    name = m.model.names[i]
    values = {f"{name}.mass": body.m, **{f"{name}.com.{x}": v for x, v in zip(AXES, centre, strict=True)}}
    same = with_symbols(m.model, values)
    s = zoo.motion(m, 1)
    tau = kp.Mechanism(same, compiled=False).inverse_dynamics(s.q, s.qd, s.qdd)
    assert zoo.relative_error(tau, m.reference.inverse_dynamics(s.q, s.qd, s.qdd)) <= TOLERANCE
