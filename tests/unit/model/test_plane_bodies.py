"""A body that only ever turns about one axis needs one moment: nothing is told where that is all it has."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

PLANE = [0.0, 0.0, 0.1]
TURNED = [0.3, -0.4, 0.5]  # roll, pitch, yaw
BROKEN = "link 'a': inertia breaks the triangle inequality (principal moments 0, 0, 0.1"


def arm(kinds: list[tuple[str, str]], inertia: list[float], **last: object) -> kp.Builder:
    """A chain of bodies a, b, ... from the tip on, that these joints move about or along these axes."""
    builder, parent = kp.Builder("m"), "ground"
    for name, (kind, axis) in zip(reversed("abcdef"[: len(kinds)]), kinds, strict=True):
        builder = builder.link(name, mass=1.0, com=[0.1, 0, 0], inertia=inertia if name == "a" else [1, 1, 1])
        builder = builder.joint(
            f"to {name}", kind, parent, name, axis=axis, xyz=[0.2, 0, 0], **last if name == "a" else {}
        )
        parent = name
    return builder


def warnings(made: kp.Builder, **options: object) -> tuple[str, ...]:
    try:
        return kp.build(made, **options).warnings
    except kp.DescriptionWarning as told:
        return (str(told),)


@pytest.mark.parametrize(
    "kinds",
    [
        [("revolute", "z")],
        [("revolute", "z"), ("revolute", "z"), ("revolute", "z")],
        [("prismatic", "x"), ("revolute", "z")],
        [("prismatic", "x"), ("prismatic", "z")],
        [("planar", "z"), ("revolute", "z")],
        [("cylindrical", "z"), ("helical", "z")],
    ],
    ids=str,
)
def test_one_moment_is_enough_in_a_plane(kinds):
    pitch = {"pitch": 0.1} if kinds[-1][0] == "helical" else {}
    assert warnings(arm(kinds, PLANE, **pitch)) == ()


def test_and_rounding_is_as_good_as_zero():
    assert warnings(arm([("revolute", "z")], [-2e-35, 1e-19, 0.1])) == ()


def test_the_plane_may_lie_anywhere():
    builder = kp.Builder("m").link("a", mass=1.0, com=[0.1, 0, 0], inertia=PLANE)
    builder = builder.joint("A", "revolute", "ground", "a", axis="z", rpy=TURNED)
    assert warnings(builder) == ()
    R = kp.build(builder).model.body[1].R_seat
    tensor = R @ np.diag(PLANE) @ R.T
    entries = [tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    turned = kp.Builder("m").link("a", mass=1.0, com=[0.1, 0, 0], inertia=entries)
    assert warnings(turned.joint("A", "revolute", "ground", "a", axis=R[:, 2].tolist())) == ()


@pytest.mark.parametrize("merge_fixed", [True, False])
def test_a_link_welded_to_a_plane_body_is_one(merge_fixed):
    builder = kp.Builder("m").link("b", mass=1.0, inertia=[1, 1, 1]).link("a", mass=1.0, inertia=PLANE)
    builder = builder.joint("B", "revolute", "ground", "b", axis="y").joint(
        "w", "fixed", "b", "a", rpy=[np.pi / 2, 0, 0]
    )
    assert warnings(builder, merge_fixed=merge_fixed) == ()


@pytest.mark.parametrize(
    "kinds",
    [
        [("revolute", "x")],
        [("revolute", "x"), ("revolute", "z")],
        [("planar", "x")],
        [("spherical", "z")],
        [("universal", "z")],
        [("free", "z")],
    ],
    ids=str,
)
def test_elsewhere_it_is_told(kinds):
    (caught,) = warnings(arm(kinds, PLANE))
    assert caught.startswith(BROKEN)


def test_other_shapes_that_no_body_has_are_told_in_a_plane_too():
    (caught,) = warnings(arm([("revolute", "z")], [0.01, 0.01, 0.1]))
    assert "triangle inequality" in caught
    (caught,) = warnings(arm([("revolute", "z")], [0.0, 0.0, -0.1]))
    assert "is not positive" in caught


@pytest.mark.parametrize(
    "moments",
    [
        [-2e-35, 0.0, 0.0],
        [0.0, 0.0, 2e-35],
        [-2e-35, 1e-34, -1e-35],
        [0.0, 0.0, 0.0, 0.0, 1.35525e-20, 0.0],  # links of iCub: points, moved to their mass centre
        [0.0, 0.0, 4.0761e-18, 0.0, 0.0, -2.7e-20],
    ],
)
def test_moments_that_are_rounding_throughout_are_those_of_a_point(moments):
    assert warnings(arm([("spherical", "z")], moments)) == ()


def test_small_bodies_are_judged_as_large_ones():
    grain = (
        kp.Builder("m")
        .link("a", mass=1e-9, inertia=[1e-21, 1e-21, 3e-21])
        .joint("A", "spherical", "ground", "a")
    )
    (caught,) = warnings(grain)
    assert "triangle inequality" in caught


def test_parameters_of_a_run_are_judged_by_the_same_rule():
    plane = kp.build(arm([("revolute", "z")], [0.1, 0.1, 0.1]))
    options = {"a.inertia.xx": 0.0, "a.inertia.yy": 0.0}
    run = kp.simulate(plane, [0.3], [0.0], dt=1e-3, duration=0.01, integrator="rk4", parameters=options)
    assert run.status.ok
    space = kp.build(arm([("revolute", "x")], [0.1, 0.1, 0.1]))
    with pytest.warns(kp.DescriptionWarning, match="triangle inequality"):
        kp.simulate(space, [0.3], [0.0], dt=1e-3, duration=0.01, integrator="rk4", parameters=options)
