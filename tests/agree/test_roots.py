"""Switches and events by two roads: found and passed in compiled code, and looked at one by one before the step."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from endings import stopped
from kinpair.simulation.driver import driver
from kinpair.simulation.driver.sticking import decided
from kinpair.simulation.given import Options
from kinpair.simulation.loops import kernel_of
from kinpair.simulation.modes.guards import Guards
from kinpair.simulation.prepare import prepared

TIGHT = {"rtol": 1e-11, "atol": 1e-12}
LINKAGE = kp.example("four-bar")
TIMES = 1e-9  # of events: some hundred times the tolerance, for steps that differ where nothing happens


@cache
def arm() -> kp.Mechanism:
    """Three links in a plane with friction, static above sliding in one joint."""
    builder = kp.Builder("rough arm", gravity=[0, -9.81, 0])
    static = {"law": "coulomb", "level": 2.0, "level_static": 2.5}
    fading = {"law": "stribeck", "level": 0.4, "level_static": 0.6, "stribeck_speed": 0.1, "exponent": 2.0}
    parent = "ground"
    for k, law in enumerate((static, 1.5, fading)):
        name, xyz = f"link{k}", [0.0 if k == 0 else 0.5, 0, 0]
        builder = builder.link(name, mass=1.0, com=[0.25, 0, 0], inertia=[0.01, 0.02, 0.02])
        builder = builder.joint(f"j{k}", "revolute", parent, name, axis="z", xyz=xyz, friction=law)
        parent = name
    return kp.build(builder)


def pushed(t, q, qd):
    return np.array([9.0 * np.sin(3.0 * t), 5.0 * np.sin(4.0 * t), 2.0 * np.sin(7.0 * t)]) - 0.5 * q


def pulled(t, q, qd):
    return np.array([1600.0 * (0.1 * t - q[0])])


CASES = {
    "arm": lambda **o: kp.simulate(arm(), [0, 0, 0], [1, -2, 3], duration=3.0, torque=pushed, **TIGHT, **o),
    "belt": lambda **o: kp.simulate(kp.example("stick-slip"), [0], [0], duration=2.0, torque=pulled, **TIGHT, **o),
    "belt, dopri5": lambda **o: kp.simulate(
        kp.example("stick-slip"), [0], [0], duration=1.0, torque=pulled, integrator="dopri5", rtol=1e-9, **o
    ),
    "events of the user": lambda **o: kp.simulate(
        kp.example("double-pendulum"), [0.3, 0.2], [1.0, 0.0], duration=3.0, **TIGHT, **o,
        events=[
            kp.Event("low", lambda t, q, qd: q[0], direction=-1),
            kp.Event("turns", lambda t, q, qd: qd[0]),
            kp.Event("second", lambda t, q, qd: t - 1.0),
            kp.Event("at once", lambda t, q, qd: 2.0 * t - 2.0),
            kp.Event("kick", lambda t, q, qd: t - 2.0, action=kp.Change(qd=[0.5, -1.0])),
        ],
    ),
    "loops, two at once": lambda **o: kp.simulate(
        LINKAGE, LINKAGE.start(), LINKAGE.velocities(LINKAGE.start(), {"crank": 4.0}), duration=0.5, **o,
        events=[kp.Event("up", lambda t, q, qd: np.sin(q[0])), kp.Event("turns", lambda t, q, qd: qd[2])],
    ),
    "quaternions": lambda **o: kp.simulate(
        kp.example("floating-arm"), kp.example("floating-arm").start(),
        0.3 + 0.1 * np.arange(kp.example("floating-arm").nv), duration=1.0,
        events=[kp.Event("turned", lambda t, q, qd: q[3] - 0.1)], **TIGHT, **o,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_compiled_roots_are_those_of_the_road_by_single_looks(case, monkeypatch):
    run = CASES[case]()
    monkeypatch.setattr(driver, "search", lambda ongoing, room: None)
    looked = CASES[case]()
    assert [x.name for x in run.events] == [x.name for x in looked.events]
    assert len(run.events) > 1 or case == "quaternions"
    for a, b in zip(run.events, looked.events, strict=True):
        assert a.time == pytest.approx(b.time, abs=TIMES)
        for x in ("q", "qd", "qd_before"):
            assert getattr(a, x) == pytest.approx(getattr(b, x), abs=1e2 * TIMES)
    assert run.time.tolist() == looked.time.tolist()
    for x in ("q", "qd", "work", "loss"):
        assert getattr(run, x) == pytest.approx(getattr(looked, x), abs=1e2 * TIMES)
    assert str(run.status) == str(looked.status)


def test_switches_without_end_are_reported_at_the_same_one(monkeypatch):
    def shaken():
        m = kp.example("stick-slip")
        return stopped(m, [0], [0], duration=1e-3, torque=lambda t, q, qd: np.array([40.0 * np.sin(1e7 * t)]))

    run = shaken()
    monkeypatch.setattr(driver, "search", lambda ongoing, room: None)
    looked = shaken()
    assert (run.status.name, len(run.events)) == ("zeno", 100)
    assert (looked.status.name, len(looked.events)) == ("zeno", 100)
    assert run.status.time == pytest.approx(looked.status.time, rel=1e-9)
    assert run.time[-1] == pytest.approx(run.events[-1].time, abs=0.0)
    assert run.q[-1] == pytest.approx(looked.q[-1], rel=1e-9)


def test_energy_adds_up_through_switches_in_compiled_code():
    run = CASES["arm"](output=0.01)
    energy = run.energy.kinetic + run.energy.potential
    assert len(run.events) > 10
    assert energy - energy[0] == pytest.approx(run.work - run.loss, abs=1e-8 * run.work.max())


def test_phases_told_by_compiled_code_are_those_of_the_complementarity_solver():
    """Random states of the arm about balance, some rates at rest, one of whose phases has ended."""
    ongoing = driver.Driver(
        prepared(arm(), Options(q=[0, 0, 0], qd=[0, 0, 0], duration=1.0, torque=np.ones(3)))
    ).ongoing
    d, watched = ongoing.active.d, ongoing.active.watched
    change = kernel_of(d, Guards(watched).change, time=(), y=(d.ny,), u=(d.nu,), e=(len(watched) + 1,))
    rng, layout, told, count = np.random.default_rng(12), d.layout, 0, 400
    place = {x.group: k for k, x in enumerate(watched) if x.kind == "phase"}
    for _ in range(count):
        y, e = np.zeros(d.ny), np.zeros(len(watched) + 1)
        y[layout.q] = rng.normal(size=3)
        u = arm().gravity_forces(y[layout.q]) + rng.uniform(-1.1, 1.1, 3) * [2.5, 1.5, 0.6]
        held = rng.random(3) < 0.5
        y[layout.qd] = np.where(held, 0.0, 0.1 * rng.normal(size=3))
        y[layout.phase], y[layout.share] = held, np.where(held, 0.0, np.sign(y[layout.qd]))
        ended = [int(rng.integers(3))]
        e[[place[j] for j in ended]], e[-1] = 1.0, 1.0
        later, size = y, 2.0
        while size > 1.0:
            later, size = change(0.0, later, u, e)
            e[:] = 0.0
        if size == 0.0:
            told += 1
            solved = decided(ongoing, d, y, u, ended, (), frozenset(), jumped=True)[0]
            assert later == pytest.approx(solved, abs=0.0)
    assert (
        told > 0.5 * count
    )  # the others are left to the solver: many a rate that lets go is far from its level
