"""Laws of contact by events: closed forms of landing, sliding, bouncing, rolling, slipping and Painlevé's rod."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kinpair as kp

G = 9.81
BOX, BALL = {"box": [0.1, 0.1, 0.1]}, {"sphere": 0.05}


def body(shape, *, mu=0.5, restitution=0.0, height=0.05, slope=0.0, inertia=0.002, **surface):
    """A free body of 1 kg on a plane that is inclined by `slope` [rad]: gravity is turned, not the plane."""
    b = kp.Builder("body", gravity=[G * np.sin(slope), 0.0, -G * np.cos(slope)])
    b.link("body", mass=1.0, inertia=[inertia] * 3)
    b.joint("free", "free", "ground", "body", start=[0, 0, height, 0, 0, 0, 1])
    b.contact("floor", "ground", plane=True, mu=mu, restitution=restitution, **surface)
    b.contact("shape", "body", **shape)
    return kp.build(b)


def planar(name, mass, inertia, points, mu, wall=False):
    """A body that moves in the plane x, z, with points that touch the floor, and with a smooth wall at x = 0."""
    b = kp.Builder(name)
    b.link("sx").link("sz").link("body", mass=mass, inertia=[inertia] * 3)
    b.joint("x", "prismatic", "ground", "sx", axis=[1, 0, 0]).joint(
        "z", "prismatic", "sx", "sz", axis=[0, 0, 1]
    )
    b.joint("turn", "revolute", "sz", "body", axis=[0, 1, 0])
    b.contact("floor", "ground", plane=True, mu=mu)
    if wall:
        b.contact("wall", "ground", plane=True, rpy=[0, np.pi / 2, 0])
    for point, xyz in points.items():
        b.contact(point, "body", point=True, xyz=xyz)
    if wall:
        b.contact_pair("foot", "floor", mu=mu).contact_pair("head", "wall", mu=0.0)
    return kp.build(b)


def woodpecker():
    """A sleeve that slides and tilts on a pole, and a bird on a spring whose beak strikes the pole."""
    b = kp.Builder("woodpecker").link("slide").link("sleeve", mass=3e-4, inertia=[5e-9] * 3)
    b.link("bird", mass=4.5e-3, inertia=[7e-7] * 3, com=[0.015, 0, 0])
    b.joint("height", "prismatic", "ground", "slide").joint("tilt", "revolute", "slide", "sleeve", axis="-y")
    b.joint("nod", "revolute", "sleeve", "bird", axis="-y", xyz=[0.01, 0, 0], stiffness=0.0056)
    b.contact("pole", "ground", cylinder=[0.0025, 8.0])
    b.contact("high", "sleeve", point=True, xyz=[0.0031, 0, 0.0058], mu=0.3)
    b.contact("low", "sleeve", point=True, xyz=[0.0031, 0, -0.0058], mu=0.3)
    b.contact("beak", "bird", point=True, xyz=[-0.0051, 0, 0.02], mu=0.3, restitution=0.5)
    return kp.build(b)


def run(m, qd=None, q=None, **options):
    rates = np.zeros(m.nv) if qd is None else np.array(qd, dtype=float)
    return kp.simulate(m, m.start() if q is None else q, rates, **{"integrator": "dop853", **options})


def times(result, word):
    return np.array([x.time for x in result.events if x.name.endswith(word)])


def test_a_block_on_an_incline_does_not_creep():
    result = run(body(BOX, slope=np.radians(15)), duration=10.0, output=1.0)
    assert np.abs(result.q - result.q[0]).max() <= 1e-12


def test_a_block_on_a_steep_incline_slides_by_its_own_law():
    slope, mu, t = np.radians(30), 0.5, 1.0
    result = run(body(BOX, slope=slope, mu=mu), duration=t, output=0.1)
    a = G * (np.sin(slope) - mu * np.cos(slope))
    assert_allclose(result.q[:, 0], 0.5 * a * result.time**2, atol=1e-9)
    assert result.balance.relative < 1e-9


def test_a_block_that_slides_stops_after_v_squared_over_two_mu_g():
    v, mu = 1.0, 0.5
    result = run(body(BOX, mu=mu), [0, 0, 0, v, 0, 0], duration=0.5, output=0.1)
    assert_allclose(result.q[-1, 0], v * v / (2 * mu * G), atol=1e-9)
    assert_allclose(times(result, "sticks"), [v / (mu * G)], atol=1e-9)
    assert_allclose(result.contacts.friction_loss[-1], 0.5 * v * v, rtol=1e-9)


def test_static_friction_holds_beyond_sliding_friction():
    slope = np.radians(25)  # tan = 0.466
    m = body(BOX, slope=slope, mu=0.4, mu_static=0.5)
    assert np.abs(run(m, duration=1.0, output=1.0).q[-1, 0]) < 1e-12
    moves = run(m, [0, 0, 0, 0.1, 0, 0], duration=1.0, output=1.0)
    a = G * (np.sin(slope) - 0.4 * np.cos(slope))
    assert_allclose(moves.q[-1, 0], 0.1 + 0.5 * a, atol=1e-9)


@pytest.mark.parametrize("integrator", ["dop853", "dopri5", "rk4"])
@pytest.mark.parametrize("rate", [1.0, 3.0])
def test_a_force_that_grows_moves_a_block_from_where_it_is_as_large_as_friction(integrator, rate):
    """At that time the acceleration is still zero; beyond it grows as the force does."""
    m, mu = planar("block", 1.0, 0.01, {"foot": [0, 0, 0]}, 0.5), 0.5
    begin = mu * G / rate
    table = (np.array([0.0, 40.0]), np.array([[0.0] * 3, [40.0 * rate, 0.0, 0.0]]))
    result = run(m, duration=begin + 1.0, output=1.0, torque=table, integrator=integrator, dt=1e-3)
    assert_allclose(times(result, "slides"), [begin], atol=1e-9)
    assert_allclose(result.q[-1, 0], rate / 6.0, atol=1e-9)


@pytest.mark.parametrize("integrator", ["dop853", "rk4"])
def test_a_sleeve_leaves_its_pole_where_its_force_is_zero(integrator):
    """A woodpecker on a pole (Pfeiffer 1984): impacts, rest by friction, sliding and separation, as time steps have."""
    m = woodpecker()
    at = {"q": [0.0, -0.1, -0.2], "qd": [-0.3411, 0.0, -7.4583], "duration": 0.15, "output": 0.01}
    exact = run(m, **at, integrator=integrator, dt=1e-4)
    steps = run(m, **at, integrator="time-stepping", dt=5e-6)
    assert {x.name.split()[-1] for x in exact.events} == {"lands", "sticks", "slides", "lifts"}
    assert (exact.contacts.points["low on pole #0"].force[:, 0] >= -1e-12).all()
    assert np.abs(exact.q - steps.q).max() < 2e-4


def test_a_ball_bounces_at_the_times_of_newtons_law_and_rests_from_the_limit_of_them_on():
    e, height, r = 0.5, 0.5, 0.05
    result = run(body(BALL, restitution=e, height=height + r), duration=2.0, output=0.1)
    first = np.sqrt(2 * height / G)
    bounces = first + 2 * first * np.cumsum([0.0, *(e**k for k in range(1, 9))])
    landed = times(result, "lands")
    assert_allclose(landed[:9], bounces, atol=1e-9)
    assert_allclose(times(result, "comes to rest"), [first * (1 + e) / (1 - e)], atol=1e-9)
    rests = result.time > first * (1 + e) / (1 - e)
    assert_allclose(result.q[rests, 2], r, atol=1e-12)
    assert np.abs(result.qd[rests]).max() == 0.0


def test_a_ball_that_slides_rolls_at_five_sevenths_of_its_speed():
    r, mu = 0.05, 0.2
    m = body(BALL, mu=mu, inertia=0.4 * r * r)
    result = run(m, [0, 0, 0, 1.0, 0, 0], duration=1.0, output=0.1)
    assert_allclose(np.linalg.norm(result.qd[-1, 3:]), 5 / 7, atol=1e-9)
    assert_allclose(times(result, "sticks"), [2 / 7 / (mu * G)], atol=1e-9)


@pytest.mark.parametrize("beyond", [1e-9, -1e-9])
def test_a_ladder_slips_at_its_angle(beyond):
    mu, L = 0.4, 2.0
    m = planar("ladder", 1.0, L * L / 12, {"foot": [L / 2, 0, 0], "head": [-L / 2, 0, 0]}, mu, wall=True)
    angle = np.arctan(1 / (2 * mu)) - beyond  # with a smooth wall it slips below tan α = 1/(2 μ)
    q = np.array([L / 2 * np.cos(angle), L / 2 * np.sin(angle), angle])
    moved = np.abs(run(m, q=q, duration=1.0, output=1.0).q[-1] - q).max()
    assert moved > 1e-9 if beyond > 0 else moved < 1e-12


def test_painleves_rod_jumps_without_collision_and_loses_energy():
    l, mu, tilt = 0.5, 2.0, np.radians(30)  # 1 + 3 sin(tilt) (sin(tilt) − μ cos(tilt)) < 0: no forces exist
    m = planar("rod", 1.0, l * l / 3, {"tip": [0, 0, -l]}, mu)
    q = np.array([0.0, l * np.cos(tilt), tilt])
    result = run(m, [-3.0, 0.0, 0.0], q=q, duration=0.1, output=0.05)
    assert result.status.ok
    assert result.events[0].name == "impact without collision of tip on floor"
    assert result.events[0].time == 0.0
    assert result.contacts.impact_loss[-1] > 0.0
    assert result.balance.relative < 1e-6


def test_a_tumbling_box_comes_to_rest_and_its_energy_adds_up():
    m = body(BOX, restitution=0.2, height=0.3)
    q = m.start()
    q[3:] = np.array([0.1, 0.2, 0.05, 0.97]) / np.linalg.norm([0.1, 0.2, 0.05, 0.97])
    result = run(m, [1.0, 2.0, 0.5, 0.5, 0.0, 0.0], q=q, duration=2.0, output=0.05)
    assert result.status.ok
    assert np.abs(result.qd[-1]).max() < 1e-12
    assert_allclose(result.q[-1, 2], 0.05, atol=1e-9)
    assert result.balance.relative < 1e-9


@pytest.mark.parametrize("case", ["slides", "lands", "rolls"])
def test_time_steps_converge_to_events(case):
    cases = {
        "slides": (body(BOX, slope=np.radians(20)), [0, 0, 0, 1.0, 0.5, 0], 0.5),
        "lands": (body(BOX, height=0.2), [0, 0, 0, 0.5, 0, 0], 0.5),
        "rolls": (body(BALL, mu=0.2, inertia=0.001), [0, 0, 0, 1.0, 0.0, 0], 0.5),
    }
    m, qd, duration = cases[case]
    exact = run(m, qd, duration=duration, output=duration / 50)
    fastest = np.abs(exact.qd).max()
    for dt in (4e-3, 1e-3, 2.5e-4):
        steps = run(m, qd, duration=duration, output=duration, integrator="time-stepping", dt=dt)
        assert np.abs(steps.q[-1] - exact.q[-1]).max() < fastest * dt  # of first order


def test_what_contact_by_events_does_not_take_is_rejected_by_name():
    m = body(BOX)
    with pytest.raises(kp.InputError, match="does not take a batch"):
        kp.simulate(m, np.tile(m.start(), (2, 1)), np.zeros((2, 6)), duration=0.1, integrator="rk4", dt=1e-3)
    with pytest.raises(kp.InputError, match="does not see them"):
        run(m, duration=0.1, integrator="cvode")


@pytest.mark.parametrize("integrator", ["rk4", "dopri5", "dop853"])
def test_a_box_that_slides_stops_by_fixed_steps_too(integrator):
    mu, v = 0.3, 1.5
    block = kp.Builder("block").link("block", mass=1.0, inertia=[0.002] * 3)
    block.joint("free", "free", "ground", "block", start=[0, 0, 0.05, 0, 0, 0, 1])
    block.contact("floor", "ground", plane=True, mu=mu).contact("body", "block", box=[0.2, 0.2, 0.1])
    m = kp.build(block)
    run = kp.simulate(m, m.start(), [0, 0, 0, v, 0, 0], duration=1.0, integrator=integrator, dt=1e-3)
    assert run.status.ok
    assert abs(run.q[-1, 0] - v**2 / (2 * mu * 9.81)) < 1e-8
    assert [x.name for x in run.events] == ["body on floor sticks"]
    assert abs(run.events[0].time - v / (mu * 9.81)) < 1e-8


@pytest.mark.parametrize("dt", [2e-3, 1e-3, 1e-4])
def test_an_arm_at_its_limit_rests_on_a_plane_by_fixed_steps_as_by_adaptive_ones(dt):
    """Limit, normal and tangent are three rows on two rates: forces that hold are not unique."""
    arm = kp.Builder("arm").link("upper", mass=1.0, com=[0.25, 0, 0], inertia=[0.01] * 3)
    arm.joint("a", "revolute", "ground", "upper", axis="y", xyz=[0, 0, 0.3], lower=-0.2, upper=0.5)
    arm.link("lower", mass=0.5, com=[0.2, 0, 0], inertia=[0.005] * 3)
    arm.joint("b", "revolute", "upper", "lower", axis="y", xyz=[0.5, 0, 0])
    arm.contact("floor", "ground", plane=True, mu=0.5).contact("tip", "lower", sphere=0.02, xyz=[0.4, 0, 0])
    m = kp.build(arm)
    run = kp.simulate(m, [0, 0], [0, 0], duration=0.5, integrator="rk4", dt=dt)
    adaptive = kp.simulate(m, [0, 0], [0, 0], duration=0.5, integrator="dop853", rtol=1e-12, atol=1e-12)
    assert run.status.ok
    assert np.abs(run.q[-1] - adaptive.q[-1]).max() < 1e-9
    assert np.abs(run.qd[-1]).max() < 1e-12
