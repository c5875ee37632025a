"""Constants kept as symbols: arguments of the kernel that mean what the description would have said."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.evaluation.quantities.table import QUANTITIES
from kinpair.model.build import build
from kinpair.model.symbols import symbol_names, with_symbols
from robots import urdf

TOLERANCE = 1e-12
EXAMPLES = ("double-pendulum", "stanford-arm", "scara", "floating-arm")  # without welds
TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
AXES = ("x", "y", "z")


def own_values(m: kp.Mechanism) -> dict[str, float]:
    """What the description says, by name of the symbol."""
    results: dict[str, float] = {}
    for link in m.model.description.links:
        results[f"{link.name}.mass"] = link.mass
        results |= {f"{link.name}.com.{x}": v for x, v in zip(AXES, link.com, strict=True)}
        results |= {f"{link.name}.inertia.{x}": v for x, v in zip(TENSOR, link.inertia, strict=True)}
    for joint in m.model.description.joints:
        results |= {f"{joint.name}.{x}": v for x, v in zip(AXES, joint.origin.xyz, strict=True)}
    return results


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
    options = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "tau": s.qdd}
    return [options[name] for name in QUANTITIES[quantity].state]


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
    own, arguments = own_values(m), state(m, quantity)
    kernel = m.kernel(quantity, parameters=names)
    assert list(kernel.signature.inputs)[len(arguments) :] == list(names)
    result = kernel.interpret(*arguments, *(own[x] for x in names))
    assert zoo.relative_error(result, m.kernel(quantity).interpret(*arguments)) <= TOLERANCE


@pytest.mark.parametrize(
    "quantity", ["inverse_dynamics", "mass_matrix", "energy", "centre_of_mass", "momentum"]
)
@pytest.mark.parametrize("name", EXAMPLES)
def test_other_values_give_the_mechanism_built_with_them(name, quantity):
    m = kp.example(name)
    names = symbol_names(m.model)
    other, arguments = other_values(m, names), state(m, quantity)
    result = m.kernel(quantity, parameters=names).interpret(*arguments, *other.values())
    expected = getattr(rebuilt(m, other), quantity)(*arguments)
    assert zoo.relative_error(np.asarray(result), np.asarray(expected)) <= TOLERANCE


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
    result = m.kernel("pose", frame=frame, parameters=names).interpret(q, *other.values())
    for a, b in zip(result, new.pose(q, frame), strict=True):
        assert zoo.relative_error(a, b) <= TOLERANCE


@pytest.mark.parametrize("name", symbol_names(kp.example("double-pendulum").model))
def test_each_name_alone(name):
    m = kp.example("double-pendulum")
    other = other_values(m, [name])
    arguments = state(m, "inverse_dynamics")
    result = m.kernel("inverse_dynamics", parameters=(name,)).interpret(*arguments, other[name])
    assert zoo.relative_error(result, rebuilt(m, other).inverse_dynamics(*arguments)) <= TOLERANCE


def test_machine_code_takes_them_as_numbers_or_rows():
    m = kp.example("double-pendulum")
    names = ("lower.mass", "elbow.z")
    kernel = m.kernel("mass_matrix", parameters=names)
    q = zoo.motions(m, 9).q
    masses = np.linspace(0.5, 2.0, 9)
    result = kernel(q, masses, -0.7)
    for k in range(9):
        expected = rebuilt(m, {"lower.mass": float(masses[k]), "elbow.z": -0.7}).mass_matrix(q[k])
        assert zoo.relative_error(result[k], expected) <= TOLERANCE
        assert zoo.relative_error(kernel(q[k], float(masses[k]), -0.7), expected) <= TOLERANCE
    assert zoo.relative_error(kernel(q, 1.0, -1.0), m.mass_matrix(q)) <= TOLERANCE


def test_derivatives_may_keep_them():
    m = kp.example("double-pendulum")
    arguments = state(m, "inverse_dynamics_derivatives")
    result = m.kernel("inverse_dynamics_derivatives", parameters=("upper.mass",)).interpret(*arguments, 2.5)
    expected = rebuilt(m, {"upper.mass": 2.5}).inverse_dynamics_derivatives(*arguments)
    for a, b in zip(result, expected, strict=True):
        assert zoo.relative_error(a, b) <= 1e-10


def test_a_link_without_mass_may_be_given_one():
    b = kp.Builder("arm").link("arm", mass=1.0, inertia=(1, 1, 1)).link("tip", com=(0.3, 0.0, 0.1))
    b.joint("a", "revolute", "ground", "arm").joint("b", "revolute", "arm", "tip", xyz=(0.5, 0.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        m = kp.build(b)
    q = np.array([0.3, 0.7])
    result = m.kernel("mass_matrix", parameters=("tip.mass",)).interpret(q, 2.0)
    assert zoo.relative_error(result, rebuilt(m, {"tip.mass": 2.0}).mass_matrix(q)) <= TOLERANCE


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


def test_parameter_names_are_what_a_run_and_a_kernel_take():
    m = kp.example("crane")
    assert {"load.mass", "load.com.x", "load.inertia.xx", "rope.damping"} <= set(m.parameter_names)
    assert m.kernel("forward_dynamics", parameters=m.parameter_names)
    start = {
        "mechanism": m,
        "q": m.start(),
        "qd": np.zeros(m.nv),
        "duration": 0.1,
        "integrator": "rk4",
        "dt": 1e-3,
    }
    own = {"load.mass": 10.0, "rope.damping": 25.0}
    assert kp.simulate(**start, parameters=own).q == pytest.approx(kp.simulate(**start).q, abs=TOLERANCE)
