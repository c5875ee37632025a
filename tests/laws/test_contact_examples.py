"""Bundled examples with contact: what their files say of them."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

NAMES = (
    "bouncing-ball",
    "block-on-incline",
    "rocking-block",
    "painleve-rod",
    "tippe-top",
    "pinch",
    "table",
    "ladder",
    "wood-block-tower",
    "quadruped",
    "gripper-box",
)


def run(
    name: str, duration: float, qd: dict[str, float] | None = None, **options
) -> tuple[kp.Mechanism, kp.Result]:
    m = kp.example(name)
    rates = np.zeros(m.nv)
    for key, value in (qd or {}).items():
        rates[m.v_names.index(key)] = value
    return m, kp.simulate(m, m.start(), rates, duration=duration, **options)


@pytest.mark.parametrize("name", NAMES)
def test_no_geoms_overlap_at_the_start(name):
    m = kp.example(name)
    assert m.warnings == ()
    assert all(x.gap > -1e-12 for x in m.contacts(m.start()))
    assert len(m.contacts(m.start(), margin=1.01)) > 0


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_friction_holds_the_block_on_the_incline(dt):
    m, result = run("block-on-incline", 10.0, dt=dt)
    assert np.abs(result.q[-1] - m.start()).max() < 1e-12


def test_the_pinched_capsule_does_not_sink():
    m, result = run("pinch", 60.0, torque=np.array([12.0, -12.0, 0, 0, 0, 0, 0, 0]), output=10.0)
    z = m.q_names.index("capsule.z")
    assert np.abs(result.q[:, z] - m.start()[z]).max() < 1e-9


def test_the_table_stands_with_equal_forces():
    m, result = run("table", 1.0)
    assert np.abs(result.q[-1] - m.start()).max() < 1e-12


@pytest.mark.long("ten boxes for a minute")
def test_the_tower_stands_for_a_minute():
    m, result = run("wood-block-tower", 60.0, output=1.0)
    assert np.abs(result.q[-1] - m.start()).max() < 1e-12


def test_the_tower_stands():
    m, result = run("wood-block-tower", 2.0, output=0.5)
    assert np.abs(result.q[-1] - m.start()).max() < 1e-12


@pytest.mark.parametrize(("angle", "holds"), [(0.91, True), (0.88, False)])
def test_the_ladder_slips_below_its_angle(angle, holds):
    """atan(1/(2 μ)) = 0.896 rad for μ = 0.4 and a smooth wall."""
    m = kp.example("ladder")
    q = np.array([-2 * np.cos(angle), 2 * np.sin(angle), np.pi / 2 - angle])
    result = kp.simulate(m, q, np.zeros(3), duration=1.0)
    moved = np.abs(result.q[-1] - q).max()
    assert moved < 1e-12 if holds else moved > 0.01


def test_the_tippe_top_turns_over():
    m = kp.example("tippe-top")
    spin = m.keyframes["spin"]
    result = kp.simulate(m, spin.q, spin.qd, duration=3.0, dt=1e-4, output=1.0)
    up = [m.pose(q, "top").rotation[2, 2] for q in result.q]
    assert up[0] > 0.99
    assert up[-1] < -0.95


def inputs_at_start(m: kp.Mechanism) -> np.ndarray:
    q = m.start()
    return np.array([q[m.q_names.index(x.joint)] for x in m.model.description.actuators])


def test_the_quadruped_stands():
    _, result = run("quadruped", 60.0, input=inputs_at_start(kp.example("quadruped")), output=10.0)
    assert np.abs(result.qd[-1]).max() < 1e-8
    np.testing.assert_allclose(result.q[-1][:3], result.q[-2][:3], atol=1e-9)
    assert result.q[-1][2] > 0.25


def test_the_gripper_lifts_its_box():
    """By the input less the weight of all that it lifts over the stiffness of the servo; nothing slips."""
    m, result = run("gripper-box", 2.0, input={"lift": 0.03, "left": 10.0, "right": -10.0})
    box, palm = (result.q[:, m.q_names.index(name)] for name in ("box.z", "lift"))
    assert box[-1] == pytest.approx(0.03 + 0.03 - 0.9 * 9.81 / 1000, abs=1e-9)
    assert np.abs(result.qd[-1]).max() < 1e-9
    assert np.ptp((box - palm)[result.time > 0.2]) < 1e-9


def test_the_ball_rests_after_its_bounces():
    """Infinitely many bounces are complete at 3 t1, t1 = √(2 h/g)."""
    m, result = run("bouncing-ball", 2.0, output=0.01)
    z = result.q[:, m.q_names.index("ball.z")]
    end = 3 * np.sqrt(2 / 9.81)
    late = result.time > end + 0.02
    assert np.abs(z[late] - 0.1).max() < 2e-3
    assert np.abs(result.qd[-1]).max() < 1e-9


def test_the_block_rocks_and_loses_energy_at_each_impact():
    """Housner: an impact about the other edge leaves r = 1 − 3/2 sin² α of the rate, r² of the energy above rest."""
    _, result = run("rocking-block", 2.0, output=0.01, dt=1e-4)
    above = result.energy.kinetic + result.energy.potential - 50 * 9.81 * 0.4
    (first,) = np.flatnonzero(np.diff(above) < -0.1)[:1]
    r = 1 - 1.5 * np.sin(np.arctan(0.25)) ** 2
    assert above[first + 1] / above[first] == pytest.approx(r * r, abs=2e-3)


def test_geoms_that_overlap_are_reported_and_assemble_lifts_them():
    m = kp.example("table")
    q = m.start() - np.array([0, 0, 0.02, 0, 0, 0, 0])
    with pytest.warns(
        kp.LimitWarning, match=r"table: geoms 'leg 1' and 'floor' overlap by 0.02 m at the start \(4 pairs"
    ):
        kp.simulate(m, q, np.zeros(6), duration=0.01)
    np.testing.assert_allclose(m.assemble(q), m.start(), atol=1e-8)


def test_assemble_moves_the_lighter_of_two_geoms_farther():
    b = kp.Builder("two")
    for name, mass in (("light", 1.0), ("heavy", 3.0)):
        b.link(name, mass=mass, inertia=[1, 1, 1]).joint(name, "prismatic", "ground", name, axis="x")
        b.contact(name, name, sphere=0.1)
    m = kp.build(b)
    q = m.assemble(np.array([-0.05, 0.05]))
    np.testing.assert_allclose(q, [-0.125, 0.075], atol=1e-8)
    np.testing.assert_allclose(m.assemble(np.array([-0.05, 0.05]), fixed=["heavy"]), [-0.15, 0.05], atol=1e-8)
