"""Laws of contact by time stepping: rest stays rest, friction, restitution, energy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kinpair as kp
from kinpair.simulation.loops import loop_of

G = 9.81


def body(shape, *, mu=0.5, restitution=0.0, height=0.05, slope=0.0, **surface):
    """A free body of 1 kg on a plane that is inclined by `slope` [rad] about y: gravity is turned, not the plane."""
    b = kp.Builder("body", gravity=[G * np.sin(slope), 0.0, -G * np.cos(slope)])
    b.link("body", mass=1.0, inertia=[0.002] * 3)
    b.joint("free", "free", "ground", "body", start=[0, 0, height, 0, 0, 0, 1])
    b.contact("floor", "ground", plane=True, mu=mu, restitution=restitution, **surface)
    b.contact("shape", "body", **shape)
    return kp.build(b)


BOX, BALL = {"box": [0.1, 0.1, 0.1]}, {"sphere": 0.05}


def run(m, qd=None, **options):
    rates = np.zeros(m.nv) if qd is None else np.array(qd, dtype=float)
    return kp.simulate(m, m.start(), rates, **{"integrator": "time-stepping", "dt": 1e-3, **options})


def total(result):
    return result.energy.kinetic + result.energy.potential


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_a_block_on_an_incline_does_not_creep(dt):
    result = run(body(BOX, slope=np.radians(15)), duration=10.0, dt=dt, output=1.0)
    assert np.abs(result.q - result.q[0]).max() <= 1e-12


@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_a_block_that_slides_comes_to_rest_after_v_squared_over_two_mu_g(theta):
    m, v, mu = body(BOX, mu=0.5), 1.0, 0.5
    exact, errors = v * v / (2 * mu * G), []
    for dt in (4e-3, 2e-3, 1e-3):
        result = run(m, [0, 0, 0, v, 0, 0], duration=0.5, dt=dt, output=0.5, theta=theta)
        errors.append(abs(result.q[-1, 0] - exact))
        assert np.abs(result.qd[-1]).max() < 1e-12
    # of first order with θ = 1; with θ = ½ only the last step, in which it stops, is off: of second order
    assert errors[-1] < (1.1 * v * 1e-3 / 2 if theta == 1.0 else mu * G * 1e-6)


def test_a_ball_that_slides_rolls_at_five_sevenths_of_its_speed():
    r, mu = 0.05, 0.2
    b = kp.Builder("ball")
    b.link("ball", mass=1.0, inertia=[0.4 * r * r] * 3)
    b.joint("free", "free", "ground", "ball", start=[0, 0, r, 0, 0, 0, 1])
    b.contact("floor", "ground", plane=True, mu=mu).contact("ball", "ball", sphere=r)
    m = kp.build(b)
    result = run(m, [0, 0, 0, 1.0, 0, 0], duration=1.0, output=0.1)
    v = np.linalg.norm(result.qd[-1, 3:])
    assert abs(v - 5 / 7) < 1e-4
    assert (
        np.abs(result.q[:, 2] - r).max() < G * 1e-3**2
    )  # of second order: it slides while it begins to turn


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_a_ball_bounces_to_e_squared_of_its_height(restitution):
    height, r = 0.5, 0.05
    m = body(BALL, restitution=restitution, height=height + r)
    result = run(m, duration=1.2, output=1e-3)
    up = 2 * np.sqrt(2 * height / G) * restitution
    bounce = (result.time > np.sqrt(2 * height / G)) & (result.time < np.sqrt(2 * height / G) + up)
    assert_allclose(result.q[bounce, 2].max() - r, restitution**2 * height, rtol=2e-3)


SHAPES = {"box": BOX, "ball": BALL, "capsule": {"capsule": [0.03, 0.1]}}


def no_energy_gained(shape, rows, seed):
    """Land bodies with random positions and rates; energy falls, up to what the positions of a step do not resolve."""
    m, rng, h = body(shape, mu=0.4, restitution=0.3), np.random.default_rng(seed), 1e-3
    turned = rng.normal(size=(rows, 4))
    start = np.hstack(
        [np.zeros((rows, 2)), np.full((rows, 1), 0.3), turned / np.linalg.norm(turned, axis=1)[:, None]]
    )
    rates = rng.normal(size=(rows, 6))
    result = kp.simulate(m, start, rates, duration=1.0, integrator="time-stepping", dt=h, output=0.05)
    assert result.status.ok
    E = total(result)
    assert (np.diff(E, axis=1) <= G * h * np.abs(result.qd).max()).all()  # m g h v
    assert (E[:, -1] < E[:, 0]).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_random_landings_never_gain_energy(shape):
    no_energy_gained(SHAPES[shape], 64, 7)


@pytest.mark.long("10 000 landings")
@pytest.mark.parametrize("seed", range(7))
@pytest.mark.parametrize("shape", SHAPES)
def test_many_random_landings_never_gain_energy(shape, seed):
    no_energy_gained(SHAPES[shape], 480, seed)


def test_a_row_of_a_batch_without_numbers_leaves_the_others_alone():
    m = body(BOX, height=0.2)
    q, qd = np.tile(m.start(), (6, 1)), np.zeros((6, 6))
    s = kp.stepper(m, 1e-3, batch=6, integrator="time-stepping")
    s.reset(q, qd)
    s.qd[2, 0] = np.nan
    s.step(steps=300)
    one = kp.stepper(m, 1e-3, integrator="time-stepping")
    one.step(steps=300)
    assert np.flatnonzero(s.failed).tolist() == [2]
    for row in (0, 1, 3, 4, 5):
        assert (s.q[row] == one.q).all()


def test_more_points_than_there_is_room_for_end_a_run_by_name():
    b = kp.Builder("block", max_contacts=3)
    b.link("block", mass=1.0, inertia=[0.002] * 3)
    b.joint("free", "free", "ground", "block", start=[0, 0, 0.05, 0, 0, 0, 1])
    b.contact("floor", "ground", plane=True).contact("shape", "block", box=[0.1] * 3)
    m = kp.build(b)
    with pytest.warns(kp.RunWarning, match="max_contacts"):
        result = run(m, duration=0.1)
    assert result.status.name == "full"


def test_a_motion_with_more_points_than_room_has_no_numbers_after_it_and_others_go_on():
    b = kp.Builder("body", max_contacts=2)
    b.link("body", mass=1.0, inertia=[0.002] * 3)
    b.joint("free", "free", "ground", "body", start=[0, 0, 1.0, 0, 0, 0, 1])
    b.contact("floor", "ground", plane=True).contact("shape", "body", **BOX)
    s = kp.stepper(kp.build(b), 1e-3, batch=2, integrator="time-stepping")
    s.reset([[0, 0, 1.0, 0, 0, 0, 1], [0, 0, 0.0505, 0, 0, 0, 1]], np.zeros((2, 6)))
    s.step(steps=10)
    assert s.failed.tolist() == [False, True]
    assert np.isnan(s.qd[1]).all()
    assert_allclose(s.qd[0], [0, 0, 0, 0, 0, -G * 0.01], atol=1e-14)


@pytest.mark.parametrize("damping", [0.1, 10.0, 1e4])
def test_damping_is_that_of_the_end_of_a_step(damping):
    """v⁺ = v⁻/(1 + h c/I), however strong the damper is; in a chain (M + h C) v⁺ = M v⁻ without gravity."""
    b = kp.Builder("chain", gravity=[0, 0, 0])
    for k, parent in enumerate(("ground", "link 0", "link 1")):
        b.link(f"link {k}", mass=1.0, com=[0.2, 0, 0], inertia=[0.01] * 3)
        b.joint(
            f"hinge {k}",
            "revolute",
            parent,
            f"link {k}",
            axis="z",
            xyz=[0.4 * (k > 0), 0, 0],
            damping=damping,
        )
    m, h, v = kp.build(b), 1e-3, 1e-6 * np.array([1.0, -2.0, 3.0])
    result = kp.simulate(m, m.start(), v, duration=h, dt=h, integrator="time-stepping")
    M = m.mass_matrix(m.start())
    assert_allclose(result.qd[-1], np.linalg.solve(M + h * damping * np.eye(3), M @ v), rtol=1e-9, atol=1e-16)


def test_a_regulator_damps_as_a_damper_of_the_joint_does():
    def chain(damping):
        b = kp.Builder("arm")
        for k, parent in enumerate(("ground", "link 0")):
            b.link(f"link {k}", mass=1.0, com=[0.2, 0, 0], inertia=[1e-4] * 3)
            b.joint(
                f"hinge {k}",
                "revolute",
                parent,
                f"link {k}",
                axis="y",
                xyz=[0.4 * (k > 0), 0, 0],
                damping=damping,
            )
        return kp.build(b)

    options = {"duration": 0.5, "dt": 1e-3, "integrator": "time-stepping", "output": 0.1}
    passive, bare = chain(5.0), chain(0.0)
    with_damper = kp.simulate(passive, [0.3, 0.2], [1.0, -1.0], **options)
    with_torque = kp.simulate(bare, [0.3, 0.2], [1.0, -1.0], torque=lambda time, q, qd: -5.0 * qd, **options)
    assert_allclose(with_torque.q, with_damper.q, atol=1e-12)
    exact = kp.simulate(passive, [0.3, 0.2], [1.0, -1.0], duration=0.5, integrator="dop853", output=0.1)
    assert_allclose(with_damper.q, exact.q, atol=2e-3)


def spheres(speeds, places, max_contacts=None, wall=None):
    """Spheres of 0.1 m and 1 kg that slide along x, without gravity, and a wall at x = `wall`; with their rates."""
    b = kp.Builder(
        "spheres", gravity=[0, 0, 0], **({} if max_contacts is None else {"max_contacts": max_contacts})
    )
    for k, x in enumerate(places):
        b.link(f"ball {k}", mass=1.0, inertia=[0.01] * 3)
        b.joint(f"ball {k}", "prismatic", "ground", f"ball {k}", axis="x", start=x)
        b.contact(f"shell {k}", f"ball {k}", sphere=0.1)
    if wall is not None:
        b.contact("wall", "ground", plane=True, xyz=[wall, 0, 0], rpy=[0, -np.pi / 2, 0])
    return kp.build(b), np.array(speeds, dtype=float)


@pytest.mark.parametrize("speed", [1.0, 50.0, 200.0])
def test_points_that_an_impact_closes_in_the_same_step_are_found(speed):
    """A ball at rest, 30 mm from a wall, is struck: it does not enter the wall, whatever its speed after the impact."""
    m, qd = spheres([speed, 0.0], [0.0, 0.2 + 1e-4], wall=0.3 + 1e-4 + 0.03)
    result = run(m, qd, duration=0.1, output=1e-3)
    assert result.contacts.depth.max() <= 1e-9
    assert_allclose(result.qd[-1], 0.0, atol=1e-9)


def test_points_that_no_body_approaches_are_not_counted():
    """Ten balls fly together, 4 mm apart: no pair needs room, though each moves farther than the gap in a step."""
    count = 10
    m, qd = spheres([100.0] * count, 0.204 * np.arange(count), max_contacts=1)
    result = run(m, qd, duration=0.05, output=0.01)
    assert result.status.ok
    assert_allclose(result.qd[-1], qd, rtol=1e-14)


def test_the_code_of_a_step_does_not_grow_with_pairs_and_room_for_points():
    def size(count):
        b = kp.Builder("spheres", max_contacts=4 * count)
        b.link("body", mass=1.0, inertia=[0.01] * 3).joint("free", "free", "ground", "body")
        for k in range(count):
            b.contact(f"shell {k}", "body", sphere=0.01, xyz=[0.03 * k, 0, 0])
            b.contact(f"floor {k}", "ground", plane=True, xyz=[0, 0, -0.1 * k])
        of = kp.stepper(kp.build(b), 1e-3, integrator="time-stepping")._run
        return len(loop_of(of.d, of.integrator, of.torque, False, None, False).text())

    assert size(30) <= 1.02 * size(10)


def test_a_belt_that_is_driven_does_the_work_of_the_friction_on_it():
    """A ball falls to rolling on it: its velocity changes by 2/7 of the sliding, and the work is v J."""
    speed, across = 2.0, 1.0
    b = (
        kp.Builder("belt")
        .link("belt", mass=1, inertia=[1] * 3)
        .link("ball", mass=1, inertia=[0.4 * 0.01] * 3)
    )
    b.joint("belt", "prismatic", "ground", "belt", axis="x")
    b.joint("free", "free", "ground", "ball", start=[0, 0, 0.1, 0, 0, 0, 1])
    b.contact("band", "belt", plane=True, mu=0.3).contact("shell", "ball", sphere=0.1)
    m = kp.build(b.drive("motor", "belt", f"{speed}*t"))
    run = kp.simulate(m, qd=m.velocities(m.start(), {"free": [0, 0, 0, 0, across, 0]}), duration=0.5, dt=2e-4)
    assert run.status.ok
    assert_allclose(run.work[-1], speed * speed * 2 / 7, rtol=5e-3)
    assert run.balance.relative < 2e-3
