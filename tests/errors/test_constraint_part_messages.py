"""What is said about a wrong constraint, word for word: while reading, while building, while writing."""

from __future__ import annotations

import pytest

import kinpair as kp
from kinpair.constraints.rows.build import constraints_of
from kinpair.description.constraint_parts import Custom, OnSurface
from kinpair.description.parts import Description
from kinpair.description.toml_reader import parse_toml
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError
from kinpair.pairs import CLOSINGS

LOOP = '[[loop]]\nname = "c"\nkind = "revolute"\nparent = "ground"\nchild = "b"\n'
COUPLING = '[[coupling]]\nname = "c"\njoint = "j"\n'
DISTANCE = '[[distance]]\nname = "c"\nparent = "ground"\nchild = "b"\n'
SURFACE = '[[surface]]\nname = "c"\nchild = "b"\n'
ROLLING = '[[rolling]]\nname = "c"\nchild = "b"\n'
DRIVE = '[[drive]]\nname = "c"\njoint = "j"\n'
GUIDE = '[[guide]]\nname = "c"\nchild = "b"\n'
MOMENTUM = '[[momentum]]\nname = "c"\n'
KNIFE_EDGE = '[[knife_edge]]\nname = "c"\nchild = "b"\n'
DISK = 'shape = "disk"\nradius = 1\n'
UNIVERSAL = LOOP.replace('"revolute"', '"universal"')
SURFACES = "formula, formulas, plane, sphere, cylinder, circle"
COEFFICIENTS = "a number, or a list [c1, c2, ...] for c1 y + c2 y² + ..."

READING = [
    # every kind
    ("[[loop]]\n", ":1: loop 1: name is missing; give a name for the constraint"),
    ("loop = 3", ": loop is 3; write [[loop]] above the keys of each loop"),
    (LOOP + LOOP, ":6: constraint 'c' is already there at arm.toml:1; give one of them another name"),
    (
        LOOP + DRIVE + "motion = 1",
        ":6: constraint 'c' is already there at arm.toml:1; give one of them another name",
    ),
    (
        LOOP + "gravity = [0, 0, 0]",
        ":1: loop 'c': gravity belongs to the mechanism; write it above the first [[link]] or [[joint]]",
    ),
    # loops
    (
        '[[loop]]\nname = "c"\nparent = "a"\nchild = "b"',
        ":1: loop 'c': kind is missing; give revolute, spherical, another kind of joint, or pin",
    ),
    (
        '[[loop]]\nname = "c"\nkind = "fixed"\nchild = "b"',
        ":1: loop 'c': parent is missing; give the link or frame on one side, \"ground\" for the world",
    ),
    (
        '[[loop]]\nname = "c"\nkind = "fixed"\nparent = "b"',
        ":1: loop 'c': child is missing; give the link or frame on the other side",
    ),
    (LOOP + 'axis = "w"', ":1: loop 'c': axis is 'w'; give 'x', 'y', 'z', '-x', '-y', '-z' or [x, y, z]"),
    (
        LOOP + "child_rpy = [0, 0, 0]\nchild_quaternion = [0, 0, 0, 1]",
        ":1: loop 'c': child_rpy and child_quaternion both turn the same frame; keep one of them",
    ),
    (
        LOOP + "xzy = [0, 0, 0]",
        ":1: loop 'c': unknown key 'xzy'; did you mean 'xyz'? Keys: name, kind, parent, child, xyz, rpy, quaternion, "
        "matrix, child_xyz, child_rpy, child_quaternion, child_matrix, axis, axis2, pitch, compliance, "
        "friction, damping, stiffness, rest, lower, upper, start",
    ),
    # couplings
    (
        '[[coupling]]\nname = "c"\nfollows = "k"',
        ":1: coupling 'c': joint is missing; give the coordinate: a joint of one degree of freedom, or joint.part",
    ),
    (
        COUPLING,
        ":1: coupling 'c': follows is missing; give the coordinate that it follows, or terms for several",
    ),
    (
        COUPLING + 'follows = "k"\nterms = []',
        ":1: coupling 'c': follows and terms both say what it follows; keep one of them",
    ),
    (
        COUPLING + "ratio = 2\nterms = []",
        ":1: coupling 'c': ratio goes with follows; write it as coefficients in terms",
    ),
    (
        COUPLING + 'terms = "k"',
        ":1: coupling 'c': terms is 'k'; give a list of tables such as {joint = \"a\", coefficients = 2}",
    ),
    (COUPLING + "terms = [1]", ":1: coupling 'c': entry 1 of terms is 1; give a table of keys and values"),
    (
        COUPLING + 'terms = [{ joint = "k" }]',
        f":1: coupling 'c', entry 1 of terms: coefficients is missing; give {COEFFICIENTS}",
    ),
    (
        COUPLING + 'terms = [{ joint = "k", coefficients = [] }]',
        f":1: coupling 'c', entry 1 of terms: coefficients is empty; give {COEFFICIENTS}",
    ),
    # distances
    (DISTANCE, ":1: distance 'c': length is missing; give the distance in metres"),
    # surfaces
    (SURFACE, f":1: surface 'c': has no surface; give one of {SURFACES}"),
    (
        SURFACE + 'formula = "z"\nsphere = 1',
        f":1: surface 'c': has formula and sphere; give one of {SURFACES}",
    ),
    (SURFACE + "sphere = -1", ":1: surface 'c': sphere is -1; give a length in metres, above zero"),
    (SURFACE + "plane = 1", ":1: surface 'c': plane is 1; give true or false"),
    (SURFACE + "plane = false", ":1: surface 'c': plane is False; give true, or leave it out"),
    (SURFACE + 'formula = " "', ":1: surface 'c': formula is empty; give a formula as a text, or a number"),
    (
        SURFACE + 'formulas = ["x"]',
        ":1: surface 'c': formulas is ['x']; give two formulas in a list, or one as formula",
    ),
    (SURFACE + 'formulas = ["x", true]', ":1: surface 'c': entry 2 of formulas is True; give a number"),
    # rolling
    (ROLLING, ":1: rolling 'c': shape is missing; give disk, ball, ellipsoid or wheel"),
    (
        ROLLING + 'shape = "ball"\nradius = 1\nsize = 1',
        ":1: rolling 'c': radius and size both say how large it is; keep one of them",
    ),
    (ROLLING + 'shape = "ball"\nnormal = 0', ":1: rolling 'c': normal is 0; give true or false"),
    # prescribed motion
    (
        DRIVE,
        ":1: drive 'c': motion is missing; give the coordinate as a formula in t, such as \"0.3*sin(2*t)\"",
    ),
    (GUIDE + 'xyz = "t"', ":1: guide 'c': xyz is 't'; give three formulas in t, \"\" where it is free"),
    (
        GUIDE + 'xyz = ["t", "t"]',
        ":1: guide 'c': xyz has 2 formulas; give three formulas in t, \"\" where it is free",
    ),
    # momentum
    (MOMENTUM, ":1: momentum 'c': part is missing; give 'angular' or 'linear'"),
    (
        MOMENTUM + 'part = "angula"',
        ":1: momentum 'c': part is 'angula'; did you mean 'angular'? give 'angular' or 'linear'",
    ),
]


@pytest.mark.parametrize(("text", "message"), READING, ids=[message for _, message in READING])
def test_a_wrong_constraint_is_refused_in_these_words(text, message):
    with pytest.raises(DescriptionError) as caught:
        parse_toml(text, source="arm.toml", warnings=WarningList())
    assert str(caught.value) == f"arm.toml{message}"


TREE = """
[[link]]
name = "a"
mass = 1
inertia = [1, 1, 1]
[[link]]
name = "b"
mass = 1
inertia = [1, 1, 1]
[[joint]]
name = "j"
kind = "revolute"
parent = "ground"
child = "a"
[[joint]]
name = "k"
kind = "planar"
parent = "a"
child = "b"
"""
COORDINATES = "Coordinates: j, k.x, k.y, k.angle"
BUILDING = [
    (
        LOOP.replace('"revolute"', '"revolut"'),
        "has kind 'revolut'; did you mean 'revolute'? Kinds: " + ", ".join(CLOSINGS),
    ),
    (LOOP.replace('"revolute"', '"free"'), "is of kind 'free', which holds nothing; leave it out"),
    (
        LOOP.replace('"revolute"', '"helical"'),
        "is helical without a pitch; give pitch in metres per radian",
    ),
    (
        LOOP.replace('"b"', '"bb"'),
        "sits on 'bb', which is not a link or frame; did you mean 'b'? Links and frames: ground, a, b",
    ),
    (
        LOOP.replace('"b"', '"ground"'),
        "joins 'ground' to 'ground', which do not move against each other; "
        "give two links with a joint between them",
    ),
    (COUPLING + 'follows = "k"', f"names the coordinate 'k'; {COORDINATES}"),
    (COUPLING + 'follows = "k.z"', f"names the coordinate 'k.z'; did you mean 'k.y'? {COORDINATES}"),
    (COUPLING + 'follows = "j"', "lets 'j' follow itself; name another coordinate"),
    (
        DISTANCE + "length = 0",
        "has length 0; give the distance in metres, or a spherical loop for points that meet",
    ),
    (
        SURFACE + 'formula = "x + w"',
        "formula 1 has the variable 'w' in the formula 'x + w'; Variables: x, y, z, pi",
    ),
    (ROLLING + 'shape = "disk"', "has shape 'disk' and no size; give radius = ..., in metres and above zero"),
    (
        ROLLING + 'shape = "disc"\nradius = 1',
        "has shape 'disc'; did you mean 'disk'? Shapes: disk, ball, ellipsoid, wheel, "
        "or a support function in Python",
    ),
    (
        ROLLING + 'shape = "ellipsoid"\nradius = 1',
        "has shape 'ellipsoid' and size 1; give size = [a, b, c], the semi-axes, in metres and above zero",
    ),
    (
        DRIVE + 'motion = "sin("',
        "motion is 'sin(', which is not a formula; write something like '0.3*sin(2*pi*t)'",
    ),
    *[
        (text + "axis = [0, 0, 0]", "has the axis 0 0 0; give a direction")
        for text in (LOOP, ROLLING + DISK, KNIFE_EDGE, MOMENTUM + 'part = "linear"\n')
    ],
    (UNIVERSAL + "axis2 = [0, 0, 0]", "has the axis 0 0 0; give a direction"),
    (
        UNIVERSAL + "axis = [0, 1, 0]\naxis2 = [0, 2, 0]",
        "has axes at 0°; those of a universal joint are perpendicular, use two revolute joints otherwise",
    ),
    (
        ROLLING + 'shape = "ellipsoid"\nsize = [1, 1, 2]\nrollers = 0',
        "has rollers on an ellipsoid, which has no rim to carry them; give a disk or a wheel",
    ),
    (GUIDE, "guides nothing; give xyz or rpy as functions of t"),
    (
        GUIDE + 'rpy = ["t", "", ""]',
        "has some of roll, pitch and yaw; give all three as functions of t, or none",
    ),
]


@pytest.mark.parametrize(("text", "message"), BUILDING, ids=[message for _, message in BUILDING])
def test_a_constraint_that_does_not_fit_the_mechanism_is_refused_with_its_line(text, message):
    description = parse_toml(TREE + text, source="arm.toml", warnings=WarningList())
    with pytest.raises(DescriptionError) as caught:
        constraints_of(kp.build(description).model)
    line = (TREE + text).count("\n", 0, len(TREE)) + 1
    word = text[2 : text.index("]]")]
    assert str(caught.value) == f"arm.toml:{line}: {word} 'c': {message}"


def function(*values: object) -> float:
    return 0.0


SAID = (
    "is a Python function, which a TOML file cannot hold; write a formula as a text where one will do, "
    "else keep this part in Python"
)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Custom("rows", psi=function), f"custom 'rows': psi {SAID}"),
        (OnSurface("bowl", "ground", "b", (function,)), f"surface 'bowl': formulas {SAID}"),
        (
            OnSurface("w", "ground", "b", ("x", function), where="a.toml:3"),
            f"a.toml:3: surface 'w': formulas {SAID}",
        ),
    ],
)
def test_functions_are_not_written_to_a_file(part, message):
    with pytest.raises(DescriptionError) as caught:
        kp.to_toml(Description("x", (), (), constraints=(part,)))
    assert str(caught.value) == message


MESSAGES = {
    "custom 'f': phi is 3; give a formula as a text, a list of them, or a Python function": lambda b: (
        b.custom("f", phi=3)
    ),
    "coupling 'g': ratio is 'x'; give a number": lambda b: b.gear("g", "j", "k", "x"),
    "constraint 'm' is already there; give one of them another name": lambda b: (
        b.momentum("m", "linear").momentum("m", "angular").description()
    ),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_the_builder_names_the_constraint(message):
    with pytest.raises(DescriptionError) as caught:
        MESSAGES[message](kp.Builder("x"))
    assert str(caught.value) == message
