"""Efforts of a gait make it: the free machine with its feet held goes the same way; a regulator leads it back."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import kinpair as kp
from kinpair.walking.phases import Phase, chebyshev, inputs, phases, phases_on_contacts
from kinpair.walking.replay import _placed
from walking import biped_gait

PUSHES = ({"forward": 0.02, "rate": 0.1}, {"sideways": -0.02, "rate": 0.1})


def both() -> tuple[Phase, Phase]:
    return phases(biped_gait())


def test_efforts_of_the_gait_reproduce_single_support():
    """Nothing leads the machine back: errors grow, and stay below 1e-6."""
    gait, single = biped_gait(), both()[0]
    x = gait.synergy.at(0.0)
    run = kp.simulate(
        single.mechanism, x.q, x.qd, duration=single.end, torque=single.inputs, rtol=1e-12, atol=1e-12
    )
    end = gait.synergy.at(single.end)
    np.testing.assert_allclose(run.q[-1], end.q, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.qd[-1], end.qd, rtol=0, atol=1e-6)


@pytest.mark.long(reason="compiles the machine with both feet held as well")
def test_efforts_of_the_gait_reproduce_a_step():
    played = kp.walking.replay(biped_gait())
    assert played.deviations.max() < 1e-6
    assert max(played.jumps) < 1e-6


def test_foot_that_is_held_gives_the_wrench_of_the_gait():
    gait, single = biped_gait(), both()[0]
    x = gait.synergy.at(0.3)
    found = single.mechanism.constraint_forces(x.q, x.qd, gait.efforts([0.3])[0])
    predicted = gait.wrenches([0.3])["right-sole"][0]
    np.testing.assert_allclose(
        found.wrenches["right-hold"], predicted, rtol=0, atol=1e-8 * np.abs(predicted).max()
    )


@pytest.mark.long(reason="compiles linear models of the machine with one foot and with both feet held")
@pytest.mark.parametrize("push", PUSHES, ids=str)
def test_regulator_brings_a_pushed_machine_back_within_two_steps(push):
    """From 2 cm off and 0.1 rad/s to 3 mm, on feet that real ground could hold, but for a pull of some newtons for some
    milliseconds at a foot that comes or goes."""
    gait = biped_gait()
    start = kp.walking.pushed(gait, **push)
    x = kp.walking.replay(gait, steps=2, start=start, regulator=kp.walking.regulator(gait))
    assert x.distances[1] < 0.6 * x.distances[0]
    assert x.distances[2] < 0.003
    assert min(s.margin.min() for s in x.support) > 0.004
    assert min(np.nanmin(margin) for s in x.support for margin in s.margins.values()) > 0.004
    assert max(s.slip.max() for s in x.support) < 0.45
    for s in x.support:
        for pull in s.pulls.values():
            assert pull.max() < 0.01 * 9.81 * gait.mechanism.mass
            assert (pull > 0.0).mean() < 0.1
    assert max(x.jumps) < 2e-4


def test_wrenches_of_feet_that_are_held_are_those_of_the_gait():
    """By the motion and its efforts alone, with nothing said about how two feet share the load."""
    gait, double = biped_gait(), both()[1]
    time = np.linspace(double.start, double.end, 5)
    x = gait.synergy.at(time)
    run = SimpleNamespace(q=x.q, qd=x.qd, qdd=x.qdd, tau=inputs(gait, time), time=time)
    played = kp.walking.Replay(gait, both(), (None, run), (), ())
    for sole, w in played.wrenches(1).items():
        np.testing.assert_allclose(w, gait.wrenches(time)[sole], rtol=0, atol=1e-7)


def test_foot_that_comes_down_is_stopped_by_the_least_loss_of_energy():
    """(GW13): rates after the impulse are the nearest that keep the soles still, in the metric of the mass matrix."""
    gait, double = biped_gait(), both()[1]
    x = gait.synergy.at(double.start)
    rates = x.qd + np.random.default_rng(4).normal(size=len(x.qd))
    at, after, (jump, impulse) = _placed(gait, double, x.q, rates)
    J = np.concatenate([gait.mechanism.jacobian(at, sole) for sole in double.soles])
    H = gait.mechanism.mass_matrix(at)
    assert np.abs(J @ after).max() < 1e-10
    assert jump < 1e-9 < impulse
    assert after @ H @ (rates - after) == pytest.approx(0.0, abs=1e-9 * (rates @ H @ rates))


def test_pushed_machine_stands_on_both_feet():
    gait = biped_gait()
    q, _ = kp.walking.pushed(gait, forward=0.02, sideways=-0.01)
    x = gait.synergy.at(0.0).q
    for sole in ("left-sole", "right-sole"):
        here, there = gait.mechanism.pose(q, sole), gait.mechanism.pose(x, sole)
        np.testing.assert_allclose(here.position, there.position, rtol=0, atol=1e-12)
        np.testing.assert_allclose(here.rotation, there.rotation, rtol=0, atol=1e-12)
    np.testing.assert_allclose(q[:3] - x[:3], [0.02, -0.01, 0.0], rtol=0, atol=1e-15)


def test_series_of_a_phase_are_its_efforts():
    gait = biped_gait()
    for phase in both():
        time = np.linspace(phase.start, phase.end, 13)
        found = np.array([phase.inputs(t, None, None) for t in time])
        np.testing.assert_allclose(found[:, 6:], gait.efforts(time)[:, 6:], rtol=0, atol=1e-6)


def test_chebyshev_series_is_numpys():
    a = np.random.default_rng(3).normal(size=(7, 2))
    np.testing.assert_allclose(chebyshev(a, 0.3), np.polynomial.chebyshev.chebval(0.3, a), rtol=1e-12)


MOTOR = {
    "kind": "dc-motor",
    "resistance": 0.2,
    "torque_constant": 0.1,
    "rotor_inertia": 3e-5,
    "gear": {"ratio": 80.0},
}
DRIVES = {"efforts": None, "limited": {"kind": "effort", "effort": 150.0}, "motors": MOTOR}


@pytest.mark.long(reason="compiles linear models of the machine, and the machine on contacts")
@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize("push", PUSHES, ids=str)
def test_a_pushed_machine_walks_ten_steps_on_feet_that_only_push(push, drive):
    """With nothing held: from 2 cm off to 1 mm, while feet land, stick and leave by contact alone. Geared motors, which
    are hard to turn back, are pushed forward by half as much: from 2 cm they fall, whatever the time step."""
    m = kp.example("biped")
    if drive == "motors" and "forward" in push:
        push = {key: 0.5 * value for key, value in push.items()}
    gait = (
        biped_gait()
        if DRIVES[drive] is None
        else kp.motion.gait(m.with_actuators(dict.fromkeys(m.v_names[6:], DRIVES[drive])), speed=0.8)
    )
    start = kp.walking.pushed(gait, **push)
    x = kp.walking.replay(gait, steps=10, start=start, regulator=kp.walking.regulator(gait), feet="contact")
    assert x.fell is None
    assert len(x.runs) == 20
    assert x.distances[0] > 0.008
    assert x.distances[2] < 0.35 * x.distances[0]
    assert x.distances[6:].max() < 0.0012
    for run in x.runs:
        assert run.contacts.depth.max() < 1e-5
        for point in run.contacts.points.values():
            assert np.nan_to_num((point.force * point.normal).sum(axis=1)).min() >= 0.0
    time, q = x.walked()
    forward = q[:, gait.mechanism.q_names.index("base.x")]
    assert forward[-1] - forward[0] == pytest.approx(10 * gait.numbers.step, rel=0.01)
    assert np.abs(np.diff(q, axis=0)).max() < 0.2  # without jumps between steps
    assert np.diff(time).min() >= -1e-12


def test_on_contacts_a_foot_gives_the_wrench_of_the_gait():
    """Single support by the efforts of the gait alone: contact makes what a held foot makes, to first order in dt."""
    gait = biped_gait()
    single = phases_on_contacts(gait)[0]
    x, errors = gait.synergy.at(0.0), []
    for dt in (1e-3, 5e-4):
        run = kp.simulate(single.mechanism, x.q, x.qd, duration=0.1, torque=single.inputs, dt=dt, output=0.02)
        errors.append(np.abs(run.q[-1] - gait.synergy.at(0.1).q).max())
    assert errors[1] < 0.6 * errors[0] < 0.005
    played = kp.walking.Replay(gait, (single, single), (run,), (0.0,), (0.0,))
    predicted, found = gait.wrenches(run.time[1:])["right-sole"], played.wrenches(0)
    np.testing.assert_allclose(found["right-sole"], predicted, rtol=0, atol=0.01 * np.abs(predicted).max())
    np.testing.assert_array_equal(found["left-sole"][2:], 0.0)
