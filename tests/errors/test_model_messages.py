"""Every message about a mechanism that cannot be, or a state that does not fit, word for word."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.parts import Description, Frame, Joint, Keyframe, Link, Mimic, Origin

LINKS = "Links: ground, a, b"


def links(*names: str) -> tuple[Link, ...]:
    return tuple(
        Link(name, 1.0, inertia=(0.1, 0.1, 0.1, 0, 0, 0), where=f"m.toml:{k}") for k, name in enumerate(names)
    )


def joint(name: str, parent: str, child: str, kind: str = "revolute", **more: object) -> Joint:
    return Joint(name, kind, parent, child, where=f"m.toml:1{len(name)}", **more)  # type: ignore[arg-type]


def message(links: tuple[Link, ...], *joints: Joint, frames: tuple[Frame, ...] = ()) -> str:
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(Description("m", links, joints, frames, source="m.toml"))
    return str(caught.value)


def warning(links: tuple[Link, ...], *joints: Joint) -> str:
    with pytest.warns(kp.DescriptionWarning) as caught:
        kp.build(Description("m", links, joints, source="m.toml"))
    assert len(caught) == 1
    with pytest.raises(kp.DescriptionError) as refused:
        kp.build(Description("m", links, joints, source="m.toml"), strict=True)
    assert str(refused.value) == str(caught[0].message)
    return str(caught[0].message)


def test_unknown_link():
    result = message(links("coupler", "crank"), joint("C", "crank", "cuopler"))
    assert result == (
        "m.toml:11: joint 'C' moves link 'cuopler', which does not exist; did you mean 'coupler'? "
        "Links: coupler, crank"
    )


def test_unknown_parent():
    result = message(links("a", "b"), joint("A", "ground", "a"), joint("B", "q", "b"))
    assert result == f"m.toml:11: joint 'B' hangs on link 'q', which does not exist; {LINKS}"


BALL = joint("A", "ground", "a", "spherical")


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (Keyframe("k", (("B", (1.0,)),)), "q names joint 'B', which does not exist; Joints: A"),
        (Keyframe("k", (), (("A", (1.0,)),)), "qd of joint 'A' has 1 numbers; 3 are needed"),
        (Keyframe("k", (("A", (1.0,)),)), "q of joint 'A' has 1 numbers; 4 are needed"),
        (Keyframe("k", (("A", (0, 0, math.inf, 1)),)), "q of joint 'A' is inf; a finite number is needed"),
        (
            Keyframe("k", (("A", (0, 0, 0, 0)),)),
            "q of joint 'A' has the quaternion 0 0 0 0, which is not a rotation; the identity is 0 0 0 1",
        ),
    ],
)
def test_keyframes_that_do_not_fit(state, sentence):
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(Description("m", links("a"), (BALL,), keyframes=(state,)))
    assert str(caught.value) == f"keyframe 'k': {sentence}"


def test_keyframes_that_are_not_there():
    m = kp.build(Description("m", links("a"), (BALL,)))
    assert refused(m.start, "home") == "m: no keyframe 'home'; the description has none"
    m = kp.build(Description("m", links("a"), (BALL,), keyframes=(Keyframe("home"), Keyframe("up"))))
    assert refused(m.start, "hom") == "m: no keyframe 'hom'; did you mean 'home'? Keyframes: home, up"


def test_a_start_without_a_rotation():
    result = message(links("a"), joint("A", "ground", "a", "spherical", start=(0.0, 0.0, 0.0, 0.0)))
    assert result == (
        "m.toml:11: joint 'A': start has the quaternion 0 0 0 0, which is not a rotation; the identity is 0 0 0 1"
    )


def test_frame_on_an_unknown_link():
    frame = Frame("tip", "c", where="m.toml:30")
    result = message(links("a", "b"), joint("A", "ground", "a"), joint("B", "a", "b"), frames=(frame,))
    assert result == f"m.toml:30: frame 'tip' sits on link 'c', which does not exist; {LINKS}"


def test_two_parents():
    result = message(
        links("a", "b"), joint("A", "ground", "a"), joint("B", "a", "b"), joint("BB", "ground", "b")
    )
    assert result == (
        "m.toml:12: link 'b' has two parents: joint 'B' hangs it on 'a', joint 'BB' on 'ground'; "
        "in a tree a link has one; a loop is closed by a loop constraint, not by a joint"
    )


def test_a_cycle_beside_a_root():
    result = message(
        links("r", "a", "b", "c"), joint("A", "c", "a"), joint("B", "a", "b"), joint("C", "b", "c")
    )
    assert result == (
        "m.toml: the joints form a cycle: a → b → c → a; in a tree every link is reached from the root 'r'; "
        "a loop is closed by a loop constraint, not by a joint"
    )


def test_no_root():
    result = message(links("a", "b"), joint("A", "b", "a"), joint("B", "a", "b"))
    assert result == (
        "m.toml: there is no root: every link is moved by a joint (a → b → a); one link must be moved by no joint; "
        "a loop is closed by a loop constraint, not by a joint"
    )


def test_several_roots():
    result = message(links("a", "b", "c"), joint("B", "a", "b"))
    assert result == (
        "m.toml: there are 2 roots: no joint moves 'a', 'c'; connect them by joints, fixed ones if they do not move"
    )


def test_no_link_at_all():
    assert message(()) == "m.toml: there is no link; a mechanism has at least one"


def test_zero_axis():
    result = message(links("a"), joint("A", "ground", "a", axis=(0.0, 0.0, 0.0)))
    assert result == "m.toml:11: joint 'A' has the axis 0 0 0; give a direction"


def test_axes_of_a_universal_joint_at_an_angle():
    bent = joint("A", "ground", "a", "universal", axis=(1.0, 0.0, 0.0), axis2=(1.0, 1.0, 0.0))
    assert message(links("a"), bent) == (
        "m.toml:11: joint 'A' has axes at 45°; those of a universal joint are perpendicular, "
        "use two revolute joints otherwise"
    )


def test_negative_mass():
    result = message((Link("a", -2.0, where="m.toml:3"),), joint("A", "ground", "a"))
    assert result == "m.toml:3: link 'a' has mass -2 kg; a mass is zero or positive"


@pytest.mark.parametrize(
    ("part", "quantity", "value"),
    [
        (Link("a", math.nan, where="m.toml:3"), "mass", "nan"),
        (Link("a", 1.0, (math.inf, 0.0, 0.0), where="m.toml:3"), "mass centre", "inf"),
        (Link("a", 1.0, inertia=(1, 1, math.nan, 0, 0, 0), where="m.toml:3"), "inertia", "nan"),
    ],
)
def test_numbers_of_a_link_that_are_none(part, quantity, value):
    result = message((part,), joint("A", "ground", "a"))
    assert result == f"m.toml:3: link 'a': {quantity} is {value}; a finite number is needed"


@pytest.mark.parametrize(
    ("more", "quantity"),
    [
        ({"origin": Origin((math.nan, 0.0, 0.0))}, "origin"),
        ({"child_origin": Origin(turn=(math.nan, 0.0, 0.0))}, "child origin"),
        ({"axis": (math.nan, 0.0, 1.0)}, "axis"),
        ({"damping": (math.nan,)}, "damping"),
        ({"rotor_inertia": math.nan}, "rotor inertia"),
    ],
)
def test_numbers_of_a_joint_that_are_none(more, quantity):
    result = message(links("a"), joint("A", "ground", "a", **more))
    assert result == f"m.toml:11: joint 'A': {quantity} is nan; a finite number is needed"


def test_unknown_kind():
    result = message(links("a"), joint("A", "ground", "a", "revolut"))
    assert result == (
        "m.toml:11: joint 'A' is of unknown kind 'revolut'; did you mean 'revolute'? Kinds: revolute, prismatic, "
        "helical, cylindrical, universal, spherical, planar, free, fixed"
    )


def test_two_parts_of_one_name():
    assert message((Link("a", where="m.toml:1"), Link("a", where="m.toml:5"))) == (
        "m.toml:5: two parts are called link 'a' (the first is at m.toml:1); names are unique"
    )


def test_a_free_joint_with_a_rotor_cannot_be_split():
    built = kp.build(Description("m", links("a"), (joint("A", "ground", "a", "free", rotor_inertia=1.0),)))
    with pytest.raises(kp.DescriptionError) as caught:
        built.split()
    assert str(caught.value) == (
        "m.toml:11: joint 'A': rotor_inertia of a free joint cannot be split; leave it out, or write the hinges "
        "yourself"
    )


def test_a_part_without_a_name():
    assert message((Link("", where="m.toml:1"),)) == "m.toml:1: a link has no name; give it one"


def test_wrong_count_of_damping():
    result = message(links("a"), joint("A", "ground", "a", "spherical", damping=(1.0, 2.0)))
    assert result == (
        "m.toml:11: joint 'A': damping has 2 numbers; a spherical joint takes 3, or one for all"
    )


def test_spring_on_a_quaternion():
    result = message(links("a"), joint("A", "ground", "a", "free", stiffness=(1.0,)))
    assert result == (
        "m.toml:11: joint 'A': stiffness has no meaning for the quaternion of a free joint; "
        "leave it out, or write the joint as hinges"
    )


def test_rotor_on_a_plane():
    result = message(links("a"), joint("A", "ground", "a", "planar", rotor_inertia=1.0))
    assert result == (
        "m.toml:11: joint 'A': a rotor needs a joint of one degree, a spherical or a free joint; a planar joint has 3"
    )


def test_damping_of_a_ball_cannot_be_split():
    ball = kp.build(Description("m", links("a"), (joint("A", "ground", "a", "spherical", damping=(1.0,)),)))
    with pytest.raises(kp.DescriptionError) as caught:
        ball.split()
    assert str(caught.value) == (
        "m.toml:11: joint 'A': damping of a spherical joint cannot be split; split(passive=False) leaves it out, or "
        "write the hinges yourself"
    )


def test_matrix_that_is_no_rotation():
    skewed = Origin(turn=(1, 0, 0, 0, 1, 0, 0, 1, 1))
    result = message(links("a"), joint("A", "ground", "a", origin=skewed))
    assert (
        result == "m.toml:11: joint 'A': origin has a matrix that is not a rotation (R Rᵀ ≠ 1 or det R < 0)"
    )


def test_inertia_that_breaks_the_triangle_inequality_is_doubted():
    flat = (Link("a", 1.0, inertia=(1, 1, 3, 0, 0, 0), where="m.toml:3"),)
    assert warning(flat, joint("A", "ground", "a")) == (
        "m.toml:3: link 'a': inertia breaks the triangle inequality (principal moments 1, 1, 3: the largest "
        "exceeds the sum of the others); taken as it is"
    )


def test_weightless_leaf_is_doubted():
    result = warning((*links("a"), Link("tip")), joint("A", "ground", "a"), joint("T", "a", "tip"))
    assert result == (
        "m.toml: joint 'T' moves link 'tip', and neither this link nor the links that it carries have mass "
        "or inertia: forward dynamics is singular, inverse dynamics works"
    )


def test_crossed_limits_are_doubted_and_ignored():
    crossed = joint("A", "ground", "a", lower=(2.0,), upper=(1.0,))
    assert warning(links("a"), crossed) == (
        "m.toml:11: joint 'A': lower limit 2 is above upper limit 1; both ignored"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = kp.build(Description("m", links("a"), (crossed,))).model.joints
    assert data.lower.tolist() == [-math.inf]
    assert data.upper.tolist() == [math.inf]


def test_negative_damping_is_doubted():
    assert warning(links("a"), joint("A", "ground", "a", damping=(-1.0,))) == (
        "m.toml:11: joint 'A': damping is negative and feeds energy in; taken as it is"
    )


def test_snapping_says_what_it_changed():
    sloppy = joint("A", "ground", "a", origin=Origin(turn=(1.5708, 0.0, 0.0)))
    description = Description("m", links("a"), (sloppy,))
    exact = kp.build(description).model.body[1].R_seat
    assert exact[1, 1] != 0
    with pytest.warns(kp.DescriptionWarning) as caught:
        snapped = kp.build(description, snap=1e-5).model.body[1].R_seat
    assert str(caught[0].message) == "m.toml:11: joint 'A': rotation changed by 3.7e-06 (snap=1e-05)"
    assert set(np.abs(snapped).ravel().tolist()) == {0.0, 1.0}


def test_ground_cannot_float():
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(Description("m", links("a"), (joint("A", "ground", "a"),), source="m.toml"), base="free")
    assert str(caught.value) == (
        'm.toml: the root is the ground itself, which cannot float; give the first link a joint of kind "free" instead'
    )


def test_unknown_base():
    with pytest.raises(kp.InputError) as caught:
        kp.build(Description("m", links("a"), ()), base="loose")  # type: ignore[arg-type]
    assert str(caught.value) == "base is 'loose'; it is 'fixed' or 'free'"


@pytest.mark.parametrize("snap", [math.nan, -1.0, 1.0])
def test_snap_that_is_no_small_distance(snap):
    assert refused(kp.example, "scara", snap=snap) == (
        f"snap is {snap}; it is a small distance between 0 and 0.1"
    )


# Arguments of calls.


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


def refused(f, *arguments, **more) -> str:
    with pytest.raises(kp.InputError) as caught:
        f(*arguments, **more)
    return str(caught.value)


def test_wrong_length(arm):
    assert refused(arm.inverse_dynamics, [1, 2, 3], [1, 2], [1, 2]) == (
        "double-pendulum: q has shape (3,); expected (2,) or (batch, 2): shoulder, elbow"
    )
    assert refused(arm.forward_dynamics, [1, 2], [1, 2], [[1], [2]]) == (
        "double-pendulum: tau has shape (2, 1); expected (2,) or (batch, 2): shoulder, elbow"
    )


def test_not_numbers(arm):
    assert refused(arm.mass_matrix, ["a", "b"]) == (
        "double-pendulum: q is not an array of real numbers (it is list); expected shape (2,) or (batch, 2)"
    )


def test_batches_of_different_length(arm):
    assert refused(arm.inverse_dynamics, np.zeros((3, 2)), np.zeros((4, 2)), np.zeros(2)) == (
        "double-pendulum: batches differ in length: q has 3, qd has 4 rows"
    )


def test_unknown_method(arm):
    assert refused(arm.inverse_dynamics, [0, 0], [0, 0], [0, 0], method="denok") == (
        "double-pendulum: inverse_dynamics has no method 'denok'; did you mean 'denoc'? "
        f"Methods: {', '.join(arm.methods['inverse_dynamics'])}"
    )


def test_unknown_frame(arm):
    names = ", ".join(arm.frames)
    assert refused(arm.pose, [0, 0], "uper") == (
        f"double-pendulum: no link or frame 'uper'; did you mean 'upper'? Links and frames: {names}"
    )
    assert "no link or frame 'x'" in refused(
        arm.inverse_dynamics, [0, 0], [0, 0], [0, 0], external={"x": np.zeros(6)}
    )


def test_external_that_is_no_wrench(arm):
    results = refused(arm.inverse_dynamics, [0, 0], [0, 0], [0, 0], external={"upper": [1, 2, 3]})
    assert results == (
        "double-pendulum: external['upper'] has shape (3,); expected (6,) or (batch, 6): nx, ny, nz, fx, fy, fz"
    )


def test_zero_quaternion():
    robot = kp.example("floating-arm")
    assert refused(robot.mass_matrix, np.zeros(robot.nq)) == (
        "floating-arm: joint 'base' has the quaternion 0 0 0 0 in q, which is not a rotation; the identity is 0 0 0 1"
    )


def test_unknown_example():
    assert refused(kp.example, "stanford").startswith(
        "no bundled example 'stanford'; did you mean 'stanford-arm'? Examples: "
    )


def test_weightless_leaf_is_named_by_forward_dynamics_and_free_for_inverse():
    b = kp.Builder("m").link("a", mass=1.0, inertia=[0.1, 0.1, 0.1]).link("tip")
    b.joint("A", "revolute", "ground", "a", axis="y").joint("T", "revolute", "a", "tip")
    with pytest.warns(kp.DescriptionWarning):
        m = kp.build(b)
    assert m.inverse_dynamics([0.1, 0.2], [1, 2], [3, 4])[1] == 0
    for method in ("denoc", "newton-euler"):
        with pytest.raises(kp.SingularError) as caught:
            m.forward_dynamics([0.1, 0.2], [1, 2], [0, 0], method=method)
        assert str(caught.value) == (
            "m: forward dynamics is singular at joint 'T': link 'tip' and what it carries have no positive inertia "
            "against that motion; give the link mass and inertia, or the joint a rotor inertia"
        )
    with pytest.raises(kp.SingularError, match=r"at joint 'T' \(state 0 of the batch\)"):
        m.forward_dynamics([[0.1, 0.2]] * 3, [1, 2], [0, 0])


def test_nan_in_a_row_stays_in_that_row(arm):
    q = np.zeros((3, 2))
    q[1, 0] = np.nan
    tau = arm.inverse_dynamics(q, [1, 2], [3, 4])
    qdd = arm.forward_dynamics(q, [1, 2], [3, 4])
    for x in (tau, qdd):
        assert np.isnan(x[1]).any()
        assert np.isfinite(x[[0, 2]]).all()


def test_nothing_with_mass_has_no_centre():
    b = kp.Builder("m").link("a", inertia=[1, 1, 1]).joint("A", "revolute", "ground", "a")
    assert refused(kp.build(b).centre_of_mass, [0.0]) == (
        "m: nothing that moves has mass, so there is no centre of mass"
    )


def test_mimic_is_kept_and_its_follower_moves_on_its_own():
    follower = joint("B", "a", "b", mimic=Mimic("A", 2.0, 0.1))
    m = kp.build(Description("m", links("a", "b"), (joint("A", "ground", "a"), follower)))
    assert m.nv == 2
    assert m.model.description.joints[1].mimic == Mimic("A", 2.0, 0.1)


# Parts written by hand, and other edges.


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Link("a", 1.0, (0, 0, 0), (1, 1, 1)), "link 'a': inertia has 3 numbers; 6 are needed"),  # type: ignore[arg-type]
        (Link("a", "heavy"), "link 'a': mass is ('heavy',); a tuple of numbers is needed"),  # type: ignore[arg-type]
        (Link("a", 1.0, (0, 0)), "link 'a': mass centre has 2 numbers; 3 are needed"),  # type: ignore[arg-type]
    ],
)
def test_link_with_wrong_counts(part, words):
    assert message((part,), joint("A", "ground", "a")) == words


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"origin": Origin(turn=(1.0, 2.0))}, "turn of origin has 2 numbers; 0 or 3 or 4 or 9 are needed"),
        ({"damping": 1.0}, "damping is 1.0; a tuple of numbers is needed"),
        ({"axis": (0, 1.0)}, "axis has 2 numbers; 3 are needed"),
        ({"lower": (math.nan,)}, "lower is nan; a number is needed, inf for no limit"),
    ],
)
def test_joint_with_wrong_counts(more, words):
    assert message(links("a"), joint("A", "ground", "a", **more)) == f"m.toml:11: joint 'A': {words}"


def test_two_coordinates_of_one_name():
    result = message(links("a", "b"), joint("j", "ground", "a", "planar"), joint("j.x", "a", "b"))
    assert result == (
        "two coordinates would be called 'j.x': a joint of that name, and a part of another; rename the joint"
    )


def test_ground_is_not_moved():
    result = message(links("a"), joint("A", "a", "ground"))
    assert result == "m.toml:11: joint 'A' moves the ground, which stands still; swap parent and child"


def test_ground_is_always_there_for_frames():
    frame = Frame("mark", "ground", Origin((1.0, 2.0, 3.0)))
    m = kp.build(Description("m", links("base", "a"), (joint("A", "base", "a"),), (frame,)))
    assert m.pose([0.0], "mark").position.tolist() == [1.0, 2.0, 3.0]


def test_helical_without_pitch_and_mimic_of_nobody_are_doubted():
    assert warning(links("a"), joint("A", "ground", "a", "helical")) == (
        "m.toml:11: joint 'A' is helical with pitch 0: it turns and does not advance; taken as it is"
    )
    assert warning(links("a"), joint("A", "ground", "a", mimic=Mimic("Z"))) == (
        "m.toml:11: joint 'A' mimics joint 'Z', which is not there; taken as an independent joint"
    )
    assert warning(links("a"), joint("A", "ground", "a", mimic=Mimic("A"))) == (
        "m.toml:11: joint 'A' mimics joint 'A', which is itself; taken as an independent joint"
    )
    assert warning(links("a"), joint("A", "ground", "a", "fixed", mimic=Mimic("Z"))) == (
        "m.toml:11: joint 'A' is fixed and mimics joint 'Z'; left as it is fixed"
    )


def test_a_mimic_of_what_does_not_move_holds_its_offset():
    follower = joint("B", "a", "b", mimic=Mimic("A", 2.0, 0.3))
    parts = Description(
        "two", links("a", "b"), (joint("A", "ground", "a", "fixed"), follower), source="m.toml"
    )
    with pytest.warns(kp.DescriptionWarning) as caught:
        m = kp.build(parts)
    assert [str(x.message) for x in caught] == [
        "m.toml:11: joint 'B' mimics joint 'A', which is fixed; stays at its offset 0.3"
    ]
    assert m.assemble([0.0]).tolist() == [0.3]


def test_mimics_in_a_circle_are_doubted_once():
    first = joint("A", "ground", "a", mimic=Mimic("B", 2.0))
    assert warning(links("a", "b"), first, joint("B", "a", "b", mimic=Mimic("A", 2.0))) == (
        "m.toml:11: joints mimic each other in a circle, A → B → A, which may hold them still; taken as it is"
    )


def test_warnings_of_reading_are_refused_too_when_strict():
    b = kp.Builder("x").link("a", mass=1.0).joint("j", "revolute", "ground", "a", quaternion=[0, 0, 0, 2])
    with pytest.raises(kp.DescriptionError, match="it was scaled to length 1"):
        kp.build(b, strict=True)


def test_snap_leaves_general_rotations_alone_and_is_no_offence():
    b = kp.Builder("s").link("a", mass=1.0, inertia=[1, 1, 1])
    b.joint("j", "revolute", "ground", "a", rpy=[0.3, 0.4, 0.5])
    assert kp.build(b, snap=1e-5, strict=True).warnings == ()
    small = kp.Builder("s").link("a", mass=1.0, inertia=[1, 1, 1])
    small.joint("j", "revolute", "ground", "a", rpy=[0.004, 0, 0])
    assert kp.build(small, snap=1e-5).warnings == ()
    sloppy = kp.Builder("s").link("a", mass=1.0, inertia=[1, 1, 1])
    sloppy.joint("j", "revolute", "ground", "a", rpy=[1.5708, 0, 0])
    with pytest.warns(kp.DescriptionWarning):
        assert kp.build(sloppy, snap=1e-5, strict=True).warnings


@pytest.mark.parametrize("gravity", [(0, 0), 9.81, (0, 0, "g"), (0, 0, math.nan)])
def test_gravity_that_is_no_vector(gravity):
    with pytest.raises(kp.DescriptionError, match=r"^(entry 3 of )?gravity "):
        kp.example("double-pendulum", gravity=gravity)


def test_gravity_may_be_an_array():
    m = kp.example("double-pendulum", gravity=np.array([0, 0, -1.62]))  # type: ignore[arg-type]
    assert m.model.description.gravity == (0.0, 0.0, -1.62)


@pytest.mark.parametrize(
    "value", [np.zeros(2) + 1j, [None, None], ["1", "2"], np.ma.masked_array([1.0, 2.0], [0, 1])]
)
def test_states_that_are_no_real_numbers(arm, value):
    assert "is not an array of real numbers" in refused(arm.mass_matrix, value)


def test_names_that_are_no_text(arm):
    assert refused(arm.pose, [0, 0], 5).startswith("double-pendulum: no link or frame 5; ")
    assert refused(arm.mass_matrix, [0, 0], method=3).startswith(
        "double-pendulum: mass_matrix has no method 3; "
    )
    assert refused(arm.bias_forces, [0, 0], [0, 0], external=[1]) == (
        "external is list; give a dict: name of a link or frame → wrench (6,)"
    )
    assert refused(kp.example, 3).startswith("no bundled example 3; ")
    assert refused(kp.build, "stanford-arm") == (
        "build takes a Description or a Builder, not str; load() takes files, example() names"
    )
    assert refused(kp.example, "scara", snap="a") == "snap is 'a'; it is a small distance between 0 and 0.1"


def test_warnings_point_at_the_line_that_called():
    weightless = Description("m", links("a"), (joint("A", "ground", "a", "helical"),))
    with pytest.warns(kp.DescriptionWarning) as caught:
        kp.build(weightless)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("seed", range(60))
def test_point_mass_on_a_ball_is_singular_wherever_it_is(seed):
    d = np.random.default_rng(seed).normal(size=3)
    b = kp.Builder("rod").link("rod", mass=1.0, com=d).joint("s", "spherical", "ground", "rod")
    with pytest.raises(kp.SingularError, match="at joint 's'"):
        kp.build(b).reference.forward_dynamics([0, 0, 0, 1], [0, 0, 0], [1, 0, 0])


def test_a_nan_row_does_not_hide_the_singularity_of_the_others():
    b = kp.Builder("m").link("a", mass=1.0, inertia=[0.1, 0.1, 0.1]).link("tip")
    b.joint("A", "revolute", "ground", "a", axis="y").joint("T", "revolute", "a", "tip")
    with pytest.warns(kp.DescriptionWarning):
        m = kp.build(b)
    q = np.array([[np.nan, 0], [0, 0], [0, 0]])
    with pytest.raises(kp.SingularError, match="state 1 of the batch"):
        m.forward_dynamics(q, [0, 0], [0, 0])


def test_gimbal_lock_is_told():
    ball = kp.build(
        kp.Builder("b").link("a", mass=1.0, inertia=[1, 1, 1]).joint("s", "spherical", "ground", "a")
    )
    _, maps = ball.split()
    with pytest.raises(kp.SingularError, match="joint 's' is in gimbal lock"):
        maps.to_split(np.array([0, np.sqrt(0.5), 0, np.sqrt(0.5)]), np.zeros(3), np.zeros(3))
    with pytest.raises(kp.InputError, match=r"a state has shape \(2,\); expected \(4,\)"):
        maps.to_split(np.zeros(2), np.zeros(3), np.zeros(3))


def test_accelerations_of_links_far_apart_are_reported_with_their_error():
    b = kp.Builder("m").link("a", mass=1.0, inertia=[0.1, 0.1, 0.1]).link("b")
    b.joint("turn", "revolute", "ground", "a", axis="z").joint("long", "prismatic", "a", "b", axis="x")
    m = kp.build(
        b.link("c", mass=1.0, inertia=[0.1, 0.1, 0.1]).joint("short", "prismatic", "b", "c", axis="y")
    )
    far, near = [0.1, 1e6, 0.2], [1e6, 1.0, -0.2]
    text = (
        "m: accelerations may be off by {error} of the largest one{which}: link 'b' is 1e+06 m away from 'a'; use "
        "coordinates of the size of the mechanism"
    )
    for of in (m, m.reference):
        with pytest.warns(kp.AccuracyWarning) as caught:
            of.forward_dynamics(far, [0, 0, 0], [0, 0, 1])
        error = str(caught[0].message).split()[6]
        assert 1e-6 < float(error) <= 1.0
        assert str(caught[0].message) == text.format(error=error, which="")
        with pytest.warns(kp.AccuracyWarning) as caught:
            of.forward_dynamics([near, far, far], [0, 0, 0], [0, 0, 1])
        assert str(caught[0].message) == text.format(error=error, which=" (state 1 of the batch)")
        of.forward_dynamics(near, [0, 0, 0], [0, 0, 1])


def test_accelerations_of_unequal_inertias_are_reported_with_their_error():
    b = kp.Builder("m").link("a", mass=1e-12, com=[1e3, 0, 0], inertia=[1e-20, 1e-20, 1e-20])
    b.joint("x", "prismatic", "ground", "a", axis="y").joint("turn", "revolute", "a", "b", axis="z")
    m = kp.build(b.link("b", mass=1.0, com=[1e3, 0, 0], inertia=[1e-7, 1e-7, 1e-7]))
    with pytest.warns(kp.AccuracyWarning) as caught:
        m.forward_dynamics([0.0, 0.0], [0, 0], [0, 1])
    assert str(caught[0].message).partition("largest one")[2] == (
        ": the inertias of its links differ by too many orders of magnitude; check masses and inertias"
    )
