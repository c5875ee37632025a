"""What is said about a wrong TOML file or DH table, word for word."""

from __future__ import annotations

import pytest

from kinpair.description import schema
from kinpair.description.dh import DHRow, dh_description, parse_dh_csv
from kinpair.description.parts import Description
from kinpair.description.toml_reader import TOP, parse_toml, read_toml
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError

LINK = '\n[[link]]\nname = "a"\n'
JOINT = '\n[[joint]]\nname = "j"\nkind = "fixed"\nparent = "ground"\nchild = "a"\n'
FRAME = '\n[[frame]]\nname = "f"\nlink = "a"\n'
ROW = '[dh]\nconvention = "standard"\n[[dh.row]]\n'
LINK_KEYS = "name, mass, com, inertia, inertia_about, visual"
ANGLE = 'a number of radians, or a fraction of pi such as "pi/2", "-pi" or "2*pi/3"'
INERTIA = "3 numbers (xx, yy, zz), 6 (xx, yy, zz, xy, xz, yz) or 3 rows of 3"
SHAPE_KEYS = "box, sphere, cylinder, capsule, mesh, scale, colour, xyz, rpy, quaternion, matrix"

TOML = [
    # the text
    ("name = \n", ":1: is not TOML: Invalid value"),
    ('a = "x', ":1: is not TOML: Unterminated string"),
    ('name = "a"\nname = "b"', ":2: is not TOML: Cannot overwrite a value"),
    # the file
    (
        "gravty = [0, 0, 0]",
        f": unknown key 'gravty'; did you mean 'gravity'? Keys: {', '.join(TOP)}",
    ),
    ("name = 3", ": name is 3; give a text in quotes"),
    ("gravity = 9.81", ": gravity is 9.81; give [x, y, z] in m/s², [0, 0, 0] for none"),
    ("gravity = [0, -9.81]", ": gravity has 2 numbers; give [x, y, z] in m/s², [0, 0, 0] for none"),
    ("gravity = [0, 0, nan]", ": entry 3 of gravity is nan; give a finite number"),
    ("gravity = [0, 0, true]", ": entry 3 of gravity is True; give a number"),
    ('[link]\nname = "a"', ": link is {'name': 'a'}; write [[link]] above the keys of each link"),
    ("joint = [1]", ": joint is [1]; write [[joint]] above the keys of each joint"),
    ("dh = 1", ": dh is 1; give a table of keys and values"),
    # names
    ("[[link]]\nmass = 1", ":1: link 1: name is missing; give a name for the link"),
    ('[[link]]\nname = ""', ":1: link 1: name is empty; give a name"),
    ("[[joint]]\n", ":1: joint 1: name is missing; give a name for the joint"),
    ("[[frame]]\n", ":1: frame 1: name is missing; give a name for the frame"),
    (LINK + LINK, ":5: link 'a' is already there at arm.toml:2; give one of them another name"),
    (JOINT + JOINT, ":8: joint 'j' is already there at arm.toml:2; give one of them another name"),
    (FRAME + FRAME, ":6: frame 'f' is already there at arm.toml:2; give one of them another name"),
    (
        ROW + JOINT.replace('"j"', '"joint1"'),
        ":5: joint 'joint1' is already there at arm.toml:3; give one of them another name",
    ),
    # links
    (LINK + "mas = 1", f":2: link 'a': unknown key 'mas'; did you mean 'mass'? Keys: {LINK_KEYS}"),
    (
        LINK + "gravity = [0, 0, 0]",
        ":2: link 'a': gravity belongs to the mechanism; write it above the first [[link]] or [[joint]]",
    ),
    (LINK + 'mass = "1 kg"', ":2: link 'a': mass is '1 kg'; give a number"),
    (LINK + "mass = inf", ":2: link 'a': mass is inf; give a finite number"),
    (LINK + f"mass = {10**400}", ":2: link 'a': mass is inf; give a finite number"),
    (LINK + "com = [1]", ":2: link 'a': com has 1 number; give [x, y, z]"),
    (LINK + "inertia = 1", f":2: link 'a': inertia is 1; give {INERTIA}"),
    (LINK + "inertia = [1, 2]", f":2: link 'a': inertia has 2 numbers; give {INERTIA}"),
    (LINK + "inertia = [1, 2, {}]", ":2: link 'a': entry 3 of inertia is {}; give a number"),
    (
        LINK + "inertia = [[1, 0, 0], [0, 1], [0, 0, 1]]",
        ":2: link 'a': entry 2 of inertia has 2 numbers; give a row of 3 numbers",
    ),
    (
        LINK + "inertia = [[1, 0.1, 0], [-0.1, 1, 0], [0, 0, 1]]",
        ":2: link 'a': inertia is not symmetric: 0.1 in row 1, column 2 and -0.1 across the diagonal; "
        "give the same number twice",
    ),
    (
        LINK + 'inertia_about = "cog"',
        ":2: link 'a': inertia_about is 'cog'; did you mean 'com'? give 'com' or 'origin'",
    ),
    (LINK + "inertia_about = 1", ":2: link 'a': inertia_about is 1; give 'com' or 'origin'"),
    # shapes
    (LINK + "visual = 1", ":2: link 'a': visual is 1; give a list of tables such as {box = [1, 1, 1]}"),
    (LINK + "visual = [1]", ":2: link 'a': entry 1 of visual is 1; give a table of keys and values"),
    (
        LINK + "visual = [{ bx = [1, 1, 1] }]",
        f":2: link 'a', entry 1 of visual: unknown key 'bx'; did you mean 'box'? Keys: {SHAPE_KEYS}",
    ),
    (
        LINK + "visual = [{ xyz = [1, 1, 1] }]",
        ":2: link 'a', entry 1 of visual: has no shape; give one of box, sphere, cylinder, capsule, mesh",
    ),
    (
        LINK + "visual = [{ sphere = 1, box = [1, 1, 1] }]",
        ":2: link 'a', entry 1 of visual: has box and sphere; "
        "give one of box, sphere, cylinder, capsule, mesh",
    ),
    (
        LINK + "visual = [{ box = [1, 1, 1], scale = [1, 1, 1] }]",
        ":2: link 'a', entry 1 of visual: scale goes with a mesh; give the size in box",
    ),
    (
        LINK + "visual = [{ sphere = 1, colour = [255, 0, 0] }]",
        ":2: link 'a', entry 1 of visual: colour is [255, 0, 0]; give red, green, blue and, if wanted, opacity, "
        "each from 0 to 1",
    ),
    (
        LINK + "visual = [{ cylinder = 1 }]",
        ":2: link 'a', entry 1 of visual: cylinder is 1; give [radius, length]",
    ),
    # joints
    (
        '[[joint]]\nname = "j"',
        ":1: joint 'j': kind is missing; give revolute, prismatic, fixed or another kind of joint",
    ),
    (
        '[[joint]]\nname = "j"\nkind = "fixed"',
        ":1: joint 'j': parent is missing; give the link that holds the joint, \"ground\" for the world",
    ),
    (
        '[[joint]]\nname = "j"\nkind = "fixed"\nparent = "a"',
        ":1: joint 'j': child is missing; give the link that the joint moves",
    ),
    (JOINT + 'axis = "w"', ":2: joint 'j': axis is 'w'; give 'x', 'y', 'z', '-x', '-y', '-z' or [x, y, z]"),
    (JOINT + "axis = {}", ":2: joint 'j': axis is {}; give 'x', 'y', 'z', '-x', '-y', '-z' or [x, y, z]"),
    (JOINT + "axis2 = [1, 0]", ":2: joint 'j': axis2 has 2 numbers; give [x, y, z]"),
    (JOINT + 'damping = "low"', ":2: joint 'j': damping is 'low'; give a number"),
    (
        JOINT + "damping = []",
        ":2: joint 'j': damping is empty; give a number, or a list with one for each degree of freedom",
    ),
    (JOINT + "friction = [1, inf]", ":2: joint 'j': entry 2 of friction is inf; give a finite number"),
    (JOINT + "lower = nan", ":2: joint 'j': lower is nan; give a number, or inf for no limit"),
    (JOINT + 'lower = "90deg"', f":2: joint 'j': lower is '90deg'; give {ANGLE}"),
    (JOINT + "rest = inf", ":2: joint 'j': rest is inf; give a finite number"),
    (JOINT + "mimic = 1", ":2: joint 'j': mimic is 1; give a table of keys and values"),
    (JOINT + "mimic = {}", ":2: joint 'j', mimic: joint is missing; give the name of the joint it follows"),
    (
        JOINT + 'mimic = { joint = "k", ofset = 1 }',
        ":2: joint 'j', mimic: unknown key 'ofset'; did you mean 'offset'? Keys: joint, multiplier, offset",
    ),
    # placing
    (FRAME + 'rpy = ["pi/0", 0, 0]', f":2: frame 'f': entry 1 of rpy is 'pi/0'; give {ANGLE}"),
    (FRAME + 'rpy = ["1.57", 0, 0]', f":2: frame 'f': entry 1 of rpy is '1.57'; give {ANGLE}"),
    (FRAME + "rpy = [0, 0]", ":2: frame 'f': rpy has 2 numbers; give [roll, pitch, yaw]"),
    (
        FRAME + "rpy = [0, 0, 0]\nquaternion = [0, 0, 0, 1]",
        ":2: frame 'f': rpy and quaternion both turn the same frame; keep one of them",
    ),
    (
        JOINT + "child_rpy = [0, 0, 0]\nchild_matrix = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
        ":2: joint 'j': child_rpy and child_matrix both turn the same frame; keep one of them",
    ),
    (
        FRAME + "quaternion = [0, 0, 0, 0]",
        ":2: frame 'f': quaternion has length 0; give [x, y, z, w] of length 1",
    ),
    (FRAME + "quaternion = [0, 0, 1]", ":2: frame 'f': quaternion has 3 numbers; give [x, y, z, w]"),
    (FRAME + "matrix = [[1, 0, 0], [0, 1, 0]]", ":2: frame 'f': matrix has 2 rows; give 3 rows of 3 numbers"),
    (
        FRAME + "matrix = [[1, 0.001, 0], [0, 1, 0], [0, 0, 1]]",
        ":2: frame 'f': matrix is not a rotation: its rows differ from perpendicular unit vectors by 0.001; "
        "at most 1e-06 will do",
    ),
    (
        FRAME + "matrix = [[1e200, 0, 0], [0, 1, 0], [0, 0, 1]]",
        ":2: frame 'f': matrix is not a rotation: its rows differ from perpendicular unit vectors by inf; "
        "at most 1e-06 will do",
    ),
    (
        FRAME + "matrix = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]",
        ":2: frame 'f': matrix is a reflection, not a rotation; change the sign of one row",
    ),
    ('[[frame]]\nname = "f"', ":1: frame 'f': link is missing; give the link it sits on, or \"ground\""),
    # tables of Denavit and Hartenberg
    ("[dh]\n", ': dh: convention is missing; give "standard" or "modified"'),
    ('[dh]\nconvention = "standard"', ": dh: row is missing; give a table [[dh.row]] for each joint"),
    (
        '[dh]\nrow = []\nconvention = "modifed"',
        ": dh: convention is 'modifed'; did you mean 'modified'? give 'standard' or 'modified'",
    ),
    (
        '[dh]\nconvention = "standard"\n[dh.row]\na = 1',
        ": dh: dh.row is {'a': 1}; write [[dh.row]] above the keys of each dh.row",
    ),
    (
        ROW + "alpha = 1\nalpha_deg = 57",
        ":3: row 1: alpha and alpha_deg are the same angle; keep one of them",
    ),
    (ROW + 'kind = "spherical"', ":3: row 1: kind is 'spherical'; give 'revolute' or 'prismatic'"),
    (ROW + 'name = "wrist"\na = "long"', ":3: row 'wrist': a is 'long'; give a number"),
]


@pytest.mark.parametrize(("text", "message"), TOML, ids=[message for _, message in TOML])
def test_a_wrong_file_is_refused_in_these_words(text, message):
    with pytest.raises(DescriptionError) as caught:
        parse_toml(text, source="arm.toml", warnings=WarningList())
    assert str(caught.value) == f"arm.toml{message}"


def test_a_joint_with_an_unknown_key_is_told_all_keys():
    with pytest.raises(DescriptionError) as caught:
        parse_toml(JOINT + "axs = 1", source="arm.toml", warnings=WarningList())
    assert str(caught.value) == (
        f"arm.toml:2: joint 'j': unknown key 'axs'; did you mean 'axis'? Keys: {', '.join(schema.JOINT)}"
    )


def test_an_error_carries_its_place_as_data():
    with pytest.raises(DescriptionError) as caught:
        parse_toml(LINK + "mass = true", source="arm.toml", warnings=WarningList())
    assert caught.value.parts == {"where": "arm.toml:2", "part": "link 'a'", "key": "mass"}


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DescriptionError) as caught:
        read_toml(tmp_path / "no.toml", warnings=WarningList())
    assert str(caught.value) == f"{tmp_path / 'no.toml'}: no such file"


def test_nesting_without_end_is_refused():
    with pytest.raises(DescriptionError, match=r"^arm\.toml: is not TOML: "):
        parse_toml("a = " + "[" * 100_000, source="arm.toml", warnings=WarningList())


WARNINGS = [
    (
        FRAME + "rpy = [0, 90, 0]",
        "arm.toml:2: frame 'f': entry 2 of rpy is 90 rad, more than a full turn; "
        "angles are in radians, not degrees",
    ),
    (
        FRAME + "quaternion = [0, 0, 2, 0]",
        "arm.toml:2: frame 'f': quaternion has length 2; it was scaled to length 1",
    ),
    (
        ROW + "alpha = -90",
        "arm.toml:3: row 1: alpha is -90 rad, more than a full turn; angles are in radians, not degrees",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), WARNINGS)
def test_a_doubtful_value_is_read_with_a_warning_or_refused_if_strict(text, sentence):
    assert parse_toml(text, source="arm.toml", warnings=WarningList()).warnings == (sentence,)
    with pytest.raises(DescriptionError) as caught:
        parse_toml(text, source="arm.toml", warnings=WarningList(strict=True))
    assert str(caught.value) == sentence


COLUMNS = (
    "alpha, alpha_deg, a, d, theta, theta_deg, kind, name, link, mass, inertia_about, lower, upper, "
    "velocity, effort, damping, friction, rotor_inertia, gear_ratio, com_x, com_y, com_z, "
    "Ixx, Iyy, Izz, Ixy, Ixz, Iyz"
)
CSV = [
    (
        "# convention: modified\na,d\n",
        ": has no rows; give a line of column names, then a line for each joint",
    ),
    ("# convention: DH\na\n1", ":1: convention is 'DH'; give 'standard' or 'modified'"),
    ("a,apha\n1,1", f":1: unknown column 'apha'; did you mean 'alpha'? Columns: {COLUMNS}"),
    ("a,d,a\n1,1,1", ":1: column 'a' is there twice; keep one"),
    ("a,d\n\n1,2,3", ":3: row 1: has 3 cells; give 2, one for each column"),
    ("a,d\n1,2\n1", ":3: row 2: has 1 cell; give 2, one for each column"),
    ('a,d\n1,"2', ":2: is not CSV: unexpected end of data"),
    ("a,mass\n1,heavy", ":2: row 1: mass is 'heavy'; give a number"),
    ("a,Ixx\n1,nan", ":2: row 1: Ixx is nan; give a finite number"),
    ("a,theta\n1,pi/x", f":2: row 1: theta is 'pi/x'; give {ANGLE}"),
    (
        "kind\nrevolut",
        ":2: row 1: kind is 'revolut'; did you mean 'revolute'? give 'revolute' or 'prismatic'",
    ),
    ("theta,theta_deg\n1,1", ":2: row 1: theta and theta_deg are the same angle; keep one of them"),
    ("name\nj\nj", ":3: joint 'j' is already there at arm.csv:2; give one of them another name"),
]


@pytest.mark.parametrize(("text", "message"), CSV)
def test_a_wrong_csv_is_refused_in_these_words(text, message):
    with pytest.raises(DescriptionError) as caught:
        parse_dh_csv(text, source="arm.csv", warnings=WarningList())
    assert str(caught.value) == f"arm.csv{message}"


def in_python(*rows: DHRow, convention: str = "standard", **more: object) -> Description:
    return dh_description(rows, convention=convention, **more)


ARM = DHRow(0, 0, 0, 0)
PYTHON = {
    "convention is 'x'; give 'standard' or 'modified'": lambda: in_python(ARM, convention="x"),
    "gravity is 9.81; give [x, y, z] in m/s², [0, 0, 0] for none": lambda: in_python(ARM, gravity=9.81),
    f"row 2: alpha is None; give {ANGLE}": lambda: in_python(ARM, DHRow(None, 0, 0, 0)),
    "row 1: com has 2 numbers; give [x, y, z]": lambda: in_python(DHRow(0, 0, 0, 0, com=(0, 0))),
    "joint 'j' is already there; give one of them another name": lambda: in_python(
        DHRow(0, 0, 0, 0, name="j"), DHRow(0, 0, 0, 0, name="j")
    ),
}


@pytest.mark.parametrize("message", PYTHON)
def test_a_wrong_row_in_python_is_refused_in_these_words(message):
    with pytest.raises(DescriptionError) as caught:
        PYTHON[message]()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "limits = 'bouncy'",
            "m.toml: limits is 'bouncy'; did you mean 'bounce'? give 'ignore' or 'stop' or 'bounce' or "
            "'spring' or 'saturate'",
        ),
        (
            "[[joint]]\nname = 'z'\nrestitution = 1.5\nkind = 'prismatic'\nparent = 'ground'\nchild = 'a'",
            "m.toml:1: joint 'z': restitution is 1.5; give a number from 0 to 1",
        ),
        (
            "[[joint]]\nname = 'z'\nrestitution = -0.1\nkind = 'prismatic'\nparent = 'ground'\nchild = 'a'",
            "m.toml:1: joint 'z': restitution is -0.1; give a number from 0 to 1",
        ),
    ],
)
def test_limits_and_restitution(text, message):
    with pytest.raises(DescriptionError) as caught:
        parse_toml(text, source="m.toml", warnings=WarningList())
    assert str(caught.value) == message
