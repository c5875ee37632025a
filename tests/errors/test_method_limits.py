"""What a formulation refuses for a mechanism, word for word, before any work; by reference and compiled code alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.cli.answers import Question, State
from kinpair.evaluation.quantities.request import METHODS
from kinpair.formulations import lagrange_cylinders, lagrange_euler
from kinpair.formulations.limits import MANY, refusal
from kinpair.model.build import build


def ball_arm() -> kp.Mechanism:
    b = (
        kp.Builder("robot")
        .link("a", mass=1.0, inertia=(0.1, 0.1, 0.1))
        .link("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    )
    return kp.build(b.joint("hinge", "revolute", "ground", "a").joint("ball", "spherical", "a", "b"))


ROBOT = ball_arm()
LONG = kp.Mechanism(zoo.tree(3, 13, kinds=("revolute",)).model)
STATE = zoo.motion(ROBOT)
Q, QD, QDD = STATE.q, STATE.qd, STATE.qdd
BALL = (
    "robot: method 'uicker' cannot take joint 'ball' (spherical): it needs one-parameter pairs; `other, maps = "
    "mechanism.split()` makes them, or use method 'denoc'"
)
CHRISTOFFEL = (
    "robot: method 'lagrange' gives no coriolis_matrix with joint 'ball' (spherical): Christoffel's symbols need rates "
    "that are dq/dt; `other, maps = mechanism.split()` makes them, or use method 'denoc'"
)
LIMIT = "is limited to 12 degrees of freedom, here are 13: the work grows as their"
OTHERWISE = "use method 'denoc', or force=True"


def refused(call, *arguments, **options) -> str:
    with pytest.raises(kp.InputError) as caught:
        call(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize("m", [ROBOT, ROBOT.reference], ids=["compiled", "reference"])
@pytest.mark.parametrize("force", [False, True])
def test_pairs_that_uicker_cannot_take(m, force):
    how = {"method": "uicker", "force": force}
    assert refused(m.inverse_dynamics, Q, QD, QDD, **how) == BALL
    assert refused(m.forward_dynamics, Q, QD, QDD, **how) == BALL
    assert refused(m.mass_matrix, Q, **how) == BALL
    assert refused(m.coriolis_matrix, Q, QD, **how) == BALL
    assert refused(m.bias_forces, Q, QD, **how) == BALL
    assert refused(m.gravity_forces, Q, **how) == BALL
    assert refused(m.inverse_dynamics_derivatives, Q, QD, QDD, **how) == BALL
    assert refused(m.forward_dynamics_derivatives, Q, QD, QDD, **how) == BALL
    assert refused(m.kernel, "mass_matrix", **how) == BALL


@pytest.mark.parametrize("m", [ROBOT, ROBOT.reference], ids=["compiled", "reference"])
def test_pairs_without_christoffel_symbols(m):
    assert refused(m.coriolis_matrix, Q, QD, method="lagrange") == CHRISTOFFEL
    assert refused(m.coriolis_matrix, Q, QD, method="lagrange", force=True) == CHRISTOFFEL
    assert refused(m.kernel, "coriolis_matrix", method="lagrange") == CHRISTOFFEL
    assert m.inverse_dynamics(Q, QD, QDD, method="lagrange").shape == (4,)


def test_what_the_message_proposes_works():
    split, maps = ROBOT.reference.split()
    x, xd, xdd = maps.to_split(Q, QD, QDD)
    tau = maps.efforts_to_split(x, ROBOT.reference.inverse_dynamics(Q, QD, QDD, method="denoc"))
    assert zoo.relative_error(split.inverse_dynamics(x, xd, xdd, method="uicker"), tau) < 1e-11
    assert split.coriolis_matrix(x, xd, method="lagrange").shape == (4, 4)


@pytest.mark.parametrize("m", [LONG, LONG.reference], ids=["compiled", "reference"])
def test_long_work_is_refused(m):
    s = zoo.motion(m)
    printed = (
        f"{m.name}: method 'uicker' {LIMIT} third power, in the form printed as their fourth; {OTHERWISE}"
    )
    third = f"{m.name}: method 'lagrange' {LIMIT} third power; {OTHERWISE}"
    assert refused(m.inverse_dynamics, s.q, s.qd, s.qdd, method="uicker") == printed
    assert refused(m.mass_matrix, s.q, method="uicker") == printed
    assert refused(m.coriolis_matrix, s.q, s.qd, method="uicker") == printed
    assert refused(m.coriolis_matrix, s.q, s.qd, method="lagrange") == third
    assert refused(m.kernel, "coriolis_matrix", method="lagrange") == third
    assert m.kernel("coriolis_matrix", method="lagrange", force=True).graph.count["total"] > 1000


def test_long_work_is_done_if_forced():
    m = LONG.reference
    s = zoo.motion(m)
    expected = m.coriolis_matrix(s.q, s.qd) @ s.qd
    for method in ("lagrange", "uicker"):
        C = m.coriolis_matrix(s.q, s.qd, method=method, force=True)
        assert zoo.relative_error(C @ s.qd, expected) < 1e-11


def test_the_limit_itself_is_allowed():
    at_limit = zoo.tree(3, MANY, kinds=("revolute",))
    assert at_limit.nv == MANY
    assert not any(refusal(at_limit.model, name, way) for name, ways in METHODS.items() for way in ways)


def test_the_command_line_takes_the_default_where_one_quantity_is_refused():
    arm = kp.example("floating-arm")
    zero = np.zeros(arm.nv)
    methods = Question(arm, State(arm.neutral(), zero, zero, zero), "lagrange").methods()
    assert (methods["inverse_dynamics"], methods["coriolis_matrix"]) == ("lagrange", "denoc")


def test_refusals_carry_their_parts():
    with pytest.raises(kp.InputError) as caught:
        ROBOT.mass_matrix(Q, method="uicker")
    assert caught.value.parts == {"quantity": "mass_matrix", "method": "uicker"}


def test_a_known_method_that_does_not_give_the_quantity():
    ways = ", ".join(METHODS["coriolis_matrix"])
    assert refused(ROBOT.coriolis_matrix, Q, QD, method="newton-euler") == (
        f"robot: method 'newton-euler' does not give coriolis_matrix; these do: {ways}"
    )
    ways = ", ".join(METHODS["reactions"])
    assert refused(ROBOT.reactions, Q, QD, QDD, method="uicker") == (
        f"robot: method 'uicker' does not give reactions; these do: {ways}"
    )


def test_written_out_equations_say_what_they_take():
    state = zoo.motion(ROBOT)
    assert refused(lagrange_cylinders.inertia_shares, ROBOT.model, state.q) == (
        "robot: joint 'ball' is spherical; the equations of cylinders need hinges without rotors, `lagrange` takes "
        "every pair"
    )
    angles = [np.zeros(4)] * 3
    assert refused(lagrange_euler.inverse_dynamics, ROBOT.model, *angles) == (
        "robot: joint 'hinge' is revolute; 'lagrange/euler' takes trees of spherical joints without rotors, where "
        "Euler angles of the links are free coordinates; 'lagrange/links' takes every pair"
    )
    described = zoo.tree(1, 1, kinds=("revolute",)).model.description
    hinges = tuple(replace(joint, rotor_inertia=0.0) for joint in described.joints)
    plain = build(replace(described, joints=hinges))
    assert refused(lagrange_cylinders.cylinders, plain) == (
        "tree of 1, seed 1: link 'link 1' has not the inertia of a cylinder; `lagrange` takes every inertia"
    )


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    """Other tests compile the same formulas with more room."""
    tmp_path.chmod(0o700)
    monkeypatch.setenv("KINPAIR_CACHE", str(tmp_path))


def test_code_too_long_to_compile_is_evaluated_without(monkeypatch, empty_cache):
    arm = kp.example("planar-3r")
    s = zoo.motion(arm)
    monkeypatch.setattr("kinpair.evaluation.kernels.ROOM_OF_OTHERS", 50)
    result = arm.mass_matrix(s.q, method="kane")
    assert zoo.relative_error(result, arm.mass_matrix(s.q)) < 1e-14
    assert arm.forward_dynamics(np.stack([s.q] * 2), s.qd, s.qdd, method="kane").shape == (2, 3)
    message = (
        "planar-3r: mass_matrix by method 'kane' is more than 50 operations, which take long to compile; "
        "force=True compiles them, `reference` of the mechanism evaluates them without"
    )
    assert refused(lambda: arm.kernel("mass_matrix", method="kane").graph) == message
    (row,) = [
        row for row in kp.compare(arm, quantities=["mass_matrix"], time=False).rows if row.method == "kane"
    ]
    assert row.reason == message
    assert arm.kernel("mass_matrix", method="kane", force=True).graph.count["total"] > 50
    assert arm.kernel("mass_matrix").graph.count["total"] > 0


def test_a_default_has_more_room(monkeypatch, empty_cache):
    arm = kp.example("planar-3r")
    s = zoo.motion(arm)
    monkeypatch.setattr("kinpair.evaluation.kernels.ROOM", 50)
    expected = arm.reference.inverse_dynamics_derivatives(s.q, s.qd, s.qdd)
    for force in (False, True):
        for x, y in zip(
            arm.inverse_dynamics_derivatives(s.q, s.qd, s.qdd, force=force), expected, strict=True
        ):
            assert zoo.relative_error(x, y) < 1e-13
    assert refused(lambda: arm.kernel("inverse_dynamics_derivatives").graph).startswith(
        "planar-3r: inverse_dynamics_derivatives by method 'newton-euler' is more than 50 operations"
    )
    assert arm.pose(s.q, arm.frames[-1]).position.shape == (3,)


def test_damped_ball_joints_can_be_split_without_their_dampers():
    """The road of `uicker` beside that of the whole mechanism without dampers, springs and friction."""
    described = ROBOT.model.description
    joints = tuple(replace(joint, damping=(0.3,), friction=(0.1,)) for joint in described.joints)
    m = kp.build(replace(described, joints=joints)).reference
    with pytest.raises(kp.DescriptionError) as caught:
        m.split()
    assert str(caught.value) == (
        "joint 'ball': damping, friction of a spherical joint cannot be split; split(passive=False) leaves it out, or "
        "write the hinges yourself"
    )
    split, maps = m.split(passive=False)
    x, xd, xdd = maps.to_split(Q, QD, QDD)
    tau = maps.efforts_to_split(x, m.inverse_dynamics(Q, QD, QDD, passive=False))
    assert zoo.relative_error(split.inverse_dynamics(x, xd, xdd, method="uicker"), tau) < 1e-11


def test_limits_of_a_ball_joint_are_not_lost_in_a_split():
    described = ROBOT.model.description
    joints = tuple(replace(joint, damping=(0.3,), effort=(5.0,)) for joint in described.joints)
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(replace(described, joints=joints)).split(passive=False)
    assert str(caught.value) == (
        "joint 'ball': effort of a spherical joint cannot be split; leave it out, or write the hinges yourself"
    )


@pytest.mark.parametrize("name", ["planar-3r", "four-bar"])
def test_what_methods_lists_is_what_works(name):
    m = kp.example(name).reference
    q, still = m.start(), np.zeros(m.nv)
    states = {"mass_matrix": 0, "gravity_forces": 0, "coriolis_matrix": 1, "bias_forces": 1}
    every = dict.fromkeys(way for ways in METHODS.values() for way in ways)
    for quantity, listed in m.methods.items():
        state = (q, still, still)[: 1 + states.get(quantity, 2)]
        works = [way for way in every if gives(getattr(m, quantity), *state, method=way)]
        assert set(works) == set(listed), quantity


def gives(call, *state, **options) -> bool:
    try:
        call(*state, **options)
    except kp.InputError as reason:
        if " does not give " not in str(reason):
            raise
        return False
    return True


def test_an_unknown_method_names_the_mechanism():
    m, ways = kp.example("four-bar"), ", ".join(METHODS["coriolis_matrix"])
    q, still = m.start(), np.zeros(m.nv)
    assert refused(m.coriolis_matrix, q, still, method="x") == (
        f"four-bar: coriolis_matrix has no method 'x'; methods: {ways}"
    )
    assert refused(m.coriolis_matrix, q, still, method="denok") == (
        f"four-bar: coriolis_matrix has no method 'denok'; did you mean 'denoc'? Methods: {ways}"
    )
    for call in (m.forward_dynamics, m.inverse_dynamics, m.reactions, m.forward_dynamics_derivatives):
        assert refused(call, q, still, still, method="x").startswith("four-bar: ")
    assert refused(m.kernel, "mass_matrix", method="x").startswith("four-bar: ")
