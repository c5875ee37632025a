"""Runs with friction from load: integrators agree, energy closes; states without solution end a run by name."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kinpair as kp
from families import family
from load_friction_family import CLOSED, mechanism

TIGHT = {
    "dop853": {"rtol": 1e-10, "atol": 1e-12},
    "rk4": {"dt": 5e-4},
    "cvode": {"rtol": 1e-11, "atol": 1e-13},
}


@cache
def hinges() -> kp.Mechanism:
    """The four-bar of the family with bearings in the two hinges of its frame alone."""
    description = mechanism("four-bar", 0).model.description
    joints = (replace(x, friction=()) if x.kind == "universal" else x for x in description.joints)
    return kp.build(replace(description, joints=tuple(joints)))


@cache
def loop_run(name: str, integrator: str) -> kp.Result:
    """From a motion that comes to rest, or turns round, on its way."""
    m, closed = (hinges(), CLOSED["four-bar"]) if name == "hinges" else (mechanism(name, 0), CLOSED[name])
    q = m.assemble(closed.guess)
    qd = m.velocities(q, dict.fromkeys(closed.drives, 1.0))
    return kp.simulate(m, q, qd, duration=0.4, integrator=integrator, **TIGHT[integrator])


RUNS = [f"{name} {integrator}" for name in ("hinges", *CLOSED) for integrator in TIGHT]
RUNS_OF_LOOPS = family(
    RUNS, ["hinges dop853", "hinges rk4"], "loops with more bearings, and another integrator"
)


@pytest.mark.parametrize("case", RUNS_OF_LOOPS)
def test_integrators_agree_on_loops_and_energy_closes(case):
    """Events at the same times, the same end, to what the tolerances promise; friction never adds energy."""
    name, integrator = case.split()
    first, other = loop_run(name, "dop853"), loop_run(name, integrator)
    assert other.status.ok
    assert [x.name for x in other.events] == [x.name for x in first.events]
    assert [x.time for x in other.events] == pytest.approx([x.time for x in first.events], abs=1e-6)
    assert other.q[-1] == pytest.approx(first.q[-1], abs=1e-7)
    assert other.balance.relative < 1e-8
    assert other.balance.loss > 1e-3
    assert (np.diff(other.loss) >= -1e-12).all()


@cache
def rod() -> kp.Mechanism:
    """On a slider in a rail; with so much friction some motions have no solution (Painlevé)."""
    b = kp.Builder("rod").link("slider", mass=0.05, inertia=(1e-5, 1e-5, 1e-5))
    b.link("rod", mass=1.0, com=(0.5, 0, 0), inertia=(1e-3, 1 / 12, 1 / 12))
    rail = {"law": "guide", "mu": 2.5, "length": 0.2, "width": 0.2}
    b.joint("rail", "prismatic", "ground", "slider", axis="x", friction=rail)
    return kp.build(b.joint("hinge", "revolute", "slider", "rod", axis="y"))


JAMS = ([0.0, -0.8], [-1.0, 0.0])
SLAM = "impact without collision"


def rate_behind(angle: float, slides: float, turns: float) -> float:
    """The slider stops; about the hinge, through which its impulse goes, the angular momentum of the rod stays."""
    return turns - 3.0 * 0.5 * np.sin(angle) * slides


@pytest.mark.parametrize("integrator", ["dop853", "dopri5", "rk4", "implicit-midpoint", "cvode"])
def test_where_no_force_satisfies_friction_its_impulse_stops_the_slider(integrator):
    """Painlevé: an impact without collision, then the slider is held and the rod swings."""
    step = {"dt": 1e-3} if integrator in ("rk4", "implicit-midpoint") else {}
    run = kp.simulate(rod(), *JAMS, duration=0.1, integrator=integrator, **step)
    assert run.status.name == "done"
    (slam,) = run.events
    expected = rate_behind(-0.8, -1.0, 0.0)
    assert (slam.name, slam.time) == ("impact without collision", 0.0)
    assert slam.qd == pytest.approx([0.0, expected], abs=1e-12)
    assert slam.lost == pytest.approx(0.5 * 1.05 - 0.5 * expected**2 / 3.0, rel=1e-12)
    assert not run.qd[1:, 0].any()
    swing = 0.5 * run.qd[-1, 1] ** 2 / 3.0 - 9.81 * 0.5 * np.sin(run.q[-1, 1])
    assert swing == pytest.approx(0.5 * expected**2 / 3.0 - 9.81 * 0.5 * np.sin(-0.8), abs=1e-5)
    assert run.balance.relative < 1e-7


def test_a_run_goes_on_behind_a_blow_into_a_motion_without_solution():
    """A blow turns the slider round, into a direction that has no solution."""
    blow = kp.Event("blow", lambda t, q, qd: t - 0.1, action=lambda t, q, qd: kp.Change(qd=[-1.0, qd[1]]))
    for integrator, step in (("dop853", {}), ("rk4", {"dt": 1e-3})):
        run = kp.simulate(
            rod(), [0.0, -0.8], [1.0, 0.0], duration=0.2, integrator=integrator, events=[blow], **step
        )
        assert run.status.name == "done"
        before, _, slam, sticks = run.events[-4:]
        names = ["blow", "rail slides", "impact without collision", "rail sticks"]
        assert [x.name for x in run.events[-4:]] == names
        assert slam.time == pytest.approx(0.1, abs=1e-9)
        assert slam.qd == pytest.approx([0.0, rate_behind(slam.q[1], -1.0, before.qd[1])], abs=1e-9)
        assert sticks.time == slam.time
        assert not run.qd[-1, 0]


def test_a_file_keeps_an_impact_without_collision(tmp_path):
    run = kp.simulate(rod(), *JAMS, duration=0.1, save=tmp_path / "run.h5")
    stored = kp.load_run(tmp_path / "run.h5")
    assert [x.name for x in stored.events] == [x.name for x in run.events] == ["impact without collision"]


def test_motions_of_a_batch_go_on_where_a_single_run_does():
    """Each motion, by its own parameters, comes to where a run of its own comes to; neighbours change no bit."""
    q, qd = np.array([JAMS[0]] * 3), np.array([JAMS[1], [1.0, 0.0], JAMS[1]])
    options = {"duration": 0.02, "integrator": "rk4", "dt": 1e-3}
    mu = [2.5, 2.5, 5.0]
    run = kp.simulate(rod(), q, qd, parameters={"rail.friction.mu": mu}, **options)
    assert run.status.ok
    assert not run.failures
    assert [(x.row, x.name) for x in run.events] == [(0, SLAM), (2, SLAM)]
    for k, own in enumerate(mu):
        alone = kp.simulate(rod(), q[k], qd[k], parameters={"rail.friction.mu": own}, **options)
        assert run.q[k] == pytest.approx(alone.q, abs=1e-12)
        assert run.qd[k] == pytest.approx(alone.qd, abs=1e-12)


@pytest.mark.parametrize("at_once", [1, 5])
def test_a_stepper_goes_on_where_a_single_run_does(at_once):
    q, qd = np.array([JAMS[0]] * 2), np.array([[1.0, 0.0], JAMS[1]])
    s, alone = kp.stepper(rod(), dt=1e-3, batch=2), kp.stepper(rod(), dt=1e-3)
    s.reset(q, qd)
    alone.reset(*JAMS)
    for _ in range(10 // at_once):
        s.step(steps=at_once)
        alone.step(steps=at_once)
    run = kp.simulate(rod(), *JAMS, duration=0.01, integrator="rk4", dt=1e-3)
    assert not s.failed.any()
    assert s.qd[1] == pytest.approx(run.qd[-1], abs=1e-12)
    assert alone.qd == pytest.approx(run.qd[-1], abs=1e-12)


def test_the_coefficient_is_an_axis_of_a_sweep():
    """A drawer pulled off its middle, from rest: ẍ = P (1 − 2μa/L)/m."""
    pull = {"right": [0, 0, 0, 5.0, 0, 0]}
    steps = {"duration": 0.2, "integrator": "rk4", "dt": 1e-3, "record": ["max q.slide"]}
    study = kp.Study("drawer", q={"slide": 0.0}, external=pull, **steps)
    table = kp.sweep(study, over={"slide.friction.mu": [0.1, 0.2]}, workers=0)
    ends = [0.5 * 0.2**2 * 5.0 * (1 - 2 * mu * 0.25 / 0.3) / 4.0 for mu in (0.1, 0.2)]
    assert table["max q.slide"] == pytest.approx(ends, rel=1e-9)


def test_a_stepper_takes_the_steps_of_a_run():
    m = kp.example("drawer")
    run = kp.simulate(m, [0.1], [0.3], duration=0.05, integrator="rk4", dt=1e-3)
    s = kp.stepper(m, dt=1e-3, integrator="rk4")
    s.reset([0.1], [0.3])
    q, qd = s.step(steps=50)
    assert q == pytest.approx(run.q[-1], abs=1e-12)
    assert qd == pytest.approx(run.qd[-1], abs=1e-12)
