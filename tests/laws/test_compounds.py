"""Clutches, stops and loops with friction: closed forms, and the same linkage cut at another joint."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import kinpair as kp

G = 9.81
SETTINGS = [{}, {"integrator": "dopri5"}, {"integrator": "rk4", "dt": 1e-3}, {"integrator": "cvode"}]
I_A, I_B, LEVEL, SPEED = 0.2, 0.25, 5.0, 10.0


def shafts() -> kp.Builder:
    b = kp.Builder("shafts", gravity=(0, 0, 0))
    b.link("A", mass=1.0, inertia=(0.1, 0.1, I_A)).link("B", mass=1.0, inertia=(0.15, 0.15, I_B))
    return b.joint("a", "revolute", "ground", "A", axis="z").joint("b", "revolute", "ground", "B", axis="z")


CLUTCHES = {
    "joints": (lambda: shafts().clutch("disc", joints=["a", "b"], level=LEVEL), 1.0),
    "ratio": (lambda: shafts().clutch("disc", joints=["a", "b"], ratio=2.0, level=LEVEL), 2.0),
    "links": (lambda: shafts().clutch("disc", links=["B", "A"], axis="z", level=LEVEL), 1.0),
}


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", CLUTCHES)
def test_a_clutch_slips_until_both_shafts_turn_together(kind, settings):
    """s = ω_a − r ω_b falls by L (1/I_a + r²/I_b) per second; then the momentum I_a ω_a + I_b ω_b/r stays."""
    build, r = CLUTCHES[kind]
    m = kp.build(build())
    run = kp.simulate(m, m.start(), {"a": SPEED, "b": 0.0, "disc": SPEED}, duration=1.0, **settings)
    stops = SPEED / (LEVEL * (1.0 / I_A + r * r / I_B))
    assert run.status.name == "done"
    assert [(x.name, x.time) for x in run.events] == [("disc sticks", pytest.approx(stops, abs=1e-8))]
    common = I_A * SPEED / (I_A + I_B / r**2)
    assert run.qd[-1] == pytest.approx([common, common / r, 0.0], abs=1e-7)
    assert run.balance.relative < 1e-7


def test_a_clutch_that_sticks_lets_go_where_the_torque_through_it_exceeds_its_level():
    """Torque τ = 4 t on A: B takes τ I_b/(I_a + I_b) through the clutch."""
    m = kp.build(CLUTCHES["joints"][0]())
    run = kp.simulate(
        m, np.zeros(3), np.zeros(3), duration=3.0, torque=([0.0, 3.0], [[0, 0, 0], [12.0, 0, 0]])
    )
    leaves = LEVEL * (I_A + I_B) / I_B / 4.0
    assert [(x.name, x.time) for x in run.events] == [("disc slides", pytest.approx(leaves, abs=1e-7))]
    assert run.qd[-1, 1] == pytest.approx(
        (2.0 * leaves**2 / (I_A + I_B)) + LEVEL / I_B * (3.0 - leaves), rel=1e-7
    )


def test_three_clutches_whose_normal_forces_vary_bring_four_shafts_to_one_speed():
    """The first slips until ∫ L dt = s (1/I_0 + 1/Σ I)⁻¹, while the other two stick; the momentum stays."""
    inertias = [0.2, 0.25, 0.3, 0.4]
    b = kp.Builder("four", gravity=(0, 0, 0))
    for k, inertia in enumerate(inertias):
        b.link(f"s{k}", mass=1.0, inertia=(0.6 * inertia, 0.6 * inertia, inertia))
        b.joint(f"a{k}", "revolute", "ground", f"s{k}", axis="z")
    for k in range(3):
        b.clutch(f"c{k}", joints=[f"a{k}", f"a{k + 1}"], level=f"{2 + k}*(1 + 0.9*sin(3*t + {k}))")
    m = kp.build(b)
    impulse = SPEED / (1 / inertias[0] + 1 / sum(inertias[1:]))
    stops = brentq(lambda t: 2 * (t + 0.3 * (1 - np.cos(3 * t))) - impulse, 0.0, 2.0, xtol=1e-14)
    common = inertias[0] * SPEED / sum(inertias)
    qd = {"a0": SPEED, "a1": 0.0, "a2": 0.0, "a3": 0.0}
    for settings in SETTINGS[:3]:
        run = kp.simulate(m, m.start(), qd, duration=3.0, **settings)
        assert run.status.name == "done"
        assert [(x.name, x.time) for x in run.events] == [("c0 sticks", pytest.approx(stops, abs=1e-7))]
        assert run.qd[-1] == pytest.approx([common] * 4 + [0.0] * 3, abs=1e-7)


def linkage(cut: str, friction: object) -> kp.Mechanism:
    """A plane four-bar whose loop is closed at `cut`, with friction in the joint between crank and coupler."""
    b = kp.Builder("four-bar", gravity=(0, -G, 0))
    for name, mass, length in (("crank", 1.0, 0.05), ("output", 2.0, 0.13), ("coupler", 1.5, 0.1)):
        b.link(name, mass=mass, com=(length / 2, 0, 0), inertia=[1e-3 * mass] * 3)
    b.joint("crank", "revolute", "ground", "crank", start=1.0)
    b.joint("output", "revolute", "ground", "output", xyz=[0.15, 0, 0], start=2.0)
    keys = {"xyz": [0.05, 0, 0], "child_xyz": [0.1, 0, 0]}
    if cut == "pin":
        b.joint("coupler", "revolute", "output", "coupler", xyz=[0.13, 0, 0], start=1.5)
        return kp.build(b.loop("pin", "pin", "crank", "coupler", friction=friction, **keys))
    b.joint(
        "pin", "revolute", "crank", "coupler", xyz=[0.05, 0, 0], child_xyz=[-0.1, 0, 0], friction=friction
    )
    return kp.build(b.loop("far", "pin", "output", "coupler", xyz=[0.13, 0, 0]))


FRICTIONS = {
    "level": 0.02,
    "stribeck": {
        "law": "stribeck",
        "level": 0.02,
        "level_static": 0.03,
        "stribeck_speed": 1.0,
        "exponent": 2.0,
    },
    "bearing": {"law": "bearing", "mu": 0.1, "radius": 0.01, "thrust_radius": 0.0, "length": 0.02},
}


@pytest.mark.parametrize("law", FRICTIONS)
def test_friction_of_a_loop_is_that_of_the_same_joint_in_the_tree(law):
    runs, known = {}, {"crank": 1.0}
    for cut in ("pin", "far"):
        m = linkage(cut, FRICTIONS[law])
        q = m.assemble(known, fixed=list(known))
        known = {name: q[m.q_names.index(name)] for name in ("crank", "output")}
        runs[cut] = kp.simulate(m, q, np.zeros(m.nv), duration=0.8, rtol=1e-10, atol=1e-10)
        assert runs[cut].status.name == "done"
        assert runs[cut].balance.relative < 1e-7
    one, other = runs["pin"], runs["far"]
    for name in ("crank", "output"):
        k, n = (x.mechanism.q_names.index(name) for x in (one, other))
        assert np.abs(one.q[:, k] - other.q[:, n]).max() < 1e-6
    assert one.balance.loss == pytest.approx(other.balance.loss, rel=1e-6)
    times = [[x.time for x in run.events if x.name == "pin slides"] for run in (one, other)]
    assert len(times[0]) > 0
    assert times[0] == pytest.approx(times[1], abs=1e-7)


def rod() -> kp.Mechanism:
    b = kp.Builder("rod").link("slide").link("rod", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.joint("z", "prismatic", "ground", "slide", axis="z").joint("turn", "revolute", "slide", "rod", axis="y")
    for name, x in (("left", -0.5), ("right", 0.5)):
        b.stop(name, links=["ground", "rod"], axis="z", child_xyz=[x, 0, 0], lower=0.0)
    return kp.build(b)


@pytest.mark.parametrize("settings", SETTINGS[:3], ids=str)
@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_a_rod_that_lands_on_two_stops_at_once_bounces_straight(law, settings):
    m, lands = rod(), np.sqrt(2 * 0.2 / G)
    limits = kp.Limits("bounce", restitution=0.5, impact=law)
    run = kp.simulate(m, {"z": 0.2, "turn": 0.0}, np.zeros(4), duration=0.35, limits=limits, **settings)
    assert [x.name for x in run.events] == ["left at its lower limit", "right at its lower limit"]
    for hit in run.events:
        assert hit.time == pytest.approx(lands, abs=1e-10)
        assert hit.qd[:2] == pytest.approx([0.5 * G * lands, 0.0], abs=1e-9)


def test_a_stop_between_a_joint_or_links_is_that_of_joint_and_links():
    def ball(**keys):
        b = (
            kp.Builder("ball")
            .link("ball", mass=1.0)
            .joint("z", "prismatic", "ground", "ball", axis="z", start=1.0)
        )
        return kp.build(b.stop("floor", lower=0.0, restitution=0.5, **keys))

    runs = [
        kp.simulate(m, {"z": 1.0}, {"z": 0.0}, duration=1.0, limits="bounce")
        for m in (
            ball(joint="z", slides=True),
            ball(between="z", slides=True),
            ball(links=["ground", "ball"], axis="z"),
            ball(between=["ground", "ball"], axis="z"),
        )
    ]
    for run in runs[1:]:
        assert run.q[-1, 0] == pytest.approx(runs[0].q[-1, 0], abs=1e-12)
        assert len(run.events) == len(runs[0].events) > 1


def test_a_rod_that_lands_on_one_stop_tips_onto_the_other():
    """The second law of Newton about the first stop: ω⁺ = v d/(d² + I/m) at the first impact."""
    m = rod()
    run = kp.simulate(m, {"z": 0.4, "turn": 0.1}, np.zeros(4), duration=2.0, limits="stop")
    first, second = run.events
    assert (first.name, second.name) == ("right at its lower limit", "left at its lower limit")
    d, v = 0.5 * np.cos(0.1), G * first.time
    assert first.qd[1] == pytest.approx(-v * d / (d * d + 0.1 / 2.0), abs=1e-9)
    assert run.q[-1] == pytest.approx(np.zeros(4), abs=1e-12)
    assert run.balance.relative < 1e-9


def table() -> kp.Mechanism:
    b = kp.Builder("table").link("c1").link("c2").link("top", mass=10.0, inertia=(1, 1, 1.5))
    b.joint("z", "prismatic", "ground", "c1", axis="z").joint("rx", "revolute", "c1", "c2", axis="x")
    b.joint("ry", "revolute", "c2", "top", axis="y")
    for k, (x, y) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
        b.stop(f"leg{k}", links=["ground", "top"], axis="z", child_xyz=[0.5 * x, 0.4 * y, 0], lower=0.0)
    return kp.build(b)


def test_a_table_on_four_legs_stands_under_a_load_that_walks_around():
    """The forces in the legs are not unique; while the load is within the feet nothing moves, and no event happens."""

    def load(t, q, qd):
        return np.array([0 * t, 30 * np.sin(2 * t), 30 * np.cos(3 * t), 0 * t, 0 * t, 0 * t, 0 * t])

    run = kp.simulate(table(), np.zeros(7), np.zeros(7), duration=10.0, limits="stop", torque=load)
    assert run.status.name == "done"
    assert not run.events
    assert np.abs(run.q).max() < 1e-12


def test_a_table_tips_where_the_load_leaves_its_feet():
    """A moment about y that grows by 10 N m/s tips it at m g 0.5."""
    run = kp.simulate(
        table(),
        np.zeros(7),
        np.zeros(7),
        duration=5.2,
        limits="stop",
        torque=([0.0, 10.0], [[0.0] * 7, [0, 0, 100.0, 0, 0, 0, 0]]),
    )
    names = {x.name for x in run.events}
    assert names == {"leg2 leaves its lower limit", "leg3 leaves its lower limit"}
    assert run.events[0].time == pytest.approx(10.0 * G * 0.5 / 10.0, abs=1e-7)


def test_a_slider_in_two_guides_stays_where_both_hold_it():
    """8 N against two levels of 5 N, whose shares are not unique."""
    b = kp.Builder("slider", gravity=(0, 0, 0)).link("slider", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.joint("rail", "prismatic", "ground", "slider", axis="x", friction=5.0)
    m = kp.build(b.loop("second", "prismatic", "ground", "slider", axis="x", friction=5.0))
    run = kp.simulate(m, np.zeros(2), np.zeros(2), duration=10.0, torque=np.array([8.0, 0.0]))
    assert run.status.name == "done"
    assert not run.events
    assert np.abs(run.q).max() == 0.0
    run = kp.simulate(m, np.zeros(2), np.zeros(2), duration=1.0, torque=np.array([12.0, 0.0]))
    assert run.q[-1] == pytest.approx([0.5, 0.5], abs=1e-9)


def cradle() -> kp.Mechanism:
    b = kp.Builder("cradle", gravity=(0, 0, 0))
    for k in range(5):
        b.link(f"b{k}", mass=1.0).joint(f"x{k}", "prismatic", "ground", f"b{k}", axis="x")
    for k in range(4):
        b.stop(f"gap{k}", links=[f"b{k}", f"b{k + 1}"], axis="x", lower=0.0)
    return kp.build(b)


def struck(distance: float, law: str) -> kp.Result:
    m = cradle()
    q = {f"x{k}": distance * k - 0.3 * (k == 0) for k in range(5)}
    qd = {f"x{k}": float(k == 0) for k in range(5)}
    limits = kp.Limits("bounce", restitution=1.0, impact=law)
    return kp.simulate(m, q, qd, duration=1.0, limits=limits)


def test_balls_of_a_cradle_with_gaps_hand_on_the_speed_one_after_the_other():
    run = struck(0.1, "newton")
    assert run.qd[-1, :5] == pytest.approx([0, 0, 0, 0, 1.0], abs=1e-12)
    assert len(run.events) == 4


@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_balls_of_a_cradle_that_touch_are_struck_at_once(law):
    """All impacts are simultaneous: energy and momentum stay, and the struck balls move together."""
    run = struck(0.0, law)
    assert run.qd[-1, :5] == pytest.approx([-0.6, 0.4, 0.4, 0.4, 0.4], abs=1e-12)
    assert run.balance.relative < 1e-12


def test_a_clutch_and_a_stop_in_a_file(tmp_path):
    path = tmp_path / "shafts.toml"
    path.write_text(
        """
gravity = [0, 0, 0]
[[link]]
name = "A"
mass = 1.0
inertia = [0.1, 0.1, 0.2]
[[link]]
name = "B"
mass = 1.0
inertia = [0.15, 0.15, 0.25]
[[joint]]
name = "a"
kind = "revolute"
parent = "ground"
child = "A"
[[joint]]
name = "b"
kind = "revolute"
parent = "ground"
child = "B"
[[clutch]]
name = "disc"
joints = ["a", "b"]
level = 5.0
[[stop]]
name = "end"
joint = "b"
upper = 2.0
""",
        "utf-8",
    )
    m = kp.load(path)
    assert m.q_names == ("a", "b", "disc", "end")
    run = kp.simulate(m, np.zeros(4), {"a": SPEED, "b": 0.0}, duration=2.0, limits="stop")
    hit = next(x for x in run.events if x.name == "end at its upper limit")
    assert hit.q[1] == pytest.approx(2.0, abs=1e-10)
    assert run.qd[-1, 1] == pytest.approx(0.0, abs=1e-12)
