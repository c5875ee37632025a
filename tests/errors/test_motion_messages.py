"""What motions say, word for word."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
from kinpair import motion
from motions import A, B

ZERO = [0.0, 0.0]
HALF_TURN = kp.FramePose(np.diag([1.0, -1.0, -1.0]) @ A.rotation, A.position)
REFUSED = {
    "no time": (
        lambda: motion.cycloid(0.0, 1.0, 0.0),
        "cycloid: duration is 0.0; give a positive number",
    ),
    "other ends": (
        lambda: motion.cycloid(ZERO, 1.0, 2.0),
        "cycloid: start has shape (2,) and end (); give both the same",
    ),
    "nothing finite": (
        lambda: motion.polynomial(ZERO, [np.nan, 1.0], 2.0),
        "polynomial: start and end must be finite numbers",
    ),
    "even order": (
        lambda: motion.polynomial(0.0, 1.0, 2.0, order=4),
        "polynomial: order is 4; give an odd number from 1 to 21, such as 5 or 7",
    ),
    "side": (
        lambda: motion.cycloid(0.0, 1.0, 2.0).at(0.0, side="up"),
        "side is 'up'; give 'left' or 'right'",
    ),
    "no limit": (
        lambda: motion.scurve(ZERO, [1.0, 2.0], velocity=1.0, jerk=2.0),
        "scurve: joints 0, 1 have no limit of acceleration; give acceleration=, or of= a mechanism whose file has it",
    ),
    "limits of a file": (
        lambda: motion.trapezoid(ZERO, [1.0, 0.0], of=kp.example("double-pendulum")),
        "trapezoid: joints 0 have no limit of rate; give velocity=, or of= a mechanism whose file has it",
    ),
    "limits of another size": (
        lambda: motion.trapezoid(ZERO, [1.0, 0.0], velocity=[1.0, 2.0, 3.0], acceleration=1.0),
        "trapezoid: velocity has shape (3,); give one number, or one for each of 2 joints",
    ),
    "negative limit": (
        lambda: motion.trapezoid(ZERO, [1.0, 0.0], velocity=[1.0, -2.0], acceleration=1.0),
        "trapezoid: velocity holds -2; limits are positive",
    ),
    "no distance": (
        lambda: motion.trapezoid(ZERO, ZERO, velocity=1.0, acceleration=1.0),
        "trapezoid: start and end are the same; a motion under limits needs a distance",
    ),
    "too short": (
        lambda: motion.trapezoid(0.0, 2.0, 2.0, velocity=1.0, acceleration=2.0),
        "trapezoid: the limits need 2.5 s; duration is 2 s",
    ),
    "one point": (
        lambda: motion.spline([ZERO], 1.0),
        "spline: points have shape (1, 2); give two or more points (k, n) of finite numbers",
    ),
    "neither duration nor times": (
        lambda: motion.spline([ZERO, [1.0, 1.0]]),
        "spline: give either a duration or times",
    ),
    "the same point twice": (
        lambda: motion.spline([ZERO, ZERO], 1.0),
        "spline: two points that follow each other are the same; give times",
    ),
    "times": (
        lambda: motion.spline([ZERO, [1.0, 1.0]], times=[0.0, 0.0]),
        "spline: times must be 2 numbers that increase from 0, one for each point",
    ),
    "order of a spline": (
        lambda: motion.spline([ZERO, [1.0, 1.0]], 1.0, order=4),
        "spline: order is 4; give 3, 5 or 7",
    ),
    "ends of a spline": (
        lambda: motion.spline([ZERO, [1.0, 1.0]], 1.0, ends="open"),
        "spline: ends is 'open'; give 'rest', 'free' or 'periodic'",
    ),
    "free ends": (
        lambda: motion.spline([ZERO, [1.0, 1.0]], 1.0, ends="free"),
        "spline: order 5 with free ends needs 6 points; these are 2",
    ),
    "not periodic": (
        lambda: motion.spline([ZERO, [1.0, 1.0]], 1.0, ends="periodic"),
        "spline: a periodic motion ends where it starts; make the last point the first one",
    ),
    "terms of a series": (
        lambda: motion.fourier([0.0, 1.0], [[1.0]], [[1.0]], 2.0),
        "fourier: mean, cosines and sines have shapes (2,), (1, 1) and (1, 1); give (n,), (terms, n) and (terms, n)",
    ),
    "periods": (
        lambda: motion.fourier(0.0, [1.0], [1.0], 2.0, periods=0),
        "fourier: periods is 0; give a positive whole number",
    ),
    "no pose": (
        lambda: motion.line(A, [1.0, 2.0, 3.0], 1.0),
        "line: end is not a pose; give (rotation, position), such as m.pose(q, frame)",
    ),
    "shape of a pose": (
        lambda: motion.line((np.eye(3), [1.0, 2.0]), B, 1.0),
        "line: start has shapes (3, 3) and (2,); give a rotation (3, 3), a position (3,)",
    ),
    "no rotation": (
        lambda: motion.line((2 * np.eye(3), [1.0, 2.0, 3.0]), B, 1.0),
        "line: start has no rotation matrix: R Rᵀ must be one, right-handed",
    ),
    "half a turn": (
        lambda: motion.line(A, HALF_TURN, 1.0),
        "line: start and end are half a turn apart, about any axis; give a pose between them",
    ),
    "unknown law": (
        lambda: motion.line(A, B, 1.0, law="quintik"),
        "line: no law 'quintik'; did you mean 'quintic'? Laws: cycloid, linear, cubic, quintic, septic, nonic",
    ),
    "law without duration": (
        lambda: motion.line(A, B),
        "line: give a duration [s] for the law 'septic', or a law that has its own",
    ),
    "two durations": (
        lambda: motion.line(A, B, 1.0, law=motion.cycloid(0.0, 1.0, 2.0)),
        "line: the law given has its own duration, 2 s; leave duration out",
    ),
    "law to elsewhere": (
        lambda: motion.line(A, B, law=motion.cycloid(0.0, 3.0, 2.0)),
        "line: a law leads one coordinate from 0 to 1; this one leads from 0 to 3",
    ),
    "no circle": (
        lambda: motion.arc(A, (A.position + B.position) / 2, B, 1.0),
        "arc: start, via and end are on a line; take line, or another point between",
    ),
    "no position": (
        lambda: motion.arc(A, [0.0, 1.0], B, 1.0),
        "arc: via has shape (2,); give a position (3,)",
    ),
    "no axis": (
        lambda: motion.screw(A, [0, 0, 0], 1.0, 1.0),
        "screw: axis is [0, 0, 0]; give a direction (3,)",
    ),
    "one segment": (
        lambda: motion.blended(motion.line(A, B, 1.0), radius=0.1, duration=1.0),
        "blended: give two segments or more; one has no corner",
    ),
    "a gap": (
        lambda: motion.blended(
            motion.line(HOME, move(1.0), 1.0),
            motion.line(move(1.5), move(2.0), 1.0),
            radius=0.1,
            duration=1.0,
        ),
        "blended: segment 2 starts 0.5 away from where segment 1 ends",
    ),
    "too large a radius": (
        lambda: motion.blended(
            motion.line(HOME, move(1.0), 1.0),
            motion.line(move(1.0), move(3.0), 1.0),
            radius=1.5,
            duration=1.0,
        ),
        "blended: radius 1.5 m is too large at corner 1: the segments there are 1 and 2 m long",
    ),
}
HOME = kp.FramePose(np.eye(3), np.zeros(3))


def move(x):
    return kp.FramePose(np.eye(3), np.array([x, 0.0, 0.0]))


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, message = REFUSED[name]
    with pytest.raises(kp.InputError) as caught:
        call()
    assert str(caught.value) == message


ARM, Q = kp.example("stanford-arm"), np.array([0.2, 1.1, 0.6, -0.3, 0.7, 0.4])
NOT_REACHED = {
    "criterion": (
        lambda: ARM.inverse_kinematics(Q, "link6", [0, 0, 0], criterion="rate"),
        "stanford-arm: no criterion 'rate'; did you mean 'rates'? Criteria: rates, energy, limits",
    ),
    "guess and frame in the wrong order": (
        lambda: ARM.inverse_kinematics("link6", [0, 0, 1]),
        "stanford-arm: frame is [0, 0, 1]; give its name behind the guess: inverse_kinematics(q, 'tip', position)",
    ),
    "no targets": (lambda: ARM.inverse_kinematics(Q, {}), "give a target for one frame at least"),
    "rotation and axis": (
        lambda: ARM.inverse_kinematics(Q, "link6", rotation=np.eye(3), axis=((0, 0, 1), (0, 0, 1))),
        "'link6': a rotation leaves no axis free; give one of them",
    ),
    "one axis": (
        lambda: ARM.inverse_kinematics(Q, "link6", axis=(0, 0, 1)),
        "axis is (0, 0, 1); give two directions: in the frame, and in the world",
    ),
    "no direction": (
        lambda: ARM.inverse_kinematics(Q, "link6", axis=((0, 0, 0), (0, 0, 1))),
        "axis has the direction 0 0 0; give another",
    ),
    "numbers of targets": (
        lambda: ARM.inverse_kinematics(Q, "link6", np.zeros((2, 3)), np.zeros((3, 3, 3)) + np.eye(3)),
        "targets are 2 and 3 in number; give as many of each",
    ),
    "no numbers": (
        lambda: ARM.inverse_kinematics(np.full(6, np.nan), "link6", [0, 0, 0]),
        "stanford-arm: q holds NaN or infinity; give a guess of finite numbers",
    ),
}


@pytest.mark.parametrize("name", NOT_REACHED)
def test_targets_are_refused(name):
    call, message = NOT_REACHED[name]
    with pytest.raises(kp.InputError) as caught:
        call()
    assert str(caught.value) == message


def test_the_targets_out_of_reach_among_many():
    arm = kp.example("kr5")
    near = arm.pose(Q, "link6").position
    with pytest.raises(kp.SingularError) as caught:
        arm.inverse_kinematics(Q, "link6", near + np.diag([0.0, 99.0, 99.0]))
    left = caught.value.parts["left"]["link6 [m]"]
    assert 90.0 < left < 99.0
    assert str(caught.value) == (
        f"kr5: 'link6' cannot be brought there from this q for target 1 (2 of 3 are not reached): {left:.3g} "
        "m are left at the nearest place found; the target is out of reach, or needs a guess nearer to it"
    )
    assert caught.value.parts["reached"].tolist() == [True, False, False]
    assert arm.pose(caught.value.parts["q"][0], "link6").position == pytest.approx(near)


REDUNDANT = kp.example("redundant-arm")
HAND = REDUNDANT.pose(REDUNDANT.start(), "hand")
STAY = motion.line(HAND, HAND, 1.0)
NOT_FOLLOWED = {
    "nothing": (
        lambda: motion.follow(REDUNDANT, {}),
        "follow: give a motion for one frame or coordinate at least",
    ),
    "part of nothing": (
        lambda: motion.follow(REDUNDANT, {"hand": STAY}, parts={"elbow": "position"}),
        "follow: parts names 'elbow', which has no motion",
    ),
    "unknown part": (
        lambda: motion.follow(REDUNDANT, {"hand": STAY}, parts={"hand": "positions"}),
        "follow: 'hand' has the part 'positions'; did you mean 'position'? Parts: pose, position, rotation, axis x, "
        "axis y, axis z",
    ),
    "unknown coordinate": (
        lambda: motion.follow(REDUNDANT, {"elbows": motion.cycloid(0.0, 1.0, 1.0)}),
        "follow: redundant-arm has no coordinate 'elbows'; did you mean 'elbow'? Coordinates: shoulder-yaw, "
        "shoulder-pitch, upper-arm-roll, elbow, forearm-roll, wrist, hand-roll; the motion of a frame is a line, an "
        "arc, ...",
    ),
    "many numbers": (
        lambda: motion.follow(REDUNDANT, {"elbow": motion.cycloid([0.0], [1.0], 1.0)}),
        "follow: the motion of 'elbow' has shape (1,); give that of one number",
    ),
    "start": (
        lambda: motion.follow(REDUNDANT, {"hand": STAY}, start=[0.0, 1.0]),
        "follow: start has shape (2,); give 7 coordinates",
    ),
    "samples": (
        lambda: motion.follow(REDUNDANT, {"hand": STAY}, samples=3),
        "follow: samples is 3; give 8 or more",
    ),
}


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_motions_that_cannot_be_followed(name):
    call, message = NOT_FOLLOWED[name]
    with pytest.raises(kp.InputError) as caught:
        call()
    assert str(caught.value) == message


def test_a_path_through_a_singular_position_names_time_and_joints():
    """Straight away from the shoulder until the arm is stretched, 0.74 m from it."""
    shoulder = np.array([0.0, 0.0, 0.3])
    away = HAND.position - shoulder
    end = kp.FramePose(HAND.rotation, shoulder + 1.5 * away)
    path = motion.line(HAND, end, 1.0, law="linear")
    with pytest.raises(kp.SingularError) as caught:
        motion.follow(REDUNDANT, {"hand": path}, parts={"hand": "position"})
    x = caught.value.parts
    stretched = (0.74 / np.linalg.norm(away) - 1.0) / 0.5
    assert x["time"] == pytest.approx(stretched, abs=2e-3)
    assert str(caught.value) == (
        f"redundant-arm: 'hand' cannot be followed at {x['time']:.4g} s: the position is singular, or the path leads "
        f"out of reach; joints {', '.join(x['joints'])} move it no further. Lead the path past it, or leave a part of "
        "it free"
    )
    assert "elbow" in x["joints"]
    assert len(x["times"]) == len(x["q"]) > 100
    assert REDUNDANT.pose(x["q"], "hand").position == pytest.approx(path.at(x["times"]).position, abs=1e-8)


def test_a_nominal_motion_has_all_coordinates():
    with pytest.raises(kp.InputError) as caught:
        motion.nominal(REDUNDANT, motion.cycloid(0.0, 1.0, 1.0))
    assert str(caught.value) == (
        "nominal: the motion has shape (), and redundant-arm has 7 coordinates; give a motion of all of them, or a "
        "dict of motions by name"
    )
    with pytest.raises(kp.InputError) as caught:
        motion.nominal(REDUNDANT, {"hand": STAY}, samples=1)
    assert str(caught.value) == "nominal: samples is 1; give 2 or more"


LINE = motion.polynomial(REDUNDANT.start(), REDUNDANT.start() + 0.2, 1.0)
FOUR_BAR = kp.example("four-bar")
NOT_FASTER = {
    "open loop": (
        lambda: motion.fastest(FOUR_BAR, motion.polynomial(FOUR_BAR.start(), FOUR_BAR.start() + 0.3, 1.0)),
        "fastest: the path breaks the constraints at 1 of 1: 'pin' stays open by "
        f"{np.abs(FOUR_BAR.constraint_residual(FOUR_BAR.start() + 0.3)).max():.3g}; give a dict of motions by name, "
        "and the other joints follow",
    ),
    "few nodes": (
        lambda: motion.fastest(REDUNDANT, LINE, nodes=3),
        "fastest: nodes is 3; give 20 or more",
    ),
    "another size": (
        lambda: motion.fastest(REDUNDANT, motion.cycloid(0.0, 1.0, 1.0)),
        "fastest: the path has shape (), and redundant-arm has 7 coordinates; give a path of all of them, or a dict of "
        "motions by name",
    ),
    "no limit": (
        lambda: motion.fastest(kp.example("double-pendulum"), motion.cycloid([0.0, 0.0], [1.0, 0.0], 1.0)),
        "fastest: joints shoulder have no limit of acceleration or effort; give one of them, or a file that has it",
    ),
    "stands still": (
        lambda: motion.fastest(
            kp.example("double-pendulum"), motion.spline([[0.0, 0.0], [1.0, 0.0]], 2.0), effort=99.0
        ),
        "fastest: the path rests at 0 of 2; give one that moves on throughout, such as a spline with free ends",
    ),
    "a corner": (
        lambda: motion.fastest(
            kp.example("double-pendulum"),
            _cornered(),
            effort=99.0,
        ),
        "fastest: the direction of the path jumps at 1 of 2; blend the corner, or stop there",
    ),
    "negative limit": (
        lambda: motion.fastest(REDUNDANT, LINE, effort=-1.0),
        "fastest: effort holds -1; limits are positive",
    ),
}


def _cornered():
    """Two straight parts."""
    from kinpair.motion.pieces import Pieces

    powers = np.array([[[0.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]])
    return Pieces(2.0, (2,), (0.0, 1.0, 2.0), powers)


@pytest.mark.parametrize("name", NOT_FASTER)
def test_paths_without_a_fastest_motion(name):
    call, message = NOT_FASTER[name]
    with pytest.raises(kp.InputError) as caught:
        call()
    assert str(caught.value) == message


def test_limits_that_no_time_scaling_can_meet_name_time_and_joint():
    """The shoulder leans forward until its own weight takes more than its motor has."""
    q = REDUNDANT.start()
    path = motion.polynomial(q, q + np.array([0.0, 0.8, 0.0, 0.0, 0.0, 0.0, 0.0]), 1.0)
    with pytest.raises(kp.SingularError) as caught:
        motion.fastest(REDUNDANT, path, effort=[30, 18, 30, 30, 8, 3, 1], nodes=100)
    x = caught.value.parts
    assert x["joint"] == "shoulder-pitch"
    there = REDUNDANT.gravity_forces(path.at(x["time"]).q)[1]
    assert abs(there) > 18.0
    assert str(caught.value) == (
        f"fastest: no time scaling keeps redundant-arm within its limits: at {x['time']:.4g} s of the path "
        f"'shoulder-pitch' needs {there:.4g} N m to stay there, and its limit is 18"
    )
    assert x["efforts_at_rest"] == pytest.approx(REDUNDANT.gravity_forces(x["q"]))


CUP = kp.example("vessel-arm")
HELD = CUP.pose(CUP.start(), "vessel")
ASIDE = kp.FramePose(HELD.rotation, HELD.position + np.array([0.0, 0.5, 0.0]))
TANK = motion.Tank(radius=0.05, fill=0.1, height=0.13)
SPILLED = {
    "unknown way": (
        lambda: motion.vessel(CUP, motion.line(HELD, ASIDE, 1.0), frame="vessel", tank=TANK, way="alined"),
        "vessel: no way 'alined'; did you mean 'aligned'? Ways: aligned, upright, shaped",
    ),
    "unknown model": (
        lambda: motion.vessel(CUP, motion.line(HELD, ASIDE, 1.0), frame="vessel", tank=TANK, model="spring"),
        "vessel: no model 'spring'; did you mean 'springs'? Models: pendulum, springs",
    ),
    "no time to settle": (
        lambda: motion.vessel(CUP, motion.line(HELD, ASIDE, 1.0), frame="vessel", tank=TANK, settle=-1.0),
        "vessel: settle is -1.0; give seconds, or 0",
    ),
    "tilted path": (
        lambda: motion.vessel(CUP, motion.line(A, B, 1.0), frame="vessel", tank=TANK),
        "vessel: at 1 s the z axis of the path is not vertical; give the path of an upright vessel, it is tilted here",
    ),
    "shaped without a law": (
        lambda: motion.vessel(
            CUP,
            motion.FrameTrajectory(motion.line(HELD, ASIDE, 1.0).path, motion.line(HELD, ASIDE, 1.0).path),
            frame="vessel",
            tank=TANK,
            way="shaped",
        ),
        "vessel: a path is shaped by its law; give a line, an arc, or another with a law of its own",
    ),
    "no time for a shaper": (
        lambda: motion.vessel(CUP, motion.line(HELD, ASIDE, 0.1), frame="vessel", tank=TANK, way="shaped"),
        "shaped: half a period at 18.99 rad/s is 0.1654 s, and the motion takes 0.1 s; give it more time",
    ),
    "no radius": (
        lambda: motion.Tank(radius=0.0, fill=0.1),
        "Tank: radius is 0.0; give a positive number",
    ),
    "full": (
        lambda: motion.Tank(radius=0.05, fill=0.1, height=0.1),
        "Tank: height is 0.1 m and fill 0.1 m; the wall must be higher than the liquid",
    ),
    "damping": (
        lambda: motion.Tank(radius=0.05, fill=0.1, damping=1.0),
        "Tank: damping is 1.0; give a ratio from 0 to less than 1",
    ),
}


@pytest.mark.parametrize("name", SPILLED)
def test_vessels_that_cannot_be_carried(name):
    call, message = SPILLED[name]
    with pytest.raises(kp.InputError) as caught:
        call()
    assert str(caught.value) == message


def test_a_path_not_smooth_enough_for_a_vessel_names_the_time():
    """The jerk of a cycloid over 0.5 m in 1 s jumps by 4π²/2 m/s³ at its ends."""
    with pytest.raises(kp.InputError) as caught:
        motion.vessel(CUP, motion.line(HELD, ASIDE, 1.0, law="cycloid"), frame="vessel", tank=TANK)
    x = caught.value.parts
    assert (x["time"], x["jump"]) == (0.0, pytest.approx(2 * np.pi**2))
    turn = np.array([-x["jump"] / 9.81, 0.0, 0.0, 0.0, 0.0, 0.0])  # about x, for a path along y
    rates = np.linalg.pinv(CUP.jacobian(CUP.start(), "vessel")) @ turn
    most = int(np.abs(rates).argmax())
    assert x["joint"] == CUP.v_names[most]
    assert str(caught.value) == (
        f"vessel: the path has 2 continuous derivatives; at 0 s its jerk jumps by 19.74 m/s³, and the rate of "
        f"'{CUP.v_names[most]}' would jump by {abs(rates[most]):.3g}. Take a law with 3 or more, such as septic"
    )


NOT_COMPENSATED = {
    "loops": (
        lambda: motion.compensate(kp.example("four-bar"), {}, ["crank"]),
        "compensate: four-bar has loops or quaternions; give a tree without",
    ),
    "nothing given": (
        lambda: motion.compensate(REDUNDANT, {}, ["elbow"]),
        "compensate: give a motion for one frame or coordinate at least",
    ),
    "an axis": (
        lambda: motion.compensate(REDUNDANT, {"hand": STAY}, ["elbow"], parts={"hand": "axis z"}),
        "compensate: 'hand' has an axis for its target; give pose, position or rotation",
    ),
    "unknown row": (
        lambda: motion.compensate(REDUNDANT, {"hand": STAY}, ["elbows"]),
        "compensate: redundant-arm has no row 'elbows'; did you mean 'elbow'? Rows: shoulder-yaw, shoulder-pitch, "
        "upper-arm-roll, elbow, forearm-roll, wrist, hand-roll; others are kp.motion.moment and kp.motion.force",
    ),
    "shape of a course": (
        lambda: motion.compensate(REDUNDANT, {"hand": STAY}, ["elbow"], course=[1.0, 2.0]),
        "compensate: the course has shape (2,); give numbers, or a motion, of shape (1,), one for each row",
    ),
}


@pytest.mark.parametrize("name", NOT_COMPENSATED)
def test_resultants_that_are_not_compensated(name):
    call, message = NOT_COMPENSATED[name]
    with pytest.raises(kp.InputError) as caught:
        call()
    assert str(caught.value) == message


def test_a_row_that_no_joint_is_left_for():
    """The hand takes six of seven joints, and two rows are more than one elbow can bring about."""
    rows = ["shoulder-yaw", "hand-roll"]
    with pytest.raises(kp.SingularError) as caught:
        motion.compensate(REDUNDANT, {"hand": STAY}, rows, course=[1.0, 2.0])
    what = caught.value.parts["row"]
    assert str(caught.value) == (
        f"compensate: redundant-arm cannot bring {what} about after 0 s: the joints that are left do not move it, or "
        "the path leads out of reach. Leave more joints free, or take fewer rows"
    )


def test_fastest_needs_the_actuated_joints_of_a_closed_mechanism():
    m = described_four_bar()
    with pytest.raises(kp.InputError) as caught:
        motion.fastest(m, {"crank": motion.polynomial(0.4, 1.0, 1.0)}, effort=9.0, nodes=40)
    assert 'kp.motion.fastest(m, path, actuators=["crank"])' in str(caught.value)


def described_four_bar() -> kp.Mechanism:
    """The bundled four-bar without the names of its actuated joints."""
    description = FOUR_BAR.model.description
    joints = tuple(replace(joint, actuated=None) for joint in description.joints)
    return kp.build(replace(description, joints=joints))
