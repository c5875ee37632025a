"""Constraints beyond the joints: read, written, built."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinpair as kp
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Configuration
from kinpair.description import constraint_schema as schema
from kinpair.description.constraint_parts import (
    Coupling,
    Custom,
    Distance,
    Drive,
    Guide,
    KnifeEdge,
    Loop,
    Momentum,
    OnSurface,
    Rolling,
)
from kinpair.description.parts import Description, Origin
from kinpair.description.toml_reader import parse_toml
from kinpair.description.toml_writer import to_toml
from kinpair.description.warning_list import WarningList
from kinpair.model.build import freed
from kinpair.model.split import split_description

DOCS = Path(__file__).parents[3] / "docs"


def parse(text: str) -> Description:
    return parse_toml(text, source="arm.toml", warnings=WarningList(strict=True))


ALL = """
[[loop]]
name = "pin"
kind = "universal"
parent = "a"
child = "b"
xyz = [1, 2, 3]
rpy = ["pi/2", 0, 0]
axis = "x"
axis2 = "-y"
child_xyz = [0, 0, 1]
[[drive]]
name = "motor"
joint = "j"
motion = "0.3*sin(2*t)"
[[loop]]
name = "nut"
kind = "helical"
parent = "a"
child = "b"
pitch = 0.01
[[coupling]]
name = "gear"
joint = "k"
follows = "j"
ratio = -2
offset = "pi/2"
[[coupling]]
name = "cam"
joint = "k"
terms = [{ joint = "j", coefficients = [1, 0.5] }, { joint = "i", coefficients = 3 }]
[[distance]]
name = "rod"
parent = "ground"
child = "b"
length = 0.5
child_xyz = [1, 0, 0]
[[surface]]
name = "bowl"
child = "b"
formula = "x**2 + y**2 - z"
[[surface]]
name = "wire"
parent = "a"
child = "b"
formulas = ["x - 1", "y*z"]
[[rolling]]
name = "wheel"
child = "b"
shape = "disk"
radius = 0.1
axis = "y"
rollers = "pi/4"
normal = false
[[rolling]]
name = "egg"
parent = "table"
child = "b"
shape = "ellipsoid"
size = [1, 2, 3]
[[knife_edge]]
name = "blade"
child = "b"
axis = "y"
child_xyz = [1, 0, 0]
[[guide]]
name = "hand"
child = "b"
xyz = ["0.1*t", "", 0.5]
[[momentum]]
name = "spin"
part = "angular"
value = 2
"""
PARTS = (
    Loop(
        *("pin", "universal", "a", "b"),
        *(Origin((1.0, 2.0, 3.0), (math.pi / 2, 0.0, 0.0)), Origin((0.0, 0.0, 1.0))),
        *((1.0, 0.0, 0.0), (0.0, -1.0, 0.0)),
    ),
    Drive("motor", "j", "0.3*sin(2*t)"),
    Loop("nut", "helical", "a", "b", pitch=0.01),
    Coupling("gear", "k", (("j", (-2.0,)),), math.pi / 2),
    Coupling("cam", "k", (("j", (1.0, 0.5)), ("i", (3.0,)))),
    Distance("rod", "ground", "b", 0.5, child_origin=Origin((1.0, 0.0, 0.0))),
    OnSurface("bowl", "ground", "b", ("x**2 + y**2 - z",)),
    OnSurface("wire", "a", "b", ("x - 1", "y*z")),
    Rolling("wheel", "ground", "b", "disk", (0.1,), (0.0, 1.0, 0.0), math.pi / 4, False),
    Rolling("egg", "table", "b", "ellipsoid", (1.0, 2.0, 3.0)),
    KnifeEdge("blade", "b", (0.0, 1.0, 0.0), child_origin=Origin((1.0, 0.0, 0.0))),
    Guide("hand", "ground", "b", ("0.1*t", "", "0.5")),
    Momentum("spin", "angular", value=2.0),
)


def test_every_value_lands_in_its_part_and_the_order_is_that_of_the_file():
    assert parse(ALL).constraints == PARTS


def test_every_constraint_knows_its_line():
    lines = [n for n, line in enumerate(ALL.splitlines(), 1) if line.startswith("[[")]
    assert [part.where for part in parse(ALL).constraints] == [f"arm.toml:{n}" for n in lines]


def test_without_headers_the_order_is_kind_by_kind():
    text = "drive = [{ name = 'd', joint = 'j', motion = 1 }]\n"
    text += "loop = [{ name = 'l', kind = 'fixed', parent = 'a', child = 'b' }]"
    assert [part.name for part in parse(text).constraints] == ["l", "d"]


def built() -> kp.Builder:
    return (
        kp.Builder("arm")
        .loop(
            *("pin", "universal", "a", "b"),
            xyz=[1, 2, 3],
            rpy=["pi/2", 0, 0],
            axis="x",
            axis2="-y",
            child_xyz=[0, 0, 1],
        )
        .drive("motor", "j", "0.3*sin(2*t)")
        .loop("nut", "helical", "a", "b", pitch=0.01)
        .gear("gear", "k", "j", -2, offset="pi/2")
        .coupling(
            "cam", "k", terms=[{"joint": "j", "coefficients": [1, 0.5]}, {"joint": "i", "coefficients": 3}]
        )
        .distance("rod", "ground", "b", 0.5, child_xyz=np.array([1, 0, 0]))
        .surface("bowl", "b", formula="x**2 + y**2 - z")
        .surface("wire", "b", parent="a", formulas=["x - 1", "y*z"])
        .rolling("wheel", "b", "disk", radius=0.1, axis="y", rollers="pi/4", normal=False)
        .rolling("egg", "b", "ellipsoid", parent="table", size=[1, 2, 3])
        .knife_edge("blade", "b", axis="y", child_xyz=[1, 0, 0])
        .guide("hand", "b", xyz=["0.1*t", "", 0.5])
        .momentum("spin", "angular", value=2)
    )


def test_the_builder_and_a_file_make_the_same_constraints():
    assert built().description().constraints == PARTS


def test_a_rack_moves_by_the_radius_of_its_pinion():
    (part,) = kp.Builder("x").rack("rack", "slide", "pinion", 0.02).description().constraints
    assert part == Coupling("rack", "slide", (("pinion", (0.02,)),))


def test_rows_by_functions():
    def phi(q, t):
        return q[0] - t

    (part,) = kp.Builder("x").custom("f", phi=phi).description().constraints
    assert part == Custom("f", phi=phi)


@pytest.mark.parametrize("page", ["toml.md", "constraints.md"])
@pytest.mark.parametrize("word", schema.CONSTRAINTS)
def test_every_kind_of_constraint_is_in_the_documentation(page, word):
    assert f"[[{word}]]" in (DOCS / page).read_text("utf-8")


@pytest.mark.parametrize("table", [*(kind.keys for kind in schema.CONSTRAINTS.values()), schema.TERM])
def test_every_key_is_in_the_documentation(table):
    page = (DOCS / "toml.md").read_text("utf-8")
    assert [key for key in table if f"`{key}`" not in page] == []


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / "constraints.md").read_text("utf-8"), re.DOTALL)


def test_every_block_of_the_page_on_constraints_reads_or_runs():
    assert all(parse(text).constraints for text in blocks("toml"))
    for text in blocks("python"):
        exec(text, {})


# Ready-made surfaces.


@pytest.mark.parametrize(
    ("given", "on", "count"),
    [
        ("plane = true", (0.3, 0.4, 0.0), 1),
        ("sphere = 0.7", (0.2, 0.3, 0.6), 1),
        ("cylinder = 0.5", (0.3, 0.4, 0.9), 1),
        ("circle = 0.5", (0.3, 0.4, 0.0), 2),
    ],
)
def test_a_ready_made_surface_goes_through_its_points_and_measures_in_metres(given, on, count):
    (part,) = parse(f'[[surface]]\nname = "s"\nchild = "b"\n{given}').constraints
    assert len(part.formulas) == count
    description = (
        kp.Builder("point", gravity=(0, 0, 0))
        .link("b", mass=1.0)
        .joint("x", "prismatic", "ground", "c", axis="x")
        .joint("y", "prismatic", "c", "d", axis="y")
        .joint("z", "prismatic", "d", "b", axis="z")
        .link("c")
        .link("d")
        .description()
    )
    m = kp.build(replace(description, constraints=(part,)))
    (constraint,) = constraints_of(m.model)
    here = Configuration(m.model, np.array(on), 0.0)
    assert constraint.positions(here) == pytest.approx(np.zeros(count), abs=1e-15)
    assert np.linalg.norm(constraint.matrix(here).astype(float), axis=1) == pytest.approx(np.ones(count))


# Writing.

numbers = st.floats(allow_nan=False, allow_infinity=False)
three = st.tuples(numbers, numbers, numbers)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
origins = st.builds(Origin, three, st.just(()) | three)
formulas = names.filter(str.strip)
perhaps = st.just("") | formulas
some = st.lists(numbers, min_size=1, max_size=3).map(tuple)
constraints = st.one_of(
    st.builds(Loop, names, names, names, names, origins, origins, three, st.none() | three, numbers),
    st.builds(Coupling, names, names, st.lists(st.tuples(names, some), max_size=2).map(tuple), numbers),
    st.builds(Distance, names, names, names, numbers, origins, origins),
    st.builds(OnSurface, names, names, names, st.tuples(formulas) | st.tuples(formulas, formulas), origins),
    st.builds(
        *(Rolling, names, names, names, formulas, st.just(()) | some, three),
        *(st.none() | numbers, st.booleans(), origins, origins),
    ),
    st.builds(KnifeEdge, names, names, three, names, origins),
    st.builds(Drive, names, names, formulas),
    st.builds(Guide, names, names, names, st.tuples(*[perhaps] * 3), st.tuples(*[perhaps] * 3), origins),
    st.builds(Momentum, names, st.sampled_from(["angular", "linear"]), three, st.none() | numbers),
)
several = st.lists(constraints, max_size=5, unique_by=lambda part: part.name).map(tuple)


@given(several)
def test_what_is_written_reads_back_the_same(parts):
    description = Description("x", (), (), constraints=parts)
    assert parse_toml(to_toml(description), source="x.toml", warnings=WarningList()) == description


def test_units_are_said_where_a_key_comes_first_and_defaults_are_left_out():
    parts = (
        Loop("pin", "revolute", "a", "b", child_origin=Origin((1.0, 0.0, 0.0))),
        Coupling("gear", "k", (("j", (-2.0,)),)),
        Loop("pin2", "revolute", "a", "b", child_origin=Origin((2.0, 0.0, 0.0))),
    )
    assert to_toml(Description("x", (), (), constraints=parts)) == (
        'name = "x"\n\n'
        '[[loop]]\nname = "pin"\nkind = "revolute"\nparent = "a"\nchild = "b"\n'
        "child_xyz = [1, 0, 0] # m, in the child\n\n"
        '[[coupling]]\nname = "gear"\njoint = "k"\nfollows = "j"\n'
        "ratio = -2 # rad or m of the joint per rad or m of the one it follows\n\n"
        '[[loop]]\nname = "pin2"\nkind = "revolute"\nparent = "a"\nchild = "b"\nchild_xyz = [2, 0, 0]\n'
    )


# Other forms of the same description.


def cart() -> Description:
    return (
        kp.Builder("cart")
        .link("body", mass=1.0, inertia=[1, 1, 1])
        .link("wheel", mass=1.0, inertia=[1, 1, 1])
        .joint("base", "planar", "ground", "body")
        .joint("turn", "revolute", "body", "wheel")
        .coupling("odd", "turn", terms=[{"joint": "base.angle", "coefficients": 2}])
        .coupling("even", "base.y", follows="turn")
        .drive("push", "base.x", "t")
        .momentum("kept", "linear", axis="y")
        .description()
    )


def test_a_split_mechanism_obeys_the_same_constraints():
    whole = kp.build(cart())
    split, _ = whole.split()
    odd, even, push, kept = split.model.description.constraints
    assert (odd.joint, odd.terms) == ("turn", (("base.3", (2.0,)),))
    assert (even.joint, even.terms) == ("base.2", (("turn", (1.0,)),))
    assert push.joint == "base.1"
    assert kept == cart().constraints[3]
    assert [x.row_names for x in constraints_of(split.model)] == [
        x.row_names for x in constraints_of(whole.model)
    ]


def test_functions_of_quaternions_are_not_split():
    def description(kind: str) -> Description:
        base = kp.Builder("x").link("b", mass=1.0, inertia=[1, 1, 1]).joint("base", kind, "ground", "b")
        return base.custom("rows", phi=lambda q, t: q[0]).description()

    split_description(description("planar"))
    with pytest.raises(kp.DescriptionError) as caught:
        split_description(description("free"))
    assert str(caught.value) == (
        "custom 'rows' is a function of all coordinates, and splitting joint 'base' makes angles of its "
        "quaternion; leave one of the two out"
    )


def test_constraints_go_along_to_another_gravity_and_a_free_base():
    description = cart()
    assert description.with_gravity((0.0, 0.0, 0.0)).constraints == description.constraints
    arm = (
        kp.Builder("arm")
        .link("root", mass=1.0)
        .link("a", mass=1.0)
        .joint("j", "revolute", "root", "a")
        .distance("rope", "ground", "a", 1.0)
        .description()
    )
    assert freed(arm).constraints == arm.constraints
    assert len(constraints_of(kp.build(arm, base="free").model)) == 1
