"""Laws of inverse kinematics: the frame is where it was wanted, loops are closed, limits kept, preferences met."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from closed import start
from families import family
from kinpair.spatial.rotation import about
from robots import urdf

TOOLS = {"ur5_robot": "tool0", "panda": "panda_hand", "xarm7": "link7"}
MOVE = np.array([0.05, -0.03, 0.04])
LEG = 0.685701587473958  # of the bundled platform, where its slides are zero [m]
REACHED = 1e-8  # what a singular position leaves; others are met to rounding


@pytest.fixture(scope="module")
def robot():
    made = {}
    return lambda name: made.setdefault(name, kp.load(urdf(name)))


def limits(m):
    low, high = m.model.joints.lower, m.model.joints.upper
    return np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)


def check(m, q, frame, rotation=None, position=None):
    found = m.pose(q, frame)
    if rotation is not None:
        assert np.abs(found.rotation - rotation).max() < REACHED
    if position is not None:
        assert np.abs(found.position - position).max() < REACHED


@pytest.mark.parametrize(
    "family_of",
    family(
        [(name, poses) for name in TOOLS for poses in (300, 10_000)],
        [f"{name} 300" for name in TOOLS],
        "ten thousand poses",
        name=lambda x: f"{x[0]} {x[1]}",
    ),
)
def test_reachable_poses_are_reached_within_limits_from_one_start(robot, family_of):
    name, poses = family_of
    m, frame = robot(name), TOOLS[name]
    low, high = limits(m)
    target = m.pose(np.random.default_rng(7).uniform(low, high, (poses, m.nq)), frame)
    try:
        q = m.inverse_kinematics((low + high) / 2, frame, target.position, target.rotation)
        reached = np.ones(poses, dtype=bool)
    except kp.SingularError as refused:
        q, reached = refused.parts["q"], refused.parts["reached"]
    assert reached.mean() >= 0.995
    check(m, q[reached], frame, target.rotation[reached], target.position[reached])
    assert (q >= low - 1e-9).all()
    assert (q <= high + 1e-9).all()


def test_many_at_once_are_each_as_alone(robot):
    m, frame = robot("panda"), "panda_hand"
    low, high = limits(m)
    draws = np.random.default_rng(2)
    target = m.pose(draws.uniform(low, high, (9, m.nq)), frame)
    guesses = draws.uniform(low, high, (9, m.nq))
    together = m.inverse_kinematics(guesses, frame, target.position, target.rotation)
    for k, q in enumerate(together):
        alone = m.inverse_kinematics(guesses[k], frame, target.position[k], target.rotation[k])
        assert np.array_equal(q, alone)


def test_the_reference_finds_the_same():
    m = kp.example("stanford-arm")
    q = np.array([0.2, 1.1, 0.6, -0.3, 0.7, 0.4])
    target = m.pose(q + 0.1, "link6")
    compiled, reference = (
        x.inverse_kinematics(q, "link6", target.position, target.rotation) for x in (m, m.reference)
    )
    assert compiled == pytest.approx(q + 0.1, abs=1e-9)
    assert reference == pytest.approx(compiled, abs=1e-9)


def test_positions_alone_axes_alone_and_free_entries():
    m = kp.example("stanford-arm")
    q = np.array([0.2, 1.1, 0.6, -0.3, 0.7, 0.4])
    there = m.pose(q, "link6").position + MOVE
    check(m, m.inverse_kinematics(q, "link6", there), "link6", position=there)
    only_z = m.pose(m.inverse_kinematics(q, "link6", [None, None, there[2]]), "link6").position
    assert only_z[2] == pytest.approx(there[2], abs=1e-12)
    down = m.inverse_kinematics(q, "link6", there, axis=((0, 0, 1), (0, 0, -2)))
    check(m, down, "link6", position=there)
    assert m.pose(down, "link6").rotation[:, 2] == pytest.approx([0, 0, -1], abs=1e-12)
    sideways = m.pose(m.inverse_kinematics(q, "link6", axis=((1, 0, 0), (0, 1, 0))), "link6").rotation
    assert sideways[:, 0] == pytest.approx([0, 1, 0], abs=1e-12)


def test_two_hands_at_once_and_a_joint_that_stays():
    m = kp.example("two-handed-arm")
    q = m.start() + 0.3
    hands = [x for x in m.frames if "hand" in x][:2]
    wanted = {x: kp.Target(position=m.pose(q + 0.1, x).position) for x in hands}
    found = m.inverse_kinematics(q, wanted)
    for frame, target in wanted.items():
        check(m, found, frame, position=target.position)
    held = m.joint_names[0]
    wanted = {x: kp.Target(position=m.pose(q + 0.05 * (np.arange(m.nq) > 0), x).position) for x in hands}
    found = m.inverse_kinematics(q, wanted, fixed=[held])
    assert found[0] == q[0]
    for frame, target in wanted.items():
        check(m, found, frame, position=target.position)


def test_legs_of_a_platform_have_the_lengths_between_their_ends():
    """A second road: a leg is as long as its ends are apart in the wanted pose."""
    m, q0 = kp.example("stewart"), start("stewart")
    rotation, position = m.pose(q0, "platform")
    turn = about(np.array([0.3, -0.2, 0.9]) / np.sqrt(0.94), 0.2)
    q = m.inverse_kinematics(q0, "platform", position + MOVE, turn @ rotation)
    check(m, q, "platform", turn @ rotation, position + MOVE)
    assert np.abs(m.constraint_residual(q)).max() < 1e-12
    for k, loop in enumerate(m.model.description.constraints):
        moved = position + MOVE + turn @ rotation @ np.array(loop.child_origin.xyz)
        foot = m.pose(q, f"cylinder{k + 1}").position
        assert np.linalg.norm(moved - foot) == pytest.approx(
            LEG + q[m.q_names.index(f"slide{k + 1}")], abs=1e-12
        )


@pytest.mark.parametrize(("name", "along"), [("delta", (1, 1, 1)), ("three-rrr", (1, 1, 0))])
def test_platforms_of_closed_mechanisms_go_where_they_are_wanted(name, along):
    m, q0 = kp.example(name), start(name)
    home = m.pose(q0, "platform")
    moves = np.random.default_rng(3).uniform(-0.03, 0.03, (20, 3)) * along
    q = m.inverse_kinematics(q0, "platform", home.position + moves)
    check(m, q, "platform", position=home.position + moves)
    assert np.abs(m.constraint_residual(q)).max() < 1e-12


def test_the_nearest_place_of_what_is_out_of_reach():
    """Two links of 0.3 and 0.2 m reach 0.5 m."""
    b = kp.Builder("arm")
    for name, parent, x in (("shoulder", "ground", 0.0), ("elbow", "shoulder", 0.3)):
        b.link(name, mass=1, com=[0.1, 0, 0], inertia=[0.01, 0.01, 0.01])
        b.joint(name, "revolute", parent, name, axis="z", xyz=[x, 0, 0])
    m = kp.build(b.frame("tip", "elbow", xyz=[0.2, 0, 0]))
    with pytest.raises(kp.SingularError) as caught:
        m.inverse_kinematics([0.1, 0.5], "tip", [0.6, 0.8, 0.0])
    assert caught.value.parts["left"]["tip [m]"] == pytest.approx(0.5, abs=1e-6)
    assert str(caught.value) == (
        "arm: 'tip' cannot be brought there from this q: 0.5 m are left at the nearest place found; the target is out "
        "of reach, or needs a guess nearer to it"
    )


def test_least_energy_is_the_step_weighed_by_the_mass_matrix(robot):
    """For a small step: H⁻¹Jᵀ(J H⁻¹Jᵀ)⁻¹ Δx, off by its square."""
    m, frame = robot("ur5_robot"), "tool0"
    q = np.array([0.3, -0.9, 1.2, 0.4, -0.8, 0.2])
    move = 1e-4 * np.array([1.0, -2.0, 1.5])
    J = m.jacobian(q, frame)[3:]
    rates = m.inverse_kinematics(q, frame, m.pose(q, frame).position + move) - q
    energy = m.inverse_kinematics(q, frame, m.pose(q, frame).position + move, criterion="energy") - q
    weighed = np.linalg.solve(m.mass_matrix(q), J.T)
    assert rates == pytest.approx(np.linalg.pinv(J) @ move, abs=1e-6)
    assert energy == pytest.approx(weighed @ np.linalg.solve(J @ weighed, move), abs=1e-6)
    assert np.abs(energy - rates).max() > 1e-5


def test_limits_are_kept_away_from_where_that_is_preferred(robot):
    m, frame = robot("panda"), "panda_hand"
    low, high = limits(m)
    q = low + 0.2 * (high - low)
    target = m.pose(low + 0.4 * (high - low), frame)
    near, away = (
        m.inverse_kinematics(q, frame, target.position, target.rotation, criterion=x)
        for x in ("rates", "limits")
    )
    check(m, away, frame, target.rotation, target.position)
    J = m.jacobian(away, frame)
    pull = (low + high) / 2 - away
    assert (
        np.abs(pull - np.linalg.pinv(J) @ (J @ pull)).max() < 1e-6
    )  # no motion of the elbow brings it nearer
    assert np.linalg.norm(near - (low + high) / 2) > np.linalg.norm(away - (low + high) / 2)


@pytest.mark.parametrize(("name", "frame"), [("floating-arm", "arm3"), ("cylindrical-arm", "body2")])
@pytest.mark.parametrize("rotated", [False, True])
def test_a_far_target_is_reached_where_nothing_stops_the_mechanism(name, frame, rotated):
    """Slides and free bodies without limits: a target far away is not out of reach."""
    m = kp.example(name)
    random = np.random.default_rng(7)
    for distance in (10.0, 30.0, 100.0):
        away = random.uniform(-1.0, 1.0, m.nq) * _slides(m)
        goal = m.pose(m.start() + distance * away, frame)
        options = {"rotation": goal.rotation} if rotated else {}
        q = m.inverse_kinematics(m.start(), frame, goal.position, **options)
        here = m.pose(q, frame)
        assert np.abs(here.position - goal.position).max() <= 1e-8 * distance
        assert np.abs(here.rotation - goal.rotation).max() <= 1e-8 or not rotated


def _slides(m: kp.Mechanism) -> np.ndarray:
    """One for each coordinate that is a length (nq,)."""
    from kinpair.model.units import units

    return np.array([unit == "m" for unit in units(m.model)["q"]], dtype=float)
