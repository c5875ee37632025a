"""Constraints as formulas in a file are those of Python functions, and of other parts that say the same."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.toml_reader import parse_toml
from kinpair.description.warning_list import WarningList

POINT = """
name = "point"
gravity = [0, -9.81, 0]
[[link]]
name = "carriage"
mass = 0.5
[[link]]
name = "point"
mass = 1.0
[[joint]]
name = "x-slide"
kind = "prismatic"
parent = "ground"
child = "carriage"
axis = "x"
[[joint]]
name = "y"
kind = "prismatic"
parent = "carriage"
child = "point"
axis = "y"
"""
EXACT = 1e-12  # rounding of some dozen operations


def from_text(text):
    return kp.build(parse_toml(text, source="m.toml", warnings=WarningList()))


def bare():
    return from_text(POINT)


def same_motion(a, b, q, qd, time):
    args = (np.array(q), np.array(qd), np.array([0.3, -0.2]))
    one, other = (m.forward_dynamics(*args, time=time) for m in (a, b))
    assert np.abs(one - other).max() < EXACT * max(1.0, np.abs(other).max())
    assert (
        np.abs(a.constraint_residual(q, time=time) - b.constraint_residual(q, time=time)).max(initial=0)
        < EXACT
    )


CUSTOM = [
    ('phi = "y - sin(x_slide) - 0.1*t"', {"phi": lambda q, t: q[1] - np.sin(q[0]) - 0.1 * t}),
    ('psi = "x_slide_rate*cos(t) - y_rate"', {"psi": lambda q, qd, t: qd[0] * np.cos(t) - qd[1]}),
]


@pytest.mark.parametrize(("line", "function"), CUSTOM)
def test_a_formula_is_its_function(line, function):
    written = from_text(f'{POINT}[[custom]]\nname = "c"\n{line}\n')
    called = bare().with_constraints(kp.constraint.custom("c", **function))
    time = 0.4
    q = called.assemble([0.3, 0.2], time=time)
    qd = called.velocities(q, {"x-slide": 0.7}, time=time)
    same_motion(written, called, q, qd, time)


def test_several_formulas_are_as_many_rows():
    m = from_text(f'{POINT}[[custom]]\nname = "c"\nphi = ["x_slide - 0.2*t", "y - x_slide**2"]\n')
    assert m.constraint_rows == ("c.1", "c.2")
    q = m.assemble([0.0, 0.0], time=2.0)
    assert q == pytest.approx([0.4, 0.16], abs=1e-12)
    assert m.velocities(q, time=2.0) == pytest.approx([0.2, 2 * 0.4 * 0.2], abs=1e-12)


def test_a_rod_that_grows_is_the_function_that_says_so():
    """A point hangs on a rope from the origin that is let out: |x|² = l(t)²."""
    text = f'{POINT}[[distance]]\nname = "rope"\nparent = "ground"\nchild = "point"\nlength = "1 + 0.2*sin(3*t)"\n'

    def gap(q, t):
        l = 1 + 0.2 * np.sin(3 * t)
        return (q[0] ** 2 + q[1] ** 2 - l * l) / (2 * l)

    rope, function = from_text(text), bare().with_constraints(kp.constraint.custom("rope", phi=gap))
    time = 0.7
    q = rope.assemble([0.3, -0.8], time=time)
    assert np.hypot(*q) == pytest.approx(1 + 0.2 * np.sin(3 * time), abs=1e-12)
    qd = rope.velocities(q, {"x-slide": 0.5}, time=time)
    assert q @ qd / np.hypot(*q) == pytest.approx(0.6 * np.cos(3 * time), abs=1e-12)  # the rate of the length
    same_motion(rope, function, q, qd, time)
    run = kp.simulate(
        rope, rope.assemble([0.3, -0.8]), rope.velocities(rope.assemble([0.3, -0.8])), duration=1.0
    )
    assert run.status.ok
    lengths = np.hypot(*run.q.T)
    assert np.abs(lengths - 1 - 0.2 * np.sin(3 * run.time)).max() < 1e-10


def test_both_are_written_and_read_back():
    m = bare().with_constraints(
        kp.constraint.custom("c", phi=["y - x_slide", "y"]),
        kp.constraint.custom("r", psi="y_rate"),
        kp.constraint.distance("rope", "ground", "point", "1 + t"),
    )
    text = kp.to_toml(m.model.description)
    assert from_text(text).model.description.constraints == m.model.description.constraints


def test_a_split_mechanism_has_them_by_its_own_names():
    builder = kp.Builder("slide").link("rod", mass=1.0, inertia=[0.1, 0.1, 0.1])
    builder = builder.joint("c", "cylindrical", "ground", "rod").custom("screw", phi="c_slide - 0.1*c_angle")
    whole = kp.build(builder)
    parts, maps = whole.split()
    names = dict(zip(whole.q_names, parts.q_names, strict=True))
    assert set(names) == {"c.angle", "c.slide"}
    q = np.array([0.2, 0.02])
    assert whole.forward_dynamics(q, [1, 0.1], [0.3, 0]) == pytest.approx(
        parts.forward_dynamics(maps.to_split(q, [1, 0.1], [0, 0])[0], [1, 0.1], [0.3, 0]), abs=1e-12
    )


def test_systems_take_formulas_too():
    def energy(q, qd, t):
        return 0.5 * qd @ qd

    written = kp.System(["x", "y"], energy, constraints=[{"phi": "y - x**2"}])
    called = kp.System(["x", "y"], energy, constraints=[{"phi": lambda q, t: q[1] - q[0] ** 2}])
    state = [0.5, 0.25], [1.0, 1.0], [0.2, 0.1]
    assert written.forward_dynamics(*state) == pytest.approx(called.forward_dynamics(*state), abs=1e-13)


WRONG = [
    ("[[custom]]\nname = 'c'\nphi = 3", "phi is 3; give a formula as a text, a list of them, or a Python function"),
    ("[[custom]]\nname = 'c'\nphi = []", "phi is []; give a formula as a text, a list of them, or a Python function"),
    ("[[custom]]\nname = 'c'\nA = 'y'", "A is 'y'; give a Python function"),
    ("[[custom]]\nname = 'c'\nphi = 'z - y'", "has the variable 'z' in the formula 'z - y'; Variables: x_slide, y, t"),
    ("[[custom]]\nname = 'c'\nphi = 'y_rate'", "phi has the variable 'y_rate' in the formula 'y_rate'; "),
    ("[[custom]]\nname = 'c'\nphi = '= 3'", "is '= 3', which is not a formula; write something like 'x_slide - 0.1*"),
    ("[[distance]]\nname = 'd'\nparent = 'ground'\nchild = 'point'\nlength = 't'",
     "has length 0 at t = 0; give the distance in metres, or a spherical loop for points that meet"),
    ("[[distance]]\nname = 'd'\nparent = 'ground'\nchild = 'point'\nlength = 'l'",
     "length has the variable 'l' in the formula 'l'; Variables: t, pi"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_named(text, message):
    with pytest.raises(kp.DescriptionError) as error:
        from_text(f"{POINT}{text}\n").constraints  # noqa: B018
    assert message in str(error.value)
    assert str(error.value).startswith("m.toml:2")


def test_two_names_that_are_one_in_a_formula_are_refused():
    builder = kp.Builder("m").link("a", mass=1.0).link("b", mass=1.0)
    builder = builder.joint("s-1", "prismatic", "ground", "a").joint("s_1", "prismatic", "a", "b")
    with pytest.raises(
        kp.DescriptionError, match="'s_1' is two things in a formula; give joints other names"
    ):
        kp.build(builder.custom("c", phi="s_1"))
