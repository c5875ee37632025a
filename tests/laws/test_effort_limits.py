"""Efforts against the limits of the description: reported, or clipped; starts outside the limits of joints."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.cli.main import main

LIMIT = 3.0


def arm(**elbow: object) -> kp.Builder:
    b = kp.Builder("arm")
    for name in ("upper", "lower"):
        b.link(name, mass=1.0, com=(0.2, 0, 0), inertia=(0.02, 0.02, 0.02))
    b.joint("shoulder", "revolute", "ground", "upper", axis="y", effort=LIMIT)
    return b.joint("elbow", "revolute", "upper", "lower", axis="y", xyz=(0.4, 0, 0), **elbow)


M = kp.build(arm())
TIMES = np.linspace(0.0, 1.0, 101)


def strong(time, q, qd):
    """Twice the limit at its worst."""
    return [2.0 * LIMIT * np.sin(4.0 * time), 0.1 * time]


class Opaque:
    """The same, called in Python."""

    def __call__(self, time, q, qd):
        return [float(x) for x in strong(time, q, qd)]


class Bounded(Opaque):
    """Clipped by hand."""

    def __call__(self, time, q, qd):
        first, second = strong(time, q, qd)
        return [min(max(float(first), -LIMIT), LIMIT), float(second)]


def run(torque, limits="ignore", m=M, **options) -> kp.Result:
    how = {"duration": 1.0, "output": 0.01, "rtol": 1e-10, "atol": 1e-11, **options}
    return kp.simulate(m, [0.3, 0.2], [0.0, 0.0], torque=torque, limits=limits, **how)


@pytest.mark.parametrize("torque", [strong, Opaque()], ids=["recorded", "called"])
def test_a_saturated_run_is_the_run_of_the_clipped_torque(torque):
    clipped, by_hand = run(torque, "saturate"), run(Bounded())
    assert np.abs(clipped.q - by_hand.q).max() < 1e-8
    assert np.abs(clipped.tau[:, 0]).max() == LIMIT
    assert (clipped.tau[:, 1] == 0.1 * clipped.time).all()
    assert clipped.balance.relative < 1e-7


def test_tables_constants_and_batches_are_clipped():
    steps = {"integrator": "rk4", "dt": 1e-3, "rtol": None, "atol": None}
    table = (TIMES, np.array([strong(t, None, None) for t in TIMES]))
    bounded = (TIMES, np.clip(table[1], -LIMIT, LIMIT))
    fine = run(table, "saturate", **steps)
    assert np.abs(fine.tau[:, 0]).max() == LIMIT
    assert (
        np.abs(fine.q - run(bounded, **steps).q).max() < 1e-3
    )  # the table turns its corners between its times
    constant = run([9.0, 0.0], "saturate", **steps)
    assert np.abs(constant.q - run([LIMIT, 0.0], **steps).q).max() < 1e-12
    both = kp.simulate(
        M,
        np.full((2, 2), 0.3),
        np.zeros((2, 2)),
        torque=[[9.0, 0.0], [1.0, 0.0]],
        limits="saturate",
        duration=0.1,
        integrator="rk4",
        dt=1e-3,
    )
    assert (both.tau[:, -1, 0] == [LIMIT, 1.0]).all()


def test_a_stepper_clips_efforts():
    clipped, bounded = (kp.stepper(M, dt=1e-3, limits=limits) for limits in ("saturate", "ignore"))
    for stepper, effort in ((clipped, 50.0), (bounded, LIMIT)):
        for _ in range(20):
            stepper.step([effort, 0.0])
    assert np.abs(clipped.q - bounded.q).max() < 1e-14


def test_stops_and_saturation_act_together():
    m = kp.build(arm(lower=-0.5, upper=0.5))
    both = run([50.0, 50.0], kp.Limits("stop", saturate=True), m)
    assert both.q[:, 1].max() <= 0.5 + 1e-9
    assert (both.tau == [LIMIT, 50.0]).all()


def test_efforts_on_joints_without_an_actuator_are_clipped_and_actuators_are_refused():
    m = kp.build(arm().actuator("motor", "elbow", "effort"))
    driven = kp.simulate(m, [0.3, 0.2], [0, 0], input=[2.0, 9.0], limits="saturate", duration=0.1)
    assert m.u_names == ("motor", "shoulder")
    assert (driven.tau == [LIMIT, 2.0]).all()
    limited = kp.build(arm(effort=1.0).actuator("motor", "elbow", "effort"))
    with pytest.raises(kp.InputError) as caught:
        kp.simulate(limited, [0.3, 0.2], [0, 0], limits="saturate", duration=0.1)
    assert str(caught.value) == (
        "arm: limits='saturate' clips efforts that are given, and actuator 'motor' makes the effort on 'elbow'; give "
        "the actuator its own limit, or load the mechanism with actuators=False"
    )


def test_the_summary_reports_efforts_beyond_the_limits_of_the_file():
    free, clipped, weak = run([9.0, 0.0]), run([9.0, 0.0], "saturate"), run([1.0, 50.0])
    assert (
        "Efforts exceeded their limits: shoulder (3 N m) first at t = 0 s, at most 9 N m at t = 0 s; limits='saturate' "
        "clips them." in str(free.summary)
    )
    assert "Efforts were clipped at their limits: shoulder (3 N m) first at t = 0 s." in str(clipped.summary)
    assert "Efforts" not in str(weak.summary)
    late = run(strong)
    first = late.time[np.abs(late.tau[:, 0]) > LIMIT][0]
    assert f"first at t = {first:.4g} s" in str(late.summary)


def test_a_saturated_run_is_stored_and_resumed(tmp_path):
    whole = run([9.0, 0.0], kp.Limits("ignore", saturate=True), save=tmp_path / "run.h5")
    again = kp.load_run(tmp_path / "run.h5")
    assert (again.tau == whole.tau).all()
    assert "Efforts were clipped" in str(again.summary)


OUTSIDE = (
    "arm: the start is outside the limits of its joints: 'elbow' is 2 (-0.5 to 0.5); the nearest position inside has "
    "elbow = 0.5"
)


def test_a_start_outside_the_limits_gives_a_warning_with_the_nearest_start_inside():
    m = kp.build(arm(lower=-0.5, upper=0.5))
    with pytest.warns(kp.LimitWarning) as caught:
        kp.simulate(m, [0.0, 2.0], [0.0, 0.0], duration=0.01)
    assert [str(x.message) for x in caught] == [OUTSIDE]
    with pytest.warns(kp.LimitWarning, match=r"the start \(state 1 of the batch\) is outside"):
        kp.simulate(m, [[0, 0.5], [0, 2.0]], np.zeros((2, 2)), duration=0.01, integrator="rk4", dt=1e-3)
    kp.simulate(m, [0.0, 0.5], [0.0, 0.0], duration=0.01)


def test_the_nearest_start_of_a_closed_mechanism_closes_its_loops():
    b = kp.Builder("linkage")
    for name in ("crank", "rod", "slider"):
        b.link(name, mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.joint("a", "revolute", "ground", "crank", axis="z", upper=0.6, lower=-0.6)
    b.joint("b", "revolute", "crank", "rod", xyz=(0.3, 0, 0), axis="z")
    b.joint("c", "prismatic", "ground", "slider", xyz=(0.8, 0, 0), axis="x")
    m = kp.build(b.loop("pin", "spherical", "rod", "slider", xyz=(0.5, 0, 0))).reference
    turned = -np.arcsin(0.6 * np.sin(1.0))  # of the rod, against the ground
    q = [1.0, turned - 1.0, 0.3 * np.cos(1.0) + 0.5 * np.cos(turned) - 0.8]
    head, _, inside = m.start_warning(q).partition("; the nearest position inside has ")
    assert head == "linkage: the start is outside the limits of its joints: 'a' is 1 (-0.6 to 0.6)"
    nearest = [float(part.partition(" = ")[2]) for part in inside.split(", ")]
    assert nearest[0] == pytest.approx(0.6, abs=1e-9)
    assert np.abs(m.constraint_residual(nearest)).max() < 1e-9


def test_check_finds_a_start_and_a_keyframe_outside_the_limits(tmp_path, capsys):
    file = tmp_path / "arm.toml"
    text = kp.to_toml(arm(lower=-0.5, upper=0.5, start=2.0).description())
    file.write_text(text + '\n[[keyframe]]\nname = "up"\nq = { elbow = -1 }\n', encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["check", str(file)])
    shown = " ".join(capsys.readouterr().out.split())
    assert OUTSIDE in shown
    assert "arm: keyframe 'up' is outside the limits of its joints: 'elbow' is -1 (-0.5 to 0.5)" in shown
    assert "2 warnings" in shown


def test_the_command_simulate_reports_the_start_once(tmp_path, capsys):
    file = tmp_path / "arm.toml"
    kp.write_toml(arm(lower=-0.5, upper=0.5).description(), file)
    assert main(["simulate", str(file), "--q", "elbow=2", "--duration", "0.01", "--limits", "saturate"]) == 0
    captured = capsys.readouterr()
    assert " ".join((captured.out + captured.err).split()).count(OUTSIDE) == 1
