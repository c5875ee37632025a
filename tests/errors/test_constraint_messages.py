"""What is said about constraints that cannot be obeyed and calls that cannot be answered, word for word."""

from __future__ import annotations

import numpy as np
import pytest

import closed
import kinpair as kp
from kinpair.cli.arguments import mechanism
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.solvers import EVERY_SOLVER
from kinpair.description import constraint_parts as c
from kinpair.errors import DescriptionError, InputError, KinpairError, SingularError

STILL = np.zeros(3)
START = closed.start("four-bar")
SOLVERS = (
    "multipliers, udwadia-kalaba, rosenberg-extended, maggi, partition, voronets, chaplygin, screw, zhao-gu, "
    "rosenberg"
)


def said(kind: type[KinpairError], call) -> KinpairError:
    with pytest.raises(kind) as caught:
        call()
    return caught.value


@pytest.fixture(scope="module")
def linkage() -> kp.Mechanism:
    return kp.example("four-bar").reference


def slider(*constraints: c.ConstraintPart) -> kp.Mechanism:
    """A mass on a rail along x, a second on a rail along y beside it."""
    parts = (
        kp.Builder("rails")
        .link("a", mass=1.0)
        .link("b", mass=2.0)
        .joint("x", "prismatic", "ground", "a", axis="x")
        .joint("y", "prismatic", "ground", "b", xyz=[0, 1, 0], axis="y")
    )
    return kp.build(parts).reference.with_constraints(*constraints)


# Assembly.


def test_a_rod_too_short_is_named_with_what_is_missing():
    """The rail is 1 m away from the rod's other end, the rod has 0.5 m: (1 − 0.25) / (2 · 0.5) stays open at best."""
    anchor = c.Distance("rod", "ground", "a", 0.5, kp.Origin((0.0, 0.0, 1.0)))
    error = said(SingularError, lambda: slider(anchor).assemble([0.4, 0.0]))
    words = str(error).split(" after ")
    assert words[0] == "rails: cannot be assembled: 'rod' stays open by 0.75"
    assert words[1].split(" steps; ")[1] == (
        "give a guess nearer to a closed position, hold fewer coordinates, or check the lengths"
    )
    assert error.parts["residual"] == pytest.approx([0.75], abs=1e-6)


def test_coordinates_held_are_named():
    drive = c.Drive("drive", "x", "0.3 + t")
    error = said(SingularError, lambda: slider(drive).assemble([0.0, 0.0], fixed=("x",)))
    assert str(error).startswith("rails: cannot be assembled with x fixed: 'drive' stays open by 0.3 after ")


def test_two_drives_of_one_coordinate_that_disagree_are_named_by_assembly():
    two = slider(c.Drive("one", "x", "0.1 + t"), c.Drive("two", "x", "0.3 + t"))
    error = said(SingularError, lambda: two.assemble([0.0, 0.0]))
    head = str(error).split(" after ")[0]
    assert head in {
        "rails: cannot be assembled: 'one' stays open by 0.1, 'two' stays open by 0.1",
        "rails: cannot be assembled: 'two' stays open by 0.1, 'one' stays open by 0.1",
    }
    assert str(error).split(" steps; ")[1] == (
        "give a guess nearer to a closed position, hold fewer coordinates, or check the drives: they must agree with "
        "each other, and with what the loops allow"
    )


def test_an_over_determined_drive_is_named_by_assembly(linkage):
    """A linkage of one freedom with two of its joints driven: the loop stays open."""
    both = linkage.with_constraints(c.Drive("crank", "crank", "0.0"), c.Drive("lever", "output", "1.0"))
    error = said(SingularError, lambda: both.assemble(START))
    assert str(error).startswith(
        "four-bar: cannot be assembled: 'lever' stays open by 0.256, 'crank' stays open by "
    )


def test_joints_to_hold_are_known_by_name(linkage):
    error = said(InputError, lambda: linkage.assemble(START, fixed=("cranc",)))
    assert str(error) == (
        "four-bar: no joint or coordinate 'cranc'; did you mean 'crank'? Joints: crank, output, coupler"
    )


# Rates and accelerations.


def test_inputs_that_the_loop_forbids_are_named_with_its_rows(linkage):
    """Crank and output both at 1: the tips part at 1.3 of the rows' length."""
    error = said(SingularError, lambda: linkage.velocities(START, {"crank": 1.0, "output": 1.0}))
    assert str(error) == (
        "four-bar: no rates with crank = 1, output = 1 obey pin.x, pin.y (off by 1.3); "
        "give fewer inputs, or other values"
    )


def test_drives_that_disagree_leave_no_rates_and_no_accelerations():
    two = slider(c.Drive("one", "x", "t"), c.Drive("two", "x", "3*t"))
    assert str(said(SingularError, lambda: two.velocities([0.0, 0.0]))) == (
        "rails: no rates obey one, two (off by 1); they contradict each other: leave one of them out, "
        "or make them agree"
    )
    faster = slider(c.Drive("one", "x", "t**2"), c.Drive("two", "x", "2*t**2"))
    assert str(said(SingularError, lambda: faster.accelerations([0.0, 0.0], [0.0, 0.0]))) == (
        "rails: no accelerations obey one, two (off by 1); they contradict each other: leave one of them out, "
        "or make them agree"
    )


def test_of_a_batch_the_state_is_named(linkage):
    """Crank and output at 1 agree in neither state; without inputs every state has rates."""
    inputs = {"crank": 1.0, "output": np.array([1.0, 1.0])}
    error = said(SingularError, lambda: linkage.velocities(START, inputs))
    alone = said(SingularError, lambda: linkage.velocities(START, {"crank": 1.0, "output": 1.0}))
    assert str(error) == str(alone).replace("no rates with", "no rates (state 0 of the batch) with")
    drive = c.Drive("drive", "x", "0.3 + t")
    closed = [0.3, 0.0]
    error = said(SingularError, lambda: slider(drive).assemble(np.array([closed, [0.0, 0.0]]), fixed=("x",)))
    assert str(error).startswith(
        "rails: cannot be assembled (state 1 of the batch) with x fixed: 'drive' stays "
    )
    error = said(InputError, lambda: linkage.velocities(np.array([START] * 3), {"crank": np.ones(2)}))
    assert str(error) == (
        f"four-bar: input 'crank' is {np.ones(2)!r}; give a finite number, or an array of them for 3 states"
    )


def test_inputs_are_rates_by_name(linkage):
    error = said(InputError, lambda: linkage.velocities(START, {"cranc": 1.0}))
    assert str(error) == "four-bar: no rate 'cranc'; did you mean 'crank'? Rates: crank, output, coupler"


# Dynamics.


def test_contradicting_drives_are_named_by_the_dynamics():
    two = slider(c.Drive("one", "x", "t**2"), c.Drive("two", "x", "2*t**2"))
    expected = (
        "rails: the constraints contradict each other{}: no acceleration obeys one, two together with the others; "
        "leave one of them out, or make them agree"
    )
    zero = np.zeros(2)
    for solver in ("multipliers", "maggi"):
        error = said(SingularError, lambda s=solver: two.forward_dynamics(zero, zero, zero, solver=s))
        assert str(error) == expected.format("")
    batch = np.zeros((3, 2))
    error = said(SingularError, lambda: two.forward_dynamics(batch, zero, zero))
    assert str(error) == expected.format(" (state 0 of the batch)")
    assert str(said(SingularError, lambda: two.constraint_forces(zero, zero, zero))) == expected.format("")


def test_an_over_determined_drive_is_named_by_the_dynamics(linkage):
    """One freedom, two accelerations asked for: the loop and both drives cannot agree."""
    both = linkage.with_constraints(
        c.Drive("first", "crank", "t**2"), c.Drive("second", "output", f"{float(START[1])!r} + 3*t**2")
    )
    error = said(SingularError, lambda: both.forward_dynamics(START, STILL, STILL))
    assert str(error) == (
        "four-bar: the constraints contradict each other: no acceleration obeys pin.x, pin.y, first, second together "
        "with the others; leave one of them out, or make them agree"
    )


def test_coordinates_that_leave_a_loop_open_are_refused(linkage):
    error = said(InputError, lambda: linkage.forward_dynamics([0.0, np.pi / 2, np.pi / 2], STILL, STILL))
    assert str(error) == (
        "four-bar: q does not obey the constraints: 'pin' stays open by 0.13; assemble(q) gives coordinates that do"
    )
    error = said(
        InputError, lambda: linkage.forward_dynamics([START, [0.0, np.pi / 2, np.pi / 2]], STILL, STILL)
    )
    assert str(error) == (
        "four-bar: q does not obey the constraints (state 1 of the batch): 'pin' stays open by 0.13; "
        "assemble(q) gives coordinates that do"
    )


def test_a_singular_mass_with_too_few_constraints_names_what_is_free():
    parts = (
        kp.Builder("rails")
        .link("a")
        .link("b", mass=1.0)
        .joint("x", "prismatic", "ground", "a", axis="x")
        .joint("y", "prismatic", "ground", "b", axis="y")
        .drive("drive", "y", "0")
    )
    with pytest.warns(kp.DescriptionWarning):
        rails = kp.build(parts).reference
    expected = (
        "rails: forward dynamics is singular: nothing with inertia and no constraint resists the motion of x; "
        "give mass or inertia there, or a constraint"
    )
    zero = np.zeros(2)
    for solver in ("multipliers", "udwadia-kalaba", "partition"):
        error = said(SingularError, lambda s=solver: rails.forward_dynamics(zero, zero, zero, solver=s))
        assert str(error) == expected
        assert error.parts["rates"] == ["x"]


@pytest.mark.parametrize("solver", [x for x in EVERY_SOLVER if x != "zhao-gu"])
def test_a_massless_slide_that_a_coupling_leaves_free_is_named_by_every_solver(solver):
    parts = (
        kp.Builder("rails")
        .link("a", mass=1.0)
        .link("b")
        .joint("x", "prismatic", "ground", "a", axis="x")
        .joint("y", "prismatic", "ground", "b", axis="y")
        .gear("held", "x", "y", 0.0)
    )
    with pytest.warns(kp.DescriptionWarning):
        rails = kp.build(parts).reference
    error = said(
        SingularError, lambda: rails.forward_dynamics(np.zeros(2), np.zeros(2), np.ones(2), solver=solver)
    )
    assert error.parts["rates"] == ["y"]


# Inverse dynamics.


def test_accelerations_that_break_a_constraint_are_refused():
    gear = slider(c.Coupling("gear", "x", (("y", (1.0,)),)))
    error = said(InputError, lambda: gear.inverse_dynamics([0, 0], [0, 0], [1.0, 0.0]))
    assert str(error) == (
        "rails: these accelerations break gear (by 0.707); use accelerations(q, qd, inputs), which satisfy them"
    )


def test_a_motion_beyond_the_actuators_is_refused():
    """Two rails, one drive: the other mass needs 2 kg × 3 m/s² from somewhere."""
    error = said(
        SingularError, lambda: slider().inverse_dynamics([0, 0], [0, 0], [1.0, 3.0], actuators=("x",))
    )
    assert str(error) == (
        "rails: no efforts of x make this motion: 6 stays unbalanced, seen at y; "
        "add an actuator, or change the motion"
    )
    error = said(SingularError, lambda: slider().inverse_dynamics([0, 0], [0, 0], [0.0, 3.0], actuators=()))
    assert str(error) == (
        "rails: nothing is actuated, so nothing makes this motion: 6 stays unbalanced, seen at y; "
        "add an actuator, or change the motion"
    )


# Solvers.


def test_an_unknown_solver_is_refused_with_the_known_ones(linkage):
    for robot, n in ((linkage, 3), (kp.example("kr5").reference, 6)):
        zero = START if n == 3 else np.zeros(n)
        error = said(
            InputError,
            lambda m=robot, q=zero, n=n: m.forward_dynamics(q, np.zeros(n), np.zeros(n), solver="magi"),
        )
        assert str(error) == f"no solver 'magi'; did you mean 'maggi'? Solvers: {SOLVERS}"


def test_rosenberg_alone_gives_no_accelerations(linkage):
    error = said(InputError, lambda: linkage.forward_dynamics(START, STILL, STILL, solver="rosenberg"))
    assert str(error) == (
        "solver 'rosenberg' gives n − l equations and no accelerations by itself; reduced_equations() gives them, "
        "'rosenberg-extended' adds the constraints differentiated twice"
    )


def test_chaplygin_needs_coordinates_that_nothing_feels(linkage):
    error = said(InputError, lambda: linkage.forward_dynamics(START, STILL, STILL, solver="chaplygin"))
    assert str(error) == (
        "four-bar: solver 'chaplygin' needs 2 dependent coordinates on which neither mass, forces nor constraints "
        "depend; there are 0; 'voronets' or 'maggi' will do"
    )


VORONETS = (
    "{}: solver 'voronets' needs rates that are dq/dt and constraints A(q) q̇ = 0 without time; "
    "'maggi' and the others take any"
)


def test_voronets_takes_no_quaternions():
    disk = kp.example("rolling-disk").reference
    zero = np.zeros(6)
    error = said(InputError, lambda: disk.forward_dynamics(disk.neutral(), zero, zero, solver="voronets"))
    assert str(error) == VORONETS.format("rolling-disk")


@pytest.mark.parametrize(
    "constraint",
    [
        c.Drive("c", "x", "t"),
        c.Momentum("c", "linear", (1.0, 0.0, 0.0)),
        c.Momentum("c", "linear", (1.0, 0.0, 0.0), 2.0),
        c.Custom("c", psi=lambda q, qd, t: qd[0] ** 2 - qd[1] ** 2),
        c.Custom("c", A=lambda q, t: [[1.0, t]]),
    ],
    ids=["time", "unknown momentum", "momentum", "square", "matrix of time"],
)
def test_voronets_takes_no_rows_that_are_not_homogeneous_and_steady(constraint):
    rails = slider(constraint)
    zero = np.zeros(2)
    error = said(InputError, lambda: rails.forward_dynamics(zero, zero, zero, solver="voronets"))
    assert str(error) == VORONETS.format("rails")


def test_screws_need_bodies():
    system = kp.System(["x"], lambda q, qd, t: 0.5 * qd[0] ** 2, compiled=False)
    error = said(InputError, lambda: system.forward_dynamics([0.0], [0.0], solver="screw"))
    assert str(error) == (
        "system: solver 'screw' works on bodies, and this system is given by its energy; "
        f"Solvers: {SOLVERS.removesuffix(', screw, zhao-gu, rosenberg')}"
    )


def test_the_reaction_equation_needs_inertia_in_every_body_that_turns():
    robot = kp.example("space-robot")
    zero = np.zeros(robot.nv)
    error = said(InputError, lambda: robot.forward_dynamics(robot.start(), zero, zero, solver="zhao-gu"))
    assert str(error) == (
        "space-robot: solver 'zhao-gu' needs mass, and inertia about every axis that a body turns about; missing in "
        "'arm1', 'arm2'. 'multipliers' works without"
    )
    assert "zhao-gu" not in robot.solvers


# Constraints.

GIVEN = [
    (c.Custom("g"), "custom 'g': has no function; give one of phi, psi, or A (with a)"),
    (c.Custom("g", phi=len, psi=len), "custom 'g': has phi and psi; give one of phi, psi, or A (with a)"),
    (
        c.Custom("g", A=lambda q, t: [[1.0, 2.0, 3.0]]),
        "custom 'g': has an A of 1 x 3 entries; give 2 in a row, one for each rate",
    ),
    (
        c.Custom("g", A=lambda q, t: [[1.0, 2.0]], a=lambda q, t: [1.0, 2.0]),
        "custom 'g': has 1 rows in A and 2 entries in a; give as many of both",
    ),
    (
        c.Rolling("w", "ground", "a", "disk"),
        "rolling 'w': has shape 'disk' and no size; give radius = ..., in metres and above zero",
    ),
    (
        c.Rolling("w", "ground", "a", "wheel", (0.3,)),
        "rolling 'w': has shape 'wheel' and size 0.3; give size = [radius of the rim's centre line, "
        "radius of its rounding], in metres and above zero",
    ),
    (
        c.Rolling("w", "ground", "a", "ball", (-0.3,)),
        "rolling 'w': has shape 'ball' and size -0.3; give radius = ..., in metres and above zero",
    ),
    (
        c.Rolling("w", "ground", "a", lambda u: np.sqrt(u @ u) * (0.1 + 2.7 * u[2] ** 2 / (u @ u))),
        "rolling 'w': has a support function that is not convex: a step of 0.2 to either side of "
        "u = [-0.707, 0, -0.707] gives 1.42576 on average, less than h(u) = 1.45; "
        "only a convex body touches a plane in one place",
    ),
    (
        c.Loop("l", "revolute", "ground", "a", axis=(0.0, np.nan, 1.0)),
        "loop 'l': axis is nan; a finite number is needed",
    ),
    (c.KnifeEdge("k", "a", (1.0, 0.0)), "knife_edge 'k': axis has 2 numbers; 3 are needed"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("constraint", "message"), GIVEN, ids=[message for _, message in GIVEN])
def test_a_constraint_from_python_is_refused_in_these_words(constraint, message):
    assert str(said(DescriptionError, lambda: constraints_of(slider(constraint).model))) == message


@pytest.mark.parametrize("name", ["f", "f.x"])
def test_a_drive_of_a_free_joint_points_to_guides(name):
    b = kp.Builder("body").link("a", mass=1.0, inertia=[1, 1, 1]).joint("f", "free", "ground", "a")
    error = said(DescriptionError, lambda: kp.build(b).with_constraints(c.Drive("d", name, "t")))
    assert str(error) == (
        f"drive 'd': names the coordinate {name!r}, and joint 'f' turns by a quaternion, so that none of its rates is "
        "that of a coordinate; guide a frame instead, [[guide]]"
    )


def test_a_target_needs_a_position_or_a_rotation():
    error = said(InputError, lambda: slider().inverse_kinematics([0.0, 0.0], "a"))
    assert str(error) == "give a position (3,), a rotation (3, 3), or both"


# Systems given by their energy.


def kinetic(q, qd, t):
    return 0.5 * qd[0] ** 2


def mass(q, t):
    return [[1.0]]


def force(q, qd, t):
    return [0.0]


ONE_OF = "system: give T(q, qd, t) with or without Q(q, qd, t), or M(q, t) and F(q, qd, t)"
SYSTEMS = [
    (ONE_OF, lambda: kp.System(["x"])),
    (ONE_OF, lambda: kp.System(["x"], kinetic, M=mass, F=force)),
    (ONE_OF, lambda: kp.System(["x"], M=mass)),
    (ONE_OF, lambda: kp.System(["x"], Q=force, M=mass, F=force)),
    (
        "pair: the coordinates are ['x', 'x']; give a list with a name of its own for each",
        lambda: kp.System(["x", "x"], kinetic, name="pair"),
    ),
    (
        "system: the coordinates are 'xy'; give a list with a name of its own for each",
        lambda: kp.System("xy", kinetic),
    ),
    ("system: T is 3.0; give a Python function", lambda: kp.System(["x"], 3.0)),  # type: ignore[arg-type]
    (
        "system: constraint 1 has the key 'phj'; did you mean 'phi'? Keys: name, phi, psi, A, a",
        lambda: kp.System(["x"], kinetic, constraints=[{"phj": kinetic}]),
    ),
    (
        "system: constraint 2 is 3; give a mapping with phi, psi, or A and a",
        lambda: kp.System(["x"], kinetic, constraints=[{"psi": kinetic}, 3]),  # type: ignore[list-item]
    ),
    (
        "Q(q, qd, t) gives 1 numbers; give 2, one for each coordinate",
        lambda: kp.System(["x", "y"], kinetic, force, compiled=False).forward_dynamics([0, 0], [0, 0]),
    ),
    (
        "F(q, qd, t) gives 1 numbers; give 2, one for each coordinate",
        lambda: kp.System(["x", "y"], M=lambda q, t: np.eye(2), F=force).forward_dynamics([0, 0], [0, 0]),
    ),
    (
        "M(q, t) gives an array of shape (1, 1); give (2, 2)",
        lambda: kp.System(["x", "y"], M=mass, F=force).forward_dynamics([0, 0], [0, 0]),
    ),
    (
        "T(q, qd, t) gives 2 numbers; the kinetic energy is one",
        lambda: kp.System(["x"], lambda q, qd, t: [qd[0], 1.0]).forward_dynamics([0], [0]),
    ),
    (
        "system: q has shape (2,); expected (1,) or (batch, 1): x",
        lambda: kp.System(["x"], kinetic).forward_dynamics([0, 0], [0]),
    ),
    (
        "space-robot-printed is given by its energy, without bodies, and takes no base",
        lambda: kp.example("space-robot-printed", base="free"),
    ),
]


@pytest.mark.parametrize(("message", "call"), SYSTEMS, ids=[f"{k} {x}" for k, (x, _) in enumerate(SYSTEMS)])
def test_a_system_is_refused_in_these_words(message, call):
    assert str(said(InputError, call)) == message


def test_commands_want_a_mechanism():
    error = said(InputError, lambda: mechanism("space-robot-printed"))
    assert str(error) == (
        "space-robot-printed is a system given by its energy; this command needs a mechanism with bodies. "
        "In Python: kinpair.example('space-robot-printed')"
    )


def test_a_system_without_inertia_names_the_coordinate_that_is_free():
    fixed = [{"phi": lambda q, t: q[1] - q[0]}]
    system = kp.System(["x", "s", "y"], kinetic, constraints=fixed, compiled=False)
    error = said(SingularError, lambda: system.forward_dynamics([0, 0, 0], [0, 0, 0]))
    assert str(error) == (
        "system: forward dynamics is singular: nothing with inertia and no constraint resists the motion of y; "
        "give mass or inertia there, or a constraint"
    )


def test_rows_of_a_system_that_contradict_each_other_are_named():
    rows = [{"name": "slow", "psi": lambda q, qd, t: qd[0] - t}, {"psi": lambda q, qd, t: qd[0] - 2 * t}]
    system = kp.System(["x"], kinetic, constraints=rows, compiled=False)
    error = said(SingularError, lambda: system.forward_dynamics([0], [0]))
    assert str(error) == (
        "system: the constraints contradict each other: no acceleration obeys slow, constraint 2 together with the "
        "others; leave one of them out, or make them agree"
    )
