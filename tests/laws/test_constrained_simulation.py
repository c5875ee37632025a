"""Constraints held in motion: residuals, energy, drives, redundant rows, singular passages; methods that agree."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import closed
import kinpair as kp
from endings import ended, stopped
from families import family
from kinpair import constraint
from kinpair.simulation.methods.generalised_alpha import GeneralisedAlpha

HOLDS, CONSERVES = 1e-10, 1e-6  # demanded over 100 s
SPRINGS = {  # joints with a spring that is slack at the start, so that mechanisms of more freedoms stay in their range
    "five-bar": (20.0, ("left-crank", "right-crank")),
    "three-rrr": (20.0, ("crank1", "crank2", "crank3")),
    "stewart": (2e4, tuple(f"slide{k}" for k in range(1, 7))),
    "delta": (200.0, ("arm1", "arm2", "arm3")),
    "gripper": (0.5, ("left-driver",)),
}
RATES = {  # of the motion at the start; the rest follows
    "slider-crank": {"crank": 10.0},
    "bennett": {"q1": 1.0},
    "five-bar": {"left-crank": 1.0, "right-crank": -0.5},
    "three-rrr": {"crank1": 0.5, "crank2": -0.3, "crank3": 0.2},
    "stewart": {f"slide{k}": 0.05 * (-1) ** k for k in range(1, 7)},
    "delta": {"arm1": 0.5, "arm2": 0.2, "arm3": -0.3},
    "gripper": {"left-driver": 3.0},
    "omni-robot": {"psi1": 1.0, "psi2": 1.0, "psi3": 2.0},
    "diff-drive": {"left-wheel": 3.0, "right-wheel": 4.0},
    "rolling-disk": {"disk.wx": 0.1, "disk.wy": 0.2, "disk.wz": 6.0},
    "bicycle": {"rear": 15.0, "base.wx": 0.05},
}


def example(name: str) -> tuple[kp.Mechanism, np.ndarray, np.ndarray]:
    """The mechanism with its springs, and a consistent start in motion."""
    mechanism, q = kp.example(name), closed.start(name)
    stiffness, joints = SPRINGS.get(name, (0.0, ()))
    rest = dict(zip(mechanism.q_names, q.tolist(), strict=True))
    description = mechanism.model.description
    sprung = [
        replace(x, stiffness=(stiffness,), rest=(rest[x.name],)) if x.name in joints else x
        for x in description.joints
    ]
    mechanism = kp.build(replace(description, joints=tuple(sprung)))
    if name == "space-robot":  # momentum is kept at whatever it is
        return mechanism, q, np.array([0.1, -0.1, -0.1])
    return mechanism, q, mechanism.velocities(q, RATES.get(name, {}))


@pytest.mark.parametrize("name", family(closed.STARTS, {*closed.STARTS} - {"stewart"}, reason="a slow one"))
def test_constraints_hold_and_energy_stays_for_a_hundred_seconds(name):
    run = kp.simulate(*example(name), duration=100.0, output=0.1, rtol=1e-11, atol=1e-11)
    assert run.status.ok
    assert max(run.residual.worst) < HOLDS
    energy = run.energy.kinetic + run.energy.potential
    moved = max(np.ptp(run.energy.kinetic), np.abs(run.energy.kinetic).max())
    assert moved > 0
    assert np.abs(energy - energy[0]).max() < CONSERVES * moved


def test_left_out_rows_hold_wherever_the_mechanism_goes():
    """Which two of Bennett's five rows are independent changes on the way round."""
    bennett, q, qd = example("bennett")
    run = kp.simulate(bennett, q, qd, duration=20.0, output=0.05, rtol=1e-10, atol=1e-10)
    assert np.ptp(run.q, axis=0).min() > 5
    assert np.abs(bennett.constraint_residual(run.q)).max() < HOLDS


@pytest.mark.parametrize("integrator", ["dop853", "dopri5"])
def test_redundant_rows_do_not_spoil_the_tolerances_of_long_steps(integrator):
    """Stages of long steps are off the constraints, where Bennett's redundant rows contradict each other."""
    bennett = kp.example("bennett")
    q, qd = bennett.start(), np.zeros(bennett.nv)
    long, short = (
        kp.simulate(bennett, q, qd, duration=1.0, output=0.1, integrator=integrator, **options)
        for options in ({}, {"max_step": 1e-3})
    )
    assert long.steps < short.steps / 5
    for x, y in ((long.q, short.q), (long.qd, short.qd)):
        assert (np.abs(x - y) / (1e-10 + 1e-9 * np.abs(y))).max() < 100.0


def test_redundant_rows_change_nothing():
    runs = [
        kp.simulate(*example(name), duration=2.0, rtol=1e-12, atol=1e-12)
        for name in ("four-bar", "four-bar-3d")
    ]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-12


# drives do work

DRIVE = constraint.drive("motor", "crank", "3*t + 0.2*sin(5*t)")
METHODS = {  # options, and what the balance may be off by against what moved
    "dop853": ({"rtol": 1e-11, "atol": 1e-11}, 1e-9),
    "rk4": ({"dt": 1e-3}, 1e-9),
    "semi-implicit-euler": ({"dt": 1e-3}, 1e-2),
    "generalised-alpha": ({"dt": 1e-3}, 1e-5),
    "cvode": ({"rtol": 1e-9, "atol": 1e-9}, 1e-6),
    "ida": ({"rtol": 1e-9, "atol": 1e-9}, 1e-6),
}


@pytest.fixture(scope="module")
def driven() -> kp.Mechanism:
    return kp.example("four-bar").with_constraints(DRIVE)


@pytest.mark.parametrize("method", METHODS)
def test_a_drive_turns_as_told_and_its_work_is_stored(driven, method):
    options, slack = METHODS[method]
    q = closed.start("four-bar")
    run = kp.simulate(driven, q, driven.velocities(q), duration=2.0, output=0.1, integrator=method, **options)
    assert run.status.ok
    assert np.abs(run.q[:, 0] - 3 * run.time - 0.2 * np.sin(5 * run.time)).max() < HOLDS
    assert np.ptp(run.work) > 0.1
    assert run.balance.relative < slack
    assert run.residual.position.max() < HOLDS


def test_work_of_a_drive_is_the_torque_that_turns_it(driven):
    q = closed.start("four-bar")
    run = kp.simulate(driven, q, driven.velocities(q), duration=1.0, output=1e-3, rtol=1e-11, atol=1e-11)
    free = kp.example("four-bar")
    torque = [
        free.inverse_dynamics(*x, actuators=["crank"])[0] for x in zip(run.q, run.qd, run.qdd, strict=True)
    ]
    power = np.array(torque) * run.qd[:, 0]
    simpson = (power[:-2:2] + 4 * power[1::2] + power[2::2]).sum() / 3e3
    assert simpson == pytest.approx(run.work[-1], abs=1e-8)


def test_reactions_of_loops_are_those_at_their_time(driven):
    q = closed.start("four-bar")
    run = kp.simulate(driven, q, driven.velocities(q), duration=0.2, output=0.1, rtol=1e-10, atol=1e-10)
    expected = driven.reactions(run.q[2], run.qd[2], run.qdd[2], tau=np.zeros(3), time=0.2)
    assert run.reactions["pin"][2] == pytest.approx(expected["pin"], rel=1e-9)
    assert run.qdd[:, 0] == pytest.approx(-5 * np.sin(5 * run.time), abs=1e-9)


# generalised-alpha


@cache
def exact(name: str) -> kp.Result:
    return kp.simulate(*example(name), duration=0.2, output=0.2, rtol=1e-13, atol=1e-13)


def error(name: str, dt: float, **options) -> float:
    """Of coordinates and rates after 0.2 s."""
    own = {"integrator": "generalised-alpha", "dt": dt, **options}
    runs = [exact(name), kp.simulate(*example(name), duration=0.2, output=0.2, **own)]
    return max(float(np.abs(getattr(runs[0], x)[-1] - getattr(runs[1], x)[-1]).max()) for x in ("q", "qd"))


@pytest.mark.parametrize("name", ["four-bar", "delta", "omni-robot", "rolling-disk"])
@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_generalised_alpha_has_order_two(name, rho):
    coarse, fine = (error(name, dt, rho_inf=rho) for dt in (1e-3, 5e-4))
    assert fine > 1e-12  # there is an error to be measured
    assert np.log2(coarse / fine) == pytest.approx(2, abs=0.3)


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "four-bar-3d", "bennett", "omni-robot"])
def test_rates_of_generalised_alpha_obey_and_cost_no_energy(name):
    """Going on from projected rates would lose ten times as much as damping does."""
    run = kp.simulate(*example(name), duration=100.0, output=0.1, integrator="generalised-alpha", dt=2e-3)
    assert run.status.ok
    assert max(run.residual.worst) < HOLDS
    energy = run.energy.kinetic + run.energy.potential
    assert np.abs(energy - energy[0]).max() < 0.01 * run.energy.kinetic.max()


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.0])
def test_generalised_alpha_leaves_of_fast_vibrations_what_it_is_told(rho):
    """Of a spring far faster than the step, ρ a step remains; at ρ the roots meet, so what is left grows with n."""
    slide = kp.Builder("slide", gravity=(0, 0, 0)).link("block", mass=1.0)
    fast = kp.build(slide.joint("rail", "prismatic", "ground", "block", axis="x", stiffness=1e10))
    run = ended(fast, [1.0], [0.0], duration=1.0, integrator="generalised-alpha", dt=0.01, rho_inf=rho)
    left = np.abs(run.q[[20, 40], 0]) + 1e-300
    if rho == 1.0:
        assert np.abs(run.q[:, 0]).max() < 3
        assert left[1] > 0.1
    elif rho == 0.5:
        assert (left[1] / left[0]) ** (1 / 20) == pytest.approx(0.5, abs=0.05)
    else:
        assert np.abs(run.q[4:, 0]).max() < 1e-3


def test_coefficients_are_those_of_order_two_and_full_stability():
    for rho in (0.0, 0.3, 1.0):
        of_mass, of_force, gamma, beta = GeneralisedAlpha(rho).coefficients
        assert gamma == pytest.approx(0.5 + of_force - of_mass)
        assert of_mass <= of_force <= 0.5
        assert beta >= 0.25 + 0.5 * (of_force - of_mass) - 1e-15


def test_generalised_alpha_moves_a_batch_as_one_by_one():
    linkage, q, _ = example("four-bar")
    rates = np.outer([0.0, 1.0, 2.0], linkage.velocities(q, {"crank": 1.0}))
    options = {"duration": 0.2, "integrator": "generalised-alpha", "dt": 1e-3}
    many = kp.simulate(linkage, q, rates, **options)
    for k, rate in enumerate(rates):
        one = kp.simulate(linkage, q, rate, **options)
        assert np.abs(many.q[k] - one.q).max() < 1e-11


# other methods agree

OUTSIDE = ("cvode", "ida", "taylor")


def stiff() -> kp.Mechanism:
    """A pendulum whose hinge sits on a slide with a strong spring and damper."""
    builder = kp.Builder("stiff").link("block", mass=1.0).link("bob", mass=1.0, com=[0, 0, -0.5])
    builder = builder.joint("rail", "prismatic", "ground", "block", axis="x", stiffness=1e8, damping=1e5)
    return kp.build(builder.joint("pin", "revolute", "block", "bob", axis="y"))


@pytest.mark.parametrize("method", ["cvode", "ida", "generalised-alpha", "implicit-midpoint"])
def test_stiff_motions_take_few_steps(method):
    fixed = method in ("generalised-alpha", "implicit-midpoint")
    options = {"dt": 1e-3} if fixed else {"rtol": 1e-7, "atol": 1e-9}
    sparing = kp.simulate(
        stiff(), [0.0, 1.0], [0.0, 0.0], duration=1.0, output=0.1, integrator=method, **options
    )
    exact = kp.simulate(
        stiff(), [0.0, 1.0], [0.0, 0.0], duration=1.0, output=0.1, rtol=1e-10, atol=1e-12, integrator="dop853"
    )
    assert sparing.status.ok
    assert np.abs(sparing.q - exact.q).max() < 1e-5
    assert sparing.steps < exact.steps / 5


@pytest.mark.parametrize("method", OUTSIDE)
@pytest.mark.parametrize("name", ["four-bar", "omni-robot"])
def test_other_libraries_move_closed_mechanisms_the_same_way(name, method):
    case = example(name)
    ours = kp.simulate(*case, duration=0.5, output=0.1, rtol=1e-12, atol=1e-12)
    theirs = kp.simulate(*case, duration=0.5, output=0.1, rtol=1e-10, atol=1e-10, integrator=method)
    assert theirs.status.ok
    assert np.abs(theirs.q - ours.q).max() < 1e-6
    assert max(theirs.residual.worst) < HOLDS


@pytest.mark.parametrize("method", OUTSIDE)
def test_other_libraries_keep_quaternions_and_torques(method):
    arm = kp.example("floating-arm")
    q, qd = arm.neutral(), np.linspace(-1, 1, arm.nv)

    def torque(time, q, qd):
        return 0.1 * np.sin(3 * time) - 0.2 * qd

    ours, theirs = (
        kp.simulate(arm, q, qd, duration=0.5, output=0.1, torque=torque, integrator=x, rtol=1e-10, atol=1e-10)
        for x in ("dop853", method)
    )
    assert np.abs(theirs.q - ours.q).max() < 1e-7
    assert np.abs(theirs.work - ours.work).max() < 1e-7
    assert np.abs(np.linalg.norm(theirs.q[:, 3:7], axis=1) - 1).max() < 1e-14


@pytest.mark.parametrize("method", ["cvode", "ida"])
def test_tables_and_parameters_reach_other_libraries(method):
    arm = kp.example("double-pendulum")
    table = (np.array([0.0, 0.3, 1.0]), np.array([[0.0, 0.0], [2.0, -1.0], [0.5, 0.5]]))
    ours, theirs = (
        kp.simulate(
            arm,
            [0.3, 0.2],
            [0, 0],
            duration=1.0,
            output=0.1,
            torque=table,
            integrator=x,
            rtol=1e-9,
            atol=1e-9,
            parameters={"upper.mass": 2.0},
        )
        for x in ("dop853", method)
    )
    assert np.abs(theirs.q - ours.q).max() < 1e-6
    assert theirs.tau == pytest.approx(ours.tau, abs=1e-12)


# drift and singular passages


def test_constraints_that_are_not_held_drift_apart_and_the_run_says_when():
    run = stopped(*example("four-bar"), duration=10.0, hold="none", rtol=1e-4, atol=1e-4)
    assert run.status.name == "drifted"
    assert not run.status.ok
    apart = run.residual.position > 1e-4
    assert run.status.time == run.time[np.argmax(apart)]
    assert "hold='project' keeps them" in run.summary


def test_baumgarte_keeps_them_together_and_projection_better():
    case = example("four-bar")
    off = {
        hold: ended(*case, duration=10.0, hold=hold, rtol=1e-6, atol=1e-6).residual.worst[0]
        for hold in ("none", "baumgarte", "project")
    }
    assert off["project"] < HOLDS < off["baumgarte"] < 0.1 * off["none"]


def parallelogram() -> kp.Mechanism:
    rod = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}
    builder = kp.Builder("parallelogram", gravity=(0, -9.81, 0)).link("crank", com=[0.5, 0, 0], **rod)
    builder = builder.link("coupler", com=[1, 0, 0], **rod).link("rocker", com=[0.5, 0, 0], **rod)
    builder = builder.joint("a", "revolute", "ground", "crank", axis="z")
    builder = builder.joint("b", "revolute", "crank", "coupler", axis="z", xyz=[1, 0, 0])
    builder = builder.joint("c", "revolute", "ground", "rocker", axis="z", xyz=[2, 0, 0])
    return kp.build(builder.loop("d", "revolute", "coupler", "rocker", xyz=[2, 0, 0], child_xyz=[1, 0, 0]))


def test_a_parallelogram_crosses_its_flat_positions_and_says_so():
    flat = parallelogram()
    q = np.array([1.0, -1.0, 1.0])
    run = kp.simulate(flat, q, flat.velocities(q, {"a": 8.0}), duration=1.0, integrator="rk4", dt=1e-4)
    assert run.status.ok
    assert run.q[-1, 0] > 2 * np.pi
    assert np.abs(run.q[:, 0] - run.q[:, 2]).max() < 1e-9  # it stays a parallelogram
    assert run.singular.pivot < 1e-5
    angle = np.interp(run.singular.time, run.time, run.q[:, 0])
    assert abs(np.sin(angle)) < 1e-2
    assert "came close to a singular position" in run.summary


def test_away_from_singular_positions_nothing_is_said():
    run = kp.simulate(*example("slider-crank"), duration=2.0)
    assert run.singular is None
    assert "Constraints hold to" in run.summary


# systems given by their forces


def test_a_system_moves_and_its_potential_is_not_known():
    pendulum = kp.System(
        ["angle"], T=lambda q, qd, t: 0.5 * qd[0] ** 2, Q=lambda q, qd, t: [-9.81 * np.sin(q[0])]
    )
    run = kp.simulate(pendulum, [0.5], [0.0], duration=3.0, rtol=1e-12, atol=1e-12)
    fallen = 9.81 * (np.cos(run.q[:, 0]) - np.cos(0.5))
    assert run.energy.kinetic == pytest.approx(fallen, abs=1e-10)
    assert np.isnan(run.energy.potential).all()
    assert run.residual is None
    assert "the potential of a system given by its forces is not known" in run.summary
    assert run.qdd[:, 0] == pytest.approx(-9.81 * np.sin(run.q[:, 0]), abs=1e-12)


@pytest.mark.parametrize("method", ["generalised-alpha", "cvode", "ida", "taylor"])
def test_a_bead_on_a_ring_goes_round_by_every_method(method):
    """Two coordinates of a point and x² + y² = 1: it moves like a pendulum."""
    bead = kp.System(
        ["x", "y"],
        T=lambda q, qd, t: 0.5 * (qd @ qd),
        Q=lambda q, qd, t: [0.0, -9.81],
        constraints=[{"name": "ring", "phi": lambda q, t: [q @ q - 1.0]}],
    )
    options = {"dt": 1e-4} if method == "generalised-alpha" else {"rtol": 1e-10, "atol": 1e-10}
    run = kp.simulate(bead, [1.0, 0.0], [0.0, 0.0], duration=1.0, output=0.1, integrator=method, **options)
    ring = np.arctan2(run.q[:, 0], -run.q[:, 1])
    exact = kp.simulate(
        kp.System(["a"], T=lambda q, qd, t: 0.5 * qd[0] ** 2, Q=lambda q, qd, t: [-9.81 * np.sin(q[0])]),
        [np.pi / 2], [0.0], duration=1.0, output=0.1, rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    assert np.abs(ring - exact.q[:, 0]).max() < 1e-6
    assert run.residual.position.max() < HOLDS


@pytest.mark.parametrize("method", ["dop853", "rk4", "generalised-alpha", "cvode", "ida"])
def test_a_massless_wheel_on_a_gear_hands_its_spring_over(method):
    """½ k (2q)² = ½ (4k) q²: a spring on a wheel without inertia, geared two to one, is one four times as stiff."""
    pendulum = kp.Builder("pendulum").link("arm", mass=1.0, com=[0.0, 0.0, -0.5], inertia=[0.1, 0.1, 0.1])
    alone = pendulum.joint("swing", "revolute", "ground", "arm", axis="x", stiffness=12.0)
    geared = (
        kp.Builder("geared")
        .link("arm", mass=1.0, com=[0.0, 0.0, -0.5], inertia=[0.1, 0.1, 0.1])
        .link("wheel")
        .joint("swing", "revolute", "ground", "arm", axis="x")
        .joint("turn", "revolute", "ground", "wheel", axis="x", stiffness=3.0)
        .gear("gear", "turn", "swing", 2.0)
    )
    both = kp.build(geared)
    assert both.warnings == ()  # the gear holds the wheel
    options = {"duration": 1.0, "integrator": method, "output": 0.1}
    expected = kp.simulate(kp.build(alone), [0.7], [0.0], **options)
    run = kp.simulate(both, [0.7, 1.4], [0.0, 0.0], **options)
    assert run.status.ok
    assert run.q[:, 0] == pytest.approx(expected.q[:, 0], abs=1e-5)
    assert run.q[:, 1] == pytest.approx(2 * run.q[:, 0], abs=1e-9)
    assert run.energy.kinetic == pytest.approx(expected.energy.kinetic, abs=1e-4)
