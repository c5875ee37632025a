"""What is said about functions and arguments of a user that cannot be used, word for word."""

from __future__ import annotations

import math

import numpy as np
import pytest

import closed
import kinpair as kp
from kinpair.algebra.choice import maximum, minimum, sign, where
from kinpair.description import constraint_parts as c
from kinpair.errors import DescriptionError, InputError, KinpairError, SingularError, TraceError

STILL = np.zeros(3)
START = closed.start("four-bar")


def said(kind: type[KinpairError], call) -> KinpairError:
    with pytest.raises(kind) as caught:
        call()
    return caught.value


@pytest.fixture(scope="module")
def linkage() -> kp.Mechanism:
    return kp.example("four-bar").reference


def rails() -> kp.Builder:
    return (
        kp.Builder("rails")
        .link("a", mass=1.0)
        .link("b", mass=2.0)
        .joint("x", "prismatic", "ground", "a", axis="x")
        .joint("y", "prismatic", "ground", "b", xyz=[0, 1, 0], axis="y")
    )


def kinetic(q, qd, t):
    return 0.5 * (qd[0] ** 2 + qd[1] ** 2)


# Functions of constraints: refused when the mechanism is built.

FUNCTIONS = [
    (
        c.Custom("g", phi=lambda q, t: []),
        "custom 'g': phi(q, t) gives nothing; give a number or a list of numbers",
    ),
    (
        c.Custom("g", phi=lambda q, t: None),
        "custom 'g': phi(q, t) gives None; give a number or a list of numbers",
    ),
    (
        c.Custom("g", psi=lambda q, qd, t: "slow"),
        "custom 'g': psi(q, qd, t) gives 'slow'; give a number or a list of numbers",
    ),
    (
        c.Custom("g", phi=lambda q, t: q[7]),
        "custom 'g': phi(q, t) fails: IndexError: index 7 is out of bounds for axis 0 with size 2",
    ),
    (c.Custom("g", psi=lambda q, qd, t: 1 // 0), "custom 'g': psi(q, qd, t) fails: ZeroDivisionError: "),
    (
        c.Custom("g", phi=lambda q: q[0]),
        "custom 'g': phi(q, t) fails: TypeError: <lambda>() takes 1 positional argument but 2 were given",
    ),
    (
        c.Custom("g", A=lambda q, t: [[1.0, 2.0], [3.0]]),
        "custom 'g': A(q, t) fails: ValueError: setting an array element with a sequence.",
    ),
    (
        c.Custom("g", A=lambda q, t: [[1.0, 2.0]], a=lambda q, t: []),
        "custom 'g': a(q, t) gives nothing; give a number or a list of numbers",
    ),
    (c.Drive("d", "x", 3.0), "drive 'd': motion is 3.0; give a text or a Python function"),  # type: ignore[arg-type]
    (
        c.Rolling("w", "ground", "a", "ball", (0.3,), rollers=0.5),
        "rolling 'w': has rollers on a ball, which has no rim to carry them; give a disk or a wheel",
    ),
    (
        c.Rolling("w", "ground", "a", lambda u: 0.3),
        "rolling 'w': has a support function with h(u) = 0.3 and h(2u) = 0.3; it must grow with the length of u: how "
        "far the body reaches in the direction u, times np.sqrt(u @ u)",
    ),
    (
        c.Rolling("w", "ground", "a", lambda u: u),
        "rolling 'w': support function of u gives 3 numbers; give one",
    ),
]


@pytest.mark.parametrize(("constraint", "message"), FUNCTIONS, ids=[message for _, message in FUNCTIONS])
def test_a_function_that_cannot_be_used_is_refused_at_once(constraint, message):
    error = said(DescriptionError, lambda: kp.build(rails()).with_constraints(constraint))
    assert str(error).startswith(message)


def test_the_original_error_is_kept_behind_the_one_told():
    error = said(DescriptionError, lambda: kp.build(rails().custom("g", phi=lambda q, t: q[7])))
    assert isinstance(error.__cause__, IndexError)


def test_a_function_that_fails_on_derivatives_alone_is_told_when_it_does():
    m = kp.build(rails().custom("g", phi=lambda q, t: math.gamma(1.0 + q[0]))).reference
    error = said(TraceError, lambda: m.constraint_matrix([0.0, 0.0]))
    assert str(error) == (
        "custom 'g': phi(q, t): a plain number is needed here, and derivatives are taken through this value; leave out "
        "float() and int(), use functions of NumPy, and put such values into an array by np.array([...])"
    )


def test_a_branch_in_a_constraint_is_reported_with_the_condition_and_the_replacement():
    m = kp.build(rails().custom("g", phi=lambda q, t: q[0] if q[0] > 0.0 else q[1]))
    error = said(TraceError, lambda: m.constraint_matrix([0.0, 0.0]))
    assert str(error) == (
        "custom 'g': phi(q, t): 0 < q[0]: `if`, `and`, `or` and `not` need a truth value, and this value is only known "
        "at run time; use np.where(condition, a, b), and & | ~ between conditions"
    )


@pytest.mark.parametrize(
    "phi",
    [
        lambda q, t: where(q[0] > 0.0, q[1] - q[0], q[1] + q[0]),
        lambda q, t: q[1] - np.abs(q[0]),
        lambda q, t: q[1] - maximum(q[0], -q[0]),
        lambda q, t: q[1] + minimum(q[0], -q[0]),
        lambda q, t: q[1] - sign(q[0]) * q[0],
        lambda q, t: q[1] - kp.where(q[0] < 0.0, -1.0, 1.0) * q[0],
        lambda q, t: np.where(q[0] > 0.0, q[1] - q[0], q[1] + q[0]),
        lambda q, t: q[1] - np.maximum(q[0], -q[0]),
        lambda q, t: q[1] - max(q[0], -q[0]),
        lambda q, t: q[1] - np.linalg.norm(q[:1]),
        lambda q, t: q[1] - np.interp(q[0], [-1.0, 0.0, 1.0], [1.0, 0.0, 1.0]),
        lambda q, t: q[1] - math.fabs(q[0]),
        lambda q, t: np.array([q[1], q[0]]) @ np.array([1.0, -np.sign(q[0])]),
    ],
    ids=[
        "where",
        "abs",
        "maximum",
        "minimum",
        "sign",
        "kp.where",
        "np.where",
        "np.maximum",
        "max",
        "np.linalg.norm",
        "np.interp",
        "math.fabs",
        "np.array",
    ],
)
def test_choices_make_a_track_with_a_corner(phi):
    """y = |x|, with masses 1 and 2 and a force along x: (1 + 2) ẍ = 6, ÿ = ± ẍ."""
    m = kp.build(rails().custom("track", phi=phi), gravity=(0, 0, 0))
    for x in (0.7, -0.7):
        for own in (m, m.reference):
            result = own.forward_dynamics([x, 0.7], [0.0, 0.0], [6.0, 0.0])
            assert result == pytest.approx([2.0, math.copysign(2.0, x)], rel=1e-13)


# Constraints are checked when a mechanism is made.


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (
            c.Loop("l", "revolute", "a", "nowhere"),
            "loop 'l': sits on 'nowhere', which is not a link or frame; Links and frames: ground, a, b",
        ),
        (c.Loop("l", "free", "a", "b"), "loop 'l': is of kind 'free', which holds nothing; leave it out"),
        (
            c.Loop("l", "revolute", "a", "a"),
            "loop 'l': joins 'a' to 'a', which do not move against each other; "
            "give two links with a joint between them",
        ),
        (
            c.Distance("d", "a", "b", 0.0),
            "distance 'd': has length 0; give the distance in metres, or a spherical loop for points that meet",
        ),
        (c.Drive("d", "z", "t"), "drive 'd': names the coordinate 'z'; Coordinates: x, y"),
    ],
    ids=["unknown link", "free", "with itself", "no length", "unknown coordinate"],
)
def test_a_constraint_is_refused_when_the_mechanism_is_built(constraint, message):
    parts = rails().description()
    described = type(parts)(parts.name, parts.links, parts.joints, constraints=(constraint,))
    assert str(said(DescriptionError, lambda: kp.build(described))) == message
    assert str(said(DescriptionError, lambda: kp.build(rails()).with_constraints(constraint))) == message


def test_two_constraints_of_one_name_are_refused():
    drive = c.Drive("d", "x", "t")
    error = said(DescriptionError, lambda: kp.build(rails()).with_constraints(drive, drive))
    assert str(error) == "drive 'd': has the name of another constraint; give one of them another name"


# Systems given by their energy.

TWICE = [{"name": "a", "phi": lambda q, t: q[0]}, {"name": "a", "phi": lambda q, t: q[1]}]
SYSTEMS = [
    (
        "system: M(q, t) is not symmetric: M[0, 1] = 0.5 and M[1, 0] = 0 at q = [0.540302, -0.416147]; "
        "a mass matrix is, since T = ½ q̇ᵀM q̇",
        lambda: kp.System(["x", "y"], M=lambda q, t: [[1.0, 0.5], [0.0, 1.0]], F=lambda q, qd, t: [0.0, 0.0]),
    ),
    (
        "system: custom 'a': has the name of another constraint; give one of them another name",
        lambda: kp.System(["x", "y"], kinetic, constraints=TWICE),
    ),
    (
        "system: a coordinate is called 'ground'; give a text, and not 'ground'",
        lambda: kp.System(["ground", "y"], kinetic),
    ),
    (
        "system: T(q, qd, t) gives None; give a number or a list of numbers",
        lambda: kp.System(["x", "y"], lambda q, qd, t: None),
    ),
    (
        "system: T(q, qd, t) gives nothing; give a number or a list of numbers",
        lambda: kp.System(["x", "y"], lambda q, qd, t: []),
    ),
    (
        "system: T(q, qd, t) fails: TypeError: kinetic() takes 3 positional arguments but 4 were given",
        lambda: kp.System(["x", "y"], kinetic, parameters={"m": 1.0}),
    ),
    (
        "system: Q(q, qd, t) fails: IndexError: index 2 is out of bounds for axis 0 with size 2",
        lambda: kp.System(["x", "y"], kinetic, lambda q, qd, t: [q[2], 0.0]),
    ),
    (
        "system: F(q, qd, t) fails: ZeroDivisionError: ",
        lambda: kp.System(["x", "y"], M=lambda q, t: np.eye(2), F=lambda q, qd, t: [1 // 0, 0.0]),
    ),
    (
        "system: custom 'constraint 1': psi(q, qd, t) fails: KeyError: 'speed'",
        lambda: kp.System(["x", "y"], kinetic, constraints=[{"psi": lambda q, qd, t: {}["speed"]}]),
    ),
    (
        "system: q has shape (3, 2); this takes one state",
        lambda: kp.System(["x", "y"], kinetic).kinetic_energy(np.zeros((3, 2)), np.zeros((3, 2))),
    ),
    (
        "fixed is 'x'; give a tuple of names, ('x',)",
        lambda: kp.System(["x", "y"], kinetic).assemble([0.0, 0.0], fixed="x"),
    ),
    (
        "no solver ''; Solvers: multipliers, ",
        lambda: kp.System(["x", "y"], kinetic).forward_dynamics([0, 0], [0, 0], solver=""),
    ),
]


@pytest.mark.parametrize(("message", "call"), SYSTEMS, ids=[f"{k} {x}" for k, (x, _) in enumerate(SYSTEMS)])
def test_a_system_is_refused_in_these_words(message, call):
    assert str(said(InputError, call)).startswith(message)


def test_a_list_of_one_number_is_a_kinetic_energy():
    system = kp.System(["x"], lambda q, qd, t: [qd[0] ** 2], compiled=False)
    assert system.forward_dynamics([0.0], [0.0], [4.0]).tolist() == [2.0]
    assert system.kinetic_energy([0.0], [3.0]) == 9.0


def test_a_negative_kinetic_energy_is_doubted():
    with pytest.warns(kp.DescriptionWarning, match="system: the kinetic energy is negative for some rates"):
        kp.System(["x", "y"], lambda q, qd, t: -kinetic(q, qd, t))


# Arguments of calls.


def target(linkage, **at):
    return lambda: linkage.inverse_kinematics(START, "coupler", **at)


def test_targets_are_three_numbers_and_a_rotation(linkage):
    expected = [
        ({"position": [0.1, 0.2]}, "position has shape (2,); give numbers of shape (3,)"),
        ({"position": 0.1}, "position has shape (); give numbers of shape (3,)"),
        ({"position": "there"}, "position is 'there'; give numbers of shape (3,)"),
        ({"position": [0, np.nan, 0]}, "position holds NaN or infinity; give numbers of shape (3,)"),
        ({"rotation": np.eye(2)}, "rotation has shape (2, 2); give numbers of shape (3, 3)"),
        (
            {"rotation": np.ones((3, 3))},
            "rotation is not a rotation matrix: its rows must be unit vectors at right angles, right-handed",
        ),
        (
            {"rotation": -np.eye(3)},
            "rotation is not a rotation matrix: its rows must be unit vectors at right angles, right-handed",
        ),
    ]
    for at, message in expected:
        assert str(said(InputError, target(linkage, **at))) == message


def test_a_target_out_of_reach_names_the_frame():
    linkage = kp.example("four-bar")
    error = said(SingularError, target(linkage, position=[9.0, 0.0, 0.0]))
    left = error.parts["left"]["coupler [m]"]
    assert str(error) == (
        f"four-bar: 'coupler' cannot be brought there from this q: {left:.3g} m are left at the nearest place found; "
        "the target is out of reach, or needs a guess nearer to it"
    )
    assert error.parts["frame"] == "coupler"
    place = linkage.pose(error.parts["q"], "coupler").position
    assert left == pytest.approx(np.linalg.norm(place - [9.0, 0.0, 0.0]))
    assert np.abs(linkage.constraint_residual(error.parts["q"])).max() < 1e-9


def test_inputs_and_times_are_numbers(linkage):
    error = said(InputError, lambda: linkage.velocities(START, {"crank": "fast"}))  # type: ignore[dict-item]
    assert str(error) == "four-bar: input 'crank' is 'fast'; give a finite number"
    error = said(InputError, lambda: linkage.velocities(START, [1.0]))  # type: ignore[arg-type]
    assert str(error) == "four-bar: inputs is [1.0]; give a dict: name of a rate → number"
    error = said(InputError, lambda: linkage.forward_dynamics(START, STILL, STILL, time="now"))
    assert str(error) == "time is 'now'; give a number of seconds"


def test_room_for_results_has_their_shape(linkage):
    for out, result in ((np.zeros((2, 3)), "float64 (2, 3)"), ([0.0] * 3, "list")):
        error = said(InputError, lambda x=out: linkage.forward_dynamics(START, STILL, STILL, out=x))
        assert str(error) == f"out= is {result}; it must be an array float64 (3,)"


def test_one_name_is_no_tuple_of_names(linkage):
    error = said(InputError, lambda: linkage.assemble(START, fixed="crank"))
    assert str(error) == "fixed is 'crank'; give a tuple of names, ('crank',)"
    error = said(InputError, lambda: linkage.inverse_kinematics(START, "coupler", [0, 0, 0], fixed="crank"))
    assert str(error) == "fixed is 'crank'; give a tuple of names, ('crank',)"
    error = said(InputError, lambda: linkage.inverse_dynamics(START, STILL, STILL, actuators="crank"))
    assert str(error) == "actuators is 'crank'; give a list of names, ['crank'], or \"all\""


def test_the_bad_row_of_a_batch_is_numbered(linkage):
    good = linkage.accelerations(START, STILL, {"crank": 1.0})
    error = said(
        InputError, lambda: linkage.inverse_dynamics([START] * 3, STILL, [good, good, [1.0, 0.0, 0.0]])
    )
    assert str(error).startswith("four-bar: these accelerations (state 2 of the batch) break pin.y")
    free = kp.build(rails()).reference
    call = lambda: free.inverse_dynamics(np.zeros((2, 2)), [0, 0], [[1, 0], [1, 3]], actuators=("x",))  # noqa: E731
    assert str(said(SingularError, call)).startswith(
        "rails: no efforts of x make this motion (state 1 of the batch): 6 stays unbalanced"
    )


def test_accelerations_of_a_batch_at_one_state(linkage):
    ways = [linkage.accelerations(START, STILL, {"crank": float(k)}) for k in range(3)]
    result = linkage.inverse_dynamics(START, STILL, ways)
    assert result == pytest.approx(
        np.array([linkage.inverse_dynamics(START, STILL, x) for x in ways]), rel=1e-13
    )


def test_threads_are_told_by_the_name_of_the_call(linkage):
    for m in (linkage, kp.example("four-bar")):
        for name in ("forward_dynamics", "inverse_dynamics"):
            error = said(InputError, lambda m=m, name=name: getattr(m, name)(START, STILL, STILL, threads=0))
            assert str(error) == f"{name}: threads=0; it must be a whole number, at least 1"


def test_no_name_is_no_solver(linkage):
    error = said(InputError, lambda: linkage.forward_dynamics(START, STILL, STILL, solver=""))
    assert str(error).startswith("no solver ''; Solvers: multipliers, ")
