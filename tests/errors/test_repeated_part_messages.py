"""Chains and copies: every message, word for word."""

import pytest

import kinpair as kp
from kinpair.description import memory
from kinpair.description.builder import Builder
from kinpair.description.toml_reader import parse_toml
from kinpair.description.warning_list import WarningList

CHAIN = {"n": 4, "length": 1.0, "mass": 0.1}


def message(**keys):
    with pytest.raises(kp.DescriptionError) as caught:
        Builder("m").chain("rope", **{**CHAIN, **keys})
    return str(caught.value)


def copied(*arguments, **keys):
    builder = Builder("m").chain("rope", **CHAIN).link("other", mass=1.0)
    builder.joint("J", "revolute", "ground", "other").loop("L", "spherical", "other", "rope_4")
    with pytest.raises(kp.DescriptionError) as caught:
        builder.copy(*arguments, **keys)
    return str(caught.value)


@pytest.mark.parametrize("n", [0, -3, 2.5, True, "many"])
def test_number_of_links(n):
    assert message(n=n) == f"chain 'rope': n is {n!r}; give a whole number, 1 or more"


def test_in_a_file():
    text = 'name = "m"\n[[chain]]\nname = "rope"\nn = 0\nlength = 1\nmass = 1\n'
    with pytest.raises(kp.DescriptionError) as caught:
        parse_toml(text, source="m.toml", warnings=WarningList())
    assert str(caught.value) == "m.toml:2: chain 'rope': n is 0; give a whole number, 1 or more"


def test_more_links_than_memory(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 8e9)
    assert message(n=10_000_000) == (
        "chain 'rope': has 10000000 links, which need about 40 GB of memory; 8 GB are available: "
        "give at most 2000000 links"
    )
    assert copied("rope_1", 5_000_000) == (
        "copy 'rope_1': has 20000005 links, which need about 80 GB of memory; 8 GB are available: "
        "give at most 2000000 links"
    )


def test_sizes():
    assert message(length=0.0) == "chain 'rope': length is 0; give a number above zero"
    assert message(mass=-1.0) == "chain 'rope': mass is -1; give zero or more"
    assert message(radius=0.0) == "chain 'rope': radius is 0; give a number above zero"


def test_kind():
    assert message(joint="univeral") == (
        "chain 'rope': joint is 'univeral'; did you mean 'universal'? Kinds: revolute, prismatic, helical, "
        "cylindrical, universal, spherical, planar, free, fixed"
    )


def test_a_chain_on_itself():
    assert message(parent="rope_4") == (
        "chain 'rope': parent is 'rope_4', a link of the chain itself: its joints would form a cycle; hang it on "
        "another link and close it with a loop constraint between both ends"
    )


def test_a_ring_that_nothing_closes():
    ring = Builder("ring").chain("ring", n=12, length=1.2, mass=0.1, joint="revolute", start="pi/6")
    assert ring.description().warnings == (
        "chain 'ring': its end meets its beginning, and nothing closes it; add a loop between 'ground' and 'ring_12', "
        "or start its joints elsewhere",
    )


def test_a_ring_that_a_loop_closes():
    ring = Builder("ring").chain("ring", n=12, length=1.2, mass=0.1, joint="revolute", start="pi/6")
    assert (
        not ring.loop("closed", "pin", "ground", "ring_12", child_xyz=[0, 0, -0.1], axis="y")
        .description()
        .warnings
    )


def test_an_arc_is_no_ring():
    assert (
        not Builder("arc")
        .chain("arc", n=12, length=1.2, mass=0.1, joint="revolute", start="pi/7")
        .description()
        .warnings
    )


def test_parts_that_are_not_there():
    assert copied("rop_1", 2) == (
        "copy 'rop_1': part is 'rop_1', which is no link; did you mean 'rope_1'? Links: rope_1, rope_2, rope_3, "
        "rope_4, other"
    )
    assert copied("rope_3", 2, onto="rope_1") == (
        "copy 'rope_3': onto is 'rope_1', which is no link of the part; Links: rope_3, rope_4"
    )


def test_a_part_that_nothing_moves():
    with pytest.raises(kp.DescriptionError) as caught:
        Builder("m").link("base", mass=1.0).copy("base", 1)
    assert str(caught.value) == (
        "copy 'base': part is 'base', which no joint moves; give a link that hangs on another"
    )


def test_a_loop_to_what_is_not_copied():
    assert copied("rope_3", 1) == (
        "copy 'rope_3': 'L' connects the part to 'other', which is not copied; write it for each copy"
    )


def test_bodies_nested_deeper_than_the_parser_goes(tmp_path):
    bodies = "".join(f'<body name="b{k}"><joint/><geom size="1"/>' for k in range(300)) + "</body>" * 300
    (tmp_path / "deep.xml").write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    with pytest.raises(kp.DescriptionError) as caught:
        kp.load(tmp_path / "deep.xml")
    assert str(caught.value) == (
        f"{tmp_path / 'deep.xml'}:1: elements are nested deeper than the XML parser accepts (256 levels); describe "
        "this chain of bodies in URDF, by [[chain]] in TOML, or by Builder.chain"
    )
