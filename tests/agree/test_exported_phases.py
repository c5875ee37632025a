"""Code exported with phases as arguments has the accelerations of the mechanism, at rest and sliding."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from exported_code import exported
from kinpair.constraints.solve.problem import intervals, solve

GUIDE = {"law": "guide", "mu": 0.2, "length": 0.3, "width": 0.4}
STATIC = {"law": "coulomb", "level": 0.5, "level_static": 0.8, "level_negative": 0.6}
LANGUAGES = ["kernel", "c", "casadi"]


@cache
def tree() -> kp.Mechanism:
    b = kp.Builder("tree").link("a", mass=2.0, com=(0.1, 0, 0.05), inertia=(0.03, 0.04, 0.05))
    b.link("b", mass=1.0, com=(0, 0.1, 0), inertia=(0.02, 0.03, 0.01))
    b.joint("x", "prismatic", "ground", "a", axis="x", friction=GUIDE, lower=-1.0, upper=1.0)
    return kp.build(b.joint("h", "revolute", "a", "b", axis="y", friction=STATIC, xyz=(0.2, 0, 0)))


@cache
def levels() -> kp.Mechanism:
    b = kp.Builder("levels").link("a", mass=2.0, com=(0.1, 0, 0.05), inertia=(0.03, 0.04, 0.05))
    b.link("b", mass=1.0, com=(0, 0.1, 0), inertia=(0.02, 0.03, 0.01))
    b.joint("x", "prismatic", "ground", "a", axis="x", friction=3.0, lower=0.1)
    return kp.build(b.joint("h", "revolute", "a", "b", axis="z", friction=0.8, xyz=(0.2, 0, 0)))


@cache
def four_bar() -> kp.Mechanism:
    b = kp.Builder("four-bar", gravity=(0, -9.81, 0))
    for name, mass, length in (("crank", 1.0, 0.05), ("output", 2.0, 0.13), ("coupler", 1.5, 0.1)):
        b.link(name, mass=mass, com=(length / 2, 0, 0), inertia=[1e-3 * mass] * 3)
    bearing = {"law": "bearing", "mu": 0.1, "radius": 0.01, "thrust_radius": 0.0, "length": 0.02}
    b.joint("crank", "revolute", "ground", "crank", start=1.0, friction=bearing)
    b.joint("output", "revolute", "ground", "output", xyz=[0.15, 0, 0], start=2.0)
    b.joint("coupler", "revolute", "output", "coupler", xyz=[0.13, 0, 0], start=1.5)
    return kp.build(b.loop("pin", "pin", "crank", "coupler", xyz=[0.05, 0, 0], child_xyz=[0.1, 0, 0]))


def called(kernel: kp.Kernel, language: str, folder):
    return (
        (lambda *x: [np.asarray(part) for part in kernel(*x)])
        if language == "kernel"
        else exported(kernel, language, folder)
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_given_phases_lead_to_the_accelerations_of_the_mechanism(language, tmp_path):
    m, rng = tree(), np.random.default_rng(3)
    f = called(m.kernel("forward_dynamics_in_phases"), language, tmp_path / "code")
    assert m.row_groups == ("x", "h", "x at its lower limit", "x at its upper limit")
    for held in ((0, 0), (0, 1), (1, 0), (1, 1)):
        q, qd = rng.normal(size=2), rng.normal(size=2) * (1.0 - np.array(held))
        tau = rng.normal(size=2) * np.where(held, 0.1, 3.0)
        qdd, holding, R = f(q, qd, tau, np.sign(qd), np.array(held, float), np.zeros(1))
        known = m.friction(q, qd, tau)
        sticks = [known[name].sticks for name in ("x", "h")]
        assert sticks == [bool(x) for x in held]
        assert qdd == pytest.approx(m.forward_dynamics(q, qd, tau), abs=1e-10)
        for k, name in enumerate(("x", "h")):
            if held[k]:
                assert holding[k] == pytest.approx(known[name].effort, abs=1e-10)
                assert np.reshape(R, (4, 2))[0, k] <= holding[k] <= np.reshape(R, (4, 2))[1, k]
            else:
                own = np.reshape(R, (4, 2))[2:, k]
                assert known[name].effort == pytest.approx(own[0] if qd[k] > 0 else own[1], abs=1e-10)


@pytest.mark.parametrize("language", ["kernel", "c"])
def test_a_loop_in_given_phases(language, tmp_path):
    m = four_bar()
    f = called(m.kernel("forward_dynamics_in_phases"), language, tmp_path / "code")
    q = m.assemble(m.start())
    qd = m.velocities(q, {"crank": 2.0})
    qdd, _, _ = f(q, qd, np.zeros(3), np.array([1.0, 0.0, 0.0]), np.zeros(3), np.zeros(1))
    assert qdd == pytest.approx(m.forward_dynamics(q, qd, np.zeros(3)), abs=1e-9)
    rest = np.zeros(3)
    tau = m.inverse_dynamics(q, rest, rest, actuators=["crank"], passive=False)
    tau[0] += 1e-3
    qdd, holding, _ = f(q, rest, tau, rest, np.array([1.0, 0.0, 0.0]), np.zeros(1))
    assert qdd == pytest.approx(np.zeros(3), abs=1e-10)
    assert holding[0] == pytest.approx(m.friction(q, rest, tau)["crank"].effort, abs=1e-9)


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_are_those_of_the_problem_of_phases(language, tmp_path):
    """A slider at its limit and a hinge at rest: what moves by the exported parts and the solver moves in a run."""
    m, rng = levels(), np.random.default_rng(4)
    f = called(m.kernel("row_groups"), language, tmp_path / "code")
    for _ in range(10):
        q, qd, tau = np.array([0.1, rng.normal()]), np.zeros(2), rng.normal(size=2) * [8.0, 1.0]
        M, force, J, gamma, phi = f(q, qd, tau, np.zeros(1))
        M, J = np.reshape(M, (2, 2)), np.reshape(J, (3, 2))
        assert phi == pytest.approx([0.0], abs=1e-15)
        G = np.linalg.inv(M)
        lo, hi = np.array([-3.0, -0.8, 0.0]), np.array([3.0, 0.8, np.inf])
        x = solve(J @ G @ J.T, J @ G @ force + gamma, intervals(lo, hi))
        assert x.met
        run = kp.simulate(m, q, qd, torque=tau, duration=1e-3, limits="stop", rtol=1e-12)
        slid = np.abs(x.c[:2]) > 1e-9
        assert (np.abs(run.qd[-1]) > 1e-12).tolist() == slid.tolist()


@pytest.mark.parametrize("name", ["phases", "friction", "impact"])
def test_the_problem_itself_is_rejected_by_name(name):
    with pytest.raises(kp.InputError) as caught:
        tree().kernel(name)
    assert str(caught.value) == (
        f"tree: {name} is a problem with inequalities, which no formula solves; kernels give its parts, 'row_groups', "
        "and 'forward_dynamics_in_phases' with phases as arguments"
    )
