"""Long mechanisms: reading, checking, numbering and printing cost the same for each link, and equal links share."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.builder import Builder
from kinpair.description.omitted import pieces
from kinpair.description.parts import Description, Joint, Link
from kinpair.model.build import build
from kinpair.model.check_inertia import turning_axes, turning_directions
from kinpair.model.table import FIRST, LAST, MOST
from kinpair.spatial.inertia import is_moment_about

DEEP = 3000  # links: three times Python's limit of recursion


def chain(n, kind="universal", inertia=(1e-4, 1e-4, 1e-5, 0.0, 0.0, 0.0)):
    names = ["ground", *(f"l{k}" for k in range(n))]
    links = tuple(Link(name, 0.1, (0.0, 0.0, -0.05), inertia) for name in names[1:])
    return Description(
        "chain",
        links,
        tuple(Joint(f"j{k}", kind, names[k], names[k + 1], axis=(0.0, 1.0, 0.0)) for k in range(n)),
    )


def calls_of(function, *arguments):
    """How many Python functions are called."""
    count = 0

    def seen(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        function(*arguments)
    finally:
        sys.setprofile(before)
    return count


def test_equal_links_share_one_body():
    model = build(chain(50))
    assert len({id(body) for body in model.body[3:]}) == 1
    assert len({id(place.pose) for name, place in model.places.items() if name != "ground"}) == 1


def test_links_that_differ_in_one_number_share_nothing_that_differs():
    description = chain(4)
    heavy = Link("l2", 0.3, (0.0, 0.0, -0.05), (1e-4, 1e-4, 1e-5, 0.0, 0.0, 0.0))
    links = (*description.links[:2], heavy, description.links[3])
    model = build(Description("chain", links, description.joints))
    assert [body.m for body in model.body] == [0.0, 0.1, 0.1, 0.3, 0.1]


@pytest.mark.parametrize("name", ["kr5", "stewart", "chain"])
def test_numbers_of_a_shared_body_are_those_of_the_body_alone(name):
    """Lists have no hash, so that links whose numbers are lists share nothing."""
    description = chain(6) if name == "chain" else kp.example(name).model.description
    apart = tuple(replace(x, com=list(x.com), inertia=list(x.inertia)) for x in description.links)
    for one, other in zip(
        build(description).body, build(replace(description, links=apart)).body, strict=True
    ):
        for quantity in ("R_seat", "a_seat", "r_seat", "m", "d", "I", "s", "J"):
            assert np.array_equal(getattr(one, quantity), getattr(other, quantity))


def test_calls_grow_in_proportion_to_the_links():
    build(chain(10))
    small, large, huge = (calls_of(build, chain(n)) for n in (200, 400, 800))
    assert huge - large == pytest.approx(2 * (large - small), rel=0.02)


def test_a_chain_is_deeper_than_the_recursion_limit():
    mechanism = kp.build(chain(DEEP))
    assert mechanism.nv == 2 * DEEP > sys.getrecursionlimit()
    assert mechanism.mass == pytest.approx(0.1 * DEEP)
    assert len(mechanism.start()) == 2 * DEEP


def test_a_long_table_has_its_ends():
    n = MOST + 1
    lines = str(kp.build(chain(n))).splitlines()
    assert len(lines) == 3 + FIRST + 1 + LAST
    assert lines[3 + FIRST].split()[:3] == ["...", str(n - FIRST - LAST), "more"]
    assert lines[-1].startswith(f"l{n - 1} ")
    assert len(str(kp.build(chain(MOST))).splitlines()) == 3 + MOST


@pytest.mark.parametrize("name", ["four-bar", "kr5", "crane", "planar-3r", "floating-arm", "cylindrical-arm"])
def test_directions_judge_inertias_as_all_axes_do(name):
    model = kp.example(name).model
    directions = turning_directions(model)
    for link in model.description.links:
        place = model.places[link.name]
        own = directions[place.body] @ place.pose.R
        for I in (np.diag([0.0, 0.0, 1.0]), np.diag([0.0, 1.0, 0.0]), np.diag([1.0, 0.0, 0.0])):
            assert is_moment_about(own, I) == is_moment_about(turning_axes(model, link.name), I)


def test_a_plane_chain_needs_one_moment_and_a_spatial_one_three():
    flat = (0.0, 1e-4, 0.0, 0.0, 0.0, 0.0)
    assert not build(chain(DEEP, "revolute", flat)).warnings
    assert len(build(chain(DEEP, "universal", flat)).warnings) == DEEP


def test_pieces_are_those_of_the_joints():
    joints = [Joint("", "revolute", "a", "b"), Joint("", "free", "b", "c"), Joint("", "fixed", "d", "c")]
    piece = pieces("abcde", joints)
    assert piece["a"] == piece["b"] != piece["c"] == piece["d"] != piece["e"]


def test_a_long_cycle_is_written_without_its_middle():
    n = 40
    builder = Builder("ring")
    for k in range(n):
        builder.link(f"l{k}", mass=1.0).joint(f"j{k}", "revolute", f"l{k - 1 if k else n - 1}", f"l{k}")
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(builder)
    assert str(caught.value) == (
        "there is no root: every link is moved by a joint (l0 → l1 → l2 → l3 → l4 → ... (31 links) ... → l36 → l37 → "
        "l38 → l39 → l0); one link must be moved by no joint; a loop is closed by a loop constraint, not by a joint"
    )
