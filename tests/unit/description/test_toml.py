"""The TOML format, read and written."""

from __future__ import annotations

import math
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinpair.description.dh import COLUMNS, DH, ROW
from kinpair.description.parts import (
    Description,
    Frame,
    Joint,
    Keyframe,
    Link,
    Mimic,
    Origin,
    Shape,
    Spring,
)
from kinpair.description.schema import FRAME, JOINT, KEYFRAME, LINK, MIMIC, SHAPE, SPRING_IN_FILE
from kinpair.description.toml_reader import TOP, parse_toml, read_toml
from kinpair.description.toml_writer import to_toml, write_toml
from kinpair.description.warning_list import WarningList
from kinpair.spatial.inertia import defect, solid_box, solid_cylinder
from kinpair.spatial.rotation import from_quaternion

KINDS = "revolute prismatic helical cylindrical universal spherical planar free fixed".split()
DOCS = Path(__file__).parents[3] / "docs"
BUNDLED = {Path(str(file)).stem: file for file in files("kinpair").joinpath("bundled").iterdir()}
TREES = (
    "planar-3r kr5 stanford-arm stanford-arm-saha three-cylinders double-pendulum cart-pole scara "
    "two-handed-arm floating-arm"
).split()


def parse(text: str) -> Description:
    return parse_toml(text, source="arm.toml", warnings=WarningList(strict=True))


def bundled(name: str) -> Description:
    return parse_toml(
        BUNDLED[name].read_text("utf-8"), source=f"{name}.toml", warnings=WarningList(strict=True)
    )


numbers = st.floats(allow_nan=False, allow_infinity=False)
some = st.one_of(st.just(()), st.tuples(numbers), st.tuples(numbers, numbers, numbers))
limits = st.one_of(some, st.tuples(st.just(-math.inf), numbers))
three = st.tuples(numbers, numbers, numbers)
texts = st.text(st.characters(exclude_categories=["Cs"]))
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
quaternions = st.tuples(*[st.floats(-9, 9)] * 4).filter(lambda k: math.hypot(*k) > 0.1)
matrices = quaternions.map(lambda k: tuple(from_quaternion(np.array(k)).ravel().tolist()))
origins = st.builds(Origin, three, st.one_of(st.just(()), three, quaternions, matrices))
shapes = st.one_of(
    st.builds(Shape, st.just("box"), three, origins),
    st.builds(Shape, st.just("sphere"), st.tuples(numbers), origins),
    st.builds(Shape, st.sampled_from(["cylinder", "capsule"]), st.tuples(numbers, numbers), origins),
    st.builds(Shape, st.just("mesh"), st.one_of(st.just((1.0, 1.0, 1.0)), three), origins, names),
)
six = st.one_of(st.tuples(*[numbers] * 6), three.map(lambda xyz: (*xyz, 0.0, 0.0, 0.0)))
links = st.builds(Link, names, numbers, three, six, st.lists(shapes, max_size=3).map(tuple))
axes = st.one_of(three, st.sampled_from([(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)]))
joints = st.builds(
    Joint,
    *(names, st.sampled_from(KINDS), names, names, origins, origins),
    *(axes, st.none() | axes, numbers, *[limits] * 6),
    *(some, some, some, some, numbers, numbers, st.booleans(), some),
    st.none() | st.builds(Mimic, names, numbers, numbers),
    st.one_of(st.just(()), *(st.tuples(*[st.floats(1e-9, 1.0)] * n) for n in (1, 6))),
)
frames = st.builds(Frame, names, names, origins)
by_joint = st.dictionaries(names, st.lists(numbers, min_size=1, max_size=7).map(tuple), max_size=3).map(
    lambda given: tuple(given.items())
)
keyframes = st.builds(Keyframe, names, by_joint, by_joint)
positive = st.floats(0.0, 1e300)
springs = st.builds(
    Spring,
    *(names, names, names, three, three, numbers, positive, positive, numbers, st.booleans()),
)


def unlike(parts):
    return st.lists(parts, max_size=3, unique_by=lambda part: part.name).map(tuple)


descriptions = st.builds(
    Description,
    *(texts, unlike(links), unlike(joints), unlike(frames), three),
    keyframes=unlike(keyframes),
    springs=unlike(springs),
)


@given(descriptions)
def test_what_is_written_reads_back_the_same(description):
    assert parse_toml(to_toml(description), source="x.toml", warnings=WarningList()) == description


ACTUATED = ["dc-actuator", "hydraulic-actuator", "motor-arm", "excavator", "servo"]


@pytest.mark.parametrize("name", [*TREES, "crane", *ACTUATED])
def test_bundled_mechanisms_read_without_a_doubt_and_write_back_the_same(name, tmp_path):
    description = bundled(name)
    file = tmp_path / f"{name}.toml"
    write_toml(description, file)
    assert read_toml(file, warnings=WarningList(strict=True)) == description
    assert description.name == name


@pytest.mark.parametrize("name", TREES)
def test_bundled_links_are_real_bodies(name):
    for link in bundled(name).links:
        assert link.mass > 0
        assert defect(link.tensor()) is None, link.name


SOLIDS = {"box": solid_box, "cylinder": lambda mass, size: solid_cylinder(mass, *size)}


@pytest.mark.parametrize("name", ["three-cylinders", "cart-pole", "scara", "two-handed-arm", "floating-arm"])
def test_bundled_solids_weigh_what_they_look_like(name):
    for link in bundled(name).links:
        (shape,) = link.shapes
        R = shape.origin.pose().R
        solid = R @ np.diag(SOLIDS[shape.kind](link.mass, shape.size)[:3]) @ R.T
        assert link.com == shape.origin.xyz
        assert link.tensor() == pytest.approx(solid, rel=1e-12, abs=1e-15)


def test_every_bundled_file_says_source_units_and_what_to_try():
    for name in (*TREES, "crane"):
        comment = BUNDLED[name].read_text("utf-8").split("\nname = ")[0]
        assert all(f"# {word}:" in comment for word in ("Source", "Units", "Try")), name


SMALL = """
name = "small"
gravity = [0, 0, -1.62]
[[link]]
name = "a"
mass = 2
com = [1, 0, 0]
inertia = [1, 5, 5]
inertia_about = "origin"
[[joint]]
name = "j"
kind = "helical"
parent = "ground"
child = "a"
xyz = [1, 2, 3]
rpy = ["pi/2", 0, "-2*pi/3"]
axis = "-y"
pitch = 0.01
child_quaternion = [0, 0, 0, 1]
lower = "-pi"
upper = inf
damping = [0.5]
mimic = { joint = "k", multiplier = -1 }
[[frame]]
name = "f"
link = "a"
matrix = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
"""


def test_every_value_lands_in_its_part():
    assert parse(SMALL) == Description(
        "small",
        (Link("a", 2.0, (1.0, 0.0, 0.0), (1.0, 3.0, 3.0, 0.0, 0.0, 0.0)),),
        (
            Joint(
                *("j", "helical", "ground", "a"),
                Origin((1.0, 2.0, 3.0), (math.pi / 2, 0.0, -2 * math.pi / 3)),
                Origin((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)),
                (0.0, -1.0, 0.0),
                pitch=0.01,
                lower=(-math.pi,),
                upper=(math.inf,),
                damping=(0.5,),
                mimic=Mimic("k", -1.0),
            ),
        ),
        (Frame("f", "a", Origin((0.0, 0.0, 0.0), (0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0))),),
        (0.0, 0.0, -1.62),
    )


def test_every_part_knows_its_line():
    description = parse(SMALL)
    results = [part.where for part in (*description.links, *description.joints, *description.frames)]
    assert results == ["arm.toml:4", "arm.toml:10", "arm.toml:24"]


def test_headers_in_texts_and_comments_are_not_counted():
    text = (
        '# [[link]]\nname = """\n[[link]]\n"""\n[[ link ]] # "\nname = \'[[link]] "\'\n[[link]]\nname = "b"\n'
    )
    assert [link.where for link in parse(text).links] == ["arm.toml:5", "arm.toml:7"]


def test_inline_tables_are_placed_by_file_only():
    assert parse('link = [{ name = "a" }]').links[0].where == "arm.toml"


def test_the_name_is_that_of_the_file_if_none_is_given():
    assert parse("gravity = [0, 0, 0]").name == "arm"


@pytest.mark.parametrize(
    "inertia",
    ["[1, 2, 3, 0.1, 0.2, 0.3]", "[[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 3]]"],
)
def test_an_inertia_is_the_same_as_six_numbers_or_as_a_matrix(inertia):
    (link,) = parse(f'[[link]]\nname = "a"\ninertia = {inertia}').links
    assert link.inertia == (1.0, 2.0, 3.0, 0.1, 0.2, 0.3)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("pi", math.pi),
        ("-pi", -math.pi),
        ("+ pi / 2", math.pi / 2),
        ("0.5*pi", math.pi / 2),
        ("3 * pi / 4", 3 * math.pi / 4),
        ("-π/6", -math.pi / 6),
    ],
)
def test_angles_may_be_fractions_of_pi(written, value):
    (frame,) = parse(f'[[frame]]\nname = "f"\nlink = "a"\nrpy = [0, 0, "{written}"]').frames
    assert frame.origin.turn == (0.0, 0.0, value)


def test_units_are_said_where_a_key_comes_first_and_defaults_are_left_out():
    link, other = Link("a", 1.5), Link("b", 2.0, shapes=(Shape("sphere", (0.1,)),))
    assert to_toml(Description("two", (link, other), (Joint("j", "free", "ground", "a"),))) == (
        'name = "two"\n\n'
        '[[link]]\nname = "a"\nmass = 1.5 # kg\n\n'
        '[[link]]\nname = "b"\nmass = 2\nvisual = [\n    {sphere = 0.1},\n]\n\n'
        '[[joint]]\nname = "j"\nkind = "free"\nparent = "ground"\nchild = "a"\n'
    )


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", ["toml.md", "dh.md"])
def test_every_toml_block_of_the_documentation_reads(page):
    assert blocks(page, "toml")
    for text in blocks(page, "toml"):
        assert parse(text).joints


@pytest.mark.parametrize("page", ["toml.md", "dh.md"])
def test_every_python_block_of_the_documentation_runs(page):
    assert blocks(page, "python")
    for text in blocks(page, "python"):
        exec(text, {})


@pytest.mark.parametrize("schema", [TOP, LINK, SHAPE, JOINT, MIMIC, FRAME, KEYFRAME, SPRING_IN_FILE, DH])
def test_every_key_is_in_the_documentation(schema):
    page = (DOCS / "toml.md").read_text("utf-8")
    assert [key for key in schema if f"`{key}`" not in page] == []


@pytest.mark.parametrize("schema", [DH, ROW, COLUMNS])
def test_every_key_of_a_dh_table_is_in_its_documentation(schema):
    page = (DOCS / "dh.md").read_text("utf-8")
    assert [key for key in schema if f"`{key}`" not in page] == []
